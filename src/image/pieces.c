/* The address space as pieces: reading maps, finding. */
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/proc.h"
#include "image/image_internal.h"
#include "wire/heap.h"

void ranges_tidy(struct ranges *ranges)
{
	bool sorted = true;
	for (size_t i = 1; i < ranges->n && sorted; i++)
		sorted = ranges->data[i - 1].end < ranges->data[i].start;
	if (sorted)
		return;
	qsort(ranges->data, ranges->n, sizeof(*ranges->data), compare_as_u64);
	size_t n = 0;
	for (size_t i = 0; i < ranges->n; i++) {
		struct memory_range *next = &ranges->data[i];
		if (n && ranges->data[n - 1].end >= next->start)
			ranges->data[n - 1].end =
				MAX(ranges->data[n - 1].end, next->end);
		else
			ranges->data[n++] = *next;
	}
	ranges->n = n;
}

void pieces_free(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		free(pieces->data[i].present);
	vec_free(pieces);
}

size_t pieces_after(const struct pieces *pieces, uint64_t address)
{
	size_t low = 0, high = pieces->n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (pieces->data[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct piece *pieces_find(const struct pieces *pieces, uint64_t address)
{
	size_t i = pieces_after(pieces, address);
	if (i == pieces->n || pieces->data[i].start > address)
		return NULL;
	return &pieces->data[i];
}

static bool is_special(const char *name)
{
	return str_starts(name, "[v") || /* vdso, vvar, vsyscall */
	       (str_starts(name, "/dev/") && !str_starts(name, "/dev/shm/") &&
		!str_starts(name, "/dev/zero"));
}

/* The C and C++ libraries: what they write is never anybody's test state. */
static bool is_runtime_library(const char *path)
{
	static const char *const names[] = {
		"libc.so", "libc-2",	 "ld-linux", "ld-2",
		"libm.so", "libm-2",	 "libgcc_s", "libstdc++.so",
		"libc++",  "libpthread", "libdl",
	};
	const char *base = strrchr(path, '/');
	for (size_t i = 0; base && i < ARRAY_SIZE(names); i++) {
		if (str_starts(base + 1, names[i]))
			return true;
	}
	return false;
}

static struct piece piece_of(const struct proc_mapping *mapping)
{
	const char *path = mapping->path;
	return (struct piece){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.inode = mapping->inode,
		.device = (uint32_t)mapping->device,
		.readable = mapping->readable,
		.writable = mapping->writable,
		.executable = mapping->executable,
		.shared = mapping->shared,
		.stack = str_starts(path, "[stack") ||
			 !strcmp(path, "[anon:" WIRE_STACKS_MAPPING "]") ||
			 is_runtime_library(path),
		.grows = str_starts(path, "[stack]"),
		.heap = str_starts(path, "[heap"),
		.special = is_special(path),
		.huge = mapping->end - mapping->start > MAPPING_MAX,
	};
}

/*
 * What the dynamic loader made read-only after relocation is data as well, and
 * joins the writable part of its file: it costs nothing to look at it.
 */
static void find_relro(struct pieces *pieces)
{
	for (size_t i = 0; i + 1 < pieces->n; i++) {
		struct piece *piece = &pieces->data[i];
		const struct piece *next = piece + 1;
		if (piece->readable && !piece->writable && !piece->executable &&
		    !piece->shared && !piece->special && next->writable &&
		    piece->inode && next->inode == piece->inode &&
		    next->device == piece->device &&
		    next->start == piece->end &&
		    next->offset == piece->offset + (piece->end - piece->start))
			piece->tracked = true;
	}
}

/*
 * A thread's stack that is not in use: the C library keeps some. It has an
 * inaccessible page below it.
 */
static bool is_kept_stack(const struct pieces *pieces, size_t i)
{
	const struct piece *piece = &pieces->data[i];
	if (!i || piece->inode || piece->shared)
		return false;
	const struct piece *guard = piece - 1;
	return guard->end == piece->start && !guard->readable &&
	       !guard->writable && !guard->executable && !guard->inode &&
	       guard->end - guard->start <= 16 * IMAGE_PAGE;
}

struct err *pieces_read(int maps_fd, struct pieces *ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(pieces_freep) struct pieces pieces = VEC_INIT;
	TRY(err_prefix(proc_read_fd(maps_fd, &text),
		       "mappings of the tested program"));
	if (!text.n)
		return err_create(ERR_SUITE, "the tested program is gone");
	struct proc_mapping mapping;
	for (char *at = text.s; proc_next_mapping(&at, &mapping);) {
		/* Sorted, without overlaps: everything relies on it. */
		if (mapping.start % IMAGE_PAGE || mapping.end % IMAGE_PAGE ||
		    (pieces.n && pieces.data[pieces.n - 1].end > mapping.start))
			continue;
		TRY(vec_push(&pieces, piece_of(&mapping)));
	}
	find_relro(&pieces);
	for (size_t i = 0; i < pieces.n; i++) {
		struct piece *piece = &pieces.data[i];
		if (!piece->writable || piece->special || piece->huge)
			continue;
		piece->stack |= is_kept_stack(&pieces, i);
		piece->tracked = !piece->stack;
	}
	*ret = pieces;
	pieces = (struct pieces)VEC_INIT;
	return NULL;
}

void pieces_log(const struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++) {
		const struct piece *piece = &pieces->data[i];
		if (!piece->writable || piece->tracked)
			continue;
		log_debug(LOG_IMAGE,
			  "memory at 0x%llx to 0x%llx is not compared: %s",
			  (unsigned long long)piece->start,
			  (unsigned long long)piece->end,
			  piece->special
				  ? "it belongs to a device or the kernel"
			  : piece->huge ? "the mapping is too large"
					: "it is a stack, or data of the C or "
					  "C++ runtime library");
	}
}
