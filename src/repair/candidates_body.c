/* Candidates out of tests that clean up, and out of fixtures. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "repair/candidates.h"

/* Of so many statements every run is tried; of more, those of two. */
#define RUNS_OF 14
#define BODY_SCORE 14

void trial_body_free(struct trial_body *body)
{
	strv_free(&body->statements);
	strv_free(&body->names);
	vec_free(&body->parts);
	vec_free(&body->asserted);
}

/* Is it an assertion of some framework, of which only the calls count? */
static bool is_assertion(const char *statement)
{
	static const char *const names[] = { "assert",	     "ck_assert",
					     "g_assert",     "fail_",
					     "munit_assert", "cr_",
					     "cl_" };
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_starts(statement, names[i]))
			return true;
	}
	while (isupper((unsigned char)statement[n]) || statement[n] == '_' ||
	       isdigit((unsigned char)statement[n]))
		n++;
	return n > 2 && statement[n] == '(';
}

/* A statement as it may stand elsewhere; "" if nothing of it may. */
static struct err *statement_code(const struct source_file *source,
				  struct source_span span, char **ret,
				  bool *ret_asserted)
{
	_cleanup_(freep) char *flat = source_flat(source, span);
	_cleanup_(strv_freep) struct strv calls = {};
	_cleanup_(str_freep) struct str code = STR_INIT;
	if (!flat)
		return err_nomem();
	if (str_starts(flat, "return")) {
		*ret = strdup("");
		return *ret ? NULL : err_nomem();
	}
	*ret_asserted = is_assertion(flat);
	if (!*ret_asserted) {
		*ret = take_ptr(flat);
		return NULL;
	}
	TRY(source_inner_calls(source, span, &calls));
	for (size_t i = 0; i < calls.n; i++)
		TRY(str_appendf(&code, "%s%s;", i ? " " : "", calls.data[i]));
	*ret = str_take(&code);
	return *ret ? NULL : err_nomem();
}

/* "int *a = 1, b[2];": words in front of what ends a declarator. */
static struct err *add_declared(const char *code, bool declares,
				struct strv *ret)
{
	_cleanup_(str_freep) struct str names = STR_INIT;
	int depth = 0;
	bool wanted = declares;
	for (size_t at = 0; declares && code[at]; at++) {
		char c = code[at];
		if (wanted && !depth && strchr("=;[({,", c)) {
			size_t end = at;
			while (end && !source_is_word(code[end - 1]))
				end--;
			size_t from = end;
			while (from && source_is_word(code[from - 1]))
				from--;
			TRY(str_appendf(&names, "%s%.*s", names.n ? " " : "",
					(int)(end - from), code + from));
			wanted = false;
		}
		depth += c == '(' || c == '{' || c == '[';
		depth -= c == ')' || c == '}' || c == ']';
		wanted |= c == ',' && !depth;
	}
	return strv_take(ret, names.n ? str_take(&names) : strdup(""));
}

/* Is one of @words a word of @code? */
static bool has_word(const char *code, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");
		for (const char *at = code;
		     n && (at = memmem(at, strlen(at), words, n)); at += n) {
			if ((at == code || !source_is_word(at[-1])) &&
			    !source_is_word(at[n]))
				return true;
		}
		words += n + strspn(words + n, " ");
	}
	return false;
}

/* ---- results that nobody looks at ---- */

/* "f(x);", "a->f(x, g(y));": one call and nothing else. */
static bool is_whole_call(const char *code)
{
	int depth = 0;
	const char *at = code;
	while (source_is_word(*at) || strchr(".:->", *at ? *at : '('))
		at++;
	if (at == code || *at != '(')
		return false;
	for (; *at; at++) {
		depth += *at == '(';
		depth -= *at == ')';
		if (!depth)
			return !strcmp(at, ");");
	}
	return false;
}

/* "int a = f();" or "a = f();": where f begins, if @name is what it sets. */
static const char *assigned_call(const char *code, const char *name,
				 bool declares)
{
	const char *sign = strstr(code, " = ");
	size_t n = strlen(name);
	if (!sign || (size_t)(sign - code) < n ||
	    strncmp(sign - n, name, n) != 0 ||
	    (declares ? sign - n == code : sign - n != code) ||
	    !is_whole_call(sign + 3) || has_word(sign + 3, name))
		return NULL;
	return sign + 3;
}

static bool is_read(const struct trial_body *body, size_t from,
		    const char *name)
{
	for (size_t i = from; i < body->statements.n; i++) {
		const char *code = body->statements.data[i];
		bool declares = has_word(body->names.data[i], name);
		if (has_word(code, name) && !(declares && !strchr(code, '=')) &&
		    !assigned_call(code, name, declares))
			return true;
	}
	return false;
}

