/* polygraph baseline: shows or updates the list of known findings. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/baseline.h"
#include "cli/command.h"
#include "cli/common.h"
#include "finding/words.h"
#include "results/results.h"

struct baseline_values {
	struct common_options common;
	char *baseline;
	bool update;
};

static const struct baseline_values defaults = { .common = COMMON_DEFAULTS };

#define FIELD(member) .offset = offsetof(struct baseline_values, member)

/* clang-format off */
static const struct option baseline_options[] = {
	{ "baseline", 0, OPTION_TEXT, FIELD(baseline), .value = "FILE",
	  .help = "the list, as --baseline of the detectors takes it" },
	{ "update", 0, OPTION_FLAG, FIELD(update), .no_config = true,
	  .help = "write the findings of the last runs to it instead" },
	{ "quiet", 'q', OPTION_FLAG, FIELD(common.quiet),
	  .help = "only the ids" },
	{}
};
/* clang-format on */

static const struct option_group baseline_group = { "Baseline",
						    baseline_options };

static struct err *list_results(struct store_findings *ret)
{
	_cleanup_(store_closep) struct store *store = NULL;
	if (access(RESULTS_FOLDER "/" STORE_FILE, F_OK) < 0)
		return NULL;
	TRY(store_open(RESULTS_FOLDER, &store));
	return store_list_findings(store, ret);
}

static const char *baseline_text(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));
	return text ? text : "";
}

/* All that the last runs found, and nothing else. */
static struct err *update_from_results(struct baseline *baseline,
				       const struct store_findings *found,
				       bool quiet)
{
	for (size_t i = 0; i < baseline->entries.n; i++)
		baseline->entries.data[i].gone = true;
	for (size_t i = 0; i < found->n; i++) {
		_cleanup_(json_freep) json_t *json = json_loads(
			found->data[i].json ? found->data[i].json : "", 0,
			NULL);
		TRY(baseline_add(baseline, found->data[i].id,
				 baseline_text(json, "test"),
				 baseline_text(json, "message")));
	}
	TRY(baseline_write(baseline));
	if (!quiet)
		baseline_tell(baseline, stdout);
	return NULL;
}

/* "order-0123456789ab  found  Registry.Counts: fails after …" */
static struct err *show_entry(const struct baseline_entry *entry, bool quiet)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(str_append(&line, entry->id));
	if (!quiet) {
		TRY(str_append(&line, entry->seen ? "  found      "
						  : "  not found  "));
		TRY(words_append(&line, entry->test ? entry->test : ""));
		TRY(str_append(&line, entry->test && *entry->rest ? ": " : ""));
		TRY(words_append(&line, entry->rest));
	}
	printf("%s\n", line.s);
	return NULL;
}

static struct err *show_baseline(struct baseline *baseline,
				 const struct store_findings *found, bool quiet)
{
	size_t listed = 0;
	for (size_t i = 0; i < found->n; i++) {
		uint64_t at;
		if (!map_text_get(&baseline->ids, found->data[i].id, &at))
			continue;
		listed += !baseline->entries.data[at].seen;
		baseline->entries.data[at].seen = true;
	}
	for (size_t i = 0; i < baseline->entries.n; i++)
		TRY(show_entry(&baseline->entries.data[i], quiet));
	if (quiet)
		return NULL;
	size_t new = found->n - MIN(listed, found->n);
	printf("%zu known finding%s, %zu of them found by the last runs",
	       baseline->entries.n, baseline->entries.n == 1 ? "" : "s",
	       listed);
	printf(new ? "; %zu found and not listed\n" : "\n", new);
	return NULL;
}

static struct err *baseline_run(const struct options *options, int argc,
				char **argv, enum status *ret)
{
	const struct baseline_values *values = options->values;
	_cleanup_(baseline_freep) struct baseline baseline = {};
	_cleanup_(store_findings_free) struct store_findings found = {};
	const char *path = argc ? argv[0] : values->baseline;
	*ret = STATUS_OK;
	if (argc > 1)
		return err_create(ERR_USAGE,
				  "one baseline at a time, not also '%s'",
				  argv[1]);
	if (!path)
		return err_hint(err_create(ERR_USAGE, "no baseline given"),
				"give its FILE, or baseline = \"FILE\" in "
				"polygraph.toml");
	TRY(baseline_read(&baseline, path, values->update));
	TRY(list_results(&found));
	if (values->update)
		return update_from_results(&baseline, &found,
					   values->common.quiet);
	return show_baseline(&baseline, &found, values->common.quiet);
}

const struct command command_baseline = {
	.name = "baseline",
	.summary = "shows or updates the list of known findings",
	.synopsis = (const char *const[]){ "[--update] [FILE]", NULL },
	.description =
		(const char *const[]){
			"A baseline lists the findings that are known: with "
			"--baseline FILE the detectors count them, do not "
			"show them and do not fail because of them. This "
			"command shows the list, and which of its findings "
			"the last runs in this folder found.",
			"With --update it becomes the list of what the last "
			"runs found. A detector's --update-baseline does the "
			"same for one run, and keeps what that run did not "
			"look for.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph --baseline known.txt --update-baseline "
			  "./unit_tests",
			  "make the list" },
			{ "polygraph baseline known.txt", "show it" },
			{ "polygraph baseline --update known.txt",
			  "make it of the results that are there" },
			{} },
	.groups = (const struct option_group *const[]){ &baseline_group,
							&common_general_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.run = baseline_run,
};
