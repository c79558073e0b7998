/*
 * Small macros every room may use: scope guards, ownership, sizes.
 *
 * A scope guard runs a function on a variable when it goes out of scope:
 *
 *	_cleanup_(strp) char *name = NULL;
 *
 * The function gets the variable's address. Handing the value on is spelled
 * out with take_ptr(), take_fd(), so that a reader sees where ownership goes.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
#define _must_check_ __attribute__((warn_unused_result))
#define _unused_ __attribute__((unused))
#define _noreturn_ __attribute__((noreturn))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define take_ptr(p)                                                            \
	({                                                                     \
		typeof(p) taken_ = (p);                                        \
		(p) = NULL;                                                    \
		taken_;                                                        \
	})

#define take_fd(fd)                                                            \
	({                                                                     \
		int taken_ = (fd);                                             \
		(fd) = -1;                                                     \
		taken_;                                                        \
	})

#define MIN(a, b)                                                              \
	({                                                                     \
		typeof(a) a_ = (a);                                            \
		typeof(b) b_ = (b);                                            \
		a_ < b_ ? a_ : b_;                                             \
	})

#define MAX(a, b)                                                              \
	({                                                                     \
		typeof(a) a_ = (a);                                            \
		typeof(b) b_ = (b);                                            \
		a_ > b_ ? a_ : b_;                                             \
	})

/* Guards for the two things that everybody owns. */
static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
