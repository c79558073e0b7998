/*
 * Open descriptors. That nothing changed is known from the kernel's files, which
 * are kept open. What a new one refers to is asked through a descriptor of our
 * own (pidfd_getfd(2)), which is closed at once: nothing stays open for longer
 * than the program keeps it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "attributes/attributes_internal.h"
#include "base/masked.h"
#include "base/proc.h"

#define DESCRIPTORS_MAX 1024
#define INFOS_MAX 64

static void forget_texts(struct descriptor *descriptor)
{
	free(descriptor->path);
	free(descriptor->socket);
	free(descriptor->port);
	descriptor->path = descriptor->socket = descriptor->port = NULL;
	descriptor->listening = descriptor->queue = false;
}

static void descriptor_forget(struct attributes *a,
			      struct descriptor *descriptor)
{
	forget_texts(descriptor);
	if (descriptor->info > 0) {
		close(descriptor->info);
		a->infos--;
	}
	descriptor->info = 0;
}

void descriptors_free(struct attributes *a)
{
	for (size_t i = 0; i < a->descriptors.n; i++)
		descriptor_forget(a, &a->descriptors.data[i]);
	vec_free(&a->descriptors);
	a->files.n = 0;
}

static bool descriptor_is_own(const struct attributes *a, int number)
{
	for (size_t i = 0; i < a->options.n_own; i++) {
		if (a->own[i] == number)
			return true;
	}
	return false;
}

static bool has_offset(uint32_t type)
{
	return type == S_IFREG || type == S_IFBLK || type == S_IFDIR;
}

/*
 * "pos:\t0\nflags:\t0100002\nmnt_id:\t27\nino:\t861\n…" (the last since Linux
 * 5.14): all that may change of it, and when it is another one. A file that is
 * kept open describes whatever has the number now: less than 1 µs.
 */
static bool read_raw(struct attributes *a, struct descriptor *d, char *out,
		     size_t n)
{
	char path[32];
	ssize_t got;
	if (d->info > 0) {
		got = pread(d->info, out, n - 1, 0);
	} else {
		snprintf(path, sizeof(path), "fdinfo/%d", d->number);
		int fd = openat(a->proc, path, O_RDONLY | O_CLOEXEC);
		got = fd < 0 ? -1 : read(fd, out, n - 1);
		if (fd > 0 && got > 0 && a->infos < INFOS_MAX) {
			d->info = fd;
			a->infos++;
		} else if (fd >= 0) {
			close(fd);
		}
	}
	out[MAX(got, (ssize_t)0)] = '\0';
	/* What follows is of its kind: counters, locks. */
	char *inode = strstr(out, "\nino:");
	char *end = inode ? strchr(inode + 1, '\n') : NULL;
	if (end)
		*end = '\0';
	return end;
}

static bool parse_raw(const char *raw, int64_t *ret_offset, uint32_t *ret_flags)
{
	long long offset;
	unsigned flags;
	const char *line = strstr(raw, "flags:");
	if (sscanf(raw, "pos: %lld", &offset) != 1 || !line ||
	    sscanf(line, "flags: %o", &flags) != 1)
		return false;
	*ret_offset = offset;
	*ret_flags = flags;
	return true;
}

static void descriptor_take_stat(const struct stat *st, struct descriptor *d)
{
	d->device = st->st_dev;
	d->inode = st->st_ino;
	d->type = st->st_mode & S_IFMT;
	d->rdev = st->st_rdev;
	d->unlinked = d->type == S_IFREG && !st->st_nlink;
}

/*
 * What distinguishes a file from the one that had its inode number before: the time it
 * was made and what the file system counts, where it has these.
 */
static void take_birth(int at, const char *name, int flags,
		       struct descriptor *d)
{
	union {
		struct file_handle handle;
		unsigned char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} file;
	struct {
		int64_t seconds, nanoseconds;
		unsigned char handle[MAX_HANDLE_SZ];
	} what = {};
	struct statx st;
	int mount;
	d->birth = 0;
	if (d->type != S_IFREG && d->type != S_IFDIR)
		return;
	bool known = false;
	if (statx(at, name, flags & AT_EMPTY_PATH, STATX_BTIME, &st) == 0 &&
	    st.stx_mask & STATX_BTIME) {
		what.seconds = st.stx_btime.tv_sec;
		what.nanoseconds = st.stx_btime.tv_nsec;
		known = true;
	}
	file.handle.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(at, name, &file.handle, &mount, flags) == 0) {
		memcpy(what.handle, file.handle.f_handle,
		       MIN(file.handle.handle_bytes, (unsigned)MAX_HANDLE_SZ));
		known = true;
	}
	if (known)
		d->birth = digest_of(&what, sizeof(what), 0);
}

