#include "suite/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupted.h"
#include "base/map.h"
#include "suite/kind.h"
#include "wire/choices.h"

/* Of the last suite that was opened, for suite_suspend(). */
static const struct suite_kind *volatile last_kind;

struct err *suite_open(const struct suite_options *options, struct suite **ret)
{
	BUG_ON(!options->kind || !options->argv == !options->source);
	last_kind = options->kind;
	return options->kind->open(options, ret);
}

void suite_close(struct suite *suite)
{
	if (suite)
		suite->ops->close(suite);
}

const char *suite_framework(const struct suite *suite)
{
	return suite->framework;
}

size_t suite_count(const struct suite *suite)
{
	return suite->tests.n;
}

const struct suite_test *suite_test(const struct suite *suite, size_t index)
{
	BUG_ON(index >= suite->tests.n);
	return &suite->tests.data[index];
}

struct err *suite_run(struct suite *suite, const size_t *order, size_t n,
		      unsigned flags, const struct suite_observer *observer)
{
	return suite->ops->run(suite, order, n, flags, observer);
}

struct err *suite_watch(struct suite *suite, const struct suite_watch *watch)
{
	if (watch && !(watch->what & suite->ops->watched))
		return err_hint(
			err_create(ERR_USAGE,
				   "the processes of this suite share no "
				   "memory to be watched"),
			"give one of its test executables that runs "
			"many tests in one process, or watch its files "
			"and process state");
	return suite->ops->watch ? suite->ops->watch(suite, watch) : NULL;
}

struct err *suite_run_places(struct suite *suite, const size_t *order, size_t n,
			     const struct suite_place *places, size_t n_places,
			     const struct suite_observer *observer)
{
	BUG_ON(n_places && places[0].where == CHANGE_MEMORY &&
	       !suite_places_max(suite));
	return suite->ops->run_places(suite, order, n, places, n_places,
				      observer);
}

size_t suite_places_max(const struct suite *suite)
{
	return suite->ops->run_places ? suite->ops->places_max : 0;
}

struct err *suite_run_adding(struct suite *suite, const size_t *order, size_t n,
			     const struct suite_observer *observer)
{
	return suite->ops->run_adding
		       ? suite->ops->run_adding(suite, order, n, observer)
		       : suite_run(suite, order, n, 0, observer);
}

bool suite_add_place(struct suite *suite, const struct suite_place *place,
		     size_t test)
{
	return suite->ops->add_place &&
	       suite->ops->add_place(suite, place, test);
}

struct err *suite_keep_middle(struct suite *suite, bool keeps)
{
	return suite->ops->keep_middle ? suite->ops->keep_middle(suite, keeps)
				       : NULL;
}

size_t suite_middle(struct suite *suite, const size_t *order, size_t n)
{
	return suite->ops->middle ? suite->ops->middle(suite, order, n) : 0;
}

struct err *suite_run_rest(struct suite *suite, const size_t *order, size_t n,
			   const struct suite_place *places, size_t n_places,
			   const struct suite_observer *observer)
{
	return suite->ops->run_rest(suite, order, n, places, n_places,
				    observer);
}

struct err *suite_beside_start(struct suite *suite, suite_work *work,
			       void *data, struct suite_beside **ret)
{
	*ret = NULL;
	if (!suite->ops->beside_start || suite->options.jobs < 2)
		return NULL;
	return suite->ops->beside_start(suite, work, data, ret);
}

int suite_beside_socket(const struct suite *suite,
			const struct suite_beside *beside)
{
	return suite->ops->beside_socket(beside);
}

void suite_beside_end(const struct suite *suite, struct suite_beside *beside)
{
	if (beside)
		suite->ops->beside_end(beside);
}

unsigned suite_jobs(const struct suite *suite)
{
	return suite->options.jobs;
}

size_t suite_group_parent(const struct suite *suite, size_t group)
{
	BUG_ON(group >= suite->groups.n);
	return suite->groups.data[group];
}

struct err *suite_declare(struct suite *suite, const size_t *tests, size_t n)
{
	return suite->ops->declare ? suite->ops->declare(suite, tests, n)
				   : NULL;
}

const char *suite_fixture(const struct suite *suite)
{
	return suite->fixture;
}

bool suite_fixed(const struct suite *suite)
{
	return suite->fixed;
}

uint64_t suite_executions(const struct suite *suite)
{
	return suite->executions;
}

struct err *suite_keep_files(struct suite *suite, const char *const *paths,
			     size_t n)
{
	return suite->ops->keep_files ? suite->ops->keep_files(suite, paths, n)
				      : NULL;
}

