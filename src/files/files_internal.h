/*
 * The room's inside: names and what they count, the touched set, the walked
 * tree, and deltas, which both ways produce and compare.c turns into changes.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "files/files.h"
#include "files/snapshot_internal.h"

#define ENTRIES_MAX                                                            \
	((size_t)1000000) /* of a walk, of a folder that is reported */
#define DEPTH_MAX 128

/* What calls did to a name since the last point. */
enum touch_marks {
	TOUCH_WROTE = 1 << 0,
	TOUCH_TIMES = 1 << 1,
	TOUCH_MOVED = 1 << 2, /* renamed or linked, either name */
	TOUCH_FRESH = 1 << 3, /* made as mkstemp(3) and mkdtemp(3) do */
};

/* One name that may differ. Everything is borrowed. */
struct delta {
	const char *path;
	const struct snap *before, *after;
	unsigned marks;
	pid_t creator;

	/* Of compare.c. */
	unsigned diff;
	struct delta *to;   /* where what was here is now */
	struct delta *from; /* where what is here was */
	struct delta *top;  /* reported with this folder, which came or went */
	bool done;	    /* reported elsewhere */
	size_t entries;	    /* of a folder that came or went */
	uint64_t names;	    /* digest of theirs */
};
DEFINE_VEC(deltas, struct delta)

/* A change that was reported, for files_undone(). */
struct told_part {
	char *path;
	struct snap before;
	bool times;
	bool links;
};
struct told {
	uint64_t id;
	uint64_t capture;
	VEC(struct told_part) parts;
	bool partial;	 /* more parts than are kept */
	bool only_times; /* nothing but time stamps differs */
};

/* names.c: which names count, and how they are shown. */
struct files_names {
	char **exclude; /* resolved; NULL-ended */
	char *directory;
	bool walking;	       /* no calls show what is fresh */
	struct map_u64 pseudo; /* st_dev → bool */
	char *last_folder;     /* that counted */
	struct map_text masks; /* path → char *, shown */
	VEC(char *) shown;     /* owns them */
};
struct err *names_create(const struct files_options *options,
			 struct files_names *ret) _must_check_;
void names_free(struct files_names *names);
/* By the text alone: excluded, devices, coverage data. */
bool names_counts_text(const struct files_names *names, const char *path);
/* Also by the file system that its folder is on. */
bool names_counts(struct files_names *names, const char *path);
bool names_pseudo(struct files_names *names, uint64_t dev, const char *folder);
/* Directly below /dev/shm: process state unless it is a folder. */
bool names_is_shm(const char *path);
/* As @path is shown; where it is in order, "fresh" parts are masked. */
struct err *names_shown(const struct files_names *names, const char *path,
			char **ret) _must_check_;
/* The same as a root, which is to be the same tomorrow: dates are masked, too. */
struct err *names_root(const struct files_names *names, const char *path,
		       char **ret) _must_check_;
/* Remembers that the last part of @path is fresh; false: it is not. */
struct err *names_mask(struct files_names *names, const struct delta *delta,
		       pid_t pid, bool *ret) _must_check_;
struct err *names_real(const char *path, char **ret) _must_check_;

/* texts.c: how a state is shown. */
struct err *text_state(const struct snap *snap, size_t entries,
		       char **ret) _must_check_;
struct err *text_contents(const struct snap *before, const struct snap *after,
			  char **ret_before, char **ret_after) _must_check_;
struct err *text_time(struct timespec time, char **ret) _must_check_;
struct err *text_target(const struct snap *snap, char **ret) _must_check_;

struct walk;

/* A name that was touched once; following. */
struct touched_name {
	char *path;
	bool counts;
	bool known;   /* @now is of the last point */
	bool touched; /* since, and @before was taken */
	bool open;    /* written to through an old descriptor, perhaps */
	bool mapped;  /* or through memory */
	unsigned marks;
	pid_t creator;
	struct snap now, before;
};

/* A folder that was renamed since the last point; names below moved along. */
struct rename {
	char *old, *new;
	bool exchange;
	uint64_t dev, ino;
};
DEFINE_VEC(renames, struct rename)

struct files {
	bool (*left_over)(void *data, pid_t tid);
	void *data;
	pthread_mutex_t lock;
	struct files_names names;
	size_t paths;
	bool walking;
	struct snap_limits limits;
	int64_t point; /* when the last one was: real time, ns */
	int64_t begin; /* and this one */

	/* Following. */
	struct map_text entries; /* → struct touched_name * */
	VEC(struct touched_name *) all;
	VEC(struct touched_name *) touched;
	VEC(struct touched_name *) open;
	struct renames renames, pending;

	struct walk *walk; /* NULL: following */

	VEC(struct told) told; /* oldest first */
	uint64_t told_ids;
	const char *limit;
	struct files_counts counts;
	atomic_uint_least64_t hashed;
};

/* following.c */
void following_event(struct files *files, const struct follow_event *event);
/* What was touched, as it is now; @ret borrows until the next commit. */
struct err *following_deltas(struct files *files,
			     struct deltas *ret) _must_check_;
/* @known: states now were taken by following_deltas(). */
void following_commit(struct files *files, bool known);
struct err *following_open(struct files *files, const struct files_open *open,
			   size_t n_open) _must_check_;
void following_free(struct files *files);

/* walk.c */
struct err *walk_create(struct files *files, const char *const *dirs,
			struct walk **ret) _must_check_;
void walk_destroy(struct walk *walk);
/* What differs from the last time; @ret borrows until walk_commit(). */
struct err *walk_deltas(struct walk *walk, struct deltas *ret) _must_check_;
void walk_commit(struct walk *walk);
uint64_t walk_entries(const struct walk *walk);

/* compare.c: makes sense of the deltas, tell.c puts them into words */
struct err *compare_tell(struct files *files, struct deltas *deltas, pid_t pid,
			 struct changes *ret) _must_check_;
struct err *files_tell_changes(struct files *files, struct delta **sorted,
			       size_t n, pid_t pid,
			       struct changes *ret) _must_check_;
void told_clear(struct told *told);
bool told_undone(struct files *files, const struct told *told);
