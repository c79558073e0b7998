/*
 * An index on disk: one file a program, named after its content.
 *
 * A header with a checksum, then tables of records of fixed size in the order
 * of enum cache_table, then the texts. Types are numbered from 1 as in the program's
 * own part of the pool; 0 stays "not known". Numbers are those of the machine:
 * the cache is not shared between machines.
 *
 * Whatever is in the file, reading it ends in an index that keeps the rules of
 * type.h, or in none: sizes and numbers are checked here, the rest is
 * type_settle()'s.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "base/trust.h"
#include "dwarf/index_internal.h"

#define CACHE_VERSION 3
#define CACHE_SUFFIX "-v2.idx"
#define CACHE_SUFFIX_OLD "-v1.idx"
#define CACHE_TEMPORARY ".polygraph-new-"
#define CACHE_MAGIC "pgindex"
#define CACHE_BYTES_MAX ((uint64_t)4 << 30)
/* Entries that were not used for this long are removed when one is added. */
#define CACHE_DAYS 30
#define CACHE_ENTRIES_MAX 100000
#define TEXT_NONE UINT32_MAX

enum cache_table {
	TABLE_TYPES,
	TABLE_MEMBERS,
	TABLE_ENUMERATORS,
	TABLE_ARGUMENTS,
	TABLE_VARIABLES,
	TABLE_VTABLES,
	TABLE_UNITS,
	TABLE_TEXTS,
	TABLES,
};

enum header_flags { HEADER_DEBUG = 1 << 0 };

struct cache_header {
	char magic[8];
	uint32_t version;
	uint32_t flags;
	uint64_t checksum; /* of the header and everything after it */
	uint64_t key[2];   /* of what it was made from */
	uint64_t n[TABLES];
};

struct type_record {
	uint32_t kind, flags, name, align, target;
	uint32_t n_members, n_enumerators, n_arguments;
	uint64_t size, count;
};

enum member_flags {
	MEMBER_BASE = 1 << 0,
	MEMBER_VIRTUAL = 1 << 1,
	MEMBER_ARTIFICIAL = 1 << 2,
};

struct member_record {
	uint32_t name, type;
	uint64_t offset;
	int64_t vtable_offset;
	uint8_t bit_offset, bit_size, flags, pad[5];
};

struct enumerator_record {
	uint32_t name, pad;
	int64_t value;
};

struct argument_record {
	uint32_t type, is_value;
	int64_t value;
};

struct variable_record {
	uint32_t name, symbol, file, line, flags, type, unit, pad;
	uint64_t address, size, guard;
};

struct vtable_record {
	uint64_t address, size;
	uint32_t type, pad;
};

static const size_t record_sizes[TABLES] = {
	[TABLE_TYPES] = sizeof(struct type_record),
	[TABLE_MEMBERS] = sizeof(struct member_record),
	[TABLE_ENUMERATORS] = sizeof(struct enumerator_record),
	[TABLE_ARGUMENTS] = sizeof(struct argument_record),
	[TABLE_VARIABLES] = sizeof(struct variable_record),
	[TABLE_VTABLES] = sizeof(struct vtable_record),
	[TABLE_UNITS] = sizeof(uint32_t),
	[TABLE_TEXTS] = 1,
};

/* ---- folders and names ---- */

struct err *index_cache_folder(char **ret)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	if (base && *base == '/')
		return path_join(base, "polygraph", ret);
	if (home && *home == '/')
		return path_join(home, ".cache/polygraph", ret);
	*ret = NULL;
	return NULL;
}

/*
 * One folder, in one that is there. A missing home folder is not made, and
 * nothing in that of another user, who would find a cache that cannot be used.
 */
static struct err *cache_make_one(const char *folder)
{
	struct stat st;
	_cleanup_(freep) char *parent =
		strndup(folder, (size_t)(path_base(folder) - folder));
	if (!parent)
		return err_nomem();
	if (!stat(folder, &st))
		return NULL;
	if (stat(parent, &st) < 0)
		return err_errno(errno, "cannot create '%s'", folder);
	if (!trust_owner(st.st_uid))
		return err_create(ERR_INTERNAL, "'%s' is another user's",
				  parent);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_errno(errno, "cannot create '%s'", folder);
	return NULL;
}

