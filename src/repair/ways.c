/* From candidates that help to changes of a file. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "repair/fixtures.h"
#include "repair/repair_internal.h"
#include "repair/spelling.h"

/* Of the candidates that help, so many become a way. */
#define WAYS_MAX 3

void repair_request_free(struct repair_request *request)
{
	free(request->id);
	vec_free(&request->failing);
	vec_free(&request->passing);
	order_lists_free(&request->polluters);
	order_lists_free(&request->setters);
	order_lists_free(&request->cleaners);
	strv_free(&request->polluted);
	vec_free(&request->kin);
	vec_free(&request->leavers);
	*request = (struct repair_request){};
}

static void repair_way_free(struct repair_way *way)
{
	free(way->path);
	free(way->content);
	free(way->original);
	free(way->patch);
	free(way->function);
	free(way->code);
	free(way->where);
	free(way->folder);
	free(way->rest);
}

void repair_plan_free(struct repair_plan *plan)
{
	for (size_t i = 0; i < plan->ways.n; i++)
		repair_way_free(&plan->ways.data[i]);
	vec_free(&plan->ways);
	vec_free(&plan->own);
	vec_free(&plan->after);
	vec_free(&plan->after_polluter);
	free(plan->why_not);
	free(plan->function);
	free(plan->unproven);
	*plan = (struct repair_plan){};
}

static struct err *split_lines(const char *code, struct strv *ret)
{
	while (*code) {
		size_t n = strcspn(code, "\n");
		TRY(strv_take(ret, strndup(code, n)));
		code += n + (code[n] == '\n');
	}
	return NULL;
}

/*
 * What a patch calls this file: below the working directory, else below the
 * project's folder or its own, which is *@ret_folder then (NULL: here).
 */
static struct err *patch_name(const char *path, const char *project, char **ret,
			      char **ret_folder)
{
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display(NULL, path, &shown));
	if (*shown != '/') {
		*ret = take_ptr(shown);
		return NULL;
	}
	bool below =
		project && *project == '/' && path_is_below(shown, project);
	size_t n = below ? strlen(project) : (size_t)(path_base(shown) - shown);
	TRY(str_copy(shown + n + (shown[n] == '/'), ret));
	*ret_folder = strndup(shown, MAX(below ? n : n - 1, (size_t)1));
	return *ret_folder ? NULL : err_nomem();
}

#define INCLUDES_MAX 3
/* Those, declarations, what is saved, and the statements. */
#define EDITS_MAX (INCLUDES_MAX + 3)

struct way_edits {
	struct source_edit data[EDITS_MAX];
	size_t n;
};

/* Where statements may go. */
struct way_place {
	const struct source_file *source;
	struct source_span body;
	bool after; /* its end, which cleans up; else its start */
	bool fixture;
	size_t test; /* whose it is */
};

/* What is inserted there, as the author of that file would write it. */
static struct err *place_code(const struct search *search,
			      const struct way_place *place,
			      const struct repair_candidate *candidate,
			      char **ret)
{
	_cleanup_(freep) char *check = NULL;
	if (!place->after || !candidate->restore)
		return spelling_names(place->source, candidate->code, ret);
	if (!candidate->release)
		return spelling_names(place->source, candidate->restore, ret);
	TRY(spelling_check(place->source, suite_framework(search->suite),
			   candidate->restore, &check));
	return str_format(ret, "%s\n%s", check, candidate->release);
}

static struct err *flat_code(const char *code, char **ret)
{
	TRY(str_copy(code, ret));
	char *to = *ret;
	for (const char *at = *ret; *at; at++) {
		if (*at != '\t')
			*to++ = *at == '\n' ? ' ' : *at;
	}
	*to = '\0';
	return NULL;
}

