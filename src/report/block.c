#include "report/block.h"

#include <string.h>

#include "base/strv.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/width.h"

/* Tests that the head of a block names. */
#define TOLD 3
/* Names in a line that is about something else. */
#define NAMES_MAX 2
/* Narrower lines are hard to read. */
#define NARROWEST 40
/* Of a message: more is not looked at. */
#define MESSAGE_LINES_MAX 64
/* Only what nobody would read to its end is longer. */
#define LINE_COLUMNS_MAX 2000

const struct finding *block_lead(const struct cause *cause)
{
	for (size_t i = 0; i < cause->findings.n; i++) {
		if (!cause->findings.data[i]->known)
			return cause->findings.data[i];
	}
	return cause->findings.data[0];
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

static size_t columns_of(const struct report_style *style)
{
	return style->columns ? MAX(style->columns, (size_t)NARROWEST) : 0;
}

/* No line is as long as a hostile program likes. */
static struct err *append_wrapped(struct str *str, const char *text,
				  size_t indent,
				  const struct report_style *style)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	size_t n = width_fit(text, LINE_COLUMNS_MAX);
	TRY(str_append_n(&line, text, n));
	TRY(str_append(&line, text[n] ? "…" : ""));
	return width_append_wrapped(str, line.s, strlen(INDENT),
				    strlen(INDENT) + indent, columns_of(style));
}

/* A line of a block, after the indent of all of them. */
static struct err *append_line(struct str *str, const char *text, size_t indent,
			       const struct report_style *style)
{
	TRY(str_append(str, INDENT));
	TRY(append_wrapped(str, text, indent, style));
	return str_append(str, "\n");
}

