/*
 * Check, by data: at srunner_run_tagged() the runner gets another list of suites,
 * in memory of ours, with copies of the wanted tests in the wanted order. When it
 * returns, its own list is restored. The framework's loop does everything else.
 *
 * Consecutive tests of one test case are one segment: a suite with one case, so
 * that unchecked fixtures run around them. Tests run in the process itself
 * (CK_NOFORK), except those that expect a signal or an exit status. These are
 * segments of their own for which the framework forks, between parts of the test
 * case without its unchecked fixtures.
 *
 * The function that writes the log shows starts and ends: it is called before
 * set-up (CLSTART_T) and, with the result, after tear-down (CLEND_T). The runner
 * holds its address, so only the public symbols are needed. The address is there
 * only after the run began: a fixture of ours before those of the first segment is
 * where we read it.
 *
 * Seen with 0.11 to 0.15.2; see docs/frameworks.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 10000000
#define ITEMS_MAX 10000000
#define CASE_SIZE_MAX 512
/* Room for the checked fixtures of a test case with ours, 16 of them or so. */
#define FIXTURES_SIZE 512
/* Versions before 0.11 run tests by another function, */
#define MINOR_MIN 11
/* and those before 0.13 keep them in another shape. */
#define MINOR_PLACES 13

enum { FORK = 1, NO_FORK = 2 };		      /* enum fork_status */
enum { RESULT_PASS = 1, RESULT_FAILURE = 2 }; /* enum test_result */
enum {
	EVENT_SUITE_START = 3,
	EVENT_SUITE_END = 5,
	EVENT_TEST_START = 6,
	EVENT_TEST_END = 7,
}; /* enum cl_event */

/* Check's own structures in memory; these never changed. */
struct check_list {
	uint32_t n, max;
	int32_t current, last;
	uint64_t data;
};
struct check_expected { /* of a test that does not return */
	int32_t signal;
	int8_t exit_value;
};
struct check_test_function { /* TF */
	uint64_t test;	     /* TTest; in old versions the function */
	int32_t start, end;
	union {
		struct check_expected expected;
		struct {
			uint64_t name;
			struct check_expected expected;
		} old;
	};
};
struct check_test_place { /* TTest */
	uint64_t name, function, file;
	int32_t line;
};
struct check_fixture {
	uint32_t checked;
	uint64_t function;
};

struct check_layout {
	uint64_t suites, results, logs, fork_status; /* SRunner */
	uint64_t case_tests, case_setup, case_teardown, case_tags, case_size;
	uint64_t case_checked_setup, case_checked_teardown;
	uint64_t result_type, result_file, result_line, result_message;
};

struct check {
	struct check_layout at;
	struct calls call;
	size_t base;	      /* tests of runners that were there before */
	uint64_t runner;      /* being run; 0: none */
	uint64_t suites;      /* its own list */
	uint32_t fork_status; /* its own choice */
	bool old;	      /* before MINOR_PLACES */
	bool isolates;	      /* by that, while its tests are listed */
	bool waiting;	      /* for our fixture */
	bool group_failed;    /* the unchecked set-up did */
	struct raddr points;  /* functions of ours; 0: no points are wanted */
};

/* A test of a runner, where the framework has it. */
struct check_found {
	uint64_t suite, tcase;
	size_t group;
	struct check_test_function function;
	int32_t i;
	bool needs_fork; /* a signal or an exit status is expected */
};
DEFINE_VEC(found_list, struct check_found)

/* What a runner is asked to leave out: its arguments or the environment. */
struct check_filter {
	char *suite, *tcase, *include, *exclude;
};

static void check_filter_free(struct check_filter *filter)
{
	free(filter->suite);
	free(filter->tcase);
	free(filter->include);
	free(filter->exclude);
}

