/* What there is to replay: the findings of the last runs. */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/suggest.h"
#include "replay/record.h"
#include "replay/replay.h"
#include "results/results.h"

/* Findings that an error names. */
#define SHOWN_FINDINGS 20

static struct err *open_results(struct store **ret)
{
	if (!access(RESULTS_FOLDER "/" STORE_FILE, F_OK))
		return store_open(RESULTS_FOLDER, ret);
	return err_hint(err_create(ERR_USAGE,
				   "no stored findings in the working "
				   "directory"),
			"run it where the detector ran: findings are "
			"in " RESULTS_FOLDER " there");
}

static json_t *parse_finding(const struct store_finding *finding)
{
	return json_loads(finding->json ? finding->json : "", 0, NULL);
}

/* Found by any of several commands. */
static bool is_flaky(const json_t *json)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));
	return kind && !strcmp(kind, "flaky");
}

/* In a line: "order-0123  victim  Registry.Counts". */
static struct err *append_finding(struct str *str,
				  const struct store_finding *finding)
{
	_cleanup_(json_freep) json_t *json = parse_finding(finding);
	const char *test = json_string_value(json_object_get(json, "test"));
	const char *class = json_string_value(json_object_get(json, "class"));
	const char *root = json_string_value(json_object_get(json, "root"));
	if (!root)
		root = json_string_value(json_object_get(json, "api"));
	const char *const parts[] = {
		finding->id,
		"  ",
		class		 ? class
		: is_flaky(json) ? "flaky"
				 : finding->command,
		"  ",
		test ? test : "?",
		root ? ": " : "",
		root ? root : "",
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(str_append_escaped(str, parts[i], strlen(parts[i])));
	return NULL;
}

static struct err *append_known(struct str *hint, const char *id,
				const struct store_findings *all)
{
	struct suggestion suggestion;
	suggestion_init(&suggestion, id);
	for (size_t i = 0; i < all->n; i++)
		suggestion_offer(&suggestion, all->data[i].id);
	if (suggestion.best)
		TRY(str_appendf(hint, "did you mean '%s'? ", suggestion.best));
	TRY(str_append(hint, "known are:"));
	for (size_t i = 0; i < MIN(all->n, (size_t)SHOWN_FINDINGS); i++) {
		TRY(str_append(hint, "\n"));
		TRY(append_finding(hint, &all->data[i]));
	}
	if (all->n <= SHOWN_FINDINGS)
		return NULL;
	return str_appendf(hint,
			   "\n… and %zu more; 'polygraph replay --list' shows "
			   "them",
			   all->n - SHOWN_FINDINGS);
}

/* Adds to the error of an id that is not known what is. Takes it over. */
static struct err *hint_at_known(struct err *err, struct store *store,
				 const char *id)
{
	_cleanup_(store_findings_free) struct store_findings all = {};
	_cleanup_(str_freep) struct str hint = STR_INIT;
	_cleanup_(err_destroyp) struct err *unlisted =
		store_list_findings(store, &all);
	if (unlisted || err_kind(err) != ERR_USAGE)
		return err;
	if (!all.n)
		return err_hint(err, "the last runs had no findings");
	_cleanup_(err_destroyp) struct err *failed =
		append_known(&hint, id, &all);
	return failed ? err : err_hint(err, "%s", hint.s);
}

/* Does the path of the shorter one end that of the longer one? */
static bool is_same_program(const char *a, size_t n_a, const char *b,
			    size_t n_b)
{
	if (n_a > 2 && a[0] == '.' && a[1] == '/')
		return is_same_program(a + 2, n_a - 2, b, n_b);
	if (n_b > 2 && b[0] == '.' && b[1] == '/')
		return is_same_program(a, n_a, b + 2, n_b - 2);
	if (n_a > n_b)
		return is_same_program(b, n_b, a, n_a);
	return n_a && !memcmp(a, b + n_b - n_a, n_a) &&
	       (n_a == n_b || b[n_b - n_a - 1] == '/');
}

static bool is_of_program(const struct store_finding *finding,
			  const char *program)
{
	const char *suite = finding->suite ? finding->suite : "";
	return is_same_program(suite, strcspn(suite, " "), program,
			       strlen(program));
}

/* The same test of another program has the same id: that of @program. */
static struct err *replay_choose_program(struct store *store,
					 const char *program,
					 struct store_finding *finding)
{
	_cleanup_(store_findings_free) struct store_findings all = {};
	TRY(store_list_findings(store, &all));
	for (size_t i = 0; i < all.n; i++) {
		struct store_finding *other = &all.data[i];
		if (strcmp(other->id, finding->id) != 0 ||
		    !is_of_program(other, program))
			continue;
		store_finding_free(finding);
		*finding = *other;
		*other = (struct store_finding){};
		return NULL;
	}
	return err_hint(err_create(ERR_USAGE, "'%s' does not belong to '%s'",
				   finding->id, program),
			"it belongs to '%s'",
			finding->suite ? finding->suite : "?");
}

struct err *replay_find(const char *id, const char *program,
			struct store_finding *ret)
{
	/* It is closed before tests run: they may take long. */
	_cleanup_(store_closep) struct store *store = NULL;
	struct store_finding finding = {};
	TRY(open_results(&store));
	struct err *err = store_get_finding(store, id, &finding);
	if (err)
		return hint_at_known(err, store, id);
	if (program && !is_of_program(&finding, program))
		err = replay_choose_program(store, program, &finding);
	if (err) {
		store_finding_free(&finding);
		return err;
	}
	if (finding.replay) {
		*ret = finding;
		return NULL;
	}
	err = err_hint(err_create(ERR_USAGE,
				  "'%s' cannot be replayed by its id",
				  finding.id),
		       "its command line or the name of its test is not UTF-8; "
		       "run the command that found it again");
	store_finding_free(&finding);
	return err;
}

struct err *replay_find_latest(const char *prefix, struct store_findings *ret)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(store_findings_free) struct store_findings all = {};
	const char *suite = NULL;
	TRY(open_results(&store));
	TRY(store_list_findings(store, &all));
	for (size_t i = 0; i < all.n; i++) {
		struct store_finding *finding = &all.data[i];
		size_t n = strlen(prefix);
		if (strncmp(finding->id, prefix, n) != 0 ||
		    finding->id[n] != '-' || !finding->replay)
			continue;
		if (suite && finding->suite &&
		    strcmp(suite, finding->suite) != 0)
			continue;
		TRY(vec_push(ret, *finding));
		suite = finding->suite ? finding->suite : "";
		*finding = (struct store_finding){};
	}
	if (ret->n)
		return NULL;
	return err_hint(err_create(ERR_USAGE,
				   "the last run has no order-dependent test"),
			"run 'polygraph order' first");
}

/* As they were written; what is no JSON becomes null. */
static struct err *list_json(const struct store_findings *all, FILE *out)
{
	fputs("[", out);
	for (size_t i = 0; i < all->n; i++) {
		_cleanup_(json_freep) json_t *json =
			parse_finding(&all->data[i]);
		fprintf(out, "%s\n  %s", i ? "," : "", json ? "" : "null");
		if (json)
			TRY(json_write_to(json, 0, out));
	}
	fputs(all->n ? "\n]\n" : "]\n", out);
	return NULL;
}

struct err *replay_list(bool json, bool quiet, FILE *out)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(store_findings_free) struct store_findings all = {};
	TRY(open_results(&store));
	TRY(store_list_findings(store, &all));
	if (json)
		return list_json(&all, out);
	if (!all.n)
		log_warn("the last runs had no findings");
	for (size_t i = 0; i < all.n; i++) {
		const struct store_finding *finding = &all.data[i];
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(quiet ? str_append_escaped(&line, finding->id,
					       strlen(finding->id))
			  : append_finding(&line, finding));
		fprintf(out, "%s\n", line.s ? line.s : "");
	}
	return NULL;
}
