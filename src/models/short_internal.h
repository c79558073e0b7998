/* What the models of short calls share: descriptors, and how much is less. */
#pragma once

#include "models/choose_internal.h"

#include <limits.h>
#include <sys/types.h>
#include <sys/uio.h>

enum short_kind {
	SHORT_NEVER,  /* files, datagrams, terminals, event descriptors, … */
	SHORT_STREAM, /* sockets without boundaries */
	SHORT_PIPE,
};

/* Vectors that are examined; calls with more are left alone. */
#define SHORT_VECTORS 16

#pragma GCC visibility push(hidden)

enum short_kind short_kind(int fd);
bool short_nonblocking(int fd);
/* Bytes that can be read at once; 0: none, or unknown. */
size_t short_available(int fd);

/*
 * How much of @n bytes, of which at least @least come together: one of few
 * sizes; @n is what the library does.
 */
struct short_call {
	enum wire_model model;
	int fd;
	size_t n;
	size_t least;
	bool one; /* a single byte is one of the sizes, however many there are */
	const char *verb;
};
size_t short_size(struct short_call call);

/* Bytes of all vectors; 0: too many vectors, or they cannot be read. */
size_t short_total(const struct iovec *vectors, size_t n);
/* The first @size bytes of them; the number of vectors that takes. */
size_t short_vectors(const struct iovec *vectors, size_t n, size_t size,
		     struct iovec *ret);

/* How much to read of @n bytes from @fd, for read() and its relatives. */
size_t short_read(enum wire_model model, int fd, size_t n, bool dontwait);
/* How much to write of @n bytes. */
size_t short_write(enum wire_model model, int fd, size_t n, bool dontwait);

/* Receiving from @fd, which has a time-out, is interrupted: errno says so. */
bool short_interrupted(int fd, int flags);

#pragma GCC visibility pop
