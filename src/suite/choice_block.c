#include "suite/choice_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"

static struct err *name_libraries(const struct suite_options *options,
				  struct wire_choices *shared)
{
	size_t at = 0;
	const char *name;
	for (size_t i = 0; options->framework_library &&
			   (name = options->framework_library(i));
	     i++) {
		size_t n = strlen(name) + 1;
		if (n >= sizeof(shared->libraries) - at)
			return err_create(ERR_INTERNAL,
					  "too many libraries of frameworks");
		memcpy(shared->libraries + at, name, n);
		at += n;
	}
	return NULL;
}

struct err *choice_block_create(const struct suite_options *options,
				struct choice_block *ret)
{
	_cleanup_(closep) int fd = memfd_create(
		"polygraph choices", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct wire_choices *shared = MAP_FAILED;
	if (fd >= 0 && !ftruncate(fd, sizeof(*shared)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return err_errno(errno, "cannot share memory with a test");
	shared->magic = WIRE_CHOICES_MAGIC;
	shared->version = WIRE_CHOICES_VERSION;
	shared->log_on = log_enabled(LOG_MODELS);
	struct choice_block block = { take_fd(fd), shared };
	struct err *err = name_libraries(options, shared);
	if (err) {
		choice_block_free(&block);
		return err;
	}
	*ret = block;
	return NULL;
}

void choice_block_free(struct choice_block *block)
{
	if (block->shared) {
		block->shared->active = 0;
		munmap(block->shared, sizeof(*block->shared));
	}
	closep(&block->fd);
	*block = (struct choice_block)CHOICE_BLOCK_INIT;
}

void choice_block_path(const struct choice_block *block, char out[48])
{
	snprintf(out, 48, "/proc/%d/fd/%d", (int)getpid(), block->fd);
}

void choice_block_fill(struct wire_choices *shared,
		       const struct suite_choices *choices)
{
	shared->level = choices->level;
	shared->seed = choices->seed;
	memcpy(shared->models, choices->models, sizeof(shared->models));
	memcpy(shared->on, choices->on, sizeof(shared->on));
	shared->only_ranges = choices->only_ranges;
	shared->ranges_n = choices->n_ranges;
	for (size_t i = 0; i < choices->n_ranges; i++)
		shared->ranges[i] = choices->ranges[i];
	shared->detail = choices->detail;
	shared->trace_on = choices->trace;
	shared->forced_n = choices->n_forced;
	for (size_t i = 0; i < choices->n_forced; i++)
		shared->forced[i] = choices->forced[i];
}

void choice_block_test(struct wire_choices *shared,
		       const struct suite_choices *choices, size_t test)
{
	const uint64_t *off = choices->off_by_test;
	for (size_t i = 0; off && i < WIRE_MODEL_WORDS; i++)
		shared->on[i] =
			choices->on[i] & ~off[test * WIRE_MODEL_WORDS + i];
}
