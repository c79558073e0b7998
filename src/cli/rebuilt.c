#include "cli/rebuilt.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "cli/detection.h"
#include "cli/interrupt.h"
#include "cli/reuse.h"

/* Of the last check's findings, those that are looked through. */
#define ROUNDS_MAX 100

void rebuilt_free(struct rebuilt *rebuilt)
{
	test_digests_free(&rebuilt->digests);
	free(rebuilt->looked_at);
	indexes_freep(&rebuilt->asked);
	json_decref(rebuilt->report);
	*rebuilt = (struct rebuilt){};
}

static const char *rebuilt_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static struct err *read_digests(struct detection *detection)
{
	struct rebuilt *rebuilt = &detection->rebuilt;
	if (rebuilt->read)
		return NULL;
	TRY(test_digests_read(detection->suite, &detection->choice.options,
			      &rebuilt->digests));
	rebuilt->read = true;
	return NULL;
}

static void format_digest(uint64_t digest, char out[17])
{
	snprintf(out, 17, "%016llx", (unsigned long long)digest);
}

/* ---- before the search ---- */

/* Tests by name: their entry in the last check's report. */
static struct err *list_known(const json_t *report, struct map_text *ret)
{
	size_t i;
	json_t *test;
	json_array_foreach(json_object_get(report, "tests"), i, test)
	{
		const char *name = rebuilt_text(test, "name");
		if (name)
			TRY(map_text_put(ret, name, i));
	}
	return NULL;
}

static struct err *is_same(const struct detection *detection,
			   const struct map_text *known, size_t test, bool *ret)
{
	const struct rebuilt *rebuilt = &detection->rebuilt;
	const char *raw = roster_name(detection->roster, test);
	_cleanup_(freep) char *name = str_utf8(raw, strlen(raw));
	uint64_t at;
	char digest[17];
	if (!name)
		return err_nomem();
	*ret = false;
	if (!map_text_get(known, name, &at) || !rebuilt->digests.digests[test])
		return NULL;
	const char *then = rebuilt_text(
		json_array_get(json_object_get(rebuilt->report, "tests"), at),
		"digest");
	format_digest(rebuilt->digests.digests[test], digest);
	*ret = then && !strcmp(then, digest);
	return NULL;
}

static struct err *find_number(const struct roster *roster, const char *name,
			       size_t *ret)
{
	*ret = roster->n;
	for (size_t i = 0; i < roster->n; i++) {
		const char *raw = roster_name(roster, i);
		_cleanup_(freep) char *text = str_utf8(raw, strlen(raw));
		if (!text)
			return err_nomem();
		if (!strcmp(text, name)) {
			*ret = i;
			break;
		}
	}
	return NULL;
}

/* The tests that reproduce a finding, as numbers; one that is gone: roster.n. */
static struct err *list_partners(const struct detection *detection,
				 const struct record *record,
				 struct indexes *ret)
{
	for (size_t i = 0; i < record->trials.n; i++) {
		const struct strv *order =
			(const struct strv *)&record->trials.data[i].order;
		for (size_t j = 0; j < order->n; j++) {
			size_t test;
			TRY(find_number(detection->roster, order->data[j],
					&test));
			TRY(vec_push(ret, test));
		}
	}
	return NULL;
}

static bool any_looked_at(const struct rebuilt *rebuilt, size_t n,
			  const struct indexes *tests)
{
	for (size_t i = 0; i < tests->n; i++) {
		if (tests->data[i] >= n || rebuilt->looked_at[tests->data[i]])
			return true;
	}
	return false;
}

/* Tests of order findings with one that changed; until there are no more. */
static struct err *add_partners(struct detection *detection)
{
	_cleanup_(store_findings_free) struct store_findings all = {};
	struct rebuilt *rebuilt = &detection->rebuilt;
	size_t n = detection->roster->n;
	const char *digest;
	bool more = true;
	TRY(results_get(detection->records.results, "order", &all, &digest));
	for (unsigned round = 0; more && round < ROUNDS_MAX; round++) {
		more = false;
		for (size_t i = 0; i < all.n; i++) {
			_cleanup_(record_free) struct record record = {};
			_cleanup_(indexes_freep) struct indexes tests = {};
			struct err *err =
				all.data[i].replay
					? record_read(all.data[i].replay,
						      &record)
					: err_create(ERR_SUITE, "nothing");
			if (err) {
				err_ignore(err);
				continue;
			}
			TRY(list_partners(detection, &record, &tests));
			if (!any_looked_at(rebuilt, n, &tests))
				continue;
			for (size_t j = 0; j < tests.n; j++) {
				if (tests.data[j] >= n ||
				    rebuilt->looked_at[tests.data[j]])
					continue;
				rebuilt->looked_at[tests.data[j]] = more = true;
			}
		}
	}
	return NULL;
}