/* Where descriptors cannot be taken over: by the kernel's files. */
static bool look_at_files(struct attributes *a, struct descriptor *d,
			  const char *raw)
{
	char name[16];
	struct stat st;
	uint32_t flags;
	snprintf(name, sizeof(name), "%d", d->number);
	if (fstatat(a->descriptors_dir, name, &st, 0) < 0 ||
	    !parse_raw(raw, &d->offset, &flags))
		return false;
	descriptor_take_stat(&st, d);
	take_birth(a->descriptors_dir, name, AT_SYMLINK_FOLLOW, d);
	d->mode = flags & ~(uint32_t)O_CLOEXEC;
	if (!has_offset(d->type))
		d->offset = -1;
	return true;
}

static bool descriptor_look_at(struct attributes *a, struct descriptor *d,
			       const char *raw, int *ret_fd)
{
	struct stat st;
	*ret_fd = -1;
	if (a->no_getfd)
		return look_at_files(a, d, raw);
	int fd = (int)syscall(SYS_pidfd_getfd, a->pidfd, d->number, 0);
	if (fd < 0) {
		if (errno == EBADF)
			return false;
		/* Not here, or none of ours is left. */
		a->no_getfd = errno == ENOSYS || errno == EPERM || a->pidfd < 0;
		return look_at_files(a, d, raw);
	}
	int flags = fstat(fd, &st) < 0 ? -1 : fcntl(fd, F_GETFL);
	if (flags < 0) {
		close(fd);
		return false;
	}
	descriptor_take_stat(&st, d);
	take_birth(fd, "", AT_EMPTY_PATH, d);
	d->mode = (uint32_t)flags;
	d->offset = has_offset(d->type) ? lseek(fd, 0, SEEK_CUR) : -1;
	*ret_fd = fd;
	return true;
}

static void read_name_of(const struct attributes *a, int number, char *out,
			 size_t max)
{
	char name[16];
	snprintf(name, sizeof(name), "%d", number);
	ssize_t n = readlinkat(a->descriptors_dir, name, out, max - 1);
	out[MAX(n, (ssize_t)0)] = '\0';
}

/*
 * A file without a name, whose last one was made up: mkstemp(3) and tmpfile(3).
 * Nobody can come to it in another way, so that one of them is as good as the
 * next. Where in its path the made-up part lies.
 */
static bool descriptor_random_part(const struct descriptor *d, size_t *ret_at,
				   size_t *ret_n)
{
	const char *path = d->path ? d->path : "";
	if (!d->unlinked || path[0] != '/' || !str_ends(path, PROC_DELETED) ||
	    !strncmp(path, "/memfd:", 7))
		return false;
	size_t end = strlen(path) - strlen(PROC_DELETED), i = end;
	while (i > 0 && path[i - 1] != '/')
		i--;
	/* As the kernel calls it: by its inode. */
	if (path[i] == '#' && end - i > 1 &&
	    strspn(path + i + 1, "0123456789") == end - i - 1) {
		*ret_at = i + 1;
		*ret_n = end - i - 1;
		return true;
	}
	bool found = false;
	while (i < end) {
		size_t run = i;
		while (i < end && isalnum((unsigned char)path[i]))
			i++;
		size_t n = i - run;
		if (n >= MADE_UP && (str_made_up(path + i - MADE_UP) ||
				     (n == MADE_UP && i == end))) {
			*ret_at = i - MADE_UP;
			*ret_n = MADE_UP;
			found = true;
		}
		i += !n;
	}
	return found;
}

/* Its path as it is shown. */
static struct err *path_text(const struct descriptor *d, struct str *out)
{
	size_t at, n;
	if (!descriptor_random_part(d, &at, &n))
		return str_append(out, d->path ? d->path : "");
	TRY(str_append_n(out, d->path, at));
	return str_appendf(out, MADE_UP_SHOWN "%s", d->path + at + n);
}

