/*
 * Who changes a variable in the test that is the first to use it? What it was at
 * first is not known there, so that such a change is not seen; and the test that
 * puts it back seems to be the one that changes it.
 *
 * Where variables can be initialised before a test, both run alone so. If the one
 * leaves the variable alone there, and the other changes it from the value to that
 * which the one restores, what the first user leaves is a leftover of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "pollution/pollution_internal.h"

/* Two short runs for each. */
#define FIRST_USERS_MAX 50

/* A test that runs twice, and what it changes of one variable. */
struct first_trial {
	struct pollution_search *search;
	const char *root;
	struct change change; /* by the first run */
	bool changes, again;  /* did it, and did the second one? */
	bool ran;
};

static void first_on_change(void *data, size_t entry, size_t test,
			    const struct change *changes, size_t n)
{
	struct first_trial *trial = data;
	(void)test;
	for (size_t i = 0; i < n; i++) {
		if (changes[i].where != CHANGE_MEMORY || changes[i].first ||
		    !changes[i].n || strcmp(changes[i].root, trial->root) != 0)
			continue;
		trial->again |= entry == 1;
		if (entry != 0 || trial->changes)
			continue;
		struct err *err = change_copy(&changes[i], &trial->change);
		trial->changes = !err;
		search_fail(trial->search, err);
	}
}

static void first_on_finish(void *data, const struct suite_result *result)
{
	struct first_trial *trial = data;
	trial->ran |= result->entry == 1 && result->outcome != OUTCOME_NONE;
}

static void first_on_limit(void *data, const char *text)
{
	struct first_trial *trial = data;
	search_limit(trial->search, text);
}

static struct err *first_try(struct pollution_search *search, size_t test,
			     const char *root, struct first_trial *ret)
{
	const size_t twice[] = { test, test };
	const struct suite_observer observer = {
		.finished = first_on_finish,
		.changed = first_on_change,
		.limit = first_on_limit,
		.data = ret,
	};
	*ret = (struct first_trial){ .search = search, .root = root };
	struct err *err = search_run(search, twice, 2, &observer);
	if (err)
		change_free(&ret->change);
	return err;
}

/* SIZE_MAX: the leftover's own test is the first, or that is not known. */
static size_t first_user(const struct pollution_search *search,
			 const struct leftover *leftover)
{
	for (size_t i = 0; i < search->pollution->firsts.n; i++) {
		const struct first_use *first =
			&search->pollution->firsts.data[i];
		if (!strcmp(first->root, leftover->change.root))
			return first->test == leftover->test ? SIZE_MAX
							     : first->test;
	}
	return SIZE_MAX;
}

/* What the first user leaves, read by the same tests as what @like says. */
static struct err *first_add(struct pollution_search *search, size_t test,
			     const struct leftover *like,
			     struct first_trial *trial)
{
	struct leftover leftover = {
		.test = test,
		.effect = trial->again ? EFFECT_ACCUMULATES : EFFECT_SETTLES,
		.readers_known = like->readers_known,
		.read_plainly = like->read_plainly,
		.first_user = true,
	};
	struct err *err = NULL;
	/* @like is one of the list that grows. */
	for (size_t i = 0; !err && i < like->readers.n; i++) {
		if (like->readers.data[i] != test)
			err = vec_push(&leftover.readers,
				       like->readers.data[i]);
	}
	if (!err)
		err = vec_push(&search->leftovers, leftover);
	if (err) {
		vec_free(&leftover.readers);
		return err;
	}
	search->leftovers.data[search->leftovers.n - 1].change = trial->change;
	trial->change = (struct change){};
	return NULL;
}

/* Does @leftover end with what @other began with? */
static bool first_is_undone(const struct change *other,
			    const struct change *leftover)
{
	const struct change_path *undone = &leftover->paths[0];
	for (size_t i = 0; i < other->n; i++) {
		if (!strcmp(other->paths[i].path, undone->path) &&
		    !strcmp(other->paths[i].before, undone->after))
			return true;
	}
	return false;
}

static bool first_is_known(const struct pollution_search *search, size_t user,
			   const char *root)
{
	for (size_t i = 0; i < search->leftovers.n; i++) {
		const struct leftover *leftover = &search->leftovers.data[i];
		if (leftover->test == user &&
		    !strcmp(leftover->change.root, root))
			return true;
	}
	return false;
}

static struct err *first_examine(struct pollution_search *search, size_t at,
				 size_t user)
{
	struct first_trial trial;
	const char *root = search->leftovers.data[at].change.root;
	size_t test = search->leftovers.data[at].test;
	TRY(first_try(search, test, root, &trial));
	change_free(&trial.change);
	if (!trial.ran || trial.changes)
		return NULL;
	TRY(first_try(search, user, root, &trial));
	struct err *err = NULL;
	struct leftover *leftover = &search->leftovers.data[at];
	if (trial.ran && trial.changes &&
	    first_is_undone(&trial.change, &leftover->change)) {
		leftover->restores = true;
		log_debug(LOG_POLLUTION,
			  "test %zu restores %s, which %zu changed", test, root,
			  user);
		if (!first_is_known(search, user, root))
			err = first_add(search, user, leftover, &trial);
	}
	change_free(&trial.change);
	return err;
}

static struct err *first_examine_all(struct pollution_search *search)
{
	size_t known = search->leftovers.n, tried = 0;
	for (size_t i = 0; i < known; i++) {
		const struct leftover *leftover = &search->leftovers.data[i];
		size_t user = leftover->change.where == CHANGE_MEMORY
				      ? first_user(search, leftover)
				      : SIZE_MAX;
		if (user == SIZE_MAX)
			continue;
		if (tried++ == FIRST_USERS_MAX || search_is_late(search))
			return NULL;
		TRY(first_examine(search, i, user));
	}
	return NULL;
}

struct err *search_first_users(struct pollution_search *search)
{
	_cleanup_(freep) const char **roots = NULL;
	struct suite_watch watch = search->options->watch;
	if (!search->pollution->firsts.n)
		return NULL;
	TRY(leftover_roots(search, &roots));
	watch.present = roots;
	struct err *err = suite_watch(search->suite, &watch);
	if (!err)
		err = first_examine_all(search);
	struct err *unwatch = suite_watch(search->suite, NULL);
	if (!err)
		return unwatch;
	err_ignore(unwatch);
	return err;
}
