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
#define PAIRS_OF 24
/* Of a leftover, how many are tried one by one. */
#define LEFTOVER_TRIES 80
/* Something helps, but does not put the state back: so long, or as long again,
 * something better is searched. */
#define PATIENCE_NS (5 * NS_PER_S)

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
	struct err *unreadable = source_read(path, ret);
	if (unreadable) {
		err_ignore(unreadable); /* as one that is not there */
		return NULL;
	}
	*ret_found = source_body(ret, test->line, ret_body);
	return NULL;
}

/* Names of files as the source has its own. */
void search_settle_files(struct search *search)
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
	for (size_t i = 0; i < bench->n; i++) {
		const struct change *root = &bench->roots[i];
		search->polluted[i] |= !any;
		TRY(strv_add(&search->roots, root->root));
		for (size_t j = 0; search->polluted[i] && j < root->n; j++) {
			const char *after = root->paths[j].after;
			TRY(strv_add(&search->parts, root->paths[j].path));
			TRY(strv_add(&search->values, after ? after : ""));
		}
	}
	return NULL;
}

/* ---- candidates ---- */

struct err *search_make_input(struct search *search,
			      const struct suite_bench *bench,
			      struct candidate_input *ret)
{
	TRY(mark_polluted(search, bench));
	TRY(add_clean_values(search, bench));
	TRY(read_all_literals(search));
	for (size_t i = 0; i < search->pool.texts.n; i++) {
		const char *text = search->pool.texts.data[i];
		size_t n = strlen(text);
		if (n >= 2 && *text == '"' && !strchr(text, '\\'))
			TRY(strv_take(&search->pool.plain,
				      strndup(text + 1, n - 2)));
	}
	*ret = (struct candidate_input){
		.suite = search->suite,
		.request = search->request,
		.code = &search->code,
		.source = &search->source,
		.bench = bench,
		.polluted = search->polluted,
		.pool = &search->pool,
		.cxx = search->compiler.cxx,
	};
	return NULL;
}

static struct err *generate_candidates(void *data,
				       const struct suite_bench *bench)
{
	struct search *search = data;
	struct candidate_input input;
	TRY(search_make_input(search, bench, &input));
	if (search->request->class != ORDER_BRITTLE)
		TRY(candidates_from_state(&input, &search->all));
	TRY(candidates_from_functions(&input, &search->all));
	TRY(candidates_from_fixtures(&input, &search->all));
	TRY(search_read_bodies(search));
	candidates_sort(&search->all);
	search->singles = search->all.n;
	return search_note_missing(search, &input);
}

/* ---- trying ---- */

bool search_has_ended(const struct search *search)
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

/* *@ret: they can be called, and the control fails as it should. */
static struct err *load_batch(struct search *search,
			      const struct suite_bench *bench,
			      struct trial_batch *batch, bool *ret)
{
	struct suite_called called;
	TRY(batch_load(&search->compiler, batch, bench, &search->code,
		       search->source.path, ret));
	if (!*ret) {
		search->why_not = "what was compiled for it cannot be loaded "
				  "into the program";
		return NULL;
	}
	/* The control: with nothing done it still fails. */
	TRY(bench->call(bench->context, 0, &called));
	*ret = called.returned &&
	       (!search_is_good(called.outcome) || search->request->leftover);
	if (!*ret) {
		search->why_not = "it does not fail any more when its order "
				  "is run for a try";
		search->plan->fixed = called.returned;
	}
	return NULL;
}

static struct err *try_batch(struct search *search,
			     const struct suite_bench *bench, size_t from,
			     size_t n, struct trial_batch *batch, bool *helped)
{
	bool loaded = false;
	TRY(load_batch(search, bench, batch, &loaded));
	for (size_t i = 0; loaded && i < n && !search_has_ended(search); i++) {
		struct suite_called called;
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (batch->places.data[i] == BATCH_NONE)
			continue;
		uint64_t began = clock_now();
		TRY(bench->call(bench->context, batch->places.data[i],
				&called));
		search->plan->try_ns += clock_now() - began;
		search->plan->tried++;
		helped[i] = called.returned && (search->request->leftover ||
						search_is_good(called.outcome));
		if (helped[i])
			log_debug(LOG_REPAIR, "helps: %s",
				  search->all.data[from + i].code);
	}
	return NULL;
}

