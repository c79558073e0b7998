/*
 * The file of a loaded object, for its symbols: those that the dynamic linker
 * does not see, too. Nothing in it is trusted.
 */
#pragma once

#include <elf.h>

#include "agent/agent.h"

struct file_image {
	const unsigned char *bytes;
	size_t size;
	const char *strings; /* names of its symbols */
	size_t strings_n;
};

#pragma GCC visibility push(hidden)
bool image_map(const char *path, struct file_image *ret);
void image_unmap(const struct file_image *image);
/* NULL: there are none. */
const Elf64_Sym *image_symbols(struct file_image *image, size_t *ret_n);
/* After image_symbols(): a name, which ends in the file; NULL: it does not. */
const char *image_name(const struct file_image *image, uint64_t at);
bool image_begins(const struct file_image *image, uint64_t at,
		  const char *start);
#pragma GCC visibility pop