/* The lines of an assertion's message after @place ("x.c:12"). */
static struct err *append_assertion_lines(struct str *str, const char *place,
					  const char *message,
					  const struct report_style *style)
{
	_cleanup_(strv_freep) struct strv lines = {};
	TRY(split_message(message, &lines));
	TRY(fold_message(&lines, style->columns ? BLOCK_MESSAGE_LINES
						: MESSAGE_LINES_MAX));
	if (!lines.n && *place)
		return append_line(str, place, 0, style);
	for (size_t i = 0; i < lines.n; i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		const char *text = lines.data[i];
		size_t indent = count_indent(text);
		TRY(str_append(&line, i ? "" : place));
		TRY(str_append(&line, !i && *place ? ": " : ""));
		TRY(str_append(&line, i ? text : text + indent));
		TRY(append_line(str, line.s, i ? indent + 2 : 2, style));
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

/* "  [order-0123456789ab]", in a line of its own where there is no room for it. */
static struct err *append_id(struct str *str, const struct finding *finding,
			     size_t at, const struct report_style *style)
{
	const char *known = finding->known ? " known" : "";
	size_t width = strlen("  []") + width_of(finding->id) + strlen(known);
	bool fits = !style->columns || at + width <= columns_of(style);
	return str_appendf(str, "%s%s[%s]%s%s\n", fits ? "  " : "\n" INDENT,
			   style->color ? DIM : "", finding->id, known,
			   style->color ? RESET : "");
}

/* "high    T fails after A  [order-0123456789ab]" */
static struct err *append_block_head(const struct finding *finding,
				     const json_t *object,
				     const struct report_style *style,
				     struct str *str)
{
	_cleanup_(str_freep) struct str head = STR_INIT, lines = STR_INIT;
	const char *headline = block_text(object, "headline");
	TRY(words_append(&head, *headline ? headline : finding->message));
	TRY(append_wrapped(&lines, head.s ? head.s : "", 0, style));
	const char *last = strrchr(lines.s, '\n');
	size_t at =
		last ? width_of(last + 1) : strlen(INDENT) + width_of(lines.s);
	TRY(str_appendf(str, "%s%-7s%s %s",
			style->color ? kind_color_of(finding->severity) : "",
			finding_severity_name(finding->severity),
			style->color ? RESET : "", lines.s));
	return append_id(str, finding, at, style);
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

/*
 * The others that leave something in the same root: where the head names a part of
 * it, theirs may be another one.
 */
static bool shows_a_part(const struct cause *cause, const json_t *object)
{
	const json_t *left = json_object_get(object, "left");
	const char *path = block_text(left ? left : object, "path");
	return cause->type <= CAUSE_PROCESS && *path &&
	       strcmp(path, cause->name) != 0;
}

static struct err *append_leavers(const struct cause *cause,
				  const struct report *report,
				  const json_t *object,
				  const char *const told[TOLD],
				  struct str *line)
{
	bool brittle = !strcmp(block_text(object, "class"), "brittle");
	_cleanup_(str_freep) struct str what = STR_INIT;
	bool part = shows_a_part(cause, object);
	if (part)
		TRY(words_append(&what, cause->name));
	TRY(str_append(&what, part	? " is also changed by: "
			      : brittle ? "also set by: "
					: "also left by: "));
	return append_named_tests(line, what.s, report->roster, &cause->leave,
				  told, TOLD);
}

/* "also depends on it: B", or where what is shown is a part of it "on registry: B" */
static struct err *append_dependents(const struct cause *cause,
				     const struct report *report,
				     const json_t *object,
				     const char *const told[TOLD],
				     struct str *line)
{
	_cleanup_(str_freep) struct str what = STR_INIT;
	TRY(str_append(&what, "also depends on "));
	if (shows_a_part(cause, object))
		TRY(words_append(&what, cause->name));
	else
		TRY(str_append(&what, "it"));
	TRY(str_append(&what, ": "));
	return append_named_tests(line, what.s, report->roster, &cause->misled,
				  told, 1);
}

/* "also depends on it: B · also left by: C · could mislead: D, E and 3 more" */
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
	const char *const told[TOLD] = {
		block_text(object, "test"),
		block_text(json_object_get(object, "left"), "test"),
		before ? before : "",
	};
	if (!report->roster)
		return NULL;
	TRY(append_dependents(cause, report, object, told, line));
	TRY(append_leavers(cause, report, object, told, line));
	bool passes = json_is_true(json_object_get(object, "readers_pass"));
	bool lazy = json_is_true(json_object_get(object, "lazy"));
	return append_named_tests(line,
				  passes ? "passes after it: "
				  : lazy ? "read by: "
					 : "could mislead: ",
				  report->roster, &cause->could, told,
				  ARRAY_SIZE(told));
}

static struct err *append_hint(struct str *str, const char *hint,
			       const struct report_style *style)
{
	static const char label[] = "fix: ";
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (!*hint)
		return NULL;
	TRY(str_append(&text, label));
	TRY(words_append(&text, hint));
	return append_line(str, text.s, strlen(label), style);
}

/* After the message: through what, who else, and what to do. */
static struct err *append_tail(const struct cause *cause,
			       const struct report *report,
			       const json_t *object,
			       const struct report_style *style,
			       struct str *str)
{
	_cleanup_(str_freep) struct str about = STR_INIT;
	_cleanup_(str_freep) struct str others = STR_INIT;
	TRY(words_append(&about, block_text(object, "reason")));
	if (json_is_true(json_object_get(object, "earlier"))) {
		TRY(str_append(&about, about.n ? "; " : ""));
		TRY(str_append(&about, "found by an earlier run, not tried "
				       "again"));
	}
	if (about.n)
		TRY(append_line(str, about.s, 0, style));
	TRY(append_other_tests(cause, report, object, &others));
	if (others.n)
		TRY(append_line(str, others.s, 0, style));
	return append_hint(str, block_text(object, "hint"), style);
}

static struct err *append_assertion(struct str *str, const json_t *object,
				    const struct report_style *style)
{
	_cleanup_(str_freep) struct str place = STR_INIT;
	const json_t *failure = json_object_get(object, "failure");
	if (!json_is_object(failure))
		return NULL;
	const char *file = block_text(failure, "file");
	json_int_t line = json_integer_value(json_object_get(failure, "line"));
	if (*file)
		TRY(words_append_place(&place, file,
				       line > 0 ? (unsigned)line : 0));
	return append_assertion_lines(str, place.s ? place.s : "",
				      block_text(failure, "message"), style);
}

struct err *block_write(const struct cause *cause, const struct report *report,
			const struct report_style *style, FILE *out)
{
	const struct finding *lead = block_lead(cause);
	_cleanup_(value_freep) json_t *object = NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(report_finding_json(lead, &object));
	TRY(append_block_head(lead, object, style, &text));
	/* What nobody is misled by is told in a line. */
	if (!style->quiet &&
	    (lead->severity != FINDING_LOW || cause->misled.n)) {
		TRY(append_assertion(&text, object, style));
		TRY(append_tail(cause, report, object, style, &text));
	}
	fputs(text.s, out);
	return NULL;
}
