/*
 * The memory that is shared with the agent while choices are made
 * (wire/choices.h), for the kinds of suites: a file in memory that the tested
 * processes open under this one's /proc/PID/fd, so that nothing is left behind.
 * It is sealed: tests may change its content, but not its size.
 */
#pragma once

#include "suite/suite.h"
#include "wire/choices.h"

#define CHOICE_BLOCK_INIT                                                      \
	{                                                                      \
		.fd = -1                                                       \
	}

struct choice_block {
	int fd;			     /* -1: none */
	struct wire_choices *shared; /* NULL: none */
};

struct err *choice_block_create(const struct suite_options *options,
				struct choice_block *ret) _must_check_;
/* Those processes that still have it choose no more. Empty ones are fine. */
void choice_block_free(struct choice_block *block);
/* Where it is opened. */
void choice_block_path(const struct choice_block *block, char out[48]);

/* All that @choices says except what acts in which test … */
void choice_block_fill(struct wire_choices *shared,
		       const struct suite_choices *choices);
/* … which is this. */
void choice_block_test(struct wire_choices *shared,
		       const struct suite_choices *choices, size_t test);
