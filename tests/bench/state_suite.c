// A suite whose tests share a lot of state and write a little of it. The environment says how much of what, besides what
// suite.h asks for:
//
//   BENCH_MIB           state reachable from the roots
//   BENCH_SHAPE         array: one block; list: a block for each node; mixed: both, and a table of texts, a third each
//   BENCH_PAGES         pages that a test writes
//   BENCH_KEEP          1: what it wrote stays; 0: it is put back
#include "suite.h"

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

static size_t pages;
static int keep;

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

static void run_test(int test)
{
	if (pages)
		write_pages(test, 1);
	spin();
	if (pages && !keep)
		write_pages(test, -1);
}

static void prepare(void)
{
	size_t bytes = (size_t)number("BENCH_MIB", 1) << 20;
	const char *shape = getenv("BENCH_SHAPE");
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
}
