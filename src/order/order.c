#include "order/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/masked.h"
#include "base/path.h"
#include "base/str.h"
#include "order/order_internal.h"

/* Bits for all pairs of more tests than that would take too much memory. */
#define PAIRS_TESTS_MAX 40000
/* At most this many files are restored because tests touched them. */
#define TOUCHED_MAX 2000
/* This part of a budget is kept for explaining what was found. */
#define EXPLAIN_SHARE 4
/* What a test costs beside itself, about. */
#define NODE_NS (UINT64_C(500) * 1000)

void order_result_free(struct order_result *result)
{
	findings_free(&result->findings);
	for (size_t i = 0; i < result->kept.n; i++)
		free(result->kept.data[i]);
	vec_free(&result->kept);
	strv_free(&result->harmless);
	order_reach_free(&result->reach);
	*result = (struct order_result){};
}

/* ---- what the parts ask ---- */

void search_log_order(const struct order_search *search, size_t test,
		      const size_t *prefix, size_t n, const char *what)
{
	const struct suite *suite = search->suite;
	const char *name = suite_test(suite, test)->name;
	if (!n)
		log_debug(LOG_ORDER, "%s alone: %s", name, what);
	else if (n == 1)
		log_debug(LOG_ORDER, "%s after %s: %s", name,
			  suite_test(suite, prefix[0])->name, what);
	else
		log_debug(LOG_ORDER, "%s after %s … %s (%zu tests): %s", name,
			  suite_test(suite, prefix[0])->name,
			  suite_test(suite, prefix[n - 1])->name, n, what);
}

static void note_late(struct order_search *search, uint64_t until)
{
	bool budget =
		search->options->deadline && until <= search->options->deadline;
	search->result->reach.why = budget ? "budget" : "no --budget given";
}

bool search_late(struct order_search *search)
{
	uint64_t until = search->exploring ? search->explore_until
					   : search->explain_until;
	if (!until || (clock_now() < until && until != search->gave_up))
		return false;
	note_late(search, until);
	return true;
}

uint64_t search_cost(const struct order_search *search, size_t test)
{
	uint64_t ns = search->known[test].ns;
	if (!ns)
		ns = search->natural_ns / MAX(search->n, (size_t)1);
	return ns + NODE_NS;
}

uint64_t search_cost_of(const struct order_search *search, const size_t *tests,
			size_t n)
{
	uint64_t cost = search->start_ns;
	for (size_t i = 0; i < n; i++)
		cost += search_cost(search, tests[i]);
	return cost;
}

uint64_t search_expect(const struct order_search *search, uint64_t cost,
		       bool serial)
{
	double pace = search->pace[serial];
	return pace > 0 ? (uint64_t)((double)cost * pace) : cost;
}

bool search_fits(struct order_search *search, uint64_t cost, bool serial)
{
	uint64_t until = search->exploring ? search->explore_until
					   : search->explain_until;
	if (!until ||
	    clock_now() + search_expect(search, cost, serial) <= until)
		return true;
	note_late(search, until);
	if (!search->exploring)
		search->gave_up = until;
	return false;
}

void search_took(struct order_search *search, uint64_t began, uint64_t cost,
		 size_t runs, bool serial)
{
	if (!cost)
		return;
	uint64_t took = clock_now() - began;
	/* At first a few tests alone: what they take longer is their start. */
	if (search->pace[0] <= 0 && search->pace[1] <= 0 && took > cost) {
		search->start_ns = (took - cost) / MAX(runs, (size_t)1);
		cost = took;
	}
	double pace = (double)took / (double)cost;
	/* One that had to wait for others says little. */
	double last = search->pace[serial];
	search->pace[serial] = last > 0 ? (last + pace) / 2 : pace;
}

void search_note_ns(struct order_search *search,
		    const struct suite_result *result)
{
	struct order_known *known = &search->known[result->test];
	if (result->outcome)
		known->ns = MAX(known->ns, result->ns);
}