/* Assertions looked at them: without these a compiler would warn. */
static void drop_results(struct trial_body *body, size_t from)
{
	for (size_t i = from; i < body->statements.n; i++) {
		const char *name = body->names.data[i];
		if (!*name || strchr(name, ' ') || is_read(body, from, name))
			continue;
		for (size_t j = from; j < body->statements.n; j++) {
			char *code = body->statements.data[j];
			const char *call = assigned_call(
				code, name,
				has_word(body->names.data[j], name));
			if (!call)
				continue;
			memmove(code, call, strlen(call) + 1);
			if (i == j)
				*body->names.data[j] = '\0';
		}
	}
}

struct err *trial_body_pin(const char *code, struct trial_body *ret)
{
	while (*code) {
		size_t n = strcspn(code, "\n");
		TRY(strv_take(&ret->statements, strndup(code, n)));
		TRY(strv_add(&ret->names, ""));
		TRY(vec_push(&ret->parts, 0));
		TRY(vec_push(&ret->asserted, false));
		ret->pinned++;
		code += n + (code[n] == '\n');
	}
	return NULL;
}

struct err *trial_body_read(const struct source_file *source,
			    struct source_span span, struct trial_body *ret)
{
	_cleanup_(source_spans_freep) struct source_spans spans = {};
	size_t first = ret->statements.n;
	size_t part = first ? ret->parts.data[first - 1] + 1 : 0;
	TRY(source_statements(source, span, &spans));
	for (size_t i = 0; i < spans.n; i++) {
		char *code = NULL;
		bool asserted = false;
		TRY(statement_code(source, spans.data[i], &code, &asserted));
		BUG_ON(!code);
		TRY(strv_take(&ret->statements, code));
		TRY(add_declared(code,
				 source_is_declaration(source, spans.data[i]),
				 &ret->names));
		TRY(vec_push(&ret->parts, part));
		TRY(vec_push(&ret->asserted, asserted));
	}
	drop_results(ret, first);
	return NULL;
}

/* From the last one on, since only what stands before can be needed. */
static void add_needed(const struct trial_body *body, bool *chosen)
{
	for (size_t i = body->statements.n; i-- > 0;) {
		if (!chosen[i])
			continue;
		for (size_t j = 0; j < i; j++)
			chosen[j] |=
				body->parts.data[j] == body->parts.data[i] &&
				has_word(body->statements.data[i],
					 body->names.data[j]);
	}
}

/* Does one of those that are chosen of this part declare something? */
static bool part_declares(const struct trial_body *body, const bool *chosen,
			  size_t part)
{
	for (size_t i = 0; i < body->statements.n; i++) {
		if (chosen[i] && body->parts.data[i] == part &&
		    *body->names.data[i])
			return true;
	}
	return false;
}

/* Names are not those of another part, or of where it is put: blocks do that. */
static struct err *write_statements(const struct trial_body *body,
				    const bool *chosen, struct str *ret,
				    unsigned *count)
{
	size_t n = body->statements.n;
	size_t last = n ? body->parts.data[n - 1] : 0;
	for (size_t part = 0; part <= last; part++) {
		bool block = part_declares(body, chosen, part);
		const char *step = block ? "\t" : "";
		if (block)
			TRY(str_appendf(ret, "%s{", ret->n ? "\n" : ""));
		for (size_t i = 0; i < n; i++) {
			if (!chosen[i] || body->parts.data[i] != part ||
			    !*body->statements.data[i])
				continue;
			++*count;
			TRY(str_appendf(ret, "%s%s%s", ret->n ? "\n" : "", step,
					body->statements.data[i]));
		}
		if (block)
			TRY(str_append(ret, "\n}"));
	}
	return NULL;
}

struct err *candidates_choose(const struct trial_body *body, const bool *chosen,
			      struct candidate_list *ret)
{
	_cleanup_(str_freep) struct str code = STR_INIT;
	struct repair_candidate candidate = {};
	_cleanup_(freep) bool *all = calloc(body->statements.n + 1, 1);
	if (!all)
		return err_nomem();
	memcpy(all, chosen, body->statements.n);
	memset(all, true, body->pinned);
	add_needed(body, all);
	TRY(write_statements(body, all, &code, &candidate.arguments));
	candidate.score = BODY_SCORE + candidate.arguments;
	candidate.code = code.n ? str_take(&code) : strdup("");
	struct err *err =
		candidate.code ? vec_push(ret, candidate) : err_nomem();
	if (err)
		free(candidate.code);
	return err;
}

struct err *candidates_from_body(const struct trial_body *body,
				 struct candidate_list *ret)
{
	size_t n = body->statements.n;
	size_t longest = n > RUNS_OF ? 2 : n;
	for (size_t length = 1; length <= longest; length++) {
		for (size_t from = 0; from + length <= n; from++) {
			_cleanup_(freep) bool *chosen = calloc(n, 1);
			bool any = false;
			if (!chosen)
				return err_nomem();
			memset(chosen + from, true, length);
			for (size_t i = from; i < from + length; i++)
				any |= *body->statements.data[i] != '\0';
			if (any)
				TRY(candidates_choose(body, chosen, ret));
		}
	}
	return NULL;
}
