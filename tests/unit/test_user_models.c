/*
 * Models of polygraph.toml: how they are written (choices/user_models.h), and what
 * they do to the functions of a program (native/user_models.h).
 */
#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choices/user_models.h"
#include "cli/unwind.h"
#include "dwarf/unwind.h"
#include "framework/frameworks.h"
#include "suite/suite.h"
#include "wire/choices.h"

/* ---- texts ---- */

#define PARSE(ret, ...)                                                        \
	user_models_parse((const char *const[]){ __VA_ARGS__ },                \
			  ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })),  \
			  ret)

static void texts(void **state _unused_)
{
	_cleanup_(user_model_texts_freep) struct user_model_texts made = {};
	assert_ok(PARSE(
		&made,
		"function=list_names; kind=permute; array=return; "
		"length=*arg1; "
		"element-size=8; clause=names; come in any order; see README",
		"kind=random; function=app::f(int, char); min=-3; max=9",
		"function=take; kind=short; min=1; returns=long",
		"function=g; kind=permute; array=*arg6; length=null; "
		"element-size=4",
		"function=h; kind=permute; array=arg1; length=12; "
		"element-size=1"));
	assert_int_equal(made.models.n, 5);
	const struct suite_user_model *model = made.models.data;
	assert_string_equal(model[0].function, "list_names");
	assert_int_equal(model[0].kind, WIRE_PERMUTE);
	assert_int_equal(model[0].array.kind, SUITE_VALUE_RESULT);
	assert_false(model[0].array.pointed);
	assert_int_equal(model[0].length.kind, SUITE_VALUE_ARGUMENT);
	assert_int_equal(model[0].length.argument, 0);
	assert_true(model[0].length.pointed);
	assert_int_equal(model[0].element_size, 8);
	assert_string_equal(made.shown.data[0].clause,
			    "names; come in any order; see README");
	assert_string_equal(made.shown.data[0].api, "list_names");
	assert_string_equal(model[1].function, "app::f(int, char)");
	assert_int_equal(model[1].kind, WIRE_RANDOM);
	assert_int_equal(model[1].min, -3);
	assert_int_equal(model[1].max, 9);
	assert_int_equal(made.shown.data[1].kind, WIRE_RANDOM);
	assert_non_null(made.shown.data[1].clause);
	assert_int_equal(model[2].kind, WIRE_SHORT);
	assert_true(model[2].wide);
	assert_int_equal(model[3].array.argument, 5);
	assert_true(model[3].array.pointed);
	assert_int_equal(model[3].length.kind, SUITE_VALUE_NULL);
	assert_int_equal(model[4].length.kind, SUITE_VALUE_NUMBER);
	assert_int_equal(model[4].length.number, 12);
}

static void refused(void **state _unused_)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "function" },
		{ "nonsense", "nonsense" },
		{ "kind=permute", "function" },
		{ "function=f", "kind" },
		{ "function=f; kind=other", "kind" },
		{ "function=f; kind=permute", "array" },
		{ "function=f; kind=permute; array=return", "length" },
		{ "function=f; kind=permute; array=return; length=3",
		  "element-size" },
		{ "function=f; kind=permute; array=arg7; length=3; "
		  "element-size=8",
		  "array" },
		{ "function=f; kind=permute; array=arg0; length=3; "
		  "element-size=8",
		  "array" },
		{ "function=f; kind=permute; array=5; length=3; "
		  "element-size=8",
		  "array" },
		{ "function=f; kind=permute; array=null; length=3; "
		  "element-size=8",
		  "array" },
		{ "function=f; kind=permute; array=return; length=lots; "
		  "element-size=8",
		  "length" },
		{ "function=f; kind=permute; array=return; length=70000; "
		  "element-size=8",
		  "length" },
		{ "function=f; kind=permute; array=return; length=3; "
		  "element-size=5000",
		  "element-size" },
		{ "function=f; kind=random", "min" },
		{ "function=f; kind=random; min=1", "max" },
		{ "function=f; kind=random; min=4; max=4", "max" },
		{ "function=f; kind=random; min=x; max=4", "min" },
		{ "function=f; kind=short; returns=double", "returns" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(user_model_texts_freep) struct user_model_texts
			made = {};
		assert_err(PARSE(&made, bad[i].text), ERR_USAGE, bad[i].why);
	}
}

static void too_many(void **state _unused_)
{
	_cleanup_(user_model_texts_freep) struct user_model_texts made = {};
	const char *texts[WIRE_USER_MODELS + 1];
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		texts[i] = "function=f; kind=short";
	assert_err(user_models_parse(texts, ARRAY_SIZE(texts), &made),
		   ERR_USAGE, "32");
}

/* ---- programs ---- */

static const char *const models[] = {
	"function=list_names; kind=permute; array=return; length=*arg1; "
	"element-size=8",
	"function=collect; kind=permute; array=arg1; length=return; "
	"element-size=4",
	"function=ticket; kind=random; min=1; max=9",
	"function=take; kind=short; min=1; returns=long",
	"function=leaves; kind=permute; array=return; length=*arg1; "
	"element-size=8",
	"function=app::registry::numbers; kind=permute; array=return; "
	"length=null; element-size=4",
	"function=not_there; kind=short",
};

struct seen {
	struct suite *suite;
	bool choosing;
	uint64_t made[WIRE_USER_MODELS];
	size_t finished, limits;
	struct unwinder *unwinder;
	size_t stacks;
};

