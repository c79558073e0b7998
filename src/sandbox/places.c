/* The way for ordinary users: places are covered, the rest is read-only. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/sandbox_internal.h"

/* ---- the user namespace ---- */

static struct err *namespace_write_map(const char *path, const char *text)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return err_errno(errno, "cannot write '%s'", path);
	return NULL;
}

/* With the ids that the user has outside. */
static struct err *enter_namespaces(void)
{
	char uid[64], gid[64];
	snprintf(uid, sizeof(uid), "%u %u 1", geteuid(), geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", getegid(), getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return err_errno(errno, "cannot make a user namespace");
	TRY(namespace_write_map("/proc/self/setgroups", "deny"));
	TRY(namespace_write_map("/proc/self/uid_map", uid));
	TRY(namespace_write_map("/proc/self/gid_map", gid));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(errno, "cannot make mounts private");
	return NULL;
}

/* ---- places ---- */

struct covered_place {
	char *path; /* links resolved */
	int fd;
	bool is_assembled; /* something is mounted below it */
	struct sandbox_pieces pieces;
};

struct covered_places {
	struct covered_place *data;
	size_t n;
	size_t cap;
};

static void covered_place_free(struct covered_place *place)
{
	free(place->path);
	closep(&place->fd);
	sandbox_pieces_free(&place->pieces);
}

static void covered_freep(struct covered_places *places)
{
	for (size_t i = 0; i < places->n; i++)
		covered_place_free(&places->data[i]);
	vec_free(places);
}

static bool is_own_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid() && st.st_gid == getegid();
}

/*
 * Up to the topmost folder of the user: what is copied into an overlay takes
 * all folders above along, and those of others cannot be.
 */
static void climb_to_topmost_folder(const struct sandbox_site *site, char *path)
{
	for (;;) {
		char *slash = strrchr(path, '/');
		if (sandbox_mounts_has(&site->mounts, path) || !slash ||
		    slash == path)
			return;
		*slash = '\0';
		if (!is_own_folder(path) ||
		    sandbox_mounts_below(&site->mounts, path)) {
			*slash = '/';
			return;
		}
	}
}

/* @path and all folders above it up to @top: the user's, so they can be copied. */
static bool is_own_below(const char *path, const char *top)
{
	_cleanup_(freep) char *copy = strdup(path);
	while (copy && path_is_below(copy, top)) {
		if (!is_own_folder(copy))
			return false;
		*strrchr(copy, '/') = '\0';
	}
	return copy;
}

static bool covered_has(const struct covered_places *places, const char *path)
{
	for (size_t i = 0; i < places->n; i++) {
		const struct covered_place *place = &places->data[i];
		if (!strcmp(place->path, path) ||
		    (!place->is_assembled && path_is_below(path, place->path) &&
		     is_own_below(path, place->path)))
			return true;
	}
	return false;
}

/* Those that are part of a new place. */
static void covered_drop_below(struct covered_places *places, const char *path)
{
	size_t kept = 0;
	for (size_t i = 0; i < places->n; i++) {
		struct covered_place *place = &places->data[i];
		if (!path_is_below(place->path, path) ||
		    !is_own_below(place->path, path)) {
			places->data[kept++] = *place;
			continue;
		}
		covered_place_free(place);
	}
	places->n = kept;
}

static struct err *covered_add(const struct sandbox_site *site,
			       struct covered_places *places,
			       const char *wanted)
{
	_cleanup_(freep) char *path = wanted ? realpath(wanted, NULL) : NULL;
	struct covered_place place = { .fd = -1 };
	const struct sandbox_mount *on =
		path ? sandbox_mounts_find(&site->mounts, path) : NULL;
	struct stat st;
	if (!on || !on->has_files || !strcmp(path, "/") ||
	    stat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    access(path, W_OK) < 0)
		return NULL;
	if (is_own_folder(path))
		climb_to_topmost_folder(site, path);
	if (covered_has(places, path))
		return NULL;
	place.is_assembled = sandbox_mounts_below(&site->mounts, path);
	if (!place.is_assembled)
		covered_drop_below(places, path);
	place.path = path;
	TRY(vec_push(places, place));
	path = NULL;
	return NULL;
}

