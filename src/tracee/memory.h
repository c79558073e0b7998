/* Reading and writing the memory of a tracee. */
#pragma once

#include <stddef.h>

#include "tracee/tracee.h"

struct err *memory_read(struct tracee *tracee, struct raddr address, void *out,
			size_t n) _must_check_;
/* Reads what it can: returns how many bytes that was. */
size_t memory_read_some(struct tracee *tracee, struct raddr address, void *out,
			size_t n);
/* Also into memory that the program itself cannot write (code). */
struct err *memory_write(struct tracee *tracee, struct raddr address,
			 const void *data, size_t n) _must_check_;

/*
 * Which pages (by address, at most @max) were written from outside since the
 * last call. False: not known; a child shares the memory, or there were many.
 */
bool memory_poked(struct tracee *tracee, uint64_t *out, size_t max,
		  size_t *ret_n);

struct memory_span {
	struct raddr address;
	void *data;
	size_t n;
};
/* Many places with few system calls; fails if any of them cannot be read. */
struct err *memory_read_spans(struct tracee *tracee,
			      const struct memory_span *spans,
			      size_t count) _must_check_;

struct err *memory_read_u64(struct tracee *tracee, struct raddr address,
			    uint64_t *ret) _must_check_;
struct err *memory_read_u32(struct tracee *tracee, struct raddr address,
			    uint32_t *ret) _must_check_;
struct err *memory_write_u64(struct tracee *tracee, struct raddr address,
			     uint64_t value) _must_check_;
/* A C string, cut after @limit bytes; a NULL address is an error. */
struct err *memory_read_text(struct tracee *tracee, struct raddr address,
			     size_t limit, char **ret) _must_check_;
