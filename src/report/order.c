#include "report/order.h"

#include <string.h>

#include "base/str.h"
#include "report/words.h"

#define RESET "\033[0m"
#define DIM "\033[2m"
#define INDENT "        "

/* What a line names: tests of a list, lists, roots; and with --verbose. */
#define TESTS_MAX 4
#define LISTS_MAX 3
#define VERBOSE_MAX 100
/* Tests that fail at random, by name. */
#define RANDOMS_MAX 10

static size_t bound(const struct report_style *style, size_t max)
{
	return style->verbose ? VERBOSE_MAX : max;
}

/* "A, B and 3 more"; one more is named rather than counted. */
static struct err *append_names(struct str *line,
				const struct report_names *names, size_t max)
{
	size_t shown = names->n <= max + 1 ? names->n : max;
	for (size_t i = 0; i < shown; i++) {
		if (i)
			TRY(str_append(line, ", "));
		TRY(words_append(line, names->data[i]));
	}
	if (shown < names->n)
		TRY(str_appendf(line, " and %zu more", names->n - shown));
	return NULL;
}

/* "A; [B, C] together; and 3 more" */
static struct err *append_lists(struct str *line, const char *what,
				const struct report_lists *lists,
				const struct report_style *style)
{
	size_t max = bound(style, LISTS_MAX);
	size_t shown = lists->n <= max + 1 ? lists->n : max;
	if (!lists->n)
		return NULL;
	TRY(str_appendf(line, "%s%s: ", line->n ? " · " : "", what));
	for (size_t i = 0; i < shown; i++) {
		const struct report_names *names = &lists->data[i];
		bool together = names->n > 1;
		TRY(str_append(line, i ? "; " : ""));
		TRY(str_append(line, together ? "[" : ""));
		TRY(append_names(line, names, bound(style, TESTS_MAX)));
		TRY(str_append(line, together ? "] together" : ""));
	}
	if (shown < lists->n)
		TRY(str_appendf(line, " and %zu more", lists->n - shown));
	if (lists->partial)
		TRY(str_append(line, " (not all were tried)"));
	return NULL;
}

/* The test itself is last: "alone", "after A, B". */
static struct err *append_order(struct str *line,
				const struct report_names *order)
{
	struct report_names before = *order;
	const char *test = order->n ? order->data[order->n - 1] : "";
	if (before.n)
		before.n--;
	if (!before.n)
		return str_append(line, "alone");
	if (before.n == 1 && !strcmp(before.data[0], test))
		return str_append(line, "when run a second time");
	TRY(str_append(line, "after "));
	return append_names(line, &before, TESTS_MAX);
}

/* "polluted: a, b", "polluted: [a, b] together", "relies on: a" */
static struct err *append_polluted(struct str *line,
				   const struct report_order *order, size_t max)
{
	bool together = order->polluted_together && order->polluted.n > 1;
	bool brittle = !strcmp(order->class, "brittle");
	TRY(str_append(line, brittle ? "relies on: " : "polluted: "));
	TRY(str_append(line, together ? "[" : ""));
	TRY(append_names(line, &order->polluted, max));
	return str_append(line, together ? "] together" : "");
}

struct err *order_append_message(struct str *str, const char *test,
				 const struct report_order *order)
{
	TRY(words_append(str, test));
	TRY(str_appendf(str, " %s ", words_verb(order->outcome)));
	TRY(append_order(str, &order->failing));
	TRY(str_append(str, " and passes "));
	TRY(append_order(str, &order->passing));
	if (!order->polluted.n)
		return NULL;
	TRY(str_append(str, "; "));
	return append_polluted(str, order, TESTS_MAX);
}

/* "T: victim: fails after A (passes alone)" */
static struct err *write_head(const struct report_finding *finding,
			      const char *color,
			      const struct report_style *style, FILE *out)
{
	const struct report_order *order = finding->order;
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(words_append(&line, finding->test));
	TRY(str_appendf(&line, ": %s: %s ", order->class,
			words_verb(order->outcome)));
	TRY(append_order(&line, &order->failing));
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	TRY(str_append(&remarks, "passes "));
	TRY(append_order(&remarks, &order->passing));
	if (order->natural)
		TRY(str_appendf(&remarks, "; %s in the suite's own order",
				words_verb(order->outcome)));
	if (finding->known)
		TRY(str_append(&remarks, "; known"));
	fprintf(out, "%s%-7s%s %s %s(%s)%s\n", style->color ? color : "",
		finding->severity, style->color ? RESET : "", line.s,
		style->color ? DIM : "", remarks.s, style->color ? RESET : "");
	return NULL;
}