static struct err *find_places(const struct sandbox_site *site,
			       struct covered_places *ret)
{
	static const char *const usual[] = { "/tmp", "/var/tmp", "/dev/shm" };
	static const char *const named[] = { "HOME", "TMPDIR" };
	TRY(covered_add(site, ret, site->cwd));
	for (size_t i = 0; i < site->options->n_places; i++)
		TRY(covered_add(site, ret, site->options->places[i]));
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		TRY(covered_add(site, ret, getenv(named[i])));
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		TRY(covered_add(site, ret, usual[i]));
	for (size_t i = 0; i < site->mounts.n; i++) {
		if (site->mounts.data[i].has_files &&
		    !site->mounts.data[i].read_only)
			TRY(covered_add(site, ret, site->mounts.data[i].path));
	}
	return NULL;
}

/* While owners are known. */
static struct err *find_pieces(const struct sandbox_site *site,
			       struct covered_places *places)
{
	_cleanup_(strv_freep) struct strv paths = {};
	for (size_t i = 0; i < places->n; i++)
		TRY(strv_add(&paths, places->data[i].path));
	for (size_t i = 0; i < places->n; i++) {
		struct covered_place *place = &places->data[i];
		if (place->is_assembled)
			TRY(sandbox_pieces_find(site, place->path, &paths,
						&place->pieces));
	}
	return NULL;
}

/* ---- cover ---- */

static struct err *check_cwd(const struct sandbox_site *site)
{
	struct stat st;
	if (stat(site->cwd, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", site->cwd);
	if (access(site->cwd, W_OK) == 0 &&
	    (st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    !(st.st_mode & S_ISVTX))
		return err_create(ERR_INTERNAL,
				  "the working directory belongs to another "
				  "user or group");
	return NULL;
}

static int covered_compare(const void *a, const void *b)
{
	const struct covered_place *one = a, *other = b;
	return path_compare(one->path, other->path);
}

static struct err *cover_places(struct sandbox_site *site,
				struct covered_places *places)
{
	_cleanup_(freep) const char **covered =
		calloc(places->n + 1, sizeof(*covered));
	if (!covered)
		return err_nomem();
	for (size_t i = 0; i < places->n; i++) {
		struct covered_place *place = &places->data[i];
		covered[i] = place->path;
		place->fd = open(place->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (place->fd < 0)
			return err_errno(errno, "cannot open '%s'",
					 place->path);
	}
	TRY(sandbox_layers_create(site, covered, places->n));
	/* Or the outer ones would hide the inner ones. */
	qsort(places->data, places->n, sizeof(*places->data), covered_compare);
	for (size_t i = 0; i < places->n; i++) {
		const struct covered_place *place = &places->data[i];
		struct err *err =
			place->is_assembled
				? sandbox_assemble(site, place->fd, place->path,
						   &place->pieces)
				: sandbox_overlay(site, place->fd, place->path,
						  place->path);
		if (!err)
			continue;
		if (path_is_below(site->cwd, place->path) ||
		    !strcmp(site->cwd, place->path))
			return err;
		err_ignore(err);
	}
	return NULL;
}

/* What is not covered cannot be changed. */
static struct err *close_the_rest(const struct sandbox_site *site)
{
	for (size_t i = 0; i < site->mounts.n; i++) {
		const struct sandbox_mount *mount = &site->mounts.data[i];
		char path[32];
		if (!mount->has_files || mount->read_only)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", mount->fd);
		struct err *err = sandbox_make_read_only(path);
		if (err)
			return err_prefix(err, "'%s'", mount->path);
	}
	return NULL;
}

struct err *sandbox_build_places(struct sandbox_site *site)
{
	_cleanup_(covered_freep) struct covered_places places = {};
	/* Inside, owners are no longer known: all others are nobody there. */
	TRY(check_cwd(site));
	TRY(sandbox_mounts_read(&site->mounts));
	TRY(find_places(site, &places));
	TRY(find_pieces(site, &places));
	if (access(site->cwd, W_OK) == 0 && !covered_has(&places, site->cwd))
		return err_create(ERR_INTERNAL,
				  "the working directory cannot be covered");
	TRY(enter_namespaces());
	sandbox_mounts_open(&site->mounts);
	TRY(sandbox_through_open(site));
	TRY(cover_places(site, &places));
	TRY(sandbox_through_bind(site, ""));
	TRY(close_the_rest(site));
	if (umount2(site->holder, MNT_DETACH) < 0)
		return err_errno(errno, "cannot unmount '%s'", site->holder);
	sandbox_refused_begin(&site->mounts);
	return NULL;
}
