#include "native/between.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "native/arguments.h"
#include "native/aside.h"
#include "native/framework.h"
#include "native/saving.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "watch/places.h"
#include "watch/watch.h"
#include "wire/state.h"

/* Paths of one variable; where more differ, it differs as a whole. */
#define PATHS 64
/* Bytes that watchpoints can cover in one run. */
#define WATCHED_MAX (WATCHPOINTS * 8)
/* Runs to find readers; what is left then counts as read. */
#define READ_RUNS_MAX 8
/* Tests that are examined, where there are so many. */
#define EXAMINED_MIN 4
/* No memory below it: numbers. */
#define ADDRESS_MIN 0x10000

/* A variable that is an argument by other means. */
struct between_variable {
	uint64_t address;
	size_t size;
	size_t place; /* while it is searched for */
	bool unfit;
};

/* What is known of the runner. */
struct between {
	bool deciding;
	bool reading;  /* the values of variables, as tests begin and end */
	bool was_read; /* the adapter does that */
	struct between_variable variables[BETWEEN_VARIABLES];
	size_t n_variables;
	uint64_t *values; /* BETWEEN_VARIABLES a test */
	bool *examined;	  /* by test */
	char *fixture;	  /* NULL: none */
	size_t *segments; /* by test; NULL: all are in one */
	size_t n_segments;
};

/* Something that differed between the end of a test and the next beginning. */
struct between_place {
	char *key;
	char *what; /* for people */
	struct suite_place at;
	char *root;	/* of files and process state */
	bool whole;	/* a variable with what it leads to */
	bool watchable; /* in a run with watchpoints, or followed calls */
	bool read;	/* by some test, or in doubt */
};

/* A segment ends after @test because of @place. */
struct between_end_cause {
	size_t test, place;
};

struct between_search {
	struct session *session;
	VEC(struct between_place) places;
	struct map_text by_key;
	uint8_t *outcomes;	  /* of tests, in the program's own order */
	struct suite_place *list; /* that are watched in this run … */
	size_t *listed;		  /* … and which they are */
	size_t n;
	bool *ends; /* a segment ends after this test */
	VEC(struct between_end_cause) causes;
	bool failed; /* some cause is not known: no memory */
};

static void between_search_freep(struct between_search *search)
{
	for (size_t i = 0; i < search->places.n; i++) {
		free(search->places.data[i].key);
		free(search->places.data[i].what);
		free(search->places.data[i].root);
	}
	vec_free(&search->places);
	map_text_free(&search->by_key);
	free(search->outcomes);
	free(search->list);
	free(search->listed);
	free(search->ends);
	vec_free(&search->causes);
}

/* ---- runs ---- */

