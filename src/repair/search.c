/* Candidates are tried, those that help are judged, and ways come of them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "repair/candidates.h"
#include "repair/headers.h"
#include "repair/repair_internal.h"

/* Candidates that are compiled together: few at first. */
static const size_t stages[] = { 300, 1500, 4000, 8000 };
/* Functions of a stage for which headers are searched. */
#define HEADERS_FOR 60
/* Candidates that help and are looked at more closely. */
#define HITS_MAX 24
#define PAIRS_OF 24
/* Of a leftover, how many are tried one by one. */
#define LEFTOVER_TRIES 80

/* ---- preparing ---- */

static struct err *find_source_path(const struct search *search,
				    const char *file, char **ret)
{
	_cleanup_(freep) char *joined = NULL;
	*ret = realpath(file, NULL);
	if (*ret || *file == '/' || !search->code.folder)
		return NULL;
	TRY(path_join(search->code.folder, file, &joined));
	*ret = realpath(joined, NULL);
	return NULL;
}

struct err *search_read_test(const struct search *search, size_t number,
			     struct source_file *ret,
			     struct source_span *ret_body, bool *ret_found)
{
	const struct suite_test *test = suite_test(search->suite, number);
	_cleanup_(freep) char *path = NULL;
	*ret_found = false;
	if (test->file)
		TRY(find_source_path(search, test->file, &path));
	if (!path)
		return NULL;
	TRY(source_read(path, ret));
	*ret_found = source_body(ret, test->line, ret_body);
	return NULL;
}

/* Names of files as the source has its own. */
static void settle_files(struct search *search)
{
	const char *own = search->source.path;
	struct routines *all = &search->code.routines;
	for (size_t i = 0; i < all->functions.n; i++) {
		const char *file = all->functions.data[i].file;
		if (!file || strcmp(path_base(file), path_base(own)) != 0)
			continue;
		_cleanup_(freep) char *resolved = realpath(file, NULL);
		if (resolved && !strcmp(resolved, own))
			all->functions.data[i].file = own;
	}
	for (size_t i = 0; i < all->variables.n; i++) {
		const char *file = all->variables.data[i].file;
		if (!file || strcmp(path_base(file), path_base(own)) != 0)
			continue;
		_cleanup_(freep) char *resolved = realpath(file, NULL);
		if (resolved && !strcmp(resolved, own))
			all->variables.data[i].file = own;
	}
}

/* What tests say as literals: those that turn it first. */
static struct err *read_literals(struct search *search, size_t test)
{
	_cleanup_(source_freep) struct source_file source = {};
	struct source_span body;
	bool found;
	TRY(search_read_test(search, test, &source, &body, &found));
	if (!found)
		return NULL;
	return source_literals(&source, body, &search->pool.texts,
			       &search->pool.numbers);
}

static struct err *read_all_literals(struct search *search)
{
	const struct repair_request *request = search->request;
	const struct order_tests *order = request->class == ORDER_BRITTLE
						  ? &request->passing
						  : &request->failing;
	for (size_t i = 0; i < order->n; i++)
		TRY(read_literals(search, order->data[i]));
	return NULL;
}

/* Values that the state had before come first. */
static struct err *add_clean_values(struct search *search,
				    const struct suite_bench *bench)
{
	for (size_t i = 0; i < bench->n; i++) {
		const struct change *root = &bench->roots[i];
		for (size_t j = 0; search->polluted[i] && j < root->n; j++) {
			const char *before = root->paths[j].before;
			if (!before || strlen(before) > 60)
				continue;
			if (*before == '"')
				TRY(strv_add(&search->pool.texts, before));
			else if (strspn(before, "-.0123456789") ==
				 strlen(before))
				TRY(strv_add(&search->pool.numbers, before));
		}
	}
	return NULL;
}

static struct err *mark_polluted(struct search *search,
				 const struct suite_bench *bench)
{
	const struct strv *names = &search->request->polluted;
	size_t any = 0;
	free(search->polluted);
	search->polluted = calloc(bench->n + 1, sizeof(bool));
	if (!search->polluted)
		return err_nomem();
	for (size_t i = 0; i < bench->n; i++) {
		for (size_t j = 0; j < names->n; j++)
			search->polluted[i] |=
				!strcmp(names->data[j], bench->roots[i].root);
		any += search->polluted[i];
	}
	for (size_t i = 0; !any && i < bench->n; i++)
		search->polluted[i] = true;
	return NULL;
}

