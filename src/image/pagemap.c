/* /proc/PID/pagemap, for the methods that have nothing better. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image_internal.h"

#define ENTRIES 4096

static struct err *add_page(struct ranges *ranges, uint64_t address)
{
	if (ranges->n && ranges->data[ranges->n - 1].end == address) {
		ranges->data[ranges->n - 1].end += IMAGE_PAGE;
		return NULL;
	}
	return vec_push(ranges,
			(struct memory_range){ address, address + IMAGE_PAGE });
}

static bool pagemap_is_present(uint64_t entry)
{
	return entry & (UINT64_C(1) << PAGEMAP_PRESENT |
			UINT64_C(1) << PAGEMAP_SWAPPED);
}

static struct err *pagemap_look_at_entry(struct piece *piece, uint64_t index,
					 uint64_t entry, unsigned bit,
					 struct ranges *ret)
{
	uint64_t address = piece->start + index * IMAGE_PAGE;
	bool there = pagemap_is_present(entry), was = false;
	if (piece->present) {
		uint8_t mask = (uint8_t)(1 << index % 8);
		was = piece->present[index / 8] & mask;
		if (there)
			piece->present[index / 8] |= mask;
		else
			piece->present[index / 8] &= (uint8_t)~mask;
	}
	bool wanted = there ? !bit || entry >> bit & 1 : was;
	return wanted ? add_page(ret, address) : NULL;
}

struct err *pagemap_collect(int fd, struct piece *piece, unsigned bit,
			    bool remember, struct ranges *ret)
{
	uint64_t pages = (piece->end - piece->start) / IMAGE_PAGE;
	if (remember && !piece->present) {
		piece->present = calloc(1, pages / 8 + 1);
		if (!piece->present)
			return err_nomem();
	}
	uint64_t entries[ENTRIES];
	for (uint64_t at = 0; at < pages;) {
		size_t n = MIN(pages - at, (uint64_t)ENTRIES);
		ssize_t got =
			pread(fd, entries, n * 8,
			      (off_t)((piece->start / IMAGE_PAGE + at) * 8));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 8)
			return err_with_kind(
				err_errno(got < 0 ? errno : ESRCH,
					  "cannot read the page map of the "
					  "tested program"),
				ERR_SUITE);
		for (size_t i = 0; i < (size_t)got / 8; i++)
			TRY(pagemap_look_at_entry(piece, at + i, entries[i],
						  bit, ret));
		at += (size_t)got / 8;
	}
	return NULL;
}

/* ---- the base ---- */

static uint64_t *base_window_read(int pagemap_fd, uint64_t start)
{
	uint64_t entries[ENTRIES];
	ssize_t got;
	do {
		got = pread(pagemap_fd, entries, sizeof(entries),
			    (off_t)(start / IMAGE_PAGE * 8));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return NULL;
	uint64_t *bits = calloc(ENTRIES / 64, sizeof(*bits));
	for (size_t i = 0; bits && i < (size_t)got / 8; i++) {
		if (pagemap_is_present(entries[i]))
			bits[i / 64] |= UINT64_C(1) << i % 64;
	}
	return bits;
}

bool base_page_is_there(struct base_pages *pages, int pagemap_fd,
			uint64_t address)
{
	const uint64_t size = (uint64_t)ENTRIES * IMAGE_PAGE;
	uint64_t start = address & ~(size - 1), found;
	size_t index = (address - start) / IMAGE_PAGE;
	const uint64_t *bits;
	if (map_u64_get(&pages->windows, start, &found)) {
		bits = (const uint64_t *)(uintptr_t)found;
	} else {
		uint64_t *read = base_window_read(pagemap_fd, start);
		if (!read)
			return true; /* reading it will tell */
		struct err *err =
			map_u64_put(&pages->windows, start, (uintptr_t)read);
		if (err) {
			err_ignore(err);
			free(read);
			return true;
		}
		bits = read;
	}
	return bits[index / 64] >> index % 64 & 1;
}

void base_pages_free(struct base_pages *pages)
{
	for (size_t i = 0; i < pages->windows.map.cap; i++) {
		const struct map_slot *slot = &pages->windows.map.slots[i];
		if (slot->hash)
			free((uint64_t *)(uintptr_t)slot->value);
	}
	map_u64_free(&pages->windows);
}