static void check_find_layout(const struct run *run, struct check_layout *at)
{
	const struct adapter_member rows[] = {
		{ &at->suites, "SRunner", "slst", 0, ANYWHERE },
		{ &at->results, "SRunner", "resultlst", 16, ANYWHERE },
		{ &at->logs, "SRunner", "loglst", 48, ANYWHERE },
		{ &at->fork_status, "SRunner", "fstat", 56, ANYWHERE },
		{ &at->case_tests, "TCase", "tflst", 24, ANYWHERE },
		{ &at->case_setup, "TCase", "unch_sflst", 32, ANYWHERE },
		{ &at->case_teardown, "TCase", "unch_tflst", 40, ANYWHERE },
		{ &at->case_checked_setup, "TCase", "ch_sflst", 48, ANYWHERE },
		{ &at->case_checked_teardown, "TCase", "ch_tflst", 56,
		  ANYWHERE },
		{ &at->case_tags, "TCase", "tags", 64, ANYWHERE },
		{ &at->case_size, "TCase", NULL, 72, CASE_SIZE_MAX + 1 },
		{ &at->result_type, "TestResult", "rtype", 0, ANYWHERE },
		{ &at->result_file, "TestResult", "file", 8, ANYWHERE },
		{ &at->result_line, "TestResult", "line", 16, ANYWHERE },
		{ &at->result_message, "TestResult", "msg", 48, ANYWHERE },
	};
	if (!adapter_find_members(run, rows, ARRAY_SIZE(rows)))
		return;
	if (at->case_size < 48 || at->case_tests > at->case_size - 8 ||
	    at->case_setup > at->case_size - 8 ||
	    at->case_teardown > at->case_size - 8 ||
	    at->case_checked_setup > at->case_size - 8 ||
	    at->case_checked_teardown > at->case_size - 8)
		adapter_reset_members(run, rows, ARRAY_SIZE(rows));
}

/* Pointers of the list at @address. */
static struct err *check_read_list(struct run *run, uint64_t address,
				   uint64_t **ret, size_t *ret_n)
{
	struct check_list list;
	TRY(memory_read(run->tracee, RADDR(address), &list, sizeof(list)));
	if (list.n > ITEMS_MAX)
		return adapter_unknown_version(run,
					       "a list with too many items");
	_cleanup_(freep) uint64_t *items = calloc(list.n + 1, 8);
	if (!items)
		return err_nomem();
	if (list.n)
		TRY(memory_read(run->tracee, RADDR(list.data), items,
				list.n * sizeof(*items)));
	*ret = take_ptr(items);
	*ret_n = list.n;
	return NULL;
}

static struct err *check_read_list_at(struct run *run, uint64_t address,
				      uint64_t **ret, size_t *ret_n)
{
	uint64_t list;
	TRY(run_u64(run, RADDR(address), &list));
	return check_read_list(run, list, ret, ret_n);
}

static struct err *check_read_argument(struct run *run, struct thread *thread,
				       unsigned index, const char *variable,
				       char **ret)
{
	uint64_t address = thread_arg(thread, index);
	if (address)
		return run_text(run, RADDR(address), ret);
	const char *value = getenv(variable);
	*ret = value ? strdup(value) : NULL;
	return value && !*ret ? err_nomem() : NULL;
}

static struct err *check_read_filter(struct run *run, struct thread *thread,
				     struct check_filter *filter)
{
	TRY(check_read_argument(run, thread, 1, "CK_RUN_SUITE",
				&filter->suite));
	TRY(check_read_argument(run, thread, 2, "CK_RUN_CASE", &filter->tcase));
	TRY(check_read_argument(run, thread, 3, "CK_INCLUDE_TAGS",
				&filter->include));
	return check_read_argument(run, thread, 4, "CK_EXCLUDE_TAGS",
				   &filter->exclude);
}

static bool check_has_word(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = words; n && (at = strstr(at, word)); at += n) {
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	}
	return false;
}

static struct err *check_case_has_tag(struct run *run, uint64_t tcase,
				      const char *words, bool *ret)
{
	const struct check *check = run->state;
	_cleanup_(freep) uint64_t *tags = NULL;
	size_t n;
	TRY(check_read_list_at(run, tcase + check->at.case_tags, &tags, &n));
	*ret = false;
	for (size_t i = 0; i < n && !*ret; i++) {
		_cleanup_(freep) char *tag = NULL;
		TRY(run_text(run, RADDR(tags[i]), &tag));
		*ret = check_has_word(words, tag);
	}
	return NULL;
}

/* The name is the first member of suites and of cases. */
static struct err *check_has_name(struct run *run, uint64_t object,
				  const char *name, bool *ret)
{
	*ret = true;
	if (!name)
		return NULL;
	uint64_t at;
	_cleanup_(freep) char *text = NULL;
	TRY(run_u64(run, RADDR(object), &at));
	TRY(run_text(run, RADDR(at), &text));
	*ret = !strcmp(text, name);
	return NULL;
}

static struct err *check_case_wanted(struct run *run, uint64_t tcase,
				     const struct check_filter *filter,
				     bool *ret)
{
	TRY(check_has_name(run, tcase, filter->tcase, ret));
	if (*ret && filter->include)
		TRY(check_case_has_tag(run, tcase, filter->include, ret));
	if (*ret && filter->exclude) {
		TRY(check_case_has_tag(run, tcase, filter->exclude, ret));
		*ret = !*ret;
	}
	return NULL;
}

