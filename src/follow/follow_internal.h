/* The room's own: the table of calls, the filter made of it, the follower. */
#pragma once

#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>

#include "follow/follow.h"

/* ---- the table (table.c) ---- */

/* An argument of a system call; rows leave out what a call does not have. */
enum arg { NO_ARG, A0, A1, A2, A3, A4, A5 };

enum when_op {
	NEVER,
	ALWAYS,
	ANY,	/* any bit of @value is set in the argument's lower half */
	NONE,	/* none is */
	GIVEN,	/* all 64 bits: a pointer that is not NULL */
	NOT,	/* its lower half is not @value */
	ONE_OF, /* it is one of @list, which ends with 0 */
	MAPS,	/* mmap of a file or shared, but not by the dynamic linker */
};

/* A question that a filter can answer: registers only. */
struct when {
	enum when_op op;
	enum arg arg;
	uint32_t value;
	const uint32_t *list;
};

/* Is a symbolic link at the end of the path followed? */
enum last {
	LAST_NO,
	LAST_YES,
	LAST_OPEN,	  /* as open(2) does, by its flags */
	LAST_AT_NOFOLLOW, /* but with AT_SYMLINK_NOFOLLOW */
	LAST_AT_FOLLOW,	  /* only with AT_SYMLINK_FOLLOW */
};

/* What lies in memory instead of registers. */
enum shape { SHAPE_PLAIN, SHAPE_OPENAT2, SHAPE_CREAT, SHAPE_ADDRESS };

/*
 * One system call. It has up to four sides, each told when its condition
 * holds: a change of files (@kind), reading them (@read_kind), a change of
 * process state (@states), and asking for state (@looks).
 *
 * To add a call: its row in table.c, and a line of tests/unit/subject_follow.h.
 */
struct call {
	unsigned number;
	enum shape shape;
	struct when changes;
	enum follow_kind kind;
	struct when reads;
	enum follow_kind read_kind;
	/* Its names. No @path: @dir is the file itself. */
	enum arg dir, path;
	enum last last;
	enum arg dir2, path2;
	enum arg at;	/* AT_… flags */
	enum arg flags; /* told as they are */
	enum arg mode;
	struct when sets;
	unsigned states;
	struct when asks;
	unsigned looks;
	bool waits; /* it may wait for something: signals are to interrupt it */
	/* Wanted by ourselves, for what it does to names: */
	bool moves; /* folders, or what relative ones are relative to */
	bool roots; /* what absolute ones mean */
};

extern const struct call follow_calls[];
extern const size_t follow_calls_n;

bool when_holds(const struct when *when, const uint64_t args[6]);
/* @flags of enum follow_flags: the conditions that are wanted, at most 4. */
size_t call_conditions(const struct call *call, unsigned flags,
		       const struct when *ret[4]);

/* ---- the filter (filter.c) ---- */

#define FILTER_MAX 1024

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short n;
};
void filter_build(struct filter *filter, unsigned flags);
/* Is the held call one that only shows what is not seen? Then it is noted. */
bool filter_notes_unseen(struct follow *follow,
			 const struct seccomp_data *data);

/* What older headers lack. */
#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* ---- names of folders (folders.c) ---- */

#define FOLDERS_N 64
#define FOLDERS_DIRECTORIES 16
#define FOLDERS_MOVING 64

struct folders {
	struct folder *kept;	       /* FOLDERS_N of them */
	struct directory *directories; /* FOLDERS_DIRECTORIES */
	/* Callers that are about to move folders; see folders_move(). */
	pid_t moving[FOLDERS_MOVING];
	size_t moving_n;
	uint64_t look_at; /* when to look whether they are alive */
};
struct err *folders_init(struct folders *folders) _must_check_;
void folders_free(struct folders *folders);
/* Its name without links and dots, as of folders_keep(); false: not known. */
bool folders_find(struct folders *folders, const char *path, char *out);
void folders_keep(struct folders *folders, const char *path, int fd,
		  const char *name);
/* The same for a caller's working directory. */
bool folders_directory(struct folders *folders, pid_t tid, char *out);
void folders_keep_directory(struct folders *folders, pid_t tid,
			    const char *name);
/* This caller may now move or remove a folder, or itself, or mount something. */
void folders_move(struct folders *folders, pid_t tid);
/* It makes another call: that is over. */
void folders_moved(struct folders *folders, pid_t tid);

/* ---- names (path.c) ---- */

#define NAMES_TASKS 16

enum found {
	FOUND,
	NAMELESS, /* certainly no name: a pipe, an unlinked file */
	UNKNOWN,
};

struct caller_names {
	/* Folders of /proc; one of a process that is gone answers ESRCH. */
	struct {
		pid_t tid;
		int fd;
	} tasks[NAMES_TASKS];
	size_t next;
	int own_fds;  /* /proc/self/fd */
	char own[32]; /* "/proc/PID" */
	bool careful; /* somebody may have another root than we */
	bool failed;  /* something could not be looked up just now */
	struct folders folders;
	char root[PATH_MAX]; /* the caller's, where it is another */
	char text[PATH_MAX];
	char work[2 * PATH_MAX];
};

struct err *names_open(struct caller_names *names) _must_check_;
void names_close(struct caller_names *names);

/* Up to @n bytes of a process, fewer where they cannot be read. */
size_t names_read(pid_t tid, uint64_t address, void *out, size_t n);
/* A path of the process, into names->text; false: none can be read. */
bool names_text(struct caller_names *names, pid_t tid, uint64_t address);
/* The file a descriptor of it refers to. @out has PATH_MAX bytes. */
enum found names_descriptor(struct caller_names *names, pid_t tid, int fd,
			    char *out);
/* names->text, relative to @dir (AT_FDCWD: its directory). */
enum found names_resolve(struct caller_names *names, pid_t tid, int dir,
			 bool follow, char *out);
/* The same with all links as they are; UNKNOWN in another root than ours. */
enum found names_given(struct caller_names *names, pid_t tid, int dir,
		       char *out);

/* ---- the follower (follow.c) ---- */

struct follow {
	struct follow_options options;
	struct filter filter;
	int listener;
	int ends[2]; /* of the child's way to hand it over; see child.c */
	const struct call *calls[512]; /* by number */

	pthread_t thread;
	bool started;
	sem_t go; /* the listener is there, or never will be */
	atomic_bool end;
	atomic_bool ended;
	atomic_uint_least64_t told, ns;
	atomic_uint unseen; /* enum follow_unseen */

	/* Of the thread alone. */
	struct caller_names names;
	cpu_set_t all, now; /* processors we may use, and do */
	struct seccomp_notif *notif;
	struct seccomp_notif_resp *response;
	size_t notif_size, response_size;
	char path[PATH_MAX], path2[PATH_MAX];
	char given[PATH_MAX], given2[PATH_MAX];
};

struct err *follow_create(const struct follow_options *options,
			  struct follow **ret) _must_check_;
/* The thread first waits: after the filter is in place nothing may fail. */
struct err *follow_start(struct follow *follow) _must_check_;
void follow_go(struct follow *follow, int listener);

/* ---- what a held-back call means (tell.c) ---- */

/* Is a call that a signal took back to be made again? By its registers. */
bool follow_again(const struct thread *thread);
void follow_tell(struct follow *follow, const struct seccomp_notif *notif);
