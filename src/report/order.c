/* Tests that depend on the order. */
#include <string.h>

#include "finding/dependence.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"

/* Lists that a line names. */
#define LISTS_MAX 3

static size_t order_bound(const struct report_style *style, size_t max)
{
	return style->verbose ? VERBOSE_MAX : max;
}

/* ---- one finding ---- */

/* "A; [B, C] together; and 3 more" */
static struct err *append_lists(struct str *line, const char *what,
				const struct roster *roster,
				const struct order_lists *lists, bool complete,
				const struct report_style *style)
{
	size_t max = order_bound(style, LISTS_MAX);
	size_t shown = lists->n <= max + 1 ? lists->n : max;
	if (!lists->n)
		return NULL;
	TRY(str_appendf(line, "%s%s: ", line->n ? " · " : "", what));
	for (size_t i = 0; i < shown; i++) {
		const struct order_tests *tests = &lists->data[i];
		bool together = tests->n > 1;
		TRY(str_append(line, i ? "; " : ""));
		TRY(str_append(line, together ? "[" : ""));
		TRY(words_append_tests(
			line, roster, tests->data, tests->n,
			order_bound(style, DEPENDENCE_NAMES_MAX)));
		TRY(str_append(line, together ? "] together" : ""));
	}
	if (shown < lists->n)
		TRY(str_appendf(line, " and %zu more", lists->n - shown));
	return complete ? NULL : str_append(line, " (not all were tried)");
}

/* "T: victim: fails after A (passes alone)" */
static struct err *order_write_head(const struct finding *finding,
				    const struct report_style *style, FILE *out)
{
	const struct dependence *dependence = dependence_of(finding);
	const char *verb = words_verb(dependence->failure.outcome);
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	TRY(words_append(&line, finding_test(finding)));
	TRY(str_appendf(&line, ": %s%s: %s ",
			order_class_name(dependence->class),
			dependence->twice && dependence->class == ORDER_VICTIM
				? ", non-idempotent"
				: "",
			verb));
	TRY(dependence_append_way(&line, finding->tests, dependence, false));
	TRY(str_append(&remarks, "passes "));
	TRY(dependence_append_way(&remarks, finding->tests, dependence, true));
	if (dependence->class == ORDER_UNEXPLAINED)
		TRY(str_append(&remarks,
			       dependence->repeats
				       ? "; not explained"
				       : "; not explained, seen once"));
	if (dependence->natural && !dependence->failing_own)
		TRY(str_appendf(&remarks, "; %s in the suite's own order",
				verb));
	if (finding->known)
		TRY(str_append(&remarks, "; known"));
	kind_write_head(finding, &line, &remarks, style, out);
	return NULL;
}

/* "polluters: A; B · cleaners: C" */
static struct err *append_others(struct str *line,
				 const struct finding *finding,
				 const struct report_style *style)
{
	const struct dependence *dependence = dependence_of(finding);
	const struct roster *tests = finding->tests;
	if (dependence->class == ORDER_VICTIM) /* else it is itself */
		TRY(append_lists(line, "polluters", tests,
				 &dependence->polluters,
				 dependence->polluters_complete, style));
	TRY(append_lists(line, "setters", tests, &dependence->setters,
			 dependence->polluters_complete, style));
	return append_lists(line, "cleaners", tests, &dependence->cleaners,
			    dependence->cleaners_complete, style);
}

/* " (A leaves registry.head: NULL → {…})" */
static struct err *append_left(struct str *line, const struct finding *finding)
{
	const struct dependence *dependence = dependence_of(finding);
	if (!dependence->left.path)
		return NULL;
	const char *const parts[] = {
		roster_name(finding->tests, dependence->left.test),
		" leaves ",
		dependence->left.path,
		": ",
		dependence->left.before,
		" → ",
		dependence->left.after,
	};
	TRY(str_append(line, " ("));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(words_append(line, parts[i]));
	return str_append(line, ")");
}

static struct err *append_polluted(struct str *line,
				   const struct finding *finding,
				   const struct report_style *style)
{
	const struct dependence *dependence = dependence_of(finding);
	if (!dependence->polluted.n)
		return !dependence->roots_in_vain
			       ? NULL
			       : str_appendf(line,
					     "%s: restoring the compared "
					     "state does not change the "
					     "outcome",
					     dependence->class == ORDER_BRITTLE
						     ? "relies on"
						     : "polluted");
	TRY(dependence_append_polluted(
		line, dependence, order_bound(style, DEPENDENCE_NAMES_MAX)));
	return append_left(line, finding);
}

