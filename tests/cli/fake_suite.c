/*
 * A suite made of paper: suite/suite.h without any process, so that the command
 * line and the reports can be tried and tested by themselves.
 *
 * The "executable" is a text file, one test a line, fields between '|', with
 * \n, \t, \\, \p (a '|') and \xNN inside of them:
 *
 *	name|file|line|outcome|milliseconds|message|failure file:line|output
 *
 * Outcomes as in the contract, "disabled" (would pass), "limit" (no test: its
 * name is reported as a limit), "victim:NAME" (fails where that test ran before in
 * the same order), "random" (fails every second time), "changes:ROOT" (passes,
 * and leaves that file changed) and "chooses:CALLS;FAILS" (see fake_choices.c).
 * Missing fields are empty. "gen:N" instead of a
 * file makes N passing tests, "gen:N:US" each taking US microseconds, every
 * 97th of which fails. "broken:N" ends with an error after N tests. A test
 * whose message is STUCK does not notice an interruption.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/kinds.h"
#include "fake.h"
#include "files/inputs.h"
#include "framework/frameworks.h"
#include "suite/suite.h"

static volatile int interrupted;

void suite_interrupt(void)
{
	interrupted = 1;
}

static char *field(const char **p, size_t *ret_n)
{
	struct str str = STR_INIT;
	while (**p && **p != '|') {
		char c = *(*p)++;
		if (c == '\\' && **p) {
			char e = *(*p)++;
			c = e == 'n'   ? '\n'
			    : e == 't' ? '\t'
			    : e == 'p' ? '|'
				       : e;
			if (e == 'x') {
				char hex[3] = { (*p)[0], (*p)[1], 0 };
				c = (char)strtoul(hex, NULL, 16);
				*p += 2;
			}
		}
		if (str_append_n(&str, &c, 1))
			abort();
	}
	*p += **p == '|';
	*ret_n = str.n;
	if (!str.n)
		return NULL;
	return str_take(&str);
}

static enum outcome outcome_of(const char *word)
{
	for (int i = OUTCOME_PASS; word && i < OUTCOMES; i++) {
		if (!strcmp(word, outcome_name((enum outcome)i)))
			return (enum outcome)i;
	}
	return OUTCOME_PASS;
}

static struct err *add_line(struct suite *suite, const char *line)
{
	char *f[8];
	size_t n[8];
	for (int i = 0; i < 8; i++)
		f[i] = field(&line, &n[i]);
	struct fake fake = {
		.test = { .name = f[0] ? f[0] : strdup(""),
			  .file = f[1],
			  .line = f[2] ? (unsigned)atoi(f[2]) : 0 },
		.result = { .outcome = outcome_of(f[3]),
			    .ns = (uint64_t)(f[4] ? atof(f[4]) * 1e6 : 1000),
			    .message = f[5],
			    .output = f[7],
			    .output_n = n[7] },
	};
	if (f[3]) {
		fake.test.disabled = !strcmp(f[3], "disabled");
		fake.is_limit = !strcmp(f[3], "limit");
		fake.is_random = !strcmp(f[3], "random");
		if (!strncmp(f[3], "victim:", 7))
			fake.polluter = strdup(f[3] + 7);
		if (!strncmp(f[3], "changes:", 8))
			fake.root = strdup(f[3] + 8);
		if (!strncmp(f[3], "chooses:", 8))
			fake.choices = strdup(f[3] + 8);
	}
	if (f[6]) {
		char *colon = strrchr(f[6], ':');
		if (colon) {
			*colon = '\0';
			fake.result.line = (unsigned)atoi(colon + 1);
		}
		fake.result.file = f[6];
	}
	if (f[5] && strstr(f[5], "DROPPED"))
		fake.result.output_dropped = 12345;
	free(f[2]);
	free(f[3]);
	free(f[4]);
	if (fake.is_limit)
		return vec_push(&suite->limits, fake);
	fake.result.test = suite->tests.n;
	return vec_push(&suite->tests, fake);
}

static struct err *generate(struct suite *suite, const char *spec)
{
	unsigned n = 0, us = 0;
	sscanf(spec, "gen:%u:%u", &n, &us);
	for (unsigned i = 0; i < n; i++) {
		char line[200];
		snprintf(line, sizeof(line),
			 "Generated.Test%05u|tests/generated_%u.cc|%u|%s|%g|%s",
			 i, i / 100, i % 100 + 1,
			 i % 97 == 96 && us ? "fail" : "pass", us / 1e3,
			 i % 97 == 96 && us ? "expected 1, got 2" : "");
		TRY(add_line(suite, line));
	}
	return NULL;
}

static struct err *read_tests(struct suite *suite, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	TRY(err_with_kind(file_read(path, 64 << 20, &text, NULL), ERR_SUITE));
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		TRY(add_line(suite, line));
	return NULL;
}

/* Instead of the program's own, for which all that runs tests would be linked. */
static const struct suite_kind paper = { .list_file = "CTestTestfile.cmake" };
static const struct suite_kind paper_file;
const struct suite_kind *const kind_of_words = &paper_file;
const struct kind_option kind_options[] = {
	{ "--ctest", &paper },
	{ "--meson", &paper },
	{ "--commands", &paper_file },
	{},
};