/* ---- candidates ---- */

/* The tests whose statements may help: cleaners, or setters. */
static struct err *add_bodies(struct search *search)
{
	const struct repair_request *request = search->request;
	const struct order_lists *lists = request->class == ORDER_BRITTLE
						  ? &request->setters
						  : &request->cleaners;
	for (size_t i = 0; i < lists->n && i < 4; i++) {
		for (size_t j = 0; j < lists->data[i].n; j++) {
			_cleanup_(source_freep) struct source_file source = {};
			struct source_span body;
			bool found;
			TRY(search_read_test(search, lists->data[i].data[j],
					     &source, &body, &found));
			if (found)
				TRY(candidates_from_body(&source, body,
							 &search->all));
		}
	}
	/* Fixtures of its own file, also where no test cleans up. */
	if (!lists->n)
		TRY(candidates_from_body(&search->source,
					 (struct source_span){}, &search->all));
	return NULL;
}

static struct err *generate_candidates(void *data,
				       const struct suite_bench *bench)
{
	struct search *search = data;
	TRY(mark_polluted(search, bench));
	TRY(add_clean_values(search, bench));
	TRY(read_all_literals(search));
	const struct candidate_input input = {
		.suite = search->suite,
		.request = search->request,
		.code = &search->code,
		.source = &search->source,
		.bench = bench,
		.polluted = search->polluted,
		.pool = &search->pool,
		.cxx = search->compiler.cxx,
	};
	if (search->request->class != ORDER_BRITTLE)
		TRY(candidates_from_state(&input, &search->all));
	TRY(candidates_from_functions(&input, &search->all));
	TRY(add_bodies(search));
	candidates_sort(&search->all);
	return search_note_missing(search, &input);
}

/* ---- trying ---- */

static bool search_has_ended(const struct search *search)
{
	return search->settings->deadline &&
	       clock_now() > search->settings->deadline;
}

static const struct routine *find_routine(const struct search *search,
					  const char *name)
{
	const struct routines *all = &search->code.routines;
	for (size_t i = 0; i < all->functions.n; i++) {
		if (!strcmp(all->functions.data[i].name, name))
			return &all->functions.data[i];
	}
	return NULL;
}

/* Headers of functions whose calls do not compile; *@ret: there are some. */
static struct err *add_headers(struct search *search, size_t from, size_t n,
			       const struct trial_batch *batch, bool *ret)
{
	size_t left = HEADERS_FOR;
	*ret = false;
	for (size_t i = 0; i < n && left; i++) {
		struct repair_candidate *candidate =
			&search->all.data[from + i];
		char *line = NULL;
		if (batch->places.data[i] != BATCH_NONE ||
		    !candidate->function || candidate->include)
			continue;
		const struct repair_candidate *before =
			i ? &search->all.data[from + i - 1] : NULL;
		if (before && before->function &&
		    !strcmp(before->function, candidate->function)) {
			TRY(str_copy(before->include, &candidate->include));
			continue;
		}
		const struct routine *routine =
			find_routine(search, candidate->function);
		left--;
		if (routine)
			TRY(headers_find(&search->compiler, &search->source,
					 routine, &line));
		candidate->include = line;
		*ret |= line != NULL;
	}
	return NULL;
}

/* Those that are there already do no harm. */
static struct err *add_includes(struct search *search, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *line = search->all.data[from + i].include;
		bool known = !line;
		for (size_t j = 0; !known && j < search->includes.n; j++)
			known = !strcmp(search->includes.data[j], line);
		if (known)
			continue;
		TRY(strv_add(&search->includes, line));
		TRY(strv_add(&search->declarations, line));
	}
	return NULL;
}

