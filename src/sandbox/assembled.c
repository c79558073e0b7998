/*
 * Folders below which something is mounted, for ordinary users: the kernel
 * refuses an overlay on such a folder, since it would show what lies beneath
 * these mounts. So a new folder in memory takes its place, with all its entries:
 * small files and folders are copied, other folders that the user may write to
 * are covered one by one, and the rest is shown, read-only.
 *
 * Entries are looked up before the user namespace is entered, in which owners are
 * no longer known.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/sandbox_internal.h"

#define PIECES_MAX 4096 /* of one folder */
#define DEPTH_MAX 8
#define COPIED_MAX ((off_t)4 << 20)  /* of a file */
#define COPIED_ALL ((off_t)64 << 20) /* of a folder */
/* A folder with less in it is copied: that is quicker than to cover it. */
#define SMALL_ENTRIES 32
#define SMALL_BYTES ((off_t)256 << 10)

void sandbox_pieces_free(struct sandbox_pieces *pieces)
{
	for (size_t i = 0; i < pieces->n; i++)
		free(pieces->data[i].path);
	vec_free(pieces);
}

/* ---- before ---- */

struct plan {
	const struct sandbox_site *site;
	const char *folder;
	const struct strv *places; /* they are covered later, as a whole */
	struct sandbox_pieces *pieces;
	off_t copied;
};

static bool plan_has_place(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->places->n; i++) {
		if (!strcmp(plan->places->data[i], path))
			return true;
	}
	return false;
}

struct small {
	unsigned entries;
	off_t bytes;
};

static bool folder_is_small(int above, const char *name, struct small *seen)
{
	bool small = true;
	struct stat st;
	int fd = openat(above, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	if (!entries) {
		closep(&fd);
		return false;
	}
	for (struct dirent *entry; small && (entry = readdir(entries));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		small = ++seen->entries <= SMALL_ENTRIES &&
			fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
				0;
		if (small && S_ISDIR(st.st_mode))
			small = folder_is_small(fd, entry->d_name, seen);
		else if (small && S_ISREG(st.st_mode))
			small = st.st_nlink == 1 &&
				(seen->bytes += st.st_size) <= SMALL_BYTES;
	}
	closedir(entries);
	return small;
}

static enum sandbox_piece_kind plan_kind(struct plan *plan, int folder,
					 const char *name, const char *path,
					 const struct stat *st)
{
	bool own = st->st_uid == geteuid() && st->st_gid == getegid();
	bool writable = own || faccessat(folder, name, W_OK, AT_EACCESS) == 0;
	struct small small = {};
	if (S_ISLNK(st->st_mode))
		return PIECE_LINK;
	if (S_ISREG(st->st_mode) && writable && st->st_size <= COPIED_MAX &&
	    plan->copied + st->st_size <= COPIED_ALL &&
	    faccessat(folder, name, R_OK, AT_EACCESS) == 0) {
		plan->copied += st->st_size;
		return PIECE_COPY;
	}
	if (!S_ISDIR(st->st_mode) || plan_has_place(plan, path) ||
	    sandbox_mounts_has(&plan->site->mounts, path))
		return PIECE_SHOWN;
	if (sandbox_mounts_below(&plan->site->mounts, path))
		return own ? PIECE_FOLDER : PIECE_SHOWN;
	if (own && folder_is_small(folder, name, &small))
		return PIECE_FOLDER;
	return writable ? PIECE_COVERED : PIECE_SHOWN;
}

static struct err *plan_folder(struct plan *plan, int fd, const char *relative,
			       unsigned depth);

static struct err *plan_entry(struct plan *plan, int folder, const char *name,
			      const char *above, unsigned depth)
{
	_cleanup_(freep) char *relative = NULL;
	_cleanup_(freep) char *path = NULL;
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) <
	    0)
		return NULL;
	TRY(str_format(&relative, "%s%s%s", above, *above ? "/" : "", name));
	TRY(path_join(plan->folder, relative, &path));
	enum sandbox_piece_kind kind = plan_kind(plan, folder, name, path, &st);
	if (kind == PIECE_FOLDER && depth == DEPTH_MAX)
		kind = PIECE_SHOWN;
	TRY(vec_push(plan->pieces, (struct sandbox_piece){ relative, kind }));
	const char *kept = take_ptr(relative);
	if (kind != PIECE_FOLDER)
		return NULL;
	_cleanup_(closep) int fd = openat(
		folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? NULL : plan_folder(plan, fd, kept, depth + 1);
}

static struct err *plan_folder(struct plan *plan, int fd, const char *relative,
			       unsigned depth)
{
	struct err *err = NULL;
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	if (!entries) {
		closep(&again);
		return NULL;
	}
	for (struct dirent *entry; !err && (entry = readdir(entries));) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (plan->pieces->n == PIECES_MAX) {
			log_info("'%s' has more than %d entries; in the "
				 "sandbox, some are missing",
				 plan->folder, PIECES_MAX);
			break;
		}
		err = plan_entry(plan, fd, entry->d_name, relative, depth);
	}
	closedir(entries);
	return err;
}

struct err *sandbox_pieces_find(const struct sandbox_site *site,
				const char *folder, const struct strv *places,
				struct sandbox_pieces *ret)
{
	struct plan plan = {
		.site = site,
		.folder = folder,
		.places = places,
		.pieces = ret,
	};
	_cleanup_(closep) int fd =
		open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? NULL : plan_folder(&plan, fd, "", 0);
}

/* ---- inside ---- */