static void check_stack(struct seen *seen, const char *test,
			const struct wire_choices *block)
{
	struct assumption_call call = {};
	assert_int_equal(block->records[0].model - WIRE_MODEL_USER <
				 WIRE_USER_MODELS,
			 1);
	assert_ok(unwind_choice(seen->unwinder, block, &block->records[0],
				&call));
	assert_true(call.stack.n >= 2);
	/* Some function calls itself. */
	const char *function = call.stack.data[0].function;
	if (strcmp(function, "collect") != 0)
		assert_string_equal(function, test);
	assert_non_null(call.stack.data[0].file);
	assert_non_null(strstr(call.stack.data[0].file, "subject_user_models"));
	assumption_call_free(&call);
	seen->stacks++;
}

static void on_chosen(void *data, size_t entry _unused_, size_t test,
		      const struct wire_choices *block)
{
	struct seen *seen = data;
	const char *name = suite_test(seen->suite, test)->name;
	for (size_t i = 0; i < WIRE_USER_MODELS; i++)
		seen->made[i] += block->made[WIRE_MODEL_USER + i];
	if (block->records_n && strstr(name, "_fragile"))
		check_stack(seen, name, block);
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct seen *seen = data;
	const char *name = suite_test(seen->suite, result->test)->name;
	bool fails = seen->choosing && strstr(name, "_fragile");
	if ((result->outcome != OUTCOME_PASS) != fails) {
		print_error("%s: %d, %s\n", name, (int)result->outcome,
			    result->message ? result->message : "");
		fail();
	}
	seen->finished++;
}

static void on_limit(void *data, const char *text)
{
	struct seen *seen = data;
	assert_non_null(strstr(text, "not_there"));
	seen->limits++;
}

static void run(struct seen *seen)
{
	struct suite_observer observer = {
		.finished = on_finished,
		.chosen = on_chosen,
		.limit = on_limit,
		.data = seen,
	};
	size_t order[16], n = suite_count(seen->suite);
	assert_int_equal(n, 10);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	seen->finished = 0;
	assert_ok(suite_run(seen->suite, order, n, 0, &observer));
	assert_int_equal(seen->finished, n);
}

static void functions_do_otherwise(void **state _unused_)
{
	const char *program = getenv("POLYGRAPH_SUBJECT_USER_MODELS");
	if (!program || !getenv("POLYGRAPH_CHOICES_AGENT"))
		skip();
	_cleanup_(user_model_texts_freep) struct user_model_texts made = {};
	assert_ok(user_models_parse(models, ARRAY_SIZE(models), &made));
	char *argv[] = { (char *)program, NULL };
	struct suite_options options = {
		.kind = &executable_suite_kind,
		.argv = argv,
		.framework = "functions",
		.jobs = 1,
		.timeout_ns = UINT64_C(30000000000),
		.agent = SUITE_AGENT_CHOICES,
		.user_models = made.models.data,
		.n_user_models = made.models.n,
	};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(unwinder_destroyp) struct unwinder *unwinder = NULL;
	assert_ok(suite_open(&options, &suite));
	assert_ok(unwinder_create(&unwinder));
	struct seen seen = { .suite = suite, .unwinder = unwinder };
	run(&seen);
	assert_int_equal(seen.limits, 1);

	uint64_t all[WIRE_MODEL_WORDS] = {};
	for (unsigned i = 0; i < ARRAY_SIZE(models); i++)
		all[(WIRE_MODEL_USER + i) / 64] |=
			1ULL << (WIRE_MODEL_USER + i) % 64;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct suite_choices choices = {
			.level = WIRE_ONE,
			.seed = seed,
			.models = all,
			.on = all,
			.detail = true,
		};
		memset(seen.made, 0, sizeof(seen.made));
		seen.choosing = true;
		seen.stacks = 0;
		assert_ok(suite_choose(suite, &choices));
		run(&seen);
		/* Each test ends at its first choice that it cannot stand. */
		assert_int_equal(seen.made[0], 3);
		assert_int_equal(seen.made[1], 4); /* of 2, 3, 4 and 5 */
		assert_int_equal(seen.made[2], 2 + 4 * 20);
		assert_true(seen.made[3] >= 2);
		assert_int_equal(seen.made[4], 0);
		assert_int_equal(seen.made[5], 1);
		assert_int_equal(seen.limits, 1);
		assert_int_equal(seen.stacks, 5);
	}
	seen.choosing = false;
	assert_ok(suite_choose(suite, NULL));
	run(&seen);
}

/*
 * The library that is preloaded lies beside the program that does: so this one is
 * run from a folder where it does.
 */
static void go_beside(const char *agent)
{
	char folder[] = "/tmp/polygraph-models-XXXXXX", command[4 * PATH_MAX];
	char self[PATH_MAX], copy[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0 || !mkdtemp(folder))
		exit(3);
	self[n] = '\0';
	snprintf(copy, sizeof(copy), "%s/test", folder);
	snprintf(command, sizeof(command), "cp '%s' %s && cp '%s' %s/", self,
		 copy, agent, folder);
	if (system(command))
		exit(3);
	setenv("POLYGRAPH_UNIT_FOLDER", folder, 1);
	execl(copy, copy, (char *)NULL);
	exit(3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(refused),
		cmocka_unit_test(too_many),
		cmocka_unit_test(functions_do_otherwise),
	};
	const char *agent = getenv("POLYGRAPH_CHOICES_AGENT");
	const char *folder = getenv("POLYGRAPH_UNIT_FOLDER");
	if (agent && !folder)
		go_beside(agent);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char command[PATH_MAX];
	snprintf(command, sizeof(command), "rm -r '%s'", folder ? folder : "");
	if (folder && system(command))
		return 3;
	return failed;
}