void suite_initialise(struct suite *suite, bool early)
{
	if (suite->ops->initialise)
		suite->ops->initialise(suite, early);
}

unsigned suite_watchable(const struct suite *suite)
{
	return suite->ops->watched;
}

const char *suite_touched_file(const struct suite *suite, size_t i)
{
	return suite->ops->touched_file ? suite->ops->touched_file(suite, i)
					: NULL;
}

struct err *suite_hand_over(struct suite *suite, suite_taker *taker, void *data)
{
	if (!(suite_watchable(suite) & SUITE_MEMORY))
		return err_hint(err_create(ERR_USAGE,
					   "each test is a process of its own, "
					   "so there is none in which all of "
					   "the order runs"),
				"--gdb is for test executables");
	suite->hand_over = taker;
	suite->hand_over_data = data;
	return NULL;
}

const char *suite_unrestored(const struct suite *suite, size_t i)
{
	return suite->ops->unrestored ? suite->ops->unrestored(suite, i) : NULL;
}

struct err *suite_try_roots(struct suite *suite,
			    const struct suite_watch *watch,
			    const size_t *prefix, size_t n, size_t test,
			    suite_judge *judge, void *data,
			    const struct suite_observer *observer)
{
	return suite->ops->try_roots
		       ? suite->ops->try_roots(suite, watch, prefix, n, test,
					       judge, data, observer)
		       : NULL;
}

bool suite_has_model(const struct suite *suite, unsigned flags)
{
	return suite->ops->java_models == !!(flags & WIRE_JAVA);
}

struct err *suite_choose(struct suite *suite,
			 const struct suite_choices *choices)
{
	BUG_ON(suite->options.agent != SUITE_AGENT_CHOICES);
	if (!suite->ops->choose)
		return err_create(ERR_USAGE,
				  "what APIs do cannot be chosen for %s suites",
				  suite->framework);
	if (choices && (choices->n_ranges > WIRE_CHOICE_RANGES ||
			choices->n_forced > WIRE_CHOICE_TRACE))
		return err_create(ERR_INTERNAL,
				  "%zu ranges of choices, %zu given picks are "
				  "too many",
				  choices->n_ranges, choices->n_forced);
	return suite->ops->choose(suite, choices);
}

void suite_interrupt(void)
{
	interrupted = 1;
}

void suite_suspend(void)
{
	const struct suite_kind *kind = last_kind;
	if (kind)
		kind->signal(SIGSTOP);
	raise(SIGSTOP); /* comes back when we are continued */
	if (kind)
		kind->signal(SIGCONT);
}

/* The name itself, or followed by the first free number. */
static struct err *unique_name(struct suite *suite, const char *name,
			       char **ret)
{
	uint64_t last = 1;
	char *unique;
	if (!map_text_get(&suite->names, name, &last)) {
		unique = strdup(name);
		if (!unique)
			return err_nomem();
		*ret = unique;
		return map_text_put(&suite->names, name, 1);
	}
	for (;;) {
		uint64_t taken;
		if (asprintf(&unique, "%s#%llu", name,
			     (unsigned long long)++last) < 0)
			return err_nomem();
		if (!map_text_get(&suite->names, unique, &taken))
			break;
		free(unique);
	}
	*ret = unique;
	TRY(map_text_put(&suite->names, name, last));
	return map_text_put(&suite->names, unique, 1);
}

struct err *suite_add_test(struct suite *suite, const char *name,
			   const char *file, unsigned line, bool disabled)
{
	_cleanup_(freep) char *unique = NULL, *place = NULL;
	TRY(unique_name(suite, name, &unique));
	if (file && !(place = strdup(file)))
		return err_nomem();
	TRY(vec_push(&suite->tests, (struct suite_test){
					    .name = unique,
					    .file = place,
					    .line = file ? line : 0,
					    .disabled = disabled,
					    .group = SUITE_NO_GROUP,
				    }));
	take_ptr(unique);
	take_ptr(place);
	return NULL;
}

void suite_free_tests(struct suite *suite)
{
	for (size_t i = 0; i < suite->tests.n; i++) {
		free(suite->tests.data[i].name);
		free(suite->tests.data[i].file);
		free(suite->tests.data[i].after);
		free(suite->tests.data[i].needs);
		free(suite->tests.data[i].cleanups);
	}
	vec_free(&suite->tests);
	vec_free(&suite->groups);
	map_text_free(&suite->names);
	free(take_ptr(suite->fixture));
}
