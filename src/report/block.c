#include "report/block.h"

#include <string.h>

#include "base/strv.h"
#include "finding/dependence.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/width.h"

/* Names in a line that is about something else. */
#define NAMES_MAX 2
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

/* The sentence is cut before the id is. */
static struct err *append_block_head(const struct finding *finding,
				     const struct report_style *style,
				     struct str *str)
{
	const struct report_kind *kind = report_kind_of(finding);
	_cleanup_(str_freep) struct str head = STR_INIT;
	const char *severity = finding_severity_name(finding->severity);
	const char *known = finding->known ? " known" : "";
	size_t used = strlen(INDENT) + strlen("  []") + strlen(known) +
		      width_of(finding->id);
	if (finding->earlier || !kind->append_head)
		TRY(words_append(&head, finding->message));
	else
		TRY(kind->append_head(finding, &head));
	TRY(str_appendf(str, "%s%-7s%s ",
			style->color ? kind_color_of(finding->severity) : "",
			severity, style->color ? RESET : ""));
	TRY(append_cut(str, head.s ? head.s : "", BLOCK_COLUMNS - used));
	return str_appendf(str, "  %s[%s]%s%s\n", style->color ? DIM : "",
			   finding->id, known, style->color ? RESET : "");
}

static struct err *append_named_tests(struct str *line, const char *what,
				      const struct roster *roster,
				      const struct cause_tests *tests,
				      const size_t *without, size_t n_without)
{
	_cleanup_(cause_tests_freep) struct cause_tests shown = {};
	for (size_t i = 0; i < tests->n; i++) {
		bool left_out = false;
		for (size_t j = 0; j < n_without; j++)
			left_out |= tests->data[i] == without[j];
		if (!left_out)
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
				      const struct finding *lead,
				      struct str *line)
{
	const struct dependence *dependence = dependence_of(lead);
	const struct leftover *leftover = leftover_of(lead);
	bool brittle = dependence && dependence->class == ORDER_BRITTLE;
	const struct order_tests *order = !dependence ? NULL
					  : brittle   ? &dependence->passing
						      : &dependence->failing;
	/* Those that its head names. */
	size_t told[] = {
		lead->test,
		dependence && dependence->left.path ? dependence->left.test
						    : lead->test,
		order && order->n > 1 ? order->data[order->n - 2] : lead->test,
	};
	if (!report->roster)
		return NULL;
	TRY(append_named_tests(line, "also misled: ", report->roster,
			       &cause->misled, told, 1));
	if (!lead->earlier) /* of those it is not known who is named */
		TRY(append_named_tests(
			line, brittle ? "also set by: " : "also left by: ",
			report->roster, &cause->leave, told, ARRAY_SIZE(told)));
	return append_named_tests(
		line,
		leftover && leftover->proven ? "passes after it: "
		: leftover && leftover->lazy ? "read by: "
					     : "could mislead: ",
		report->roster, &cause->could, told, ARRAY_SIZE(told));
}

static struct err *append_line(struct str *str, size_t *lines,
			       const struct str *line)
{
	if (!line->n)
		return NULL;
	++*lines;
	TRY(str_append(str, INDENT));
	TRY(append_cut(str, line->s, BLOCK_COLUMNS - strlen(INDENT)));
	return str_append(str, "\n");
}

/* What JSON has of what is left; and that it was not tried again. */
static struct err *append_earlier(const struct finding *finding,
				  const struct report *report, struct str *line)
{
	_cleanup_(value_freep) json_t *object =
		json_loads(finding->earlier, 0, NULL);
	const json_t *left = json_object_get(object, "left");
	const char *const keys[] = { "test", "path", "before", "after" };
	const char *const between[] = { "", " leaves ", ": ", " → " };
	for (size_t i = 0; json_is_object(left) && i < ARRAY_SIZE(keys); i++) {
		const char *text =
			json_string_value(json_object_get(left, keys[i]));
		TRY(str_append(line, between[i]));
		TRY(words_append(line, text ? text : "?"));
	}
	if (report->reused)
		return NULL;
	return str_append(line, line->n ? "; found by an earlier run, not "
					  "tried again"
					: "found by an earlier run, not tried "
					  "again");
}

/* How it failed then; texts are those of *@ret_object. */
static struct finding_failure read_failure(const struct finding *finding,
					   json_t **ret_object)
{
	*ret_object = json_loads(finding->earlier, 0, NULL);
	const json_t *failure = json_object_get(*ret_object, "failure");
	json_int_t line = json_integer_value(json_object_get(failure, "line"));
	return (struct finding_failure){
		.message = (char *)json_string_value(
			json_object_get(failure, "message")),
		.file = (char *)json_string_value(
			json_object_get(failure, "file")),
		.line = line > 0 ? (unsigned)line : 0,
	};
}

/* After the message: through what, who else, and what to do. */
static struct err *append_tail(const struct cause *cause,
			       const struct report *report,
			       const struct finding *lead, struct str *str,
			       size_t *lines)
{
	const struct report_kind *kind = report_kind_of(lead);
	_cleanup_(str_freep) struct str about = STR_INIT;
	_cleanup_(str_freep) struct str others = STR_INIT;
	_cleanup_(str_freep) struct str hint = STR_INIT;
	if (lead->earlier)
		TRY(append_earlier(lead, report, &about));
	else if (kind->append_about)
		TRY(kind->append_about(lead, &about));
	TRY(append_line(str, lines, &about));
	TRY(append_other_tests(cause, report, lead, &others));
	TRY(append_line(str, lines, &others));
	if (lead->hint) {
		TRY(str_append(&hint, "fix: "));
		TRY(words_append(&hint, lead->hint));
	}
	return append_line(str, lines, &hint);
}

struct err *block_write(const struct cause *cause, const struct report *report,
			const struct report_style *style, FILE *out)
{
	const struct finding *lead = block_lead(cause);
	const struct report_kind *kind = report_kind_of(lead);
	const struct finding_failure *failure =
		kind->failure && !lead->earlier ? kind->failure(lead) : NULL;
	_cleanup_(value_freep) json_t *object = NULL;
	struct finding_failure then = {};
	if (lead->earlier) {
		then = read_failure(lead, &object);
		failure = then.file || then.message ? &then : NULL;
	}
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(str_freep) struct str tail = STR_INIT;
	size_t lines = 1;
	TRY(append_block_head(lead, style, &text));
	/* What nobody is misled by is told in a line. */
	bool brief = style->quiet ||
		     (lead->severity == FINDING_LOW && !cause->misled.n);
	if (!brief)
		TRY(append_tail(cause, report, lead, &tail, &lines));
	if (!brief && failure) {
		_cleanup_(str_freep) struct str place = STR_INIT;
		if (failure->file)
			TRY(words_append_place(&place, failure->file,
					       failure->line));
		TRY(block_append_message(&text, place.s ? place.s : "",
					 failure->message, INDENT,
					 BLOCK_LINES - lines));
	}
	fprintf(out, "%s%s", text.s, tail.s ? tail.s : "");
	return NULL;
}
