/*
 * Any bytes as a program whose tests are to be known by what they are made of:
 * sections, symbols, relocations, machine code, tables of exceptions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/map.h"
#include "framework/frameworks.h"
#include "program/makeup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As seeds_makeup.py has them. */
static const struct makeup_test tests[] = {
	{ "seed.c", 6 },  { "seed.c", 7 }, { "seed.cc", 5 },
	{ "seed.cc", 8 }, { NULL, 0 },
};
static const struct makeup_lines inside[] = { { 6, 6 } };
static const struct makeup_source sources[] = {
	{ "/tmp/seed.c", inside, ARRAY_SIZE(inside) },
	{ "/tmp/seed.cc", NULL, 0 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct makeup *makeup = NULL;
	struct err *err = makeup_read(path, frameworks_own, tests,
				      ARRAY_SIZE(tests), &makeup);
	bool known = false;
	if (!err) {
		uint64_t digest;
		for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
			makeup_digest(makeup, i, &digest);
		err = makeup_mark(makeup, sources, ARRAY_SIZE(sources), NULL,
				  &known);
	}
	if (!err) {
		makeup_reach(makeup);
		for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
			makeup_reached(makeup, i);
	}
	err_destroy(err);
	makeup_destroy(makeup);
	close(fd);
	return 0;
}
