/*
 * VMs that were started ahead and wait to be asked: starting one takes a tenth of
 * a second, and most runs of a search are shorter than that.
 *
 * A VM that waits has run nothing of the user's. It is taken if it was started
 * with the words that are wanted now, and ended otherwise.
 */
#pragma once

#include "jvm/jvm_suite.h"

/* One that waits, or a new one. */
struct err *jvm_pool_take(struct jvm_suite *suite,
			  struct jvm_vm **ret) _must_check_;
/* Starts more, until @n wait; as far as the jobs allow. */
struct err *jvm_pool_fill(struct jvm_suite *suite, size_t n) _must_check_;
void jvm_pool_free(struct jvm_suite *suite);
