/*
 * Which tests read a place. The suite is this very program, started again with
 * the functions place_* as its tests.
 */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/macro.h"
#include "framework/frameworks.h"
#include "suite/suite.h"
#include "tracee/watchpoint.h"

#define TEST __attribute__((noinline)) void

/* ---- the suite ---- */

static volatile uint64_t word;
static volatile uint8_t bytes[8] __attribute__((aligned(8)));
static volatile uint64_t large[4];
static volatile uint64_t hot;
static volatile uint64_t sink;

TEST place_nothing(void)
{
	sink = 1;
}

TEST place_reads(void)
{
	sink = word;
}

TEST place_writes(void)
{
	word = 5;
}

TEST place_writes_first(void)
{
	word = 7;
	sink = word;
}

TEST place_changes(void)
{
	word++;
}

/* Byte by byte: reads none that it has not written. */
TEST place_fills_bytes(void)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)i;
	sink = bytes[3];
}

TEST place_half(void)
{
	bytes[0] = 1;
	sink = bytes[0];
	sink = bytes[5];
}

TEST place_own_byte(void)
{
	bytes[0] = 1;
	bytes[0]++;
	sink = bytes[0];
}

TEST place_far_end(void)
{
	sink = large[2];
}

TEST place_hot(void)
{
	for (int i = 0; i < 1000000; i++)
		sink = hot;
}

TEST place_hot_byte(void)
{
	for (int i = 0; i < 100000; i++)
		bytes[0] = (uint8_t)i;
}

TEST place_crashes(void)
{
	sink = word;
	raise(SIGSEGV);
}

/* A block of the heap; free() looks into it for its own purposes. */
static volatile uint64_t *block;

TEST place_allocates(void)
{
	block = calloc(8, sizeof(*block));
	printf("block %p\n", (const void *)block);
}

TEST place_frees(void)
{
	free((void *)block);
}

TEST place_reads_block(void)
{
	sink = block[1];
}

static int suite_main(void)
{
	/* What is between tests is nobody's reading. */
	place_nothing();
	sink = word + bytes[0] + large[2] + hot;
	place_reads();
	place_writes();
	sink = word;
	place_writes_first();
	place_changes();
	place_fills_bytes();
	place_half();
	place_own_byte();
	place_far_end();
	place_hot();
	place_hot_byte();
	place_allocates();
	place_reads_block();
	place_frees();
	place_crashes();
	return 0;
}

/* ---- what reads ---- */

struct seen {
	size_t finished;
	struct {
		size_t test, place;
	} reads[64];
	size_t n;
	void *block; /* as the suite has printed it */
};

static void on_finished(void *data, const struct suite_result *result)
{
	struct seen *seen = data;
	seen->finished++;
	if (result->output)
		sscanf(result->output, "block %p", &seen->block);
}

static void on_read(void *data, size_t test, size_t place, bool fills)
{
	struct seen *seen = data;
	assert_false(fills);
	assert_true(seen->n < ARRAY_SIZE(seen->reads));
	seen->reads[seen->n].test = test;
	seen->reads[seen->n++].place = place;
}

static unsigned times(const struct seen *seen, size_t test, size_t place)
{
	unsigned n = 0;
	for (size_t i = 0; i < seen->n; i++)
		n += seen->reads[i].test == test &&
		     seen->reads[i].place == place;
	return n;
}

static struct suite *suite;
static uint64_t base;

/* The first mapping of the program, here and with fixed addresses. */
static uint64_t own_base(const char *path)
{
	char line[4400];
	unsigned long long start = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (!start && fgets(line, sizeof(line), maps)) {
		if (strstr(line, path))
			sscanf(line, "%llx-", &start);
	}
	fclose(maps);
	return start;
}

static int set_up(void **state)
{
	(void)state;
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(n > 0);
	base = own_base(path);
	char *argv[] = { path, "suite", NULL };
	static const char *const globs[] = { "place_*", NULL };
	const struct suite_options options = {
		.kind = &executable_suite_kind,
		.argv = argv,
		.framework = "functions",
		.test_functions = globs,
		.timeout_ns = 20000000000ULL,
		.keep_output = true,
		.jobs = 1,
	};
	assert_ok(suite_open(&options, &suite));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	suite_close(suite);
	return 0;
}

static size_t test_named(const char *name)
{
	for (size_t i = 0; i < suite_count(suite); i++) {
		if (!strcmp(suite_test(suite, i)->name, name))
			return i;
	}
	fail_msg("no test %s", name);
	return 0;
}