/* " (A leaves registry.head: NULL → {…})" */
static struct err *append_left(struct str *line,
			       const struct report_order *order)
{
	if (!order->left.test)
		return NULL;
	const char *const parts[] = { order->left.test,	  " leaves ",
				      order->left.path,	  ": ",
				      order->left.before, " → ",
				      order->left.after };
	TRY(str_append(line, " ("));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(words_append(line, parts[i]));
	return str_append(line, ")");
}

static void write_indented(const struct str *line, FILE *out)
{
	if (line->n)
		fprintf(out, INDENT "%s\n", line->s);
}

static struct err *write_orders(const struct report_order *order, FILE *out)
{
	const struct report_names *const orders[] = { &order->failing,
						      &order->passing };
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(str_append(&line,
			       i ? "passing order: " : "failing order: "));
		TRY(append_names(&line, orders[i], VERBOSE_MAX));
		TRY(str_appendf(&line, " (%zu time%s)", order->repeats,
				order->repeats == 1 ? "" : "s"));
		write_indented(&line, out);
	}
	return NULL;
}

struct err *order_write(const struct report_finding *finding, const char *color,
			const struct report_style *style, FILE *out)
{
	const struct report_order *order = finding->order;
	TRY(write_head(finding, color, style, out));
	if (style->quiet)
		return NULL;
	_cleanup_(str_freep) struct str failure = STR_INIT;
	_cleanup_(str_freep) struct str others = STR_INIT;
	_cleanup_(str_freep) struct str polluted = STR_INIT;
	_cleanup_(str_freep) struct str again = STR_INIT;
	TRY(words_append_failure(&failure, order->outcome, order->file,
				 order->line, order->message));
	write_indented(&failure, out);
	if (strcmp(order->class, "non-idempotent") != 0) /* then it is itself */
		TRY(append_lists(&others, "polluters", &order->polluters,
				 style));
	TRY(append_lists(&others, "setters", &order->setters, style));
	TRY(append_lists(&others, "cleaners", &order->cleaners, style));
	write_indented(&others, out);
	if (order->polluted.n) {
		TRY(append_polluted(&polluted, order, bound(style, TESTS_MAX)));
		TRY(append_left(&polluted, order));
		write_indented(&polluted, out);
	} else if (order->roots_in_vain) {
		bool brittle = !strcmp(order->class, "brittle");
		TRY(str_appendf(&polluted,
				"%s: none of what is compared makes the "
				"difference",
				brittle ? "relies on" : "polluted"));
		write_indented(&polluted, out);
	}
	if (style->verbose)
		TRY(write_orders(order, out));
	TRY(str_append(&again, "again: "));
	TRY(words_append(&again, finding->replay));
	write_indented(&again, out);
	return NULL;
}

/* ---- the whole search ---- */

void order_write_summary(const struct report *report, FILE *out)
{
	static const char *const classes[] = { "victim", "brittle",
					       "non-idempotent" };
	size_t all = 0, of[ARRAY_SIZE(classes)] = {};
	const char *before = NULL;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		const struct report_order *order = finding->order;
		if (order) { /* those of one test stand together */
			all += !before || strcmp(before, finding->test) != 0;
			before = finding->test;
		}
		for (size_t j = 0; order && j < ARRAY_SIZE(classes); j++)
			of[j] += !strcmp(classes[j], order->class);
	}
	if (!all) {
		fputs("no test was seen to depend on the order\n", out);
		return;
	}
	fprintf(out, "%zu test%s depend%s on the order:", all,
		all == 1 ? "" : "s", all == 1 ? "s" : "");
	const char *comma = "";
	for (size_t j = 0; j < ARRAY_SIZE(classes); j++) {
		if (!of[j])
			continue;
		fprintf(out, "%s %zu %s%s", comma, of[j], classes[j],
			!j && of[j] > 1 ? "s" : "");
		comma = ",";
	}
	fputc('\n', out);
}