/* The session watches, and reports, for us only. */
static struct err *between_run_watched(struct session *session,
				       const size_t *order, size_t n,
				       const struct suite_observer *observer)
{
	session->observer = observer;
	session->reported = 0;
	session->unhappy = false;
	struct err *err = session_run_order(session, order, n);
	session->observer = NULL;
	output_restart(session->output);
	struct err *failed = saving_put_back(session);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

static struct err *between_run_states(struct session *session,
				      const struct suite_watch *options,
				      const size_t *order, size_t n,
				      const struct suite_observer *observer)
{
	const struct watch_host host = session_host(session);
	struct watch *watch = NULL;
	TRY(watch_create(&host, options, &watch));
	session->watch = watch;
	session->points = watch_points(options);
	struct err *err = between_run_watched(session, order, n, observer);
	if (!err && !watch_is_whole(watch))
		err = err_create(ERR_INTERNAL, "its state cannot be compared");
	watch_destroy(take_ptr(session->watch));
	session->points = 0;
	return err;
}

static struct err *between_run_places(struct session *session,
				      const struct suite_place *list, size_t n,
				      const size_t *order, size_t n_order,
				      const struct suite_observer *observer)
{
	const struct watch_host host = session_host(session);
	_cleanup_(places_destroyp) struct places *places = NULL;
	TRY(places_create(&host, list, n, &places));
	session->places = places;
	struct err *err =
		between_run_watched(session, order, n_order, observer);
	session->places = NULL;
	return err;
}

/* ---- what differs ---- */

/* The same place has the same key in another run. */
static struct err *between_key(const struct change *change,
			       const struct change_path *path, char **ret)
{
	if (change->where != CHANGE_MEMORY)
		return str_format(ret, "%d %s", (int)change->where,
				  change->root);
	/* Blocks come and go: what a variable leads to is one place. */
	return str_format(ret, "%d %s %s", (int)change->where, change->root,
			  path && !path->heap ? path->path : "*");
}

static struct err *between_name(const struct change *change, char **ret)
{
	switch (change->where) {
	case CHANGE_MEMORY:
		return str_format(ret, "'%s'", change->root);
	case CHANGE_FILE:
		return str_format(ret, "the file '%s'", change->root);
	default:
		return str_copy(change->root, ret);
	}
}

/* Does the agent note who asks for process state? */
static bool between_sees_process(const struct session *session)
{
	struct raddr agent;
	return program_symbol(session->program, WIRE_STATE_SYMBOL, &agent);
}

static struct err *between_add_place(struct between_search *search,
				     const struct change *change,
				     const struct change_path *path)
{
	_cleanup_(freep) char *key = NULL;
	uint64_t known;
	TRY(between_key(change, path, &key));
	if (map_text_get(&search->by_key, key, &known))
		return NULL;
	TRY(vec_push(&search->places, (struct between_place){}));
	struct between_place *place =
		&search->places.data[search->places.n - 1];
	TRY(map_text_put(&search->by_key, key, search->places.n - 1));
	place->key = take_ptr(key);
	TRY(between_name(change, &place->what));
	TRY(str_copy(change->root, &place->root));
	place->at = (struct suite_place){
		.where = change->where,
		.root = place->root,
		.from_test = (size_t)-1,
	};
	bool direct = path && !path->heap && path->address;
	place->whole = !direct;
	if (change->where == CHANGE_MEMORY) {
		place->at.address =
			direct ? path->address : change->root_address;
		place->at.size = direct ? path->size : change->root_size;
		place->watchable = place->at.address && place->at.size &&
				   place->at.size <= WATCHED_MAX;
	} else {
		place->watchable = change->where == CHANGE_FILE ||
				   between_sees_process(search->session);
	}
	log_debug(LOG_NATIVE, "between tests: %s%s%s changes%s", place->what,
		  path ? ", " : "", path ? path->path : "",
		  place->watchable ? "" : ", and cannot be watched");
	return NULL;
}

static struct err *between_add_change(struct between_search *search,
				      const struct change *change)
{
	if (change->where != CHANGE_MEMORY || !change->n || change->more)
		TRY(between_add_place(search, change, NULL));
	for (size_t i = 0; change->where == CHANGE_MEMORY && i < change->n; i++)
		TRY(between_add_place(search, change, &change->paths[i]));
	return NULL;
}

static void between_on_changed(void *data, size_t entry, size_t test,
			       const struct change *changes, size_t n)
{
	struct between_search *search = data;
	(void)entry;
	(void)test;
	for (size_t i = 0; i < n; i++)
		err_ignore(between_add_change(search, &changes[i]));
}

static void between_on_finished(void *data, const struct suite_result *result)
{
	struct between_search *search = data;
	search->outcomes[result->test] = (uint8_t)result->outcome;
}

/* All tests that were asked for and do not take forever. */
static size_t between_own_order(const struct between_search *search,
				size_t *order)
{
	const struct session *session = search->session;
	size_t n = 0;
	for (size_t i = 0; i < session->suite.tests.n; i++) {
		if (session->between->examined[i] &&
		    search->outcomes[i] != OUTCOME_TIMEOUT)
			order[n++] = i;
	}
	return n;
}

static struct err *between_find_places(struct between_search *search,
				       size_t *order)
{
	struct session *session = search->session;
	const struct suite_watch options = {
		.what = SUITE_ALL,
		.from = SUITE_AFTER_TEARDOWN,
		.to = SUITE_BEFORE_SETUP,
		.paths = PATHS,
		.runners = true, /* tests may read it */
	};
	struct suite_observer observer = {
		.finished = between_on_finished,
		.changed = between_on_changed,
		.data = search,
	};
	size_t n = between_own_order(search, order);
	TRY(between_run_states(session, &options, order, n, &observer));
	n = between_own_order(search, order);
	if (n < 2)
		return NULL;
	const size_t last_first[] = { order[n - 1], order[0] };
	observer.finished = NULL;
	return between_run_states(session, &options, last_first, 2, &observer);
}

/* ---- who reads it ---- */

/* As places_create() divides it. */
static unsigned between_count_watchpoints(const struct suite_place *place)
{
	unsigned pieces = 0;
	for (uint64_t done = 0; done < place->size; pieces++) {
		unsigned n = 8;
		while (n > 1 &&
		       ((place->address + done) % n || n > place->size - done))
			n /= 2;
		done += n;
	}
	return pieces;
}

static void between_on_read(void *data, size_t test, size_t place, bool fills)
{
	struct between_search *search = data;
	struct between_place *at = &search->places.data[search->listed[place]];
	(void)fills;
	if (search->outcomes[test] == OUTCOME_FAIL)
		return;
	if (!at->read)
		log_debug(LOG_NATIVE, "between tests: %s is read by %s",
			  at->what,
			  search->session->suite.tests.data[test].name);
	at->read = true;
}

/* Memory first, as much as fits; in the first run, all of the rest. */
static void between_choose_places(struct between_search *search, bool *asked,
				  bool first)
{
	unsigned left = WATCHPOINTS;
	search->n = 0;
	for (int memory = 1; memory >= (first ? 0 : 1); memory--) {
		for (size_t i = 0; i < search->places.n; i++) {
			const struct between_place *place =
				&search->places.data[i];
			bool is_memory = place->at.where == CHANGE_MEMORY;
			if (asked[i] || is_memory != memory ||
			    !place->watchable)
				continue;
			unsigned needs =
				memory ? between_count_watchpoints(&place->at)
				       : 0;
			if (needs > left)
				continue;
			left -= needs;
			asked[i] = true;
			search->listed[search->n] = i;
			search->list[search->n++] = place->at;
		}
	}
}

static struct err *between_find_readers(struct between_search *search,
					size_t *order)
{
	size_t n = search->places.n;
	_cleanup_(freep) bool *asked = calloc(n + 1, sizeof(*asked));
	search->list = calloc(n + 1, sizeof(*search->list));
	search->listed = calloc(n + 1, sizeof(*search->listed));
	if (!asked || !search->list || !search->listed)
		return err_nomem();
	struct suite_observer observer = {
		.read = between_on_read,
		.data = search,
	};
	struct err *err = NULL;
	for (int run = 0; run < READ_RUNS_MAX && !err; run++) {
		between_choose_places(search, asked, !run);
		if (!search->n)
			break;
		size_t n_order = between_own_order(search, order);
		err = between_run_places(search->session, search->list,
					 search->n, order, n_order, &observer);
		for (size_t i = 0; err && i < search->n; i++)
			asked[search->listed[i]] = false;
	}
	if (err && err_kind(err) == ERR_INTERRUPTED)
		return err;
	if (err)
		log_debug(LOG_NATIVE,
			  "which tests read what the runner changes between "
			  "them is not known: %s",
			  err_message(err));
	err_ignore(err);
	for (size_t i = 0; i < n; i++)
		search->places.data[i].read |= !asked[i];
	return NULL;
}

/* ---- where it differs ---- */

/* The segment ends, if that is a fixture. */
static struct err *between_add_cause(struct between_search *search, size_t test,
				     const struct change *change,
				     const struct change_path *path)
{
	_cleanup_(freep) char *key = NULL;
	uint64_t place;
	TRY(between_key(change, path, &key));
	if (!map_text_get(&search->by_key, key, &place) ||
	    !search->places.data[place].read)
		return NULL;
	log_debug(LOG_NATIVE, "between tests: '%s' differs after %s",
		  change->root, search->session->suite.tests.data[test].name);
	search->ends[test] = true;
	return vec_push(&search->causes,
			(struct between_end_cause){ test, (size_t)place });
}

static void between_on_consecutive(void *data, size_t entry, size_t test,
				   const struct change *changes, size_t n)
{
	struct between_search *search = data;
	struct err *err = NULL;
	(void)entry;
	for (size_t i = 0; i < n && !err; i++) {
		const struct change *change = &changes[i];
		bool memory = change->where == CHANGE_MEMORY;
		if (!memory || change->more)
			err = between_add_cause(search, test, change, NULL);
		for (size_t j = 0; memory && j < change->n && !err; j++)
			err = between_add_cause(search, test, change,
						&change->paths[j]);
	}
	if (!err)
		return;
	err_ignore(err);
	search->ends[test] = true;
	search->failed = true;
}

static struct err *between_find_ends(struct between_search *search,
				     size_t *order)
{
	struct session *session = search->session;
	const struct suite_watch options = {
		.what = SUITE_ALL,
		.from = SUITE_BEFORE_SETUP,
		.consecutive = true,
		.paths = PATHS,
		.runners = true, /* tests may read it */
	};
	struct suite_observer observer = {
		.changed = between_on_consecutive,
		.data = search,
	};
	size_t n_order = between_own_order(search, order);
	return between_run_states(session, &options, order, n_order, &observer);
}

/* ---- arguments by other means ---- */

static uint64_t between_read_variable(const struct run *run,
				      struct between_variable *variable)
{
	uint64_t word = 0;
	variable->unfit |=
		memory_read_some(run->tracee, RADDR(variable->address), &word,
				 variable->size) != variable->size;
	/* An address in a file is of something that stays where it is. */
	uint8_t byte;
	if (word >= ADDRESS_MIN && !program_module(run->program, RADDR(word)))
		variable->unfit |= memory_read_some(run->tracee, RADDR(word),
						    &byte, 1) == 1;
	return word;
}

void between_begin(struct run *run, size_t test)
{
	struct between *between = run->session->between;
	if (!between || !between->reading)
		return;
	between->was_read = true;
	for (size_t i = 0; i < between->n_variables; i++)
		between->values[test * BETWEEN_VARIABLES + i] =
			between_read_variable(run, &between->variables[i]);
}

/* What a test changes is not the runner's alone. */
void between_end(struct run *run, size_t test)
{
	struct between *between = run->session->between;
	if (!between || !between->reading || test == RUN_NONE)
		return;
	for (size_t i = 0; i < between->n_variables; i++)
		between->variables[i].unfit |=
			between_read_variable(run, &between->variables[i]) !=
			between->values[test * BETWEEN_VARIABLES + i];
}

struct err *between_set_variables(struct run *run, size_t test,
				  struct between_kept *kept)
{
	const struct between *between = run->session->between;
	for (size_t i = 0; between && i < between->n_variables; i++) {
		const struct between_variable *variable =
			&between->variables[i];
		uint64_t word = between->values[test * BETWEEN_VARIABLES + i];
		if (!kept->kept)
			TRY(memory_read(run->tracee, RADDR(variable->address),
					&kept->words[i], variable->size));
		TRY(memory_write(run->tracee, RADDR(variable->address), &word,
				 variable->size));
	}
	kept->kept = between && between->n_variables;
	return NULL;
}

struct err *between_restore_variables(struct run *run,
				      struct between_kept *kept)
{
	const struct between *between = run->session->between;
	bool any = kept->kept;
	kept->kept = false;
	for (size_t i = 0; any && i < between->n_variables; i++)
		TRY(memory_write(run->tracee,
				 RADDR(between->variables[i].address),
				 &kept->words[i], between->variables[i].size));
	return NULL;
}

/* Does the place differ from each of the @n tests to the next? */
static bool between_always_differs(const struct between_search *search,
				   size_t place, size_t n)
{
	size_t times = 0;
	for (size_t i = 0; i < search->causes.n; i++)
		times += search->causes.data[i].place == place;
	return n > 2 && times >= n - 1;
}

/*
 * Those that make every segment end, and may be such variables. One that changes
 * now and then may go with something that is not seen.
 */
static void between_choose_variables(struct between_search *search, size_t n)
{
	struct between *between = search->session->between;
	for (size_t i = 0; i < search->causes.n; i++) {
		size_t place = search->causes.data[i].place, known = 0;
		const struct suite_place *at = &search->places.data[place].at;
		while (known < between->n_variables &&
		       between->variables[known].place != place)
			known++;
		if (known < between->n_variables ||
		    known == BETWEEN_VARIABLES || at->where != CHANGE_MEMORY ||
		    !at->size || at->size > 8 ||
		    search->places.data[place].whole ||
		    !between_always_differs(search, place, n))
			continue;
		between->variables[between->n_variables++] =
			(struct between_variable){ at->address, at->size, place,
						   false };
	}
}

static bool between_is_variable(const struct between *between, size_t place)
{
	for (size_t i = 0; i < between->n_variables; i++) {
		if (between->variables[i].place == place)
			return true;
	}
	return false;
}

/* Without those variables fewer segments end. */
static struct err *between_find_variables(struct between_search *search,
					  size_t *order)
{
	struct session *session = search->session;
	struct between *between = session->between;
	if (search->failed)
		return NULL;
	size_t n = between_own_order(search, order), fit = 0;
	between_choose_variables(search, n);
	if (!between->n_variables)
		return NULL;
	between->values = calloc(session->suite.tests.n * BETWEEN_VARIABLES,
				 sizeof(*between->values));
	if (!between->values)
		return err_nomem();
	struct suite_observer observer = {};
	between->reading = true;
	between->was_read = false;
	struct err *err = between_run_watched(session, order, n, &observer);
	between->reading = false;
	for (size_t i = 0; i < between->n_variables; i++) {
		if (between->variables[i].unfit)
			continue;
		for (size_t j = 0; j < n; j++)
			between->values[order[j] * BETWEEN_VARIABLES + fit] =
				between->values[order[j] * BETWEEN_VARIABLES +
						i];
		between->variables[fit++] = between->variables[i];
	}
	between->n_variables = err || !between->was_read ? 0 : fit;
	memset(search->ends, 0, session->suite.tests.n * sizeof(*search->ends));
	for (size_t i = 0; i < search->causes.n; i++) {
		const struct between_end_cause *cause = &search->causes.data[i];
		search->ends[cause->test] |=
			!between_is_variable(between, cause->place);
	}
	return err;
}

/* What is made for a call is a fixture, too. */
static struct err *between_compare_arguments(struct between_search *search,
					     size_t *order)
{
	struct session *session = search->session;
	struct between *between = session->between;
	size_t n = between_own_order(search, order);
	for (size_t i = 0; i < n; i++) {
		uint64_t digest = arguments_digest(session, order[i]);
		if (i + 1 < n)
			search->ends[order[i]] |=
				digest !=
				arguments_digest(session, order[i + 1]);
		if (digest && !between->fixture)
			TRY(str_copy("what it passes to them",
				     &between->fixture));
	}
	return NULL;
}

/* Places that are not between two that were examined are of no known kind. */
static struct err *between_number_segments(const struct between_search *search,
					   size_t *order)
{
	struct between *between = search->session->between;
	size_t n = between_own_order(search, order), segment = 0, at = 0;
	between->segments = calloc(search->session->suite.tests.n,
				   sizeof(*between->segments));
	if (!between->segments)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		while (at < order[i])
			between->segments[at++] = RUN_NONE;
		between->segments[at++] = segment;
		bool ends = search->ends[order[i]];
		size_t next = i + 1 < n ? order[i + 1] : at;
		while (!ends && at < next)
			between->segments[at++] = segment;
		segment += ends;
	}
	while (at < search->session->suite.tests.n)
		between->segments[at++] = RUN_NONE;
	between->n_segments = n ? between->segments[order[n - 1]] + 1 : 1;
	return NULL;
}

