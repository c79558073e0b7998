/*
 * Models of directories: the order of their entries, and what entries say.
 *
 * The first readdir(3) of a stream that is the program's reads all that is left
 * of it into memory of ours; from then on entries come from that memory, for
 * every caller. Every position keeps the value that telldir(3) has for it, and
 * entries say it in d_off. The memory lives until closedir(3); rewinddir(3)
 * makes it stale: the directory is read again then.
 */
/* Names with and without 64 are both ours. */
#undef _FILE_OFFSET_BITS
#include "models/order_internal.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define STREAMS 2048
#define WINDOW 16 /* places of the table that a stream can have */
#define ENTRIES ((uint32_t)1 << 20)
#define BYTES ((size_t)256 << 20)
#define CLOSED 16

struct directory_stream {
	size_t size, raw_size; /* as mapped */
	char *raw;	       /* entries as they were read */
	char *out;	       /* as they are returned */
	uint32_t *offsets;     /* of entries in both */
	uint32_t *order;       /* what comes i-th */
	long *positions;       /* before the i-th, and the end */
	uint32_t n, at;
	int error; /* that ended the reading */
	bool stale;
	bool unknown;		/* no types */
	struct dirent64 *given; /* last */
	struct choose_keys keys;
};

static struct directory_place {
	uintptr_t dir;
	struct directory_stream *stream;
	struct order_lock lock;
} places[STREAMS];

/*
 * Closed ones. Code that still reads their entries is wrong, but not because of
 * a choice: it must not fail for that.
 */
static struct directory_stream *closed[CLOSED];
static uint32_t closed_n;

static void stream_destroy(struct directory_stream *stream)
{
	if (!stream)
		return;
	order_unmap(stream->raw, stream->raw_size);
	order_unmap(stream, stream->size);
}

static void directory_stream_close(struct directory_stream *stream)
{
	if (!stream)
		return;
	uint32_t i = __atomic_fetch_add(&closed_n, 1, __ATOMIC_RELAXED);
	stream_destroy(__atomic_exchange_n(&closed[i % CLOSED], stream,
					   __ATOMIC_ACQ_REL));
}

static struct directory_place *place_at(uintptr_t dir, unsigned i)
{
	return &places[(choose_mix(dir, 0) + i) % STREAMS];
}

static struct directory_place *directory_place_find(const DIR *dir)
{
	for (unsigned i = 0; i < WINDOW; i++) {
		struct directory_place *place = place_at((uintptr_t)dir, i);
		if (__atomic_load_n(&place->dir, __ATOMIC_ACQUIRE) ==
		    (uintptr_t)dir)
			return place;
	}
	return NULL;
}

static struct directory_place *place_add(const DIR *dir)
{
	for (unsigned i = 0; i < WINDOW; i++) {
		struct directory_place *place = place_at((uintptr_t)dir, i);
		uintptr_t empty = 0;
		if (__atomic_compare_exchange_n(
			    &place->dir, &empty, (uintptr_t)dir, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) ||
		    empty == (uintptr_t)dir)
			return place;
	}
	return NULL;
}

/* The stream is no more, or another one at the same address. */
static void place_forget(const DIR *dir)
{
	struct directory_place *place = dir ? directory_place_find(dir) : NULL;
	if (!place)
		return;
	directory_stream_close(
		__atomic_exchange_n(&place->stream, NULL, __ATOMIC_ACQ_REL));
	__atomic_store_n(&place->lock.taken, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&place->dir, 0, __ATOMIC_RELEASE);
}

/* ---- reading ---- */

static size_t directory_entry_size(const struct dirent64 *entry)
{
	size_t n = offsetof(struct dirent64, d_name) +
		   text_length(entry->d_name) + 1;
	return (n + 7) & ~(size_t)7;
}

struct directory_reading {
	char *raw;
	size_t size, used;
	uint32_t n;
	uint64_t names; /* sum of hashes */
	int error;
};