/* By its name, too: the next file may have the same inode number. */
static struct err *descriptor_identify(struct descriptor *d)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	size_t at, n;
	if (descriptor_random_part(d, &at, &n)) {
		TRY(path_text(d, &text));
		d->thing = digest_of(text.s, text.n, d->type);
		return NULL;
	}
	uint64_t what[] = { d->device, d->inode, d->type, d->rdev, 0 };
	n = strlen(d->path);
	if (d->unlinked && str_ends(d->path, PROC_DELETED))
		n -= strlen(PROC_DELETED);
	if (d->type == S_IFREG || d->type == S_IFDIR)
		what[4] = digest_of(d->path, n, 0);
	d->thing = digest_of(what, sizeof(what), 0);
	return NULL;
}

/* Names and what else is slow, for one that is new or another one now. */
static struct err *descriptor_describe(struct attributes *a,
				       struct descriptor *d, int fd)
{
	char path[4096];
	forget_texts(d);
	read_name_of(a, d->number, path, sizeof(path));
	d->path = strdup(path);
	if (!d->path)
		return err_nomem();
	TRY(descriptor_identify(d));
	struct statfs fs;
	d->queue = d->type == S_IFREG && fd >= 0 && fstatfs(fd, &fs) == 0 &&
		   fs.f_type == MQUEUE_MAGIC;
	if (d->type == S_IFSOCK && fd >= 0)
		return socket_describe(d, fd);
	return NULL;
}

static bool same_thing(const struct attributes *a, const struct descriptor *old,
		       const struct descriptor *now)
{
	if (!old->path || old->device != now->device ||
	    old->inode != now->inode || old->type != now->type ||
	    old->rdev != now->rdev)
		return false;
	if ((old->type != S_IFREG && old->type != S_IFDIR) ||
	    (old->birth && old->birth == now->birth))
		return true;
	/* Another one by the same name goes for the same. */
	char path[4096];
	read_name_of(a, now->number, path, sizeof(path));
	size_t n = strlen(old->path);
	return !strncmp(path, old->path, n) &&
	       (!path[n] || !strcmp(path + n, PROC_DELETED));
}

static struct err *descriptor_update(struct attributes *a,
				     struct descriptor *old, unsigned changed,
				     bool *ret_there, bool *ret_changed)
{
	struct descriptor now = *old;
	char raw[256];
	bool enough = read_raw(a, old, raw, sizeof(raw)) &&
		      strlen(raw) < sizeof(old->raw);
	now.info = old->info;
	*ret_there = true;
	if (enough && old->path && !strcmp(raw, old->raw) &&
	    !(old->type == S_IFSOCK && changed & STATE_PORTS))
		return NULL;
	int fd;
	*ret_there = descriptor_look_at(a, &now, raw, &fd);
	if (!*ret_there)
		return NULL;
	_cleanup_(closep) _unused_ int guard = fd;
	int64_t offset;
	uint32_t flags;
	if (parse_raw(raw, &offset, &flags))
		now.cloexec = flags & O_CLOEXEC;
	now.raw[0] = '\0';
	if (enough)
		memcpy(now.raw, raw, strlen(raw) + 1);
	bool same = same_thing(a, old, &now) && now.mode == old->mode &&
		    !(now.type == S_IFSOCK && changed & STATE_PORTS);
	*ret_changed |= !same || now.offset != old->offset ||
			now.cloexec != old->cloexec;
	*old = now;
	return same ? NULL : descriptor_describe(a, old, fd);
}

