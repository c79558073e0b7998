#include "report/findings.h"

#include <string.h>

#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "report/choices.h"
#include "report/order.h"

#define RESET "\033[0m"
#define DIM "\033[2m"
#define INDENT "        "
/* Readers that a line names. */
#define READERS_MAX 2
/* Tests that are shown for one root, and one more rather than "1 more". */
#define ROOT_LINES 3

static const char *color_of(const char *severity)
{
	if (!strcmp(severity, "high"))
		return "\033[1;31m";
	return strcmp(severity, "medium") == 0 ? "\033[33m" : DIM;
}

static struct err *append_text(struct str *line, const char *text)
{
	return str_append_escaped(line, text, strlen(text));
}

static struct err *append_place(struct str *line, const char *file,
				unsigned number)
{
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display(NULL, file, &shown));
	TRY(append_text(line, shown));
	return number ? str_appendf(line, ":%u", number) : NULL;
}

/* "read by A, B and 3 more" */
static struct err *append_readers(struct str *line,
				  const struct report_finding *finding)
{
	for (size_t i = 0; i < finding->n_readers && i < READERS_MAX; i++) {
		bool last = i + 1 == finding->n_readers;
		TRY(str_append(line, i == 0 ? "; read by "
				     : last ? " and "
					    : ", "));
		TRY(append_text(line, finding->readers[i]));
	}
	if (finding->n_readers > READERS_MAX)
		TRY(str_appendf(line, " and %zu more",
				finding->n_readers - READERS_MAX));
	return NULL;
}

static struct err *write_line(const struct report_finding *finding,
			      const struct report_style *style, FILE *out)
{
	const struct report_path *path = &finding->paths[0];
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(append_text(&line, finding->test));
	TRY(str_append(&line, ": "));
	TRY(append_text(&line, path->path));
	TRY(str_append(&line, ": "));
	TRY(append_text(&line, path->before));
	TRY(str_append(&line, " → "));
	TRY(append_text(&line, path->after));
	size_t more = finding->n_paths - 1 + finding->more_paths;
	if (more)
		TRY(str_appendf(&line, " and %zu more place%s", more,
				more == 1 ? "" : "s"));
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	TRY(str_append(&remarks, strcmp(finding->effect, "unknown") != 0
					 ? finding->effect
					 : "effect unknown"));
	TRY(append_readers(&remarks, finding));
	if (finding->known)
		TRY(str_append(&remarks, "; known"));
	fprintf(out, "%s%-7s%s %s %s(%s)%s\n",
		style->color ? color_of(finding->severity) : "",
		finding->severity, style->color ? RESET : "", line.s,
		style->color ? DIM : "", remarks.s, style->color ? RESET : "");
	return NULL;
}

static struct err *write_more(const struct report_finding *finding, FILE *out)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (finding->file) {
		TRY(str_append(&text, INDENT "declared at "));
		TRY(append_place(&text, finding->file, finding->line));
		TRY(str_append(&text, "\n"));
	}
	for (size_t i = 1; i < finding->n_paths; i++) {
		TRY(str_append(&text, INDENT "also "));
		TRY(append_text(&text, finding->paths[i].path));
		TRY(str_append(&text, ": "));
		TRY(append_text(&text, finding->paths[i].before));
		TRY(str_append(&text, " → "));
		TRY(append_text(&text, finding->paths[i].after));
		TRY(str_append(&text, "\n"));
	}
	if (finding->more_paths)
		TRY(str_appendf(&text, INDENT "and %zu more\n",
				finding->more_paths));
	const struct report_path *path = &finding->paths[0];
	for (size_t i = 0; i < finding->n_paths && !path->n_stack; i++)
		path = &finding->paths[i];
	for (size_t i = 0; i < path->n_stack; i++) {
		const struct report_frame *frame = &path->stack[i];
		TRY(str_append(&text, i ? INDENT "             "
					: INDENT "allocated in "));
		TRY(append_text(&text,
				frame->function ? frame->function : "?"));
		if (frame->file) {
			TRY(str_append(&text, " at "));
			TRY(append_place(&text, frame->file, frame->line));
		}
		TRY(str_append(&text, "\n"));
	}
	TRY(str_append(&text, INDENT "again: "));
	TRY(append_text(&text, finding->replay));
	TRY(str_append(&text, "\n"));
	if (text.n)
		fputs(text.s, out);
	if (finding->detail)
		fprintf(out, "%s\n", finding->detail);
	return NULL;
}

/* Among the pollution: what an order-dependent test tells of is not. */
static bool is_shown(const struct report_finding *finding)
{
	return report_is_pollution(finding) && !finding->told_by;
}

/* The folder of a file that is left, with its '/'; 0: of something else. */
static size_t folder_of(const struct report_finding *finding)
{
	if (!is_shown(finding))
		return 0;
	const char *slash = strrchr(finding->root, '/');
	return !strcmp(finding->where, "file") && slash
		       ? (size_t)(slash - finding->root) + 1
		       : 0;
}

