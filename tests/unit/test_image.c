/*
 * Drives subject_image through its boundaries with each method and compares
 * what is reported with what it says it did.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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
#include "wire/heap.h"

/* A subject that hangs is a failure, not a test without end. */
#define LIMIT_NS (20 * NS_PER_S)

/* Where they are; an ordinary user may have copies. */
static const char *subject_path, *agent_path;

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

static void drive_start_as(struct drive *drive, bool with_agent,
			   const char *argument)
{
	char *argv[] = { (char *)subject_path, (char *)argument, NULL };
	char preload[512];
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
		 with_agent ? agent_path : "");
	char *env[] = { preload, NULL };
	struct tracee_command command = { .argv = argv, .env = env };
	*drive = (struct drive){};
	assert_ok(tracer_create(&drive->tracer));
	tracer_tick(true);
	assert_ok(tracee_start(drive->tracer, &command, &drive->tracee));
	drive_on(drive);
	assert_string_equal(drive->name, SUBJECT_BEGIN);
	assert_int_equal(!drive->step.agent, !with_agent);
}

static void drive_start(struct drive *drive, bool with_agent)
{
	drive_start_as(drive, with_agent, NULL);
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
	struct err *err = image_create(drive->thread, drive->base, method,
				       drive->step.agent, &drive->image);
	if (!err)
		return true;
	print_message("%s is not to be had here: %s\n",
		      image_method_name(method), err_message(err));
	err_destroy(err);
	return false;
}

static bool has_block(const struct drive *drive, enum image_side side)
{
	struct image_block block;
	uint64_t at = drive->step.block;
	return image_block(drive->image, side, at + 7, &block) &&
	       block.start == at && block.size == SUBJECT_BLOCK_SIZE;
}

static void check_blocks(const struct drive *drive)
{
	if (!drive->step.agent)
		return;
	assert_null(image_blocks_missing(drive->image));
	if (!strcmp(drive->name, SUBJECT_ALLOCATED)) {
		assert_false(has_block(drive, IMAGE_BEFORE));
		assert_true(has_block(drive, IMAGE_AFTER));
		struct image_block block;
		uint64_t frames[8];
		assert_true(image_block(drive->image, IMAGE_AFTER,
					drive->step.block, &block));
		assert_true(image_stack(drive->image, block.stack, frames,
					ARRAY_SIZE(frames)) > 0);
	} else if (!strcmp(drive->name, SUBJECT_FREED)) {
		assert_true(has_block(drive, IMAGE_BEFORE));
		assert_false(has_block(drive, IMAGE_AFTER));
	}
	/* Its tables change with each block and are nobody's business. */
	struct wire_heap heap;
	assert_ok(memory_read(drive->tracee, RADDR(drive->step.agent), &heap,
			      sizeof(heap)));
	size_t n;
	const struct image_change *changes = image_changes(drive->image, &n);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < heap.regions_n; j++)
			assert_false(changes[i].address >=
					     heap.regions[j].address &&
				     changes[i].address <
					     heap.regions[j].address +
						     heap.regions[j].size);
	}
}

/* What all methods must agree on: which pages changed, at which boundary. */
DEFINE_VEC(record, uint64_t)

static void record_step(const struct drive *drive, struct record *record)
{
	size_t n;
	const struct image_change *changes = image_changes(drive->image, &n);
	assert_ok(vec_push(record, drive->step.expected_n));
	for (size_t i = 0; i < n; i++) {
		/* Elsewhere the kernel writes, too: the processor's number. */
		if (in_areas(drive, changes[i].address))
			assert_ok(vec_push(record,
					   changes[i].address |
						   !changes[i].before |
						   !changes[i].after << 1));
	}
}

/* False: there is no such method here. */
static bool run_method(enum image_method method, bool with_base,
		       bool with_agent, struct record *record)
{
	struct drive drive;
	drive_start(&drive, with_agent);
	if (!drive_watch(&drive, method, with_base)) {
		drive_free(&drive);
		return false;
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
		check_blocks(&drive);
		if (record)
			record_step(&drive, record);
		else
			check_rest(&drive);
		steps++;
	}
	assert_true(steps > 30);
	assert_int_equal(image_counts(drive.image).captures, steps);
	drive_on(&drive);
	assert_true(drive.ended);
	drive_free(&drive);
	return true;
}

static void run_or_skip(enum image_method method, bool with_base)
{
	if (!run_method(method, with_base, false, NULL))
		skip();
}

static void test_scan(void **state)
{
	(void)state;
	run_or_skip(IMAGE_SCAN, true);
}