struct descriptor_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static int descriptor_compare_number(const void *a, const void *b)
{
	const struct descriptor *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

/* Lists the numbers again; what is known of those that stay is kept. */
static struct err *list_numbers(struct attributes *a)
{
	_Alignas(8) char buffer[32768];
	for (size_t i = 0; i < a->descriptors.n; i++)
		a->descriptors.data[i].seen = false;
	size_t known = a->descriptors.n;
	a->many_descriptors = false;
	lseek(a->descriptors_dir, 0, SEEK_SET);
	for (;;) {
		long n = syscall(SYS_getdents64, a->descriptors_dir, buffer,
				 sizeof(buffer));
		if (n <= 0)
			break;
		for (long at = 0; at < n;) {
			const struct descriptor_entry *entry =
				(const struct descriptor_entry *)(buffer + at);
			at += entry->length;
			uint64_t number;
			if (!str_to_u64(entry->name, 10, &number) ||
			    descriptor_is_own(a, (int)number))
				continue;
			struct descriptor wanted = { .number = (int)number };
			struct descriptor *d =
				known ? bsearch(&wanted, a->descriptors.data,
						known, sizeof(wanted),
						descriptor_compare_number)
				      : NULL;
			if (d) {
				d->seen = true;
				continue;
			}
			if (a->descriptors.n >= DESCRIPTORS_MAX) {
				a->many_descriptors = true;
				break;
			}
			wanted.seen = true;
			TRY(vec_push(&a->descriptors, wanted));
		}
		if (a->many_descriptors)
			break;
	}
	return NULL;
}

static void drop_unseen(struct attributes *a, bool *ret_changed)
{
	size_t kept = 0;
	for (size_t i = 0; i < a->descriptors.n; i++) {
		struct descriptor *d = &a->descriptors.data[i];
		if (d->seen) {
			a->descriptors.data[kept++] = *d;
			continue;
		}
		*ret_changed = true;
		descriptor_forget(a, d);
	}
	a->descriptors.n = kept;
	qsort(a->descriptors.data, kept, sizeof(struct descriptor),
	      descriptor_compare_number);
}

/* Are all that we know of still there, and are they all? */
static bool same_count(struct attributes *a)
{
	struct stat st;
	/* The size of the folder is their number since Linux 6.2. */
	if (a->many_descriptors || fstat(a->descriptors_dir, &st) < 0 ||
	    st.st_size == 0)
		return false;
	size_t own = 0;
	for (size_t i = 0; i < a->options.n_own; i++)
		own += a->own[i] >= 0;
	return (size_t)st.st_size == a->descriptors.n + own;
}

static struct err *note_files(struct attributes *a)
{
	a->files.n = 0;
	for (size_t i = 0; i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		if (d->type != S_IFREG || (d->mode & O_ACCMODE) == O_RDONLY)
			continue;
		TRY(vec_push(&a->files,
			     (struct attributes_file){ d->path, d->device,
						       d->inode }));
	}
	return NULL;
}

struct err *descriptors_probe(struct attributes *a, unsigned changed,
			      unsigned *ret)
{
	bool different = false, listed = false;
	if (a->descriptors_dir < 0)
		return NULL;
	for (int round = 0; round < 2; round++) {
		if (round || !same_count(a)) {
			TRY(list_numbers(a));
			listed = true;
		}
		bool all = true;
		for (size_t i = 0; i < a->descriptors.n; i++) {
			struct descriptor *d = &a->descriptors.data[i];
			bool there = true;
			if (listed && !d->seen)
				continue;
			TRY(descriptor_update(a, d, changed, &there,
					      &different));
			d->seen = there;
			all &= there;
		}
		if (listed || !all)
			drop_unseen(a, &different);
		if (listed || all)
			break;
	}
	if (different) {
		*ret |= SOURCE_DESCRIPTORS;
		return note_files(a);
	}
	return NULL;
}

/* ---- in words ---- */

static const char *access_text(uint32_t mode)
{
	if (mode & O_PATH)
		return "path only";
	switch (mode & O_ACCMODE) {
	case O_RDONLY:
		return "read";
	case O_WRONLY:
		return "write";
	default:
		return "read and write";
	}
}

static struct err *thing_text(const struct descriptor *d, struct str *out)
{
	const char *path = d->path ? d->path : "";
	if (d->type == S_IFSOCK)
		return str_appendf(out, "socket %s%s",
				   d->socket ? d->socket : "",
				   d->listening ? ", listening" : "");
	if (d->type == S_IFIFO && path[0] != '/')
		return str_appendf(out, "pipe, %s", access_text(d->mode));
	if (!strncmp(path, "anon_inode:", 11)) {
		path += 11;
		size_t n = strlen(path);
		if (path[0] == '[' && path[n - 1] == ']')
			return str_append_n(out, path + 1, n - 2);
		return str_append(out, path);
	}
	_cleanup_(str_freep) struct str shown = STR_INIT;
	TRY(path_text(d, &shown));
	if (shown.n > TEXT_MAX)
		TRY(str_appendf(out, "…%s", shown.s + shown.n - TEXT_MAX));
	else
		TRY(str_append(out, shown.n ? shown.s : "unknown"));
	return str_appendf(out, "%s, %s", d->type == S_IFDIR ? " (folder)" : "",
			   access_text(d->mode));
}

static struct err *descriptor_flags_text(const struct descriptor *d,
					 struct str *out)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ O_APPEND, "append" }, { O_NONBLOCK, "nonblock" },
		{ O_ASYNC, "async" },	{ O_DIRECT, "direct" },
		{ O_DSYNC, "dsync" },	{ O_NOATIME, "noatime" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (d->mode & names[i].bit)
			TRY(text_comma(out, names[i].name));
	}
	if (d->cloexec)
		TRY(text_comma(out, "close-on-exec"));
	return out->n ? NULL : str_append(out, "none");
}