static bool directory_read_all(DIR *dir, struct directory_reading *reading)
{
	CHOOSE_NEXT(readdir64, false)
	reading->size = (size_t)64 << 10;
	reading->raw = order_map(reading->size);
	if (!reading->raw)
		return false;
	int saved = errno;
	while (reading->n < ENTRIES && reading->used < BYTES) {
		/* Before it is read: what does not fit would be lost. */
		if (reading->used + 2 * sizeof(struct dirent64) >
		    reading->size) {
			char *more = order_grow(reading->raw, &reading->size);
			if (!more)
				break;
			reading->raw = more;
		}
		errno = 0;
		struct dirent64 *entry = next(dir);
		if (!entry) {
			reading->error = errno;
			break;
		}
		size_t size = directory_entry_size(entry);
		if (size > 2 * sizeof(struct dirent64))
			size = 2 * sizeof(struct dirent64);
		order_copy(reading->raw + reading->used, entry, size);
		struct dirent64 *copy =
			(struct dirent64 *)(reading->raw + reading->used);
		copy->d_reclen = (unsigned short)size;
		reading->names += choose_hash_text(entry->d_name);
		reading->used += size;
		reading->n++;
	}
	errno = saved;
	return true;
}

static long native_position(DIR *dir)
{
	CHOOSE_NEXT(telldir, -1)
	return next(dir);
}

static void native_seek(DIR *dir, long position)
{
	CHOOSE_NEXT(seekdir, )
	next(dir, position);
}

static void directory_choose_order(DIR *dir, struct directory_stream *stream,
				   const struct directory_reading *reading,
				   uintptr_t caller)
{
	char text[ORDER_TEXT];
	int fd = dirfd(dir);
	struct choose_keys keys = order_directory_keys(fd, reading->names);
	uint64_t pick = 0;
	stream->keys = keys;
	if (stream->n > 1 && choose_wanted(WIRE_MODEL_readdir, caller)) {
		pick = choose_pick(WIRE_MODEL_readdir,
				   choose_permutations(stream->n), keys);
		choose_argument("%u entries of %s", stream->n,
				order_path_of(fd, text));
		choose_did("entries came in another order");
	}
	choose_permutation(pick, stream->n, stream->order);
	if (stream->n && choose_wanted(WIRE_MODEL_readdir_type, caller)) {
		stream->unknown = choose_pick(WIRE_MODEL_readdir_type, 2, keys);
		choose_argument("%u entries of %s", stream->n,
				order_path_of(fd, text));
		choose_did("their types were DT_UNKNOWN");
	}
}

static struct directory_stream *stream_create(DIR *dir, uintptr_t caller)
{
	struct directory_reading reading = {};
	long begin = native_position(dir);
	if (!directory_read_all(dir, &reading))
		return NULL;
	size_t n = reading.n;
	size_t size = sizeof(struct directory_stream) + (n + 1) * sizeof(long) +
		      n * 2 * sizeof(uint32_t) + reading.used + 64;
	struct directory_stream *stream = order_map(size);
	if (!stream) {
		native_seek(dir, begin);
		order_unmap(reading.raw, reading.size);
		return NULL;
	}
	stream->size = size;
	stream->raw = reading.raw;
	stream->raw_size = reading.size;
	stream->positions = (long *)(stream + 1);
	stream->offsets = (uint32_t *)(stream->positions + n + 1);
	stream->order = stream->offsets + n;
	stream->out = (char *)(((uintptr_t)(stream->order + n) + 15) &
			       ~(uintptr_t)15);
	stream->n = reading.n;
	stream->error = reading.error;
	stream->positions[0] = begin;
	uint32_t offset = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct dirent64 *entry =
			(struct dirent64 *)(stream->raw + offset);
		stream->offsets[i] = offset;
		stream->positions[i + 1] = entry->d_off;
		offset += entry->d_reclen;
	}
	directory_choose_order(dir, stream, &reading, caller);
	return stream;
}

/* ---- handing out ---- */

/* What was returned before is overwritten now, as far as it reaches. */
static void directory_spoil_handed_out(DIR *dir,
				       struct directory_stream *stream,
				       uintptr_t caller)
{
	char text[ORDER_TEXT];
	struct dirent64 *entry = stream->given;
	if (!entry || !choose_wanted(WIRE_MODEL_readdir_entry, caller))
		return;
	uint64_t name = choose_hash_text(entry->d_name);
	struct choose_keys keys = {
		.equal = name,
		.object = choose_mix(stream->keys.object, name),
	};
	uint64_t pick = choose_pick(WIRE_MODEL_readdir_entry, 2, keys);
	stream->given = NULL;
	if (!pick)
		return;
	choose_argument("%s", order_path_of(dirfd(dir), text));
	choose_did("the entry \"%s\" returned before was overwritten",
		   entry->d_name);
	entry->d_ino = ~entry->d_ino;
	entry->d_type = DT_UNKNOWN;
	for (char *c = entry->d_name; *c; c++)
		*c = '#';
}