/* Leaves in the order what is looked at. */
static struct err *restrict_order(struct detection *detection)
{
	struct rebuilt *rebuilt = &detection->rebuilt;
	struct indexes *order = &detection->order;
	size_t n = 0;
	TRY(vec_append(&rebuilt->asked, order->data, order->n));
	for (size_t i = 0; i < order->n; i++) {
		if (rebuilt->looked_at[order->data[i]])
			order->data[n++] = order->data[i];
	}
	log_debug(LOG_CLI, "%zu of %zu tests changed since the last check", n,
		  order->n);
	order->n = n;
	return NULL;
}

static struct err *compare_tests(struct detection *detection)
{
	_cleanup_(map_text_freep) struct map_text known = MAP_INIT;
	struct rebuilt *rebuilt = &detection->rebuilt;
	size_t same = 0, n = detection->roster->n;
	TRY(list_known(rebuilt->report, &known));
	TRY(read_digests(detection));
	bool *looked_at = calloc(n + 1, sizeof(*looked_at));
	if (!looked_at)
		return err_nomem();
	rebuilt->looked_at = looked_at;
	for (size_t i = 0; i < n; i++) {
		bool is = false;
		TRY(is_same(detection, &known, i, &is));
		looked_at[i] = !is;
	}
	TRY(add_partners(detection));
	for (size_t i = 0; i < detection->order.n; i++)
		same += !looked_at[detection->order.data[i]];
	if (same)
		return restrict_order(detection);
	free(rebuilt->looked_at);
	rebuilt->looked_at = NULL;
	return NULL;
}

struct err *rebuilt_load(struct detection *detection)
{
	_cleanup_(freep) char *key = NULL;
	_cleanup_(freep) void *value = NULL;
	struct rebuilt *rebuilt = &detection->rebuilt;
	struct results *results = detection->records.results;
	size_t n = 0;
	if (!reuse_is_possible(detection) || !detection->choice.options.argv)
		return NULL;
	TRY(reuse_make_key(detection, false, &key));
	if (!results_get_lasting(results, key, &value, &n))
		return NULL;
	rebuilt->report = json_loadb(value, n, JSON_ALLOW_NUL, NULL);
	const char *files = results_files(results);
	const char *then = rebuilt_text(rebuilt->report, "files");
	/* The same files, and yet not reused: more is asked for. */
	if (!files || !then || !strcmp(files, then))
		return NULL;
	return compare_tests(detection);
}

/* ---- findings of the last check ---- */

const struct indexes *rebuilt_asked(const struct detection *detection)
{
	return detection->rebuilt.looked_at ? &detection->rebuilt.asked
					    : &detection->order;
}

bool rebuilt_was_asked(const struct detection *detection, size_t test)
{
	const struct indexes *order = rebuilt_asked(detection);
	for (size_t i = 0; i < order->n; i++) {
		if (order->data[i] == test)
			return true;
	}
	return false;
}

struct err *rebuilt_holds(const struct detection *detection,
			  struct earlier_finding *finding,
			  const char *files_digest, bool *ret)
{
	_cleanup_(indexes_freep) struct indexes tests = {};
	const struct rebuilt *rebuilt = &detection->rebuilt;
	const char *then = rebuilt_text(rebuilt->report, "files");
	*ret = false;
	if (!rebuilt->looked_at || !then ||
	    strcmp(finding->record.files_digest, then) != 0 ||
	    strlen(files_digest) != strlen(then))
		return NULL;
	TRY(list_partners(detection, &finding->record, &tests));
	TRY(vec_push(&tests, finding->test));
	if (any_looked_at(rebuilt, detection->roster->n, &tests))
		return NULL;
	/* It is one of the suite as it is now. */
	char *at = strstr(finding->kept.replay, then);
	if (!at)
		return NULL;
	memcpy(at, files_digest, strlen(then));
	*ret = true;
	return NULL;
}

/* ---- after the search ---- */

static struct err *add_known_test(struct detection *detection, size_t number,
				  const json_t *test)
{
	json_int_t outcome =
		json_integer_value(json_object_get(test, "outcome"));
	if (outcome <= OUTCOME_NONE || outcome >= OUTCOMES)
		return NULL;
	const struct suite_result result = {
		.test = number,
		.outcome = (enum outcome)outcome,
		.ns = (uint64_t)json_integer_value(json_object_get(test, "ns")),
		.message = (char *)rebuilt_text(test, "message"),
		.file = (char *)rebuilt_text(test, "file"),
		.line = (unsigned)json_integer_value(
			json_object_get(test, "line")),
	};
	struct suite_observer observer = collect_observer(&detection->collect);
	observer.finished(observer.data, &result);
	return NULL;
}

