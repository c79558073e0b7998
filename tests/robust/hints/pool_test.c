// A handle stays open, a table is filled by one test and needed by another, a folder is left, and a file below it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures;
#define CHECK(c) \
	do { \
		if (!(c)) { \
			failures++; \
			fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #c); \
		} \
	} while (0)

static int *pool[4];
static int pool_used;

static __attribute__((noinline)) int pool_open(void)
{
	for (int i = 0; i < 4; i++) {
		if (!pool[i]) {
			pool[i] = calloc(8, sizeof(int));
			pool_used++;
			return i;
		}
	}
	return -1;
}

static __attribute__((noinline, used)) void pool_close(int handle)
{
	if (handle >= 0 && handle < 4 && pool[handle]) {
		free(pool[handle]);
		pool[handle] = NULL;
		pool_used--;
	}
}

static __attribute__((noinline, used)) int pool_free(void)
{
	return 4 - pool_used;
}

static const char *words[8];
static int n_words;

static __attribute__((noinline)) void words_init(void)
{
	n_words = 0;
	words[n_words++] = "push";
	words[n_words++] = "pop";
	words[n_words++] = "peek";
}

static __attribute__((noinline)) int word_number(const char *word)
{
	for (int i = 0; i < n_words; i++) {
		if (!strcmp(words[i], word))
			return i;
	}
	return -1;
}

static void test_pool_is_empty(void) { CHECK(pool_used == 0); }
static void test_pool_opens(void) { CHECK(pool_open() >= 0 && pool_free() == 3); }
static void test_words(void) { words_init(); CHECK(word_number("pop") == 1); }
static void test_peek(void) { CHECK(word_number("peek") == 2); }
static void test_moves(void) { CHECK(chdir("/") == 0); }
static void test_makes_folder(void) { CHECK(mkdir("settings", 0755) == 0); }
static void test_has_no_folder(void) { CHECK(access("settings", F_OK) != 0); }
static void test_no_colour(void) { CHECK(getenv("COLOUR") && !strcmp(getenv("COLOUR"), "say \"red\"")); }
static void test_colour(void) { setenv("COLOUR", "green", 1); CHECK(getenv("COLOUR")); }
static void test_no_size(void) { CHECK(getenv("SIZE") && !strcmp(getenv("SIZE"), "large")); }
static void test_size(void) { setenv("SIZE", "small", 1); CHECK(getenv("SIZE")); }

int main(void)
{
	test_pool_is_empty();
	test_pool_opens();
	test_words();
	test_peek();
	test_has_no_folder();
	test_no_colour();
	test_colour();
	test_no_size();
	test_size();
	test_makes_folder();
	test_moves();
	return failures != 0;
}
