/*
 * What tests leave changed in a VM's heap (vm/vm_heap.c): the controller's half,
 * which says what to look at, and makes changes (suite/change.h) of what comes.
 *
 * Places in the heap have no address that means anything in another VM: they are
 * numbered here, by the fields on the way to them, and the number is the address
 * of struct suite_place and struct change_path.
 */
#pragma once

#include "jvm/jvm_suite.h"

extern const struct jvm_part jvm_heap_part;

struct err *jvm_heap_watch(struct suite *suite,
			   const struct suite_watch *watch) _must_check_;
struct err *
jvm_heap_run_places(struct suite *suite, const size_t *order, size_t n,
		    const struct suite_place *places, size_t n_places,
		    const struct suite_observer *observer) _must_check_;
/* At the same time: more watches cost nothing. */
#define JVM_HEAP_PLACES 1024
struct err *jvm_try_roots(struct suite *suite, const struct suite_watch *watch,
			  const size_t *prefix, size_t n, size_t test,
			  suite_judge *judge, void *data,
			  const struct suite_observer *observer) _must_check_;
/* The class that has this static field; untouched: it is none. */
struct err *jvm_root_owner(const char *root, char **ret) _must_check_;
void jvm_heap_initialise(struct suite *suite, bool early);
void jvm_heap_free(struct jvm_heap *heap);
