// What functions of the C library keep where no variable of the program shows it: positions, tables, and the memory that
// they return each time. Each has a twin that leaves it as it was.
//
//@ subject framework=functions lang=c where=process
//@ variant plain quick=gcc-O0,gcc-O2,clang-O2

#define _GNU_SOURCE
#include "../runner.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- strtok ----

static NOINLINE char *first_word(char *text)
{
	return strtok(text, " ");
}

TEST(test_strtok) //@ pollutes test_strtok strtok strtok before=nothing after="\"b c\"" severity=high readers=test_strtok_goes_on not-readers=test_strtok_anew
{
	char text[] = "a b c";
	TOUCH(first_word(text));
}

TEST(test_nothing) //@ clean test_nothing
{
	char text[] = "other text where the string was";
	TOUCH(text);
}

// Reads what is left: only that it does so counts here.
TEST(test_strtok_goes_on) //@ pollutes test_strtok_goes_on strtok ...
{
	static char safe[] = "d e f";
	char *token = strtok(NULL, " ");
	TOUCH(token);
	TOUCH(first_word(safe));
	memcpy(safe, "d e f", sizeof(safe));
}

TEST(test_strtok_anew) //@ clean test_strtok_anew
{
	char text[] = "x y";
	for (char *token = first_word(text); token; token = strtok(NULL, " "))
		TOUCH(token);
}

TEST(test_strtok_to_the_end) //@ clean test_strtok_to_the_end
{
	char text[] = "x y z";
	for (char *token = first_word(text); token; token = strtok(NULL, " "))
		TOUCH(token);
}

TEST(test_strtok_r) //@ clean test_strtok_r
{
	char text[] = "x y z", *state;
	TOUCH(strtok_r(text, " ", &state));
}

// ---- getopt ----

static NOINLINE int options(char *first, char *second)
{
	char *words[] = { "program", first, second, NULL };
	int letters = 0;
	while (getopt(3, words, "abc") != -1)
		letters++;
	return letters;
}

TEST(test_getopt) //@ pollutes test_getopt getopt getopt before="optind 1" after="optind 3" severity=high readers=test_getopt_goes_on not-readers=test_getopt_anew
{
	TOUCH(options("-a", "-bc"));
}

TEST(test_getopt_goes_on) //@ clean test_getopt_goes_on
{
	TOUCH(options("-a", "-b"));
}

TEST(test_getopt_anew) //@ clean test_getopt_anew
{
	int before = optind;
	optind = 1;
	TOUCH(options("-a", "-b"));
	optind = before;
}

TEST(test_getopt_silent) //@ pollutes test_getopt_silent getopt getopt.opterr before=1 after=0
{
	opterr = 0;
}

TEST(test_getopt_silent_back) //@ clean test_getopt_silent_back
{
	static const struct option words[] = { { "long", no_argument, NULL, 'l' }, { NULL, 0, NULL, 0 } };
	char *list[] = { "program", "--long", "word", NULL };
	int before = optind, errors = opterr;
	optind = 0;
	opterr = 1;
	TOUCH(getopt_long(3, list, "l", words, NULL));
	optind = before;
	opterr = errors;
}

// ---- a table ----

TEST(test_table) //@ pollutes test_table hsearch hsearch before=none after="a table" severity=high readers=test_table_again
{
	hcreate(8);
}

TEST(test_table_again) //@ clean test_table_again
{
	TOUCH((void *)(long)hcreate(8));
}

TEST(test_table_destroyed) //@ clean test_table_destroyed
{
	hdestroy();
}

TEST(test_table_back) //@ clean test_table_back
{
	ENTRY entry = { .key = "key", .data = NULL };
	hcreate(8);
	TOUCH(hsearch(entry, ENTER));
	hdestroy();
}

// ---- random numbers ----

TEST(test_rand) //@ pollutes test_rand random random severity=low
{
	rand();
}

TEST(test_drand48) //@ pollutes test_drand48 drand48 drand48 severity=low
{
	TOUCH((void *)(long)(drand48() * 100));
}

TEST(test_rand_r) //@ clean test_rand_r
{
	unsigned seed = 5;
	TOUCH((void *)(long)rand_r(&seed));
}

// ---- what is returned each time ----

struct tm *last;
char *address;

static NOINLINE void uses_results(time_t now, unsigned number)
{
	TOUCH(gmtime(&now));
	TOUCH(inet_ntoa((struct in_addr){ number }));
	TOUCH(l64a((long)number));
}

// Nobody has a pointer to it.
TEST(test_results) //@ clean test_results
{
	uses_results(100, 3);
}

TEST(test_results_kept) //@ pollutes test_results_kept last last where=memory before=NULL after=...tm_year... //@ pollutes test_results_kept address address where=memory before=NULL after="\"5.0.0.0\""
{
	time_t now = 86400;
	last = gmtime(&now);
	address = inet_ntoa((struct in_addr){ 5 });
}

TEST(test_results_changed) //@ pollutes test_results_changed last last->tm_sec where=memory before=0 after=7 severity=medium readers=test_results_read //@ pollutes test_results_changed address address where=memory before="\"5.0.0.0\"" after="\"6.0.0.0\""
{
	uses_results(7, 6);
}

TEST(test_results_read) //@ clean test_results_read
{
	TOUCH((void *)(long)last->tm_sec);
}

TEST(test_results_the_same) //@ clean test_results_the_same
{
	uses_results(8, 9);
	uses_results(7, 6);
}

RUNNER_MAIN()
