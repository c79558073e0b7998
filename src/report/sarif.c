/*
 * SARIF 2.1.0 (OASIS), for code scanning and editors: a rule for each kind of
 * finding, a result for each cause: what is mended once is one alert.
 *
 * A result is told by the finding that its block in the text is told by. Its
 * location is what is misled: the failed assertion, else the test. Who leaves the
 * state, who else is misled, where it is declared and where it was allocated are
 * related locations. A decisive call is a code flow, from the test to the call.
 * The id of that finding and the cause are the fingerprints by which the other
 * side knows a result again; what the baseline lists as a whole is suppressed.
 *
 * Paths are relative to the source root, where that is known.
 */
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "report/block.h"
#include "report/kind.h"
#include "report/value.h"

#define ROOT_ID "SRCROOT"
/* Tests that a result refers to, of each sort. */
#define RELATED_MAX 16
/* Locations that a result refers to in all; and findings. */
#define RELATED_ALL_MAX 64
#define FINDINGS_MAX ((size_t)100)

struct sarif {
	const struct report *report;
	const char *root; /* absolute, without a slash at its end; or NULL */
	struct map_text tests; /* in the roster, by name in JSON */
	FILE *out;
	bool comma;
};

static void sarif_freep(struct sarif *sarif)
{
	map_text_free(&sarif->tests);
}

static const char *sarif_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* ---- places ---- */

/* RFC 3986: everything but unreserved characters and '/' is escaped. */
static struct err *append_uri(struct str *uri, const char *path)
{
	static const char plain[] = "-._~/";
	for (const char *p = path; *p; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') ||
			      (*p >= 'A' && *p <= 'Z') ||
			      (*p >= '0' && *p <= '9');
		if (letter || strchr(plain, *p))
			TRY(str_append_n(uri, p, 1));
		else
			TRY(str_appendf(uri, "%%%02X", (unsigned char)*p));
	}
	return NULL;
}

/* Below the root, as the rest of its path; NULL: it is not. */
static const char *below_root(const struct sarif *sarif, const char *path)
{
	if (!sarif->root || !path_is_below(path, sarif->root))
		return NULL;
	path += strlen(sarif->root);
	return *path == '/' ? path + 1 : NULL;
}

/* @file as JSON has it: relative to the working directory, where below it. */
static struct err *make_artifact(const struct sarif *sarif, const char *file,
				 json_t **ret)
{
	const struct report_run *run = sarif->report->run;
	_cleanup_(freep) char *full = NULL;
	_cleanup_(str_freep) struct str uri = STR_INIT;
	if (*file != '/' && run && run->folder)
		TRY(path_join(run->folder, file, &full));
	const char *relative = below_root(sarif, full ? full : file);
	if (!relative && *file != '/')
		relative = file;
	if (!relative)
		TRY(str_append(&uri, "file://"));
	TRY(append_uri(&uri, relative ? relative : file));
	if (!relative || !sarif->root)
		return value_made(json_pack("{s:s}", "uri", uri.s), ret);
	return value_made(
		json_pack("{s:s, s:s}", "uri", uri.s, "uriBaseId", ROOT_ID),
		ret);
}

/* "physicalLocation"; *@ret stays NULL where the file is unknown. */
static struct err *sarif_make_place(const struct sarif *sarif, const char *file,
				    json_int_t line, json_t **ret)
{
	_cleanup_(json_freep) json_t *artifact = NULL;
	if (!file || !*file)
		return NULL;
	TRY(make_artifact(sarif, file, &artifact));
	if (line <= 0)
		return value_made(
			json_pack("{s:O}", "artifactLocation", artifact), ret);
	return value_made(json_pack("{s:O, s:{s:I}}", "artifactLocation",
				    artifact, "region", "startLine", line),
			  ret);
}

/*
 * A location: of a place, of a function or test by @name, with a @message. What
 * is NULL is left out; @id: 0 for none.
 */
static struct err *make_location(const struct sarif *sarif, const char *file,
				 json_int_t line, const char *name,
				 const char *message, json_int_t id,
				 json_t **ret)
{
	_cleanup_(json_freep) json_t *place = NULL;
	json_t *const none = NULL;
	TRY(sarif_make_place(sarif, file, line, &place));
	return value_made(
		json_pack("{s:o*, s:O*, s:o*, s:o*}", "id",
			  id ? json_integer(id) : none, "physicalLocation",
			  place, "logicalLocations",
			  name ? json_pack("[{s:o, s:s}]", "fullyQualifiedName",
					   value_text(name), "kind", "function")
			       : none,
			  "message",
			  message ? json_pack("{s:o}", "text",
					      value_text(message))
				  : none),
		ret);
}

