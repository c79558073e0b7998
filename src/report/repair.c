/* Patches that fix order-dependent tests. */
#include "finding/repair_patch.h"

#include <string.h>

#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"

/* A source file may hold anything: line by line, harmless on a terminal. */
static struct err *repair_write_diff(const char *patch,
				     const struct report_style *style,
				     FILE *out)
{
	while (*patch) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		size_t n = strcspn(patch, "\n");
		const char *color = !style->color   ? ""
				    : *patch == '+' ? "\033[32m"
				    : *patch == '-' ? "\033[31m"
						    : "";
		const char *at = patch;
		size_t left = n;
		/* Tabs stay: the diff is to be copied. */
		while (left) {
			size_t part = 0;
			while (part < left && at[part] != '\t')
				part++;
			TRY(str_append_escaped(&line, at, part));
			if (part < left) {
				TRY(str_append(&line, "\t"));
				part++;
			}
			at += part;
			left -= part;
		}
		fprintf(out, "%s%s%s\n", color, line.s ? line.s : "",
			*color ? RESET : "");
		patch += n + (patch[n] == '\n');
	}
	return NULL;
}

static struct err *repair_write_finding(const struct finding *finding,
					const struct report_style *style,
					FILE *out)
{
	const struct repair_patch *patch = repair_patch_of(finding);
	fprintf(out, "%s%s%s\n", style->color ? BOLD : "", finding->message,
		style->color ? RESET : "");
	if (style->quiet)
		return NULL;
	fprintf(out, INDENT "%s; %zu candidate%s tried, %.1f s to find it",
		patch->finding, patch->tried, patch->tried == 1 ? "" : "s",
		(double)patch->search_ns / 1e9);
	if (patch->prove_ns)
		fprintf(out, ", %.1f s to prove it",
			(double)patch->prove_ns / 1e9);
	fputc('\n', out);
	if (patch->folder) {
		_cleanup_(str_freep) struct str folder = STR_INIT;
		TRY(str_append_escaped(&folder, patch->folder,
				       strlen(patch->folder)));
		fprintf(out, INDENT "apply it with 'patch -p1' in %s\n",
			folder.s ? folder.s : "");
	}
	return patch->patch ? repair_write_diff(patch->patch, style, out)
			    : NULL;
}

/* ---- the last line ---- */

struct patch_counts {
	size_t proven, unproven, none, gone;
};

static struct patch_counts count_patches(const struct report *report)
{
	struct patch_counts counts = {};
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct repair_patch *patch =
			repair_patch_of(&report->findings[i]);
		if (patch->proven)
			counts.proven++;
		else if (patch->patch)
			counts.unproven++;
		else if (patch->gone)
			counts.gone++;
		else
			counts.none++;
	}
	return counts;
}

static struct err *append_count(struct str *line, size_t n, const char *what)
{
	if (!n)
		return NULL;
	return str_appendf(line, "%s%zu %s",
			   str_ends(line->s, ":") ? " " : ", ", n, what);
}

static struct err *append_next_step(struct str *line,
				    const struct report_patches *patches,
				    const struct patch_counts *counts)
{
	if (patches->built && counts->proven && !patches->applied)
		return str_append(line, "; --apply changes your files");
	return !patches->built && counts->unproven
		       ? str_append(line, "; --build COMMAND proves them")
		       : NULL;
}

struct err *repair_write_verdict(const struct report *report,
				 const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	const struct report_patches *patches = report->patches;
	const struct patch_counts counts = count_patches(report);
	TRY(str_appendf(&line, "%zu finding%s:", report->n_findings,
			report->n_findings == 1 ? "" : "s"));
	TRY(append_count(&line, counts.proven,
			 patches->applied ? "with a proven patch, applied"
					  : "with a proven patch"));
	TRY(append_count(&line, counts.unproven,
			 "with a patch that is not proven"));
	TRY(append_count(&line, counts.none, "without a patch"));
	TRY(append_count(&line, counts.gone, "with nothing left to fix"));
	TRY(append_next_step(&line, patches, &counts));
	const char *color = counts.none + counts.unproven == 0 ? "\033[32m"
			    : counts.proven + counts.unproven  ? "\033[33m"
							       : "\033[31m";
	fprintf(out, "%s%s%s\n", style->color ? color : "", line.s,
		style->color ? RESET : "");
	return NULL;
}

static json_t *repair_make_fields(const struct finding *finding)
{
	const struct repair_patch *patch = repair_patch_of(finding);
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:b, s:b, s:I, s:f, s:f, s:f}", "finding",
		patch->finding, "patch",
		patch->patch ? value_text(patch->patch) : json_null(), "folder",
		patch->folder ? value_text(patch->folder) : json_null(),
		"function",
		patch->function ? value_text(patch->function) : json_null(),
		"proven", (int)patch->proven, "exact", (int)patch->exact,
		"tried", (json_int_t)patch->tried, "search_seconds",
		(double)patch->search_ns / 1e9, "try_seconds",
		(double)patch->try_ns / 1e9, "prove_seconds",
		(double)patch->prove_ns / 1e9);
}

const struct report_kind report_repair = {
	.kind = &repair_patch_kind,
	.help = "docs/repair.md",
	.title = "Patch for an order-dependent test",
	.about = "A change of the source that restores the state which the "
		 "test depends on. It is called proven if it was built and "
		 "the test passed in every order that matters.",
	.write_finding = repair_write_finding,
	.make_fields = repair_make_fields,
};
