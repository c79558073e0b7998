/*
 * Trees of orders in Java VMs, and the files that tests of a VM change.
 *
 * A VM cannot be copied: each order of a tree runs from its beginning in a VM of
 * its own. What is common to several is told once.
 */
#pragma once

#include "jvm/jvm_suite.h"

struct err *
jvm_run_restored(struct jvm_suite *suite, const size_t *order, size_t n,
		 unsigned flags,
		 const struct suite_observer *observer) _must_check_;

/* As suite_ops has them. */
struct err *jvm_run_tree(struct suite *suite, const struct suite_node *nodes,
			 size_t n, unsigned flags,
			 const struct suite_observer *observer) _must_check_;
struct err *jvm_keep_files(struct suite *suite, const char *const *paths,
			   size_t n) _must_check_;
struct err *jvm_put_back(struct suite *suite) _must_check_;
const char *jvm_touched_file(const struct suite *suite, size_t i);
const char *jvm_unrestored(const struct suite *suite, size_t i);