struct err *index_cache_make_folder(const char *folder)
{
	const char *base = path_base(folder);
	if (base - folder > 1) {
		_cleanup_(freep) char *parent =
			strndup(folder, (size_t)(base - folder - 1));
		if (!parent)
			return err_nomem();
		TRY(cache_make_one(parent));
	}
	TRY(cache_make_one(folder));
	_cleanup_(closep) _unused_ int fd = -1;
	return trust_open_folder(folder, &fd);
}

struct cache_name {
	char file[64];
	uint64_t key[2];
};

/*
 * After the whole content: build ids can be set by hand, and two programs that
 * share one may have their variables at the same places.
 */
static bool name_entry(struct object *object, struct cache_name *ret)
{
	size_t n = 0;
	const char *bytes = elf_rawfile(object->elf, &n);
	if (!bytes)
		return false;
	XXH128_hash_t hash = XXH3_128bits(bytes, n);
	ret->key[0] = hash.low64;
	ret->key[1] = hash.high64;
	snprintf(ret->file, sizeof(ret->file), "%016llx%016llx" CACHE_SUFFIX,
		 (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	return true;
}

/* Names that we give, also those of older versions. */
static bool cache_names_file(const char *name)
{
	if (str_starts(name, CACHE_TEMPORARY))
		return strlen(name) == strlen(CACHE_TEMPORARY "XXXXXX");
	name += str_starts(name, "file-") ? strlen("file-") : 0;
	size_t n = strspn(name, "0123456789abcdef");
	return n && (!strcmp(name + n, CACHE_SUFFIX) ||
		     !strcmp(name + n, CACHE_SUFFIX_OLD));
}

/* An entry that we wrote: the folder may hold files of others as well. */
static bool cache_owns_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static uint64_t cache_checksum(const struct cache_header *header,
			       const void *rest, size_t n)
{
	struct cache_header plain = *header;
	plain.checksum = 0;
	return XXH3_64bits_withSeed(rest, n,
				    XXH3_64bits(&plain, sizeof(plain)));
}

/* ---- writing ---- */

struct cache_writer {
	type_id first;
	struct str tables[TABLES];
	uint64_t n[TABLES];
	struct map_u64 texts; /* address of the pool's text to where it is */
};

static struct err *write_record(struct cache_writer *writer,
				enum cache_table table, const void *record)
{
	writer->n[table]++;
	return str_append_n(&writer->tables[table], record,
			    record_sizes[table]);
}

static struct err *cache_write_text(struct cache_writer *writer,
				    const char *text, uint32_t *ret)
{
	uint64_t known;
	*ret = TEXT_NONE;
	if (!text)
		return NULL;
	if (!map_u64_get(&writer->texts, (uintptr_t)text, &known)) {
		struct str *texts = &writer->tables[TABLE_TEXTS];
		known = texts->n;
		if (known >= TEXT_NONE)
			return err_create(ERR_INTERNAL, "too many names");
		TRY(str_append_n(texts, text, strlen(text) + 1));
		TRY(map_u64_put(&writer->texts, (uintptr_t)text, known));
		writer->n[TABLE_TEXTS] = texts->n;
	}
	*ret = (uint32_t)known;
	return NULL;
}

static uint32_t to_own(const struct cache_writer *writer, type_id id)
{
	return id < writer->first ? 0 : id - writer->first + 1;
}

static struct err *write_parts(struct cache_writer *writer,
			       const struct type *type)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		struct member_record record = {
			.type = to_own(writer, member->type),
			.offset = member->offset,
			.vtable_offset = member->vtable_offset,
			.bit_offset = member->bit_offset,
			.bit_size = member->bit_size,
		};
		if (member->base)
			record.flags |= MEMBER_BASE;
		if (member->virtual_base)
			record.flags |= MEMBER_VIRTUAL;
		if (member->artificial)
			record.flags |= MEMBER_ARTIFICIAL;
		TRY(cache_write_text(writer, member->name, &record.name));
		TRY(write_record(writer, TABLE_MEMBERS, &record));
	}
	for (uint32_t i = 0; i < type->n_enumerators; i++) {
		struct enumerator_record record = {
			.value = type->enumerators[i].value,
		};
		TRY(cache_write_text(writer, type->enumerators[i].name,
				     &record.name));
		TRY(write_record(writer, TABLE_ENUMERATORS, &record));
	}
	for (uint32_t i = 0; i < type->n_arguments; i++) {
		struct argument_record record = {
			.type = to_own(writer, type->arguments[i].type),
			.is_value = type->arguments[i].is_value,
			.value = type->arguments[i].value,
		};
		TRY(write_record(writer, TABLE_ARGUMENTS, &record));
	}
	return NULL;
}

