/*
 * The other opinion for since.py: which functions each test of a cmocka program
 * calls. Preloaded into a program that was compiled with -finstrument-functions;
 * it runs the tests of a group one by one, and after each writes
 *
 *	T group/test
 *	F file offset
 *
 * to the file that SINCE_CALLS names. It knows nothing of polygraph.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#define SLOTS (1u << 16)

static void *called[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void __cyg_profile_func_enter(void *function, void *site)
	__attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *site)
	__attribute__((no_instrument_function));

void __cyg_profile_func_enter(void *function, void *site)
{
	uint32_t at = (uint32_t)((uintptr_t)function * 2654435761u >> 16);
	(void)site;
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < SLOTS; i++, at++) {
		if (called[at % SLOTS] == function)
			break;
		if (!called[at % SLOTS]) {
			called[at % SLOTS] = function;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}

static void write_calls(const char *group, const char *test)
{
	const char *path = getenv("SINCE_CALLS");
	FILE *out = path ? fopen(path, "a") : NULL;
	if (!out)
		abort();
	fprintf(out, "T %s/%s\n", group, test);
	for (uint32_t i = 0; i < SLOTS; i++) {
		Dl_info info;
		if (called[i] && dladdr(called[i], &info) && info.dli_fname)
			fprintf(out, "F %s %lx\n", info.dli_fname,
				(unsigned long)((char *)called[i] -
						(char *)info.dli_fbase));
	}
	fclose(out);
}

int _cmocka_run_group_tests(const char *group,
			    const struct CMUnitTest *const tests,
			    const size_t n, CMFixtureFunction setup,
			    CMFixtureFunction teardown)
{
	int (*run)(const char *, const struct CMUnitTest *, size_t,
		   CMFixtureFunction, CMFixtureFunction) =
		dlsym(RTLD_NEXT, "_cmocka_run_group_tests");
	int failed = 0;
	for (size_t i = 0; i < n; i++) {
		memset(called, 0, sizeof(called));
		failed += run(group, &tests[i], 1, setup, teardown) != 0;
		write_calls(group, tests[i].name);
	}
	return failed;
}