struct err *search_suspect(struct order_search *search, size_t test,
			   const size_t *prefix, size_t n, enum outcome outcome,
			   bool serial)
{
	const size_t pending_max = 3;
	size_t pending = 0;
	if (search->known[test].random || search->known[test].declared) {
		search_log_order(
			search, test, prefix, n,
			search->known[test].random
				? "ignored, the test is flaky"
				: "ignored, the suite declares that it "
				  "needs a test before it");
		return NULL;
	}
	for (size_t i = search->explained; i < search->suspects.n; i++)
		pending += search->suspects.data[i].test == test;
	if (pending >= pending_max) {
		search_log_order(search, test, prefix, n,
				 "ignored, other orders of it come first");
		return NULL;
	}
	search_log_order(search, test, prefix, n,
			 outcome_is_good(outcome)
				 ? "passes here, but not elsewhere"
				 : "fails here, but not elsewhere");
	struct order_suspect suspect = {
		.test = test,
		.outcome = outcome,
		.serial = serial,
	};
	TRY(tests_copy(prefix, n, &suspect.prefix));
	struct err *err = vec_push(&search->suspects, suspect);
	if (err)
		vec_free(&suspect.prefix);
	return err;
}

static size_t place_of(const struct order_search *search, size_t test)
{
	return search->known[test].place;
}

