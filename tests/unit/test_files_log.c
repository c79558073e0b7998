/*
 * The log of file operations as the agent would leave it, and as it never
 * would: this process plays the tested one.
 */
#include "files_unit.h"

#include "files/log.h"
#include "wire/files.h"

static struct wire_ring ring;
static struct wire_files description;
static struct files_log *file_log;

static void begin(struct box *box)
{
	memset(&ring, 0, sizeof(ring));
	description = (struct wire_files){
		.magic = WIRE_FILES_MAGIC,
		.version = WIRE_FILES_VERSION,
		.ring = (uint64_t)(uintptr_t)&ring,
		.size = WIRE_FILES_SIZE,
		.call_end = 0x1234,
	};
	box_open(box, false);
	box_files(box);
	assert_ok(files_log_create(
		getpid(), 0, (uint64_t)(uintptr_t)&description, &file_log));
	assert_int_equal(files_log_exempt(file_log), 0x1234);
	assert_int_equal(description.active, 0);
	assert_ok(files_log_begin(file_log, box->files));
	assert_int_equal(description.active, 1);
}

static void end(struct box *box)
{
	files_log_destroy(file_log);
	file_log = NULL;
	assert_int_equal(description.active, 0);
	box_close(box);
}

/* The next record, complete but for its position. */
static struct wire_file *record_begin(enum wire_call call, const char *path,
				      const char *path2)
{
	struct wire_file *record =
		(struct wire_file *)&ring.data[ring.head % WIRE_FILES_SIZE];
	memset(record, 0, sizeof(*record));
	record->call = call;
	record->pid = 4242;
	record->path[0] = (uint32_t)strlen(path);
	record->path[1] = (uint32_t)strlen(path2);
	strcpy(record->data, path);
	strcpy(record->data + record->path[0] + 1, path2);
	uint64_t bytes =
		sizeof(*record) + record->path[0] + record->path[1] + 2;
	record->bytes = (uint32_t)((bytes + WIRE_FILE_ALIGN - 1) /
				   WIRE_FILE_ALIGN * WIRE_FILE_ALIGN);
	return record;
}

static void record_end(struct wire_file *record)
{
	record->position = ring.head + 1;
	ring.head += record->bytes;
}

static void record_put(enum wire_call call, const char *path)
{
	record_end(record_begin(call, path, ""));
}

/* The operation itself. */
static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

static const char *read_shown(struct box *box)
{
	files_log_read(file_log);
	capture(box);
	return shown(box);
}

static void test_ring(void **state)
{
	(void)state;
	struct box box;
	begin(&box);
	assert_string_equal(read_shown(&box), "");
	record_put(WIRE_CALL_OPEN, at(&box, "a"));
	put(at(&box, "a"));
	assert_string_equal(read_shown(&box), "a|absent|file of 1 byte\n");
	assert_int_equal(ring.tail, ring.head);
	/* A record that is being written is waited for. */
	struct wire_file *record =
		record_begin(WIRE_CALL_OPEN, at(&box, "b"), "");
	ring.head += record->bytes;
	put(at(&box, "b"));
	assert_string_equal(read_shown(&box), "");
	assert_int_equal(ring.tail + record->bytes, ring.head);
	record->position = ring.tail + 1;
	assert_string_equal(read_shown(&box), "b|absent|file of 1 byte\n");
	/* But not for ever. */
	ring.head += 64;
	for (int i = 0; i < 20; i++)
		files_log_read(file_log);
	assert_int_equal(ring.tail, ring.head);
	assert_int_equal(files_log_counts(file_log).lost, 1);
	assert_int_equal(description.active, 1);
	end(&box);
}

static void test_around(void **state)
{
	(void)state;
	struct box box;
	begin(&box);
	const char *path = at(&box, "a");
	for (int i = 0; i < 20000; i++) {
		uint64_t rest = WIRE_FILES_SIZE - ring.head % WIRE_FILES_SIZE;
		if (rest < 4096) {
			struct wire_file *last =
				(struct wire_file *)&ring
					.data[ring.head % WIRE_FILES_SIZE];
			last->bytes = (uint32_t)rest;
			last->call = WIRE_CALL_NONE;
			record_end(last);
		}
		record_put(WIRE_CALL_OPEN, path);
		if (i % 1000 == 0)
			files_log_read(file_log);
	}
	files_log_read(file_log);
	assert_int_equal(files_log_counts(file_log).records, 20000);
	assert_int_equal(ring.tail, ring.head);
	assert_true(ring.head > 3 * WIRE_FILES_SIZE);
	end(&box);
}

