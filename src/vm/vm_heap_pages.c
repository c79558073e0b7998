/*
 * The kernel tells which pages were written since they were last write-protected
 * (userfaultfd(2) with asynchronous write protection, PAGEMAP_SCAN). Objects are
 * listed by page, those that lie on several on each. Where a page cannot be
 * protected, as those of an archive that is mapped into the heap, its objects are
 * always compared.
 *
 * A scan costs more than comparing a few objects: it is for large graphs. And to
 * protect pages costs more than a scan: it interrupts all processors that the VM
 * runs on, and so does the first write to each of them. So pages that were written
 * stay as they are, and their objects are compared each time, until that has cost
 * as much.
 */
#include "vm/vm_heap_pages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/vm_heap_walk.h"

#define PAGE_BITS 12
/* Fewer are compared one by one. */
#define OBJECTS_MIN 2000
/* To compare so many costs as much as to protect all that was written again. */
#define COMPARED_MAX 10000
#define REGIONS 256
/* Ranges with less than that between them are registered as one. */
#define GAP_MAX 16
/* The heap may be spread over that many pages: 1 TiB. */
#define PAGES_MAX ((uint64_t)1 << 28)
/* Objects that are met later may lie so far before and after: 64 GiB. */
#define PAGES_AROUND ((uint64_t)1 << 24)
/* More are brought together where they touch. */
#define RANGES_MAX 512
/* So many ranges are scanned one by one. */
#define CALLS_MAX 16
/* Pages of a huge one, how many of those are worth it, with so many objects each. */
#define HUGE_PAGES ((uint64_t)512)
#define HUGE_MIN ((uint64_t)8)
#define HUGE_OBJECTS (16 * HUGE_PAGES)

/* Not in the headers of older systems: <linux/fs.h> of Linux 6.7. */
struct written_region {
	uint64_t start, end, categories;
};
struct written_scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask;
	uint64_t return_mask;
};
#define SCAN_IOCTL _IOWR('f', 16, struct written_scan)
#define SCAN_PROTECT UINT64_C(1)  /* PM_SCAN_WP_MATCHING */
#define IS_REGISTERED UINT64_C(1) /* PAGE_IS_WPALLOWED */
#define IS_WRITTEN UINT64_C(2)
#define USER_MODE_ONLY 1
#define FEATURE_WP_ASYNC (UINT64_C(1) << 15)
#define MODE_WP (UINT64_C(1) << 1)
/* Linux 6.1, <linux/mman.h> */
#define ADVICE_COLLAPSE 25

struct page_link {
	uint32_t node, next;
};
struct page_range {
	uint64_t start, end; /* pages */
	bool loose;	     /* cannot be protected */
};

static struct {
	int fault, pagemap; /* -1: not opened */
	bool failed;	    /* it does not work here */
	bool on;	    /* the graph is indexed, and writes are seen */
	uint64_t base;	    /* page that @first begins with */
	uint32_t *first;    /* by page: its first link; 0: none */
	size_t n_first;
	struct {
		struct page_link *data;
		size_t n, cap;
	} links; /* [0] is none */
	struct {
		uint64_t *data;
		size_t n, cap;
	} fresh; /* pages that are in no range yet */
	struct {
		struct page_range *data;
		size_t n, cap;
	} ranges;
	size_t indexed;	 /* nodes */
	size_t compared; /* since pages were last protected */
} pages = { .fault = -1, .pagemap = -1 };

static bool pages_open(void)
{
	if (pages.failed || pages.fault >= 0)
		return !pages.failed;
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = FEATURE_WP_ASYNC,
	};
	pages.fault = (int)syscall(SYS_userfaultfd,
				   O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
	pages.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	pages.failed = pages.fault < 0 || pages.pagemap < 0 ||
		       ioctl(pages.fault, UFFDIO_API, &api) < 0;
	return !pages.failed;
}

/* ---- the index ---- */

static void page_add(uint64_t page, uint32_t node)
{
	uint32_t *first = &pages.first[page - pages.base];
	const struct page_link link = { node, *first };
	if (!*first)
		HEAP_PUSH(&pages.fresh, page);
	*first = (uint32_t)pages.links.n;
	HEAP_PUSH(&pages.links, link);
}

void heap_pages_reset(void)
{
	/* What is written there is not ours to know any more. */
	for (size_t i = 0; i < pages.ranges.n; i++) {
		const struct page_range *range = &pages.ranges.data[i];
		struct uffdio_range it = {
			.start = range->start << PAGE_BITS,
			.len = (range->end - range->start) << PAGE_BITS,
		};
		if (!range->loose)
			ioctl(pages.fault, UFFDIO_UNREGISTER, &it);
	}
	heap_sparse_free(pages.first, pages.n_first * sizeof(*pages.first));
	pages.first = NULL;
	pages.n_first = pages.links.n = pages.ranges.n = pages.indexed = 0;
	pages.fresh.n = pages.compared = 0;
	pages.on = false;
}

