/*
 * Any bytes as a program: every question of dwarf/object.h, any answer.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc \
 *		tests/fuzz/fuzz_object.c src/base/[a-z]*.c src/dwarf/[a-z]*.c -ldw -lelf -o fuzz_object
 *	./fuzz_object -max_len=65536 CORPUS
 *
 * Good first inputs are small programs with debug information of each kind.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dwarf/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct asking {
	struct object *object;
	unsigned left;
};

static bool ask(void *data, const struct object_symbol *symbol)
{
	struct asking *asking = data;
	const char *file = NULL;
	unsigned line;
	struct object_signature signature;
	struct object_symbol other;
	if (!object_symbol(asking->object, symbol->name, &other))
		abort();
	object_symbol_at(asking->object, symbol->value, &other);
	object_line(asking->object, symbol->value, &file, &line);
	object_function_place(asking->object, symbol->value, &file, &line);
	object_function_signature(asking->object, symbol->value, &signature);
	return --asking->left;
}

static bool ignore(void *data, const char *name, const char *file,
		   unsigned line)
{
	(void)data;
	(void)file;
	(void)line;
	return name[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct object_facts facts;
	struct err *err = object_probe(path, &facts);
	if (err)
		abort();
	struct object *object = NULL;
	err = object_open(path, &object);
	if (err) {
		err_destroy(err);
		close(fd);
		return 0;
	}
	struct asking asking = { .object = object, .left = 500 };
	object_each_symbol(object, ask, &asking);
	const char *file;
	unsigned line;
	for (uint64_t at = object_facts(object)->entry, i = 0; i < 64; i++)
		object_line(object, at + i * 16, &file, &line);
	uint64_t value;
	object_member_offset(object, "widget", "range.hi", &value);
	object_member_offset(object, "app::Info", "in_.q", &value);
	object_type_size(object, "nothing", &value);
	object_each_inlined(object, (const char *const[]){ "*", NULL }, ignore,
			    NULL);
	object_close(object);
	close(fd);
	return 0;
}