/* ---- related locations ---- */

/* One that is there stays where it is, with its number. */
static bool has_related(const json_t *list, const json_t *location)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *other = json_array_get(list, i);
		if (json_equal(json_object_get(other, "physicalLocation"),
			       json_object_get(location, "physicalLocation")) &&
		    json_equal(json_object_get(other, "message"),
			       json_object_get(location, "message")))
			return true;
	}
	return false;
}

static struct err *add_related(const struct sarif *sarif, json_t *list,
			       const char *file, json_int_t line,
			       const char *name, const char *message)
{
	json_t *location = NULL;
	if (!file)
		return NULL; /* a viewer can show nothing */
	TRY(make_location(sarif, file, line, name, message,
			  (json_int_t)json_array_size(list) + 1, &location));
	if (has_related(list, location)) {
		json_decref(location);
		return NULL;
	}
	return json_array_append_new(list, location) ? err_nomem() : NULL;
}

static struct err *add_related_test(const struct sarif *sarif, json_t *list,
				    const char *name, const char *role)
{
	uint64_t number;
	if (!name || !map_text_get(&sarif->tests, name, &number))
		return NULL;
	const struct roster_test *test = &sarif->report->roster->tests[number];
	_cleanup_(str_freep) struct str message = STR_INIT;
	_cleanup_(freep) char *shown = NULL;
	if (!test->file)
		return NULL;
	TRY(path_display(NULL, test->file, &shown));
	TRY(str_appendf(&message, "%s: %s", role, name));
	return add_related(sarif, list, shown, test->line, name, message.s);
}

/* A list of names, or of lists of them. */
static struct err *add_related_tests(const struct sarif *sarif, json_t *list,
				     const json_t *tests, const char *role)
{
	size_t n = MIN(json_array_size(tests), (size_t)RELATED_MAX);
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(tests, i);
		TRY(add_related_test(sarif, list, json_string_value(value),
				     role));
		size_t m = MIN(json_array_size(value), (size_t)RELATED_MAX);
		for (size_t j = 0; j < m; j++)
			TRY(add_related_test(
				sarif, list,
				json_string_value(json_array_get(value, j)),
				role));
	}
	return NULL;
}

static struct err *add_related_frame(const struct sarif *sarif, json_t *list,
				     const json_t *frame, const char *message)
{
	return add_related(sarif, list, sarif_text(frame, "file"),
			   json_integer_value(json_object_get(frame, "line")),
			   sarif_text(frame, "function"), message);
}

