/* Tests that leave shared state changed. */
#include <string.h>

#include "base/map.h"
#include "finding/dependence.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"

/* Readers that a line names. */
#define READERS_MAX 2
/* Tests that are shown for one root, and one more rather than "1 more". */
#define ROOT_LINES 3

/* Are findings of this kind looked for by the command? */
static bool is_covered(const struct report *report)
{
	return !strcmp(report->kind, "pollution") ||
	       !strcmp(report->kind, "check");
}

/* ---- one finding ---- */

/* "; read by A, B and 3 more" */
static struct err *append_readers(struct str *line,
				  const struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	size_t n = leftover->readers.n;
	for (size_t i = 0; i < n && i < READERS_MAX; i++) {
		TRY(str_append(line, i == 0	  ? "; read by "
				     : i + 1 == n ? " and "
						  : ", "));
		TRY(words_append(line, roster_name(finding->tests,
						   leftover->readers.data[i])));
	}
	return n > READERS_MAX
		       ? str_appendf(line, " and %zu more", n - READERS_MAX)
		       : NULL;
}

/* "registry.head: NULL → {…}" */
static struct err *append_path(struct str *line, const struct change_path *path)
{
	TRY(words_append(line, path->path));
	TRY(str_append(line, ": "));
	TRY(words_append(line, path->before));
	TRY(str_append(line, " → "));
	return words_append(line, path->after);
}

static struct err *write_line(const struct finding *finding,
			      const struct report_style *style, FILE *out)
{
	const struct leftover *leftover = leftover_of(finding);
	const struct change *change = &leftover->change;
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	size_t more = change->n - 1 + change->more;
	TRY(words_append(&line, finding_test(finding)));
	TRY(str_append(&line, ": "));
	TRY(append_path(&line, &change->paths[0]));
	if (more)
		TRY(str_appendf(&line, " and %zu more place%s", more,
				more == 1 ? "" : "s"));
	TRY(str_append(&remarks,
		       leftover->effect == EFFECT_UNKNOWN
			       ? "effect unknown"
			       : leftover_effect_name(leftover->effect)));
	TRY(append_readers(&remarks, finding));
	if (finding->known)
		TRY(str_append(&remarks, "; known"));
	kind_write_head(finding, &line, &remarks, style, out);
	return NULL;
}

/* The path of which it is known where it was allocated; else the first. */
static const struct change_path *allocated_path(const struct change *change)
{
	for (size_t i = 0; i < change->n; i++) {
		if (change->paths[i].n_stack)
			return &change->paths[i];
	}
	return &change->paths[0];
}

static struct err *pollution_append_stack(struct str *text,
					  const struct change_path *path)
{
	for (size_t i = 0; i < path->n_stack; i++) {
		const struct call_frame *frame = &path->stack[i];
		TRY(str_append(text, i ? INDENT "             "
				       : INDENT "allocated in "));
		TRY(words_append(text,
				 frame->function ? frame->function : "?"));
		if (frame->file) {
			TRY(str_append(text, " at "));
			TRY(words_append_place(text, frame->file, frame->line));
		}
		TRY(str_append(text, "\n"));
	}
	return NULL;
}

static struct err *pollution_write_more(const struct finding *finding,
					FILE *out)
{
	const struct change *change = &leftover_of(finding)->change;
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (finding->file) {
		TRY(str_append(&text, INDENT "declared at "));
		TRY(words_append_place(&text, finding->file, finding->line));
		TRY(str_append(&text, "\n"));
	}
	for (size_t i = 1; i < change->n; i++) {
		TRY(str_append(&text, INDENT "also "));
		TRY(append_path(&text, &change->paths[i]));
		TRY(str_append(&text, "\n"));
	}
	if (change->more)
		TRY(str_appendf(&text, INDENT "and %zu more\n", change->more));
	TRY(pollution_append_stack(&text, allocated_path(change)));
	TRY(str_append(&text, INDENT "reproduce: "));
	TRY(words_append(&text, finding->replay));
	fprintf(out, "%s\n", text.s);
	if (change->detail)
		fprintf(out, "%s\n", change->detail);
	return NULL;
}

/* ---- all of them ---- */

static const char *root_of(const struct finding *finding)
{
	return leftover_of(finding)->change.root;
}

