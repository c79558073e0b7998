/* Changes of a source file, in its own style, and as a unified diff. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "repair/source.h"

#define CONTEXT 3

void source_edit_free(struct source_edit *edit)
{
	strv_free(&edit->lines);
	*edit = (struct source_edit){};
}

/* Without its newline. */
static char *line_text(const struct source_file *source, size_t line)
{
	size_t from = source->lines.data[line];
	size_t to = line + 1 < source->lines.n ? source->lines.data[line + 1]
					       : source->n;
	if (to > from && source->text[to - 1] == '\n')
		to--;
	return strndup(source->text + from, to - from);
}

static bool has_carriage_return(const struct source_file *source)
{
	const char *end = strchr(source->text, '\n');
	return end && end > source->text && end[-1] == '\r';
}

/* How the file indents: of the first line that is indented. */
static size_t indent_of(const struct source_file *source, size_t at, char *out,
			size_t size)
{
	size_t line = source_line(source, at), n = 0;
	size_t from = source->lines.data[line];
	while (n + 1 < size && (source->text[from + n] == ' ' ||
				source->text[from + n] == '\t'))
		n++;
	memcpy(out, source->text + from, n);
	out[n] = '\0';
	return n;
}

/* Of the statements of this body. */
static void body_indent(const struct source_file *source,
			struct source_span body, char *out, size_t size)
{
	size_t at = body.from;
	while (at < body.to && isspace((unsigned char)source->text[at]))
		at++;
	if (at < body.to &&
	    source_line(source, at) != source_line(source, body.from)) {
		indent_of(source, at, out, size);
		return;
	}
	size_t n = indent_of(source, body.to, out, size - 8);
	snprintf(out + n, size - n, "%s",
		 strstr(source->text, "\n\t") ? "\t" : "    ");
}

/* A line of code that begins with a tab stands one step further in. */
static struct err *add_indented(const struct source_file *source,
				const char *indent, const struct strv *code,
				struct strv *ret)
{
	const char *end = has_carriage_return(source) ? "\r" : "";
	const char *step = strchr(indent, '\t')	 ? "\t"
			   : strlen(indent) <= 4 ? indent
						 : "    ";
	for (size_t i = 0; i < code->n; i++) {
		bool inner = *code->data[i] == '\t';
		TRY(strv_addf(ret, "%s%s%s%s", indent, inner ? step : "",
			      code->data[i] + inner, end));
	}
	return NULL;
}

/* The line of @at in two, with @code between them. */
static struct err *split_line(const struct source_file *source, size_t at,
			      const char *indent, const struct strv *code,
			      struct source_edit *ret)
{
	size_t line = source_line(source, at);
	_cleanup_(freep) char *whole = line_text(source, line);
	_cleanup_(str_freep) struct str joined = STR_INIT;
	size_t before = at - source->lines.data[line];
	(void)indent;
	if (!whole)
		return err_nomem();
	ret->at = line;
	ret->removed = 1;
	TRY(str_append_n(&joined, whole, before));
	for (size_t i = 0; i < code->n; i++)
		TRY(str_appendf(&joined, "%s%s",
				before && whole[before - 1] == ' ' && !i ? ""
									 : " ",
				code->data[i] + (*code->data[i] == '\t')));
	const char *rest = whole + before;
	TRY(str_appendf(&joined, "%s%s",
			*rest && !isspace((unsigned char)*rest) ? " " : "",
			rest));
	return strv_take(&ret->lines, str_take(&joined));
}

static bool rest_is_blank(const struct source_file *source, size_t at)
{
	while (at < source->n && source->plain[at] != '\n') {
		if (!isspace((unsigned char)source->plain[at]))
			return false;
		at++;
	}
	return true;
}

struct err *source_edit_begin(const struct source_file *source,
			      struct source_span body, bool after_declarations,
			      const struct strv *code, struct source_edit *ret)
{
	char indent[128];
	size_t at = body.from;
	body_indent(source, body, indent, sizeof(indent));
	if (after_declarations) {
		_cleanup_(source_spans_freep) struct source_spans all = {};
		TRY(source_statements(source, body, &all));
		for (size_t i = 0; i < all.n; i++) {
			if (!source_is_declaration(source, all.data[i]))
				break;
			at = all.data[i].to;
		}
	}
	if (!rest_is_blank(source, at))
		return split_line(source, at, indent, code, ret);
	ret->at = source_line(source, at) + 1;
	ret->removed = 0;
	return add_indented(source, indent, code, &ret->lines);
}

struct err *source_edit_end(const struct source_file *source,
			    struct source_span body, const struct strv *code,
			    struct source_edit *ret)
{
	char indent[128];
	size_t line = source_line(source, body.to);
	size_t from = source->lines.data[line];
	body_indent(source, body, indent, sizeof(indent));
	for (size_t at = from; at < body.to; at++) {
		if (!isspace((unsigned char)source->plain[at]))
			return split_line(source, body.to, indent, code, ret);
	}
	ret->at = line;
	ret->removed = 0;
	return add_indented(source, indent, code, &ret->lines);
}