static struct err *check_find_in_case(struct run *run, uint64_t suite,
				      uint64_t tcase, size_t group,
				      struct found_list *list)
{
	const struct check *check = run->state;
	_cleanup_(freep) uint64_t *functions = NULL;
	size_t n;
	TRY(check_read_list_at(run, tcase + check->at.case_tests, &functions,
			       &n));
	for (size_t i = 0; i < n; i++) {
		struct check_found found = {
			suite, tcase, group, {}, 0, false
		};
		struct check_test_function *function = &found.function;
		const struct check_expected *expected =
			check->old ? &function->old.expected
				   : &function->expected;
		size_t size = (size_t)((const uint8_t *)(expected + 1) -
				       (const uint8_t *)function);
		TRY(memory_read(run->tracee, RADDR(functions[i]), function,
				size));
		found.needs_fork = expected->signal || expected->exit_value;
		if ((int64_t)function->end - function->start > TESTS_MAX ||
		    list->n > TESTS_MAX)
			return adapter_unknown_version(
				run, "a loop test with too many rounds");
		for (found.i = function->start; found.i < function->end;
		     found.i++)
			TRY(vec_push(list, found));
	}
	return NULL;
}

/* All tests of the runner that it would run, in its own order. */
static struct err *check_find_tests(struct run *run, struct thread *thread,
				    struct found_list *list)
{
	const struct check *check = run->state;
	_cleanup_(check_filter_free) struct check_filter filter = {};
	_cleanup_(freep) uint64_t *suites = NULL;
	size_t n_suites, group = 0;
	TRY(check_read_filter(run, thread, &filter));
	TRY(check_read_list_at(run, thread_arg(thread, 0) + check->at.suites,
			       &suites, &n_suites));
	for (size_t i = 0; i < n_suites; i++) {
		_cleanup_(freep) uint64_t *cases = NULL;
		size_t n;
		bool wanted;
		TRY(check_has_name(run, suites[i], filter.suite, &wanted));
		if (!wanted)
			continue;
		TRY(check_read_list_at(run, suites[i] + 8, &cases, &n));
		for (size_t j = 0; j < n; j++, group++) {
			TRY(check_case_wanted(run, cases[j], &filter, &wanted));
			if (wanted)
				TRY(check_find_in_case(run, suites[i], cases[j],
						       group, list));
		}
	}
	return NULL;
}

static struct err *check_group_name(struct run *run,
				    const struct check_found *found, char **ret)
{
	uint64_t suite_at, case_at;
	_cleanup_(freep) char *suite = NULL, *tcase = NULL;
	TRY(run_u64(run, RADDR(found->suite), &suite_at));
	TRY(run_u64(run, RADDR(found->tcase), &case_at));
	TRY(run_text(run, RADDR(suite_at), &suite));
	TRY(run_text(run, RADDR(case_at), &tcase));
	free(take_ptr(*ret));
	TRY(str_format(ret, "%s/%s", suite, tcase));
	return NULL;
}

static struct err *check_read_place(struct run *run,
				    const struct check_test_function *function,
				    char **name, char **file, unsigned *line)
{
	const struct check *check = run->state;
	const char *known = NULL;
	struct check_test_place place;
	if (check->old) {
		TRY(run_text(run, RADDR(function->old.name), name));
		if (program_function_place(run->program, RADDR(function->test),
					   &known, line))
			return str_copy(known, file);
		return NULL;
	}
	TRY(memory_read(run->tracee, RADDR(function->test), &place,
			sizeof(place)));
	*line = (unsigned)place.line;
	TRY(run_text(run, RADDR(place.name), name));
	return run_text(run, RADDR(place.file), file);
}

static struct err *check_add_test(struct run *run,
				  const struct check_found *found,
				  const char *group, size_t group_id)
{
	const struct check *check = run->state;
	const struct check_test_function *function = &found->function;
	_cleanup_(freep) char *name = NULL, *file = NULL;
	_cleanup_(str_freep) struct str full = STR_INIT;
	unsigned line = 0;
	TRY(check_read_place(run, function, &name, &file, &line));
	TRY(str_appendf(&full, "%s/%s", group, name));
	if (function->start != 0 || function->end != 1)
		TRY(str_appendf(&full, ":%d", found->i));
	TRY(run_add_test(run, full.s, file, line, false, run_tests(run),
			 group_id));
	if (check->isolates)
		run_isolate_test(run);
	return NULL;
}

