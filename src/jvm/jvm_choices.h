/*
 * Choices in suites of Java VMs: what the library does instead of what it does by
 * itself, in each test (wire/choices.h). The other half is vm/vm_choices.c.
 *
 * Each VM has a block of its own, a file in memory that it opens under this one's
 * /proc/PID/fd; so VMs may run side by side. Where nothing is to be chosen the
 * classes are changed all the same, and the block says so: runs with and without
 * choices differ in nothing else.
 */
#pragma once

#include "jvm/jvm_suite.h"
#include "suite/choice_block.h"

/* As suite_ops has it. */
struct err *jvm_choose(struct suite *suite,
		       const struct suite_choices *choices) _must_check_;

/* The words of its VMs; nothing is added if the suite is for something else. */
struct err *jvm_choices_add_words(const struct jvm_suite *suite,
				  struct strv *words) _must_check_;
/* For one that is about to be started: its own block, and where it is. */
struct err *jvm_choices_prepare(const struct jvm_suite *suite,
				struct str *options,
				struct choice_block *ret) _must_check_;
/* @test is the next to run: the VM waits, or has not been asked yet. */
void jvm_choices_begin(const struct jvm_suite *suite, struct jvm_vm *vm,
		       size_t test);
/* It ended; before the observer's finished(). */
void jvm_choices_end(const struct jvm_suite *suite, struct jvm_vm *vm,
		     size_t entry, size_t test,
		     const struct suite_observer *observer);
