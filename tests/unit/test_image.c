/*
 * Drives subject_image through its boundaries with each method and compares
 * what is reported with what it says it did.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "image/image.h"
#include "subject_image.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "unit.h"

/* A subject that hangs is a failure, not a test without end. */
#define LIMIT_NS (20 * NS_PER_S)

static const char *subject_path(void)
{
	return getenv("POLYGRAPH_SUBJECT_IMAGE");
}

struct drive {
	struct tracer *tracer;
	struct tracee *tracee;
	struct tracee *base;
	struct image *image;
	struct thread *thread;
	struct subject_step step;
	char name[64];
	bool ended;
};

static void drive_free(struct drive *drive)
{
	image_destroy(drive->image);
	tracer_destroy(drive->tracer);
}

/* To the next boundary. */
static void drive_on(struct drive *drive)
{
	struct tracee_event event;
	uint64_t deadline = tracer_clock() + LIMIT_NS;
	assert_ok(tracee_continue(drive->tracee, deadline, &event));
	if (event.kind == TRACEE_EXITED) {
		assert_int_equal(event.status, 0);
		drive->ended = true;
		return;
	}
	assert_int_equal(event.kind, TRACEE_DYING);
	assert_int_equal(event.signal, SIGTRAP);
	drive->thread = event.thread;
	drive->thread->deliver = 0;
	assert_ok(tracee_stop_all(drive->tracee));
	assert_ok(memory_read(drive->tracee, RADDR(thread_arg(event.thread, 0)),
			      &drive->step, sizeof(drive->step)));
	size_t got = memory_read_some(drive->tracee,
				      RADDR(thread_arg(event.thread, 1)),
				      drive->name, sizeof(drive->name) - 1);
	assert_true(got > 0);
	drive->name[sizeof(drive->name) - 1] = '\0';
	assert_true(drive->step.areas_n <= SUBJECT_AREAS);
	assert_true(drive->step.expected_n <= SUBJECT_EXPECTED);
}

static void drive_start(struct drive *drive, const char *path)
{
	char *argv[] = { (char *)path, NULL };
	struct tracee_command command = { .argv = argv };
	*drive = (struct drive){};
	assert_ok(tracer_create(&drive->tracer));
	tracer_tick(true);
	assert_ok(tracee_start(drive->tracer, &command, &drive->tracee));
	drive_on(drive);
	assert_string_equal(drive->name, SUBJECT_BEGIN);
}

static const struct subject_expected *announced(const struct drive *drive,
						uint64_t page)
{
	const struct subject_step *step = &drive->step;
	for (size_t i = step->expected_n; i-- > 0;) {
		if (step->expected[i].page == page)
			return &step->expected[i];
	}
	return NULL;
}

static bool in_areas(const struct drive *drive, uint64_t page)
{
	for (size_t i = 0; i < drive->step.areas_n; i++) {
		if (page >= drive->step.areas[i].start &&
		    page < drive->step.areas[i].end)
			return true;
	}
	return false;
}

static void complain(const struct drive *drive, uint64_t page, const char *what)
{
	print_error("%s, after '%s': page 0x%llx %s\n",
		    image_method_name(image_method(drive->image)), drive->name,
		    (unsigned long long)page, what);
	fail();
}

static void check_kind(const struct drive *drive,
		       const struct image_change *change)
{
	const struct subject_expected *what = announced(drive, change->address);
	if (!what) {
		if (in_areas(drive, change->address))
			complain(drive, change->address,
				 "is reported without reason");
		return;
	}
	switch ((enum subject_kind)what->kind) {
	case SUBJECT_CHANGED:
		if (!change->before || !change->after)
			complain(drive, change->address, "has one side only");
		break;
	case SUBJECT_NEW:
	case SUBJECT_MAYBE_NEW:
		if (change->before || !change->after)
			complain(drive, change->address, "is not new");
		break;
	case SUBJECT_TOUCHED:
		if (!change->after)
			complain(drive, change->address, "is not there");
		break;
	case SUBJECT_GONE:
	case SUBJECT_GONE_ZERO:
		if (!change->before || change->after)
			complain(drive, change->address, "is not gone");
		break;
	}
}

/* Both sides of a change, as image_page() tells them and as they are. */
static void check_sides(const struct drive *drive,
			const struct image_change *change)
{
	assert_ptr_equal(change->before, image_page(drive->image, IMAGE_BEFORE,
						    change->address));
	assert_ptr_equal(change->after, image_page(drive->image, IMAGE_AFTER,
						   change->address + 7));
	if (change->before && change->after)
		assert_int_not_equal(
			memcmp(change->before, change->after, IMAGE_PAGE), 0);
	if (!change->after)
		return;
	uint8_t now[IMAGE_PAGE];
	assert_ok(memory_read(drive->tracee, RADDR(change->address), now,
			      sizeof(now)));
	assert_memory_equal(now, change->after, IMAGE_PAGE);
}

static void check_changes(const struct drive *drive)
{
	size_t n;
	const struct image_change *changes = image_changes(drive->image, &n);
	for (size_t i = 0; i < n; i++) {
		if (i && changes[i - 1].address >= changes[i].address)
			complain(drive, changes[i].address, "is not sorted");
		check_kind(drive, &changes[i]);
		check_sides(drive, &changes[i]);
	}
	for (size_t i = 0; i < drive->step.expected_n; i++) {
		const struct subject_expected *what = &drive->step.expected[i];
		bool found = what->kind == SUBJECT_GONE_ZERO ||
			     what->kind == SUBJECT_MAYBE_NEW;
		for (size_t j = 0; j < n && !found; j++)
			found = changes[j].address == what->page;
		if (!found)
			complain(drive, what->page, "is not reported");
	}
}