/* As srunner_fork_status() decides: what the program chose, or its environment. */
static struct err *check_read_isolates(struct run *run, uint64_t runner)
{
	struct check *check = run->state;
	uint32_t status;
	TRY(run_u32(run, RADDR(runner + check->at.fork_status), &status));
	const char *said = getenv("CK_FORK");
	check->isolates = status == FORK ||
			  (status != NO_FORK && (!said || strcmp(said, "no")));
	return NULL;
}

/* Groups that are not test cases, also by their first test's number. */
#define SUITE_GROUP (UINT64_C(1) << 62)
#define RUNNER_GROUP (UINT64_C(1) << 63)

/*
 * The thread is at the entry of srunner_run_tagged(). Test cases stay together
 * with their unchecked fixtures, and so do suites. The program calls its runners
 * one after the other: in one process there is no way back.
 */
static struct err *check_discover_runner(struct run *run, struct thread *thread)
{
	_cleanup_(found_list_freep) struct found_list list = {};
	_cleanup_(freep) char *group = NULL;
	size_t id = 0; /* its first test's number */
	size_t suite_id = 0, runner_id = run_tests(run);
	TRY(check_find_tests(run, thread, &list));
	TRY(check_read_isolates(run, thread_arg(thread, 0)));
	TRY(run_declare_group(run, RUNNER_GROUP | runner_id, 0));
	for (size_t i = 0; i < list.n; i++) {
		const struct check_found *found = &list.data[i];
		if (i == 0 || found->suite != found[-1].suite) {
			suite_id = run_tests(run);
			TRY(run_declare_group(run, SUITE_GROUP | suite_id,
					      RUNNER_GROUP | runner_id));
		}
		if (i == 0 || found->group != found[-1].group) {
			TRY(check_group_name(run, found, &group));
			id = run_tests(run);
			TRY(run_declare_group(run, id, SUITE_GROUP | suite_id));
		}
		TRY(check_add_test(run, found, group, id));
		run_declare_priority(run, run_tests(run) - 1,
				     -(int64_t)runner_id);
	}
	return calls_skip(run, thread, 0);
}

/* A suite of ours in the tested program; Check knows the first two members. */
struct check_segment {
	uint64_t name, cases;
	uint64_t first, n; /* which part of the order it is */
	uint32_t fork_status;
	uint32_t continues; /* the test case before it continues */
	struct check_list case_list, test_list;
	uint64_t case_items[1];
	uint8_t tcase[];
};

/* The lists of ours, as they will be at @base in the tested program. */
struct check_image {
	uint8_t *data;
	uint64_t base;
	size_t used, size;
};

static uint64_t check_image_take(struct check_image *image, size_t n)
{
	size_t at = image->used;
	image->used += (n + 15) & ~(size_t)15;
	BUG_ON(image->used > image->size);
	return at;
}

static struct check_list check_list_of(uint64_t data, size_t n)
{
	return (struct check_list){ (uint32_t)n, (uint32_t)n, n ? 0 : -1,
				    (int32_t)n - 1, data };
}

/* The test at a place in the order; NULL: not one of this runner. */
static const struct check_found *
check_found_at(const struct run *run, const struct found_list *list, size_t at)
{
	const struct check *check = run->state;
	if (at >= run->n || run->order[at] < check->base ||
	    run->order[at] - check->base >= list->n)
		return NULL;
	return &list->data[run->order[at] - check->base];
}

static bool check_same_group(const struct check_found *a,
			     const struct check_found *b)
{
	return a && b && a->group == b->group;
}

/* How many of the order from @at on are one segment. */
static size_t check_segment_length(const struct run *run,
				   const struct found_list *list, size_t at)
{
	const struct check_found *first = check_found_at(run, list, at);
	size_t n = 1;
	for (;; n++) {
		const struct check_found *found =
			check_found_at(run, list, at + n);
		if (!check_same_group(first, found) ||
		    found->needs_fork != first->needs_fork)
			return n;
	}
}