/* ---- all of it ---- */

static struct err *between_search_all(struct session *session)
{
	size_t n = session->suite.tests.n;
	_cleanup_(between_search_freep) struct between_search search = {
		.session = session,
		.outcomes = calloc(n, 1),
		.ends = calloc(n, sizeof(*search.ends)),
	};
	_cleanup_(freep) size_t *order = calloc(n, sizeof(*order));
	if (!search.outcomes || !search.ends || !order)
		return err_nomem();
	/* All places are alike then: the calls alone are of interest. */
	if (session->suite.options.any_order) {
		size_t n_order = between_own_order(&search, order);
		struct suite_observer observer = {};
		return arguments_taken(session)
			       ? between_run_watched(session, order, n_order,
						     &observer)
			       : NULL;
	}
	TRY(between_find_places(&search, order));
	if (search.places.n)
		TRY(between_find_readers(&search, order));
	for (size_t i = 0; i < search.places.n; i++) {
		const struct between_place *place = &search.places.data[i];
		if (!place->read)
			continue;
		TRY(str_copy(place->what, &session->between->fixture));
		TRY(between_find_ends(&search, order));
		TRY(between_find_variables(&search, order));
		break;
	}
	TRY(between_compare_arguments(&search, order));
	return between_number_segments(&search, order);
}