/* In the order in which things happened, whoever tells of them. */
static void test_order(void **state)
{
	(void)state;
	struct box box;
	begin(&box);
	struct follow_event told = {
		.kind = FOLLOW_OPEN,
		.flags = O_WRONLY,
		.path = at(&box, "a"),
	};
	record_put(WIRE_CALL_OPEN, at(&box, "a"));
	put(at(&box, "a"));
	files_log_event(file_log, &told);
	assert_int_equal(ring.tail, ring.head);
	files_event(box.files, &told);
	assert_string_equal(read_shown(&box), "a|absent|file of 1 byte\n");
	/* Another root: the names are others'. */
	told = (struct follow_event){ .kind = FOLLOW_STATE,
				      .states = STATE_ROOT,
				      .tid = getpid() };
	files_log_event(file_log, &told);
	assert_int_equal(description.active, 0);
	end(&box);
}

/* Each way to be wrong: nothing is told, and the log is off. */
static void spoil(void (*how)(struct wire_file *record))
{
	struct box box;
	begin(&box);
	struct wire_file *record =
		record_begin(WIRE_CALL_RENAME, at(&box, "a"), at(&box, "b"));
	record->before[0].mode = S_IFREG | 0600;
	record_end(record);
	how(record);
	assert_string_equal(read_shown(&box), "");
	assert_int_equal(description.active, 0);
	assert_int_equal(files_log_counts(file_log).records, 0);
	ring.head = ring.tail;
	record_put(WIRE_CALL_OPEN, at(&box, "c"));
	assert_string_equal(read_shown(&box), "");
	end(&box);
}

static void no_bytes(struct wire_file *record)
{
	record->bytes = 0;
}
static void few_bytes(struct wire_file *record)
{
	record->bytes = 32;
}
static void odd_bytes(struct wire_file *record)
{
	record->bytes -= 3;
}
static void many_bytes(struct wire_file *record)
{
	record->bytes += 16;
}
static void most_bytes(struct wire_file *record)
{
	record->bytes = 0xfffffff0U;
}
static void long_path(struct wire_file *record)
{
	record->path[0] = 0xffffffffU;
}
static void other_path(struct wire_file *record)
{
	record->path[1]++;
}
static void short_path(struct wire_file *record)
{
	record->path[0]--;
}
static void relative_path(struct wire_file *record)
{
	record->data[0] = 'x';
}
static void long_text(struct wire_file *record)
{
	record->before[1].text = WIRE_FILE_TEXT;
}
static void longest_text(struct wire_file *record)
{
	record->before[0].text = UINT64_MAX;
}
static void unknown_call(struct wire_file *record)
{
	record->call = WIRE_CALLS;
}
static void wild_head(struct wire_file *record)
{
	(void)record;
	ring.head = WIRE_FILES_SIZE * 3;
}
static void odd_head(struct wire_file *record)
{
	(void)record;
	ring.head++;
}
static void backward_head(struct wire_file *record)
{
	(void)record;
	ring.head = (uint64_t)-16;
}

static void test_hostile(void **state)
{
	(void)state;
	static void (*const ways[])(struct wire_file *) = {
		no_bytes,      few_bytes, odd_bytes,	 many_bytes,
		most_bytes,    long_path, other_path,	 short_path,
		relative_path, long_text, wild_head,	 longest_text,
		unknown_call,  odd_head,  backward_head,
	};
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		spoil(ways[i]);
}

static void test_no_log(void **state)
{
	(void)state;
	struct files_log *log = NULL;
	struct wire_files wrong = { .magic = WIRE_FILES_MAGIC,
				    .version = WIRE_FILES_VERSION + 1 };
	assert_err(files_log_create(getpid(), 0, (uint64_t)(uintptr_t)&wrong,
				    &log),
		   ERR_INTERNAL, "no log of files");
	assert_err(files_log_create(getpid(), 0, 8, &log), ERR_INTERNAL,
		   "no log of files");
	files_log_destroy(log);
	files_log_read(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),   cmocka_unit_test(test_around),
		cmocka_unit_test(test_order),  cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_no_log),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
