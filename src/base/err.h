/*
 * One error type for the whole program.
 *
 * A function that can fail returns `struct err *`; NULL is success. Outputs
 * stay untouched on failure. Each layer adds what only it knows with
 * err_prefix(); what the user can do about it is added once, with err_hint().
 * Only cli/ prints errors and decides on the exit status, from the kind.
 *
 * Messages and hints are bounded, whatever is quoted in them.
 *
 * Running out of memory is a static object (err_nomem()), so reporting it
 * allocates nothing; prefixes and hints on it are dropped.
 *
 * BUG() is for our own mistakes and does not return; struct err is for the
 * world's.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "base/macro.h"

struct err;

enum err_kind {
	ERR_INTERNAL,	 /* exit 4: something of ours or of the system */
	ERR_USAGE,	 /* exit 2: the call was wrong */
	ERR_SUITE,	 /* exit 3: the suite could not be run */
	ERR_INTERRUPTED, /* exit 130 */
};

struct err *err_create(enum err_kind kind, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
void err_destroy(struct err *err); /* NULL is fine */
static inline void err_destroyp(struct err **err)
{
	err_destroy(*err);
}

/* "FMT: strerror(number)", kind ERR_INTERNAL. */
struct err *err_errno(int number, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
struct err *err_nomem(void) _must_check_;

/* Both take ownership of @err and return what to pass on. */
struct err *err_prefix(struct err *err, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
struct err *err_hint(struct err *err, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
/* ERR_INTERRUPTED stays. */
struct err *err_with_kind(struct err *err, enum err_kind kind) _must_check_;

enum err_kind err_kind(const struct err *err);
int err_number(const struct err *err); /* errno value, 0 if it has none */
const char *err_message(const struct err *err);
const char *err_hint_text(const struct err *err); /* NULL where none */

/* For errors that change nothing: says what happened at debug level. */
void err_ignore(struct err *err);

#define TRY(expr)                                                              \
	do {                                                                   \
		struct err *try_err_ = (expr);                                 \
		if (try_err_)                                                  \
			return try_err_;                                       \
	} while (0)

_noreturn_ void bug_at(const char *file, int line, const char *fmt, ...)
	_printf_(3, 4);
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond)                                                           \
	do {                                                                   \
		if (cond)                                                      \
			BUG("%s", #cond);                                      \
	} while (0)