/* Where files are not restored anyway, they are restored for this. */
static struct err *between_search_kept(struct session *session)
{
	bool keeps = session->saver;
	if (!keeps) {
		TRY(saving_create(session));
		if (session->origin)
			TRY(saving_started(session, session->origin));
	}
	struct err *err = between_search_all(session);
	if (!keeps) {
		run_destroy(take_ptr(session->guarded));
		saving_destroy(session);
	}
	return err;
}

/* The places of few tests say little: some of their neighbours are examined. */
static void between_add_neighbours(struct session *session)
{
	bool *examined = session->between->examined;
	size_t n = session->suite.tests.n, distinct = 0;
	for (size_t i = 0; i < n; i++)
		distinct += examined[i];
	for (size_t i = 0; distinct && distinct < EXAMINED_MIN && i < n;) {
		bool next = (i && examined[i - 1]) ||
			    (i + 1 < n && examined[i + 1]);
		bool add = !examined[i] && next;
		examined[i] |= add;
		distinct += add;
		i = add ? 0 : i + 1;
	}
}

/* Were all these examined? Otherwise they are to be, with those that were. */
static bool between_covers(struct session *session, const size_t *tests,
			   size_t n)
{
	struct between *between = session->between;
	bool all = true;
	for (size_t i = 0; i < n; i++) {
		all &= between->examined[tests[i]];
		between->examined[tests[i]] = true;
	}
	if (!all)
		between_add_neighbours(session);
	return all;
}

