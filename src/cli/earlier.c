#include "cli/earlier.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/detection.h"
#include "finding/assumption.h"
#include "finding/leftover.h"

static const struct finding_kind *const kinds[] = {
	&leftover_kind, &dependence_kind, &flaky_kind,
	&arrival_kind,	&assumption_kind,
};

static void earlier_finding_free(struct earlier_finding *finding)
{
	store_finding_free(&finding->kept);
	record_free(&finding->record);
	json_decref(finding->json);
	*finding = (struct earlier_finding){};
}

void earlier_free(struct earlier_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		earlier_finding_free(&list->data[i]);
	vec_free(list);
}

const char *earlier_text(const struct earlier_finding *finding, const char *key)
{
	const char *text =
		json_string_value(json_object_get(finding->json, key));
	return text ? text : "";
}

/* Names are compared as JSON has them; false: there is no such test. */
static struct err *find_test(const struct roster *roster, const char *name,
			     size_t *ret, bool *ret_found)
{
	*ret_found = false;
	for (size_t i = 0; i < roster->n && !*ret_found; i++) {
		const char *raw = roster_name(roster, i);
		_cleanup_(freep) char *text = str_utf8(raw, strlen(raw));
		if (!text)
			return err_nomem();
		*ret_found = !strcmp(text, name);
		*ret = i;
	}
	return NULL;
}

static const struct finding_kind *kind_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	}
	return NULL;
}

static bool was_asked(const struct detection *detection, size_t test)
{
	for (size_t i = 0; i < detection->order.n; i++) {
		if (detection->order.data[i] == test)
			return true;
	}
	return false;
}

/* Nothing in the store is trusted: what is not whole is not taken. */
static struct err *read_earlier(const struct detection *detection,
				const char *digest,
				struct earlier_finding *finding, bool *ret)
{
	struct store_finding *kept = &finding->kept;
	*ret = false;
	if (!kept->json || !kept->replay)
		return NULL;
	struct err *err = record_read(kept->replay, &finding->record);
	if (err) {
		err_ignore(err);
		return NULL;
	}
	finding->json = json_loads(kept->json, 0, NULL);
	finding->kind = kind_named(earlier_text(finding, "kind"));
	bool found;
	TRY(find_test(detection->roster, earlier_text(finding, "test"),
		      &finding->test, &found));
	bool whole = found && finding->kind &&
		     *earlier_text(finding, "message") &&
		     *earlier_text(finding, "replay") && *digest;
	*ret = whole && !strcmp(finding->record.files_digest, digest);
	finding->left_out = !was_asked(detection, finding->test);
	return NULL;
}

struct err *earlier_load(const struct detection *detection,
			 struct earlier_list *ret)
{
	_cleanup_(store_findings_free) struct store_findings all = {};
	struct results *results = detection->records.results;
	const char *digest = "";
	TRY(results_get(results, detection->step->detector->name, &all,
			&digest));
	for (size_t i = 0; i < all.n; i++) {
		struct earlier_finding finding = { .kept = all.data[i] };
		bool whole;
		all.data[i] = (struct store_finding){};
		struct err *err =
			read_earlier(detection, digest, &finding, &whole);
		if (!err && whole)
			err = vec_push(ret, finding);
		if (err || !whole)
			earlier_finding_free(&finding);
		TRY(err);
	}
	return NULL;
}

struct err *earlier_prefix(const struct detection *detection,
			   const struct trial *trial, struct order_tests *ret)
{
	for (size_t i = 0; i + 1 < trial->order.n; i++) {
		size_t test = 0;
		bool found;
		TRY(find_test(detection->roster, trial->order.data[i], &test,
			      &found));
		if (!found)
			return err_create(ERR_SUITE, "no test '%s'",
					  trial->order.data[i]);
		TRY(vec_push(ret, test));
	}
	return NULL;
}

static enum finding_severity severity_named(const char *name)
{
	for (int i = FINDING_HIGH; i > FINDING_LOW; i--) {
		if (!strcmp(finding_severity_name((enum finding_severity)i),
			    name))
			return (enum finding_severity)i;
	}
	return FINDING_LOW;
}

/* With the words of then; the rest is in its JSON. */
static struct err *report_earlier(struct detection *detection,
				  struct earlier_finding *from)
{
	const char *isolation = earlier_text(from, "isolation");
	_cleanup_(finding_free) struct finding finding = {
		.kind = from->kind,
		.detector = detection->step->detector->name,
		.tests = detection->roster,
		.test = from->test,
		.severity = severity_named(earlier_text(from, "severity")),
		.id = strdup(from->kept.id),
		.message = strdup(earlier_text(from, "message")),
		.replay = strdup(earlier_text(from, "replay")),
		.hint = *earlier_text(from, "hint")
				? strdup(earlier_text(from, "hint"))
				: NULL,
		.earlier = strdup(from->kept.json),
		.record = strdup(from->kept.replay),
	};
	TRY(str_copy(*isolation ? isolation : NULL, &finding.isolation));
	if (!finding.id || !finding.message || !finding.replay ||
	    !finding.earlier || !finding.record)
		return err_nomem();
	TRY(vec_push(&detection->findings, finding));
	finding = (struct finding){};
	return NULL;
}

/* Moves @text to *@field; "": it is not said. */
static struct err *take_kept_words(json_t *json, const char *key, char **field)
{
	const char *text = json_string_value(json_object_get(json, key));
	free(*field);
	*field = NULL;
	return str_copy(text, field);
}

/* A run of its test alone knows less of it than the run that found it. */
static struct err *take_kept(struct finding *finding, const char *kept)
{
	_cleanup_(json_freep) json_t *json = json_loads(kept, 0, NULL);
	const char *severity =
		json_string_value(json_object_get(json, "severity"));
	if (!severity || !json_string_value(json_object_get(json, "message")))
		return NULL;
	TRY(take_kept_words(json, "message", &finding->message));
	TRY(take_kept_words(json, "hint", &finding->hint));
	finding->severity = severity_named(severity);
	finding->rendered = true;
	free(finding->earlier);
	return str_copy(kept, &finding->earlier);
}

struct err *earlier_look(struct detection *detection,
			 const struct results_look *look)
{
	struct findings *findings = &detection->findings;
	size_t n = 0;
	for (size_t i = 0; i < findings->n; i++) {
		if (strcmp(findings->data[i].id, look->id) != 0)
			finding_free(&findings->data[i]);
		else
			findings->data[n++] = findings->data[i];
	}
	findings->n = n;
	for (size_t i = 0; look->json && i < n; i++)
		TRY(take_kept(&findings->data[i], look->json));
	return NULL;
}

static bool is_found(const struct detection *detection, const char *id)
{
	for (size_t i = 0; i < detection->findings.n; i++) {
		if (!strcmp(detection->findings.data[i].id, id))
			return true;
	}
	return false;
}

struct err *earlier_add(struct detection *detection, struct earlier_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct earlier_finding *finding = &list->data[i];
		if (is_found(detection, finding->kept.id))
			continue;
		if (finding->tried && !finding->left_out) {
			log_debug(LOG_CLI,
				  "%s: tried again, and not found any more: %s",
				  finding->kept.id,
				  earlier_text(finding, "message"));
			continue;
		}
		TRY(finding->left_out
			    ? results_retain(detection->records.results,
					     &finding->kept)
			    : report_earlier(detection, finding));
	}
	return NULL;
}