/* Programs that can be anywhere are at this address without randomisation. */
#define FIXED_BASE 0x555555554000ULL

static struct suite_place place_at(const volatile void *here, uint64_t size)
{
	return (struct suite_place){
		.address = (uintptr_t)here - base + FIXED_BASE,
		.size = size,
		.from_test = (size_t)-1,
	};
}

static void run(const struct suite_place *places, size_t n_places,
		const char *const *names, struct seen *seen)
{
	const struct suite_observer observer = {
		.finished = on_finished,
		.read = on_read,
		.data = seen,
	};
	size_t order[32], n = 0;
	for (; names[n]; n++)
		order[n] = test_named(names[n]);
	*seen = (struct seen){};
	assert_ok(
		suite_run_places(suite, order, n, places, n_places, &observer));
	assert_int_equal(seen->finished, n);
}

static void test_readers(void **state)
{
	(void)state;
	const struct suite_place places[] = {
		place_at(&word, 8),
		place_at(&bytes, 8),
		place_at(&hot, 8),
	};
	const char *const order[] = {
		"place_nothing",
		"place_reads",
		"place_writes",
		"place_writes_first",
		"place_changes",
		"place_fills_bytes",
		"place_half",
		"place_own_byte",
		"place_hot",
		"place_hot_byte",
		NULL,
	};
	struct seen seen;
	run(places, 3, order, &seen);
	assert_int_equal(times(&seen, test_named("place_reads"), 0), 1);
	assert_int_equal(times(&seen, test_named("place_changes"), 0), 1);
	assert_int_equal(times(&seen, test_named("place_half"), 1), 1);
	assert_int_equal(times(&seen, test_named("place_hot"), 2), 1);
	assert_int_equal(seen.n, 4); /* and nobody else */
}