static struct err *between_decide(struct session *session)
{
	struct between *between = session->between;
	struct session_aside aside;
	free(take_ptr(between->fixture));
	free(take_ptr(between->segments));
	free(take_ptr(between->values));
	between->n_variables = 0;
	between->n_segments = 1;
	between->deciding = true;
	session_step_aside(session, NULL, OUTPUT_KEPT, &aside);
	struct err *err = between_search_kept(session);
	session_step_back(session, &aside);
	between->deciding = false;
	if (!err || err_kind(err) == ERR_INTERRUPTED)
		return err;
	log_debug(LOG_NATIVE,
		  "what the program does between its tests is not known: %s",
		  err_message(err));
	err_ignore(err);
	free(take_ptr(between->fixture));
	return str_copy("what cannot be compared", &between->fixture);
}

struct err *between_find(struct session *session, const size_t *tests, size_t n)
{
	if (!session->framework->flows || session->tests_forked ||
	    session->dies_without_tests)
		return NULL;
	size_t all = session->suite.tests.n;
	struct between *between = session->between;
	if (!between) {
		between = session->between = calloc(1, sizeof(*between));
		if (!between)
			return err_nomem();
		between->examined = calloc(all, sizeof(*between->examined));
		if (!between->examined)
			return err_nomem();
	}
	if (between->deciding || between_covers(session, tests, n))
		return NULL;
	struct err *err = between_decide(session);
	if (err) {
		between_free(session);
		return err;
	}
	log_debug(LOG_NATIVE,
		  "the runner changes %s between its tests; %zu segment%s",
		  between->fixture ? between->fixture : "nothing of interest",
		  between->n_segments, between->n_segments == 1 ? "" : "s");
	return NULL;
}

