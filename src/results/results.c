#include "results/results.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/globs.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/version.h"
#include "finding/finding.h"
#include "report/report.h"
#include "results/digest.h"
#include "store/store.h"

struct results {
	struct results_source source;
	struct store *store; /* NULL: not opened yet */
	bool begun;	     /* its facts are this suite's */
	bool digested;	     /* these are known: */
	char files[DIGEST_SIZE];
	char digest[DIGEST_SIZE];
	bool lost;	 /* the store cannot be opened */
	bool facts_lost; /* no more are kept */
	bool warned;
	struct store_findings retained;
};

static char folder_elsewhere[PATH_MAX];

const char *results_folder(void)
{
	return *folder_elsewhere ? folder_elsewhere : RESULTS_FOLDER;
}

struct err *results_set_folder(const char *path)
{
	if (strlen(path) >= sizeof(folder_elsewhere))
		return err_create(ERR_USAGE, "a path is too long");
	memcpy(folder_elsewhere, path, strlen(path) + 1);
	return NULL;
}

bool results_are_there(void)
{
	_cleanup_(freep) char *path = NULL;
	struct err *err = path_join(results_folder(), STORE_FILE, &path);
	bool there = !err && !access(path, F_OK);
	err_ignore(err);
	return there;
}

/* Takes @err over. */
static void warn_of_loss(struct results *results, struct err *err)
{
	const char *hint = err_hint_text(err);
	if (!results->warned)
		log_warn("results are not kept: %s%s%s", err_message(err),
			 hint ? "; " : "", hint ? hint : "");
	results->warned = true;
	err_destroy(err);
}

/* ---- open and close ---- */

struct err *results_open(const struct results_source *source,
			 struct results **ret)
{
	struct results *results = calloc(1, sizeof(*results));
	if (!results)
		return err_nomem();
	results->source = *source;
	*ret = results;
	return NULL;
}

void results_close(struct results *results)
{
	if (!results)
		return;
	store_close(results->store);
	store_findings_free(&results->retained);
	free(results);
}

/* @make: also where there is none yet. */
static bool open_store(struct results *results, bool make)
{
	if (results->store)
		return true;
	if (results->lost || results->source.look ||
	    (!make && !results_are_there()))
		return false;
	struct err *err = store_open(results_folder(), &results->store);
	results->lost = err;
	if (err)
		warn_of_loss(results, err);
	return !err;
}

static struct err *make_digests(struct results *results)
{
	const struct results_source *source = &results->source;
	if (results->digested)
		return NULL;
	TRY(digest_files(source->options, results->files));
	_cleanup_(str_freep) struct str functions = STR_INIT;
	TRY(globs_describe(suite_test_functions(source->options), &functions));
	char timeout[32];
	snprintf(timeout, sizeof(timeout), "%llu",
		 (unsigned long long)source->options->timeout_ns);
	const char *const words[] = {
		POLYGRAPH_VERSION,
		polygraph_commit, /* between releases, too */
		source->name,
		functions.s,
		timeout,
		source->matters ? source->matters : "",
		NULL,
	};
	digest_suite(source->suite, results->files, words, results->digest);
	results->digested = true;
	log_debug(LOG_RESULTS, "'%s': digest %s, of its files %s", source->name,
		  results->digest, results->files);
	return NULL;
}

/* ---- facts ---- */

static struct err *begin_facts(struct results *results)
{
	if (results->begun)
		return NULL;
	TRY(make_digests(results));
	TRY(store_begin(results->store, results->source.name, results->digest));
	results->begun = true;
	return NULL;
}

static bool has_facts(struct results *results, bool make)
{
	if (results->facts_lost || !open_store(results, make))
		return false;
	struct err *err = begin_facts(results);
	results->facts_lost = err;
	if (err)
		warn_of_loss(results, err);
	return !err;
}

bool results_get_fact(void *data, const char *key, void **ret, size_t *ret_n)
{
	struct results *results = data;
	return has_facts(results, false) &&
	       store_get(results->store, key, ret, ret_n);
}