static void test_large_and_odd_places(void **state)
{
	(void)state;
	assert_int_equal(suite_places_max(suite), 4);
	const char *const order[] = { "place_far_end", "place_fills_bytes",
				      "place_half", NULL };
	struct seen seen;
	/* Watchpoints that are left over reach further into it. */
	struct suite_place places[4] = { place_at(large, sizeof(large)) };
	run(places, 1, order, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(times(&seen, test_named("place_far_end"), 0), 1);
	/* Its neighbours are not the place. */
	places[0] = place_at(&bytes[5], 3);
	places[1] = place_at(&bytes[6], 1);
	run(places, 2, order, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(times(&seen, test_named("place_half"), 0), 1);
	/* An address that is none. */
	places[0].address = 0xffffffff81000000;
	places[1].address = UINT64_MAX - 2;
	run(places, 2, order, &seen);
	assert_int_equal(seen.n, 0);
}

static void test_from_a_test_on(void **state)
{
	(void)state;
	struct suite_place place = place_at(&word, 8);
	place.from_test = test_named("place_writes");
	const char *const order[] = { "place_reads", "place_writes",
				      "place_changes", NULL };
	struct seen seen;
	run(&place, 1, order, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(times(&seen, test_named("place_changes"), 0), 1);
}

static void test_blocks(void **state)
{
	(void)state;
	const char *const order[] = { "place_allocates", "place_reads_block",
				      "place_nothing", "place_frees", NULL };
	struct suite_place place = place_at(&word, 8);
	struct seen seen;
	run(&place, 1, order, &seen);
	assert_non_null(seen.block);
	/* The second word of a freed block is what glibc looks at. */
	place.address = (uintptr_t)seen.block + 8;
	place.from_test = test_named("place_allocates");
	run(&place, 1, order, &seen);
	assert_int_equal(times(&seen, test_named("place_reads_block"), 0), 1);
	assert_int_equal(seen.n, 1);
}

static void test_after_a_crash(void **state)
{
	(void)state;
	struct suite_place place = place_at(&word, 8);
	const char *const order[] = { "place_writes",
				      "place_crashes",
				      "place_nothing",
				      "place_reads",
				      "place_crashes",
				      "place_changes",
				      NULL };
	struct seen seen;
	run(&place, 1, order, &seen);
	assert_int_equal(times(&seen, test_named("place_crashes"), 0), 2);
	assert_int_equal(times(&seen, test_named("place_reads"), 0), 1);
	assert_int_equal(times(&seen, test_named("place_changes"), 0), 1);
	assert_int_equal(seen.n, 4);
	/* In the new process that test has not been. */
	place.from_test = test_named("place_writes");
	run(&place, 1, order, &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(times(&seen, test_named("place_crashes"), 0), 1);
}

/* Six places, of which no more than four count at the same time. */
static void test_in_turns(void **state)
{
	(void)state;
	struct suite_place places[6] = {
		place_at(&large[0], 8), place_at(&large[1], 8),
		place_at(&word, 8),	place_at(&bytes, 8),
		place_at(&hot, 8),	place_at(&large[2], 8),
	};
	const char *const order[] = {
		"place_reads", "place_half",	"place_hot", "place_far_end",
		"place_reads", "place_changes", NULL,
	};
	size_t last = test_named("place_half");
	places[2].up_to = places[3].up_to = last + 1;
	places[4].from_test = places[5].from_test = last;
	struct seen seen;
	run(places, ARRAY_SIZE(places), order, &seen);
	assert_int_equal(times(&seen, test_named("place_reads"), 2), 1);
	assert_int_equal(times(&seen, last, 3), 1);
	assert_int_equal(times(&seen, test_named("place_hot"), 4), 1);
	assert_int_equal(times(&seen, test_named("place_far_end"), 5), 1);
	assert_int_equal(seen.n, 4);
}

/* Places that become known on the way. */
struct adding {
	struct seen seen;
	struct suite_place places[5];
	size_t after; /* that test */
	bool added[5];
};

static void on_adding_read(void *data, size_t test, size_t place, bool fills)
{
	struct adding *adding = data;
	on_read(&adding->seen, test, place, fills);
}

static void on_adding_finished(void *data, const struct suite_result *result)
{
	struct adding *adding = data;
	for (size_t i = 0;
	     result->test == adding->after && i < ARRAY_SIZE(adding->places);
	     i++)
		adding->added[i] = suite_add_place(suite, &adding->places[i],
						   result->test);
}

static void add_after_the_second(struct adding *adding)
{
	const struct suite_observer observer = {
		.finished = on_adding_finished,
		.read = on_adding_read,
		.data = adding,
	};
	const size_t order[] = {
		test_named("place_reads"),   test_named("place_half"),
		test_named("place_changes"), test_named("place_crashes"),
		test_named("place_hot"),
	};
	*adding = (struct adding){
		.places = { place_at(&word, 8), place_at(&bytes, 8),
			    place_at(&hot, 8), place_at(&large[2], 8),
			    place_at(&large[0], 8) },
		.after = order[1],
	};
	assert_ok(suite_run_adding(suite, order, ARRAY_SIZE(order), &observer));
}

static void test_adding(void **state)
{
	(void)state;
	struct adding adding;
	add_after_the_second(&adding);
	for (size_t i = 0; i < 4; i++)
		assert_true(adding.added[i]);
	assert_false(adding.added[4]); /* there are only four */
	const struct seen *seen = &adding.seen;
	assert_int_equal(times(seen, test_named("place_changes"), 0), 1);
	assert_int_equal(times(seen, test_named("place_crashes"), 0), 1);
	assert_int_equal(times(seen, test_named("place_hot"), 2), 1);
	assert_int_equal(seen->n, 3);
	/* None can be added where there is no such run. */
	assert_false(suite_add_place(suite, &adding.places[0], 0));
	setenv("POLYGRAPH_FAULT_WATCHPOINTS", "1", 1);
	add_after_the_second(&adding);
	unsetenv("POLYGRAPH_FAULT_WATCHPOINTS");
	assert_false(adding.added[0]);
	assert_int_equal(adding.seen.n, 0);
}

static void test_refused(void **state)
{
	(void)state;
	struct suite_place place = place_at(&word, 8);
	const struct suite_observer observer = {};
	size_t order = 0;
	setenv("POLYGRAPH_FAULT_WATCHPOINTS", "1", 1);
	assert_err(suite_run_places(suite, &order, 1, &place, 1, &observer),
		   ERR_SUITE, "no hardware watchpoints");
	unsetenv("POLYGRAPH_FAULT_WATCHPOINTS");
	assert_ok(suite_run_places(suite, &order, 1, &place, 1, &observer));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "suite"))
		return suite_main();
	if (personality(0xffffffff) < 0) {
		print_message("skipped: addresses cannot be fixed here\n");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_large_and_odd_places),
		cmocka_unit_test(test_from_a_test_on),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_after_a_crash),
		cmocka_unit_test(test_in_turns),
		cmocka_unit_test(test_adding),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