/* Room for all pages of all nodes. False: they are too far apart. */
static bool pages_make_room(const struct heap_graph *graph)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 1; i < graph->nodes.n; i++) {
		uint64_t at = graph->nodes.data[i].address;
		size_t size = heap_node_size(graph, (uint32_t)i);
		low = at < low ? at : low;
		high = at + size > high ? at + size : high;
	}
	low >>= PAGE_BITS;
	high = (high >> PAGE_BITS) + 1 + PAGES_AROUND;
	low = low > PAGES_AROUND ? low - PAGES_AROUND : 0;
	if (low >= high || high - low > PAGES_MAX)
		return false;
	pages.base = low;
	pages.n_first = high - low;
	pages.first = heap_sparse(pages.n_first * sizeof(*pages.first));
	return true;
}

static bool pages_add_nodes(const struct heap_graph *graph)
{
	const struct page_link none = {};
	if (!pages.links.n)
		HEAP_PUSH(&pages.links, none);
	for (size_t i = pages.indexed ? pages.indexed : 1; i < graph->nodes.n;
	     i++) {
		size_t size = heap_node_size(graph, (uint32_t)i);
		uint64_t at = graph->nodes.data[i].address;
		uint64_t last = (at + size - 1) >> PAGE_BITS;
		for (uint64_t page = at >> PAGE_BITS; size && page <= last;
		     page++) {
			if (page < pages.base ||
			    page - pages.base >= pages.n_first)
				return false;
			page_add(page, (uint32_t)i);
		}
	}
	/* They have yet to be protected. */
	pages.compared += graph->nodes.n - pages.indexed;
	pages.indexed = graph->nodes.n;
	return true;
}

/* ---- what may have been written ---- */

/* Returns how many objects were compared. */
static size_t page_check(struct heap_graph *graph, uint64_t page)
{
	size_t n = 0;
	uint32_t link = pages.first[page - pages.base];
	for (; link; link = pages.links.data[link].next, n++)
		heap_walk_check(graph, pages.links.data[link].node);
	return n;
}

static void page_check_written(struct heap_graph *graph, uint64_t page)
{
	pages.compared += page_check(graph, page);
}

/* ---- the kernel ---- */

/*
 * Compares what is on the written pages of a range, which with @protect are so no
 * more. @also: what else the pages have to be.
 */
static bool range_scan(const struct page_range *range, uint64_t also,
		       bool protect, struct heap_graph *graph)
{
	struct written_region regions[REGIONS];
	struct written_scan scan = {
		.size = sizeof(scan),
		.flags = protect ? SCAN_PROTECT : 0,
		.start = range->start << PAGE_BITS,
		.end = range->end << PAGE_BITS,
		.vec = (uint64_t)regions,
		.vec_len = REGIONS,
		.category_mask = also | IS_WRITTEN,
		.return_mask = IS_WRITTEN,
	};
	while (scan.start < scan.end) {
		int n = ioctl(pages.pagemap, SCAN_IOCTL, &scan);
		if (n < 0)
			return false;
		for (int i = 0; i < n; i++) {
			uint64_t end = regions[i].end >> PAGE_BITS;
			for (uint64_t page = regions[i].start >> PAGE_BITS;
			     page < end; page++)
				page_check_written(graph, page);
		}
		scan.start = scan.walk_end;
	}
	return true;
}

/*
 * A scan looks at each page that is mapped, so that it takes longer the more there
 * is that nobody writes. A huge page is one step. The first write to one splits it:
 * only what is written is then looked at page by page. Where it does not work the
 * pages stay as they are.
 */
static void range_make_huge(const struct page_range *range)
{
	uint64_t start = (range->start + HUGE_PAGES - 1) & ~(HUGE_PAGES - 1);
	uint64_t end = range->end & ~(HUGE_PAGES - 1);
	if (end <= start || end - start < HUGE_MIN * HUGE_PAGES)
		return;
	madvise((void *)(start << PAGE_BITS), (end - start) << PAGE_BITS,
		ADVICE_COLLAPSE);
}

/* All of it counts as written until it is protected. */
static void range_register(struct page_range *range)
{
	struct uffdio_register it = {
		.range = { .start = range->start << PAGE_BITS,
			   .len = (range->end - range->start) << PAGE_BITS },
		.mode = MODE_WP,
	};
	range->loose = ioctl(pages.fault, UFFDIO_REGISTER, &it) < 0;
}

/* ---- ranges ---- */

