#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/strv.h"
#include "base/vec.h"
#include "sandbox/sandbox.h"

/* ---- mounts.c: what is mounted ---- */

struct sandbox_mount {
	char *path;
	int fd; /* O_PATH, of its root; -1: not opened yet */
	bool is_folder;
	bool has_files; /* of users; not a file system like /proc */
	bool read_only;
};

struct sandbox_mounts {
	struct sandbox_mount *data;
	size_t n;
	size_t cap;
};

/*
 * Parents before what is mounted below them, the root folder first, even if it
 * is no mount. Nothing is opened.
 */
struct err *sandbox_mounts_read(struct sandbox_mounts *ret) _must_check_;
/* As the kernel lists them: in a chroot only those below. */
struct err *sandbox_mounts_list(struct sandbox_mounts *ret) _must_check_;
/* The same from the text of mountinfo. */
struct err *sandbox_mounts_parse(char *text,
				 struct sandbox_mounts *ret) _must_check_;
/* In our own namespace; drops those that cannot be seen. */
void sandbox_mounts_open(struct sandbox_mounts *mounts);
void sandbox_mounts_free(struct sandbox_mounts *mounts);
/* That @path lies on; NULL: none. */
const struct sandbox_mount *
sandbox_mounts_find(const struct sandbox_mounts *mounts, const char *path);
bool sandbox_mounts_has(const struct sandbox_mounts *mounts, const char *path);
/* Is something mounted below it? */
bool sandbox_mounts_below(const struct sandbox_mounts *mounts,
			  const char *path);

/* ---- disk.c: layers that are not in memory ---- */

struct sandbox_disk {
	char *path;
	int parent; /* the folder it is in, outside of the sandbox */
	int fd;
};

struct sandbox_disks {
	struct sandbox_disk *data;
	size_t n;
	size_t cap;
};

struct err *sandbox_disks_create(struct sandbox_disks *ret) _must_check_;
void sandbox_disks_remove(struct sandbox_disks *disks);
/* Which one does not lie in the folder @covered; disks->n: none. */
size_t sandbox_disk_for(const struct sandbox_disks *disks, const char *covered);

/* ---- overlay.c: the layers ---- */

/* A name by which the kernel finds what a descriptor is, blanks or not. */
struct fd_path {
	char s[32];
};
struct fd_path fd_path_make(int fd);

/* While it is built. */
struct sandbox_site {
	const struct sandbox_options *options;
	struct sandbox_mounts mounts;
	char *cwd;
	bool is_whole;	    /* whole.c, not places.c */
	bool is_tried;	    /* only to see whether it is possible */
	const char *holder; /* folder on which the layers' memory is mounted */
	int layers;	    /* descriptor of its root */
	const struct sandbox_disks *disks; /* instead of memory; NULL: none */
	VEC(int) disk_fds; /* of each, as it is in our namespace */
	size_t n_layers;
	bool is_weak; /* sandbox_has_weak_overlays() */
	/* Opened before anything was covered: */
	VEC(int) through;
	struct strv sockets;
	VEC(int) socket_fds;
};

/* Memory for the layers, on a folder that none of @covered lies below. */
struct err *sandbox_layers_create(struct sandbox_site *site,
				  const char *const *covered,
				  size_t n) _must_check_;
/* A folder @name in @layers that looks like @lower from outside. */
struct err *sandbox_make_upper(int layers, const char *name,
			       int lower) _must_check_;
/*
 * Covers the folder @fd by an overlay that is mounted on @target; @path is what
 * it is called afterwards.
 */
struct err *sandbox_overlay(struct sandbox_site *site, int fd,
			    const char *target, const char *path) _must_check_;
/* Mounts what @fd is on @target, another place of it. */
struct err *sandbox_bind(int fd, const char *target) _must_check_;
/* Only what is seen through this one mount; others of the same stay. */
struct err *sandbox_make_read_only(const char *target) _must_check_;
/* What is forbidden where @fd is mounted is forbidden in @target as well. */
struct err *sandbox_take_flags(int fd, const char *target) _must_check_;

/* ---- assembled.c: folders that cannot be covered as a whole ---- */

enum sandbox_piece_kind {
	PIECE_FOLDER, /* made as well, with pieces of its own */
	PIECE_COVERED,
	PIECE_COPY,
	PIECE_LINK,
	PIECE_SHOWN, /* read-only, with all that is mounted below */
};

struct sandbox_piece {
	char *path; /* below the folder */
	enum sandbox_piece_kind kind;
};

struct sandbox_pieces {
	struct sandbox_piece *data;
	size_t n;
	size_t cap;
};

/* What @folder is made of, folders first; @places are only shown. */
struct err *sandbox_pieces_find(const struct sandbox_site *site,
				const char *folder, const struct strv *places,
				struct sandbox_pieces *ret) _must_check_;
void sandbox_pieces_free(struct sandbox_pieces *pieces);
/* In place of the folder @fd, which is called @path. */
struct err *sandbox_assemble(struct sandbox_site *site, int fd,
			     const char *path,
			     const struct sandbox_pieces *pieces) _must_check_;

/* ---- through.c: what goes through ---- */

struct err *sandbox_through_open(struct sandbox_site *site) _must_check_;
/* @root is put before all paths: "" or the folder of the new root. */
struct err *sandbox_through_bind(struct sandbox_site *site,
				 const char *root) _must_check_;

/* ---- the two ways ---- */

bool sandbox_may_mount(void); /* as root may */

struct err *sandbox_build_whole(struct sandbox_site *site) _must_check_;
struct err *sandbox_build_places(struct sandbox_site *site) _must_check_;

/* ---- refused.c: what only the sandbox refuses ---- */

/* All that is not covered is read-only from now on. Takes @mounts over. */
void sandbox_refused_begin(struct sandbox_mounts *mounts);