/* With --verbose: both orders, and what explains it. */
static struct err *order_write_more(const struct finding *finding, FILE *out)
{
	const struct dependence *dependence = dependence_of(finding);
	BUG_ON(!dependence);
	const struct order_tests *const orders[] = { &dependence->failing,
						     &dependence->passing };
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(str_append(&line,
			       i ? "passing order: " : "failing order: "));
		TRY(words_append_tests(&line, finding->tests, orders[i]->data,
				       orders[i]->n, VERBOSE_MAX));
		size_t times = MAX(dependence->repeats, (size_t)1);
		TRY(str_appendf(&line, " (%zu time%s)", times,
				times == 1 ? "" : "s"));
		kind_write_indented(&line, out);
	}
	_cleanup_(str_freep) struct str because = STR_INIT;
	if (!dependence->because.n)
		return NULL;
	TRY(str_append(&because, "because of: "));
	TRY(words_append_texts(&because,
			       (const char *const *)dependence->because.data,
			       dependence->because.n, VERBOSE_MAX));
	kind_write_indented(&because, out);
	return NULL;
}

static struct err *order_write_finding(const struct finding *finding,
				       const struct report_style *style,
				       FILE *out)
{
	const struct finding_failure *failure =
		&dependence_of(finding)->failure;
	TRY(order_write_head(finding, style, out));
	if (style->quiet)
		return NULL;
	_cleanup_(str_freep) struct str failed = STR_INIT;
	_cleanup_(str_freep) struct str others = STR_INIT;
	_cleanup_(str_freep) struct str polluted = STR_INIT;
	TRY(words_append_failure(&failed, failure->outcome, failure->file,
				 failure->line, failure->message));
	kind_write_indented(&failed, out);
	TRY(append_others(&others, finding, style));
	kind_write_indented(&others, out);
	TRY(append_polluted(&polluted, finding, style));
	kind_write_indented(&polluted, out);
	if (style->verbose)
		TRY(order_write_more(finding, out));
	TRY(kind_write_hint(finding, out));
	return kind_write_replay(finding, out);
}

/* ---- in a block ---- */

/* "T fails after A (passes alone)" */
static struct err *order_append_head(const struct finding *finding,
				     struct str *line)
{
	const struct dependence *dependence = dependence_of(finding);
	TRY(words_append(line, finding_test(finding)));
	TRY(str_appendf(line, " %s ", words_verb(dependence->failure.outcome)));
	TRY(dependence_append_way(line, finding->tests, dependence, false));
	TRY(str_append(line, ", passes "));
	return dependence_append_way(line, finding->tests, dependence, true);
}

/* "A leaves registry.count: 0 → 1" */
static struct err *order_append_about(const struct finding *finding,
				      struct str *line)
{
	const struct dependence *dependence = dependence_of(finding);
	if (!dependence->left.path)
		return dependence->polluted.n
			       ? dependence_append_polluted(
					 line, dependence, DEPENDENCE_NAMES_MAX)
			       : NULL;
	TRY(words_append(line,
			 roster_name(finding->tests, dependence->left.test)));
	TRY(str_append(line, dependence->class == ORDER_BRITTLE ? " sets "
								: " leaves "));
	TRY(words_append(line, dependence->left.path));
	TRY(str_append(line, ": "));
	TRY(words_append(line, dependence->left.before));
	TRY(str_append(line, " → "));
	return words_append(line, dependence->left.after);
}

static const struct finding_failure *
order_failure(const struct finding *finding)
{
	return &dependence_of(finding)->failure;
}

/* ---- the whole search ---- */

/* "2 tests depend on the order: 1 victim, 1 brittle" */
static void order_write_found(const struct report *report, FILE *out)
{
	size_t all = 0, of[ORDER_CLASSES] = {}, before = (size_t)-1;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		const struct dependence *dependence = dependence_of(finding);
		if (!dependence)
			continue;
		/* Those of one test stand together. */
		all += finding->test != before;
		before = finding->test;
		of[dependence->class]++;
	}
	if (!all) {
		fprintf(out, "no order-dependent test found%s\n",
			kind_this_time(report, &dependence_kind));
		return;
	}
	fprintf(out, "%zu test%s depend%s on the order:", all,
		all == 1 ? "" : "s", all == 1 ? "s" : "");
	const char *comma = "";
	for (size_t j = 0; j < ARRAY_SIZE(of); j++) {
		if (!of[j])
			continue;
		fprintf(out, "%s %zu %s%s", comma, of[j],
			order_class_name((enum order_class)j),
			!j && of[j] > 1 ? "s" : "");
		comma = ",";
	}
	fputc('\n', out);
}

