/* Who reads files that were left changed. */
#include "files_unit.h"

struct reading {
	struct files_readers *readers;
	size_t taken[16];
	char text[128];
};

static void told(struct reading *reading, enum follow_kind kind,
		 const char *path, const char *path2, uint64_t flags)
{
	struct follow_event event = {
		.kind = kind,
		.path = path,
		.path2 = path2,
		.flags = flags,
		.mode = 0644,
	};
	files_readers_sink(reading->readers, &event);
}

/* Which roots were read, as text: "0 2". */
static const char *taken(struct reading *reading)
{
	char *text = reading->text;
	size_t n = files_readers_take(reading->readers, reading->taken);
	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text),
			 sizeof(reading->text) - strlen(text), "%s%zu",
			 i ? " " : "", reading->taken[i]);
	return text;
}

static const char *const roots[] = {
	"a",
	"folder",
	"/srv/x.XXXXXX",
	"/srv/log.PID",
	"/srv/d-XXXXXX/in",
	"/other/deep/file",
	"/srv/day_DATE.txt",
};

static int open_reading(void **state)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	assert_non_null(reading);
	assert_ok(files_readers_create(roots, ARRAY_SIZE(roots), "/srv",
				       &reading->readers));
	*state = reading;
	return 0;
}

static int close_reading(void **state)
{
	struct reading *reading = *state;
	files_readers_destroy(reading->readers);
	files_readers_destroy(NULL);
	free(reading);
	return 0;
}

static void test_read(void **state)
{
	struct reading *reading = *state;
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_READ, "/srv/a", NULL, 0);
	assert_string_equal(taken(reading), "0");
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_LOOK, "/srv/a", NULL, 0);
	assert_string_equal(taken(reading), "0");
	told(reading, FOLLOW_READ, "/srv/ab", NULL, 0);
	told(reading, FOLLOW_READ, "/srv", NULL, 0);
	told(reading, FOLLOW_READ, "/other/a", NULL, 0);
	told(reading, FOLLOW_READ, NULL, NULL, 0);
	assert_string_equal(taken(reading), "");
}

static void test_folders(void **state)
{
	struct reading *reading = *state;
	told(reading, FOLLOW_READ, "/srv/folder/deep/in", NULL, 0);
	assert_string_equal(taken(reading), "1");
	told(reading, FOLLOW_LIST, "/srv/folder", NULL, 0);
	assert_string_equal(taken(reading), "1");
	told(reading, FOLLOW_LIST, "/srv", NULL, 0);
	assert_string_equal(taken(reading), "0 1 2 3 6");
	told(reading, FOLLOW_LIST, "/other", NULL, 0);
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_LIST, "/other/deep", NULL, 0);
	assert_string_equal(taken(reading), "5");
}

static void test_masks(void **state)
{
	struct reading *reading = *state;
	told(reading, FOLLOW_READ, "/srv/x.aB3dE9", NULL, 0);
	assert_string_equal(taken(reading), "2");
	told(reading, FOLLOW_READ, "/srv/x.aB3d", NULL, 0);
	told(reading, FOLLOW_READ, "/srv/x.aB3dE9.txt", NULL, 0);
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_READ, "/srv/log.4711", NULL, 0);
	assert_string_equal(taken(reading), "3");
	told(reading, FOLLOW_READ, "/srv/log.x", NULL, 0);
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_READ, "/srv/d-123456/in", NULL, 0);
	assert_string_equal(taken(reading), "4");
	told(reading, FOLLOW_LIST, "/srv/d-123456", NULL, 0);
	assert_string_equal(taken(reading), "4");
	told(reading, FOLLOW_READ, "/srv/day_2026-11-15.txt", NULL, 0);
	assert_string_equal(taken(reading), "6");
	told(reading, FOLLOW_READ, "/srv/day_20261115.txt", NULL, 0);
	assert_string_equal(taken(reading), "6");
	told(reading, FOLLOW_READ, "/srv/day_DATE.txt", NULL, 0);
	assert_string_equal(taken(reading), "6");
	told(reading, FOLLOW_READ, "/srv/day_2026-13-15.txt", NULL, 0);
	told(reading, FOLLOW_READ, "/srv/day_2026-11.txt", NULL, 0);
	told(reading, FOLLOW_READ, "/srv/day_2026-11_15.txt", NULL, 0);
	told(reading, FOLLOW_READ, "/srv/day_", NULL, 0);
	assert_string_equal(taken(reading), "");
}

