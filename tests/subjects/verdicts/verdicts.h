// How tests tell their runner that they failed: one style a variant.
#pragma once

#define FUNCTION __attribute__((noinline, noclone))
// What follows is not the last thing that a function does: no jump takes the place of its call.
#define KEEP() __asm__ volatile("" ::: "memory")

#ifdef STYLE_RETURN
#define RESULT int
#define BEGIN int failed_here = 0;
#define END return failed_here;
#define NOTE (failed_here = 1)
#else
#define RESULT void
#define BEGIN
#define END KEEP();
#define NOTE 0
#endif

// Counters that are no verdict: they change in tests that pass, too.
extern int checks, passes;

#if defined(STYLE_COUNT) || defined(STYLE_NUMBER) || defined(STYLE_PRINTED) || defined(STYLE_RETURN)
extern int failures;
#define CHECK(condition) (checks++, (condition) ? (void)passes++ : (void)(failures++, NOTE))
#elif defined(STYLE_LOCAL_THREAD)
extern _Thread_local int failures;
#define CHECK(condition) (checks++, (condition) ? (void)passes++ : (void)failures++)
#elif defined(STYLE_STRUCT)
struct stats {
	long run;
	unsigned checks;
	unsigned short failed;
	char name[8];
};
extern struct stats *stats;
#define CHECK(condition) (checks++, (condition) ? (void)stats->checks++ : (void)stats->failed++)
#elif defined(STYLE_FLAG)
#include <stdbool.h>
extern bool all_is_well;
#define CHECK(condition) (checks++, (condition) ? (void)passes++ : (void)(all_is_well = false))
#elif defined(STYLE_TAP)
void ok(int condition, const char *name);
#define CHECK(condition) (checks++, ok(condition, #condition))
#else // STYLE_LIST, STYLE_OUTCOME, STYLE_LIBRARY: a function is told
void check_failed(const char *text, int line);
#define CHECK(condition) (checks++, (condition) ? (void)passes++ : check_failed(#condition, __LINE__))
#endif