static struct err *add_related_of(const struct sarif *sarif, json_t *list,
				  const json_t *finding)
{
	static const struct {
		const char *key, *role;
	} tests[] = {
		{ "polluters", "polluter" },
		{ "setters", "setter" },
		{ "cleaners", "cleaner" },
		{ "readers", "reader" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		TRY(add_related_tests(sarif, list,
				      json_object_get(finding, tests[i].key),
				      tests[i].role));
	TRY(add_related_frame(sarif, list, json_object_get(finding, "declared"),
			      "declaration of what is left changed"));
	return add_related_frame(
		sarif, list,
		json_array_get(json_object_get(finding, "allocated"), 0),
		"allocation of what is left");
}

/* Of all findings of a cause; @lead is where the result itself is. */
static struct err *make_related(const struct sarif *sarif,
				const struct cause *cause,
				const struct finding *lead, json_t **ret)
{
	_cleanup_(json_freep) json_t *list = json_array();
	if (!list)
		return err_nomem();
	for (size_t i = 0;
	     i < cause->findings.n && json_array_size(list) < RELATED_ALL_MAX;
	     i++) {
		const struct finding *finding = cause->findings.data[i];
		_cleanup_(json_freep) json_t *object = NULL;
		TRY(report_finding_json(finding, &object));
		if (finding != lead && finding->kind != &leftover_kind)
			TRY(add_related_test(sarif, list,
					     sarif_text(object, "test"),
					     "also depends on it"));
		TRY(add_related_of(sarif, list, object));
	}
	*ret = take_ptr(list);
	return NULL;
}

/* ---- code flows ---- */

/* From the outermost frame to the call, then what it did. */
static struct err *make_flow(const struct sarif *sarif, const json_t *call,
			     json_t **ret)
{
	const json_t *stack = json_object_get(call, "stack");
	const char *did = sarif_text(call, "did");
	_cleanup_(json_freep) json_t *steps = json_array();
	_cleanup_(str_freep) struct str what = STR_INIT;
	if (!steps)
		return err_nomem();
	TRY(str_appendf(&what, "%s does something else that is allowed",
			sarif_text(call, "api") ? sarif_text(call, "api")
						: "the call"));
	if (did && *did)
		TRY(str_appendf(&what, ": %s", did));
	for (size_t i = json_array_size(stack); i-- > 0;) {
		const json_t *frame = json_array_get(stack, i);
		json_t *location = NULL;
		if (!sarif_text(frame, "file"))
			continue;
		TRY(make_location(
			sarif, sarif_text(frame, "file"),
			json_integer_value(json_object_get(frame, "line")),
			sarif_text(frame, "function"), i ? NULL : what.s, 0,
			&location));
		json_t *step = json_pack("{s:o}", "location", location);
		if (json_array_append_new(steps, step))
			return err_nomem();
	}
	if (!json_array_size(steps))
		return NULL;
	return value_made(json_pack("{s:{s:s}, s:[{s:O}]}", "message", "text",
				    what.s, "threadFlows", "locations", steps),
			  ret);
}

static struct err *make_flows(const struct sarif *sarif, const json_t *finding,
			      json_t **ret)
{
	const json_t *calls = json_object_get(finding, "calls");
	_cleanup_(json_freep) json_t *flows = NULL;
	for (size_t i = 0; i < json_array_size(calls); i++) {
		json_t *flow = NULL;
		TRY(make_flow(sarif, json_array_get(calls, i), &flow));
		if (!flow)
			continue;
		if (!flows)
			flows = json_array();
		if (json_array_append_new(flows, flow))
			return err_nomem();
	}
	*ret = take_ptr(flows);
	return NULL;
}

/* ---- results ---- */

/* Where it fails; else where the test is; else by its name only. */
static struct err *make_victim(const struct sarif *sarif, const json_t *finding,
			       json_t **ret)
{
	const json_t *failure = json_object_get(finding, "failure");
	const char *name = sarif_text(finding, "test");
	const char *file = sarif_text(failure, "file");
	json_int_t line = json_integer_value(json_object_get(failure, "line"));
	_cleanup_(freep) char *shown = NULL;
	uint64_t number;
	if (!file && name && map_text_get(&sarif->tests, name, &number)) {
		const struct roster_test *test =
			&sarif->report->roster->tests[number];
		if (test->file)
			TRY(path_display(NULL, test->file, &shown));
		file = shown;
		line = test->line;
	}
	return make_location(sarif, file, line, name, NULL, 0, ret);
}

static const char *level_of(enum finding_severity severity)
{
	return severity == FINDING_HIGH	    ? "error"
	       : severity == FINDING_MEDIUM ? "warning"
					    : "note";
}

static size_t rule_of(const struct finding *finding)
{
	size_t i = 0;
	while (report_kinds[i]->kind != finding->kind)
		i++;
	return i;
}

static json_t *make_message(const struct finding *finding)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *err = str_append(&text, finding->message);
	if (!err && finding->isolation)
		err = str_appendf(&text, "; %s", finding->isolation);
	if (!err && finding->hint)
		err = str_appendf(&text, ". %s", finding->hint);
	err_ignore(err);
	return err ? NULL : json_pack("{s:o}", "text", value_text(text.s));
}

/* All that is found of a cause, as ids that `polygraph replay` takes. */
static json_t *make_findings(const struct cause *cause)
{
	json_t *list = json_array();
	for (size_t i = 0; i < MIN(cause->findings.n, FINDINGS_MAX); i++) {
		const struct finding *finding = cause->findings.data[i];
		value_append(&list,
			     json_pack("{s:o, s:o, s:s, s:b}", "id",
				       value_text(finding->id), "test",
				       value_text(finding_test(finding)),
				       "severity",
				       finding_severity_name(finding->severity),
				       "known", finding->known));
	}
	return list;
}

/* @suite: of a whole build; NULL: there is but one. */
static json_t *make_fingerprints(const struct cause *cause,
				 const struct finding *lead, const char *suite)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *err = str_appendf(&text, "%s %s%s%s",
				      cause_type_name(cause->type), cause->name,
				      suite ? " in " : "", suite ? suite : "");
	err_ignore(err);
	return err ? NULL
		   : json_pack("{s:o, s:o}", "polygraphId/v1",
			       value_text(lead->id), "polygraphCause/v1",
			       value_text(text.s));
}