/* Ids of what findings of other kinds explain themselves with. */
static struct err *note_told(const struct report *report, struct map_text *ret)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct dependence *dependence =
			dependence_of(&report->findings[i]);
		for (size_t j = 0; dependence && j < dependence->because.n; j++)
			TRY(map_text_put(ret, dependence->because.data[j], 1));
	}
	return NULL;
}

DEFINE_VEC(shown_findings, const struct finding *)

/*
 * What an order-dependent test tells of is not shown again; *@ret_told: so many.
 */
static struct err *collect_shown(const struct report *report,
				 struct shown_findings *ret, size_t *ret_told)
{
	_cleanup_(map_text_freep) struct map_text told = MAP_INIT;
	TRY(note_told(report, &told));
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		uint64_t is_told;
		if (!leftover_of(finding))
			continue;
		if (map_text_get(&told, finding->id, &is_told))
			++*ret_told;
		else
			TRY(vec_push(ret, finding));
	}
	return NULL;
}

/* The folder of a file that is left, with its '/'; 0: of something else. */
static size_t folder_of(const struct finding *finding)
{
	const struct change *change = &leftover_of(finding)->change;
	const char *slash = strrchr(change->root, '/');
	return change->where == CHANGE_FILE && slash
		       ? (size_t)(slash - change->root) + 1
		       : 0;
}

static bool is_beside(const struct finding *a, const struct finding *b)
{
	size_t n = folder_of(a);
	return n && n == folder_of(b) && !strncmp(root_of(a), root_of(b), n) &&
	       a->test == b->test && a->severity == b->severity;
}

/*
 * Many files that one test leaves in one folder: the first few of them are
 * shown. How many more follow the last of these; 0 for all others.
 */
static size_t more_beside(const struct shown_findings *all, size_t at,
			  bool *ret_skip)
{
	const struct finding *finding = all->data[at];
	size_t before = 0, after = 0;
	while (before < at && is_beside(all->data[at - before - 1], finding))
		before++;
	while (at + after + 1 < all->n &&
	       is_beside(all->data[at + after + 1], finding))
		after++;
	bool many = before + after + 1 > ROOT_LINES + 1;
	*ret_skip = many && before >= ROOT_LINES;
	return many && before + 1 == ROOT_LINES ? after : 0;
}

static struct err *write_more_beside(const struct finding *finding, size_t more,
				     FILE *out)
{
	_cleanup_(str_freep) struct str folder = STR_INIT;
	TRY(str_append_escaped(&folder, root_of(finding), folder_of(finding)));
	fprintf(out,
		INDENT "… and %zu more files in %s (shown with --verbose)\n",
		more, folder.s);
	return NULL;
}

/*
 * A root that many tests change is shown with the first few of them: the same
 * line a hundred times tells no more.
 */
static struct err *write_few(const struct shown_findings *all,
			     const struct report_style *style, FILE *out)
{
	_cleanup_(map_text_freep) struct map_text counts = MAP_INIT;
	for (size_t i = 0; i < all->n; i++) {
		uint64_t n = 0;
		map_text_get(&counts, root_of(all->data[i]), &n);
		TRY(map_text_put(&counts, root_of(all->data[i]), n + 1));
	}
	_cleanup_(map_text_freep) struct map_text shown = MAP_INIT;
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *finding = all->data[i];
		uint64_t of_root = 0, n = 0;
		map_text_get(&counts, root_of(finding), &of_root);
		map_text_get(&shown, root_of(finding), &n);
		TRY(map_text_put(&shown, root_of(finding), n + 1));
		if (style->quiet && finding->known)
			continue;
		bool skip;
		size_t more = more_beside(all, i, &skip);
		if (skip)
			continue;
		if (of_root <= ROOT_LINES + 1 || n < ROOT_LINES)
			TRY(write_line(finding, style, out));
		if (more)
			TRY(write_more_beside(finding, more, out));
		if (of_root <= ROOT_LINES + 1 || n + 1 != ROOT_LINES)
			continue;
		_cleanup_(str_freep) struct str root = STR_INIT;
		TRY(words_append(&root, root_of(finding)));
		fprintf(out,
			INDENT "… and %llu more tests leave %s changed (shown "
			       "with --verbose)\n",
			(unsigned long long)(of_root - ROOT_LINES), root.s);
	}
	return NULL;
}

