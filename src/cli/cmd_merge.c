/* polygraph merge: the JSON reports of several machines as one. */
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/storing.h"
#include "cli/whole.h"
#include "whole/document.h"

struct merge_options {
	struct common_options common;
	bool partial;
	char *store;
};

static const struct merge_options defaults = { .common = COMMON_DEFAULTS };

/* clang-format off */
static const struct option merge_own_options[] = {
	{ "partial", 0, OPTION_FLAG,
	  .offset = offsetof(struct merge_options, partial),
	  .no_config = true,
	  .help = "also if shares are missing: the report says which" },
	{ "store", 0, OPTION_TEXT,
	  .offset = offsetof(struct merge_options, store), .value = "URL",
	  .help = "also add the results to a history: a file (SQLite), or "
		  "postgresql://USER@HOST/NAME" },
	{}
};
/* clang-format on */

static const struct option_group merge_group = { "Merge", merge_own_options };

/* Which shares are there, of how many, of which plan. */
struct merge_shares {
	uint64_t of; /* 0: none so far */
	char *plan;
	bool *seen;
};

static void merge_shares_free(struct merge_shares *shares)
{
	free(shares->plan);
	free(shares->seen);
}

static struct err *note_share(struct merge_shares *shares,
			      const struct document *document, const char *path)
{
	const json_t *shard = json_object_get(document->root, "shard");
	json_int_t index = json_integer_value(json_object_get(shard, "index"));
	json_int_t of = json_integer_value(json_object_get(shard, "of"));
	const char *plan = json_string_value(json_object_get(shard, "plan"));
	if (!shard)
		return NULL;
	if (index < 1 || index > of || of > SHARDS_MAX || !plan)
		return err_create(ERR_USAGE, "'%s': no valid share", path);
	if (!shares->of) {
		shares->of = (uint64_t)of;
		shares->plan = strdup(plan);
		shares->seen = calloc((size_t)of, sizeof(bool));
		if (!shares->plan || !shares->seen)
			return err_nomem();
	}
	if (shares->of != (uint64_t)of)
		return err_create(ERR_USAGE,
				  "'%s' is a share of %lld, others are shares "
				  "of %llu",
				  path, (long long)of,
				  (unsigned long long)shares->of);
	if (strcmp(shares->plan, plan) != 0)
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is a share of another build",
					   path),
				"all shares need the same executables, options "
				"(--tests, --shard-weights) and version");
	if (shares->seen[index - 1])
		return err_create(ERR_USAGE,
				  "'%s': share %lld was given already", path,
				  (long long)index);
	shares->seen[index - 1] = true;
	return NULL;
}

static struct err *check_shares(const struct merge_shares *shares, bool partial,
				struct document *document)
{
	char text[96];
	for (uint64_t i = 0; i < shares->of; i++) {
		if (shares->seen[i])
			continue;
		snprintf(text, sizeof(text), "share %llu of %llu is missing",
			 (unsigned long long)i + 1,
			 (unsigned long long)shares->of);
		if (!partial)
			return err_hint(err_create(ERR_USAGE, "%s", text),
					"give its report, or --partial");
		TRY(document_add_limit(document, text));
	}
	return NULL;
}

static struct err *join_files(int argc, char **argv,
			      struct merge_shares *shares,
			      struct document *document)
{
	for (int i = 0; i < argc; i++) {
		struct document one = {};
		TRY(document_read(argv[i], &one));
		struct err *err = note_share(shares, &one, argv[i]);
		if (!err)
			err = document_join(document, &one, argv[i]);
		document_free(&one);
		TRY(err);
	}
	return NULL;
}

static struct err *merge_run(const struct options *options, int argc,
			     char **argv, enum status *ret)
{
	const struct merge_options *values = options->values;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(document_free) struct document document = {};
	_cleanup_(merge_shares_free) struct merge_shares shares = {};
	char *const command[] = { (char *)"merge", NULL };
	if (!argc)
		return err_hint(err_create(ERR_USAGE, "no report given"),
				"give the files that --format json --output "
				"FILE wrote");
	TRY(outputs_choose(&values->common, "check", &outputs));
	TRY(document_create(command, POLYGRAPH_VERSION, &document));
	TRY(join_files(argc, argv, &shares, &document));
	TRY(check_shares(&shares, values->partial, &document));
	TRY(document_finish(&document));
	TRY(document_total(&document));
	TRY(storing_begin(values->store));
	struct err *err = whole_write(&outputs, &document);
	storing_end();
	TRY(err);
	int status;
	TRY(document_status(&document, &status));
	*ret = (enum status)status;
	return NULL;
}

const struct command command_merge = {
	.name = "merge",
	.summary = "joins JSON reports of several machines or suites",
	.synopsis = (const char *const[]){ "[OPTIONS] REPORT…", NULL },
	.description =
		(const char *const[]){
			"Joins JSON reports into one: those of the shares of a "
			"build (--shard), which must be complete and belong "
			"together, and those of single suites. The exit status "
			"is that of all of them together, as if one call had "
			"checked everything.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph merge share-*.json",
			  "show what all machines found" },
			{ "polygraph merge --format json --output all.json "
			  "share-*.json",
			  "as one JSON report" },
			{} },
	.groups = (const struct option_group *const[]){ &merge_group,
							&common_output_group,
							&common_general_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.run = merge_run,
};