/* "every test alone and twice; all tests in 21 orders, one of them reversed" */
static struct err *order_append_tried(struct str *line,
				      const struct order_reach *reach)
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
				reach->reversed ? ", including the reverse "
						  "order"
						: ""));
	}
	TRY(words_append_count(line, reach->executions));
	TRY(str_appendf(line, " test execution%s",
			reach->executions == 1 ? "" : "s"));
	if (reach->known) {
		TRY(str_append(line, ", and "));
		TRY(words_append_count(line, reach->known));
		TRY(str_append(line, " reused from earlier runs"));
	}
	return NULL;
}

/*
 * Is what all pairs say known, too? Who was never run alone may fail wherever it
 * stood, and what was seen last may not have been looked at.
 */
static bool is_proven(const struct order_reach *reach)
{
	return reach->alone &&
	       (!reach->why || (strcmp(reach->why, "budget") &&
				strcmp(reach->why, "interrupted")));
}

/* What is known of dependences on one test that ran before. */
static struct err *append_pairs(struct str *line,
				const struct order_reach *reach)
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
			TRY(str_append(line, ": no other test depends on a "
					     "single test before it"));
	} else {
		TRY(words_append_count(line, reach->pairs_tried));
		TRY(str_append(line, " of "));
		TRY(words_append_count(line, reach->pairs));
		TRY(str_append(line, " tried, one test right after the "
				     "other"));
	}
	if (reach->pairs_by_state) {
		TRY(str_append(line, "; in "));
		TRY(words_append_count(line, reach->pairs_by_state));
		TRY(str_append(line, " more, the first test leaves no "
				     "compared state changed"));
	}
	if (open) {
		TRY(str_append(line, "; "));
		TRY(words_append_count(line, open));
		TRY(str_append(line, " not tried"));
	} else if (reach->pairs_tried < reach->pairs) {
		TRY(str_append(line, "; none left"));
	}
	if (reach->rows_all && reach->rows) {
		TRY(str_append(line, "; covering orders: "));
		TRY(words_append_count(line, reach->rows));
		TRY(str_append(line, " of "));
		TRY(words_append_count(line, reach->rows_all));
	}
	return NULL;
}

static struct err *order_write_summary(const struct report *report,
				       const struct report_style *style,
				       FILE *out)
{
	const struct order_reach *reach = report->order;
	_cleanup_(str_freep) struct str tried = STR_INIT;
	_cleanup_(str_freep) struct str pairs = STR_INIT;
	if (!reach)
		return NULL;
	if (style->quiet)
		return NULL;
	order_write_found(report, out);
	TRY(order_append_tried(&tried, reach));
	fprintf(out, "%s\n", tried.s);
	TRY(append_pairs(&pairs, reach));
	if (pairs.n)
		fprintf(out, "%s\n", pairs.s);
	return NULL;
}

static bool order_explains_failure(const struct finding *finding)
{
	return dependence_of(finding)->natural;
}

/* ---- JSON ---- */

static json_t *make_lists(const struct roster *roster,
			  const struct order_lists *lists)
{
	json_t *all = json_array();
	for (size_t i = 0; i < lists->n; i++)
		value_append(&all, value_tests(roster, lists->data[i].data,
					       lists->data[i].n));
	return all;
}

/* By polluter, in their sequence. */
static json_t *make_cleaned(const struct finding *finding)
{
	const struct dependence *dependence = dependence_of(finding);
	json_t *all = json_array();
	for (size_t i = 0; i < dependence->cleaned.n; i++)
		value_append(&all, make_lists(finding->tests,
					      &dependence->cleaned.data[i]));
	return all;
}

static json_t *make_left(const struct finding *finding)
{
	const struct dependence *dependence = dependence_of(finding);
	if (!dependence->left.path)
		return json_null();
	return json_pack("{s:o, s:s, s:o, s:o, s:o}", "test",
			 value_test(finding->tests, dependence->left.test),
			 "where",
			 leftover_where_name(dependence->left.change.where),
			 "path", value_text(dependence->left.path), "before",
			 value_text(dependence->left.before), "after",
			 value_text(dependence->left.after));
}

static json_t *make_roots(const struct strv *texts)
{
	return value_texts((const char *const *)texts->data, texts->n);
}