static struct dirent64 *native_next(DIR *dir)
{
	CHOOSE_NEXT(readdir64, NULL)
	return next(dir);
}

static struct dirent64 *stream_next(DIR *dir, struct directory_stream *stream,
				    uintptr_t caller)
{
	directory_spoil_handed_out(dir, stream, caller);
	if (stream->at >= stream->n) {
		if (!stream->error)
			return native_next(dir);
		errno = stream->error;
		return NULL;
	}
	uint32_t offset = stream->offsets[stream->order[stream->at]];
	const struct dirent64 *from = (struct dirent64 *)(stream->raw + offset);
	struct dirent64 *entry = (struct dirent64 *)(stream->out + offset);
	order_copy(entry, from, from->d_reclen);
	stream->at++;
	entry->d_off = stream->positions[stream->at];
	if (stream->unknown)
		entry->d_type = DT_UNKNOWN;
	stream->given = entry;
	return entry;
}

static bool directory_is_wanted(uintptr_t caller)
{
	return choose_wanted(WIRE_MODEL_readdir, caller) ||
	       choose_wanted(WIRE_MODEL_readdir_type, caller) ||
	       choose_wanted(WIRE_MODEL_readdir_entry, caller);
}

/* The place of a stream that is in memory, locked; NULL: it is the library's. */
static struct directory_place *directory_take_place(DIR *dir, uintptr_t caller)
{
	struct directory_place *place = directory_place_find(dir);
	if (!place && directory_is_wanted(caller))
		place = place_add(dir);
	if (!place)
		return NULL;
	order_lock(&place->lock);
	struct directory_stream *stream = place->stream;
	if (stream && stream->stale) {
		directory_stream_close(stream);
		stream = place->stream = NULL;
	}
	if (!stream && directory_is_wanted(caller))
		stream = place->stream = stream_create(dir, caller);
	if (stream)
		return place;
	order_unlock(&place->lock);
	return NULL;
}

static struct dirent64 *next_entry(DIR *dir, uintptr_t caller)
{
	struct directory_place *place = directory_take_place(dir, caller);
	if (!place)
		return native_next(dir);
	struct dirent64 *entry = stream_next(dir, place->stream, caller);
	order_unlock(&place->lock);
	return entry;
}

_export_ struct dirent64 *readdir64(DIR *dir)
{
	return next_entry(dir, CHOOSE_CALLER());
}

