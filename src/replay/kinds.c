/* The kinds of findings that can be replayed. */
#include <stdio.h>
#include <string.h>

#include "replay/replay_internal.h"

static const struct replay_kind *const kinds[] = {
	&replay_pollution, &replay_order,   &replay_flaky,
	&replay_schedules, &replay_choices,
};

const struct replay_kind *replay_kind_of(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *prefix = kinds[i]->finding->prefix;
		size_t n = strlen(prefix);
		if (!strncmp(id, prefix, n) && id[n] == '-')
			return kinds[i];
	}
	return NULL;
}

static const struct replay_kind *kind_of_finding(const struct finding *finding)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i]->finding == finding->kind)
			return kinds[i];
	}
	return NULL;
}

struct err *replay_describe(const struct finding *finding,
			    const struct replay_source *source, char **ret)
{
	const struct replay_kind *kind = kind_of_finding(finding);
	_cleanup_(record_freep) struct record record = {};
	const char *test = finding_test(finding);
	if (!kind)
		return err_create(ERR_INTERNAL, "'%s' cannot be replayed",
				  finding->kind->name);
	snprintf(record.files_digest, DIGEST_SIZE, "%s", source->files_digest);
	record.test = str_utf8(test, strlen(test));
	if (!record.test)
		return err_nomem();
	TRY(strv_add_all(&record.suite, source->suite->data));
	if (source->folder) {
		record.folder =
			str_utf8(source->folder, strlen(source->folder));
		if (!record.folder)
			return err_nomem();
	}
	TRY(kind->describe(finding, source, &record));
	return record_write(&record, ret);
}
