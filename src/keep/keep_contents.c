/* Contents of kept files, each once: in memory, large ones in a file without a name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "keep/keep_internal.h"

#define SMALL ((size_t)256 << 10)	/* larger ones are spilt … */
#define MEMORY_MAX ((uint64_t)32 << 20) /* … and others, once it is this much */
/* So much may fill the disk, or memory where there is no disk to spill to. */
#define SPILT_ANYWAY ((uint64_t)256 << 20)
#define CHUNK ((size_t)64 << 10) /* on the stack */
#define TRIES 4			 /* at a file that changes in the meantime */
#define XATTRS_MAX 64
#define XATTR_LIST ((size_t)64 << 10)
#define XATTR_VALUE 65536 /* the kernel's limit, xattr(7) */

/* ---- reading ---- */

static ssize_t contents_read_at(int fd, void *data, size_t n, uint64_t at)
{
	size_t done = 0;
	while (done < n) {
		ssize_t got = pread(fd, (char *)data + done, n - done,
				    (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static bool contents_write_at(int fd, const void *data, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = pwrite(fd, (const char *)data + done, n - done,
				     (off_t)(at + done));
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		if (!put) {
			errno = EIO;
			return false;
		}
		done += (size_t)put;
	}
	return true;
}

static bool is_zero(const char *data, size_t n)
{
	return !n || (!data[0] && !memcmp(data, data + 1, n - 1));
}

/* A file that is in no folder, so that only we can find it. */
static int open_spill(void)
{
	const char *folders[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		int fd = folders[i] ? open(folders[i],
					   O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
				    : -1;
		if (fd >= 0)
			return fd;
	}
	return memfd_create("polygraph-keep", MFD_CLOEXEC);
}

/* May so many bytes more be spilt? */
static bool spill_has_room(int fd, uint64_t spilt, uint64_t size)
{
	struct statvfs disk;
	if (spilt + size <= SPILT_ANYWAY)
		return true;
	if (fstatvfs(fd, &disk) < 0 || !disk.f_blocks)
		return false;
	uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
	return left >= KEEP_BYTES_FREE && left - KEEP_BYTES_FREE >= size;
}

/* ---- the table ---- */

static struct content *contents_find(const struct keep_contents *contents,
				     XXH128_hash_t hash, uint64_t size)
{
	uint64_t first = 0;
	if (!map_u64_get(&contents->by_hash, hash.low64, &first))
		return NULL;
	for (struct content *at = (void *)(uintptr_t)first; at; at = at->next) {
		if (at->high == hash.high64 && at->size == size)
			return at;
	}
	return NULL;
}

static void content_destroy(struct content *content)
{
	free(content->data);
	free(content);
}

/* Takes @content over, whatever comes of it. */
static struct err *contents_add(struct keep_contents *contents,
				struct content *content)
{
	uint64_t first = 0;
	map_u64_get(&contents->by_hash, content->low, &first);
	content->next = (void *)(uintptr_t)first;
	struct err *err = map_u64_put(&contents->by_hash, content->low,
				      (uint64_t)(uintptr_t)content);
	if (err) {
		content_destroy(content);
		return err;
	}
	contents->bytes += content->size;
	if (content->data)
		contents->memory += content->size;
	return NULL;
}

static void forget_seen(struct keep_contents *contents)
{
	for (size_t i = 0; i < contents->seen.map.cap; i++) {
		const struct map_slot *slot = &contents->seen.map.slots[i];
		if (!slot->hash)
			continue;
		struct seen *seen = (void *)(uintptr_t)slot->value;
		xattrs_unref(seen->xattrs);
		free(seen);
	}
	map_u64_free(&contents->seen);
}

/* Drops what no state has any longer. What files were is forgotten, too. */
static void drop_unused(struct keep_contents *contents, bool all)
{
	forget_seen(contents);
	contents->bytes = contents->memory = 0;
	for (size_t i = 0; i < contents->by_hash.map.cap; i++) {
		struct map_slot *slot = &contents->by_hash.map.slots[i];
		struct content *kept = NULL, *next = NULL;
		if (!slot->hash)
			continue;
		for (struct content *at = (void *)(uintptr_t)slot->value; at;
		     at = next) {
			next = at->next;
			if (at->refs && !all) {
				at->next = kept;
				kept = at;
				contents->bytes += at->size;
				contents->memory += at->data ? at->size : 0;
				continue;
			}
			if (!at->data && !all)
				(void)!fallocate(contents->spill,
						 FALLOC_FL_PUNCH_HOLE |
							 FALLOC_FL_KEEP_SIZE,
						 (off_t)at->offset,
						 (off_t)MAX(at->size, 1UL));
			content_destroy(at);
		}
		slot->value = (uint64_t)(uintptr_t)kept;
	}
}

void keep_contents_free(struct keep_contents *contents)
{
	drop_unused(contents, true);
	map_u64_free(&contents->by_hash);
	closep(&contents->spill);
	*contents = (struct keep_contents)CONTENTS_INIT;
}

void content_ref(struct content *content)
{
	if (content)
		content->refs++;
}

void content_unref(struct content *content)
{
	if (content)
		content->refs--;
}

/* ---- taking ---- */

static struct err *take_small(struct keep_contents *contents, int fd,
			      size_t size, struct content **ret,
			      const char **ret_why)
{
	_cleanup_(freep) char *data = malloc(size + 1);
	struct content *content = calloc(1, sizeof(*content));
	if (!data || !content) {
		free(content);
		return err_nomem();
	}
	/* One byte more would be there if it had grown. */
	ssize_t n = contents_read_at(fd, data, size + 1, 0);
	if (n != (ssize_t)size) {
		free(content);
		*ret_why = n < 0 ? strerror(errno) : "it changes";
		return NULL;
	}
	XXH128_hash_t hash = XXH3_128bits(data, size);
	struct content *known = contents_find(contents, hash, size);
	if (known) {
		free(content);
		*ret = known;
		return NULL;
	}
	*content = (struct content){
		.low = hash.low64,
		.high = hash.high64,
		.size = size,
		.data = take_ptr(data),
	};
	TRY(contents_add(contents, content));
	*ret = content;
	return NULL;
}

static bool copy_large(const struct keep_contents *contents, int fd,
		       uint64_t size, XXH3_state_t *state, const char **ret_why)
{
	char chunk[CHUNK];
	for (uint64_t at = 0; at < size;) {
		size_t want = (size_t)MIN((uint64_t)CHUNK, size - at);
		ssize_t n = contents_read_at(fd, chunk, want, at);
		if (n != (ssize_t)want) {
			*ret_why = n < 0 ? strerror(errno) : "it changes";
			return false;
		}
		XXH3_128bits_update(state, chunk, want);
		if (!is_zero(chunk, want) && /* holes stay holes */
		    !contents_write_at(contents->spill, chunk, want,
				       contents->spill_end + at)) {
			*ret_why = strerror(errno);
			return false;
		}
		at += want;
	}
	return true;
}

static struct err *take_large(struct keep_contents *contents, int fd,
			      uint64_t size, struct content **ret,
			      const char **ret_why)
{
	if (contents->spill < 0)
		contents->spill = open_spill();
	if (contents->spill < 0) {
		*ret_why = strerror(errno);
		return NULL;
	}
	if (!spill_has_room(contents->spill, contents->spill_end, size)) {
		*ret_why = "there is more than can be kept";
		return NULL;
	}
	/* Nothing of what may have been tried there before. */
	if (ftruncate(contents->spill, (off_t)contents->spill_end) < 0 ||
	    ftruncate(contents->spill, (off_t)(contents->spill_end + size)) <
		    0) {
		*ret_why = strerror(errno);
		return NULL;
	}
	XXH3_state_t state;
	XXH3_128bits_reset(&state);
	if (!copy_large(contents, fd, size, &state, ret_why))
		return NULL;
	XXH128_hash_t hash = XXH3_128bits_digest(&state);
	*ret = contents_find(contents, hash, size);
	if (*ret)
		return NULL;
	struct content *content = calloc(1, sizeof(*content));
	if (!content)
		return err_nomem();
	*content = (struct content){
		.low = hash.low64,
		.high = hash.high64,
		.size = size,
		.offset = contents->spill_end,
	};
	TRY(contents_add(contents, content));
	/* Whole pages, so that dropping one can give them back. */
	contents->spill_end += (size + 4095) & ~(uint64_t)4095;
	*ret = content;
	return NULL;
}

struct err *keep_contents_take(struct keep_contents *contents, int fd,
			       struct content **ret, const char **ret_why)
{
	for (int i = 0; i < TRIES; i++) {
		struct file_state before, after;
		struct content *content = NULL;
		*ret_why = NULL;
		if (!file_state_take(fd, NULL, &before)) {
			*ret_why = strerror(errno);
			return NULL;
		}
		if (before.size > KEEP_BYTES_MAX ||
		    contents->bytes + before.size > KEEP_BYTES_MAX)
			drop_unused(contents, false);
		if (before.size > KEEP_BYTES_MAX ||
		    contents->bytes + before.size > KEEP_BYTES_MAX) {
			*ret_why = "there is more than can be kept";
			return NULL;
		}
		bool small = before.size <= SMALL &&
			     contents->memory + before.size <= MEMORY_MAX;
		TRY(small ? take_small(contents, fd, (size_t)before.size,
				       &content, ret_why)
			  : take_large(contents, fd, before.size, &content,
				       ret_why));
		if (!content && i < TRIES - 1)
			continue;
		if (!content)
			return NULL;
		if (file_state_take(fd, NULL, &after) &&
		    after.size == before.size &&
		    file_time_is_same(after.mtime, before.mtime)) {
			content->refs++;
			*ret = content;
			return NULL;
		}
	}
	*ret_why = "it changes";
	return NULL;
}

/* ---- comparing and writing ---- */

static bool same_hash(XXH128_hash_t hash, const struct content *content)
{
	return hash.low64 == content->low && hash.high64 == content->high;
}

bool content_is(const struct content *content, int fd)
{
	char chunk[CHUNK];
	XXH3_state_t state;
	XXH3_128bits_reset(&state);
	for (uint64_t at = 0; at < content->size;) {
		size_t want = (size_t)MIN((uint64_t)CHUNK, content->size - at);
		if (contents_read_at(fd, chunk, want, at) != (ssize_t)want)
			return false;
		XXH3_128bits_update(&state, chunk, want);
		at += want;
	}
	if (contents_read_at(fd, chunk, 1, content->size) != 0)
		return false;
	/* Long inputs hash alike in pieces and at once. */
	return same_hash(XXH3_128bits_digest(&state), content);
}

/* Reading costs less than writing; one that cannot be read is written. */
static bool has_bytes(int fd, const char *data, size_t n, uint64_t at)
{
	char there[CHUNK];
	return contents_read_at(fd, there, n, at) == (ssize_t)n &&
	       !memcmp(there, data, n);
}

bool content_write(const struct keep_contents *contents,
		   const struct content *content, int fd)
{
	char chunk[CHUNK];
	struct file_state attr;
	if (!file_state_take(fd, NULL, &attr))
		return false;
	/*
	 * What would not fit is determined before anything is overwritten. File
	 * systems that do not support this say so.
	 */
	if (content->size > attr.size && attr.size &&
	    fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)attr.size,
		      (off_t)(content->size - attr.size)) < 0 &&
	    (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
		return false;
	for (uint64_t at = 0; at < content->size;) {
		size_t n = (size_t)MIN((uint64_t)CHUNK, content->size - at);
		const char *data = content->data ? content->data + at : chunk;
		if (!content->data &&
		    contents_read_at(contents->spill, chunk, n,
				     content->offset + at) != (ssize_t)n) {
			errno = EIO;
			return false;
		}
		/* After its end there are zeros anyway. */
		bool hole = at >= attr.size && is_zero(data, n);
		if (!hole && !has_bytes(fd, data, n, at) &&
		    !contents_write_at(fd, data, n, at))
			return false;
		at += n;
	}
	return ftruncate(fd, (off_t)content->size) == 0;
}

/* ---- files as they were seen ---- */

static struct seen *seen_of(const struct keep_contents *contents,
			    const struct file_state *attr)
{
	uint64_t at = 0;
	if (!map_u64_get(&contents->seen, file_state_key(attr), &at))
		return NULL;
	struct seen *seen = (void *)(uintptr_t)at;
	return file_state_is_same_file(&seen->attr, attr) ? seen : NULL;
}

bool keep_contents_knows(const struct keep_contents *contents,
			 const struct file_state *attr)
{
	return seen_of(contents, attr) != NULL;
}

const struct seen *keep_contents_seen(const struct keep_contents *contents,
				      const struct file_state *attr)
{
	const struct seen *seen = seen_of(contents, attr);
	if (!seen || seen->racy || seen->attr.size != attr->size ||
	    !file_time_is_same(seen->attr.mtime, attr->mtime) ||
	    !file_time_is_same(seen->attr.ctime, attr->ctime))
		return NULL;
	return seen;
}

struct err *keep_contents_note(struct keep_contents *contents,
			       const struct file_state *attr,
			       struct content *content, struct xattrs *xattrs)
{
	uint64_t at = 0;
	struct seen *seen = NULL;
	if (map_u64_get(&contents->seen, file_state_key(attr), &at)) {
		seen = (void *)(uintptr_t)at;
	} else {
		seen = calloc(1, sizeof(*seen));
		if (!seen)
			return err_nomem();
		struct err *err =
			map_u64_put(&contents->seen, file_state_key(attr),
				    (uint64_t)(uintptr_t)seen);
		if (err) {
			free(seen);
			return err;
		}
	}
	xattrs_ref(xattrs);
	xattrs_unref(seen->xattrs);
	*seen = (struct seen){
		.attr = *attr,
		.content = content,
		.xattrs = xattrs,
		.racy = file_time_is_racy(attr->ctime, file_time_now()),
	};
	return NULL;
}

/* ---- extended attributes ---- */

static bool contents_xattr_counts(const char *name)
{
	return str_starts(name, "user.") ||
	       str_starts(name, "system.posix_acl_");
}

static void proc_path(int fd, char *ret, size_t n)
{
	snprintf(ret, n, "/proc/self/fd/%d", fd);
}

static int contents_compare_xattrs(const void *a, const void *b)
{
	const struct xattr *x = a, *y = b;
	return strcmp(x->name, y->name);
}

struct err *xattrs_take(int fd, struct xattrs **ret)
{
	char path[64];
	*ret = NULL;
	proc_path(fd, path, sizeof(path));
	ssize_t size = listxattr(path, NULL, 0);
	if (size <= 0 || (size_t)size > XATTR_LIST)
		return NULL;
	_cleanup_(freep) char *list = malloc((size_t)size + 1);
	_cleanup_(freep) char *value = malloc(XATTR_VALUE);
	_cleanup_(xattrs_unrefp) struct xattrs *xattrs =
		calloc(1, sizeof(*xattrs) + XATTRS_MAX * sizeof(struct xattr));
	if (!list || !value || !xattrs)
		return err_nomem();
	xattrs->refs = 1;
	size = listxattr(path, list, (size_t)size);
	if (size <= 0)
		return NULL;
	list[size] = '\0';
	for (const char *name = list;
	     name < list + size && xattrs->n < XATTRS_MAX;
	     name += strlen(name) + 1) {
		if (!contents_xattr_counts(name))
			continue;
		ssize_t n = getxattr(path, name, value, XATTR_VALUE);
		if (n < 0)
			continue;
		struct xattr *xattr = &xattrs->list[xattrs->n];
		xattr->name = strdup(name);
		xattr->value = malloc((size_t)n + 1);
		xattrs->n++;
		if (!xattr->name || !xattr->value)
			return err_nomem();
		memcpy(xattr->value, value, (size_t)n);
		xattr->n = (size_t)n;
	}
	if (!xattrs->n)
		return NULL;
	qsort(xattrs->list, xattrs->n, sizeof(*xattrs->list),
	      contents_compare_xattrs);
	*ret = take_ptr(xattrs);
	return NULL;
}

struct xattrs *xattrs_ref(struct xattrs *xattrs)
{
	if (xattrs)
		xattrs->refs++;
	return xattrs;
}

void xattrs_unref(struct xattrs *xattrs)
{
	if (!xattrs || --xattrs->refs)
		return;
	for (size_t i = 0; i < xattrs->n; i++) {
		free(xattrs->list[i].name);
		free(xattrs->list[i].value);
	}
	free(xattrs);
}

static const struct xattr *xattr_named(const struct xattrs *xattrs,
				       const char *name)
{
	for (size_t i = 0; xattrs && i < xattrs->n; i++) {
		if (!strcmp(xattrs->list[i].name, name))
			return &xattrs->list[i];
	}
	return NULL;
}

static bool xattr_same(const struct xattr *a, const struct xattr *b)
{
	return a && b && a->n == b->n && !memcmp(a->value, b->value, a->n);
}

bool xattrs_same(const struct xattrs *a, const struct xattrs *b)
{
	if ((a ? a->n : 0) != (b ? b->n : 0))
		return false;
	for (size_t i = 0; a && i < a->n; i++) {
		if (!xattr_same(&a->list[i], xattr_named(b, a->list[i].name)))
			return false;
	}
	return true;
}

int xattrs_put(int fd, const struct xattrs *now, const struct xattrs *want)
{
	char path[64];
	int number = 0;
	proc_path(fd, path, sizeof(path));
	for (size_t i = 0; now && i < now->n; i++) {
		if (!xattr_named(want, now->list[i].name) &&
		    removexattr(path, now->list[i].name) < 0)
			number = errno;
	}
	for (size_t i = 0; want && i < want->n; i++) {
		const struct xattr *x = &want->list[i];
		if (!xattr_same(x, xattr_named(now, x->name)) &&
		    setxattr(path, x->name, x->value, x->n, 0) < 0)
			number = errno;
	}
	return number;
}