/* "every test alone and twice; all tests in 21 orders, one of them reversed" */
static struct err *append_tried(struct str *line,
				const struct report_reach *reach)
{
	TRY(str_append(line, "tried: "));
	if (reach->alone || reach->twice)
		TRY(str_appendf(line, "every test %s%s%s; ",
				reach->alone ? "alone" : "",
				reach->alone && reach->twice ? " and " : "",
				reach->twice ? "twice" : ""));
	if (reach->orders) {
		TRY(str_append(line, "the whole suite in "));
		TRY(words_append_count(line, reach->orders));
		TRY(str_appendf(line, " %s%s%s; ",
				reach->systematic ? "order" : "random order",
				reach->orders == 1 ? "" : "s",
				reach->reversed ? ", the reversed one included"
						: ""));
	}
	TRY(words_append_count(line, reach->executions));
	TRY(str_appendf(line, " test execution%s",
			reach->executions == 1 ? "" : "s"));
	if (reach->known) {
		TRY(str_append(line, ", and "));
		TRY(words_append_count(line, reach->known));
		TRY(str_append(line, " known from earlier calls"));
	}
	return NULL;
}

/*
 * Is what all pairs say known, too? Who was never run alone may fail wherever it
 * stood, and what was seen last may not have been looked at.
 */
static bool is_proven(const struct report_reach *reach)
{
	return reach->alone &&
	       (!reach->why || (strcmp(reach->why, "budget") &&
				strcmp(reach->why, "interrupted")));
}

/* What is known of dependences on one test that ran before. */
static struct err *append_pairs(struct str *line,
				const struct report_reach *reach)
{
	uint64_t done = reach->pairs_tried + reach->pairs_by_state;
	uint64_t open = reach->pairs - MIN(done, reach->pairs);
	if (!reach->pairs)
		return NULL;
	TRY(str_append(line, "pairs: "));
	if (reach->pairs_tried >= reach->pairs) {
		TRY(str_append(line, "all "));
		TRY(words_append_count(line, reach->pairs));
		TRY(str_append(line, " tried"));
		if (is_proven(reach))
			TRY(str_append(line, ": no other test depends on one "
					     "single test before it"));
	} else {
		TRY(words_append_count(line, reach->pairs_tried));
		TRY(str_append(line, " of "));
		TRY(words_append_count(line, reach->pairs));
		TRY(str_append(line, " tried, one test right after another"));
	}
	if (reach->pairs_by_state) {
		TRY(str_append(line, "; of "));
		TRY(words_append_count(line, reach->pairs_by_state));
		TRY(str_append(line, " more the first leaves nothing behind "
				     "that is compared"));
	}
	if (open) {
		TRY(str_append(line, "; "));
		TRY(words_append_count(line, open));
		TRY(str_append(line, " open"));
	} else if (reach->pairs_tried < reach->pairs) {
		TRY(str_append(line, "; none open"));
	}
	if (reach->rows_all && reach->rows) {
		TRY(str_append(line, "; covering orders: "));
		TRY(words_append_count(line, reach->rows));
		TRY(str_append(line, " of "));
		TRY(words_append_count(line, reach->rows_all));
	}
	return NULL;
}

struct err *order_write_reach(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	const struct report_reach *reach = report->reach;
	_cleanup_(str_freep) struct str tried = STR_INIT;
	_cleanup_(str_freep) struct str pairs = STR_INIT;
	_cleanup_(str_freep) struct str randoms = STR_INIT;
	TRY(words_append_randoms(
		&randoms, "fails at random, not order-dependent",
		reach->randoms, reach->n_randoms, bound(style, RANDOMS_MAX)));
	if (randoms.n)
		fprintf(out, "%s\n", randoms.s);
	if (style->quiet)
		return NULL;
	TRY(append_tried(&tried, reach));
	fprintf(out, "%s\n", tried.s);
	TRY(append_pairs(&pairs, reach));
	if (pairs.n)
		fprintf(out, "%s\n", pairs.s);
	return NULL;
}