static struct err *pollution_write_findings(const struct report *report,
					    const struct report_style *style,
					    FILE *out)
{
	_cleanup_(shown_findings_freep) struct shown_findings shown = {};
	size_t told = 0;
	if (!style->verbose) {
		TRY(collect_shown(report, &shown, &told));
		TRY(write_few(&shown, style, out));
		if (told && !style->quiet)
			fprintf(out,
				INDENT
				"… and %zu change%s that explain%s the "
				"failures above (shown with --verbose)\n",
				told, told == 1 ? "" : "s",
				told == 1 ? "s" : "");
		return NULL;
	}
	for (size_t i = 0; i < report->n_findings; i++) {
		if (!leftover_of(&report->findings[i]))
			continue;
		TRY(write_line(&report->findings[i], style, out));
		TRY(pollution_write_more(&report->findings[i], out));
	}
	for (size_t i = 0; i < report->n_firsts; i++) {
		const struct first_use *first = &report->firsts[i];
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(words_append(&line,
				 roster_name(report->roster, first->test)));
		TRY(str_append(&line, ": "));
		TRY(words_append(&line, first->root));
		fprintf(out, "first   %s was initialised for the first time\n",
			line.s);
	}
	return NULL;
}

static struct err *pollution_write_summary(const struct report *report,
					   const struct report_style *style,
					   FILE *out)
{
	size_t tests = 0, high = 0, all = 0, before = (size_t)-1;
	if (style->quiet || !report->watched || !is_covered(report))
		return NULL;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		if (!leftover_of(finding))
			continue;
		tests += finding->test != before;
		before = finding->test;
		high += finding->severity == FINDING_HIGH;
		all++;
	}
	if (!all)
		fprintf(out, "no test leaves shared state changed%s",
			kind_this_time(report, &leftover_kind));
	else
		fprintf(out,
			"%zu test%s leave%s shared state changed: %zu "
			"finding%s, %zu high",
			tests, tests == 1 ? "" : "s", tests == 1 ? "s" : "",
			all, all == 1 ? "" : "s", high);
	if (report->n_firsts)
		fprintf(out, "; %zu static%s initialised for the first time",
			report->n_firsts, report->n_firsts == 1 ? "" : "s");
	fputc('\n', out);
	return NULL;
}

/* ---- JSON ---- */

static json_t *make_paths(const struct change *change)
{
	json_t *list = json_array();
	for (size_t i = 0; i < change->n; i++) {
		const struct change_path *path = &change->paths[i];
		value_append(&list, json_pack("{s:o, s:o, s:o}", "path",
					      value_text(path->path), "before",
					      value_text(path->before), "after",
					      value_text(path->after)));
	}
	return list;
}

static json_t *pollution_make_fields(const struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	const struct change *change = &leftover->change;
	const struct change_path *first = &change->paths[0];
	const struct change_path *allocated = allocated_path(change);
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:s, s:o, s:o, s:I, "
		"s:o}",
		"where", leftover_where_name(change->where), "root",
		value_text(change->root), "path", value_text(first->path),
		"before", value_text(first->before), "after",
		value_text(first->after), "declared", "file",
		value_file(finding->file), "line",
		value_line(finding->file, finding->line), "effect",
		leftover_effect_name(leftover->effect), "readers",
		value_tests(finding->tests, leftover->readers.data,
			    leftover->readers.n),
		"paths", make_paths(change), "more_paths",
		(json_int_t)change->more, "allocated",
		value_frames(allocated->stack, allocated->n_stack));
}

static struct err *pollution_make_section(const struct report *report,
					  json_t **ret)
{
	if (!is_covered(report))
		return NULL;
	json_t *list = json_array();
	for (size_t i = 0; i < report->n_firsts; i++)
		value_append(&list,
			     json_pack("{s:o, s:o}", "test",
				       value_test(report->roster,
						  report->firsts[i].test),
				       "root",
				       value_text(report->firsts[i].root)));
	return value_made(list, ret);
}

static const char *pollution_subject(const struct finding *finding)
{
	return root_of(finding);
}

const struct report_kind report_pollution = {
	.kind = &leftover_kind,
	.last = true,
	.write_findings = pollution_write_findings,
	.write_summary = pollution_write_summary,
	.make_fields = pollution_make_fields,
	.section = "first_initialised",
	.make_section = pollution_make_section,
	.subject = pollution_subject,
};
