/*
 * Variables that are left out of the comparison (roots.h): was anything in them
 * changed? They are no findings, but a test that changes them is not one that
 * leaves nothing. Word by word: no pointer is followed.
 */
#pragma once

#include "image/image.h"
#include "watch/roots.h"

struct omitted_word {
	const char *name; /* of the variable */
	uint64_t offset;  /* in it */
};
DEFINE_VEC(omitted_words, struct omitted_word)

/* Appends what differs on these pages, up to a bound. */
struct err *omitted_compare(const struct roots *roots,
			    const struct image_change *pages, size_t n,
			    struct omitted_words *ret) _must_check_;