uint64_t descriptor_identity(const struct attributes *a, int number,
			     const char **ret_path)
{
	for (size_t i = 0; i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		if (d->number != number)
			continue;
		const uint64_t what[] = { d->thing, d->mode & O_ACCMODE };
		*ret_path = d->path ? d->path : "";
		return digest_of(what, sizeof(what), 0);
	}
	return 0;
}

struct err *descriptor_text(const struct attributes *a, int number,
			    struct str *out)
{
	for (size_t i = 0; i < a->descriptors.n; i++) {
		if (a->descriptors.data[i].number == number)
			return thing_text(&a->descriptors.data[i], out);
	}
	return str_append(out, "nothing");
}

/* What it is called; "" where it does not count. */
static struct err *descriptor_key(const struct attributes *a,
				  const struct descriptor *d, struct str *ret)
{
	_cleanup_(str_freep) struct str thing = STR_INIT;
	if (!a->options.unnumbered)
		return str_appendf(ret, "%d", d->number);
	/* Pipes come with child processes, and ports have a row: both are shown. */
	if (d->port || !d->path || !*d->path ||
	    (d->type == S_IFIFO && d->path[0] != '/'))
		return str_append(ret, "");
	bool named = d->path[0] == '/';
	bool writes = (d->mode & O_ACCMODE) != O_RDONLY;
	TRY(named ? path_text(d, &thing) : thing_text(d, &thing));
	if (a->options.ignores &&
	    a->options.ignores(a->options.data, thing.s, writes))
		return str_append(ret, "");
	const char *shown = attributes_shown_path(a, thing.s);
	size_t n = 0;
	const char *number = masked_long_number(shown, &n);
	if (!number)
		return str_append(ret, shown);
	TRY(str_append_n(ret, shown, (size_t)(number - shown)));
	return str_appendf(ret, MADE_UP_SHOWN "%s", number + n);
}

struct err *read_descriptors(struct attributes *a, struct items *items)
{
	struct stat st;
	if (a->many_descriptors) {
		bool counted = fstat(a->descriptors_dir, &st) == 0 &&
			       (size_t)st.st_size > a->descriptors.n;
		items->left_out =
			counted ? (size_t)st.st_size - a->descriptors.n : 1;
	}
	for (size_t i = 0; i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		_cleanup_(str_freep) struct str key = STR_INIT,
						thing = STR_INIT,
						flags = STR_INIT;
		TRY(descriptor_key(a, d, &key));
		if (!key.n)
			continue;
		struct item *item;
		TRY(items_add(items, key.s, &item));
		/* Where the standard streams go is reported there. */
		bool covered = d->number < 3 && a->stdio_covers[d->number];
		const char *path;
		uint64_t identity =
			covered ? 1 : descriptor_identity(a, d->number, &path);
		if (covered)
			TRY(str_append(&thing, "open"));
		else
			TRY(thing_text(d, &thing));
		TRY(descriptor_flags_text(d, &flags));
		const uint64_t what[] = { identity, d->mode, d->cloexec,
					  (uint64_t)d->offset };
		item->digest = digest_of(what, sizeof(what), 0);
		TRY(item_text(item, NULL, thing.s));
		TRY(item_text(item, "flags", flags.s));
		if (d->offset >= 0)
			TRY(item_textf(item, "offset", "%lld",
				       (long long)d->offset));
	}
	return NULL;
}

struct err *read_ports(struct attributes *a, struct items *items)
{
	for (size_t i = 0; i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		if (!d->port)
			continue;
		struct item *item;
		TRY(items_add(items, d->port, &item));
		TRY(item_text(item, NULL,
			      d->listening ? "listening" : "bound"));
	}
	return NULL;
}
