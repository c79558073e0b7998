/* What every unit test includes: cmocka, and checks for struct err. */
#pragma once

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/err.h"

/* The call succeeds; otherwise its message is shown. */
#define assert_ok(expr)                                                        \
	do {                                                                   \
		struct err *ok_err_ = (expr);                                  \
		if (ok_err_) {                                                 \
			print_error("%s: %s\n", #expr, err_message(ok_err_));  \
			err_destroy(ok_err_);                                  \
			fail();                                                \
		}                                                              \
	} while (0)

/* The call fails with this kind, and the message contains @text. */
#define assert_err(expr, kind, text)                                           \
	do {                                                                   \
		_cleanup_(err_destroyp) struct err *bad_err_ = (expr);         \
		assert_non_null(bad_err_);                                     \
		assert_int_equal(err_kind(bad_err_), (kind));                  \
		if (!strstr(err_message(bad_err_), (text))) {                  \
			print_error("'%s' does not contain '%s'\n",            \
				    err_message(bad_err_), (text));            \
			fail();                                                \
		}                                                              \
	} while (0)