/* What it made itself it may read. */
static void test_overwritten(void **state)
{
	struct reading *reading = *state;
	told(reading, FOLLOW_OPEN, "/srv/a", NULL,
	     O_WRONLY | O_CREAT | O_TRUNC);
	told(reading, FOLLOW_READ, "/srv/a", NULL, 0);
	told(reading, FOLLOW_REMOVE, "/srv/folder", NULL, 0);
	told(reading, FOLLOW_LOOK, "/srv/folder/in", NULL, 0);
	told(reading, FOLLOW_RENAME, "/srv/mine", "/other/deep/file", 0);
	told(reading, FOLLOW_READ, "/other/deep/file", NULL, 0);
	told(reading, FOLLOW_LIST, "/other/deep", NULL, 0);
	assert_string_equal(taken(reading), "");
	/* Only until the next one comes. */
	told(reading, FOLLOW_READ, "/srv/a", NULL, 0);
	assert_string_equal(taken(reading), "0");
	/* The other way round it was read. */
	told(reading, FOLLOW_READ, "/srv/a", NULL, 0);
	told(reading, FOLLOW_REMOVE, "/srv/a", NULL, 0);
	assert_string_equal(taken(reading), "0");
}

/* "rm -rf", and what a program does that clears its own folder first. */
static void test_room(void **state)
{
	struct reading *reading = *state;
	told(reading, FOLLOW_LOOK, "/srv/a", NULL, 0);
	told(reading, FOLLOW_REMOVE, "/srv/a", NULL, 0);
	assert_string_equal(taken(reading), "");
	/* It is not there, as the list says; then the folder goes. */
	told(reading, FOLLOW_READ, "/other/deep", NULL, O_DIRECTORY);
	told(reading, FOLLOW_LIST, "/other/deep", NULL, 0);
	told(reading, FOLLOW_REMOVE, "/other/dee", NULL, 0);
	assert_string_equal(taken(reading), "5");
	told(reading, FOLLOW_LIST, "/other/deep", NULL, 0);
	told(reading, FOLLOW_REMOVE, "/other/deep", NULL, 0);
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_LIST, "/srv/d-123456", NULL, 0);
	told(reading, FOLLOW_REMOVE, "/srv/d-123456/in", NULL, 0);
	assert_string_equal(taken(reading), "");
	/* A lock. */
	told(reading, FOLLOW_OPEN, "/srv/folder/LOCK", NULL, O_RDWR | O_CREAT);
	told(reading, FOLLOW_REMOVE, "/srv/folder/LOCK", NULL, 0);
	assert_string_equal(taken(reading), "1");
	told(reading, FOLLOW_OPEN, "/srv/folder/LOCK", NULL, O_RDWR | O_CREAT);
	told(reading, FOLLOW_REMOVE, "/srv/folder", NULL, 0);
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_OPEN, "/srv/folder/LOCK", NULL, O_RDWR);
	told(reading, FOLLOW_REMOVE, "/srv/folder", NULL, 0);
	assert_string_equal(taken(reading), "1");
}

static void test_opened(void **state)
{
	struct reading *reading = *state;
	told(reading, FOLLOW_OPEN, "/srv/a", NULL, O_WRONLY | O_APPEND);
	assert_string_equal(taken(reading), "");
	told(reading, FOLLOW_OPEN, "/srv/a", NULL, O_RDWR);
	assert_string_equal(taken(reading), "0");
	told(reading, FOLLOW_OPEN, "/srv/a", NULL, O_WRONLY | O_CREAT | O_EXCL);
	assert_string_equal(taken(reading), "0");
	told(reading, FOLLOW_RENAME, "/srv/a", "/srv/b", 0);
	assert_string_equal(taken(reading), "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, open_reading,
						close_reading),
		cmocka_unit_test_setup_teardown(test_folders, open_reading,
						close_reading),
		cmocka_unit_test_setup_teardown(test_masks, open_reading,
						close_reading),
		cmocka_unit_test_setup_teardown(test_overwritten, open_reading,
						close_reading),
		cmocka_unit_test_setup_teardown(test_room, open_reading,
						close_reading),
		cmocka_unit_test_setup_teardown(test_opened, open_reading,
						close_reading),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
