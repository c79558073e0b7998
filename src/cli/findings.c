#include "cli/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/str.h"

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->owned.n; i++)
		free(findings->owned.data[i]);
	vec_free(&findings->owned);
	vec_free(&findings->all);
	vec_free(&findings->firsts);
}

/* Takes @memory over, also where it fails. */
static struct err *own(struct findings *findings, void *memory)
{
	if (!memory)
		return err_nomem();
	struct err *err = vec_push(&findings->owned, memory);
	if (err)
		free(memory);
	return err;
}

static struct err *own_text(struct findings *findings, struct str *text,
			    const char **ret)
{
	char *taken = str_take(text);
	TRY(own(findings, taken));
	*ret = taken;
	return NULL;
}

/* A word for the shell, as it is where that is safe. */
static struct err *append_word(struct str *str, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=./:,@%";
	if (*word && word[strspn(word, safe)] == '\0')
		return str_append(str, word);
	TRY(str_append(str, "'"));
	for (const char *c = word; *c; c++)
		TRY(*c == '\'' ? str_append(str, "'\\''")
			       : str_append_n(str, c, 1));
	return str_append(str, "'");
}

/* A name as a pattern that matches nothing else. */
static struct err *append_pattern(struct str *str, const char *name)
{
	_cleanup_(str_freep) struct str pattern = STR_INIT;
	for (const char *c = name; *c; c++) {
		if (strchr("*?[]\\!", *c))
			TRY(str_append(&pattern, "\\"));
		TRY(str_append_n(&pattern, c, 1));
	}
	return append_word(str, pattern.s ? pattern.s : "");
}

static struct err *replay(struct findings *findings,
			  const struct findings_context *context,
			  const char *command, const char *test,
			  const char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "polygraph %s --tests ", command));
	TRY(append_pattern(&text, test));
	for (size_t i = 0; context->command[i]; i++) {
		TRY(str_append(&text,
			       i || context->suite_option ? " " : " -- "));
		TRY(append_word(&text, context->command[i]));
	}
	return own_text(findings, &text, ret);
}

/* The same defect has the same id in every run. */
static struct err *make_id(struct findings *findings, const char *kind,
			   enum change_where where, const char *test,
			   const char *root, const char **ret)
{
	XXH64_hash_t hash = XXH64(kind, strlen(kind) + 1, where);
	hash = XXH64(test, strlen(test) + 1, hash);
	hash = XXH64(root, strlen(root) + 1, hash);
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "%s-%012llx", kind,
			(unsigned long long)(hash & 0xffffffffffffULL)));
	return own_text(findings, &text, ret);
}

static struct err *message(struct findings *findings, const char *test,
			   const struct pollution_finding *finding,
			   const char **ret)
{
	const struct change_path *path = &finding->change.paths[0];
	_cleanup_(str_freep) struct str text = STR_INIT;
	const char *const parts[] = { test,	    " leaves ",
				      path->path,   " changed from ",
				      path->before, " to ",
				      path->after };
	/* Names are the program's own: one line all the same. */
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(str_append_escaped(&text, parts[i], strlen(parts[i])));
	if (finding->effect == EFFECT_ACCUMULATES)
		TRY(str_append(&text, ", again each time it runs"));
	if (finding->lazy)
		TRY(str_append(&text, "; so would the tests that read it"));
	else if (finding->readers.n)
		TRY(str_appendf(&text, ", and %zu other test%s read%s it",
				finding->readers.n,
				finding->readers.n == 1 ? "" : "s",
				finding->readers.n == 1 ? "s" : ""));
	return own_text(findings, &text, ret);
}

static struct err *add_stack(struct findings *findings,
			     const struct change_path *path,
			     struct report_path *ret)
{
	if (!path->n_stack)
		return NULL;
	struct report_frame *frames = calloc(path->n_stack, sizeof(*frames));
	TRY(own(findings, frames));
	for (size_t i = 0; i < path->n_stack; i++)
		frames[i] = (struct report_frame){ path->stack[i].function,
						   path->stack[i].file,
						   path->stack[i].line };
	ret->stack = frames;
	ret->n_stack = path->n_stack;
	return NULL;
}

static struct err *add_paths(struct findings *findings,
			     const struct change *change,
			     struct report_finding *ret)
{
	struct report_path *paths = calloc(change->n + 1, sizeof(*paths));
	TRY(own(findings, paths));
	for (size_t i = 0; i < change->n; i++) {
		const struct change_path *path = &change->paths[i];
		paths[i] = (struct report_path){ .path = path->path,
						 .before = path->before,
						 .after = path->after };
		TRY(add_stack(findings, path, &paths[i]));
	}
	ret->paths = paths;
	ret->n_paths = change->n;
	ret->more_paths = change->more;
	return NULL;
}

static struct err *add_readers(struct findings *findings,
			       const struct findings_context *context,
			       const struct pollution_finding *finding,
			       struct report_finding *ret)
{
	const char **names = calloc(finding->readers.n + 1, sizeof(*names));
	TRY(own(findings, names));
	for (size_t i = 0; i < finding->readers.n; i++)
		names[i] = suite_test(context->suite, finding->readers.data[i])
				   ->name;
	ret->readers = names;
	ret->n_readers = finding->readers.n;
	return NULL;
}

static struct err *add_pollution(struct findings *findings,
				 const struct findings_context *context,
				 const struct pollution_finding *finding)
{
	static const char *const wheres[] = { "memory", "file", "process" };
	const struct change *change = &finding->change;
	const char *test = suite_test(context->suite, finding->test)->name;
	struct report_finding record = {
		.kind = "pollution",
		.test = test,
		.severity = pollution_severity_name(finding->severity),
		.where = wheres[change->where],
		.root = change->root,
		.file = change->file,
		.line = change->line,
		.effect = pollution_effect_name(finding->effect),
		.detail = change->detail,
	};
	TRY(make_id(findings, "pollution", change->where, test, change->root,
		    &record.id));
	TRY(message(findings, test, finding, &record.message));
	TRY(replay(findings, context, "pollution", test, &record.replay));
	TRY(add_paths(findings, change, &record));
	TRY(add_readers(findings, context, finding, &record));
	record.known = baseline_knows(context->baseline, record.id);
	return vec_push(&findings->all, record);
}

struct err *findings_of_pollution(struct findings *findings,
				  const struct findings_context *context,
				  const struct pollution *pollution)
{
	for (size_t i = 0; i < pollution->findings.n; i++) {
		if (pollution->findings.data[i].change.n)
			TRY(add_pollution(findings, context,
					  &pollution->findings.data[i]));
	}
	for (size_t i = 0; i < pollution->firsts.n; i++) {
		const struct pollution_first *first =
			&pollution->firsts.data[i];
		struct report_first record = {
			suite_test(context->suite, first->test)->name,
			first->root,
		};
		TRY(vec_push(&findings->firsts, record));
	}
	return NULL;
}