const char *kinds_framework(size_t i)
{
	return i ? NULL : "paper";
}

const char *frameworks_library(size_t i _unused_)
{
	return NULL;
}

const struct framework_own *frameworks_own(size_t i _unused_)
{
	return NULL;
}

struct err *suite_open(const struct suite_options *options, struct suite **ret)
{
	_cleanup_(suite_closep) struct suite *suite = calloc(1, sizeof(*suite));
	if (!suite)
		return err_nomem();
	const char *what = options->argv ? options->argv[0] : options->source;
	if (!what || !options->kind || !options->jobs || !options->timeout_ns)
		BUG("suite options are not filled in");
	suite->pass_through = options->pass_through;
	suite->timeout_ns = options->timeout_ns;
	suite->choosing = options->agent == SUITE_AGENT_CHOICES;
	suite->broken_after = SIZE_MAX;
	if (!strncmp(what, "broken:", 7)) {
		suite->broken_after = strtoul(what + 7, NULL, 10);
		what = "gen:10";
	}
	if (!strncmp(what, "gen:", 4))
		TRY(generate(suite, what));
	else
		TRY(read_tests(suite, what));
	*ret = take_ptr(suite);
	return NULL;
}

static void free_fake(struct fake *fake)
{
	free(fake->test.name);
	free(fake->test.file);
	free(fake->polluter);
	free(fake->root);
	free(fake->choices);
	free(fake->result.message);
	free(fake->result.file);
	free(fake->result.output);
}

void suite_close(struct suite *suite)
{
	if (!suite)
		return;
	for (size_t i = 0; i < suite->tests.n; i++)
		free_fake(&suite->tests.data[i]);
	for (size_t i = 0; i < suite->limits.n; i++)
		free_fake(&suite->limits.data[i]);
	vec_free(&suite->tests);
	vec_free(&suite->limits);
	free(suite);
}

const char *suite_framework(const struct suite *suite _unused_)
{
	return "fake";
}

size_t suite_count(const struct suite *suite)
{
	return suite->tests.n;
}

const struct suite_test *suite_test(const struct suite *suite, size_t index)
{
	return &suite->tests.data[index].test;
}

/* A byte in the file FAKE_STARTED for each test that began. */
static void note_started(void)
{
	const char *path = getenv("FAKE_STARTED");
	if (!path)
		return;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1)
		abort();
	close(fd);
}

static void rest(uint64_t ns, bool stuck)
{
	uint64_t end = clock_now() + ns;
	for (uint64_t now = clock_now(); now < end && (stuck || !interrupted);
	     now = clock_now()) {
		uint64_t left = end - now;
		struct timespec ts = { (time_t)(left / NS_PER_S),
				       (long)(left % NS_PER_S) };
		nanosleep(&ts, NULL);
	}
}

static void tell_change(const struct suite *suite, const struct fake *fake,
			size_t entry, const struct suite_observer *observer)
{
	if (!suite->watched || !fake->root || !observer->changed)
		return;
	struct change_path path = {
		.path = fake->root,
		.before = (char *)"absent",
		.after = (char *)"3 bytes",
	};
	struct change change = {
		.where = CHANGE_FILE,
		.root = fake->root,
		.paths = &path,
		.n = 1,
	};
	observer->changed(observer->data, entry, fake->result.test, &change, 1);
}

struct err *suite_run(struct suite *suite, const size_t *order, size_t n,
		      unsigned flags _unused_,
		      const struct suite_observer *observer)
{
	for (size_t i = 0; i < suite->limits.n; i++)
		observer->limit(observer->data,
				suite->limits.data[i].test.name);
	for (size_t i = 0; i < n; i++) {
		struct fake *fake = &suite->tests.data[order[i]];
		if (i == suite->broken_after)
			return err_create(ERR_SUITE,
					  "the program left after test '%s'",
					  fake->test.name);
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (observer->started)
			observer->started(observer->data, order[i]);
		note_started();
		if (fake->result.ns > 2000)
			rest(fake->result.ns,
			     fake->result.message &&
				     !strcmp(fake->result.message, "STUCK"));
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (suite->pass_through && fake->result.output_n &&
		    write(1, fake->result.output, fake->result.output_n) < 0)
			return err_errno(errno, "cannot pass output through");
		struct suite_result result = fake->result;
		result.entry = i;
		suite->executions++;
		if (fake->is_random && suite->choosing && fake->runs++ % 2)
			result.outcome = OUTCOME_FAIL;
		fake_choose(suite, fake, i, &result, observer);
		if (observer->finished)
			observer->finished(observer->data, &result);
		tell_change(suite, fake, i, observer);
	}
	return interrupted ? err_create(ERR_INTERRUPTED, "interrupted") : NULL;
}

struct err *suite_watch(struct suite *suite, const struct suite_watch *watch)
{
	suite->watched = watch;
	return NULL;
}

