#include "report/block.h"

#include <string.h>

#include "base/strv.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/width.h"

/* Names in a line that is about something else. */
#define NAMES_MAX 2
/* Columns of a name that is cut. */
#define NAME_MIN 16
/* Of a message: more is not looked at. */
#define MESSAGE_LINES_MAX 64

const struct finding *block_lead(const struct cause *cause)
{
	for (size_t i = 0; i < cause->findings.n; i++) {
		if (!cause->findings.data[i]->known)
			return cause->findings.data[i];
	}
	return cause->findings.data[0];
}

/* Cut where it is wider than @columns. */
static struct err *append_cut(struct str *str, const char *text, size_t columns)
{
	if (width_of(text) <= columns)
		return str_append(str, text);
	TRY(str_append_n(str, text, width_fit(text, columns - 1)));
	return str_append(str, "…");
}

/* How long are the names of packages before a class that begins at @text? */
static size_t packages_length(const char *text)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
	static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	size_t n = 0, packages = 0, part;
	while (*text && strchr(lower, text[n]) && text[n] &&
	       text[n + (part = strspn(text + n, rest))] == '.') {
		n += part + 1;
		packages++;
	}
	return packages > 1 && text[n] >= 'A' && text[n] <= 'Z' ? n : 0;
}

/*
 * "org.example.shop.CartTest.adds" as "CartTest.adds" where all does not fit into
 * @columns: cut at its end, it would lack what it is about.
 */
static void shorten_names(struct str *text, size_t columns)
{
	bool inside = false; /* of a word */
	char *to = text->s;
	if (!text->n || width_of(text->s) <= columns)
		return;
	for (const char *at = text->s; *at; at++) {
		if (!inside)
			at += packages_length(at);
		inside = !strchr(" ,[(\"", *at);
		*to++ = *at;
	}
	*to = '\0';
	text->n = (size_t)(to - text->s);
}

/* Where a sentence ends that has room in @columns: after a word, if there is one. */
static size_t fit_words(const char *text, size_t columns)
{
	size_t n = width_fit(text, columns), end = n;
	if (!text[n] || text[n] == ' ')
		return n;
	while (end && text[end - 1] != ' ')
		end--;
	while (end && text[end - 1] == ' ')
		end--;
	/* Of a long word that would leave little, a part. */
	return end > n / 2 ? end : n;
}

/* The last ", " in the first @n bytes that is not part of a value; 0: none. */
static size_t find_last_clause(const char *text, size_t n)
{
	size_t found = 0, depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"' && (!i || text[i - 1] != '\\'))
			quoted = !quoted;
		else if (!quoted && text[i] == '{')
			depth++;
		else if (!quoted && text[i] == '}' && depth)
			depth--;
		else if (!quoted && !depth && !strncmp(text + i, ", ", 2))
			found = i;
	}
	return found;
}

/* A sentence: cut before its last clause, or else between words. */
static struct err *append_sentence(struct str *str, const char *text,
				   size_t columns)
{
	if (width_of(text) <= columns)
		return str_append(str, text);
	size_t clause = find_last_clause(text, width_fit(text, columns) + 1);
	if (clause > columns / 2)
		return str_append_n(str, text, clause);
	/* A long word is a name: its beginning says more than nothing. */
	size_t room = width_fit(text, columns - 1);
	size_t n = fit_words(text, columns - 1);
	return str_appendf(str, "%.*s…", (int)(room - n > NAME_MIN ? room : n),
			   text);
}

/* ---- the assertion's message ---- */

static size_t count_indent(const char *line)
{
	return strspn(line, " \t");
}

/* Lines as they are, harmless, without empty ones and trailing blanks. */
static struct err *split_message(const char *message, struct strv *ret)
{
	while (*message && ret->n < MESSAGE_LINES_MAX) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		size_t n = strcspn(message, "\n"), shown = n;
		while (shown && strchr(" \t\r", message[shown - 1]))
			shown--;
		for (size_t i = 0; i < shown; i++) {
			if (message[i] != '\t')
				break;
			TRY(str_append(&line, "  "));
		}
		size_t tabs = strspn(message, "\t");
		if (shown > tabs)
			TRY(str_append_escaped(&line, message + tabs,
					       shown - tabs));
		if (shown > tabs)
			TRY(strv_take(ret, str_take(&line)));
		message += n + (message[n] == '\n');
	}
	return NULL;
}

static void drop_line(struct strv *lines, size_t at)
{
	free(lines->data[at]);
	memmove(&lines->data[at], &lines->data[at + 1],
		(lines->n - at) * sizeof(*lines->data));
	lines->n--;
}