static struct err *write_types(struct cache_writer *writer,
			       const struct type_pool *pool)
{
	for (size_t i = writer->first; i < type_count(pool); i++) {
		const struct type *type = type_get(pool, (type_id)i);
		struct type_record record = {
			.kind = type->kind,
			.flags = type->flags,
			.align = type->align,
			.target = to_own(writer, type->target),
			.n_members = type->n_members,
			.n_enumerators = type->n_enumerators,
			.n_arguments = type->n_arguments,
			.size = type->size,
			.count = type->count,
		};
		TRY(cache_write_text(writer, type->name, &record.name));
		TRY(write_record(writer, TABLE_TYPES, &record));
		TRY(write_parts(writer, type));
	}
	return NULL;
}

static struct err *write_variables(struct cache_writer *writer,
				   const struct index_variables *index)
{
	for (size_t i = 0; i < index->variables.n; i++) {
		const struct variable *variable = &index->variables.data[i];
		struct variable_record record = {
			.line = variable->line,
			.flags = variable->flags,
			.type = to_own(writer, variable->type),
			.unit = variable->unit,
			.address = variable->address,
			.size = variable->size,
			.guard = variable->guard,
		};
		TRY(cache_write_text(writer, variable->name, &record.name));
		TRY(cache_write_text(writer, variable->symbol, &record.symbol));
		TRY(cache_write_text(writer, variable->file, &record.file));
		TRY(write_record(writer, TABLE_VARIABLES, &record));
	}
	for (size_t i = 0; i < index->vtables.n; i++) {
		struct vtable_record record = {
			.address = index->vtables.data[i].address,
			.size = index->vtables.data[i].size,
			.type = to_own(writer, index->vtables.data[i].type),
		};
		TRY(write_record(writer, TABLE_VTABLES, &record));
	}
	for (size_t i = 0; i < index->units.n; i++) {
		uint32_t record;
		TRY(cache_write_text(writer, index->units.data[i], &record));
		TRY(write_record(writer, TABLE_UNITS, &record));
	}
	return NULL;
}

static struct err *cache_write_bytes(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return err_errno(done < 0 ? errno : ENOSPC,
					 "cannot write the index");
		bytes += done;
		n -= (size_t)done;
	}
	return NULL;
}

/* Under another name first: an incomplete file is never seen. */
static struct err *cache_write_file(const char *cache, const char *name,
				    const struct str *bytes)
{
	_cleanup_(freep) char *path = NULL, *temporary = NULL;
	TRY(path_join(cache, name, &path));
	TRY(path_join(cache, CACHE_TEMPORARY "XXXXXX", &temporary));
	struct stat st;
	if (!lstat(path, &st) && !cache_owns_file(&st))
		return err_create(ERR_INTERNAL, "'%s' is not ours", path);
	_cleanup_(closep) int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_errno(errno, "cannot write into '%s'", cache);
	struct err *err = cache_write_bytes(fd, bytes->s, bytes->n);
	if (!err && rename(temporary, path) < 0)
		err = err_errno(errno, "cannot rename to '%s'", path);
	if (err)
		unlink(temporary);
	return err;
}

