/*
 * A program that makes its process state as unpleasant as it can be, and puts
 * it back each time.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "subject_attributes.h"
#include "wire/state.h"

extern "C" {
void mark(const struct subject_point *point);
struct wire_state subject_agent;
}

void __attribute__((noinline)) mark(const struct subject_point *point)
{
	__asm__ volatile("" ::"r"(point) : "memory");
}

static void tell(const char *name, const char *root)
{
	struct subject_point point = {};
	point.phase = root ? SUBJECT_CHANGED : SUBJECT_NOTHING;
	point.name = name;
	point.root = root;
	mark(&point);
}

static char **own_environment;

static void environment(const char *name, char **other)
{
	environ = other;
	tell(name, "environment[*");
	environ = own_environment;
	tell(name, "environment[*");
}

static void environments(void)
{
	static char same[] = "SAME=1";
	size_t n = 1000000;
	char **many = (char **)calloc(n + 1, sizeof(*many));
	own_environment = environ;
	for (size_t i = 0; i < n; i++)
		many[i] = same;
	environment("a million times the same", many);
	char *names = (char *)malloc(n * 16);
	for (size_t i = 0; i < n; i++) {
		many[i] = names + i * 16;
		snprintf(many[i], 16, "V%zu=x", i);
	}
	environment("a million variables", many);
	for (size_t i = 0; i < n; i++)
		many[i] = names + (i * 7919 % n) * 16;
	environment("a million variables, scattered", many);
	memset(names, 'x', n * 16);
	environment("without an end", many);
	for (size_t i = 0; i < n; i++)
		many[i] = (char *)(uintptr_t)(i * 4096 + 1);
	environment("nowhere", many);
	many[0] = (char *)many;
	many[1] = NULL;
	environment("of itself", many);
	environment("bogus", (char **)1);
	environment("nearly nowhere", (char **)-8);
	char *page = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	char **last = (char **)(page + 4096) - 2;
	last[0] = page + 4090;
	last[1] = page + 4090;
	memcpy(page + 4090, "A=1", 3);
	environment("up to the end of a page", last);
	environment("not aligned", (char **)(page + 4001));
	free(names);
	free(many);
}

static void descriptors(void)
{
	struct rlimit limit, old;
	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	int last = 0;
	for (int i = 0; i < 3000; i++) {
		int fd = open("/dev/null", O_RDONLY);
		last = fd > last ? fd : last;
	}
	tell("descriptors", "descriptor[*");
	for (int i = 3; i <= last; i++)
		close(i);
	setrlimit(RLIMIT_NOFILE, &old);
	tell("descriptors", "descriptor[*");
}

static void children(void)
{
	for (int i = 0; i < 300; i++) {
		if (!fork())
			_exit(0);
	}
	siginfo_t info;
	/* All have ended, none was waited for. */
	usleep(100000);
	waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	tell("children", "child[*");
	while (wait(NULL) > 0)
		;
	tell("children", "child[*");
}

template <typename T> static void damage(const char *name, T *object,
					 const char *root)
{
	static char saved[65536];
	static const int bytes[] = { 0, 1, 0x41, 0x80, 0xff };
	memcpy(saved, (void *)object, sizeof(*object));
	for (int byte : bytes) {
		memset((void *)object, byte, sizeof(*object));
		tell(name, root);
	}
	memcpy((void *)object, saved, sizeof(*object));
	tell(name, root);
}

int main(void)
{
	printf("beginning\n");
	fflush(stdout);
	struct wire_state *agent = &subject_agent;
	agent->magic = WIRE_STATE_MAGIC;
	agent->version = WIRE_STATE_VERSION;
	agent->active = 1;
	struct subject_point begin = {};
	begin.phase = SUBJECT_BEGIN;
	mark(&begin);
	environments();
	descriptors();
	children();
	damage("streams", &std::cout, "*");
	FILE *output = stdout;
	damage("output", &stdout, "*");
	damage("output itself", output, "*");
	damage("zone", &tzname, "*");
	agent->exits_n = UINT64_MAX;
	agent->random = 1;
	agent->random_size = UINT64_MAX;
	agent->cxx_locale = UINT64_MAX - 7;
	agent->cxx_locale_calls = agent->terminate_calls = 1;
	memset(agent->locale, 'x', sizeof(agent->locale));
	agent->changes++;
	tell("agent", "*");
	damage("agent", agent, "*");
	prctl(PR_SET_NAME, "\xff\n\x1b[31m");
	tell("name", "process-name");
	begin.phase = SUBJECT_END;
	mark(&begin);
	_exit(0);
}