/* The last line that is deeper than the one above goes to its end. */
static struct err *join_deepest(struct strv *lines, bool *ret)
{
	*ret = false;
	for (size_t i = lines->n; i-- > 1;) {
		_cleanup_(str_freep) struct str joined = STR_INIT;
		const char *line = lines->data[i];
		if (count_indent(line) <= count_indent(lines->data[i - 1]))
			continue;
		TRY(str_append(&joined, lines->data[i - 1]));
		TRY(str_append(&joined, "  "));
		TRY(str_append(&joined, line + count_indent(line)));
		char *text = str_take(&joined);
		if (!text)
			return err_nomem();
		free(lines->data[i - 1]);
		lines->data[i - 1] = text;
		drop_line(lines, i);
		*ret = true;
		return NULL;
	}
	return NULL;
}

static struct err *fold_message(struct strv *lines, size_t max)
{
	bool joined = true;
	if (lines->n > max && lines->n > 1 && str_ends(lines->data[0], ":"))
		drop_line(lines, 0);
	bool many = lines->n > max;
	while (many && joined)
		TRY(join_deepest(lines, &joined));
	if (lines->n <= max)
		return NULL;
	while (lines->n > max)
		drop_line(lines, lines->n - 1);
	_cleanup_(str_freep) struct str last = STR_INIT;
	if (!max)
		return NULL;
	TRY(str_append(&last, lines->data[max - 1]));
	TRY(str_append(&last, " …"));
	char *text = str_take(&last);
	if (!text)
		return err_nomem();
	free(lines->data[max - 1]);
	lines->data[max - 1] = text;
	return NULL;
}

struct err *block_append_message(struct str *str, const char *place,
				 const char *message, const char *indent,
				 size_t max)
{
	_cleanup_(strv_freep) struct strv lines = {};
	size_t columns = BLOCK_COLUMNS - MIN(width_of(indent), (size_t)40);
	TRY(split_message(message ? message : "", &lines));
	TRY(fold_message(&lines, max));
	if (!lines.n && *place && max) {
		TRY(str_append(str, indent));
		TRY(append_cut(str, place, columns));
		return str_append(str, "\n");
	}
	for (size_t i = 0; i < lines.n; i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		const char *text = lines.data[i];
		TRY(str_append(&line, i ? "" : place));
		TRY(str_append(&line, !i && *place ? ": " : ""));
		TRY(str_append(&line, i ? text : text + count_indent(text)));
		TRY(str_append(str, indent));
		TRY(append_cut(str, line.s, columns));
		TRY(str_append(str, "\n"));
	}
	return NULL;
}

/* ---- the parts of a block ---- */

/*
 * All that a block says of its finding is taken from its JSON: so it is the same
 * in the run that found it and in one that shows it again.
 */
static const char *block_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* The sentence is cut before the id is. */
static struct err *append_block_head(const struct finding *finding,
				     const json_t *object,
				     const struct report_style *style,
				     struct str *str)
{
	_cleanup_(str_freep) struct str head = STR_INIT;
	const char *severity = finding_severity_name(finding->severity);
	const char *known = finding->known ? " known" : "";
	const char *headline = block_text(object, "headline");
	size_t used = strlen(INDENT) + strlen("  []") + strlen(known) +
		      width_of(finding->id);
	TRY(words_append(&head, *headline ? headline : finding->message));
	shorten_names(&head, BLOCK_COLUMNS - used);
	TRY(str_appendf(str, "%s%-7s%s ",
			style->color ? kind_color_of(finding->severity) : "",
			severity, style->color ? RESET : ""));
	TRY(append_sentence(str, head.s ? head.s : "", BLOCK_COLUMNS - used));
	return str_appendf(str, "  %s[%s]%s%s\n", style->color ? DIM : "",
			   finding->id, known, style->color ? RESET : "");
}

static struct err *append_named_tests(struct str *line, const char *what,
				      const struct roster *roster,
				      const struct cause_tests *tests,
				      const char *const *told, size_t n_told)
{
	_cleanup_(cause_tests_freep) struct cause_tests shown = {};
	for (size_t i = 0; i < tests->n; i++) {
		const char *raw = roster_name(roster, tests->data[i]);
		_cleanup_(freep) char *name = str_utf8(raw, strlen(raw));
		bool is_told = false;
		if (!name)
			return err_nomem();
		for (size_t j = 0; j < n_told; j++)
			is_told |= !strcmp(name, told[j]);
		if (!is_told)
			TRY(vec_push(&shown, tests->data[i]));
	}
	if (!shown.n)
		return NULL;
	TRY(str_append(line, line->n ? " · " : ""));
	TRY(str_append(line, what));
	return words_append_tests(line, roster, shown.data, shown.n, NAMES_MAX);
}