struct err *between_find_for(struct session *session, const size_t *order,
			     size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (order[i] <= order[i - 1])
			return between_find(session, order, n);
	}
	return NULL;
}

void between_free(struct session *session)
{
	struct between *between = take_ptr(session->between);
	if (!between)
		return;
	free(between->examined);
	free(between->fixture);
	free(between->segments);
	free(between->values);
	free(between);
}

struct err *between_take_over(struct session *to, const struct session *from)
{
	size_t n = to->suite.tests.n;
	const struct between *known = from->between;
	if (!known || n != from->suite.tests.n)
		return NULL;
	between_free(to);
	to->between = calloc(1, sizeof(*to->between));
	if (!to->between)
		return err_nomem();
	to->between->n_segments = known->n_segments;
	to->between->examined = malloc(n * sizeof(*known->examined));
	if (!to->between->examined)
		return err_nomem();
	memcpy(to->between->examined, known->examined,
	       n * sizeof(*known->examined));
	TRY(str_copy(known->fixture, &to->between->fixture));
	if (known->values) {
		size_t size = n * BETWEEN_VARIABLES * sizeof(*known->values);
		to->between->values = malloc(size);
		if (!to->between->values)
			return err_nomem();
		memcpy(to->between->values, known->values, size);
		memcpy(to->between->variables, known->variables,
		       sizeof(known->variables));
		to->between->n_variables = known->n_variables;
	}
	if (!known->segments)
		return NULL;
	to->between->segments = malloc(n * sizeof(*known->segments));
	if (!to->between->segments)
		return err_nomem();
	memcpy(to->between->segments, known->segments,
	       n * sizeof(*known->segments));
	return NULL;
}

bool between_decides(const struct session *session)
{
	return session->between && session->between->deciding;
}

const char *between_fixture(const struct session *session)
{
	return session->between ? session->between->fixture : NULL;
}

size_t between_segments(const struct session *session)
{
	return session->between ? session->between->n_segments : 1;
}

size_t between_segment(const struct session *session, size_t test)
{
	const struct between *between = session->between;
	if (!between)
		return 0;
	if (between->deciding || !between->segments)
		return between->examined[test] ? 0 : RUN_NONE;
	return between->segments[test];
}
