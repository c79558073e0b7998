/*
 * Any bytes as a program: its variables and types, which must keep the rules of
 * type/type.h. And its entry in the cache, changed here and there but with a
 * checksum that fits: what comes of it must keep them, too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "base/path.h"
#include "dwarf/index_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As in index_cache.c: 16 bytes, the checksum, the key, how many of each. */
#define HEADER_SIZE 104
#define CHECKSUM_AT 16
#define COUNTS_AT 40
#define ROUNDS 8
#define FUNCTIONS 16

static char folder[] = "/tmp/polygraph-fuzz-XXXXXX";

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Containment ends, and not too deep. */
static void check_depth(const struct type_pool *pool, type_id id,
			unsigned depth, size_t *budget)
{
	const struct type *type = type_get(pool, id);
	must(depth <= TYPE_DEPTH_MAX);
	if (!*budget)
		return;
	--*budget;
	if (type->kind == TYPE_ARRAY)
		check_depth(pool, type->target, depth + 1, budget);
	if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION)
		return;
	for (uint32_t i = 0; i < type->n_members; i++)
		check_depth(pool, type->members[i].type, depth + 1, budget);
}

static void check_type(const struct type_pool *pool, const struct type *type)
{
	size_t n = type_count(pool);
	must(type->name && strlen(type->name) <= 4096);
	must(type->align && !(type->align & (type->align - 1)));
	must(type->target < n && type->size <= TYPE_SIZE_MAX);
	uint64_t last = 0;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		must(member->name && member->type < n);
		must(member->offset >= last);
		last = member->offset;
		uint64_t size = type_get(pool, member->type)->size;
		if (member->bit_size)
			size = (member->bit_offset + member->bit_size + 7u) / 8;
		if (!member->virtual_base)
			must(member->offset <= type->size &&
			     size <= type->size - member->offset);
	}
	for (uint32_t i = 0; i < type->n_enumerators; i++)
		must(type->enumerators[i].name);
	for (uint32_t i = 0; i < type->n_arguments; i++)
		must(type->arguments[i].type < n);
	if (type->kind == TYPE_ARRAY && type->count != TYPE_NO_COUNT)
		must(type->size ==
		     type->count * type_get(pool, type->target)->size);
}

static void check(const struct type_pool *pool,
		  const struct index_variables *index)
{
	size_t n = type_count(pool), budget = 100000;
	char text[64];
	for (size_t i = 0; i < n; i++) {
		check_type(pool, type_get(pool, (type_id)i));
		check_depth(pool, (type_id)i, 0, &budget);
		type_describe(pool, (type_id)i, text, sizeof(text));
	}
	for (size_t i = 0; i < index->variables.n; i++) {
		const struct variable *variable = &index->variables.data[i];
		must(variable->name && variable->type < n);
		must(variable->unit < index->units.n);
		must(variable->size <= TYPE_SIZE_MAX);
	}
	for (size_t i = 0; i < index->vtables.n; i++)
		must(index->vtables.data[i].type < n);
}

/* The only entry of the cache; false: none was written. */
static bool find_entry(char *path, size_t n)
{
	DIR *entries = opendir(folder);
	bool found = false;
	must(entries);
	for (const struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, n, "%s/%s", folder, entry->d_name);
		found = true;
	}
	closedir(entries);
	return found;
}

static void change(char *bytes, size_t n, unsigned *seed)
{
	for (int i = rand_r(seed) % 8; i >= 0; i--) {
		size_t at = (size_t)rand_r(seed) % (n - HEADER_SIZE);
		bytes[HEADER_SIZE + at] = (char)rand_r(seed);
	}
	/* The counts only fit together by chance: move one to another. */
	if (rand_r(seed) % 4 == 0) {
		uint64_t counts[8];
		memcpy(counts, bytes + COUNTS_AT, sizeof(counts));
		counts[rand_r(seed) % 8] += (uint64_t)rand_r(seed) % 3 - 1;
		memcpy(bytes + COUNTS_AT, counts, sizeof(counts));
	}
	uint64_t checksum = 0;
	memcpy(bytes + CHECKSUM_AT, &checksum, sizeof(checksum));
	checksum = XXH3_64bits_withSeed(bytes + HEADER_SIZE, n - HEADER_SIZE,
					XXH3_64bits(bytes, HEADER_SIZE));
	memcpy(bytes + CHECKSUM_AT, &checksum, sizeof(checksum));
}

static void try_entry(struct object *object, const char *path,
		      const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	struct type_pool *pool = NULL;
	struct index_variables *index = NULL;
	must(!type_pool_create(&pool));
	must(!index_cache_read(object, folder, pool, &index));
	if (index)
		check(pool, index);
	index_destroy(index);
	type_pool_destroy(pool);
}

static void try_cache(struct object *object, unsigned seed)
{
	char path[512], *bytes = NULL;
	size_t n;
	if (!find_entry(path, sizeof(path)))
		return;
	must(!file_read(path, SIZE_MAX / 2, &bytes, &n));
	for (int i = 0; i < ROUNDS && n > HEADER_SIZE; i++) {
		change(bytes, n, &seed);
		try_entry(object, path, bytes, n);
	}
	free(bytes);
	unlink(path);
}

static void remove_folder(void)
{
	rmdir(folder);
}

struct functions {
	uint64_t at[FUNCTIONS];
	size_t n;
};

static bool note_function(void *data, const struct object_symbol *symbol)
{
	struct functions *functions = data;
	if (symbol->function)
		functions->at[functions->n++] = symbol->value;
	return functions->n < FUNCTIONS;
}

/* What its functions point to: types in the same pool. */
static void try_pointers(struct object *object, struct type_pool *pool)
{
	_cleanup_(index_pointers_freep) struct index_pointers pointers = {};
	struct functions functions = {};
	object_each_symbol(object, note_function, &functions);
	must(!index_pointers_of(object, functions.at, functions.n, pool,
				&pointers));
	for (size_t i = 0; i < pointers.n; i++) {
		must(pointers.data[i].name &&
		     pointers.data[i].function < functions.n);
		must(pointers.data[i].target < type_count(pool));
		check_type(pool, type_get(pool, pointers.data[i].target));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	if (!made) {
		must(mkdtemp(folder));
		atexit(remove_folder);
		made = true;
	}
	unsigned seed = (unsigned)XXH3_64bits(data, size);
	bool cached = seed % 4 == 0;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct object *object = NULL;
	struct err *err = object_open(path, &object);
	if (err) {
		err_destroy(err);
		close(fd);
		return 0;
	}
	struct type_pool *pool = NULL;
	struct index_variables *index = NULL;
	must(!type_pool_create(&pool));
	must(!index_load(object, cached ? folder : NULL, pool, &index));
	check(pool, index);
	try_pointers(object, pool);
	check(pool, index);
	index_destroy(index);
	type_pool_destroy(pool);
	if (cached)
		try_cache(object, seed);
	object_close(object);
	close(fd);
	return 0;
}
