/*
 * What kept states are made of, for keep.c, keep_put.c and keep_contents.c.
 *
 * Names are examined relative to an open folder, and what is there is opened
 * once without being followed (O_PATH): all else goes through that descriptor,
 * so that nothing that is swapped in the meantime leads elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file_state.h"
#include "base/map.h"
#include "base/str.h"
#include "base/strv.h"
#include "base/vec.h"
#include "keep/keep.h"

/* ---- extended attributes ---- */

struct xattr {
	char *name;
	char *value;
	size_t n;
};

/* Sorted by name; shared, as contents are. */
struct xattrs {
	size_t refs;
	size_t n;
	struct xattr list[];
};

/* ---- contents ---- */

struct content {
	uint64_t low, high; /* its hash */
	uint64_t size;
	char *data;	 /* NULL: it is in the spill file … */
	uint64_t offset; /* … there */
	size_t refs;	 /* of nodes; 0: dropped when room is needed */
	struct content *next;
};

/* What a file was when it was examined or written last. */
struct seen {
	struct file_state attr;
	struct content *content;
	struct xattrs *xattrs; /* NULL: none */
	bool racy;	       /* a change may have got the same times */
};

struct keep_contents {
	struct map_u64 by_hash; /* to struct content *, chained */
	struct map_u64 seen;	/* inode to struct seen * */
	uint64_t bytes;		/* of all */
	uint64_t memory;	/* of those that are in memory */
	int spill;
	uint64_t spill_end;
};

#define CONTENTS_INIT                                                          \
	{                                                                      \
		.spill = -1                                                    \
	}

void keep_contents_free(struct keep_contents *contents);
/*
 * That of the file @fd; the caller holds a reference then. *@ret_why says why
 * there is none, NULL: there is.
 */
struct err *keep_contents_take(struct keep_contents *contents, int fd,
			       struct content **ret,
			       const char **ret_why) _must_check_;
void content_ref(struct content *content);
void content_unref(struct content *content); /* NULL is fine */
/* Does the file @fd have that content? */
bool content_is(const struct content *content, int fd);
/* Writes it from the beginning and cuts off the rest; else errno is set. */
bool content_write(const struct keep_contents *contents,
		   const struct content *content, int fd);

/* NULL: the file is not known as it is now. */
const struct seen *keep_contents_seen(const struct keep_contents *contents,
				      const struct file_state *attr);
/* Was this inode ever taken or made here? */
bool keep_contents_knows(const struct keep_contents *contents,
			 const struct file_state *attr);
struct err *keep_contents_note(struct keep_contents *contents,
			       const struct file_state *attr,
			       struct content *content,
			       struct xattrs *xattrs) _must_check_;

/* Of what @fd (O_PATH is fine) is open on; NULL: none. */
struct err *xattrs_take(int fd, struct xattrs **ret) _must_check_;
struct xattrs *xattrs_ref(struct xattrs *xattrs); /* NULL is fine */
void xattrs_unref(struct xattrs *xattrs);	  /* NULL is fine */
static inline void xattrs_unrefp(struct xattrs **xattrs)
{
	xattrs_unref(*xattrs);
}
bool xattrs_same(const struct xattrs *a, const struct xattrs *b);
/* Makes @now what @want is; 0, or errno. */
int xattrs_put(int fd, const struct xattrs *now, const struct xattrs *want);

/* ---- states ---- */

/* One name: a file, or a folder and what is in it. */
struct keep_node {
	char *name; /* "": that of the given path */
	struct file_state attr;
	struct content *content; /* of a file */
	char *target;		 /* of a link */
	struct xattrs *xattrs;
	/* The file itself, open (O_PATH), plus 1; 0: its content is enough. */
	int held;
	struct keep_node *children; /* of a folder, sorted by name */
	size_t n;
	bool alone; /* is left alone: not ours to read, or mounted */
};

const struct keep_node *node_child(const struct keep_node *node,
				   const char *name);

struct ancestor {
	uint32_t mode, uid, gid;
};

struct told_path {
	char *shown; /* as it was given */
	char *path;  /* absolute, its folder without links */
	char *name;  /* in its folder; "." for the root */
	/* Of each folder on the way, the outermost first; as they were. */
	VEC(struct ancestor) ancestors;
	bool shallow; /* of a folder its attributes only */
	bool said;    /* it was said that it is lost */
};

/* What was there at a given path. */
struct kept_path {
	struct keep_node *node; /* NULL: nothing */
	bool lost;
	bool covered; /* a given folder contains it */
};

struct kept {
	size_t n;
	struct kept_path paths[];
};

struct keeper {
	VEC(struct told_path) told; /* sorted: folders before what is in them */
	VEC(char *) lost;
	struct keep_contents contents;
	uint64_t cwd_dev, cwd_ino;
	int64_t since;	     /* what is older was not made by tests … */
	struct map_u64 safe; /* … and is gone for good, unless it is here */
	bool began;	     /* a state was taken: later ones are of tests */
	size_t held;	     /* files that are held open */
};

/* May this file go, so that nothing is lost? */
bool keeper_may_remove(const struct keeper *keeper,
		       const struct file_state *attr);

/* Says it once per path. @name: of what is below; "": the path itself. */
void keeper_lose(struct keeper *keeper, struct told_path *told,
		 const char *name, const char *why);
/* The folder that contains @told, O_PATH; -1: errno. */
int told_open(const struct told_path *told, bool make);

/* One more path, after the others; existing states do not have it. */
struct err *keeper_add(struct keeper *keeper, const char *path) _must_check_;
enum keep_take {
	TAKE_LATER,	 /* what tests left for now */
	TAKE_FIRST,	 /* what was there before them */
	TAKE_FIRST_OPEN, /* and the tested program has it open */
};
struct err *keeper_take_one(struct keeper *keeper, size_t i,
			    enum keep_take take,
			    struct kept_path *ret) _must_check_;
/* What is to be at the path @i. */
struct keep_target {
	size_t i;
	const struct kept_path *want;
};
/* One after the other. */
struct err *keeper_put_back_each(struct keeper *keeper,
				 const struct keep_target *targets,
				 size_t n) _must_check_;
void kept_path_free(struct kept_path *path);

/* ---- names ---- */

/* The tool's own, which changes while it runs: never kept or removed. */
#define KEEP_OWN ".polygraph"

/* Sorted. False: errno is set (EOVERFLOW: more than @limit). */
bool keep_names_list(int fd, size_t limit, struct strv *ret);

/* Through /proc: of what an O_PATH descriptor is open on. */
int keep_open(int fd, int flags);
int keep_chmod(int fd, uint32_t mode);
/*
 * What its owner, us, may not do for want of @mode is allowed for a moment;
 * true: the mode has to be restored. Extended attributes are read and written
 * by those who may read and write the file.
 */
bool keep_unlock(int fd, const struct file_state *attr, uint32_t mode);
/* Opens a folder to be listed, for which its mode may have to be changed. */
int keep_open_folder(int fd, const struct file_state *attr);
