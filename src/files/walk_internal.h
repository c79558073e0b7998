/*
 * The walked tree, for walk.c and notify.c.
 */
#pragma once

#include "files/files_internal.h"

struct notify;

struct walk_entry {
	struct snap snap;
	char *name;
	struct walk_folder *folder; /* of it, if it is one */
	bool gone;
	bool open;   /* by somebody, so that it may be written to in memory */
	bool marked; /* to be looked at in this walk */
};

struct walk_folder {
	char *path;		    /* "": the one of the watched folders */
	struct walk_entry *entries; /* sorted by name */
	size_t n;
	unsigned depth;
	struct walk_folder *parent; /* NULL: none */
	int watch;		    /* -1: none, all entries are looked at */
	bool queued;		    /* will be listed */
	bool renewed; /* another one by the same name: look at all */
	bool special; /* perhaps some entries are looked at each time */
	bool dead;    /* to be freed at the end of the walk */
	bool listed;  /* in this walk */
};

/* Work for one thread: some entries of a folder. */
struct range {
	struct walk_folder *folder;
	size_t from, to;
};

struct dirty {
	struct walk_folder *folder;
	size_t entry;
	struct snap now;
};

/* A name that was reported. */
struct added {
	struct walk_folder *folder;
	char *name;
};

/* A name that differs, for the one who asked. */
struct result {
	char *path;
	struct snap before, after;
};

struct walk {
	struct files *files;
	struct notify *notify;		   /* NULL: everything is looked at */
	VEC(struct walk_folder *) folders; /* [0]: of the watched folders */
	VEC(struct range) ranges;	   /* over all of them */
	VEC(struct added) added;
	VEC(struct range) spots; /* to be looked at, if not all are */
	bool changed;		 /* ranges no longer fit */
	size_t entries;
	size_t looked; /* entries in this walk */
	bool first;
	bool all; /* entries are looked at in this walk */
	struct snap_limits limits;
	atomic_uint_least64_t budget;
	VEC(struct walk_folder *) list; /* to be listed */
	VEC(struct range) fresh;	/* entries without a snapshot yet */
	VEC(struct result) results;
};

/* notify.c: which names were touched by anybody, as inotify(7) tells. */
struct notify *notify_create(void); /* NULL: not here */
void notify_destroy(struct notify *notify);
/* Before the folder is listed. Where it cannot be watched, that is noted. */
void notify_watch(struct walk *walk, struct walk_folder *folder, uint64_t dev);
void notify_forget(struct walk *walk, struct walk_folder *folder);
/*
 * Into walk->spots and walk->added goes what is to be looked at. False: events
 * were lost, that is everything.
 */
bool notify_read(struct walk *walk);
struct walk_entry *walk_find(const struct walk_folder *folder,
			     const char *name);
void walk_clear_added(struct walk *walk);
