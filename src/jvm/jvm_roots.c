/*
 * Which roots a test's outcome depends on: a VM cannot be copied, so that each try
 * is a fresh VM that runs the tests before, and then puts fields back.
 *
 * Classes that the tests before would be the first to use are initialised before
 * the first of them, so that there is something to put back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "jvm/jvm_heap.h"
#include "jvm/jvm_tree.h"

struct jvm_roots {
	struct jvm_suite *suite;
	size_t *order;
	size_t n; /* of it: the tests before, and the test */
	struct changes changes;
	struct strv firsts; /* classes that were first used */
	enum outcome outcome;
	struct err *err;
};

static void jvm_roots_free(struct jvm_roots *roots)
{
	changes_freep_deep(&roots->changes);
	strv_free(&roots->firsts);
	free(roots->order);
	err_ignore(roots->err);
}

/* "com.acme.Registry.count" is a field of com.acme.Registry. */
struct err *jvm_root_owner(const char *root, char **ret)
{
	const char *dot = strrchr(root, '.');
	if (!dot)
		return NULL;
	*ret = strndup(root, (size_t)(dot - root));
	return *ret ? NULL : err_nomem();
}

static struct err *jvm_roots_add_first(struct jvm_roots *roots,
				       const struct change *change)
{
	_cleanup_(freep) char *owner = NULL;
	TRY(jvm_root_owner(change->root, &owner));
	if (!owner)
		return NULL;
	for (size_t i = 0; i < roots->firsts.n; i++) {
		if (!strcmp(roots->firsts.data[i], owner))
			return NULL;
	}
	return strv_add(&roots->firsts, owner);
}

static void jvm_roots_changed(void *data, size_t entry, size_t test,
			      const struct change *changes, size_t n)
{
	struct jvm_roots *roots = data;
	(void)entry, (void)test;
	for (size_t i = 0; i < n && !roots->err; i++) {
		struct change copy = {};
		if (changes[i].first) {
			roots->err = jvm_roots_add_first(roots, &changes[i]);
			continue;
		}
		roots->err = change_copy(&changes[i], &copy);
		if (!roots->err)
			roots->err = vec_push(&roots->changes, copy);
		if (roots->err)
			change_free(&copy);
	}
}

static void jvm_roots_finished(void *data, const struct suite_result *result)
{
	struct jvm_roots *roots = data;
	if (result->entry + 1 == roots->n)
		roots->outcome = result->outcome;
}

static struct err *jvm_roots_run(struct jvm_roots *roots)
{
	const struct suite_observer observer = {
		.finished = jvm_roots_finished,
		.changed = jvm_roots_changed,
		.data = roots,
	};
	roots->outcome = OUTCOME_NONE;
	TRY(jvm_run_restored(roots->suite, roots->order, roots->n, SUITE_SERIAL,
			     &observer));
	return take_ptr(roots->err);
}

static struct err *jvm_roots_try(void *context, const bool *put_back,
				 enum outcome *ret)
{
	struct jvm_roots *roots = context;
	struct jvm_heap *heap = &roots->suite->heap;
	_cleanup_(strv_freep) struct strv names = {};
	for (size_t i = 0; put_back && i < roots->changes.n; i++) {
		if (put_back[i])
			TRY(strv_add(&names, roots->changes.data[i].root));
	}
	heap->put_back = &names;
	heap->put_entry = roots->n - 1;
	struct err *err = jvm_roots_run(roots);
	heap->put_back = NULL;
	if (!err)
		*ret = roots->outcome;
	return err;
}

/* What differs before the test from before all tests. */
static struct err *jvm_roots_find(struct jvm_roots *roots)
{
	struct jvm_heap *heap = &roots->suite->heap;
	heap->span = roots->n;
	struct err *err = jvm_roots_run(roots);
	if (!err && roots->firsts.n) {
		heap->first = &roots->firsts;
		changes_clear(&roots->changes);
		err = jvm_roots_run(roots);
	}
	heap->span = 0;
	return err;
}

struct err *jvm_try_roots(struct suite *suite, const struct suite_watch *watch,
			  const size_t *prefix, size_t n, size_t test,
			  suite_judge *judge, void *data,
			  const struct suite_observer *observer)
{
	struct jvm_suite *self = (struct jvm_suite *)suite;
	(void)observer;
	_cleanup_(jvm_roots_free) struct jvm_roots roots = {
		.suite = self,
		.n = n + 1,
	};
	roots.order = calloc(n + 1, sizeof(*roots.order));
	if (!roots.order)
		return err_nomem();
	memcpy(roots.order, prefix, n * sizeof(*prefix));
	roots.order[n] = test;
	const struct suite_watch *before = self->heap.watch;
	self->heap.watch = watch;
	struct err *err = jvm_roots_find(&roots);
	log_debug(LOG_JVM, "%zu roots differ before test %zu", roots.changes.n,
		  test);
	if (!err)
		err = judge(data, roots.changes.data, roots.changes.n,
			    jvm_roots_try, &roots);
	self->heap.watch = before;
	self->heap.first = NULL;
	return err;
}
