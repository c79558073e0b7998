#include "cli/holds.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file_state.h"
#include "base/log.h"
#include "base/path.h"
#include "cli/detection.h"
#include "cli/interrupt.h"
#include "files/inputs.h"
#include "process/process_inputs.h"
#include "sandbox/sandbox.h"

#define INPUTS_FACT "inputs"
/* A plain run takes as long as the tests, and as its start and end. */
#define RUNS 2
#define START_NS (5 * NS_PER_S)

void holds_free(struct holds *holds)
{
	inputs_destroy(holds->inputs);
	free(holds->own);
	free(holds->state);
	*holds = (struct holds){};
}

/* ---- the environment ---- */

/* What shells keep for themselves, anew for each command. */
static bool variable_counts(const char *variable)
{
	static const char *const others[] = { "_=", "SHLVL=", "OLDPWD=" };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (str_starts(variable, others[i]))
			return false;
	}
	return true;
}

/* The sum does not depend on the order in which they stand. */
static uint64_t hash_variables(void)
{
	uint64_t sum = 0;
	for (char **variable = environ; variable && *variable; variable++) {
		if (variable_counts(*variable))
			sum += XXH3_64bits(*variable, strlen(*variable));
	}
	return sum;
}

static uint64_t hash_limits(void)
{
	struct rlimit limits[RLIMIT_NLIMITS] = {};
	for (int i = 0; i < (int)RLIMIT_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &limits[i]);
	return XXH3_64bits(limits, sizeof(limits));
}

static struct err *describe_environment(const char *folder, char **ret)
{
	struct utsname kernel = {};
	cpu_set_t processors;
	CPU_ZERO(&processors);
	sched_getaffinity(0, sizeof(processors), &processors);
	uname(&kernel);
	mode_t mask = umask(0);
	umask(mask);
	return str_format(ret,
			  "variables=%016llx folder=%s user=%u:%u mask=%o "
			  "limits=%016llx kernel=%s %s processors=%d",
			  (unsigned long long)hash_variables(), folder,
			  geteuid(), getegid(), mask,
			  (unsigned long long)hash_limits(), kernel.release,
			  kernel.machine, CPU_COUNT(&processors));
}

struct err *holds_begin(struct detection *detection)
{
	struct holds *holds = &detection->holds;
	_cleanup_(freep) char *folder = getcwd(NULL, 0);
	_cleanup_(freep) char *environment = NULL;
	holds->began = file_time_now();
	if (!folder)
		return err_create(ERR_USAGE, "the working directory is gone");
	TRY(path_join(folder, results_folder(), &holds->own));
	TRY(describe_environment(folder, &environment));
	TRY(str_format(&holds->state, "%s sandbox=%d", environment,
		       sandbox_is_entered()));
	TRY(inputs_create(holds->own, &holds->inputs));
	detection->choice.options.inputs = holds->inputs;
	return NULL;
}

/* ---- before the search ---- */

struct err *holds_judge(struct detection *detection)
{
	struct holds *holds = &detection->holds;
	struct results *results = detection->records.results;
	_cleanup_(freep) void *known = NULL;
	size_t n = 0;
	if (!detection->values->fresh &&
	    results_get_fact(results, INPUTS_FACT, &known, &n))
		holds->all = inputs_hold(holds->own, known, n);
	if (!holds->all) {
		results_forget_facts(results);
		return NULL;
	}
	log_debug(LOG_CLI, "what is known of the suite holds");
	/* This run may read more: other tests, orders and choices. */
	holds->learned = detection->choice.options.argv;
	if (holds->learned)
		inputs_begin(holds->inputs);
	return inputs_add(holds->inputs, known, n);
}

/* ---- what the suite reads ---- */

static uint64_t suite_time(const struct detection *detection)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < detection->collect.tests.n; i++)
		ns += detection->collect.tests.data[i].ns;
	return ns;
}

/* Who crashes takes the tests after it along, and who fails may. */
static bool all_end_well(const struct detection *detection)
{
	for (size_t i = 0; i < detection->collect.tests.n; i++) {
		if (!outcome_is_good(detection->collect.tests.data[i].outcome))
			return false;
	}
	return true;
}

/* The program by itself runs all its tests, also those that are not wanted. */
static bool all_are_wanted(const struct detection *detection)
{
	const struct common_options *common = &detection->values->state.common;
	return detection->order.n == suite_count(detection->suite) &&
	       !common->test_functions.n;
}

static struct err *learn_by_running(struct detection *detection)
{
	struct holds *holds = &detection->holds;
	char *const *argv = detection->choice.options.argv;
	if (!all_end_well(detection) || !all_are_wanted(detection)) {
		inputs_lose(holds->inputs);
		return NULL;
	}
	TRY(detection_put_files_back(detection));
	return process_learn_inputs(
		argv, RUNS * suite_time(detection) + START_NS, holds->inputs);
}

/* Where nothing is kept, nobody will ask. */
static bool keeps_something(const struct detection *detection)
{
	bool keeps = detection->limited || detection->findings.n;
	for (size_t i = 0; detection->steps[i].detector; i++)
		keeps |= detection->steps[i].detector == &detector_order;
	return keeps;
}

static struct err *keep_inputs(struct detection *detection)
{
	const struct holds *holds = &detection->holds;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(inputs_pack(holds->inputs, holds->began, &text));
	results_put_fact(detection->records.results, INPUTS_FACT,
			 text.n ? text.s : "", text.n);
	return NULL;
}

struct err *holds_learn(struct detection *detection)
{
	struct holds *holds = &detection->holds;
	bool late = detection->deadline && clock_now() >= detection->deadline;
	if (holds->learned || detection->values->state.common.look ||
	    !detection->suite || !detection->collect.finished ||
	    detection->collect.finished < detection->order.n || late ||
	    interrupt_happened() || !keeps_something(detection))
		return NULL;
	holds->learned = true;
	if (detection->choice.options.argv)
		TRY(learn_by_running(detection));
	else
		TRY(detection_put_files_back(detection));
	return keep_inputs(detection);
}

struct err *holds_end(struct detection *detection)
{
	const struct holds *holds = &detection->holds;
	if (!detection->records.results ||
	    detection->values->state.common.look ||
	    !(holds->learned || holds->all))
		return NULL;
	if (!detection->suite)
		inputs_lose(holds->inputs);
	else
		TRY(detection_put_files_back(detection));
	return keep_inputs(detection);
}
