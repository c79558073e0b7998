/*
 * IMAGE_SCAN: asynchronous write protection (Linux 6.7 and later).
 *
 * A userfaultfd with UFFD_FEATURE_WP_ASYNC is made in the tracee, taken over
 * and closed there. Pages of registered mappings are write-protected by the
 * scan that finds the written ones, in one step; a write takes a short fault in
 * the kernel, without a notification.
 *
 * All mappings are registered, also those that are never scanned: so a new one
 * anywhere, or one in the place of another, is what is not registered, and one
 * question to the kernel (PM_SCAN_CHECK_WPASYNC) finds it without looking at
 * pages. Growing by brk() gives a mapping of its own, moving by mremap() loses
 * the registration. What remains is a mapping that is just gone: then the
 * program's size is smaller (statm); or one in a reserve that is too large to be
 * registered: then there is more that the program may write to (the same).
 *
 * Two scans: the quick one asks for PAGE_IS_WRITTEN alone, which the kernel
 * answers with a look at one bit of each entry (0.3 µs a MiB instead of 0.6);
 * pages that are not there count as written once and get a mark, which costs
 * page tables. So mappings that are mostly empty get the careful one, which
 * leaves them empty and reports which pages are present; missing ones were
 * thrown away (MADV_DONTNEED).
 *
 * Where there is much memory even the quick scan takes long. But each page that
 * the tracee wrote to cost it a fault, and the kernel counts them: so only
 * parts that were written to lately are scanned, and if the pages found there
 * account for all its faults, the rest was not written to. Pages may be written
 * without a fault of the tracee's own only by us (memory_poked()) or by a child
 * that shares its memory (then all is scanned). One fault may bring up to 2 MiB
 * at once (huge pages): many pages close by count as one fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/proc.h"
#include "image/image_internal.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

/* Not in the headers of older systems: <linux/fs.h> of Linux 6.7. */
struct scan_region {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct scan_arg {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};

#define SCAN_IOCTL _IOWR('f', 16, struct scan_arg)
#define SCAN_PROTECT UINT64_C(1) /* PM_SCAN_WP_MATCHING */
#define SCAN_CHECK UINT64_C(2)	 /* PM_SCAN_CHECK_WPASYNC */
#define IS_PROTECTABLE UINT64_C(1)
#define IS_WRITTEN UINT64_C(2)
#define IS_PRESENT UINT64_C(8)
#define IS_SWAPPED UINT64_C(16)
#define IS_ZERO UINT64_C(32) /* read, not written */

#define USER_MODE_ONLY 1
#define FEATURE_WP_ASYNC (UINT64_C(1) << 15)
#define MODE_WP (UINT64_C(1) << 1)

/* The kernel allocates room for this many on each call. */
#define REGIONS 128
/* Up to this size the quick scan is quick enough whatever is there. */
#define DENSE_PAGES 16384
/* Between dense pieces this much else is scanned rather than skipped. */
#define GAP_MAX ((uint64_t)64 << 10)
/* From this size on, parts that are never written to are left out. */
#define LARGE_PAGES ((96 << 20) / IMAGE_PAGE)
#define HOT_SCANS 16
#define POKES 32
#define HUGE_SIZE ((uint64_t)2 << 20)
#define UNIT_SIZE HUGE_SIZE /* so that no huge page is in two of them */
#define COLD_UNITS 16	    /* looked at with one call */
#define COLD_COUNTED 64	    /* finds that are counted one by one */
/* More pages than that of one huge page may have come with one fault. */
#define HUGE_SUSPECT 64
/* An inaccessible page below a stack is not a reserve. */
#define GUARD_MAX (16 * IMAGE_PAGE)

static struct err *scan_describe_failure(int number)
{
	return err_with_kind(
		err_errno(number, "cannot scan the tested program's pages"),
		ERR_SUITE);
}

/* At least how many faults the pages found so far took. */
struct tally {
	uint64_t faults;
	uint64_t huge; /* number of the huge page that @pages are of */
	uint64_t pages;
};

static uint64_t tally_sum(const struct tally *tally)
{
	return tally->faults + (tally->pages > HUGE_SUSPECT ? 1 : tally->pages);
}

static void tally_add(struct tally *tally, struct memory_range range)
{
	while (range.start < range.end) {
		uint64_t huge = range.start / HUGE_SIZE;
		uint64_t end = MIN(range.end, (huge + 1) * HUGE_SIZE);
		if (huge != tally->huge) {
			tally->faults = tally_sum(tally);
			tally->pages = 0;
		}
		tally->huge = huge;
		tally->pages += (end - range.start) / IMAGE_PAGE;
		range.start = end;
	}
}

/* Only what is followed, and cannot be there through a read of ours. */
static bool scan_region_counts(const struct image *image,
			       const struct scan_region *region)
{
	const struct piece *piece = pieces_find(&image->pieces, region->start);
	return piece && piece->tracked && piece->end >= region->end &&
	       (piece->dense ||
		(piece->sparse && !piece->inode && !piece->shared)) &&
	       (region->categories & (IS_PRESENT | IS_ZERO)) == IS_PRESENT;
}

/* The kernel walks on until its vector is full. */
static struct err *scan_walk_memory(struct image *image,
				    const struct scan_arg *wanted,
				    struct ranges *written,
				    struct ranges *there, struct tally *tally)
{
	struct scan_region regions[REGIONS];
	struct scan_arg arg = *wanted;
	uint64_t end = arg.end;
	arg.size = sizeof(arg);
	arg.vec = (uintptr_t)regions;
	arg.vec_len = REGIONS;
	while (arg.start < end) {
		int n = ioctl(image->pagemap_fd, SCAN_IOCTL, &arg);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return scan_describe_failure(errno);
		for (int i = 0; i < n; i++) {
			struct memory_range range = { regions[i].start,
						      regions[i].end };
			if (written && regions[i].categories & IS_WRITTEN)
				TRY(vec_push(written, range));
			if (there)
				TRY(vec_push(there, range));
			if (tally &&
			    (!written || regions[i].categories & IS_WRITTEN) &&
			    scan_region_counts(image, &regions[i]))
				tally_add(tally, range);
		}
		if (arg.walk_end <= arg.start)
			return scan_describe_failure(EINVAL);
		arg.start = arg.walk_end;
	}
	return NULL;
}

static struct err *scan_dense(struct image *image, struct memory_range range,
			      struct ranges *written)
{
	/* Exactly these masks: the kernel's short way. */
	const struct scan_arg arg = {
		.flags = SCAN_PROTECT,
		.start = range.start,
		.end = range.end,
		.category_mask = IS_WRITTEN,
		.return_mask = IS_WRITTEN,
	};
	return scan_walk_memory(image, &arg, written, NULL, NULL);
}

/* The same, and counted. */
static struct err *scan_counted(struct image *image, struct memory_range range,
				struct ranges *written, struct tally *tally)
{
	const struct scan_arg arg = {
		.flags = SCAN_PROTECT,
		.start = range.start,
		.end = range.end,
		.category_mask = IS_WRITTEN,
		.return_mask = IS_WRITTEN | IS_PRESENT | IS_ZERO,
	};
	return scan_walk_memory(image, &arg, written, NULL, tally);
}

static struct err *scan_sparse(struct image *image, const struct piece *piece,
			       struct ranges *written, struct tally *tally)
{
	const struct scan_arg arg = {
		.flags = SCAN_PROTECT,
		.start = piece->start,
		.end = piece->end,
		.category_anyof_mask = IS_PRESENT | IS_SWAPPED,
		.return_mask = IS_WRITTEN | IS_PRESENT | IS_SWAPPED | IS_ZERO,
	};
	return scan_walk_memory(image, &arg, written, &image->there, tally);
}

static struct err *scan_find_present(struct image *image,
				     const struct piece *piece,
				     struct ranges *ret)
{
	const struct scan_arg arg = {
		.start = piece->start,
		.end = piece->end,
		.category_anyof_mask = IS_PRESENT | IS_SWAPPED,
		.return_mask = IS_PRESENT,
	};
	return scan_walk_memory(image, &arg, NULL, ret, NULL);
}

/* Is all that is mapped there registered? 0, EPERM, or another error. */
static int scan_check_range(struct image *image, struct memory_range range)
{
	struct scan_region region;
	/* Nothing matches, so no page is examined. */
	struct scan_arg arg = {
		.size = sizeof(arg),
		.flags = SCAN_CHECK,
		.start = range.start,
		.end = range.end,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_mask = IS_PROTECTABLE,
		.category_inverted = IS_PROTECTABLE,
		.return_mask = IS_PROTECTABLE,
	};
	while (ioctl(image->pagemap_fd, SCAN_IOCTL, &arg) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

static struct err *scan_read_size(struct image *image, uint64_t *ret)
{
	char text[160] = "";
	ssize_t got = pread(image->statm_fd, text, sizeof(text) - 1, 0);
	if (got <= 0)
		return scan_describe_failure(got < 0 ? errno : ESRCH);
	*ret = proc_mappings_mark(text);
	return NULL;
}

static struct err *scan_moved(struct image *image, bool *ret)
{
	uint64_t size;
	TRY(scan_read_size(image, &size));
	bool moved = size != image->size;
	for (size_t i = 0; i < image->checks.n && !moved; i++) {
		int number = scan_check_range(image, image->checks.data[i]);
		if (number && number != EPERM)
			return scan_describe_failure(number);
		moved = number;
	}
	*ret = moved;
	return NULL;
}

/* Few mappings are new: halves that are all old are asked for at once. */
static void mark_old(struct image *image, struct piece *pieces, size_t n)
{
	while (n) {
		struct memory_range range = { pieces[0].start,
					      pieces[n - 1].end };
		if (!scan_check_range(image, range)) {
			for (size_t i = 0; i < n; i++)
				pieces[i].same = true;
			return;
		}
		if (n == 1)
			return;
		mark_old(image, pieces, n / 2);
		pieces += n / 2;
		n -= n / 2;
	}
}

static void scan_mark_same(struct image *image, struct pieces *pieces)
{
	size_t from = 0;
	for (size_t i = 0; i <= pieces->n; i++) {
		const struct piece *piece = &pieces->data[i];
		if (i < pieces->n && !piece->special && !piece->huge &&
		    !piece->grows)
			continue;
		mark_old(image, pieces->data + from, i - from);
		from = i + 1;
	}
}

/* Reserved by the program, to be made accessible without a new mapping. */
static bool is_reserve(const struct piece *piece)
{
	return !piece->readable && !piece->writable && !piece->executable &&
	       !piece->inode && !piece->stack &&
	       piece->end - piece->start > GUARD_MAX;
}

static struct err *scan_register(struct image *image, struct piece *piece)
{
	struct uffdio_register arg = {
		.range = { piece->start, piece->end - piece->start },
		.mode = MODE_WP,
	};
	piece->registered = false;
	if (piece->special || piece->huge || piece->grows)
		return NULL;
	if (ioctl(image->uffd, UFFDIO_REGISTER, &arg) == 0) {
		piece->registered = true;
		return NULL;
	}
	if (!piece->tracked)
		return NULL;
	return err_errno(errno, "cannot watch the mapping at 0x%llx",
			 (unsigned long long)piece->start);
}

static uint64_t count_pages(const struct ranges *ranges, size_t from)
{
	uint64_t bytes = 0;
	for (size_t i = from; i < ranges->n; i++)
		bytes += ranges->data[i].end - ranges->data[i].start;
	return bytes / IMAGE_PAGE;
}

static struct err *scan_adopt(struct image *image, struct piece *piece)
{
	TRY(scan_register(image, piece));
	piece->dense = piece->sparse = false;
	if (!piece->registered)
		return NULL;
	piece->sparse = is_reserve(piece);
	if (!piece->tracked)
		return NULL;
	size_t before = image->written.n;
	TRY(scan_find_present(image, piece, &image->written));
	uint64_t pages = (piece->end - piece->start) / IMAGE_PAGE;
	uint64_t there = count_pages(&image->written, before);
	piece->dense = pages <= DENSE_PAGES || there >= pages / 4;
	piece->sparse = !piece->dense;
	/*
	 * What is present was just reported; from now on what is written
	 * counts.
	 */
	if (piece->dense)
		return scan_dense(
			image,
			(struct memory_range){ piece->start, piece->end },
			NULL);
	return scan_sparse(image, piece, NULL, NULL);
}

/* Runs of a large program in units; what was hot stays so. */
static struct err *cut_units(struct image *image)
{
	_cleanup_(units_freep) struct units units = VEC_INIT;
	image->dense_pages = 0;
	for (size_t i = 0; i < image->pieces.n; i++) {
		const struct piece *piece = &image->pieces.data[i];
		if (piece->dense)
			image->dense_pages +=
				(piece->end - piece->start) / IMAGE_PAGE;
	}
	/* Not along runs: a gap between two pieces may be terabytes. */
	size_t old = 0;
	for (size_t i = 0;
	     i < image->pieces.n && image->dense_pages >= LARGE_PAGES; i++) {
		const struct piece *piece = &image->pieces.data[i];
		uint64_t at = piece->start;
		while (piece->dense && at < piece->end) {
			uint64_t end = (at / UNIT_SIZE + 1) * UNIT_SIZE;
			struct scan_unit unit = { at, MIN(end, piece->end),
						  image->scans };
			while (old < image->units.n &&
			       image->units.data[old].end <= at)
				old++;
			if (old < image->units.n &&
			    image->units.data[old].start <= at)
				unit.hot = image->units.data[old].hot;
			TRY(vec_push(&units, unit));
			at = unit.end;
		}
	}
	units_freep(&image->units);
	image->units = units;
	units = (struct units)VEC_INIT;
	return NULL;
}

/* Other mappings: each page has to show again that it is worth it. */
static void forget_hot(struct image *image)
{
	for (size_t i = 0; i < image->hot.n; i++) {
		struct page *page = page_held(image, image->hot.data[i]);
		if (page)
			page->hot = false;
	}
	for (size_t i = 0; i < image->hot_new.n; i++) {
		struct page *page = page_held(image, image->hot_new.data[i]);
		if (page)
			page->hot = false;
	}
	image->hot.n = image->hot_new.n = 0;
	image->hot_idle = false;
}

static struct err *scan_arrange(struct image *image)
{
	bool checking = false;
	uint64_t gap = GAP_MAX + 1;
	image->checks.n = image->runs.n = 0;
	forget_hot(image);
	for (size_t i = 0; i < image->pieces.n; i++) {
		const struct piece *piece = &image->pieces.data[i];
		struct memory_range range = { piece->start, piece->end };
		if (piece->registered && checking)
			image->checks.data[image->checks.n - 1].end = range.end;
		else if (piece->registered)
			TRY(vec_push(&image->checks, range));
		checking = piece->registered;

		if (piece->dense && gap <= GAP_MAX)
			image->runs.data[image->runs.n - 1].end = range.end;
		else if (piece->dense)
			TRY(vec_push(&image->runs, range));
		if (piece->dense)
			gap = 0;
		else if (piece->sparse)
			gap = GAP_MAX + 1;
		else if (gap <= GAP_MAX)
			gap += MIN(range.end - range.start, GAP_MAX + 1);
	}
	TRY(cut_units(image));
	return scan_read_size(image, &image->size);
}

/* What was there at the last scan and is not now: thrown away. */
static struct err *find_dropped(struct image *image)
{
	const struct ranges *now = &image->there;
	size_t j = 0;
	ranges_tidy(&image->there);
	for (size_t i = 0; i < image->there_before.n; i++) {
		struct memory_range was = image->there_before.data[i];
		while (was.start < was.end) {
			while (j < now->n && now->data[j].end <= was.start)
				j++;
			uint64_t next =
				j < now->n ? now->data[j].start : was.end;
			if (next > was.start)
				TRY(vec_push(&image->written,
					     (struct memory_range){
						     was.start,
						     MIN(next, was.end) }));
			if (next >= was.end)
				break;
			was.start = now->data[j].end;
		}
	}
	struct ranges old = image->there_before;
	image->there_before = image->there;
	image->there = old;
	image->there.n = 0;
	return NULL;
}

/* Faults of all threads so far; false where the kernel does not say. */
static bool read_faults(const struct image *image, uint64_t *ret)
{
	struct proc_stat stat;
	if (!proc_read_stat_fd(image->stat_fd, &stat))
		return false;
	*ret = stat.minor_faults + stat.major_faults;
	return true;
}

static struct scan_unit *scan_unit_at(const struct image *image,
				      uint64_t address)
{
	size_t low = 0, high = image->units.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (image->units.data[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == image->units.n || image->units.data[low].start > address)
		return NULL;
	return &image->units.data[low];
}

static void scan_heat_unit(struct image *image, uint64_t address)
{
	struct scan_unit *unit = scan_unit_at(image, address);
	if (unit)
		unit->hot = image->scans;
}

static bool is_hot(const struct image *image, const struct scan_unit *unit)
{
	return unit->hot + HOT_SCANS >= image->scans;
}

/* Pages that are read anyway stay without protection. */
static struct err *scan_runs(struct image *image)
{
	size_t hot = 0;
	for (size_t i = 0; i < image->runs.n; i++) {
		struct memory_range rest = image->runs.data[i];
		while (hot < image->hot.n && image->hot.data[hot] < rest.start)
			hot++;
		while (hot < image->hot.n && image->hot.data[hot] < rest.end) {
			struct memory_range warm = { image->hot.data[hot],
						     image->hot.data[hot] };
			while (hot < image->hot.n &&
			       image->hot.data[hot] == warm.end) {
				warm.end += IMAGE_PAGE;
				hot++;
			}
			struct memory_range before = { rest.start, warm.start };
			if (before.start < before.end)
				TRY(scan_dense(image, before, &image->written));
			TRY(vec_push(&image->written, warm));
			rest.start = warm.end;
		}
		if (rest.start < rest.end)
			TRY(scan_dense(image, rest, &image->written));
	}
	return NULL;
}

/* Those that became hot come in, those that cooled down go. */
static struct err *arrange_hot(struct image *image)
{
	if (!image->hot_new.n && !image->hot_idle)
		return NULL;
	TRY(vec_append(&image->hot, image->hot_new.data, image->hot_new.n));
	image->hot_new.n = 0;
	image->hot_idle = false;
	qsort(image->hot.data, image->hot.n, sizeof(uint64_t), compare_as_u64);
	size_t n = 0;
	for (size_t i = 0; i < image->hot.n; i++) {
		struct page *page = page_held(image, image->hot.data[i]);
		if (!page || (n && image->hot.data[n - 1] == page->address))
			continue;
		page->hot = page->idle < HOT_UNTIL;
		if (page->hot)
			image->hot.data[n++] = page->address;
	}
	image->hot.n = n;
	return NULL;
}

/* Units from @from on that are all hot or all not, and touch; how many. */
static size_t unit_group(const struct image *image, size_t from, size_t max,
			 struct memory_range *ret)
{
	const struct scan_unit *units = image->units.data;
	bool hot = is_hot(image, &units[from]);
	size_t n = 1;
	while (n < max && from + n < image->units.n &&
	       is_hot(image, &units[from + n]) == hot &&
	       units[from + n].start == units[from + n - 1].end)
		n++;
	*ret = (struct memory_range){ units[from].start,
				      units[from + n - 1].end };
	return n;
}

static struct err *scan_hot(struct image *image, struct tally *tally)
{
	for (size_t i = 0; i < image->units.n;) {
		struct memory_range range;
		bool hot = is_hot(image, &image->units.data[i]);
		i += unit_group(image, i, SIZE_MAX, &range);
		if (hot)
			TRY(scan_counted(image, range, &image->written, tally));
	}
	return NULL;
}

/* The quick scan found them; which of them took a fault? */
static struct err *count_found(struct image *image, size_t from,
			       struct tally *tally)
{
	size_t n = image->written.n;
	for (size_t i = from; i < n && n - from <= COLD_COUNTED; i++) {
		const struct scan_arg arg = {
			.start = image->written.data[i].start,
			.end = image->written.data[i].end,
			.category_mask = IS_PRESENT,
			.return_mask = IS_PRESENT | IS_ZERO,
		};
		TRY(scan_walk_memory(image, &arg, NULL, NULL, tally));
	}
	return NULL;
}

/*
 * The rest, until the faults that are @left are found: first after the last
 * find, since many programs continue from there.
 */
static struct err *scan_cold(struct image *image, uint64_t left)
{
	struct tally tally = {};
	const struct units *units = &image->units;
	size_t first = 0;
	while (first < units->n && units->data[first].end <= image->cold_at)
		first++;
	for (size_t done = 0; done < units->n && tally_sum(&tally) < left;) {
		struct memory_range range;
		size_t at = (first + done) % units->n;
		bool hot = is_hot(image, &units->data[at]);
		size_t max = MIN(units->n - done, (size_t)COLD_UNITS);
		done += unit_group(image, at, max, &range);
		size_t before = image->written.n;
		if (!hot)
			TRY(scan_dense(image, range, &image->written));
		if (image->written.n == before)
			continue;
		image->cold_at = image->written.data[before].start;
		TRY(count_found(image, before, &tally));
	}
	return NULL;
}

/*
 * Is it worth the trouble? In nanoseconds, as measured: a page, counted 2.4,
 * quickly 1; a call 750; the number of faults 3,500.
 */
static bool is_worth_it(const struct image *image)
{
	uint64_t hot = 3500;
	const struct units *units = &image->units;
	for (size_t i = 0; i < units->n; i++) {
		const struct scan_unit *unit = &units->data[i];
		if (!is_hot(image, unit))
			continue;
		hot += (unit->end - unit->start) / IMAGE_PAGE * 24 / 10;
		if (!i || !is_hot(image, unit - 1) ||
		    unit->start != unit[-1].end)
			hot += 750;
	}
	return hot < image->dense_pages + image->runs.n * 750;
}

/* A large program: what is hot, and the rest if there may be something. */
static struct err *scan_large(struct image *image, struct tally *tally)
{
	uint64_t poked[POKES], faults = 0;
	size_t poked_n;
	bool known = memory_poked(image->tracee, poked, POKES, &poked_n);
	image->scans++;
	for (size_t i = 0; i < poked_n; i++)
		scan_heat_unit(image, poked[i]);
	size_t before = image->written.n;
	bool counted = is_worth_it(image) && read_faults(image, &faults);
	if (known && counted && image->counted && !image->pieces_changed) {
		TRY(scan_hot(image, tally));
		/* Ours may be among what was counted. */
		uint64_t found = tally_sum(tally);
		found -= MIN(found, poked_n);
		if (faults - image->faults > found)
			TRY(scan_cold(image, faults - image->faults - found));
	} else {
		TRY(scan_runs(image));
	}
	image->faults = faults;
	image->counted = counted;
	for (size_t i = before; i < image->written.n; i++) {
		struct memory_range range = image->written.data[i];
		for (uint64_t at = range.start; at < range.end;
		     at = (at / UNIT_SIZE + 1) * UNIT_SIZE)
			scan_heat_unit(image, at);
	}
	return NULL;
}

/*
 * A sparse piece that has filled up. Pages that are not present now get their
 * mark.
 */
static struct err *make_dense(struct image *image, struct piece *piece)
{
	piece->sparse = false;
	piece->dense = true;
	size_t n = 0;
	for (size_t i = 0; i < image->there_before.n; i++) {
		struct memory_range range = image->there_before.data[i];
		if (range.start < piece->start || range.end > piece->end)
			image->there_before.data[n++] = range;
	}
	image->there_before.n = n;
	TRY(scan_dense(image, (struct memory_range){ piece->start, piece->end },
		       NULL));
	return scan_arrange(image);
}

static struct err *scan_collect(struct image *image, struct thread *thread,
				bool *ret_stale)
{
	struct tally tally = {};
	(void)thread;
	*ret_stale = false;
	image->there.n = 0;
	struct piece *full = NULL;
	for (size_t i = 0; i < image->pieces.n; i++) {
		struct piece *piece = &image->pieces.data[i];
		if (!piece->sparse)
			continue;
		size_t before = image->written.n, there = image->there.n;
		TRY(scan_sparse(image, piece, &image->written, &tally));
		if (!piece->tracked && image->written.n > before)
			*ret_stale = true;
		if (piece->tracked &&
		    count_pages(&image->there, there) >
			    (piece->end - piece->start) / IMAGE_PAGE / 2)
			full = piece;
	}
	TRY(find_dropped(image));
	if (full)
		TRY(make_dense(image, full));
	if (image->units.n) {
		forget_hot(image);
		return scan_large(image, &tally);
	}
	TRY(arrange_hot(image));
	return scan_runs(image);
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The descriptor is made in the tracee and lives with us. */
static struct err *make_uffd(struct image *image, struct thread *thread)
{
	const uint64_t args[6] = { O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY };
	int64_t fd, closed;
	TRY(remote_syscall(thread, SYS_userfaultfd, args, &fd));
	if (fd < 0)
		return err_errno((int)-fd, "userfaultfd is not available");
	_cleanup_(closep) int pidfd = open_pidfd(image->pid);
	int number = errno;
	if (pidfd >= 0) {
		image->uffd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)fd, 0);
		number = errno;
	}
	const uint64_t close_args[6] = { (uint64_t)fd };
	TRY(remote_syscall(thread, SYS_close, close_args, &closed));
	if (image->uffd < 0)
		return err_errno(number, "cannot take over a descriptor");
	fcntl(image->uffd, F_SETFD, FD_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API,
				  .features = FEATURE_WP_ASYNC };
	if (ioctl(image->uffd, UFFDIO_API, &api) < 0)
		return err_errno(errno, "no asynchronous write protection");
	return NULL;
}

static struct err *scan_start(struct image *image, struct thread *thread)
{
	TRY(make_uffd(image, thread));
	image->stat_fd = proc_open(image->pid, 0, "stat", O_RDONLY);
	if (image->stat_fd < 0)
		return scan_describe_failure(errno);
	for (size_t i = 0; i < image->pieces.n; i++)
		TRY(scan_adopt(image, &image->pieces.data[i]));
	TRY(scan_arrange(image));
	bool stale;
	TRY(scan_collect(image, thread, &stale));
	image->written.n = 0;
	return NULL;
}

static void scan_stop(struct image *image)
{
	closep(&image->uffd);
	closep(&image->stat_fd);
	image->uffd = image->stat_fd = -1;
	units_freep(&image->units);
	ranges_freep(&image->checks);
	ranges_freep(&image->runs);
	ranges_freep(&image->there);
	ranges_freep(&image->there_before);
}

const struct method method_scan = {
	.kind = IMAGE_SCAN,
	.name = "scan",
	.start = scan_start,
	.collect = scan_collect,
	.moved = scan_moved,
	.mark_same = scan_mark_same,
	.adopt = scan_adopt,
	.arrange = scan_arrange,
	.stop = scan_stop,
};