static int edit_order(const void *left, const void *right)
{
	const struct source_edit *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

static struct err *fill_way(struct search *search,
			    const struct way_place *place,
			    const struct repair_candidate *candidate,
			    const struct hit *hit, struct way_edits *edits,
			    struct repair_way *way)
{
	_cleanup_(freep) char *name = NULL, *code = NULL;
	const struct source_file *source = place->source;
	TRY(place_code(search, place, candidate, &code));
	qsort(edits->data, edits->n, sizeof(edits->data[0]), edit_order);
	way->exact = hit->judged && !hit->remaining;
	way->partial = hit->judged && hit->partial;
	way->after = place->after;
	TRY(str_copy(hit->rest, &way->rest));
	TRY(patch_name(source->path, search->settings->project, &name,
		       &way->folder));
	TRY(source_diff(source, name, edits->data, edits->n, &way->patch));
	TRY(source_apply(source, edits->data, edits->n, &way->content));
	TRY(str_copy(source->text, &way->original));
	TRY(str_copy(source->path, &way->path));
	TRY(str_copy(candidate->function, &way->function));
	TRY(flat_code(code, &way->code));
	return str_format(&way->where, "%s %s%s",
			  place->after ? "at the end of" : "at the start of",
			  place->fixture ? "the fixture of " : "",
			  suite_test(search->suite, place->test)->name);
}

static struct err *finish_way(struct search *search,
			      const struct way_place *place,
			      const struct repair_candidate *candidate,
			      const struct hit *hit, struct way_edits *edits)
{
	struct repair_way way = {};
	/* The first one is what is shown; the others are for proofs. */
	if (!search->settings->build && search->plan->ways.n)
		return NULL;
	struct err *err = fill_way(search, place, candidate, hit, edits, &way);
	/* A build says more; without one, at least the compiler is asked. */
	bool fine = true;
	if (!err && !search->settings->build)
		err = compiler_check(&search->compiler, way.path, way.original,
				     way.content, &fine);
	if (!err && fine)
		err = vec_push(&search->plan->ways, way);
	if (err || !fine)
		repair_way_free(&way);
	return err;
}

static void free_edits(struct way_edits *edits)
{
	for (size_t i = 0; i < edits->n; i++)
		source_edit_free(&edits->data[i]);
}

/* The headers it needs, a line each, if the file does not have them. */
static struct err *add_include_edits(const struct way_place *place,
				     const char *lines, struct way_edits *edits)
{
	_cleanup_(strv_freep) struct strv all = {};
	TRY(split_lines(lines ? lines : "", &all));
	for (size_t i = 0; i < all.n && i < INCLUDES_MAX; i++) {
		_cleanup_(freep) char *line = NULL;
		TRY(spelling_include(place->source, all.data[i], &line));
		if (line)
			TRY(source_edit_include(place->source, line,
						place->body.from,
						&edits->data[edits->n++]));
	}
	return NULL;
}

/* ---- functions that are defined further down ---- */

static bool calls_function(const char *code, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = code; n && (at = strstr(at, name)); at += n) {
		if ((at == code || !source_is_word(at[-1])) && at[n] == '(')
			return true;
	}
	return false;
}

/* Is it declared in front of @end? */
static struct err *is_declared_before(const struct source_file *source,
				      size_t end, const char *name, bool *ret)
{
	_cleanup_(source_freep) struct source_file before = {};
	_cleanup_(strv_freep) struct strv all = {};
	*ret = false;
	TRY(source_take(source->path, source->text, end, &before));
	TRY(source_declarations(&before, &all));
	for (size_t i = 0; i < all.n && !*ret; i++)
		*ret = calls_function(all.data[i], name);
	return NULL;
}