/* A fixture of ours before those in the list at *@fixtures, or after them. */
static struct err *check_add_fixture(struct run *run, struct check_image *image,
				     struct check_fixture fixture, bool behind,
				     uint64_t *fixtures)
{
	_cleanup_(freep) uint64_t *items = NULL;
	size_t n;
	TRY(check_read_list(run, *fixtures, &items, &n));
	size_t size = sizeof(struct check_list) + sizeof(struct check_fixture) +
		      (n + 1) * sizeof(*items);
	if (image->used + size + 64 > image->size)
		return err_create(ERR_SUITE,
				  "a test case has too many fixtures");
	size_t list_at = check_image_take(image, sizeof(struct check_list));
	size_t fixture_at =
		check_image_take(image, sizeof(struct check_fixture));
	size_t items_at = check_image_take(image, (n + 1) * sizeof(*items));
	struct check_list list = check_list_of(image->base + items_at, n + 1);
	uint64_t ours = image->base + fixture_at;
	memcpy(image->data + list_at, &list, sizeof(list));
	memcpy(image->data + fixture_at, &fixture, sizeof(fixture));
	memcpy(image->data + items_at + (behind ? n * 8 : 0), &ours,
	       sizeof(ours));
	memcpy(image->data + items_at + (behind ? 0 : 8), items,
	       n * sizeof(*items));
	*fixtures = image->base + list_at;
	return NULL;
}

static struct err *check_add_fixture_at(struct run *run,
					struct check_image *image,
					struct check_fixture fixture,
					bool behind, uint8_t *list)
{
	uint64_t fixtures;
	memcpy(&fixtures, list, sizeof(fixtures));
	TRY(check_add_fixture(run, image, fixture, behind, &fixtures));
	memcpy(list, &fixtures, sizeof(fixtures));
	return NULL;
}