static bool is_polluted(const struct suite *suite,
			const struct suite_node *nodes, size_t at,
			const char *polluter)
{
	for (at = nodes[at].parent; at != SUITE_TREE_ROOT;
	     at = nodes[at].parent) {
		if (!strcmp(suite->tests.data[nodes[at].test].test.name,
			    polluter))
			return true;
	}
	return false;
}

struct err *suite_run_tree(struct suite *suite, const struct suite_node *nodes,
			   size_t n, unsigned flags _unused_,
			   const struct suite_observer *observer)
{
	for (size_t i = 0; i < n; i++) {
		struct fake *fake = &suite->tests.data[nodes[i].test];
		struct suite_result result = fake->result;
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if ((fake->polluter &&
		     is_polluted(suite, nodes, i, fake->polluter)) ||
		    (fake->is_random && fake->runs++ % 2))
			result.outcome = OUTCOME_FAIL;
		if (result.outcome == OUTCOME_PASS)
			result.message = result.file = NULL;
		result.entry = i;
		if (observer->started)
			observer->started(observer->data, nodes[i].test);
		if (observer->finished)
			observer->finished(observer->data, &result);
	}
	return NULL;
}

struct err *suite_keep_files(struct suite *suite _unused_,
			     const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (access(paths[i], F_OK))
			return err_create(ERR_SUITE, "cannot keep '%s'",
					  paths[i]);
	}
	return NULL;
}

const char *suite_touched_file(const struct suite *suite _unused_,
			       size_t i _unused_)
{
	return NULL;
}

struct err *suite_hand_over(struct suite *suite _unused_,
			    suite_taker *taker _unused_, void *data _unused_)
{
	return err_create(ERR_USAGE, "it is made of paper");
}

const char *suite_unrestored(const struct suite *suite _unused_,
			     size_t i _unused_)
{
	return NULL;
}

unsigned suite_watchable(const struct suite *suite _unused_)
{
	return SUITE_ALL;
}

void suite_initialise(struct suite *suite _unused_, bool early _unused_)
{
}

struct err *suite_try_roots(struct suite *suite _unused_,
			    const struct suite_watch *watch _unused_,
			    const size_t *prefix _unused_, size_t n _unused_,
			    size_t test _unused_, suite_judge *judge _unused_,
			    void *data _unused_,
			    const struct suite_observer *observer _unused_)
{
	return NULL;
}

size_t suite_group_parent(const struct suite *suite _unused_,
			  size_t group _unused_)
{
	return SUITE_NO_GROUP;
}

struct err *suite_declare(struct suite *suite _unused_,
			  const size_t *tests _unused_, size_t n _unused_)
{
	return NULL;
}

const char *suite_fixture(const struct suite *suite _unused_)
{
	return NULL;
}

bool suite_fixed(const struct suite *suite _unused_)
{
	return false;
}

uint64_t suite_executions(const struct suite *suite)
{
	return suite->executions;
}

struct err *suite_run_places(struct suite *suite, const size_t *order, size_t n,
			     const struct suite_place *places, size_t n_places,
			     const struct suite_observer *observer)
{
	(void)places;
	(void)n_places;
	return suite_run(suite, order, n, 0, observer);
}

struct err *suite_run_adding(struct suite *suite, const size_t *order, size_t n,
			     const struct suite_observer *observer)
{
	return suite_run(suite, order, n, 0, observer);
}

bool suite_add_place(struct suite *suite, const struct suite_place *place,
		     size_t test)
{
	(void)suite;
	(void)place;
	(void)test;
	return false;
}

/* Made of paper, it runs nothing side by side. */
struct err *suite_beside_start(struct suite *suite, suite_work *work,
			       void *data, struct suite_beside **ret)
{
	(void)suite;
	(void)work;
	(void)data;
	*ret = NULL;
	return NULL;
}

int suite_beside_socket(const struct suite *suite,
			const struct suite_beside *beside)
{
	(void)suite;
	(void)beside;
	return -1;
}

void suite_beside_end(const struct suite *suite, struct suite_beside *beside)
{
	(void)suite;
	(void)beside;
}

unsigned suite_jobs(const struct suite *suite)
{
	(void)suite;
	return 1;
}

struct err *suite_keep_middle(struct suite *suite, bool keeps)
{
	(void)suite;
	(void)keeps;
	return NULL;
}

size_t suite_middle(struct suite *suite, const size_t *order, size_t n)
{
	(void)suite;
	(void)order;
	(void)n;
	return 0;
}

struct err *suite_run_rest(struct suite *suite, const size_t *order, size_t n,
			   const struct suite_place *places, size_t n_places,
			   const struct suite_observer *observer)
{
	return suite_run_places(suite, order, n, places, n_places, observer);
}

size_t suite_places_max(const struct suite *suite)
{
	(void)suite;
	return 0;
}

void suite_suspend(void)
{
	raise(SIGSTOP);
}

/* Nothing is read. */
struct err *process_learn_inputs(char *const *argv _unused_,
				 uint64_t limit_ns _unused_,
				 struct inputs *inputs)
{
	inputs_begin(inputs);
	return NULL;
}
