/* What the models of time and threads share. */
#pragma once

#include "models/choose_internal.h"

#include <sys/syscall.h>
#include <time.h>

#define LATE_US 1000L
#define LATE_MS 1000000L

/* The time between two things goes by; a signal may make it shorter. */
static inline void threads_let_time_pass(long nanoseconds)
{
	struct timespec pause = { .tv_nsec = nanoseconds };
	if (nanoseconds > 0)
		sys_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

#pragma GCC visibility push(hidden)

/*
 * time.c: nanoseconds by which something of about @length is longer: none,
 * or a multiple of it, but no more than 10 ms (40, where it is a second). Much
 * longer: none, and late_end() does it, which must follow when it has ended.
 */
long late_by(enum wire_model model, uint64_t length, uint64_t object);
/* @waited: as long as was asked for; otherwise there was a reason to return. */
void late_end(bool waited);
/* The same for a function that failed with the error @number: @failed. */
int late_result(int failed, int number);
/* At level FULL there is one more than @few: it is much longer. */
uint64_t late_alternatives(uint64_t few);
void late_by_much(uint64_t length);
/* @time and that; false where it is not valid, or nothing is added. */
bool late_time(enum wire_model model, const struct timespec *time,
	       uint64_t object, struct timespec *ret);
bool late_valid(const struct timespec *time);
void late_add(struct timespec *time, long nanoseconds);

#pragma GCC visibility pop
