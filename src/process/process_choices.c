#include "process/process_choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "suite/agent_library.h"

bool process_chooses(const struct process_suite *suite)
{
	return suite->suite.options.agent == SUITE_AGENT_CHOICES;
}

static struct err *process_find_choices_library(struct process_suite *suite)
{
	if (suite->library)
		return NULL;
	return agent_library_find(AGENT_LIBRARY_CHOICES, &suite->library);
}

struct err *process_choose(struct suite *suite,
			   const struct suite_choices *choices)
{
	struct process_suite *self = (struct process_suite *)suite;
	TRY(process_find_choices_library(self));
	self->choosing = choices != NULL;
	self->choices = choices ? *choices : (struct suite_choices){};
	return NULL;
}

/* What the suite itself says of a test's environment is not open. */
static void process_pin_variables(struct wire_choices *block,
				  const struct env_changes *changes)
{
	size_t at = 0;
	for (size_t i = 0; i < changes->n; i++) {
		size_t n = strlen(changes->data[i].name) + 1;
		if (n < 2 || n >= sizeof(block->pinned) - at)
			continue;
		memcpy(block->pinned + at, changes->data[i].name, n);
		at += n;
	}
}

struct err *process_block_create(struct process_suite *suite, size_t test,
				 struct choice_block *ret)
{
	_cleanup_(choice_block_free) struct choice_block block =
		CHOICE_BLOCK_INIT;
	TRY(process_find_choices_library(suite));
	TRY(choice_block_create(&suite->suite.options, &block));
	/* All of a process is the test. */
	block.shared->phase = 1;
	block.shared->epoch = 1;
	block.shared->children = 1;
	process_pin_variables(block.shared,
			      &suite->tests.data[test].environment);
	if (suite->choosing) {
		choice_block_fill(block.shared, &suite->choices);
		choice_block_test(block.shared, &suite->choices, test);
		block.shared->active = 1;
	}
	*ret = block;
	block = (struct choice_block)CHOICE_BLOCK_INIT;
	return NULL;
}

/*
 * The library goes in front of what is preloaded already. AddressSanitizer wants
 * its runtime to be first, for the sake of functions that the library passes
 * on to it: told so, it goes on (sanitizers' flags: later ones win).
 */
struct err *process_block_environment(const struct process_suite *suite,
				      const struct choice_block *block,
				      struct strv *environment)
{
	char path[48];
	_cleanup_(env_changes_freep) struct env_changes changes = {};
	choice_block_path(block, path);
	TRY(env_changes_add(&changes, ENV_SET, WIRE_CHOICES_VARIABLE,
			    strlen(WIRE_CHOICES_VARIABLE), path));
	TRY(env_changes_add(&changes, ENV_PATH_PREPEND, "LD_PRELOAD",
			    strlen("LD_PRELOAD"), suite->library));
	TRY(env_changes_add(&changes, ENV_PATH_PREPEND, "ASAN_OPTIONS",
			    strlen("ASAN_OPTIONS"),
			    "verify_asan_link_order=0"));
	return env_apply(&changes, environment);
}

/* Of "sh -c COMMAND" the command's first word counts, if it is a plain path. */
bool process_choices_miss(const struct process_suite *suite, size_t test)
{
	const struct process_test *of = &suite->tests.data[test];
	const struct strv *argv = &of->argv;
	_cleanup_(freep) char *word = NULL, *path = NULL;
	if (!argv->n)
		return false;
	if (argv->n == 3 && !strcmp(argv->data[0], "/bin/sh") &&
	    !strcmp(argv->data[1], "-c"))
		word = strndup(argv->data[2], strcspn(argv->data[2], " \t"));
	else
		word = strdup(argv->data[0]);
	/* What is not a path is searched for, mostly in the system's folders. */
	if (!word || !strchr(word, '/') || strpbrk(word, "$\"'`;|&<>()\\*?"))
		return false;
	if (of->folder)
		err_ignore(path_join(of->folder, word, &path));
	else
		path = take_ptr(word);
	return path && !agent_library_fits(path);
}