static bool copy_bytes(int in, int out)
{
	char bytes[65536];
	/* It may grow meanwhile. */
	for (off_t left = COPIED_MAX; left > 0;) {
		ssize_t n = read(in, bytes, sizeof(bytes));
		if (n <= 0)
			return n == 0;
		if (write(out, bytes, (size_t)n) != n)
			return false;
		left -= n;
	}
	return true;
}

static struct err *copy_file(int from, const char *target)
{
	struct fd_path path = fd_path_make(from);
	struct stat st;
	_cleanup_(closep) int in = open(path.s, O_RDONLY | O_CLOEXEC);
	_cleanup_(closep) int out =
		open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (in < 0 || out < 0 || fstat(in, &st) < 0)
		return err_errno(errno, "cannot copy '%s'", target);
	const struct timespec times[2] = { st.st_atim, st.st_mtim };
	if (!copy_bytes(in, out) || fchmod(out, st.st_mode & 07777) < 0 ||
	    futimens(out, times) < 0)
		return err_errno(errno, "cannot copy '%s'", target);
	return NULL;
}

static struct err *copy_link(int from, const char *target)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, "", text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	if (n < 0 || symlink(text, target) < 0)
		return err_errno(errno, "cannot create '%s'", target);
	return NULL;
}

/* With all that is mounted below @path, at their places below @target. */
static struct err *close_shown(const struct sandbox_site *site,
			       const char *path, const char *target)
{
	const struct sandbox_mount *on =
		sandbox_mounts_find(&site->mounts, path);
	if (on && on->has_files && !on->read_only)
		TRY(sandbox_make_read_only(target));
	for (size_t i = 0; i < site->mounts.n; i++) {
		const struct sandbox_mount *mount = &site->mounts.data[i];
		_cleanup_(freep) char *at = NULL;
		if (!mount->has_files || mount->read_only ||
		    !path_is_below(mount->path, path) ||
		    !strcmp(mount->path, path))
			continue;
		TRY(str_format(&at, "%s%s", target,
			       mount->path + strlen(path)));
		TRY(sandbox_make_read_only(at));
	}
	return NULL;
}

static struct err *show_piece(const struct sandbox_site *site, int from,
			      const char *path, const char *target)
{
	struct fd_path source = fd_path_make(from);
	struct stat st;
	if (fstat(from, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", path);
	if ((S_ISDIR(st.st_mode) ? mkdir(target, 0755)
				 : mknod(target, S_IFREG | 0600, 0)) < 0 &&
	    errno != EEXIST)
		return err_errno(errno, "cannot create '%s'", target);
	if (mount(source.s, target, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_errno(errno, "cannot mount '%s' again", path);
	struct err *err = close_shown(site, path, target);
	/* Not there is always better than not private. */
	if (err && umount2(target, MNT_DETACH) < 0)
		BUG("cannot unmount '%s': %s", target, strerror(errno));
	return err;
}

/* What does not work is shown. */
static struct err *make_own_piece(struct sandbox_site *site, int from,
				  const char *path, const char *target,
				  bool covers)
{
	if (covers && mkdir(target, 0755) < 0)
		return err_errno(errno, "cannot create '%s'", target);
	struct err *err = covers ? sandbox_overlay(site, from, target, path)
				 : copy_file(from, target);
	if (!err)
		return NULL;
	log_debug(LOG_SANDBOX, "%s; it is read-only", err_message(err));
	err_destroy(err);
	return show_piece(site, from, path, target);
}

static struct err *make_piece(struct sandbox_site *site, int folder,
			      const struct sandbox_piece *piece,
			      const char *path, const char *name,
			      const char *target)
{
	_cleanup_(closep) int from =
		openat(folder, piece->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0)
		return err_errno(errno, "'%s'", path);
	switch (piece->kind) {
	case PIECE_FOLDER:
		return sandbox_make_upper(site->layers, name, from);
	case PIECE_COVERED:
	case PIECE_COPY:
		return make_own_piece(site, from, path, target,
				      piece->kind == PIECE_COVERED);
	case PIECE_LINK:
		return copy_link(from, target);
	case PIECE_SHOWN:
		return show_piece(site, from, path, target);
	}
	BUG("piece of kind %d", piece->kind);
}

struct err *sandbox_assemble(struct sandbox_site *site, int fd,
			     const char *path,
			     const struct sandbox_pieces *pieces)
{
	_cleanup_(freep) char *base = NULL;
	char name[32];
	/* It takes long, and what cannot be made is left out. */
	if (site->is_tried)
		return NULL;
	snprintf(name, sizeof(name), "assembled%zu", site->n_layers++);
	TRY(sandbox_make_upper(site->layers, name, fd));
	TRY(path_join(site->holder, name, &base));
	for (size_t i = 0; i < pieces->n; i++) {
		const struct sandbox_piece *piece = &pieces->data[i];
		_cleanup_(freep) char *original = NULL;
		_cleanup_(freep) char *below = NULL;
		_cleanup_(freep) char *target = NULL;
		TRY(path_join(path, piece->path, &original));
		TRY(path_join(name, piece->path, &below));
		TRY(path_join(base, piece->path, &target));
		struct err *err =
			make_piece(site, fd, piece, original, below, target);
		if (err)
			err_ignore(err); /* gone, or closed to us */
	}
	if (mount(base, path, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_errno(errno, "cannot cover '%s'", path);
	log_info("something is mounted below '%s': in the sandbox, what was "
		 "there before and cannot be covered is read-only",
		 path);
	return sandbox_take_flags(fd, path);
}
