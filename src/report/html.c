/*
 * HTML: one file that needs no network and no server.
 *
 * The page (report/page/) is the same for all reports. It finds the report in
 * itself as JSON, in two parts: what --format json writes, and what only the
 * page needs: findings by cause, pictures, source lines. Its script makes
 * elements out of texts and never out of markup, so that nothing of what the
 * tested program wrote can be taken for markup. A content security policy lets
 * no other script run than this one, whose digest it has.
 *
 * In the two parts every "<" is written as an escape of JSON, so that none of
 * them can end the element that it is in (HTML, 4.12.1.3, "Restrictions for
 * contents of script elements").
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "report/cause.h"
#include "report/excerpt.h"
#include "report/kind.h"
#include "report/page.h"
#include "report/page_data.h"
#include "report/picture.h"
#include "report/value.h"

/* Causes that have a picture: each costs some milliseconds. */
#define PICTURES_MAX 200
/* Findings that are listed for browsers without scripts. */
#define PLAIN_MAX 200

/* ---- JSON in HTML ---- */

static ssize_t island_write(void *cookie, const char *bytes, size_t n)
{
	FILE *out = cookie;
	size_t from = 0;
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '<')
			continue;
		fwrite(bytes + from, 1, i - from, out);
		fputs("\\u003c", out);
		from = i + 1;
	}
	fwrite(bytes + from, 1, n - from, out);
	return (ssize_t)n;
}

/* What is written to it goes to @out, harmless; closing it leaves @out open. */
static struct err *island_open(FILE *out, FILE **ret)
{
	FILE *island = fopencookie(
		out, "w", (cookie_io_functions_t){ .write = island_write });
	if (!island)
		return err_errno(errno, "cannot write the report");
	*ret = island;
	return NULL;
}

static void island_closep(FILE **island)
{
	if (*island)
		fclose(*island);
}

/* ---- what only the page needs ---- */

static json_t *make_cause(const struct report *report,
			  const struct cause *cause)
{
	json_t *findings = json_array();
	for (size_t i = 0; i < cause->findings.n; i++)
		value_append(&findings, json_integer(cause->findings.data[i] -
						     report->findings));
	const struct roster *roster = report->roster;
	return json_pack(
		"{s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "type",
		cause_type_name(cause->type), "name", value_text(cause->name),
		"severity", finding_severity_name(cause->severity), "fresh",
		(json_int_t)cause->fresh, "findings", findings, "leave",
		value_tests(roster, cause->leave.data, cause->leave.n),
		"misled",
		value_tests(roster, cause->misled.data, cause->misled.n),
		"could", value_tests(roster, cause->could.data, cause->could.n),
		"cleaners",
		value_tests(roster, cause->cleaners.data, cause->cleaners.n));
}

static struct err *set_picture(json_t *object, const char *key, char *svg)
{
	_cleanup_(freep) char *owned = svg;
	if (svg && json_object_set_new(object, key, value_text(owned)))
		return err_nomem();
	return NULL;
}

/* The first change of memory of a cause stands for the others. */
static struct err *draw_memory(const struct report *report,
			       struct pictures *pictures,
			       const struct cause *cause, json_t *object)
{
	for (size_t i = 0; i < cause->findings.n; i++) {
		const struct finding *finding = cause->findings.data[i];
		_cleanup_(json_freep) json_t *value = NULL;
		char *before = NULL, *after = NULL;
		if (finding->kind != &leftover_kind)
			continue;
		TRY(report_finding_json(finding, &value));
		/* By its number: the picture is of that test. */
		if (json_object_set_new(
			    object, "pictured",
			    json_integer(finding - report->findings)))
			return err_nomem();
		TRY(picture_of_memory(pictures, value, "before", &before));
		TRY(set_picture(object, "before", before));
		TRY(picture_of_memory(pictures, value, "after", &after));
		return set_picture(object, "after", after);
	}
	return NULL;
}