static struct err *compile_some(struct search *search, size_t from, size_t n,
				struct trial_batch *ret)
{
	_cleanup_(strv_freep) struct strv code = {};
	for (size_t i = 0; i < n; i++)
		TRY(strv_add(&code, search->all.data[from + i].code));
	bool more;
	TRY(add_includes(search, from, n));
	TRY(batch_compile(&search->compiler, &search->declarations, &code,
			  ret));
	TRY(add_headers(search, from, n, ret, &more));
	if (!more)
		return NULL;
	TRY(add_includes(search, from, n));
	batch_free(ret);
	return batch_compile(&search->compiler, &search->declarations, &code,
			     ret);
}

static bool search_is_good(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

static struct err *try_batch(struct search *search,
			     const struct suite_bench *bench, size_t from,
			     size_t n, struct trial_batch *batch)
{
	bool loaded;
	struct suite_called called;
	size_t number = search->batches.n;
	TRY(batch_load(&search->compiler, batch, bench, &loaded));
	if (!loaded) {
		search->why_not = "what was compiled for it cannot be loaded "
				  "into the program";
		return NULL;
	}
	/* The control: with nothing done it still fails. */
	TRY(bench->call(bench->context, 0, &called));
	if (!called.returned ||
	    (search_is_good(called.outcome) && !search->request->leftover)) {
		search->why_not = "it does not fail any more when its order "
				  "is run for a try";
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (batch->places.data[i] == BATCH_NONE)
			continue;
		if (search_has_ended(search))
			return NULL;
		uint64_t began = clock_now();
		TRY(bench->call(bench->context, batch->places.data[i],
				&called));
		search->plan->try_ns += clock_now() - began;
		search->plan->tried++;
		bool good = called.returned && (search->request->leftover ||
						search_is_good(called.outcome));
		if (!good)
			continue;
		TRY(vec_push(&search->hits,
			     (struct hit){
				     .candidate = from + i,
				     .batch = number,
				     .place = batch->places.data[i],
			     }));
		log_debug(LOG_REPAIR, "helps: %s",
			  search->all.data[from + i].code);
	}
	return NULL;
}

static struct err *try_stage(struct search *search,
			     const struct suite_bench *bench, size_t from,
			     size_t n)
{
	struct trial_batch batch = {};
	struct err *err = compile_some(search, from, n, &batch);
	/* Others may, and a message of the compiler is no reason to end. */
	if (err && err_kind(err) == ERR_SUITE) {
		log_debug(LOG_REPAIR, "%s", err_message(err));
		err_destroy(err);
		batch_free(&batch);
		search->uncompiled++;
		return NULL;
	}
	if (!err)
		err = try_batch(search, bench, from, n, &batch);
	if (!err)
		err = vec_push(&search->batches, batch);
	if (err)
		batch_free(&batch);
	return err;
}

/* No single one does it. */
static struct err *try_pairs(struct search *search,
			     const struct suite_bench *bench)
{
	_cleanup_(candidate_list_freep) struct candidate_list some = {};
	size_t from = search->all.n;
	const char *last = "";
	size_t same = 0;
	if (!search->batches.n)
		return NULL;
	const struct trial_batch *batch = &search->batches.data[0];
	for (size_t i = 0; i < batch->places.n && some.n < PAIRS_OF; i++) {
		const struct repair_candidate *candidate = &search->all.data[i];
		bool again = candidate->function &&
			     !strcmp(candidate->function, last);
		same = again ? same + 1 : 0;
		if (batch->places.data[i] == BATCH_NONE || same > 3)
			continue;
		last = candidate->function ? candidate->function : "";
		TRY(vec_push(&some, *candidate));
	}
	TRY(candidates_pair(&some, some.n, &search->all));
	return search->all.n > from
		       ? try_stage(search, bench, from, search->all.n - from)
		       : NULL;
}

static struct err *try_all(void *data, const struct suite_bench *bench)
{
	struct search *search = data;
	size_t from = 0;
	if (!search->generated)
		TRY(generate_candidates(search, bench));
	search->generated = true;
	search->blocks = bench->blocks;
	search->roots_n = bench->n;
	for (size_t i = 0;
	     i < ARRAY_SIZE(stages) && from < search->all.n &&
	     !search->hits.n && !search->why_not && !search_has_ended(search);
	     i++) {
		size_t n = MIN(stages[i], search->all.n - from);
		if (search->request->leftover)
			n = MIN(n, (size_t)LEFTOVER_TRIES);
		TRY(try_stage(search, bench, from, n));
		from += n;
	}
	if (!search->hits.n && !search->why_not && !search_has_ended(search) &&
	    !search->request->leftover)
		TRY(try_pairs(search, bench));
	return NULL;
}

/* ---- judging ---- */

/* Does it also pass where it passed before? */
static struct err *judge_elsewhere(void *data, const struct suite_bench *bench)
{
	struct search *search = data;
	size_t loaded = BATCH_NONE;
	for (size_t i = 0; i < search->hits.n; i++) {
		struct hit *hit = &search->hits.data[i];
		struct suite_called called;
		bool done = true;
		if (hit->batch != loaded)
			TRY(bench->load(
				bench->context,
				search->batches.data[hit->batch].library,
				&done));
		if (!done)
			continue;
		loaded = hit->batch;
		TRY(bench->call(bench->context, hit->place, &called));
		hit->elsewhere =
			called.returned && search_is_good(called.outcome);
		log_debug(LOG_REPAIR, "%s: %s where it passes without",
			  search->all.data[hit->candidate].code,
			  called.returned ? outcome_name(called.outcome)
					  : "does not return");
	}
	return NULL;
}

struct exactness {
	struct search *search;
	struct hit *hit;
};

/* What still differs after the call. */
static struct err *judge_exactness(void *data, const struct suite_bench *bench)
{
	const struct exactness *exactness = data;
	const struct strv *names = &exactness->search->request->polluted;
	struct hit *hit = exactness->hit;
	hit->judged = true;
	for (size_t i = 0; i < bench->n; i++) {
		bool polluted = !names->n;
		for (size_t j = 0; j < names->n; j++)
			polluted |=
				!strcmp(names->data[j], bench->roots[i].root);
		hit->remaining += polluted;
	}
	hit->differing = bench->n;
	hit->leaked = bench->blocks > exactness->search->blocks
			      ? bench->blocks - exactness->search->blocks
			      : 0;
	return NULL;
}

static struct repair_candidate *hit_candidate(const struct search *search,
					      const struct hit *hit)
{
	return &search->all.data[hit->candidate];
}

static struct search *sorting;

static int hit_compare(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

static int hit_order(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;
	const struct repair_candidate *x = hit_candidate(sorting, a);
	const struct repair_candidate *y = hit_candidate(sorting, b);
	int order = hit_compare(!a->elsewhere, !b->elsewhere);
	if (!order)
		order = hit_compare(a->remaining, b->remaining);
	/* A reset function says what is meant; a value does not. */
	if (!order)
		order = hit_compare(x->template && x->score,
				    y->template && y->score);
	if (!order)
		order = hit_compare(a->leaked, b->leaked);
	if (!order)
		order = hit_compare(a->differing, b->differing);
	if (!order)
		order = hit_compare(x->arguments, y->arguments);
	if (!order)
		order = hit_compare(x->score, y->score);
	return order ? order : hit_compare(a->candidate, b->candidate);
}

static void sort_hits(struct search *search)
{
	sorting = search;
	if (search->hits.n)
		qsort(search->hits.data, search->hits.n, sizeof(struct hit),
		      hit_order);
}

static struct err *judge_hits(struct search *search)
{
	const struct repair_request *request = search->request;
	const struct order_tests *other = &request->passing;
	struct suite_bench_options options = {
		.watch = search->settings->watch,
		.prefix = other->data,
		.n = other->n ? other->n - 1 : 0,
		.test = request->test,
	};
	const char *why_not = NULL;
	/* They are in the order of their scores. */
	if (!request->leftover)
		search->hits.n = MIN(search->hits.n, (size_t)HITS_MAX);
	if (!request->leftover)
		TRY(suite_work_bench(search->suite, &options, judge_elsewhere,
				     search, search->settings->observer,
				     &why_not));
	if (why_not)
		log_debug(LOG_REPAIR, "not tried elsewhere: %s", why_not);
	options.prefix = request->failing.data;
	options.n = request->failing.n - 1;
	for (size_t i = 0; options.n && i < search->hits.n; i++) {
		struct hit *hit = &search->hits.data[i];
		struct exactness exactness = { search, hit };
		options.library = search->batches.data[hit->batch].library;
		options.first = hit->place;
		TRY(suite_work_bench(search->suite, &options, judge_exactness,
				     &exactness, search->settings->observer,
				     NULL));
		if (!hit->judged)
			hit->remaining = hit->differing = search->roots_n;
		hit->elsewhere |= request->leftover;
	}
	size_t kept = 0;
	for (size_t i = 0; i < search->hits.n; i++) {
		const struct hit *hit = &search->hits.data[i];
		if (hit->elsewhere && (!request->leftover || !hit->remaining))
			search->hits.data[kept++] = *hit;
	}
	search->hits.n = kept;
	sort_hits(search);
	return NULL;
}

/* ---- all of it ---- */

static struct err *search_prepare(struct search *search)
{
	const struct suite_test *test =
		suite_test(search->suite, search->request->test);
	bool found = false;
	if (test->file)
		TRY(suite_describe_code(search->suite, test->file,
					&search->code));
	TRY(search_read_test(search, search->request->test, &search->source,
			     &search->body, &found));
	if (!found) {
		search->why_not = "the source of the test was not found";
		return NULL;
	}
	settle_files(search);
	TRY(source_declarations(&search->source, &search->declarations));
	return compiler_find(&search->source, &search->code,
			     search->settings->work, &search->compiler);
}

static struct err *search_try(struct search *search)
{
	const struct repair_request *request = search->request;
	struct suite_bench_options options = {
		.watch = search->settings->watch,
		.prefix = request->failing.data,
		.n = request->failing.n - 1,
		.test = request->test,
	};
	const char *why_not = NULL;
	/* What its setters change is where to look. */
	if (request->class == ORDER_BRITTLE && request->passing.n > 1) {
		options.prefix = request->passing.data;
		options.n = request->passing.n - 1;
		TRY(suite_work_bench(search->suite, &options,
				     generate_candidates, search,
				     search->settings->observer, &why_not));
		search->generated = !why_not;
		options.prefix = request->failing.data;
		options.n = request->failing.n - 1;
	}
	TRY(suite_work_bench(search->suite, &options, try_all, search,
			     search->settings->observer, &why_not));
	if (why_not)
		search->why_not = why_not;
	return search->why_not ? NULL : judge_hits(search);
}

static void search_free(struct search *search)
{
	source_free(&search->source);
	suite_code_free(&search->code);
	compiler_free(&search->compiler);
	strv_free(&search->declarations);
	strv_free(&search->includes);
	strv_free(&search->pool.texts);
	strv_free(&search->pool.numbers);
	candidates_free(&search->all);
	for (size_t i = 0; i < search->batches.n; i++)
		batch_free(&search->batches.data[i]);
	vec_free(&search->batches);
	vec_free(&search->hits);
	free(search->polluted);
	free(search->missing);
}

struct err *repair_search(struct suite *suite,
			  const struct repair_request *request,
			  const struct repair_settings *settings,
			  struct repair_plan *plan)
{
	struct search search = {
		.suite = suite,
		.request = request,
		.settings = settings,
		.plan = plan,
	};
	uint64_t began = clock_now();
	plan->request = request;
	struct err *err = search_prepare(&search);
	if (!err && !search.why_not)
		err = search_try(&search);
	if (!err && !search.why_not)
		err = search_make_ways(&search);
	if (!err && plan->ways.n && settings->build)
		err = search_note_before(suite, plan);
	if (!search.why_not && search.uncompiled && !plan->tried)
		search.why_not = "calls could not be compiled: its headers "
				 "need options that are not known; a "
				 "compile_commands.json has them";
	if (!err && !plan->ways.n)
		err = str_copy(search.why_not	? search.why_not
			       : search.missing ? search.missing
						: "no call that was tried puts "
						  "the state back",
			       &plan->why_not);
	plan->search_ns = clock_now() - began;
	search_free(&search);
	return err;
}
