#include "watch/omitted.h"

#include <string.h>

#define PAGE 4096
#define WORD 8
/* Of one test. */
#define WORDS_MAX 1024

/* The words of @left that differ on one page. */
static struct err *omitted_compare_one(const struct root_left_out *left,
				       const struct image_change *page,
				       struct omitted_words *ret)
{
	uint64_t start = MAX(left->address, page->address);
	uint64_t end = MIN(left->address + left->size, page->address + PAGE);
	while (start < end && ret->n < WORDS_MAX) {
		uint64_t at = start - page->address;
		uint64_t n = MIN((uint64_t)WORD, end - start);
		struct omitted_word word = { left->name,
					     start - left->address };
		if (memcmp(page->before + at, page->after + at, n) != 0)
			TRY(vec_push(ret, word));
		start += n;
	}
	return NULL;
}

/* The first that begins behind @address. */
static size_t omitted_find(const struct roots *roots, uint64_t address)
{
	size_t low = 0, high = roots->left_out.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (roots->left_out.data[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct err *omitted_compare(const struct roots *roots,
			    const struct image_change *pages, size_t n,
			    struct omitted_words *ret)
{
	const struct root_left_out *all = roots->left_out.data;
	for (size_t i = 0; i < n; i++) {
		if (!pages[i].before || !pages[i].after)
			continue;
		size_t next = omitted_find(roots, pages[i].address + PAGE - 1);
		while (next > 0 && all[next - 1].reach > pages[i].address)
			TRY(omitted_compare_one(&all[--next], &pages[i], ret));
	}
	return NULL;
}
