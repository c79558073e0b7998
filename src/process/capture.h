/*
 * The output of a test in bounded memory: its beginning and its end, and how
 * much was left out between them. A test that never stops printing costs what
 * one that prints a little more than the bound costs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Of the beginning and of the end, each. */
#define CAPTURE_KEEP ((size_t)64 << 10)

struct capture {
	size_t keep;
	char *head;
	size_t head_n, head_cap;
	char *tail;
	size_t tail_n, tail_cap; /* up to twice @keep */
	uint64_t dropped;
};

void capture_init(struct capture *capture, size_t keep);
void capture_free(struct capture *capture);
struct err *capture_add(struct capture *capture, const char *data,
			size_t n) _must_check_;
/* All that is kept as one NUL-terminated text, the caller's. */
struct err *capture_text(const struct capture *capture, char **ret,
			 size_t *ret_n, uint64_t *ret_dropped) _must_check_;
/* Shortens such a text to @keep bytes at each end. */
void capture_shorten(char *text, size_t *n, uint64_t *dropped, size_t keep);