struct err *source_edit_include(const struct source_file *source,
				const char *line, size_t before,
				struct source_edit *ret)
{
	const char *end = has_carriage_return(source) ? "\r" : "";
	bool quoted = strchr(line, '"');
	size_t best = 0, depth = 0;
	bool found = false, same = false;
	for (size_t i = 0;
	     i < source->lines.n && source->lines.data[i] < before; i++) {
		const char *at = source->plain + source->lines.data[i];
		at += strspn(at, " \t");
		if (*at != '#')
			continue;
		at += 1 + strspn(at + 1, " \t");
		if (str_starts(at, "if"))
			depth++;
		else if (str_starts(at, "endif"))
			depth -= depth > 0;
		else if (str_starts(at, "include") && (!depth || !found) &&
			 (!same || (strchr("\"", at[7 + strspn(at + 7, " ")]) !=
				    NULL) == quoted)) {
			bool kind = at[7 + strspn(at + 7, " \t")] == '"';
			best = i + 1;
			found = true;
			same |= kind == quoted;
		}
	}
	ret->at = best;
	ret->removed = 0;
	return strv_addf(&ret->lines, "%s%s", line, end);
}

static bool line_is_blank(const struct source_file *source, size_t line)
{
	size_t at = source->lines.data[line];
	while (at < source->n && source->text[at] != '\n') {
		if (!isspace((unsigned char)source->text[at]))
			return false;
		at++;
	}
	return true;
}

struct err *source_edit_declare(const struct source_file *source, size_t item,
				const struct strv *code,
				struct source_edit *ret)
{
	char indent[128];
	size_t line = source_line(source, item);
	indent_of(source, item, indent, sizeof(indent));
	/* The comment above it belongs to it; code does not. */
	while (line && !line_is_blank(source, line - 1) &&
	       source->plain[source->lines.data[line - 1]] != '#' &&
	       rest_is_blank(source, source->lines.data[line - 1]))
		line--;
	ret->at = line;
	ret->removed = 0;
	TRY(add_indented(source, indent, code, &ret->lines));
	return strv_add(&ret->lines, has_carriage_return(source) ? "\r" : "");
}

/* ---- applying ---- */

struct err *source_apply(const struct source_file *source,
			 const struct source_edit *edits, size_t n, char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	size_t next = 0;
	for (size_t line = 0; line <= source->lines.n; line++) {
		while (next < n && edits[next].at == line) {
			for (size_t i = 0; i < edits[next].lines.n; i++)
				TRY(str_appendf(&text, "%s\n",
						edits[next].lines.data[i]));
			line += edits[next++].removed;
		}
		if (line >= source->lines.n)
			break;
		size_t from = source->lines.data[line];
		size_t to = line + 1 < source->lines.n
				    ? source->lines.data[line + 1]
				    : source->n;
		TRY(str_append_n(&text, source->text + from, to - from));
	}
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

static struct err *diff_line(const struct source_file *source, size_t line,
			     char sign, struct str *diff)
{
	_cleanup_(freep) char *text = line_text(source, line);
	if (!text)
		return err_nomem();
	TRY(str_appendf(diff, "%c%s\n", sign, text));
	bool last = line + 1 == source->lines.n;
	return last && source->n && source->text[source->n - 1] != '\n'
		       ? str_append(diff, "\\ No newline at end of file\n")
		       : NULL;
}

/* Edits [first, last) in one hunk; @shift: lines added before. */
static struct err *diff_hunk(const struct source_file *source,
			     const struct source_edit *edits, size_t first,
			     size_t last, long shift, struct str *diff)
{
	size_t total = source->lines.n;
	size_t from = edits[first].at > CONTEXT ? edits[first].at - CONTEXT : 0;
	size_t to = MIN(edits[last - 1].at + edits[last - 1].removed + CONTEXT,
			total);
	size_t added = 0, removed = 0;
	for (size_t i = first; i < last; i++) {
		added += edits[i].lines.n;
		removed += edits[i].removed;
	}
	size_t n = to - from;
	TRY(str_appendf(diff, "@@ -%zu,%zu +%zu,%zu @@\n", from + (n > 0), n,
			(size_t)((long)from + shift) + 1, n + added - removed));
	size_t next = first;
	for (size_t line = from; line <= to; line++) {
		while (next < last && edits[next].at == line) {
			for (size_t i = 0; i < edits[next].removed; i++)
				TRY(diff_line(source, line + i, '-', diff));
			for (size_t i = 0; i < edits[next].lines.n; i++)
				TRY(str_appendf(diff, "+%s\n",
						edits[next].lines.data[i]));
			line += edits[next++].removed;
		}
		if (line < to)
			TRY(diff_line(source, line, ' ', diff));
	}
	return NULL;
}

struct err *source_diff(const struct source_file *source, const char *name,
			const struct source_edit *edits, size_t n, char **ret)
{
	_cleanup_(str_freep) struct str diff = STR_INIT;
	long shift = 0;
	TRY(str_appendf(&diff, "--- a/%s\n+++ b/%s\n", name, name));
	for (size_t first = 0; first < n;) {
		size_t last = first + 1;
		while (last < n &&
		       edits[last].at <= edits[last - 1].at +
						 edits[last - 1].removed +
						 2 * CONTEXT)
			last++;
		TRY(diff_hunk(source, edits, first, last, shift, &diff));
		for (; first < last; first++)
			shift += (long)edits[first].lines.n -
				 (long)edits[first].removed;
	}
	*ret = str_take(&diff);
	return *ret ? NULL : err_nomem();
}