static bool is_beside(const struct report_finding *a,
		      const struct report_finding *b)
{
	size_t n = folder_of(a);
	return n && n == folder_of(b) && !strncmp(a->root, b->root, n) &&
	       !strcmp(a->test, b->test) && !strcmp(a->severity, b->severity);
}

/*
 * Many files that one test leaves in one folder: the first few of them are
 * shown. How many more follow the last of these; 0 for all others.
 */
static size_t more_beside(const struct report *report, size_t at,
			  bool *ret_skip)
{
	const struct report_finding *finding = &report->findings[at];
	size_t before = 0, after = 0;
	while (before < at &&
	       is_beside(&report->findings[at - before - 1], finding))
		before++;
	while (at + after + 1 < report->n_findings &&
	       is_beside(&report->findings[at + after + 1], finding))
		after++;
	bool many = before + after + 1 > ROOT_LINES + 1;
	*ret_skip = many && before >= ROOT_LINES;
	return many && before + 1 == ROOT_LINES ? after : 0;
}

static struct err *write_more_beside(const struct report_finding *finding,
				     size_t more, FILE *out)
{
	_cleanup_(str_freep) struct str folder = STR_INIT;
	TRY(str_append_escaped(&folder, finding->root, folder_of(finding)));
	fprintf(out,
		INDENT "… and %zu more files in %s (shown with --verbose)\n",
		more, folder.s);
	return NULL;
}

/*
 * A root that many tests change is shown with the first few of them: the same
 * line a hundred times tells no more.
 */
static struct err *write_few(const struct report *report,
			     const struct report_style *style, FILE *out)
{
	_cleanup_(map_text_freep) struct map_text counts = MAP_INIT;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		uint64_t n = 0;
		if (!is_shown(finding))
			continue;
		map_text_get(&counts, finding->root, &n);
		TRY(map_text_put(&counts, finding->root, n + 1));
	}
	_cleanup_(map_text_freep) struct map_text shown = MAP_INIT;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		uint64_t all = 0, n = 0;
		if (!is_shown(finding))
			continue;
		map_text_get(&counts, finding->root, &all);
		map_text_get(&shown, finding->root, &n);
		TRY(map_text_put(&shown, finding->root, n + 1));
		if (style->quiet && finding->known)
			continue;
		bool skip;
		size_t more = more_beside(report, i, &skip);
		if (skip)
			continue;
		if (all <= ROOT_LINES + 1 || n < ROOT_LINES)
			TRY(write_line(finding, style, out));
		if (more)
			TRY(write_more_beside(finding, more, out));
		if (all <= ROOT_LINES + 1 || n + 1 != ROOT_LINES)
			continue;
		_cleanup_(str_freep) struct str root = STR_INIT;
		TRY(append_text(&root, finding->root));
		fprintf(out,
			"        … and %llu more tests leave %s changed (shown "
			"with --verbose)\n",
			(unsigned long long)(all - ROOT_LINES), root.s);
	}
	return NULL;
}

static struct err *write_orders(const struct report *report,
				const struct report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		if (finding->order && !(style->quiet && finding->known))
			TRY(order_write(finding, color_of(finding->severity),
					style, out));
	}
	return NULL;
}

static struct err *write_choices(const struct report *report,
				 const struct report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		if (finding->choice && !(style->quiet && finding->known))
			TRY(choices_write(finding, color_of(finding->severity),
					  style, out));
	}
	return NULL;
}

static void write_told(const struct report *report, FILE *out)
{
	size_t n = 0;
	for (size_t i = 0; i < report->n_findings; i++)
		n += report->findings[i].told_by != NULL;
	if (n)
		fprintf(out,
			INDENT "… and %zu leftover%s by which tests above are "
			       "polluted (shown with --verbose)\n",
			n, n == 1 ? "" : "s");
}

struct err *findings_write(const struct report *report,
			   const struct report_style *style, FILE *out)
{
	TRY(write_orders(report, style, out));
	TRY(write_choices(report, style, out));
	if (!style->verbose) {
		TRY(write_few(report, style, out));
		if (!style->quiet)
			write_told(report, out);
		return NULL;
	}
	for (size_t i = 0; i < report->n_findings; i++) {
		if (!report_is_pollution(&report->findings[i]))
			continue;
		TRY(write_line(&report->findings[i], style, out));
		TRY(write_more(&report->findings[i], out));
	}
	for (size_t i = 0; i < report->n_firsts; i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(append_text(&line, report->firsts[i].test));
		TRY(str_append(&line, ": "));
		TRY(append_text(&line, report->firsts[i].root));
		fprintf(out, "first   %s was initialised for the first time\n",
			line.s);
	}
	return NULL;
}