void results_put_fact(void *data, const char *key, const void *value, size_t n)
{
	struct results *results = data;
	if (!has_facts(results, true))
		return;
	struct err *err = store_put(results->store, key, value, n);
	if (!err)
		return;
	results->facts_lost = true;
	warn_of_loss(results, err);
}

void results_forget_facts(struct results *results)
{
	if (!has_facts(results, false))
		return;
	struct err *err = store_forget(results->store);
	if (!err)
		return;
	/* What is still there is not to be believed. */
	results->facts_lost = true;
	warn_of_loss(results, err);
}

/* ---- findings ---- */

static bool is_of_detector(const struct finding *finding, const char *detector)
{
	return !strcmp(finding_detector(finding), detector);
}

static bool any_of_detector(const struct finding *findings, size_t n,
			    const char *detector)
{
	for (size_t i = 0; i < n; i++) {
		if (is_of_detector(&findings[i], detector))
			return true;
	}
	return false;
}

/* One that cannot be reproduced from here is still kept. */
static struct err *add_finding(struct results *results,
			       const struct finding *finding,
			       struct store_findings *kept)
{
	const struct results_source *source = &results->source;
	struct store_finding record = { .id = strdup(finding->id) };
	struct err *err = record.id ? NULL : err_nomem();
	if (!err)
		err = finding->earlier
			      ? str_copy(finding->earlier, &record.json)
			      : report_finding_text(finding, &record.json);
	if (!err && finding->earlier)
		err = str_copy(finding->record, &record.replay);
	else if (!err)
		err_ignore(source->describe(source->data, finding,
					    results->files, &record.replay));
	if (!err)
		err = vec_push(kept, record);
	if (err)
		store_finding_free(&record);
	return err;
}

struct err *results_get(struct results *results, const char *detector,
			struct store_findings *ret, const char **ret_digest)
{
	_cleanup_(store_findings_free) struct store_findings all = {};
	if (!open_store(results, false))
		return NULL;
	struct err *err = make_digests(results);
	if (!err)
		err = store_list_findings(results->store, &all);
	if (err) {
		warn_of_loss(results, err);
		return NULL;
	}
	for (size_t i = 0; i < all.n; i++) {
		if (strcmp(all.data[i].command, detector) != 0 ||
		    strcmp(all.data[i].suite, results->source.name) != 0)
			continue;
		TRY(vec_push(ret, all.data[i]));
		all.data[i] = (struct store_finding){};
	}
	*ret_digest = results->files;
	return NULL;
}

struct err *results_retain(struct results *results,
			   struct store_finding *finding)
{
	TRY(vec_push(&results->retained, *finding));
	*finding = (struct store_finding){};
	return NULL;
}

static struct err *results_put_findings(struct results *results,
					const char *detector,
					const struct finding *findings,
					size_t n)
{
	_cleanup_(store_findings_free) struct store_findings kept = {};
	TRY(make_digests(results));
	for (size_t i = 0; i < n; i++) {
		if (is_of_detector(&findings[i], detector))
			TRY(add_finding(results, &findings[i], &kept));
	}
	TRY(vec_append(&kept, results->retained.data, results->retained.n));
	results->retained.n = 0;
	return store_put_findings(results->store, results->source.name,
				  detector, kept.data, kept.n);
}

void results_put(struct results *results, const char *detector,
		 const struct finding *findings, size_t n)
{
	struct results_look *look = results->source.look;
	for (size_t i = 0; look && i < n; i++)
		look->found |= !strcmp(findings[i].id, look->id);
	if (look)
		log_debug(LOG_RESULTS,
			  "searched for '%s' in %zu findings: "
			  "%s",
			  look->id, n, look->found ? "found" : "not found");
	if (look ||
	    !open_store(results, any_of_detector(findings, n, detector)))
		return;
	struct err *err = results_put_findings(results, detector, findings, n);
	if (err)
		warn_of_loss(results, err);
}
