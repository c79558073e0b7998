/*
 * Choices made of paper: what the agent would do in the tests of a suite made of
 * paper (fake_suite.c), so that the real search can run on them.
 *
 * A test "chooses:CALLS;FAILS". CALLS are names of models between commas, called
 * one after the other in the thread that the test begins in; with "/" in front
 * before the first test, with "+" in front in another thread. Each has three
 * alternatives. FAILS are numbers of calls from 0 on, between commas: the test
 * fails where all of them do something else than today, with "any" where one
 * of all does; with "?" at its end only every second time. "crash=" before the
 * calls: it crashes instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "choices/choices.h"
#include "fake.h"

#define CALLS_MAX 32

bool suite_has_model(const struct suite *suite _unused_, unsigned flags)
{
	return !(flags & WIRE_JAVA);
}

struct err *suite_choose(struct suite *suite,
			 const struct suite_choices *choices)
{
	if (!suite->choosing)
		BUG("it was not opened for choices");
	if (suite->tests.n && !strcmp(suite->tests.data[0].test.name, "no choices"))
		return err_create(ERR_USAGE,
				  "what APIs do cannot be chosen for fake "
				  "suites");
	suite->choices = NULL;
	if (choices) {
		suite->chosen = *choices;
		suite->choices = &suite->chosen;
	}
	return NULL;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15 + b + 1;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static bool bit(const uint64_t *words, uint64_t model)
{
	return words && words[model / 64] >> model % 64 & 1;
}

static uint64_t find_model(const char *name)
{
	uint64_t i = 0;
	while (choices_model(i) && strcmp(choices_model(i)->api, name) != 0)
		i++;
	return i;
}

/* Where a call stands among the numbered ones. */
struct call {
	uint64_t model, thread, phase, n;
	uint64_t pick;
};

static bool is_on(const struct suite_choices *choices, size_t test,
		  const struct call *call)
{
	if (!bit(choices->on, call->model) ||
	    (choices->off_by_test &&
	     bit(choices->off_by_test + test * WIRE_MODEL_WORDS, call->model)))
		return false;
	if (!call->phase && !choices->startup)
		return false;
	for (size_t i = 0; choices->only_ranges && i < choices->n_ranges; i++) {
		const struct wire_choice_range *range = &choices->ranges[i];
		if (range->thread == call->thread &&
		    range->phase == call->phase && call->n >= range->from &&
		    call->n < range->to)
			return true;
	}
	return !choices->only_ranges;
}

static uint64_t draw(const struct suite_choices *choices,
		     const struct call *call)
{
	/* By name: numbers change when models are added. */
	uint64_t hash = choices->seed;
	for (const char *c = choices_model(call->model)->api; *c; c++)
		hash = mix(hash, (unsigned char)*c);
	if (choices->level == WIRE_ONE)
		return 1 + hash % 2;
	return mix(hash, choices->level == WIRE_FULL ? call->n : 0) % 3;
}

static void record(struct wire_choices *block, const struct call *call)
{
	struct wire_choice *record = &block->records[block->records_n++];
	record->thread = call->thread;
	record->n = call->n;
	record->phase = call->phase;
	record->model = call->model;
	record->pick = call->pick;
	record->alternatives = 3;
	snprintf(record->argument, sizeof(record->argument),
		 "%llu things\033[1m", (unsigned long long)call->n + 2);
	snprintf(record->did, sizeof(record->did), "they came otherwise");
}

static size_t make_calls(const struct suite *suite, size_t test, char *words,
			 struct wire_choices *block, struct call *calls)
{
	const struct suite_choices *choices = suite->choices;
	uint64_t counts[3] = {};
	size_t n = 0;
	char *save = NULL;
	for (char *word = strtok_r(words, ",", &save); word && n < CALLS_MAX;
	     word = strtok_r(NULL, ",", &save), n++) {
		unsigned where = *word == '/' ? 1 : *word == '+' ? 2 : 0;
		struct call *call = &calls[n];
		*call = (struct call){
			.model = find_model(word + !!where),
			.thread = where == 2 ? 77 : WIRE_MAIN,
			.phase = where != 1,
		};
		if (!bit(choices->models, call->model))
			continue;
		call->n = counts[where]++;
		block->made[call->model]++;
		if (is_on(choices, test, call))
			call->pick = draw(choices, call);
		block->acted[call->model] += !!call->pick;
		if (call->pick && choices->detail)
			record(block, call);
	}
	for (unsigned i = 0; i < 3; i++) {
		if (counts[i])
			block->threads[block->threads_n++] =
				(struct wire_choice_thread){
					i == 2 ? 77 : WIRE_MAIN, i != 1,
					counts[i]
				};
	}
	return n;
}

static bool fails(const char *spec, const struct call *calls, size_t n)
{
	bool any = false, all = true;
	for (size_t i = 0; i < n; i++)
		any |= calls[i].pick != 0;
	if (!strncmp(spec, "any", 3))
		return any;
	while (*spec >= '0' && *spec <= '9') {
		char *end = NULL;
		size_t at = strtoul(spec, &end, 10);
		all &= at < n && calls[at].pick != 0;
		spec = end + (*end == ',');
	}
	return all;
}

void fake_choose(struct suite *suite, struct fake *fake, size_t entry,
		 struct suite_result *result,
		 const struct suite_observer *observer)
{
	static struct wire_choices block;
	_cleanup_(freep) char *words = NULL;
	struct call calls[CALLS_MAX];
	if (fake->choices) /* its message is that of the failure */
		result->message = result->file = NULL;
	if (!suite->choices)
		return;
	memset(&block, 0, sizeof(block));
	block.detail = suite->choices->detail;
	if (fake->choices) {
		words = strdup(fake->choices);
		char *spec = words ? strchr(words, ';') : NULL;
		if (!spec)
			abort();
		*spec++ = '\0';
		bool crash = !strncmp(words, "crash=", 6);
		size_t n = make_calls(suite, fake->result.test,
				      words + (crash ? 6 : 0), &block, calls);
		bool half = str_ends(spec, "?");
		if (fails(spec, calls, n) && (!half || fake->runs++ % 2)) {
			result->outcome = crash ? OUTCOME_CRASH : OUTCOME_FAIL;
			result->message = fake->result.message;
			result->file = fake->result.file;
		}
	}
	if (observer->chosen)
		observer->chosen(observer->data, entry, fake->result.test,
				 &block);
}
