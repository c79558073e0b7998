/*
 * Where a process stands in the files it has open.
 *
 * Copies of a process share that: what one of them reads, the others miss. So it
 * is noted when a copy is made, and put back in each before it goes on.
 */
#pragma once

#include "base/vec.h"
#include "tracee/tracee.h"

struct offset {
	int fd;
	uint64_t at;
};
DEFINE_VEC(offsets, struct offset)

/* Of regular files and folders, but for standard input, output and error. */
struct err *offsets_read(const struct tracee *tracee,
			 struct offsets *ret) _must_check_;
struct err *offsets_put_back(struct thread *thread,
			     const struct offsets *offsets) _must_check_;
