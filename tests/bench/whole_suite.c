// A suite of which some tests leave shared state changed, and others read it. The environment says how many, besides what
// suite.h asks for:
//
//   BENCH_EVERY         each so-manyth test leaves something; 1: all do
//   BENCH_UNTOUCHED     MiB that nobody touches, reachable from a root
#include "suite.h"

struct record {
	long id;
	char name[24];
	struct record *other;
};

struct record *untouched;
int requests;
char *title;
struct record *latest;
int level;

static int every;

// A counter, a setting, a text and an object, in turns.
static void leave(int test)
{
	switch (test / every % 4) {
	case 0:
		requests++;
		break;
	case 1:
		level = test;
		break;
	case 2:
		free(title);
		title = strdup(test / every & 4 ? "odd" : "even");
		break;
	default:
		free(latest);
		latest = calloc(1, sizeof(*latest));
		if (latest)
			latest->id = test;
	}
}

static void run_test(int test)
{
	spin();
	if (level < 0 || (latest && latest->id < 0))
		abort();
	if (test % every == 0)
		leave(test);
}

static void prepare(void)
{
	size_t bytes = (size_t)number("BENCH_UNTOUCHED", 0) << 20;
	every = (int)number("BENCH_EVERY", 1);
	if (bytes)
		untouched = calloc(bytes / sizeof(*untouched), sizeof(*untouched));
}