void search_pair(struct order_search *search, size_t first, size_t second)
{
	size_t a = place_of(search, first), b = place_of(search, second);
	if (!search->pairs || a == b || a == ORDER_NONE || b == ORDER_NONE)
		return;
	uint64_t bit = (uint64_t)a * search->n + b;
	search->pairs[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool is_tried(const struct order_search *search, size_t a, size_t b)
{
	uint64_t bit = (uint64_t)a * search->n + b;
	return search->pairs[bit / 64] >> bit % 64 & 1;
}

bool search_pair_tried(const struct order_search *search, size_t first,
		       size_t second)
{
	size_t a = place_of(search, first), b = place_of(search, second);
	return !search->pairs || a == b || a == ORDER_NONE || b == ORDER_NONE ||
	       is_tried(search, a, b);
}

bool search_useless(const struct order_search *search, size_t test)
{
	const struct order_known *known = &search->known[test];
	return known->random || known->alone == OUTCOME_TIMEOUT ||
	       order_ends(search, (enum outcome)known->alone);
}

size_t search_unit(const struct order_search *search, size_t test)
{
	size_t group = suite_test(search->suite, test)->group;
	if (search->options->any_order)
		return SUITE_NO_GROUP;
	while (group != SUITE_NO_GROUP &&
	       suite_group_parent(search->suite, group) != SUITE_NO_GROUP)
		group = suite_group_parent(search->suite, group);
	return group;
}

void search_say(const struct order_search *search, const char *text)
{
	if (search->outer->limit)
		search->outer->limit(search->outer->data, text);
}

/* ---- beginning and end ---- */

static struct err *note_leaver(struct order_search *search, size_t test)
{
	struct order_known *known = &search->known[test];
	if (known->leaves || known->place == ORDER_NONE)
		return NULL;
	known->leaves = true;
	return vec_push(&search->leavers, test);
}

/* Worst first: what others read, then what accumulates, then the rest. */
static struct err *find_leavers(struct order_search *search)
{
	const struct pollution *pollution = search->pollution;
	if (!pollution)
		return NULL;
	for (int severity = FINDING_HIGH; severity >= FINDING_LOW; severity--) {
		for (size_t i = 0; i < pollution->findings.n; i++) {
			const struct finding *finding =
				&pollution->findings.data[i];
			if ((int)finding->severity == severity)
				TRY(note_leaver(search, finding->test));
		}
	}
	for (size_t i = 0; i < pollution->firsts.n; i++)
		TRY(note_leaver(search, pollution->firsts.data[i].test));
	/* Where there was nothing to put back, they may do something else. */
	for (size_t i = 0; i < pollution->cleaners.n; i++)
		TRY(note_leaver(search, pollution->cleaners.data[i]));
	/* What is not compared is no argument that a test leaves nothing. */
	size_t compared = search->leavers.n;
	for (size_t i = 0; i < pollution->changers.n; i++)
		TRY(note_leaver(search, pollution->changers.data[i]));
	log_debug(LOG_ORDER,
		  "%zu tests leave something, %zu of them only in what is "
		  "left out",
		  search->leavers.n, search->leavers.n - compared);
	return NULL;
}

/* @folder: of a folder only what it is itself, not what is in it. */
static struct err *keep_file(struct order_search *search, struct map_text *seen,
			     const char *path, bool folder)
{
	uint64_t known;
	_cleanup_(freep) char *copy = NULL;
	if (asprintf(&copy, "%s%s", path, folder ? "/" : "") < 0)
		return err_nomem();
	if (map_text_get(seen, copy, &known))
		return NULL;
	TRY(map_text_put(seen, copy, 1));
	TRY(vec_push(&search->result->kept, copy));
	take_ptr(copy);
	return NULL;
}

/* A folder that was there before: what others do in it is not the tests'. */
static bool is_old_folder(const struct change *change)
{
	struct stat status;
	if (change->n && !strcmp(change->paths[0].path, change->root) &&
	    !strcmp(change->paths[0].before, "absent"))
		return false;
	return lstat(change->root, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Was it left behind, under a name that differs in each run? */
static bool fits_masked(const struct order_search *search, const char *path)
{
	const struct pollution *pollution = search->pollution;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct change *change =
			&leftover_of(&pollution->findings.data[i])->change;
		if (change->where == CHANGE_FILE && masked_name(change->root) &&
		    masked_fits(change->root, path))
			return true;
	}
	return false;
}

/*
 * Files that the suite's own order left behind: other orders begin where that
 * one did, and all of them are restored from now on. Processes share nothing
 * else, and in another order they may leave what they took away in this one:
 * all that they touched is kept. The same holds if it is not known what tests
 * leave.
 */
struct err *search_keep_files(struct order_search *search)
{
	const struct pollution *pollution = search->pollution;
	struct order_result *result = search->result;
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct change *change =
			&leftover_of(&pollution->findings.data[i])->change;
		/* A masked name is the path of no file, or of another one each time. */
		if (change->where != CHANGE_FILE || !*change->root ||
		    masked_name(change->root))
			continue;
		TRY(keep_file(search, &seen, change->root,
			      is_old_folder(change)));
	}
	const char *touched;
	for (size_t i = 0; i < TOUCHED_MAX &&
			   (touched = suite_touched_file(search->suite, i));
	     i++) {
		_cleanup_(freep) char *shown = NULL;
		TRY(path_display(NULL, touched, &shown));
		if (pollution && !search->processes &&
		    !fits_masked(search, shown))
			continue;
		TRY(keep_file(search, &seen, shown, str_ends(touched, "/")));
	}
	return result->kept.n ? suite_keep_files(
					search->suite,
					(const char *const *)result->kept.data,
					result->kept.n)
			      : NULL;
}

static struct err *find_sequence(struct order_search *search)
{
	TRY(suite_declare(search->suite, search->tests, search->n));
	search->diverted = suite_fixture(search->suite);
	search->fixed = search->result->reach.fixed =
		suite_fixed(search->suite);
	return NULL;
}

/* What the places of a runner's own calls do not permit. */
static struct err *say_refused(const struct order_search *search)
{
	const struct order_reach *reach = &search->result->reach;
	_cleanup_(freep) char *text = NULL;
	if (!search->diverted || !reach->refused)
		return NULL;
	TRY(str_format(&text,
		       "order: the runner changes %s between its tests%s: "
		       "%llu of %llu pairs were not tried%s; --any-order "
		       "permits all orders",
		       suite_fixture(search->suite),
		       search->fixed ? ", from each to the next" : "",
		       (unsigned long long)reach->refused,
		       (unsigned long long)(reach->refused + reach->pairs),
		       search->fixed
			       ? ", only orders in its own sequence were"
			       : ", as it would be different for their tests"));
	search_say(search, text);
	return NULL;
}

static struct err *order_search_begin(struct order_search *search)
{
	size_t count = suite_count(search->suite);
	search->known = calloc(count + 1, sizeof(*search->known));
	if (!search->known)
		return err_nomem();
	for (size_t i = 0; i < count; i++)
		search->known[i].place = ORDER_NONE;
	for (size_t i = 0; i < search->n; i++)
		search->known[search->tests[i]].place = i;
	if (search->n <= PAIRS_TESTS_MAX) {
		search->pairs =
			calloc((uint64_t)search->n * search->n / 64 + 1, 8);
		if (!search->pairs)
			return err_nomem();
	}
	if (!search->options->any_order)
		TRY(find_sequence(search));
	TRY(rules_create(search->suite, search->options->any_order,
			 &search->rules));
	search->began = clock_now();
	uint64_t deadline = search->options->deadline;
	search->explain_until = deadline;
	if (deadline)
		search->explore_until =
			deadline -
			(deadline > search->began
				 ? (deadline - search->began) / EXPLAIN_SHARE
				 : 0);
	return find_leavers(search);
}

/* @place: of the pair; nothing where there are too many. */
static void note_pair(struct order_reach *reach, size_t place,
		      enum order_pair pair)
{
	if (reach->matrix)
		reach->matrix[place] = (char)pair;
}

/* Nothing of the matrix is known yet; no memory: there is none. */
static void begin_matrix(struct order_search *search)
{
	struct order_reach *reach = &search->result->reach;
	size_t n = search->n;
	if (!n || n > ORDER_MATRIX_MAX)
		return;
	struct err *err = vec_append(&reach->examined, search->tests, n);
	reach->matrix = err ? NULL : malloc(n * n);
	err_ignore(err);
	if (reach->matrix)
		memset(reach->matrix, PAIR_REFUSED, n * n);
}

/* Of the test at @second after each of @lists that is one test. */
static void note_pairs_after(struct order_search *search,
			     const struct order_lists *lists, size_t second,
			     enum order_pair pair)
{
	struct order_reach *reach = &search->result->reach;
	for (size_t i = 0; i < lists->n; i++) {
		const struct order_tests *list = &lists->data[i];
		size_t first = list->n == 1 ? place_of(search, list->data[0])
					    : ORDER_NONE;
		if (first != ORDER_NONE)
			note_pair(reach, first * search->n + second, pair);
	}
}

static void note_deciding_pairs(struct order_search *search)
{
	struct order_reach *reach = &search->result->reach;
	for (size_t i = 0; i < search->found.n; i++) {
		const struct dependence *found = &search->found.data[i];
		size_t victim = place_of(search, found->test);
		if (victim == ORDER_NONE)
			continue;
		if (found->class == ORDER_NON_IDEMPOTENT)
			note_pair(reach, victim * search->n + victim,
				  PAIR_FAILING);
		note_pairs_after(search, &found->polluters, victim,
				 PAIR_FAILING);
		if (found->class == ORDER_BRITTLE)
			note_pairs_after(search, &found->setters, victim,
					 PAIR_SETTING);
	}
}

static void count_pairs(struct order_search *search)
{
	struct order_reach *reach = &search->result->reach;
	reach->executions = suite_executions(search->suite);
	begin_matrix(search);
	bool all_allowed =
		rules_free(search->rules) || search->n > PAIRS_TESTS_MAX / 8;
	for (size_t a = 0; a < search->n; a++) {
		bool leaves = !search->pollution ||
			      search->known[search->tests[a]].leaves;
		for (size_t b = 0; b < search->n; b++) {
			if (a == b)
				continue;
			if (!all_allowed &&
			    !rules_allow_pair(search->rules, search->tests[a],
					      search->tests[b])) {
				reach->refused++;
				continue;
			}
			bool tried = search->pairs && is_tried(search, a, b);
			reach->pairs++;
			reach->pairs_tried += tried;
			reach->pairs_by_state += !tried && !leaves;
			note_pair(reach, a * search->n + b,
				  tried	    ? PAIR_TRIED
				  : !leaves ? PAIR_STATE
					    : PAIR_OPEN);
		}
	}
}

/* A victim's polluters are others: that it fails a second time is apart. */
static void drop_itself(struct dependence *victim)
{
	struct order_lists *lists = &victim->polluters;
	size_t n = lists->n;
	if (n < 2 || lists->data[n - 1].n != 1 ||
	    lists->data[n - 1].data[0] != victim->test)
		return;
	vec_free(&lists->data[n - 1]);
	lists->n--;
	victim->twice = true;
}

/* A victim that is also non-idempotent is both, and one finding. */
static void merge_twice(struct dependences *found)
{
	size_t n = 0;
	for (size_t i = 0; i < found->n; i++) {
		struct dependence *finding = &found->data[i];
		/* Sorted: the victim stands just before. */
		struct dependence *last = n ? &found->data[n - 1] : NULL;
		finding->twice = finding->class == ORDER_NON_IDEMPOTENT;
		if (finding->class == ORDER_VICTIM)
			drop_itself(finding);
		if (!last || last->test != finding->test ||
		    last->class != ORDER_VICTIM || !finding->twice) {
			found->data[n++] = *finding;
			continue;
		}
		last->twice = true;
		dependence_free(finding);
	}
	found->n = n;
}

static int by_test(const void *a, const void *b)
{
	const struct dependence *one = a, *other = b;
	if (one->test != other->test)
		return one->test < other->test ? -1 : 1;
	return (int)one->class - (int)other->class;
}

static struct err *order_make_findings(struct order_search *search)
{
	struct dependences *found = &search->found;
	struct err *err = NULL;
	if (found->n)
		qsort(found->data, found->n, sizeof(*found->data), by_test);
	merge_twice(found);
	for (size_t i = 0; i < found->n; i++) {
		struct finding finding = {};
		if (!err)
			err = order_finding_make(search->options->run,
						 search->leftovers,
						 &found->data[i], &finding);
		if (!err) {
			err = vec_push(&search->result->findings, finding);
			if (err)
				finding_free(&finding);
		} else {
			dependence_free(&found->data[i]);
		}
	}
	vec_free(found);
	return err;
}

static struct err *order_make_flaky(struct order_search *search)
{
	struct err *err = NULL;
	for (size_t i = 0; i < search->flakies.n; i++) {
		struct finding finding = {};
		if (!err)
			err = flaky_finding_make(search->options->run, "order",
						 &search->flakies.data[i],
						 &finding);
		if (err) {
			flaky_free(&search->flakies.data[i]);
			continue;
		}
		err = order_isolate_flaky(search->options->run,
					  search->leftovers, &finding);
		if (!err)
			err = vec_push(&search->result->findings, finding);
		if (err)
			finding_free(&finding);
	}
	vec_free(&search->flakies);
	return err;
}

static struct err *order_search_end(struct order_search *search)
{
	struct order_reach *reach = &search->result->reach;
	reach->systematic = search->options->strategy != ORDER_RANDOM;
	if (search->rules)
		count_pairs(search);
	if (!search->options->readers) {
		err_ignore(say_refused(search));
		err_ignore(suspects_give_up(search));
	}
	if (search->known)
		note_deciding_pairs(search);
	struct err *err = order_make_findings(search);
	struct err *failed = order_make_flaky(search);
	if (err)
		err_ignore(failed);
	else
		err = failed;
	if (!err && search->known)
		err = proof_note(search);
	suspects_free(search);
	vec_free(&search->leavers);
	map_u64_free(&search->answers);
	map_u64_free(&search->ran);
	rules_destroy(search->rules);
	free(search->pairs);
	free(search->known);
	err_ignore(suite_keep_files(search->suite, NULL, 0));
	return err;
}

struct err *order_find(struct suite *suite, const size_t *tests, size_t n,
		       const struct pollution *pollution,
		       const struct order_options *options,
		       const struct suite_observer *observer,
		       struct order_result *ret)
{
	struct order_search search = {
		.suite = suite,
		.options = options,
		.pollution =
			options->strategy == ORDER_RANDOM ? NULL : pollution,
		.leftovers = pollution,
		.outer = observer,
		.result = ret,
		.tests = tests,
		.n = n,
		.processes = !(suite_watchable(suite) & SUITE_MEMORY),
	};
	struct err *err = order_search_begin(&search);
	if (!err)
		err = options->readers ? search_proof(&search)
		      : options->strategy == ORDER_RANDOM
			      ? search_random(&search)
			      : search_systematic(&search);
	if (err && err_kind(err) == ERR_INTERRUPTED)
		ret->reach.why =
			options->deadline && clock_now() >= options->deadline
				? "budget"
				: "interrupted";
	struct err *made = order_search_end(&search);
	if (err)
		err_ignore(made);
	return err ? err : made;
}
