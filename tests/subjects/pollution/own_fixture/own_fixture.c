// A hand-written runner with a fixture of its own around each test: what it makes anew for the next test is no pollution.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

struct parser {
	unsigned salt; /* another one each time */
	char *text;
	int depth;
	struct parser *outer;
};

struct parser *parser;
int allowed = -1;
int total;
int seen;
struct {
	int started; /* the runner's */
	int level;   /* the tests' */
} run;

static void set_up(void)
{
	static unsigned salts = 17;
	parser = calloc(1, sizeof(*parser));
	assert(parser);
	parser->salt = salts += 4711;
	allowed = -1;
	run.started++;
}

static void tear_down(void)
{
	free(parser->text);
	free(parser);
	parser = NULL;
}

static void parse(const char *text)
{
	parser->text = strdup(text);
	assert(parser->text);
	parser->depth += 2;
}

TEST(test_parses) //@ clean test_parses
{
	parse("<a/>");
}

TEST(test_parses_more) //@ clean test_parses_more
{
	parse("<a><b/></a>");
	parser->depth++;
}

// Set back by the next set-up.
TEST(test_allows_little) //@ clean test_allows_little
{
	allowed = 3;
}

// Not set back by anybody.
TEST(test_counts) //@ pollutes test_counts total total before=0 after=1 effect=accumulates
{
	parse("<c/>");
	total++;
}

// In a variable that the runner changes, too, but elsewhere.
TEST(test_level) //@ pollutes test_level run run.level before=0 after=4
{
	run.level = 4;
}

TEST(test_sees) //@ pollutes test_sees seen seen before=0 after=1
{
	seen = parser->depth + 1;
}

// No set-up comes after it.
TEST(test_last) //@ clean test_last
{
	parse("<z/>");
}

int main(void)
{
	long last = 0;
	for (;;) {
		const struct runner_entry *next = NULL;
		for (const struct runner_entry *e = __start_runner_tests; e != __stop_runner_tests; e++) {
			if (e->line > last && (!next || e->line < next->line))
				next = e;
		}
		if (!next)
			return 0;
		last = next->line;
		set_up();
		next->run();
		tear_down();
	}
}