struct err *rebuilt_add(struct detection *detection)
{
	_cleanup_(map_text_freep) struct map_text known = MAP_INIT;
	struct rebuilt *rebuilt = &detection->rebuilt;
	const json_t *tests = json_object_get(rebuilt->report, "tests");
	size_t same = 0;
	if (!rebuilt->looked_at)
		return NULL;
	TRY(list_known(rebuilt->report, &known));
	for (size_t i = 0; i < rebuilt->asked.n; i++) {
		size_t test = rebuilt->asked.data[i];
		const char *raw = roster_name(detection->roster, test);
		_cleanup_(freep) char *name = str_utf8(raw, strlen(raw));
		uint64_t at;
		if (!name)
			return err_nomem();
		if (rebuilt->looked_at[test] ||
		    !map_text_get(&known, name, &at))
			continue;
		same++;
		TRY(add_known_test(detection, test, json_array_get(tests, at)));
	}
	if (same == rebuilt->asked.n)
		snprintf(rebuilt->line, sizeof(rebuilt->line),
			 "no test is made of other code or data than at the "
			 "last check; --fresh looks at all");
	else
		snprintf(rebuilt->line, sizeof(rebuilt->line),
			 "looked at %zu of %zu tests, among themselves: the "
			 "others are as at the last check; --fresh looks at "
			 "all",
			 rebuilt->asked.n - same, rebuilt->asked.n);
	return collect_limit(&detection->collect, rebuilt->line);
}

static json_t *pack_rebuilt_test(const struct report_test *test,
				 uint64_t digest)
{
	_cleanup_(freep) char *name = str_utf8(test->name, strlen(test->name));
	_cleanup_(freep) char *message =
		test->message ? str_utf8(test->message, strlen(test->message))
			      : NULL;
	_cleanup_(freep) char *file =
		test->failure_file ? str_utf8(test->failure_file,
					      strlen(test->failure_file))
				   : NULL;
	char text[17];
	format_digest(digest, text);
	return json_pack("{s:s, s:s, s:i, s:I, s:s*, s:s*, s:i}", "name",
			 name ? name : "", "digest", text, "outcome",
			 (int)test->outcome, "ns", (json_int_t)test->ns,
			 "message", message, "file", file, "line",
			 (int)test->failure_line);
}

static struct err *pack_rebuilt(struct detection *detection, json_t **ret)
{
	_cleanup_(map_text_freep) struct map_text numbers = MAP_INIT;
	_cleanup_(json_freep) json_t *tests = json_array();
	const struct rebuilt *rebuilt = &detection->rebuilt;
	for (size_t i = 0; i < detection->roster->n; i++)
		TRY(map_text_put(&numbers, roster_name(detection->roster, i),
				 i));
	for (size_t i = 0; i < detection->collect.tests.n; i++) {
		const struct report_test *test =
			&detection->collect.tests.data[i];
		uint64_t number;
		if (!map_text_get(&numbers, test->name, &number) ||
		    number >= rebuilt->digests.n ||
		    !rebuilt->digests.digests[number])
			continue;
		if (json_array_append_new(
			    tests,
			    pack_rebuilt_test(
				    test, rebuilt->digests.digests[number])))
			return err_nomem();
	}
	*ret = take_ptr(tests);
	return NULL;
}

struct err *rebuilt_keep(struct detection *detection)
{
	_cleanup_(freep) char *key = NULL;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(json_freep) json_t *tests = NULL;
	struct results *results = detection->records.results;
	if (!reuse_is_kept(detection) || interrupt_happened() ||
	    !detection->suite || !detection->choice.options.argv ||
	    detection->collect.finished < detection->order.n)
		return NULL;
	TRY(reuse_make_key(detection, false, &key));
	TRY(read_digests(detection));
	TRY(pack_rebuilt(detection, &tests));
	const char *files = results_files(results);
	if (!files || !json_array_size(tests))
		return NULL;
	_cleanup_(json_freep) json_t *report =
		json_pack("{s:s, s:O}", "files", files, "tests", tests);
	text = report ? json_dumps(report, JSON_COMPACT) : NULL;
	if (!text)
		return err_nomem();
	results_put_lasting(results, key, text, strlen(text));
	return NULL;
}