static void note_batch(struct search *search, size_t from, size_t n,
		       const struct trial_batch *batch)
{
	for (size_t i = 0; i < n; i++) {
		struct repair_candidate *candidate =
			&search->all.data[from + i];
		candidate->batch = search->batches.n;
		candidate->place = batch->places.data[i];
	}
}

struct err *search_try_some(struct search *search,
			    const struct suite_bench *bench, size_t from,
			    size_t n, bool *helped)
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
	if (!err) {
		note_batch(search, from, n, &batch);
		err = try_batch(search, bench, from, n, &batch, helped);
	}
	if (!err)
		err = vec_push(&search->batches, batch);
	if (err)
		batch_free(&batch);
	return err;
}

struct err *search_add_hit(struct search *search, size_t candidate)
{
	const struct repair_candidate *of = &search->all.data[candidate];
	return vec_push(&search->hits, (struct hit){ .candidate = candidate,
						     .batch = of->batch,
						     .place = of->place });
}

static struct err *try_stage(struct search *search,
			     const struct suite_bench *bench, size_t from,
			     size_t n)
{
	_cleanup_(freep) bool *helped = calloc(n + 1, sizeof(*helped));
	if (!helped)
		return err_nomem();
	TRY(search_try_some(search, bench, from, n, helped));
	for (size_t i = 0; i < n; i++) {
		if (helped[i])
			TRY(search_add_hit(search, from + i));
	}
	return NULL;
}

/* What helps without putting everything back comes first, then the likeliest. */
static struct err *choose_for_pairs(const struct search *search,
				    struct candidate_list *ret)
{
	const char *last = "";
	size_t same = 0;
	for (size_t i = 0; i < search->hits.n && ret->n < PAIRS_OF / 4; i++)
		TRY(vec_push(ret,
			     search->all.data[search->hits.data[i].candidate]));
	for (size_t i = 0;
	     i < MIN(search->next, stages[0] + stages[1]) && ret->n < PAIRS_OF;
	     i++) {
		const struct repair_candidate *candidate = &search->all.data[i];
		bool again = candidate->function &&
			     !strcmp(candidate->function, last);
		same = again ? same + 1 : 0;
		if (!candidate->place || candidate->place == BATCH_NONE ||
		    same > 3)
			continue;
		last = candidate->function ? candidate->function : "";
		TRY(vec_push(ret, *candidate));
	}
	return NULL;
}

/* No single one does it. */
static struct err *try_pairs(struct search *search,
			     const struct suite_bench *bench)
{
	_cleanup_(candidate_list_freep) struct candidate_list some = {};
	size_t from = search->all.n;
	if (!search->batches.n)
		return NULL;
	TRY(choose_for_pairs(search, &some));
	TRY(candidates_pair(&some, some.n, &search->all));
	return search->all.n > from
		       ? try_stage(search, bench, from, search->all.n - from)
		       : NULL;
}

static bool search_goes_on(const struct search *search)
{
	return !search->why_not && !search_has_ended(search) &&
	       search->hits.n == search->judged;
}

/* Up to the next one that helps. */
static struct err *try_next(void *data, const struct suite_bench *bench)
{
	struct search *search = data;
	if (!search->generated)
		TRY(generate_candidates(search, bench));
	search->generated = true;
	search->blocks = bench->blocks;
	search->roots_n = bench->n;
	while (search_goes_on(search) && search->stage < ARRAY_SIZE(stages) &&
	       search->next < search->singles) {
		/* After the likeliest calls: what other tests do. */
		if (search->stage && !search->reduced &&
		    !search->request->leftover) {
			search->reduced = true;
			TRY(search_try_bodies(search, bench));
			continue;
		}
		size_t from = search->next;
		size_t n = MIN(stages[search->stage], search->singles - from);
		if (search->request->leftover)
			n = MIN(n, (size_t)LEFTOVER_TRIES);
		search->stage++;
		search->next += n;
		TRY(try_stage(search, bench, from, n));
	}
	if (!search_goes_on(search))
		return NULL;
	if (search->request->leftover || search->paired) {
		search->exhausted = true;
		return NULL;
	}
	if (!search->reduced) {
		search->reduced = true;
		TRY(search_try_bodies(search, bench));
	}
	if (!search_goes_on(search))
		return NULL;
	search->paired = true;
	return try_pairs(search, bench);
}

