/*
 * A program with functions of the C library's names that go on to the next
 * ones, as sanitizers have: with the agent, the next ones are the agent's, and
 * these must not come back here.
 */
#include "program.h"

#include <dlfcn.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static char *(*next_strdup)(const char *);
static int inside, calls;

void *malloc(size_t size)
{
	if (!next_malloc)
		return __libc_malloc(size);
	must(++inside < 3, "malloc ends");
	void *block = next_malloc(size);
	inside--;
	calls++;
	return block;
}

void free(void *block)
{
	if (next_free)
		next_free(block);
	else
		__libc_free(block);
}

char *strdup(const char *text)
{
	must(++inside < 3, "strdup ends");
	char *copy = next_strdup(text);
	inside--;
	return copy;
}

int main(void)
{
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_strdup = (char *(*)(const char *))dlsym(RTLD_NEXT, "strdup");
	MUST(next_malloc && next_malloc != malloc && next_strdup);
	char *text = strdup("text");
	MUST(!strcmp(text, "text"));
	MUST(calls == 1);
	free(text);
	free(malloc(10));
	MUST(calls == 2);
	show();
	return 0;
}