/* On x86-64 both are one and the same. */
_export_ struct dirent *readdir(DIR *dir)
{
	return (struct dirent *)next_entry(dir, CHOOSE_CALLER());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int next_entry_r(DIR *dir, struct dirent64 *entry,
			struct dirent64 **result, uintptr_t caller)
{
	CHOOSE_NEXT(readdir64_r, ENOSYS)
	struct directory_place *place = directory_take_place(dir, caller);
	if (!place)
		return next(dir, entry, result);
	struct directory_stream *stream = place->stream;
	int error = 0;
	if (stream->at >= stream->n && !stream->error) {
		error = next(dir, entry, result);
	} else {
		int saved = errno;
		struct dirent64 *from = stream_next(dir, stream, caller);
		*result = from ? entry : NULL;
		if (from)
			order_copy(entry, from,
				   from->d_reclen < sizeof(*entry)
					   ? from->d_reclen
					   : sizeof(*entry));
		else
			error = errno;
		/* The caller's copy is not what the next call overwrites. */
		stream->given = NULL;
		errno = saved;
	}
	order_unlock(&place->lock);
	return error;
}

_export_ int readdir64_r(DIR *dir, struct dirent64 *entry,
			 struct dirent64 **result)
{
	return next_entry_r(dir, entry, result, CHOOSE_CALLER());
}

_export_ int readdir_r(DIR *dir, struct dirent *entry, struct dirent **result)
{
	return next_entry_r(dir, (struct dirent64 *)entry,
			    (struct dirent64 **)result, CHOOSE_CALLER());
}

#pragma GCC diagnostic pop

/* ---- positions ---- */

/* The stream in memory, locked; also a stale one. */
static struct directory_place *take_again(const DIR *dir)
{
	struct directory_place *place = directory_place_find(dir);
	if (!place)
		return NULL;
	order_lock(&place->lock);
	if (place->stream)
		return place;
	order_unlock(&place->lock);
	return NULL;
}

_export_ long telldir(DIR *dir)
{
	CHOOSE_NEXT(telldir, -1)
	struct directory_place *place = take_again(dir);
	if (!place)
		return next(dir);
	const struct directory_stream *stream = place->stream;
	long position =
		stream->stale ? next(dir) : stream->positions[stream->at];
	order_unlock(&place->lock);
	return position;
}

_export_ void seekdir(DIR *dir, long position)
{
	CHOOSE_NEXT(seekdir, )
	struct directory_place *place = take_again(dir);
	if (!place) {
		next(dir, position);
		return;
	}
	struct directory_stream *stream = place->stream;
	uint32_t i = 0;
	while (i <= stream->n && stream->positions[i] != position)
		i++;
	if (i <= stream->n) {
		if (stream->stale)
			next(dir, stream->positions[stream->n]);
		stream->stale = false;
		stream->at = i;
	} else { /* one from before this memory was filled */
		stream->stale = true;
		next(dir, position);
	}
	order_unlock(&place->lock);
}

_export_ void rewinddir(DIR *dir)
{
	CHOOSE_NEXT(rewinddir, )
	struct directory_place *place = take_again(dir);
	next(dir);
	if (!place)
		return;
	place->stream->stale = true;
	order_unlock(&place->lock);
}

_export_ int closedir(DIR *dir)
{
	CHOOSE_NEXT(closedir, -1)
	place_forget(dir);
	return next(dir);
}

/* A stream may end without closedir(3): with its thread, in a longjmp(3). */
_export_ DIR *opendir(const char *path)
{
	CHOOSE_NEXT(opendir, NULL)
	DIR *dir = next(path);
	place_forget(dir);
	return dir;
}

_export_ DIR *fdopendir(int fd)
{
	CHOOSE_NEXT(fdopendir, NULL)
	DIR *dir = next(fd);
	place_forget(dir);
	return dir;
}

/* ---- without a stream ---- */

/* Entries of one call change places; what is left for the next is as it was. */
static void permute_entries(char *entries, size_t bytes, uintptr_t fd)
{
	char text[ORDER_TEXT];
	size_t n = 0;
	uint64_t names = 0;
	for (size_t at = 0; at < bytes; n++) {
		const struct dirent64 *entry =
			(const struct dirent64 *)(entries + at);
		if (entry->d_reclen < offsetof(struct dirent64, d_name) + 1 ||
		    entry->d_reclen > bytes - at)
			return;
		names += choose_hash_text(entry->d_name);
		at += entry->d_reclen;
	}
	if (n < 2 || n > ENTRIES)
		return;
	size_t size = bytes + n * (sizeof(long) + 2 * sizeof(uint32_t));
	long *positions = order_map(size);
	if (!positions)
		return;
	uint32_t *offsets = (uint32_t *)(positions + n);
	uint32_t *order = offsets + n;
	char *copy = (char *)(order + n);
	order_copy(copy, entries, bytes);
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		const struct dirent64 *entry =
			(const struct dirent64 *)(entries + at);
		offsets[i] = (uint32_t)at;
		positions[i] = entry->d_off;
		at += entry->d_reclen;
	}
	uint64_t pick =
		choose_pick(WIRE_MODEL_getdents64, choose_permutations(n),
			    order_directory_keys((int)fd, names));
	choose_argument("%zu entries of %s", n, order_path_of((int)fd, text));
	choose_did("entries came in another order");
	choose_permutation(pick, n, order);
	at = 0;
	for (size_t i = 0; pick && i < n; i++) {
		const struct dirent64 *from =
			(const struct dirent64 *)(copy + offsets[order[i]]);
		struct dirent64 *to = (struct dirent64 *)(entries + at);
		at += from->d_reclen;
		order_copy(to, from, from->d_reclen);
		to->d_off = positions[i];
	}
	order_unmap(positions, size);
}

_export_ ssize_t getdents64(int fd, void *buffer, size_t size)
{
	CHOOSE_NEXT(getdents64, -1)
	ssize_t got = next(fd, buffer, size);
	if (got > 0 && choose_wanted(WIRE_MODEL_getdents64, CHOOSE_CALLER()))
		permute_entries(buffer, (size_t)got, (uintptr_t)fd);
	return got;
}
