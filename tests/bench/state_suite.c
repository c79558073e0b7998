// A suite whose tests share a lot of state and write a little of it. The environment says how much of what:
//
//   BENCH_TESTS         how many tests, at most 1,000
//   BENCH_MICROSECONDS  processor time of a test
//   BENCH_MIB           state reachable from the roots
//   BENCH_SHAPE         array: one block; list: a block for each node; mixed: both, and a table of texts, a third each
//   BENCH_PAGES         pages that a test writes
//   BENCH_KEEP          1: what it wrote stays; 0: it is put back
//   BENCH_CLOCK         a file that gets the times at which the first test began and the last one ended
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE 4096

struct record {
	long id;
	double value;
	char name[24];
	struct record *other; // array: another record; list: the next
	int history[4];
};

struct record *records;
size_t record_count;
struct record *list;
struct record **list_index; // a node on each page
size_t list_pages;
char **texts;
size_t text_count;

static long long nanoseconds;
static size_t pages;
static int keep;
static int last_test;
static uintptr_t times; // where the times are kept: a number, so that they are not reachable
volatile int sink;

static void *checked(void *memory)
{
	if (!memory) {
		fputs("out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

static void fill(struct record *record, size_t i)
{
	record->id = (long)i;
	record->value = (double)i / 3;
	strcpy(record->name, "a record");
}

static void make_array(size_t bytes)
{
	record_count = bytes / sizeof(*records);
	records = checked(calloc(record_count, sizeof(*records)));
	for (size_t i = 0; i < record_count; i++) {
		fill(&records[i], i);
		records[i].other = &records[i * 7919 % record_count];
	}
}

static void make_list(size_t bytes)
{
	size_t count = bytes / (sizeof(*list) + 16); // what the allocator adds
	struct record **end = &list;
	uintptr_t last = 0;
	list_index = checked(calloc(bytes / PAGE + 2, sizeof(*list_index)));
	for (size_t i = 0; i < count; i++) {
		struct record *record = checked(calloc(1, sizeof(*record)));
		fill(record, i);
		*end = record;
		end = &record->other;
		if ((uintptr_t)record / PAGE != last && list_pages < bytes / PAGE + 2) {
			last = (uintptr_t)record / PAGE;
			list_index[list_pages++] = record;
		}
	}
}

static void make_texts(size_t bytes)
{
	text_count = bytes / 256;
	texts = checked(calloc(text_count, sizeof(*texts)));
	for (size_t i = 0; i < text_count; i++) {
		texts[i] = checked(malloc(232));
		memset(texts[i], 'a' + (int)(i % 26), 231);
		texts[i][231] = 0;
	}
}

static unsigned long long next_random(unsigned long long *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 24;
}

// A record on some page, the same one for the same number.
static struct record *record_on_page(unsigned long long *state)
{
	size_t array_pages = record_count * sizeof(*records) / PAGE;
	size_t which = next_random(state) % (array_pages + list_pages + !(array_pages + list_pages));
	if (which < array_pages)
		return &records[which * PAGE / sizeof(*records)];
	return list_index[which - array_pages];
}

static void write_pages(int test, int change)
{
	unsigned long long state = (unsigned long long)test;
	for (size_t i = 0; i < pages; i++)
		record_on_page(&state)->history[0] += change;
}

static long long now(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

// Only the first time counts: a copy of the process may run the tests again.
static void note_time(int which)
{
	long long *place = (long long *)times + which;
	if (times && !*place)
		*place = now(CLOCK_MONOTONIC);
}

static __attribute__((noinline)) void run_test(int test)
{
	if (!test)
		note_time(0);
	sink = test;
	if (pages)
		write_pages(test, 1);
	if (nanoseconds) {
		long long end = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;
		// The clock is a system call: between two of them, work.
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)
			for (int i = 0; i < 300; i++)
				sink = sink + 1;
		sink = test;
	}
	sink = 0;
	if (pages && !keep)
		write_pages(test, -1);
	if (test == last_test)
		note_time(1);
}

#define TEST(n)                                                                                                        \
	void test_##n(void);                                                                                           \
	void test_##n(void)                                                                                            \
	{                                                                                                              \
		run_test(1##n - 1000);                                                                                 \
	}
#define ONES(n) TEST(n##0) TEST(n##1) TEST(n##2) TEST(n##3) TEST(n##4) TEST(n##5) TEST(n##6) TEST(n##7) TEST(n##8) TEST(n##9)
#define TENS(n) ONES(n##0) ONES(n##1) ONES(n##2) ONES(n##3) ONES(n##4) ONES(n##5) ONES(n##6) ONES(n##7) ONES(n##8) ONES(n##9)
#define ALL TENS(0) TENS(1) TENS(2) TENS(3) TENS(4) TENS(5) TENS(6) TENS(7) TENS(8) TENS(9)

ALL

#undef TEST
#define TEST(n) test_##n,

static void (*const tests[])(void) = { ALL };

static long long number(const char *name, long long otherwise)
{
	const char *text = getenv(name);
	return text ? atoll(text) : otherwise;
}

static void open_clock(const char *path)
{
	int fd = path ? open(path, O_RDWR) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof(long long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		times = (uintptr_t)map;
}

int main(void)
{
	size_t count = (size_t)number("BENCH_TESTS", 1000), bytes = (size_t)number("BENCH_MIB", 1) << 20;
	const char *shape = getenv("BENCH_SHAPE");
	nanoseconds = number("BENCH_MICROSECONDS", 0) * 1000;
	pages = (size_t)number("BENCH_PAGES", 0);
	keep = (int)number("BENCH_KEEP", 0);
	if (!shape || !strcmp(shape, "array")) {
		make_array(bytes);
	} else if (!strcmp(shape, "list")) {
		make_list(bytes);
	} else {
		make_array(bytes / 3);
		make_list(bytes / 3);
		make_texts(bytes / 3);
	}
	if (count > sizeof(tests) / sizeof(tests[0]))
		count = sizeof(tests) / sizeof(tests[0]);
	last_test = (int)count - 1;
	open_clock(getenv("BENCH_CLOCK"));
	for (size_t i = 0; i < count; i++)
		tests[i]();
	return 0;
}
