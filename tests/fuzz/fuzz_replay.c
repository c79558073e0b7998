/* Any bytes as what is kept of a finding: read whole, or refused. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "replay/replay_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_trials(const struct record *record)
{
	BUG_ON(!record->trials.n || !record->suite.n ||
	       record->suite.data[record->suite.n]);
	for (size_t i = 0; i < record->trials.n; i++) {
		const struct trial *trial = &record->trials.data[i];
		if (trial->expect == TRIAL_FINDING)
			BUG_ON(!trial->command.n ||
			       trial->command.data[trial->command.n]);
		else
			BUG_ON(!trial->order.n ||
			       strcmp(trial->order.data[trial->order.n - 1],
				      record->test) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_(freep) char *text = strndup((const char *)data, n);
	_cleanup_(record_freep) struct record record = {};
	const struct replay_kind *choices = replay_kind_of("choice-1");
	void *details = NULL;
	if (!text)
		return 0;
	log_level_set(LOG_LEVEL_QUIET);
	struct err *err = record_read(text, &record);
	if (!err) {
		check_trials(&record);
		err = choices->read_details(&record, &details);
	}
	BUG_ON(!err && !details);
	choices->free_details(details);
	err_destroy(err);
	return 0;
}