static json_t *make_suppressions(const struct finding *lead)
{
	return json_pack("[{s:s, s:s, s:s}]", "kind", "external", "status",
			 "accepted", "justification",
			 lead->suppressed ? "the configuration suppresses it"
					  : "the baseline lists it");
}

static struct err *make_result(const struct sarif *sarif,
			       const struct cause *cause, json_t **ret)
{
	const struct finding *lead = block_lead(cause);
	enum finding_severity severity =
		cause->fresh ? cause->fresh_severity : cause->severity;
	_cleanup_(json_freep) json_t *object = NULL, *victim = NULL;
	_cleanup_(json_freep) json_t *related = NULL, *flows = NULL;
	json_t *const none = NULL;
	TRY(report_finding_json(lead, &object));
	TRY(make_victim(sarif, object, &victim));
	TRY(make_related(sarif, cause, lead, &related));
	TRY(make_flows(sarif, object, &flows));
	return value_made(
		json_pack("{s:s, s:I, s:s, s:o, s:[O], s:O, s:O*, s:o, s:o*, "
			  "s:{s:s, s:o, s:o, s:o}}",
			  "ruleId", lead->kind->name, "ruleIndex",
			  (json_int_t)rule_of(lead), "level",
			  level_of(severity), "message", make_message(lead),
			  "locations", victim, "relatedLocations", related,
			  "codeFlows", flows, "partialFingerprints",
			  make_fingerprints(cause, lead,
					    sarif_text(object, "suite")),
			  "suppressions",
			  cause->fresh ? none : make_suppressions(lead),
			  "properties", "severity",
			  finding_severity_name(severity), "replay",
			  value_text(lead->replay), "hint",
			  value_text(lead->hint), "findings",
			  make_findings(cause)),
		ret);
}

/* ---- the run ---- */

/*
 * Where a viewer shows the help: with links. The manual is where the tool is;
 * its address is what desktops and systemd's units have for it.
 */
static struct err *make_rule(const struct report_kind *kind, json_t **ret)
{
	static const char *const levels[] = { "error", "warning" };
	bool leaves = kind == &report_pollution;
	_cleanup_(str_freep) struct str manual = STR_INIT;
	_cleanup_(str_freep) struct str help = STR_INIT;
	TRY(str_appendf(&manual, "man:polygraph-%s(1)", kind->kind->command));
	TRY(str_appendf(&help,
			"%s\n\n- Reproduce it: `polygraph replay ID`, with the "
			"id of the alert.\n"
			"- How to read it: [polygraph-%s(1)](%s), `%s`.\n",
			kind->about, kind->kind->command, manual.s,
			kind->help));
	return value_made(
		json_pack("{s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s, s:s}, s:s, "
			  "s:{s:s}, s:{s:[s, s], s:s}}",
			  "id", kind->kind->name, "name", kind->title,
			  "shortDescription", "text", kind->title,
			  "fullDescription", "text", kind->about, "help",
			  "text", kind->about, "markdown", help.s, "helpUri",
			  manual.s, "defaultConfiguration", "level",
			  levels[leaves], "properties", "tags", "test",
			  "reliability", "documentation", kind->help),
		ret);
}

static struct err *make_rules(json_t **ret)
{
	_cleanup_(json_freep) json_t *list = json_array();
	for (size_t i = 0; report_kinds[i]; i++) {
		json_t *rule = NULL;
		TRY(make_rule(report_kinds[i], &rule));
		if (json_array_append_new(list, rule))
			return err_nomem();
	}
	*ret = take_ptr(list);
	return NULL;
}

