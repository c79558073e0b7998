/* From candidates that help to changes of a file. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "repair/repair_internal.h"

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
}

void repair_plan_free(struct repair_plan *plan)
{
	for (size_t i = 0; i < plan->ways.n; i++)
		repair_way_free(&plan->ways.data[i]);
	vec_free(&plan->ways);
	vec_free(&plan->own);
	vec_free(&plan->after);
	free(plan->why_not);
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

/* What a patch of this file calls it: below the working directory, or whole. */
static struct err *patch_name(const char *path, char **ret)
{
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display(NULL, path, &shown));
	return str_copy(*shown == '/' ? shown + 1 : shown, ret);
}

#define EDITS_MAX 3

struct way_edits {
	struct source_edit data[EDITS_MAX];
	size_t n;
};

static struct err *flat_code(const char *code, char **ret)
{
	TRY(str_copy(code, ret));
	for (char *at = *ret; *at; at++) {
		if (*at == '\n')
			*at = ' ';
	}
	return NULL;
}

static struct err *finish_way(struct search *search,
			      const struct source_file *source,
			      const struct repair_candidate *candidate,
			      const struct way_edits *edits, const char *code,
			      bool exact, const char *fmt, size_t test)
{
	struct repair_way way = { .exact = exact };
	_cleanup_(freep) char *name = NULL;
	const char *shown = suite_test(search->suite, test)->name;
	struct err *err = patch_name(source->path, &name);
	if (!err)
		err = source_diff(source, name, edits->data, edits->n,
				  &way.patch);
	if (!err)
		err = source_apply(source, edits->data, edits->n, &way.content);
	if (!err)
		err = str_copy(source->text, &way.original);
	if (!err)
		err = str_copy(source->path, &way.path);
	if (!err)
		err = str_copy(candidate->function, &way.function);
	if (!err)
		err = flat_code(code, &way.code);
	if (!err)
		err = str_format(&way.where, "%s %s", fmt, shown);
	if (!err)
		err = vec_push(&search->plan->ways, way);
	if (err)
		repair_way_free(&way);
	return err;
}

static void free_edits(struct way_edits *edits)
{
	for (size_t i = 0; i < edits->n; i++)
		source_edit_free(&edits->data[i]);
}

/* Its include, if the file does not have that one. */
static struct err *add_include_edit(const struct source_file *source,
				    const char *line, struct way_edits *edits)
{
	if (!line)
		return NULL;
	const char *open = strpbrk(line, "\"<");
	_cleanup_(freep) char *name = open ? strdup(open + 1) : NULL;
	if (!name)
		return NULL;
	name[strcspn(name, "\">")] = '\0';
	if (source_includes(source, path_base(name)))
		return NULL;
	return source_edit_include(source, line, &edits->data[edits->n++]);
}

static struct err *add_victim_way(struct search *search,
				  const struct repair_candidate *candidate,
				  bool exact)
{
	struct way_edits edits = {};
	_cleanup_(strv_freep) struct strv code = {};
	struct err *err = split_lines(candidate->code, &code);
	if (!err)
		err = add_include_edit(&search->source, candidate->include,
				       &edits);
	if (!err)
		err = source_edit_begin(&search->source, search->body,
					search->compiler.old_c, &code,
					&edits.data[edits.n++]);
	if (!err)
		err = finish_way(search, &search->source, candidate, &edits,
				 candidate->code, exact, "at the start of",
				 search->request->test);
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

static struct err *polluter_edits(const struct source_file *source,
				  struct source_span body, bool old_c,
				  const struct repair_candidate *candidate,
				  struct way_edits *edits)
{
	_cleanup_(strv_freep) struct strv save = {};
	_cleanup_(strv_freep) struct strv code = {};
	TRY(add_include_edit(source, candidate->include, edits));
	if (candidate->save) {
		TRY(split_lines(candidate->save, &save));
		TRY(source_edit_begin(source, body, old_c, &save,
				      &edits->data[edits->n++]));
	}
	TRY(split_lines(candidate->restore ? candidate->restore
					   : candidate->code,
			&code));
	return source_edit_end(source, body, &code, &edits->data[edits->n++]);
}

static struct err *add_polluter_way(struct search *search,
				    const struct repair_candidate *candidate,
				    bool exact)
{
	_cleanup_(source_freep) struct source_file source = {};
	struct source_span body;
	struct way_edits edits = {};
	bool found;
	size_t polluter = last_polluter(search->request);
	TRY(search_read_test(search, polluter, &source, &body, &found));
	if (!found)
		return NULL;
	struct err *err = polluter_edits(&source, body, search->compiler.old_c,
					 candidate, &edits);
	if (!err)
		err = finish_way(search, &source, candidate, &edits,
				 candidate->restore ? candidate->restore
						    : candidate->code,
				 exact, "at the end of", polluter);
	free_edits(&edits);
	return err;
}

struct err *search_make_ways(struct search *search)
{
	const struct repair_request *request = search->request;
	for (size_t i = 0; i < search->hits.n && i < WAYS_MAX; i++) {
		const struct hit *hit = &search->hits.data[i];
		const struct repair_candidate *candidate =
			&search->all.data[hit->candidate];
		bool exact = hit->judged && !hit->remaining;
		bool own = request->leftover || candidate->save;
		if (!own)
			TRY(add_victim_way(search, candidate, exact));
		/* What disturbs it may also clean up after itself. */
		if ((own || !i) && request->class != ORDER_BRITTLE)
			TRY(add_polluter_way(search, candidate, exact));
	}
	return NULL;
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