static void remove_old(const char *cache)
{
	DIR *folder = opendir(cache);
	if (!folder)
		return;
	time_t limit = time(NULL) - (time_t)CACHE_DAYS * 24 * 60 * 60;
	for (size_t i = 0; i < CACHE_ENTRIES_MAX; i++) {
		const struct dirent *entry = readdir(folder);
		if (!entry)
			break;
		struct stat st;
		if (cache_names_file(entry->d_name) &&
		    fstatat(dirfd(folder), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    cache_owns_file(&st) && st.st_mtime < limit)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	closedir(folder);
}

static struct err *cache_assemble_file(struct cache_writer *writer,
				       const struct cache_name *name,
				       bool debug, struct str *bytes)
{
	struct cache_header header = {
		.magic = CACHE_MAGIC,
		.version = CACHE_VERSION,
		.flags = debug ? HEADER_DEBUG : 0,
		.key = { name->key[0], name->key[1] },
	};
	memcpy(header.n, writer->n, sizeof(header.n));
	TRY(str_append_n(bytes, (const char *)&header, sizeof(header)));
	for (size_t i = 0; i < TABLES; i++) {
		if (writer->tables[i].n)
			TRY(str_append_n(bytes, writer->tables[i].s,
					 writer->tables[i].n));
	}
	header.checksum = cache_checksum(&header, bytes->s + sizeof(header),
					 bytes->n - sizeof(header));
	memcpy(bytes->s, &header, sizeof(header));
	return NULL;
}

static struct err *fill_tables(struct cache_writer *writer,
			       const struct type_pool *pool,
			       const struct index_variables *index)
{
	TRY(write_types(writer, pool));
	return write_variables(writer, index);
}

struct err *index_cache_write(struct object *object, const char *cache,
			      const struct type_pool *pool, type_id first,
			      const struct index_variables *index)
{
	struct cache_name name = {};
	if (!name_entry(object, &name))
		return NULL;
	_cleanup_(str_freep) struct str bytes = STR_INIT;
	struct cache_writer writer = { .first = first };
	struct err *err = fill_tables(&writer, pool, index);
	if (!err)
		err = cache_assemble_file(&writer, &name, index->debug, &bytes);
	for (size_t i = 0; i < TABLES; i++)
		str_free(&writer.tables[i]);
	map_u64_free(&writer.texts);
	TRY(err);
	TRY(index_cache_make_folder(cache));
	remove_old(cache);
	return cache_write_file(cache, name.file, &bytes);
}

/* ---- reading ---- */

struct cache_reader {
	const char *tables[TABLES];
	uint64_t n[TABLES];
	uint64_t next[TABLES]; /* parts of types that are used up */
	type_id first;
	struct type_pool *pool;
	VEC(struct type_member) members;
	VEC(struct type_enumerator) enumerators;
	VEC(struct type_argument) arguments;
};

struct cache_mapping {
	char *bytes;
	size_t n;
};

static void cache_mapping_freep(struct cache_mapping *mapping)
{
	if (mapping->bytes)
		munmap(mapping->bytes, mapping->n);
}

/* Nothing that another user could have put there. */
static bool map_file(const char *path, struct cache_mapping *ret)
{
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0 || !cache_owns_file(&st) ||
	    st.st_size < (off_t)sizeof(struct cache_header) ||
	    (uint64_t)st.st_size > CACHE_BYTES_MAX)
		return false;
	void *bytes =
		mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	*ret = (struct cache_mapping){ .bytes = bytes,
				       .n = (size_t)st.st_size };
	/* It was of use: remove_old() sees that. */
	futimens(fd, NULL);
	return true;
}

static bool find_tables(struct cache_reader *reader,
			const struct cache_mapping *mapping,
			const struct cache_name *name,
			struct cache_header *header)
{
	memcpy(header, mapping->bytes, sizeof(*header));
	if (memcmp(header->magic, CACHE_MAGIC, sizeof(CACHE_MAGIC)) ||
	    header->version != CACHE_VERSION ||
	    memcmp(header->key, name->key, sizeof(header->key)))
		return false;
	size_t at = sizeof(*header);
	for (size_t i = 0; i < TABLES; i++) {
		if (header->n[i] > (mapping->n - at) / record_sizes[i])
			return false;
		reader->tables[i] = mapping->bytes + at;
		reader->n[i] = header->n[i];
		at += header->n[i] * record_sizes[i];
	}
	if (at != mapping->n ||
	    header->checksum != cache_checksum(header,
					       mapping->bytes + sizeof(*header),
					       mapping->n - sizeof(*header)))
		return false;
	uint64_t texts = reader->n[TABLE_TEXTS];
	return texts && !reader->tables[TABLE_TEXTS][texts - 1] &&
	       reader->n[TABLE_TYPES] < INT32_MAX &&
	       reader->n[TABLE_UNITS] < INT32_MAX;
}

/* Records are not aligned; out of range: all zero. */
static void cache_read_record(const struct cache_reader *reader,
			      enum cache_table table, uint64_t index, void *ret)
{
	memset(ret, 0, record_sizes[table]);
	if (index < reader->n[table])
		memcpy(ret, reader->tables[table] + index * record_sizes[table],
		       record_sizes[table]);
}

static const char *cache_read_text(const struct cache_reader *reader,
				   uint32_t at)
{
	return at < reader->n[TABLE_TEXTS] ? reader->tables[TABLE_TEXTS] + at
					   : NULL;
}

static type_id to_pool(const struct cache_reader *reader, uint32_t own)
{
	return own && own <= reader->n[TABLE_TYPES] ? reader->first + own - 1
						    : TYPE_UNKNOWN;
}

static struct err *read_parts(struct cache_reader *reader,
			      const struct type_record *type)
{
	reader->members.n = reader->enumerators.n = reader->arguments.n = 0;
	for (uint32_t i = 0; i < type->n_members; i++) {
		struct member_record record;
		cache_read_record(reader, TABLE_MEMBERS,
				  reader->next[TABLE_MEMBERS]++, &record);
		struct type_member member = {
			.name = cache_read_text(reader, record.name),
			.type = to_pool(reader, record.type),
			.offset = record.offset,
			.bit_offset = record.bit_offset,
			.bit_size = record.bit_size,
			.base = record.flags & MEMBER_BASE,
			.virtual_base = record.flags & MEMBER_VIRTUAL,
			.artificial = record.flags & MEMBER_ARTIFICIAL,
			.vtable_offset = record.vtable_offset,
		};
		TRY(vec_push(&reader->members, member));
	}
	for (uint32_t i = 0; i < type->n_enumerators; i++) {
		struct enumerator_record record;
		cache_read_record(reader, TABLE_ENUMERATORS,
				  reader->next[TABLE_ENUMERATORS]++, &record);
		struct type_enumerator enumerator = {
			.name = cache_read_text(reader, record.name),
			.value = record.value,
		};
		TRY(vec_push(&reader->enumerators, enumerator));
	}
	for (uint32_t i = 0; i < type->n_arguments; i++) {
		struct argument_record record;
		cache_read_record(reader, TABLE_ARGUMENTS,
				  reader->next[TABLE_ARGUMENTS]++, &record);
		struct type_argument argument = {
			.type = to_pool(reader, record.type),
			.is_value = record.is_value,
			.value = record.value,
		};
		TRY(vec_push(&reader->arguments, argument));
	}
	return NULL;
}

static struct err *read_type(struct cache_reader *reader, uint64_t index)
{
	struct type_record record;
	cache_read_record(reader, TABLE_TYPES, index, &record);
	/* More parts than there are: no more memory than the file has. */
	for (enum cache_table table = TABLE_MEMBERS; table <= TABLE_ARGUMENTS;
	     table++) {
		uint32_t *n = table == TABLE_MEMBERS ? &record.n_members
			      : table == TABLE_ENUMERATORS
				      ? &record.n_enumerators
				      : &record.n_arguments;
		*n = (uint32_t)MIN((uint64_t)*n,
				   reader->n[table] - reader->next[table]);
	}
	TRY(read_parts(reader, &record));
	struct type type = {
		.kind = record.kind <= TYPE_ARRAY ? record.kind : TYPE_OPAQUE,
		.flags = record.flags & (TYPE_POLYMORPHIC | TYPE_ATOMIC),
		.name = cache_read_text(reader, record.name),
		.size = record.size,
		.align = record.align,
		.target = to_pool(reader, record.target),
		.count = record.count,
		.members = reader->members.data,
		.n_members = record.n_members,
		.enumerators = reader->enumerators.data,
		.n_enumerators = record.n_enumerators,
		.arguments = reader->arguments.data,
		.n_arguments = record.n_arguments,
	};
	return type_set(reader->pool, reader->first + (type_id)index, &type);
}

static struct err *read_types(struct cache_reader *reader)
{
	for (uint64_t i = 0; i < reader->n[TABLE_TYPES]; i++) {
		type_id id;
		TRY(type_declare(reader->pool, &id));
	}
	for (uint64_t i = 0; i < reader->n[TABLE_TYPES]; i++)
		TRY(read_type(reader, i));
	return type_settle(reader->pool, reader->first);
}

static struct err *cache_keep_text(struct cache_reader *reader, uint32_t at,
				   const char **ret)
{
	const char *text = cache_read_text(reader, at);
	*ret = text ? type_text(reader->pool, text) : NULL;
	return text && !*ret ? err_nomem() : NULL;
}

static struct err *read_variable(struct cache_reader *reader, uint64_t index,
				 struct index_variables *ret)
{
	struct variable_record record;
	cache_read_record(reader, TABLE_VARIABLES, index, &record);
	struct variable variable = {
		.line = record.line,
		.flags = record.flags & (VARIABLE_LOCAL | VARIABLE_TLS |
					 VARIABLE_UNTYPED | VARIABLE_CONSTANT),
		.address = record.address,
		.size = MIN(record.size, TYPE_SIZE_MAX),
		.type = to_pool(reader, record.type),
		.guard = record.guard,
		.unit = record.unit,
	};
	TRY(cache_keep_text(reader, record.name, &variable.name));
	TRY(cache_keep_text(reader, record.symbol, &variable.symbol));
	TRY(cache_keep_text(reader, record.file, &variable.file));
	if (!variable.name || variable.unit >= reader->n[TABLE_UNITS])
		return NULL;
	return vec_push(&ret->variables, variable);
}

static struct err *read_index(struct cache_reader *reader,
			      struct index_variables *ret)
{
	TRY(read_types(reader));
	for (uint64_t i = 0; i < reader->n[TABLE_UNITS]; i++) {
		uint32_t at;
		const char *text;
		cache_read_record(reader, TABLE_UNITS, i, &at);
		TRY(cache_keep_text(reader, at, &text));
		TRY(vec_push(&ret->units, text ? text : ""));
	}
	for (uint64_t i = 0; i < reader->n[TABLE_VARIABLES]; i++)
		TRY(read_variable(reader, i, ret));
	for (uint64_t i = 0; i < reader->n[TABLE_VTABLES]; i++) {
		struct vtable_record record;
		cache_read_record(reader, TABLE_VTABLES, i, &record);
		struct vtable vtable = {
			.address = record.address,
			.size = MIN(record.size, TYPE_SIZE_MAX),
			.type = to_pool(reader, record.type),
		};
		TRY(vec_push(&ret->vtables, vtable));
	}
	return NULL;
}

struct err *index_cache_read(struct object *object, const char *cache,
			     struct type_pool *pool,
			     struct index_variables **ret)
{
	struct cache_name name = {};
	_cleanup_(freep) char *path = NULL;
	_cleanup_(cache_mapping_freep) struct cache_mapping mapping = {};
	struct cache_header header;
	struct cache_reader reader = {
		.pool = pool,
		.first = (type_id)type_count(pool),
	};
	*ret = NULL;
	if (!name_entry(object, &name))
		return NULL;
	TRY(path_join(cache, name.file, &path));
	if (!map_file(path, &mapping))
		return NULL;
	if (!find_tables(&reader, &mapping, &name, &header)) {
		log_debug(LOG_DWARF, "%s is damaged or outdated", path);
		return NULL;
	}
	/* A separate debug file may have come since. */
	if (!(header.flags & HEADER_DEBUG) && object->facts.debug) {
		log_debug(LOG_DWARF,
			  "%s is not used: it was written without debug "
			  "information, which is there now",
			  path);
		return NULL;
	}
	_cleanup_(index_destroyp) struct index_variables *index =
		calloc(1, sizeof(*index));
	if (!index)
		return err_nomem();
	index->debug = header.flags & HEADER_DEBUG;
	index->from_cache = true;
	struct err *err = read_index(&reader, index);
	vec_free(&reader.members);
	vec_free(&reader.enumerators);
	vec_free(&reader.arguments);
	TRY(err);
	*ret = take_ptr(index);
	return NULL;
}