static json_t *make_time(uint64_t seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm = {};
	char text[32] = "";
	gmtime_r(&at, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

/* What was not done is a notification. */
static json_t *make_notifications(const struct report *report)
{
	json_t *list = json_array();
	for (size_t i = 0; i < report->n_limits; i++)
		value_append(&list, json_pack("{s:s, s:{s:o}}", "level", "note",
					      "message", "text",
					      value_text(report->limits[i])));
	return list;
}

static struct err *make_folder_uri(const char *folder, char **ret)
{
	_cleanup_(str_freep) struct str uri = STR_INIT;
	TRY(str_append(&uri, "file://"));
	TRY(append_uri(&uri, folder));
	if (uri.s[uri.n - 1] != '/')
		TRY(str_append(&uri, "/"));
	*ret = str_take(&uri);
	return *ret ? NULL : err_nomem();
}

static struct err *make_invocation(const struct report *report, json_t **ret)
{
	const struct report_run *run = report->run;
	_cleanup_(freep) char *folder = NULL;
	json_t *const none = NULL;
	if (run && run->folder)
		TRY(make_folder_uri(run->folder, &folder));
	/* It did what it was asked to, whatever it found. */
	return value_made(
		json_pack("{s:b, s:o*, s:o*, s:o*, s:o*, s:o}",
			  "executionSuccessful",
			  !run || run->status <= 1 || run->status == 3,
			  "exitCode", run ? json_integer(run->status) : none,
			  "startTimeUtc", run ? make_time(run->started) : none,
			  "endTimeUtc",
			  run ? make_time(run->started +
					  run->ns / UINT64_C(1000000000))
			      : none,
			  "workingDirectory",
			  folder ? json_pack("{s:s}", "uri", folder) : none,
			  "toolExecutionNotifications",
			  make_notifications(report)),
		ret);
}

static struct err *sarif_write_member(struct sarif *sarif, const char *key,
				      json_t *value)
{
	_cleanup_(json_freep) json_t *owned = value;
	if (!value)
		return err_nomem();
	fprintf(sarif->out, "%s\n      \"%s\": ", sarif->comma ? "," : "", key);
	sarif->comma = true;
	return json_write_to(owned, JSON_REAL_PRECISION(12), sarif->out);
}

static struct err *write_tool(struct sarif *sarif)
{
	json_t *rules = NULL;
	TRY(make_rules(&rules));
	return sarif_write_member(
		sarif, "tool",
		json_pack("{s:{s:s, s:s, s:s, s:o}}", "driver", "name",
			  "polygraph", "version", sarif->report->version,
			  "semanticVersion", sarif->report->version, "rules",
			  rules));
}

static struct err *write_places(struct sarif *sarif)
{
	_cleanup_(freep) char *uri = NULL;
	json_t *invocation = NULL;
	TRY(make_invocation(sarif->report, &invocation));
	TRY(sarif_write_member(sarif, "invocations",
			       json_pack("[o]", invocation)));
	if (!sarif->root)
		return NULL;
	TRY(make_folder_uri(sarif->root, &uri));
	return sarif_write_member(sarif, "originalUriBaseIds",
				  json_pack("{s:{s:s}}", ROOT_ID, "uri", uri));
}

static struct err *sarif_begin(struct sarif *sarif)
{
	const struct report_run *run = sarif->report->run;
	const struct roster *roster = sarif->report->roster;
	if (run)
		sarif->root = run->sources ? run->sources : run->folder;
	if (sarif->root && !strcmp(sarif->root, "/"))
		sarif->root = NULL;
	for (size_t i = 0; roster && i < roster->n; i++) {
		const char *raw = roster_name(roster, i);
		_cleanup_(freep) char *name = str_utf8(raw, strlen(raw));
		if (!name)
			return err_nomem();
		TRY(map_text_put(&sarif->tests, name, i));
	}
	return NULL;
}

static struct err *sarif_write(const struct report *report,
			       const struct report_style *style _unused_,
			       FILE *out)
{
	_cleanup_(sarif_freep) struct sarif sarif = { .report = report,
						      .out = out };
	_cleanup_(causes_free) struct causes causes = {};
	TRY(causes_group(report, &causes));
	TRY(sarif_begin(&sarif));
	fputs("{\n  \"$schema\": "
	      "\"https://json.schemastore.org/sarif-2.1.0.json\",\n"
	      "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {",
	      out);
	TRY(write_tool(&sarif));
	TRY(write_places(&sarif));
	fputs(",\n      \"columnKind\": \"unicodeCodePoints\",\n"
	      "      \"results\": [",
	      out);
	for (size_t i = 0; i < causes.n; i++) {
		_cleanup_(json_freep) json_t *result = NULL;
		TRY(make_result(&sarif, &causes.data[i], &result));
		fputs(i ? ",\n        " : "\n        ", out);
		TRY(json_write_to(result, JSON_REAL_PRECISION(12), out));
	}
	fputs(causes.n ? "\n      ]\n    }\n  ]\n}\n" : "]\n    }\n  ]\n}\n",
	      out);
	return NULL;
}

const struct report_format report_sarif = {
	.name = "sarif",
	.write = sarif_write,
};