static void test_scan_alone(void **state)
{
	(void)state;
	run_or_skip(IMAGE_SCAN, false);
}

static void test_soft_dirty(void **state)
{
	(void)state;
	run_or_skip(IMAGE_SOFT_DIRTY, true);
}

static void test_soft_dirty_alone(void **state)
{
	(void)state;
	run_or_skip(IMAGE_SOFT_DIRTY, false);
}

static void test_fork(void **state)
{
	(void)state;
	run_or_skip(IMAGE_FORK, true);
}

static void test_fork_alone(void **state)
{
	(void)state;
	run_or_skip(IMAGE_FORK, false);
}

static void test_compare(void **state)
{
	(void)state;
	run_or_skip(IMAGE_COMPARE, true);
}

static void test_compare_alone(void **state)
{
	(void)state;
	run_or_skip(IMAGE_COMPARE, false);
}

static void test_auto(void **state)
{
	(void)state;
	assert_true(run_method(IMAGE_AUTO, true, false, NULL));
	assert_true(run_method(IMAGE_AUTO, false, false, NULL));
}

static void test_agent(void **state)
{
	(void)state;
	if (!agent_path) {
		print_message("there is no agent in this build\n");
		skip();
	}
	assert_true(run_method(IMAGE_AUTO, true, true, NULL));
	assert_true(run_method(IMAGE_COMPARE, true, true, NULL));
	assert_true(run_method(IMAGE_AUTO, false, true, NULL));
}

/* The same addresses in two runs, or nothing can be compared. */
static bool is_randomised(void)
{
	struct drive drive;
	struct subject_step first;
	drive_start(&drive, false);
	first = drive.step;
	drive_free(&drive);
	drive_start(&drive, false);
	bool same = !memcmp(&first, &drive.step, sizeof(first));
	drive_free(&drive);
	return !same;
}

static void test_all_agree(void **state)
{
	static const enum image_method others[] = { IMAGE_SCAN,
						    IMAGE_SOFT_DIRTY,
						    IMAGE_FORK };
	(void)state;
	if (is_randomised()) {
		print_message("addresses differ from run to run here\n");
		skip();
	}
	for (int with_base = 0; with_base < 2; with_base++) {
		_cleanup_(record_freep) struct record all = VEC_INIT;
		assert_true(run_method(IMAGE_COMPARE, with_base, false, &all));
		for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
			_cleanup_(record_freep) struct record one = VEC_INIT;
			if (!run_method(others[i], with_base, false, &one))
				continue;
			assert_int_equal(one.n, all.n);
			assert_memory_equal(one.data, all.data,
					    all.n * sizeof(*all.data));
		}
	}
}

static void run_large(enum image_method method, bool with_base)
{
	struct drive drive;
	drive_start_as(&drive, false, SUBJECT_LARGE);
	assert_true(drive_watch(&drive, method, with_base));
	for (;;) {
		drive_on(&drive);
		if (!strcmp(drive.name, SUBJECT_END))
			break;
		assert_ok(image_capture(drive.image, drive.thread));
		check_changes(&drive);
		if (strcmp(drive.name, SUBJECT_POKE) != 0)
			continue;
		uint8_t byte;
		struct raddr at = RADDR(drive.step.block);
		assert_ok(memory_read(drive.tracee, at, &byte, 1));
		byte++;
		assert_ok(memory_write(drive.tracee, at, &byte, 1));
	}
	/* With a base only what was written is held, and buffers of a batch. */
	if (with_base)
		assert_in_range(image_counts(drive.image).bytes, 0,
				(8 << 20) - 1);
	else
		assert_in_range(image_counts(drive.image).bytes, 0,
				(60 << 20) - 1);
	drive_free(&drive);
}

static void test_large(void **state)
{
	(void)state;
	run_large(IMAGE_AUTO, true);
	run_large(IMAGE_AUTO, false);
	/* Mappings that the kernel joins are one for it. */
	run_large(IMAGE_COMPARE, false);
}

/* What was never touched is known to be zeros, and costs no memory. */
static void test_untouched(void **state)
{
	(void)state;
	static const uint8_t zeros[IMAGE_PAGE];
	struct drive drive;
	drive_start(&drive, false);
	assert_true(drive_watch(&drive, IMAGE_AUTO, true));
	assert_true(drive.step.untouched != 0);
	/* Its first page may be another variable's, too. */
	uint64_t at = drive.step.untouched + IMAGE_PAGE;
	uint64_t end = drive.step.untouched + SUBJECT_UNTOUCHED - IMAGE_PAGE;
	for (; at < end; at += IMAGE_PAGE) {
		const uint8_t *page = image_page(drive.image, IMAGE_AFTER, at);
		assert_non_null(page);
		assert_memory_equal(page, zeros, sizeof(zeros));
	}
	assert_in_range(image_counts(drive.image).bytes, 0, (8 << 20) - 1);
	/* Its twin: what holds something is read. */
	const uint8_t *code = image_page(drive.image, IMAGE_AFTER,
					 regs_pc(&drive.thread->regs).v);
	assert_non_null(code);
	assert_memory_not_equal(code, zeros, sizeof(zeros));
	drive_free(&drive);
}