static json_t *order_make_fields(const struct finding *finding)
{
	static const struct order_lists none;
	const struct dependence *dependence = dependence_of(finding);
	const struct finding_failure *failure = &dependence->failure;
	const struct roster *tests = finding->tests;
	bool victim = dependence->class == ORDER_VICTIM;
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:I, s:b, "
		"s:b, s:b, s:b, s:o, s:b, s:b, s:o, s:b}",
		"class", order_class_name(dependence->class), "because",
		make_roots(&dependence->because), "polluters",
		make_lists(tests, victim ? &dependence->polluters : &none),
		"setters", make_lists(tests, &dependence->setters), "cleaners",
		make_lists(tests, &dependence->cleaners), "passing_order",
		value_tests(tests, dependence->passing.data,
			    dependence->passing.n),
		"failing_order",
		value_tests(tests, dependence->failing.data,
			    dependence->failing.n),
		"polluted", make_roots(&dependence->polluted), "outcome",
		outcome_name(failure->outcome), "failure",
		value_failure(failure->file, failure->line, failure->message),
		"repeats", (json_int_t)dependence->repeats, "natural",
		(int)dependence->natural, "polluters_complete",
		(int)(!victim || dependence->polluters_complete),
		"setters_complete", (int)dependence->polluters_complete,
		"cleaners_complete", (int)dependence->cleaners_complete,
		"cleaners_by_polluter", make_cleaned(finding), "polluted_known",
		(int)dependence->roots_known, "polluted_together",
		(int)(dependence->polluted_together != 0), "left",
		make_left(finding), "non_idempotent", (int)dependence->twice);
}

/* A text a row: enum order_pair of the row's test before the column's. */
static json_t *make_matrix(const struct order_reach *reach)
{
	size_t n = reach->examined.n;
	if (!reach->matrix)
		return json_null();
	json_t *rows = json_array();
	for (size_t i = 0; i < n; i++)
		value_append(&rows, json_stringn(reach->matrix + i * n, n));
	return rows;
}

static json_t *make_executed(const struct report *report)
{
	const struct order_reach *reach = report->order;
	json_t *list = json_array();
	for (size_t i = 0; i < reach->executed.n; i++) {
		const struct order_executed *executed =
			&reach->executed.data[i];
		value_append(&list,
			     json_pack("{s:o, s:o}", "order",
				       value_tests(report->roster,
						   executed->order.data,
						   executed->order.n),
				       "differing",
				       value_tests(report->roster,
						   executed->differing.data,
						   executed->differing.n)));
	}
	return list;
}

static struct err *order_make_section(const struct report *report, json_t **ret)
{
	const struct order_reach *reach = report->order;
	if (!reach)
		return NULL;
	return value_made(
		json_pack("{s:s, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:I, s:I, "
			  "s:I, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:I}",
			  "strategy",
			  reach->systematic ? "systematic" : "random",
			  "executions", (json_int_t)reach->executions,
			  "until_last", (json_int_t)reach->until_last, "known",
			  (json_int_t)reach->known, "pairs", "all",
			  (json_int_t)reach->pairs, "tried",
			  (json_int_t)reach->pairs_tried, "by_state",
			  (json_int_t)reach->pairs_by_state, "orders",
			  (json_int_t)reach->orders, "rows",
			  (json_int_t)reach->rows, "rows_all",
			  (json_int_t)reach->rows_all, "alone",
			  (int)reach->alone, "twice", (int)reach->twice,
			  "reversed", (int)reach->reversed, "ended_by",
			  value_text(reach->why), "tests",
			  value_tests(report->roster, reach->examined.data,
				      reach->examined.n),
			  "matrix", make_matrix(reach), "executed",
			  make_executed(report), "executed_more",
			  (json_int_t)reach->executed_more),
		ret);
}

/* ---- JUnit ---- */

static struct err *order_append_detail(const struct finding *finding,
				       struct str *str)
{
	const char *message = dependence_of(finding)->failure.message;
	if (!message)
		return NULL;
	TRY(str_append(str, message));
	return str_append(str, "\n");
}

const struct report_kind report_order = {
	.kind = &dependence_kind,
	.help = "docs/order.md",
	.title = "Test depends on the order",
	.about = "The outcome of the test depends on which tests ran before it "
		 "in the same process. Restore the state that the other test "
		 "leaves, or set it up in this one, so that it passes alone, "
		 "after every other test and when it runs twice.",
	.append_head = order_append_head,
	.append_about = order_append_about,
	.failure = order_failure,
	.write_finding = order_write_finding,
	.write_summary = order_write_summary,
	.explains_failure = order_explains_failure,
	.make_fields = order_make_fields,
	.section = "order",
	.make_section = order_make_section,
	.append_detail = order_append_detail,
};