/* Of those that the code calls and that this file defines only later. */
static struct err *add_prototypes(const struct search *search,
				  const struct way_place *place,
				  const char *code, struct way_edits *edits)
{
	const struct routines *all = &search->code.routines;
	const struct source_file *source = place->source;
	_cleanup_(strv_freep) struct strv lines = {};
	size_t item = source_item_start(source, place->body.from);
	unsigned line = (unsigned)source_line(source, item) + 1;
	for (size_t i = 0; i < all->functions.n; i++) {
		const struct routine *routine = &all->functions.data[i];
		_cleanup_(freep) char *prototype = NULL;
		bool declared;
		if (routine->owner || !routine->file ||
		    strcmp(routine->file, source->path) != 0 ||
		    routine->line <= line || routine->line > source->lines.n ||
		    !calls_function(code, routine->name))
			continue;
		TRY(is_declared_before(source, item, routine->name, &declared));
		size_t at = source->lines.data[routine->line - 1];
		while (isspace((unsigned char)source->plain[at]))
			at++;
		if (!declared)
			TRY(source_prototype(source,
					     source_item_start(source, at),
					     &prototype));
		if (prototype)
			TRY(strv_take(&lines, take_ptr(prototype)));
	}
	return lines.n ? source_edit_declare(source, item, &lines,
					     &edits->data[edits->n++])
		       : NULL;
}

/* ---- places ---- */

static struct err *place_edits(const struct search *search,
			       const struct way_place *place,
			       const struct repair_candidate *candidate,
			       struct way_edits *edits)
{
	_cleanup_(strv_freep) struct strv save = {};
	_cleanup_(strv_freep) struct strv code = {};
	_cleanup_(freep) char *text = NULL;
	TRY(place_code(search, place, candidate, &text));
	TRY(add_include_edits(place, candidate->include, edits));
	TRY(add_prototypes(search, place, text, edits));
	TRY(split_lines(text, &code));
	if (!place->after)
		return source_edit_begin(place->source, place->body,
					 search->compiler.old_c, &code,
					 &edits->data[edits->n++]);
	if (candidate->save) {
		TRY(split_lines(candidate->save, &save));
		TRY(source_edit_begin(place->source, place->body,
				      search->compiler.old_c, &save,
				      &edits->data[edits->n++]));
	}
	return source_edit_end(place->source, place->body, &code,
			       &edits->data[edits->n++]);
}

static struct err *place_add_way(struct search *search,
				 const struct way_place *place,
				 const struct hit *hit)
{
	const struct repair_candidate *candidate =
		&search->all.data[hit->candidate];
	struct way_edits edits = {};
	struct err *err = place_edits(search, place, candidate, &edits);
	if (!err)
		err = finish_way(search, place, candidate, hit, &edits);
	free_edits(&edits);
	return err;
}

/* The test after which it fails. */
static size_t last_polluter(const struct repair_request *request)
{
	return request->failing.n > 1
		       ? request->failing.data[request->failing.n - 2]
		       : request->test;
}

static struct err *add_polluter_way(struct search *search,
				    const struct hit *hit)
{
	_cleanup_(source_freep) struct source_file source = {};
	struct way_place place = {
		.source = &source,
		.after = true,
		.test = last_polluter(search->request),
	};
	bool found;
	TRY(search_read_test(search, place.test, &source, &place.body, &found));
	return found ? place_add_way(search, &place, hit) : NULL;
}

static struct err *add_victim_way(struct search *search, const struct hit *hit)
{
	const struct way_place place = {
		.source = &search->source,
		.body = search->body,
		.test = search->request->test,
	};
	return place_add_way(search, &place, hit);
}

/* Do all of these tests have this fixture? */
static struct err *share_fixture(const struct search *search,
				 const struct order_tests *tests, bool before,
				 struct source_file *source,
				 struct source_fixture *ret, bool *ret_found)
{
	*ret_found = false;
	for (size_t i = 0; i < tests->n; i++) {
		_cleanup_(source_freep) struct source_file other = {};
		struct source_fixture fixture;
		struct source_span body;
		bool found;
		TRY(search_read_test(search, tests->data[i], &other, &body,
				     &found));
		if (!found || !fixture_of(&other, body, before, &fixture) ||
		    (i && (strcmp(other.path, source->path) != 0 ||
			   fixture.body.from != ret->body.from))) {
			*ret_found = false;
			return NULL;
		}
		if (!i) {
			*source = other;
			other = (struct source_file){};
			*ret = fixture;
		}
		*ret_found = true;
	}
	return NULL;
}