static int compare_pages(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static int compare_ranges(const void *x, const void *y)
{
	const struct page_range *a = x, *b = y;
	return (a->start > b->start) - (a->start < b->start);
}

/* Is there nothing in between that another range has already? */
static bool pages_are_near(uint64_t end, uint64_t page)
{
	if (page - end > GAP_MAX)
		return false;
	for (; end < page; end++) {
		if (pages.first[end - pages.base])
			return false;
	}
	return true;
}

static void pages_join_ranges(void)
{
	size_t kept = 0;
	qsort(pages.ranges.data, pages.ranges.n, sizeof(*pages.ranges.data),
	      compare_ranges);
	for (size_t i = 1; i < pages.ranges.n; i++) {
		struct page_range *last = &pages.ranges.data[kept];
		const struct page_range *next = &pages.ranges.data[i];
		if (last->end == next->start && last->loose == next->loose)
			last->end = next->end;
		else
			pages.ranges.data[++kept] = *next;
	}
	pages.ranges.n = kept + 1;
}

/* Those of the last @n nodes. */
static void pages_add_ranges(size_t n)
{
	size_t had = pages.ranges.n;
	bool dense = n / HUGE_OBJECTS >= pages.fresh.n / HUGE_PAGES;
	if (pages.fresh.n)
		qsort(pages.fresh.data, pages.fresh.n,
		      sizeof(*pages.fresh.data), compare_pages);
	for (size_t i = 0; i < pages.fresh.n; i++) {
		uint64_t page = pages.fresh.data[i];
		struct page_range *last =
			pages.ranges.n > had
				? &pages.ranges.data[pages.ranges.n - 1]
				: NULL;
		if (last && pages_are_near(last->end, page)) {
			last->end = page + 1;
			continue;
		}
		const struct page_range range = { page, page + 1, false };
		HEAP_PUSH(&pages.ranges, range);
	}
	pages.fresh.n = 0;
	for (size_t i = had; i < pages.ranges.n; i++) {
		if (dense)
			range_make_huge(&pages.ranges.data[i]);
		range_register(&pages.ranges.data[i]);
	}
	if (pages.ranges.n > RANGES_MAX)
		pages_join_ranges();
}

void heap_pages_index(const struct heap_graph *graph)
{
	if (!pages.on && (graph->nodes.n < OBJECTS_MIN || !pages_open()))
		return;
	size_t had = pages.indexed;
	if (!pages.first || !pages_add_nodes(graph)) {
		heap_pages_reset();
		had = 0;
		if (!pages_make_room(graph) || !pages_add_nodes(graph)) {
			heap_pages_reset();
			return;
		}
	}
	pages_add_ranges(graph->nodes.n - had);
	pages.on = true;
}

/* ---- what is not as it was ---- */

/* Those that cannot be protected. */
static void pages_check_loose(struct heap_graph *graph)
{
	for (size_t i = 0; i < pages.ranges.n; i++) {
		const struct page_range *range = &pages.ranges.data[i];
		for (uint64_t page = range->start;
		     range->loose && page < range->end; page++)
			page_check(graph, page);
	}
}

/* What can be protected lies in it. */
static struct page_range pages_span(void)
{
	struct page_range span = { UINT64_MAX, 0, false };
	for (size_t i = 0; i < pages.ranges.n; i++) {
		const struct page_range *range = &pages.ranges.data[i];
		if (range->loose)
			continue;
		span.start =
			range->start < span.start ? range->start : span.start;
		span.end = range->end > span.end ? range->end : span.end;
	}
	return span;
}

/*
 * The kernel has a way of its own, several times as fast, if nothing is asked but
 * whether pages were written: then all that is not registered counts as written.
 * Where there are many ranges, one call is faster that skips what lies between.
 */
static bool pages_scan(bool protect, struct heap_graph *graph)
{
	const struct page_range span = pages_span();
	if (pages.ranges.n > CALLS_MAX)
		return span.start >= span.end ||
		       range_scan(&span, IS_REGISTERED, protect, graph);
	for (size_t i = 0; i < pages.ranges.n; i++) {
		const struct page_range *range = &pages.ranges.data[i];
		if (!range->loose && !range_scan(range, 0, protect, graph))
			return false;
	}
	return true;
}

void heap_pages_check(struct heap_graph *graph)
{
	if (pages.on) {
		/* First: what is written from then on is seen next time. */
		bool protect = pages.compared > COMPARED_MAX;
		pages.compared = protect ? 0 : pages.compared;
		pages_check_loose(graph);
		pages.failed = !pages_scan(protect, graph);
		if (pages.failed)
			heap_pages_reset();
	}
	for (size_t i = 1; !pages.on && i < graph->nodes.n; i++)
		heap_walk_check(graph, (uint32_t)i);
}