/* What is in no change is the same on both sides, and as it is. */
static void check_rest(const struct drive *drive)
{
	for (size_t i = 0; i < drive->step.areas_n; i++) {
		struct subject_area area = drive->step.areas[i];
		area.end = area.end - area.start > 64 * IMAGE_PAGE
				   ? area.start + 64 * IMAGE_PAGE
				   : area.end;
		for (uint64_t at = area.start; at < area.end;
		     at += IMAGE_PAGE) {
			uint8_t now[IMAGE_PAGE];
			bool there =
				memory_read_some(drive->tracee, RADDR(at), now,
						 IMAGE_PAGE) == IMAGE_PAGE;
			const uint8_t *after =
				image_page(drive->image, IMAGE_AFTER, at);
			const uint8_t *before =
				image_page(drive->image, IMAGE_BEFORE, at);
			if (!there && after)
				complain(drive, at, "is still there");
			if (there && after &&
			    memcmp(now, after, IMAGE_PAGE) != 0)
				complain(drive, at, "is not as it is");
			if (there && !after)
				complain(drive, at, "is not there");
			if (before && after && !announced(drive, at) &&
			    memcmp(before, after, IMAGE_PAGE) != 0)
				complain(drive, at, "changed unseen");
		}
	}
}

/* Is there such a method here? Then with an image. */
static bool drive_watch(struct drive *drive, enum image_method method,
			bool with_base)
{
	if (with_base)
		assert_ok(checkpoint_fork(drive->thread, &drive->base));
	struct err *err = image_create(drive->thread, drive->base, method, 0,
				       &drive->image);
	if (!err)
		return true;
	print_message("%s is not to be had here: %s\n",
		      image_method_name(method), err_message(err));
	err_destroy(err);
	return false;
}

static const char *run_path;

static void run_method(enum image_method method, bool with_base)
{
	struct drive drive;
	drive_start(&drive, run_path);
	if (!drive_watch(&drive, method, with_base)) {
		drive_free(&drive);
		skip();
	}
	if (method != IMAGE_AUTO)
		assert_int_equal(image_method(drive.image), method);
	size_t steps = 0;
	for (;;) {
		drive_on(&drive);
		if (!strcmp(drive.name, SUBJECT_END))
			break;
		assert_ok(image_capture(drive.image, drive.thread));
		check_changes(&drive);
		check_rest(&drive);
		steps++;
	}
	assert_true(steps > 30);
	assert_int_equal(image_counts(drive.image).captures, steps);
	drive_on(&drive);
	assert_true(drive.ended);
	drive_free(&drive);
}

static void test_scan(void **state)
{
	(void)state;
	run_method(IMAGE_SCAN, true);
}

static void test_scan_alone(void **state)
{
	(void)state;
	run_method(IMAGE_SCAN, false);
}

static void test_soft_dirty(void **state)
{
	(void)state;
	run_method(IMAGE_SOFT_DIRTY, true);
}

static void test_fork(void **state)
{
	(void)state;
	run_method(IMAGE_FORK, true);
}

static void test_fork_alone(void **state)
{
	(void)state;
	run_method(IMAGE_FORK, false);
}

static void test_compare(void **state)
{
	(void)state;
	run_method(IMAGE_COMPARE, true);
}

static void test_compare_alone(void **state)
{
	(void)state;
	run_method(IMAGE_COMPARE, false);
}

static void test_auto(void **state)
{
	(void)state;
	run_method(IMAGE_AUTO, true);
}

/* The tested program dies: an error, and no more. */
static void test_gone(void **state)
{
	static const enum image_method methods[] = { IMAGE_AUTO, IMAGE_FORK,
						     IMAGE_COMPARE };
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		struct drive drive;
		drive_start(&drive, run_path);
		assert_true(drive_watch(&drive, methods[i], false));
		struct thread thread = *drive.thread;
		struct tracee_event event;
		drive.thread->deliver = SIGKILL;
		assert_ok(tracee_continue(drive.tracee, 0, &event));
		assert_int_equal(event.kind, TRACEE_KILLED);
		struct err *err = image_capture(drive.image, &thread);
		assert_non_null(err);
		err_destroy(err);
		drive_free(&drive);
	}
}

static void test_names(void **state)
{
	(void)state;
	enum image_method method;
	assert_true(image_method_by_name("scan", &method));
	assert_int_equal(method, IMAGE_SCAN);
	assert_true(image_method_by_name("auto", &method));
	assert_int_equal(method, IMAGE_AUTO);
	assert_string_equal(image_method_name(IMAGE_SOFT_DIRTY), "soft-dirty");
	assert_false(image_method_by_name("nonsense", &method));
}

static int run_all(const char *name)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_compare_alone),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_scan_alone),
		cmocka_unit_test(test_soft_dirty),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_alone),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_gone),
	};
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
	log_level_set(LOG_LEVEL_INFO);
	run_path = subject_path();
	if (!run_path) {
		printf("POLYGRAPH_SUBJECT_IMAGE is not set\n");
		return 1;
	}
	return run_all("image");
}