/* ---- all of it ---- */

static struct err *search_prepare(struct search *search)
{
	const struct suite_test *test =
		suite_test(search->suite, search->request->test);
	bool found = false;
	TRY(suite_describe_code(search->suite, test->file ? test->file : "",
				&search->code));
	TRY(search_read_test(search, search->request->test, &search->source,
			     &search->body, &found));
	if (!found) {
		search->why_not = "the source of the test was not found, or is "
				  "no text of at most 8 MiB";
		search->raw = true;
		return NULL;
	}
	search_settle_files(search);
	TRY(source_declarations(&search->source, &search->declarations));
	struct err *err =
		compiler_find(&search->source, &search->code,
			      search->settings->work, search->settings->build,
			      search->settings->deadline, &search->compiler);
	if (err && err_kind(err) == ERR_SUITE) {
		log_debug(LOG_REPAIR, "%s", err_message(err));
		err_ignore(err);
		search->why_not = "there is no compiler for its file";
		search->raw = true;
		return NULL;
	}
	return err;
}

/* Nothing puts the state back yet, and there is more to try. */
static bool search_may_improve(const struct search *search)
{
	if (search->hits.n && (search_hit_is_sound(search, search->hits.data) ||
			       clock_now() > search->patience))
		return false;
	return !search->exhausted && !search_has_ended(search);
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
	uint64_t began = clock_now();
	while (search_may_improve(search)) {
		why_not = NULL;
		TRY(suite_work_bench(search->suite, &options, try_next, search,
				     search->settings->observer, &why_not));
		if (why_not)
			search->why_not = why_not;
		if (search->why_not)
			return NULL;
		TRY(search_judge_hits(search));
		if (search->hits.n && !search->patience)
			search->patience =
				clock_now() +
				MAX(clock_now() - began, PATIENCE_NS);
	}
	return NULL;
}

void search_free(struct search *search)
{
	source_free(&search->source);
	suite_code_free(&search->code);
	compiler_free(&search->compiler);
	strv_free(&search->declarations);
	strv_free(&search->includes);
	strv_free(&search->pool.texts);
	strv_free(&search->pool.numbers);
	strv_free(&search->pool.plain);
	candidates_free(&search->all);
	for (size_t i = 0; i < search->batches.n; i++)
		batch_free(&search->batches.data[i]);
	vec_free(&search->batches);
	hits_free(search);
	bodies_free(search);
	free(search->polluted);
	strv_free(&search->parts);
	strv_free(&search->values);
	strv_free(&search->roots);
	free(search->missing);
}

/* Why there is no patch. That time is over comes before what is missing. */
static struct err *search_say_why_not(const struct search *search)
{
	char **ret = &search->plan->why_not;
	if (search->why_not)
		return str_copy(search->why_not, ret);
	if (search_has_ended(search))
		return str_format(ret,
				  "the time for it (--budget) ended when %zu "
				  "of %zu candidates had been tried",
				  search->plan->tried, search->all.n);
	if (search->hits.n)
		return str_format(
			ret,
			"'%s' helps, but cannot be written in its "
			"file",
			search->all.data[search->hits.data[0].candidate].code);
	return str_copy(search->missing ? search->missing
					: "no call that was tried puts the "
					  "state back",
			ret);
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
	if (!search.why_not && search.uncompiled && !plan->tried &&
	    !search_has_ended(&search)) {
		search.raw = true;
		search.why_not = "calls could not be compiled: its headers "
				 "need options that are not known; a "
				 "compile_commands.json has them";
	}
	if (!err && search.raw)
		err = search_try_raw(&search);
	if (!err && !plan->ways.n && !plan->why_not)
		err = search_say_why_not(&search);
	plan->search_ns = clock_now() - began;
	search_free(&search);
	return err;
}
