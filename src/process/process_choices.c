#include "process/process_choices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "suite/agent_library.h"
#include "wire/choices.h"

bool process_chooses(const struct process_suite *suite)
{
	return suite->suite.options.agent == SUITE_AGENT_CHOICES;
}

static struct err *find_library(struct process_suite *suite)
{
	if (suite->library)
		return NULL;
	return agent_library_find(AGENT_LIBRARY_CHOICES, &suite->library);
}

struct err *process_choose(struct suite *suite,
			   const struct suite_choices *choices)
{
	struct process_suite *self = (struct process_suite *)suite;
	TRY(find_library(self));
	if (choices && (choices->n_ranges > WIRE_CHOICE_RANGES ||
			choices->n_forced > WIRE_CHOICE_TRACE))
		return err_create(ERR_INTERNAL,
				  "%zu ranges of choices, %zu given picks are "
				  "too many",
				  choices->n_ranges, choices->n_forced);
	self->choosing = choices != NULL;
	self->choices = choices ? *choices : (struct suite_choices){};
	return NULL;
}

static void fill(struct wire_choices *block,
		 const struct suite_choices *choices, size_t test)
{
	const uint64_t *off = choices->off_by_test;
	block->level = choices->level;
	block->seed = choices->seed;
	memcpy(block->models, choices->models, sizeof(block->models));
	for (size_t i = 0; i < WIRE_MODEL_WORDS; i++)
		block->on[i] = choices->on[i] &
			       ~(off ? off[test * WIRE_MODEL_WORDS + i] : 0);
	block->only_ranges = choices->only_ranges;
	block->ranges_n = choices->n_ranges;
	for (size_t i = 0; i < choices->n_ranges; i++)
		block->ranges[i] = choices->ranges[i];
	block->detail = choices->detail;
	block->trace_on = choices->trace;
	block->forced_n = choices->n_forced;
	for (size_t i = 0; i < choices->n_forced; i++)
		block->forced[i] = choices->forced[i];
	block->active = 1;
}

/* What the suite itself says of a test's environment is not open. */
static void pin(struct wire_choices *block, const struct env_changes *changes)
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
				 struct process_block *ret)
{
	TRY(find_library(suite));
	_cleanup_(closep) int fd = memfd_create(
		"polygraph choices", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct wire_choices *block = MAP_FAILED;
	/* Tests may do with it what they like, but not take it away from us. */
	if (fd >= 0 && !ftruncate(fd, sizeof(*block)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	if (block == MAP_FAILED)
		return err_errno(errno, "cannot share memory with a test");
	block->magic = WIRE_CHOICES_MAGIC;
	block->version = WIRE_CHOICES_VERSION;
	/* All of a process is the test. */
	block->phase = 1;
	block->epoch = 1;
	block->children = 1;
	pin(block, &suite->tests.data[test].environment);
	if (suite->choosing)
		fill(block, &suite->choices, test);
	*ret = (struct process_block){ take_fd(fd), block };
	return NULL;
}

void process_block_free(struct process_block *block)
{
	if (block->block) {
		block->block->active = 0;
		munmap(block->block, sizeof(*block->block));
	}
	closep(&block->fd);
	*block = (struct process_block)PROCESS_BLOCK_INIT;
}

/*
 * The library goes in front of what is preloaded already. AddressSanitizer wants
 * its runtime to be first, for the sake of functions that the library passes
 * on to it: told so, it goes on (sanitizers' flags: later ones win).
 */
struct err *process_block_environment(const struct process_suite *suite,
				      const struct process_block *block,
				      struct strv *environment)
{
	char path[64];
	_cleanup_(env_changes_freep) struct env_changes changes = {};
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(),
		 block->fd);
	TRY(env_changes_add(&changes, ENV_SET, WIRE_CHOICES_VARIABLE,
			    strlen(WIRE_CHOICES_VARIABLE), path));
	TRY(env_changes_add(&changes, ENV_PATH_PREPEND, "LD_PRELOAD",
			    strlen("LD_PRELOAD"), suite->library));
	TRY(env_changes_add(&changes, ENV_PATH_PREPEND, "ASAN_OPTIONS",
			    strlen("ASAN_OPTIONS"),
			    "verify_asan_link_order=0"));
	return env_apply(&changes, environment);
}