/* A method that fails on the way gives place to another, and nothing is lost. */
static void test_falls_back(void **state)
{
	(void)state;
	struct drive drive;
	drive_start_as(&drive, false, SUBJECT_WATCHES);
	if (!drive_watch(&drive, IMAGE_SCAN, true)) {
		drive_free(&drive);
		skip();
	}
	while (drive_on(&drive), !drive.ended) {
		if (!strcmp(drive.name, SUBJECT_END))
			break;
		assert_ok(image_capture(drive.image, drive.thread));
		check_changes(&drive);
		if (strcmp(drive.name, "before") != 0)
			assert_int_not_equal(image_method(drive.image),
					     IMAGE_SCAN);
	}
	bool skipped = drive.ended;
	drive_free(&drive);
	if (skipped) {
		print_message("no userfaultfd for the subject itself\n");
		skip();
	}
}

static void test_executes(void **state)
{
	(void)state;
	struct drive drive;
	drive_start_as(&drive, false, SUBJECT_EXECUTES);
	assert_true(drive_watch(&drive, IMAGE_AUTO, true));
	struct tracee_event event;
	assert_ok(tracee_continue(drive.tracee, 0, &event));
	assert_int_equal(event.kind, TRACEE_EXECUTED);
	for (int i = 0; i < 2; i++) {
		struct err *err = image_capture(drive.image, event.thread);
		assert_non_null(err);
		err_destroy(err);
	}
	drive_free(&drive);
}

/* The tested program dies: an error, and no more. */
static void test_gone(void **state)
{
	static const enum image_method methods[] = { IMAGE_AUTO, IMAGE_FORK,
						     IMAGE_COMPARE };
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		struct drive drive;
		drive_start(&drive, false);
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
		cmocka_unit_test(test_soft_dirty_alone),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_alone),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_all_agree),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_untouched),
		cmocka_unit_test(test_falls_back),
		cmocka_unit_test(test_executes),
		cmocka_unit_test(test_gone),
	};
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

/* A copy that everybody can read, whatever the build folder allows. */
static char *copy_for_all(const char *path, const char *folder,
			  const char *name)
{
	char *copy;
	if (asprintf(&copy, "%s/%s", folder, name) < 0)
		abort();
	_cleanup_(closep) int from = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(closep) int to =
		open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	char chunk[65536];
	ssize_t n;
	while ((n = read(from, chunk, sizeof(chunk))) > 0) {
		if (write(to, chunk, (size_t)n) != n)
			abort();
	}
	if (n < 0 || fchmod(to, 0755) < 0)
		abort();
	return copy;
}

/* All of it once more without any rights. */
static int run_as_user(void)
{
	char folder[] = "/tmp/polygraph-image-XXXXXX";
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		perror(folder);
		return 1;
	}
	char *subject = copy_for_all(subject_path, folder, "subject");
	char *agent = agent_path ? copy_for_all(agent_path, folder, "agent.so")
				 : NULL;
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) < 0 || setgid(65534) < 0 ||
		    setuid(65534) < 0) {
			printf("cannot become an ordinary user: %s\n",
			       strerror(errno));
			_exit(0);
		}
		/* Changing its user made it nobody's to look into. */
		prctl(PR_SET_DUMPABLE, 1);
		subject_path = subject;
		agent_path = agent;
		exit(run_all("image, as an ordinary user"));
	}
	int status = 1;
	waitpid(pid, &status, 0);
	unlink(subject);
	if (agent)
		unlink(agent);
	rmdir(folder);
	free(subject);
	free(agent);
	return status != 0;
}

int main(void)
{
	log_level_set(LOG_LEVEL_INFO);
	subject_path = getenv("POLYGRAPH_SUBJECT_IMAGE");
	agent_path = getenv("POLYGRAPH_AGENT");
	if (!subject_path) {
		printf("POLYGRAPH_SUBJECT_IMAGE is not set\n");
		return 1;
	}
	int bad = run_all("image");
	if (getuid() == 0)
		bad |= run_as_user();
	else
		printf("run by an ordinary user: once is enough\n");
	return bad != 0;
}