/* "also misled: B · also left by: C · could mislead: D, E and 3 more" */
static struct err *append_other_tests(const struct cause *cause,
				      const struct report *report,
				      const json_t *object, struct str *line)
{
	bool brittle = !strcmp(block_text(object, "class"), "brittle");
	const json_t *order = json_object_get(
		object, brittle ? "passing_order" : "failing_order");
	size_t n = json_array_size(order);
	const char *before =
		n > 1 ? json_string_value(json_array_get(order, n - 2)) : NULL;
	/* Those that its head names. */
	const char *const told[] = {
		block_text(object, "test"),
		block_text(json_object_get(object, "left"), "test"),
		before ? before : "",
	};
	if (!report->roster)
		return NULL;
	TRY(append_named_tests(line, "also misled: ", report->roster,
			       &cause->misled, told, 1));
	TRY(append_named_tests(
		line, brittle ? "also set by: " : "also left by: ",
		report->roster, &cause->leave, told, ARRAY_SIZE(told)));
	bool passes = json_is_true(json_object_get(object, "readers_pass"));
	bool lazy = json_is_true(json_object_get(object, "lazy"));
	return append_named_tests(line,
				  passes ? "passes after it: "
				  : lazy ? "read by: "
					 : "could mislead: ",
				  report->roster, &cause->could, told,
				  ARRAY_SIZE(told));
}

static struct err *append_line(struct str *str, size_t *lines, struct str *line)
{
	if (!line->n)
		return NULL;
	++*lines;
	shorten_names(line, BLOCK_COLUMNS - strlen(INDENT));
	TRY(str_append(str, INDENT));
	TRY(append_cut(str, line->s, BLOCK_COLUMNS - strlen(INDENT)));
	return str_append(str, "\n");
}

/* " (in TEST)" at the end of a hint says nothing new after "TEST leaves …". */
static size_t hint_length(const char *hint, const char *reason)
{
	size_t n = strlen(hint);
	const char *in = strstr(hint, " (in ");
	while (in && strstr(in + 1, " (in "))
		in = strstr(in + 1, " (in ");
	if (!in || hint[n - 1] != ')')
		return n;
	const char *name = in + strlen(" (in ");
	size_t name_n = (size_t)(hint + n - 1 - name);
	return !strncmp(reason, name, name_n) && reason[name_n] == ' '
		       ? (size_t)(in - hint)
		       : n;
}

/* On two lines at most. */
static struct err *append_hint(struct str *str, size_t *lines, const char *hint,
			       const char *reason)
{
	static const char label[] = "fix: ";
	_cleanup_(str_freep) struct str text = STR_INIT;
	size_t columns = BLOCK_COLUMNS - strlen(INDENT) - strlen(label);
	TRY(str_append_escaped(&text, hint, hint_length(hint, reason)));
	if (!text.n)
		return NULL;
	shorten_names(&text, columns);
	size_t first = width_of(text.s) > columns ? fit_words(text.s, columns)
						  : text.n;
	const char *rest = text.s + first + strspn(text.s + first, " ");
	TRY(str_append(str, INDENT));
	TRY(str_append(str, label));
	TRY(str_append_n(str, text.s, first));
	TRY(str_append(str, "\n"));
	++*lines;
	if (!*rest)
		return NULL;
	++*lines;
	TRY(str_appendf(str, INDENT "%*s", (int)strlen(label), ""));
	TRY(append_sentence(str, rest, columns));
	return str_append(str, "\n");
}

/* After the message: through what, who else, and what to do. */
static struct err *append_tail(const struct cause *cause,
			       const struct report *report,
			       const json_t *object, struct str *str,
			       size_t *lines)
{
	_cleanup_(str_freep) struct str about = STR_INIT;
	_cleanup_(str_freep) struct str others = STR_INIT;
	const char *reason = block_text(object, "reason");
	TRY(words_append(&about, reason));
	if (json_is_true(json_object_get(object, "earlier"))) {
		TRY(str_append(&about, about.n ? "; " : ""));
		TRY(str_append(&about, "found by an earlier run, not tried "
				       "again"));
	}
	TRY(append_line(str, lines, &about));
	TRY(append_other_tests(cause, report, object, &others));
	TRY(append_line(str, lines, &others));
	return append_hint(str, lines, block_text(object, "hint"), reason);
}

struct err *block_write(const struct cause *cause, const struct report *report,
			const struct report_style *style, FILE *out)
{
	const struct finding *lead = block_lead(cause);
	_cleanup_(value_freep) json_t *object = NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(str_freep) struct str tail = STR_INIT;
	size_t lines = 1;
	TRY(report_finding_json(lead, &object));
	const json_t *failure = json_object_get(object, "failure");
	TRY(append_block_head(lead, object, style, &text));
	/* What nobody is misled by is told in a line. */
	bool brief = style->quiet ||
		     (lead->severity == FINDING_LOW && !cause->misled.n);
	if (!brief)
		TRY(append_tail(cause, report, object, &tail, &lines));
	if (!brief && json_is_object(failure)) {
		_cleanup_(str_freep) struct str place = STR_INIT;
		const char *file = block_text(failure, "file");
		json_int_t line =
			json_integer_value(json_object_get(failure, "line"));
		if (*file)
			TRY(words_append_place(&place, file,
					       line > 0 ? (unsigned)line : 0));
		TRY(block_append_message(&text, place.s ? place.s : "",
					 block_text(failure, "message"), INDENT,
					 BLOCK_LINES - lines));
	}
	fprintf(out, "%s%s", text.s, tail.s ? tail.s : "");
	return NULL;
}
