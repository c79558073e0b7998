/* Time: a monotonic clock, and durations as users write them. */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/err.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

static inline uint64_t clock_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Since the system started, as starts of processes are given (proc_stat). */
uint64_t clock_ticks(void);

/* "500ms", "30s", "10m", "2h", "1.5s"; a bare number is seconds. */
struct err *duration_parse(const char *text, uint64_t *ret_ns) _must_check_;
/* "12 µs", "3.4 ms", "1.25 s"; at most 15 bytes with the NUL. */
void duration_format(uint64_t ns, char out[16]);