/* Around the checked fixtures: ours are the last set-up, the first tear-down. */
static struct err *check_add_points(struct run *run, struct check_image *image,
				    uint8_t *tcase)
{
	const struct check *check = run->state;
	struct check_fixture setup = { 1, check->points.v };
	struct check_fixture teardown = { 1,
					  check->points.v + CALLS_STUB_SIZE };
	if (run_point_wanted(run, SUITE_AFTER_SETUP))
		TRY(check_add_fixture_at(run, image, setup, true,
					 tcase + check->at.case_checked_setup));
	if (run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		TRY(check_add_fixture_at(
			run, image, teardown, false,
			tcase + check->at.case_checked_teardown));
	return NULL;
}

static size_t check_segment_size(const struct check *check)
{
	return sizeof(struct check_segment) + check->at.case_size;
}

static void check_add_functions(struct check_image *image,
				const struct run *run,
				const struct found_list *list,
				struct check_segment *segment)
{
	size_t items_at = check_image_take(image, segment->n * 8);
	for (size_t i = 0; i < segment->n; i++) {
		const struct check_found *found =
			check_found_at(run, list, segment->first + i);
		BUG_ON(!found);
		struct check_test_function function = found->function;
		function.start = found->i;
		function.end = found->i + 1;
		size_t at = check_image_take(image, sizeof(function));
		memcpy(image->data + at, &function, sizeof(function));
		uint64_t address = image->base + at;
		memcpy(image->data + items_at + i * 8, &address, 8);
	}
	segment->test_list = check_list_of(image->base + items_at, segment->n);
}

/* Fills in the segment at @at of the image: order entries [first, first + n). */
static struct err *check_add_segment(struct run *run, struct check_image *image,
				     size_t at, const struct found_list *list,
				     size_t first, size_t n, uint64_t empty)
{
	const struct check *check = run->state;
	const struct check_found *found = check_found_at(run, list, first);
	struct check_segment *segment =
		(struct check_segment *)(image->data + at);
	uint64_t address = image->base + at;
	bool goes_on =
		check_same_group(found, check_found_at(run, list, first + n));
	BUG_ON(!found);
	TRY(run_u64(run, RADDR(found->suite), &segment->name));
	TRY(memory_read(run->tracee, RADDR(found->tcase), segment->tcase,
			check->at.case_size));
	segment->cases = address + offsetof(struct check_segment, case_list);
	segment->first = first;
	segment->n = n;
	segment->fork_status = found->needs_fork ? FORK : NO_FORK;
	segment->continues =
		first > run->next &&
		check_same_group(found, check_found_at(run, list, first - 1));
	segment->case_items[0] = address + sizeof(*segment);
	segment->case_list = check_list_of(
		address + offsetof(struct check_segment, case_items), 1);
	check_add_functions(image, run, list, segment);

	uint64_t tests = address + offsetof(struct check_segment, test_list);
	uint8_t *tcase = segment->tcase;
	memcpy(tcase + check->at.case_tests, &tests, 8);
	if (segment->continues)
		memcpy(tcase + check->at.case_setup, &empty, 8);
	if (goes_on)
		memcpy(tcase + check->at.case_teardown, &empty, 8);
	if (check->points.v)
		TRY(check_add_points(run, image, tcase));
	if (first != run->next)
		return NULL;
	/* Before the unchecked set-up: one that stops the thread for us. */
	struct check_fixture ours = { 0, regs_pc(&check->call.entry).v };
	return check_add_fixture_at(run, image, ours, false,
				    tcase + check->at.case_setup);
}

/* Gives the runner a list of our own for [run->next, end) of the order. */
static struct err *check_replace_suites(struct run *run, struct thread *thread,
					const struct found_list *list,
					size_t end)
{
	struct check *check = run->state;
	size_t n = end - run->next, segments = 0;
	for (size_t at = run->next; at < end; segments++)
		at += check_segment_length(run, list, at);

	size_t stride = (check_segment_size(check) + 15) & ~(size_t)15;
	struct check_image image = {};
	/* Lists of pointers are rounded up; fixtures are few. */
	size_t fixtures = check->points.v ? FIXTURES_SIZE : 0;
	image.size = 65536 + segments * (stride + 8 + 32 + fixtures) +
		     n * (8 + sizeof(struct check_test_function) + 16);
	_cleanup_(freep) uint8_t *data = image.data = calloc(1, image.size);
	struct raddr base;
	if (!data)
		return err_nomem();
	TRY(remote_map(thread, image.size, &base));
	image.base = base.v;

	size_t suites_at = check_image_take(&image, sizeof(struct check_list));
	size_t empty_at = check_image_take(&image, sizeof(struct check_list));
	size_t items_at = check_image_take(&image, segments * 8);
	size_t segments_at = check_image_take(&image, segments * stride);
	struct check_list suites =
		check_list_of(image.base + items_at, segments);
	struct check_list empty = check_list_of(image.base + items_at, 0);
	memcpy(data + suites_at, &suites, sizeof(suites));
	memcpy(data + empty_at, &empty, sizeof(empty));
	size_t at = run->next;
	for (size_t i = 0; i < segments; i++) {
		uint64_t address = image.base + segments_at + i * stride;
		size_t length = check_segment_length(run, list, at);
		memcpy(data + items_at + i * 8, &address, 8);
		TRY(check_add_segment(run, &image, segments_at + i * stride,
				      list, at, length, image.base + empty_at));
		at += length;
	}
	TRY(memory_write(run->tracee, base, data, image.used));
	return memory_write_u64(run->tracee,
				RADDR(check->runner + check->at.suites),
				image.base + suites_at);
}

static struct err *check_set_fork_status(struct run *run, uint32_t status)
{
	const struct check *check = run->state;
	return memory_write(run->tracee,
			    RADDR(check->runner + check->at.fork_status),
			    &status, sizeof(status));
}

static struct err *check_on_runner_return(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct check *check = run->state;
	if (!calls_returned(&check->call, thread))
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	check->call.inside = false;
	TRY(check_set_fork_status(run, check->fork_status));
	TRY(memory_write_u64(run->tracee,
			     RADDR(check->runner + check->at.suites),
			     check->suites));
	check->runner = 0;
	return run_unbreak(run, check->call.return_to);
}

/* In place of a fixture. Tests that are forked for are in another process. */
static struct err *check_on_point(struct run *run, struct thread *thread,
				  uint64_t point)
{
	const struct check *check = run->state;
	return calls_nested(&check->call, thread)
		       ? run_point(run, (enum suite_point)point)
		       : NULL;
}

static struct err *check_watch_points(struct run *run, struct thread *thread)
{
	struct check *check = run->state;
	if (check->points.v || (!run_point_wanted(run, SUITE_AFTER_SETUP) &&
				!run_point_wanted(run, SUITE_BEFORE_TEARDOWN)))
		return NULL;
	TRY(calls_stubs(thread, 2, &check->points));
	TRY(run_break(run, check->points, check_on_point, SUITE_AFTER_SETUP));
	return run_break(run, raddr_add(check->points, CALLS_STUB_SIZE),
			 check_on_point, SUITE_BEFORE_TEARDOWN);
}

/* The thread is at the entry of srunner_run_tagged(). */
static struct err *check_run_runner(struct run *run, struct thread *thread)
{
	struct check *check = run->state;
	_cleanup_(found_list_freep) struct found_list list = {};
	TRY(check_find_tests(run, thread, &list));
	const struct check_found *first = check_found_at(run, &list, run->next);
	size_t end = run->next;
	while (check_found_at(run, &list, end))
		end++;
	if (!first) {
		/* A later runner's turn, or that of a new process. */
		log_debug(LOG_FRAMEWORK,
			  "Check: a runner of %zu tests is skipped", list.n);
		check->base += list.n;
		return calls_skip(run, thread, 0);
	}
	TRY(calls_enter(run, thread, &check->call, check_on_runner_return, 0));
	check->runner = thread_arg(thread, 0);
	check->waiting = true;
	check->group_failed = false;
	TRY(run_u64(run, RADDR(check->runner + check->at.suites),
		    &check->suites));
	TRY(run_u32(run, RADDR(check->runner + check->at.fork_status),
		    &check->fork_status));
	TRY(check_watch_points(run, thread));
	TRY(check_replace_suites(run, thread, &list, end));
	TRY(check_set_fork_status(run, first->needs_fork ? FORK : NO_FORK));
	check->base += list.n;
	return NULL;
}

/* The failure of the running test that a TestResult describes. */
static struct err *check_judge_test(struct run *run, uint64_t result)
{
	const struct check *check = run->state;
	const struct check_layout *at = &check->at;
	uint32_t type, line;
	uint64_t file_at, message_at;
	TRY(run_u32(run, RADDR(result + at->result_type), &type));
	if (type == RESULT_PASS)
		return NULL;
	_cleanup_(freep) char *file = NULL, *message = NULL;
	TRY(run_u32(run, RADDR(result + at->result_line), &line));
	TRY(run_u64(run, RADDR(result + at->result_file), &file_at));
	TRY(run_u64(run, RADDR(result + at->result_message), &message_at));
	if (file_at)
		err_ignore(run_text(run, RADDR(file_at), &file));
	if (message_at)
		err_ignore(run_text(run, RADDR(message_at), &message));
	return run_fail(run, file, line, message);
}

/* Only tests that were forked for have these; see check_run.c. */
static enum outcome check_outcome_of(const struct run *run, uint32_t type)
{
	const char *message = run->message ? run->message : "";
	if (type == RESULT_PASS || type == RESULT_FAILURE)
		return OUTCOME_NONE;
	if (str_starts(message, "Test timeout expired"))
		return OUTCOME_TIMEOUT;
	/* It returned although it should have exited. */
	if (!strcmp(message, "Early exit with return value 0"))
		return OUTCOME_FAIL;
	return OUTCOME_CRASH;
}

static struct err *check_end_test(struct run *run, uint64_t result)
{
	const struct check *check = run->state;
	uint32_t type;
	TRY(run_u32(run, RADDR(result + check->at.result_type), &type));
	TRY(check_judge_test(run, result));
	return run_end(run, check_outcome_of(run, type));
}

static struct err *check_start_segment(struct run *run, uint64_t address)
{
	struct check *check = run->state;
	struct check_segment segment;
	TRY(memory_read(run->tracee, RADDR(address), &segment,
			sizeof(segment)));
	check->group_failed = check->group_failed && segment.continues;
	if (!check->group_failed)
		return check_set_fork_status(run, segment.fork_status);
	/* Neither the tests nor the tear-down without the set-up. */
	struct check_list empty = check_list_of(0, 0);
	uint64_t list = address + offsetof(struct check_segment, test_list);
	TRY(memory_write(run->tracee, RADDR(list), &empty, sizeof(empty)));
	return memory_write_u64(
		run->tracee,
		RADDR(address + sizeof(segment) + check->at.case_teardown),
		list);
}

/* Tests that did not start: the unchecked set-up failed; its result is the last. */
static struct err *check_end_segment(struct run *run, uint64_t address)
{
	struct check *check = run->state;
	struct check_segment segment;
	TRY(memory_read(run->tracee, RADDR(address), &segment,
			sizeof(segment)));
	while (run->next < segment.first + segment.n && run->next < run->n) {
		_cleanup_(freep) uint64_t *results = NULL;
		size_t n;
		check->group_failed = true;
		TRY(check_read_list_at(run, check->runner + check->at.results,
				       &results, &n));
		TRY(run_begin(run));
		if (n)
			TRY(check_judge_test(run, results[n - 1]));
		TRY(run_end(run, OUTCOME_FAIL));
	}
	return NULL;
}

/* An LFun: (SRunner *, FILE *, enum print_output, void *object, event). */
static struct err *check_on_log(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	const struct check *check = run->state;
	uint64_t object = thread_arg(thread, 3);
	if (!check->runner || thread_arg(thread, 0) != check->runner)
		return NULL;
	switch ((uint32_t)thread_arg(thread, 4)) {
	case EVENT_SUITE_START:
		return check_start_segment(run, object);
	case EVENT_SUITE_END:
		return check_end_segment(run, object);
	case EVENT_TEST_START:
		if (run_wanted(run) == RUN_NONE)
			return NULL;
		TRY(run_begin(run));
		/* Leaving with status 0 is allowed in Check. */
		run_allow_exit(run, 0);
		return NULL;
	case EVENT_TEST_END:
		return check_end_test(run, object);
	default:
		return NULL;
	}
}

/* Our fixture: logging has been set up by now. */
static struct err *check_find_log(struct run *run, struct thread *thread)
{
	struct check *check = run->state;
	_cleanup_(freep) uint64_t *logs = NULL;
	size_t n;
	uint64_t function;
	check->waiting = false;
	TRY(check_read_list_at(run, check->runner + check->at.logs, &logs, &n));
	if (!n)
		return adapter_unknown_version(
			run, "the runner has no log functions");
	TRY(run_u64(run, RADDR(logs[0] + 8), &function));
	TRY(run_break(run, RADDR(function), check_on_log, 0));
	return calls_skip(run, thread, 0);
}

static struct err *check_on_runner(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct check *check = run->state;
	if (check->waiting && calls_same_thread(&check->call, thread))
		return check_find_log(run, thread);
	if (calls_nested(&check->call, thread) || !thread_arg(thread, 0))
		return NULL; /* a test that runs a runner */
	if (run->discovering && run->ready_thread)
		return check_discover_runner(run, thread);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	return check_run_runner(run, thread);
}

static struct err *check_attach(struct run *run)
{
	struct check *check = run->state;
	struct raddr version;
	uint32_t minor = MINOR_PLACES;
	bool found;
	if (program_symbol(run->program, "check_minor_version", &version))
		TRY(run_u32(run, version, &minor));
	check->old = minor < MINOR_PLACES;
	if (minor < MINOR_MIN)
		return err_hint(err_create(ERR_SUITE,
					   "Check 0.%u is too old to be driven",
					   minor),
				"use Check 0.%u or later", MINOR_MIN);
	check_find_layout(run, &check->at);
	TRY(run_break_symbol(run, "srunner_run_tagged", check_on_runner, 0,
			     &found));
	return found ? NULL
		     : err_create(ERR_SUITE, "the program does not use Check");
}

/* clang-format off */
static const char *const check_functions[] = {
	"srunner_", "check_list_", "log_srunner_", "log_suite_", "log_test_",
	"_ck_assert_failed$", "_mark_point$", "_tcase_add_test$",
	"check_fork$", "check_get_clockid$", "check_set_max_msg_size$",
	"check_waitpid_and_exit$", "ck_do_nothing$", "ck_strdup_printf$",
	"cur_fork_status$", "emalloc$", "eprintf$", "erealloc$",
	"fprint_xml_esc$", "get_env_printmode$", "lfile_lfun$",
	"open_tmp_file$", "pack$", "ppack$", "punpack$", "rcvmsg_free$",
	"receive_test_result$", "send_ctx_info$", "send_duration_info$",
	"send_failure_info$", "send_loc_info$", "set_fork_status$",
	"setup_messaging$", "sr_stat_str$", "stdout_lfun$", "subunit_lfun$",
	"suite_add_tcase$", "suite_create$", "suite_tcase$",
	"tag_string_to_list$", "tap_lfun$", "tcase_add_checked_fixture$",
	"tcase_add_unchecked_fixture$", "tcase_create$", "tcase_fn_start$",
	"tcase_matching_tag$", "tcase_name$", "tcase_set_tags$",
	"tcase_set_timeout$", "teardown_messaging$", "tr_create$", "tr_ctx$",
	"tr_fprint$", "tr_free$", "tr_lfile$", "tr_lno$", "tr_msg$",
	"tr_rtype$", "tr_short_str$", "tr_str$", "tr_tcname$", "tr_xmlprint$",
	"upack$", "xml_lfun$",
	NULL,
};
/* clang-format on */

const struct framework framework_check = {
	.name = "check",
	.state_size = sizeof(struct check),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("srunner_create"),
		FRAMEWORK_HAS("srunner_run_tagged")),
	.own = {
		.title = "Check",
		.functions = check_functions,
		/* Copies of its interface have it, as that of expat. */
		.symbols = FRAMEWORK_LIST("srunner_create", "srunner_run_tagged",
			"_ck_assert_failed", "_fail_unless"),
		.beside = FRAMEWORK_LIST("check_*.c"),
		.variables = FRAMEWORK_LIST("_check_current_",
			"_check_current_function$", "_check_current_filename$",
			"_check_current_lineno$", "_check_current_function_$",
			"_check_current_subtest$"),
		.libraries = FRAMEWORK_LIST("libcheck."),
	},
	.isolation = "as with CK_FORK=no",
	.attach = check_attach,
	.discover = check_discover_runner,
	.start = check_run_runner,
};