/* Several that do it, or several that suffer: what surrounds them all. */
static struct err *add_fixture_way(struct search *search, const struct hit *hit,
				   const struct order_tests *tests, bool before)
{
	_cleanup_(source_freep) struct source_file source = {};
	struct source_fixture fixture;
	bool found = false;
	if (tests->n < 2)
		return NULL;
	TRY(share_fixture(search, tests, before, &source, &fixture, &found));
	const struct way_place place = {
		.source = &source,
		.body = fixture.body,
		.after = !before,
		.fixture = true,
		.test = tests->data[0],
	};
	return found ? place_add_way(search, &place, hit) : NULL;
}

/* ---- which is best ---- */

struct way_tests {
	struct order_tests victims, polluters;
};

static struct err *add_test(struct order_tests *list, size_t test)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->data[i] == test)
			return NULL;
	}
	return vec_push(list, test);
}

static struct err *find_tests(const struct repair_request *request,
			      struct way_tests *ret)
{
	TRY(add_test(&ret->victims, request->test));
	for (size_t i = 0; i < request->kin.n; i++)
		TRY(add_test(&ret->victims, request->kin.data[i]));
	TRY(add_test(&ret->polluters, last_polluter(request)));
	for (size_t i = 0; i < request->polluters.n; i++) {
		const struct order_tests *list = &request->polluters.data[i];
		if (list->n)
			TRY(add_test(&ret->polluters, list->data[list->n - 1]));
	}
	return NULL;
}

/*
 * One polluter cleans up after itself; several of them are cleaned up after where a
 * fixture surrounds them; else the victim begins with it. The other places follow,
 * for when that is not proven.
 */
static struct err *add_ways_of(struct search *search, const struct hit *hit,
			       const struct way_tests *tests, bool all)
{
	const struct repair_request *request = search->request;
	bool own = request->leftover || search->all.data[hit->candidate].save;
	bool brittle = request->class == ORDER_BRITTLE;
	bool alone = !brittle && request->failing.n > 1 &&
		     request->class != ORDER_NON_IDEMPOTENT &&
		     tests->polluters.n == 1;
	if (own)
		return add_polluter_way(search, hit);
	if (alone) {
		TRY(add_polluter_way(search, hit));
	} else if (tests->victims.n > 1 && !brittle) {
		TRY(add_fixture_way(search, hit, &tests->polluters, false));
		TRY(add_fixture_way(search, hit, &tests->victims, true));
	}
	TRY(add_victim_way(search, hit));
	/* What disturbs it may also clean up after itself. */
	return all && !brittle && !alone ? add_polluter_way(search, hit) : NULL;
}

struct err *search_make_ways(struct search *search)
{
	struct way_tests tests = {};
	struct err *err = find_tests(search->request, &tests);
	for (size_t i = 0; !err && i < search->hits.n &&
			   (i < WAYS_MAX || !search->plan->ways.n);
	     i++)
		err = add_ways_of(search, &search->hits.data[i], &tests, !i);
	vec_free(&tests.victims);
	vec_free(&tests.polluters);
	return err;
}

struct err *search_note_missing(struct search *search,
				const struct candidate_input *input)
{
	_cleanup_(freep) unsigned *distances = NULL;
	const struct change *root = NULL;
	TRY(candidates_rank(input, &distances));
	BUG_ON(!distances);
	const struct routine *hidden = candidates_hidden(input, distances);
	for (size_t i = 0; i < input->bench->n && !root; i++) {
		if (input->polluted[i] &&
		    input->bench->roots[i].where == CHANGE_MEMORY)
			root = &input->bench->roots[i];
	}
	if (!root)
		return NULL;
	if (hidden)
		return str_format(&search->missing,
				  "%s() in %s could put '%s' back, but it is "
				  "static: give it a declaration in a header",
				  hidden->name,
				  hidden->file ? path_base(hidden->file) : "?",
				  root->root);
	return str_format(&search->missing,
			  "nothing that tests can call puts '%s' back: add a "
			  "function that does to %s, next to line %u",
			  root->root,
			  root->file ? path_base(root->file)
				     : "the file that defines it",
			  root->line);
}