static struct err *write_causes(const struct report *report,
				const struct causes *causes, FILE *out)
{
	_cleanup_(pictures_destroyp) struct pictures *pictures = NULL;
	size_t drawn = 0;
	if (causes->n)
		TRY(pictures_create(&pictures));
	fputs("\"causes\": [", out);
	for (size_t i = 0; i < causes->n; i++) {
		const struct cause *cause = &causes->data[i];
		_cleanup_(json_freep) json_t *object = NULL;
		char *svg = NULL;
		TRY(value_made(make_cause(report, cause), &object));
		if (i < PICTURES_MAX) {
			TRY(picture_of_cause(pictures, cause, report->roster,
					     &svg));
			drawn += svg != NULL;
			TRY(set_picture(object, "graph", svg));
			if (cause->type == CAUSE_MEMORY)
				TRY(draw_memory(report, pictures, cause,
						object));
		}
		fputs(i ? ",\n" : "\n", out);
		TRY(json_write_to(object, 0, out));
	}
	fputs("]", out);
	if (causes->n && !drawn)
		fputs(",\n\"no_pictures\": \"There are no pictures: "
		      "Graphviz, or its plug-ins 'dot_layout' and 'core', "
		      "could not be loaded where this page was made "
		      "(Debian: the package libgvc6)\"",
		      out);
	return NULL;
}

/* Places of the worst first. */
static struct err *write_excerpts(const struct report *report,
				  const struct causes *causes, FILE *out)
{
	_cleanup_(excerpts_destroyp) struct excerpts *excerpts = NULL;
	TRY(excerpts_create(report, &excerpts));
	for (size_t i = 0; i < causes->n; i++) {
		for (size_t j = 0; j < causes->data[i].findings.n; j++) {
			_cleanup_(json_freep) json_t *object = NULL;
			TRY(report_finding_json(
				causes->data[i].findings.data[j], &object));
			TRY(excerpts_add(excerpts, object));
		}
	}
	fputs("\"excerpts\": ", out);
	return excerpts_write(excerpts, out);
}

/* What each kind is, and what to do about it. */
static struct err *write_kinds(FILE *out)
{
	_cleanup_(json_freep) json_t *kinds = json_object();
	for (size_t i = 0; report_kinds[i]; i++) {
		const struct report_kind *kind = report_kinds[i];
		if (json_object_set_new(kinds, kind->kind->name,
					json_pack("{s:s, s:s, s:s}", "title",
						  kind->title, "about",
						  kind->about, "help",
						  kind->help)))
			return err_nomem();
	}
	fputs("\"kinds\": ", out);
	return json_write_to(kinds, 0, out);
}

static struct err *write_more(const struct report *report,
			      const struct causes *causes, FILE *out)
{
	fputs("{", out);
	TRY(write_kinds(out));
	fputs(",\n", out);
	TRY(write_causes(report, causes, out));
	fputs(",\n", out);
	TRY(write_excerpts(report, causes, out));
	fputs("}\n", out);
	return NULL;
}

/* ---- the page ---- */

/* For browsers without scripts: what was found, and how to see it again. */
static void write_plain(const struct report *report, FILE *out)
{
	size_t n = MIN(report->n_findings, (size_t)PLAIN_MAX);
	fputs("<noscript><p>This page shows its contents with a script, which "
	      "is switched off here. What was found:</p><ul>\n",
	      out);
	for (size_t i = 0; i < n; i++) {
		const struct finding *finding = &report->findings[i];
		fprintf(out,
			"<li>%s: ", finding_severity_name(finding->severity));
		page_write_text(finding->message, out);
		fputs("<br><code>", out);
		page_write_text(finding->replay, out);
		fputs("</code></li>\n", out);
	}
	if (n < report->n_findings)
		fprintf(out, "<li>and %zu more</li>\n", report->n_findings - n);
	fputs("</ul></noscript>\n", out);
}

static struct err *write_island(const struct report *report,
				const struct causes *causes, FILE *out)
{
	const struct report_style style = {};
	_cleanup_(island_closep) FILE *island = NULL;
	TRY(island_open(out, &island));
	return causes ? write_more(report, causes, island)
		      : report_json.write(report, &style, island);
}

static struct err *html_write(const struct report *report,
			      const struct report_style *style _unused_,
			      FILE *out)
{
	_cleanup_(causes_free) struct causes causes = {};
	TRY(causes_group(report, &causes));
	page_begin(report->command[0], false, out);
	fputs("<div id=\"page\"></div>\n", out);
	write_plain(report, out);
	fputs("<script type=\"application/json\" id=\"report\">\n", out);
	TRY(write_island(report, NULL, out));
	fputs("</script>\n<script type=\"application/json\" id=\"more\">\n",
	      out);
	TRY(write_island(report, &causes, out));
	fputs("</script>\n<script>", out);
	fputs(page_script, out);
	fputs("</script>\n</body>\n</html>\n", out);
	return NULL;
}

const struct report_format report_html = {
	.name = "html",
	.write = html_write,
};
