/*
 * What the kernel says about a process in /proc: its mappings, state, status
 * and children. The one reader of these files.
 *
 * Reading and parsing are apart. The parsers take bytes alone, and whatever
 * the bytes are, they end and stay inside: names in them are chosen by the
 * tested program and may hold blanks, parentheses, newlines and backslashes.
 *
 * A process may end at any moment. Reading then fails, or gives an empty text,
 * in which the parsers find nothing; callers treat both alike. A number may
 * have been given to another process in the meantime, unless the process is
 * traced by us or is a child that nobody has waited for.
 *
 * The libraries that are preloaded into tested programs do not use this: they
 * include nothing but wire/, and must not allocate.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strv.h"
#include "base/vec.h"

/* ---- files ---- */

/* The kernel puts this after the path of a file that no longer has a name. */
#define PROC_DELETED " (deleted)"

/*
 * Opens "/proc/PID/NAME", or "/proc/PID/task/TID/NAME" where @tid is not 0, with
 * @flags of open(2) and O_CLOEXEC. Less than 0: errno says why.
 */
int proc_open(pid_t pid, pid_t tid, const char *name, int flags);

/*
 * Reads all of @fd from its beginning. @ret is emptied first, its memory is
 * reused, and it ends in a NUL even if reading fails. The kernel makes most of
 * these files a page at a time, so one read(2) is not enough. A descriptor that
 * stays open can be read any number of times.
 */
struct err *proc_read_fd(int fd, struct str *ret) _must_check_;
/* The same for a file that the kernel makes as a whole (status): one call fewer. */
struct err *proc_read_whole_fd(int fd, struct str *ret) _must_check_;
struct err *proc_read(pid_t pid, pid_t tid, const char *name,
		      struct str *ret) _must_check_;

/*
 * The folder of our own program, by the name that it had when this was first
 * asked for: once the root folder is another, the kernel knows no name that leads
 * there. "": it has none.
 */
const char *proc_own_folder(void);

/* ---- maps ---- */

/* One line of proc_pid_maps(5). */
struct proc_mapping {
	uint64_t start, end; /* start < end */
	uint64_t offset;     /* in the file */
	uint64_t inode;	     /* 0: no file */
	dev_t device;
	bool readable, writable, executable, shared;
	/*
	 * Of the file, perhaps with PROC_DELETED, or a name in brackets, or "".
	 * Newlines are themselves again; the kernel writes them as \012. It
	 * does not escape the backslash, so a file whose name contains these
	 * four characters is taken for one with a newline.
	 */
	const char *path;
};

/*
 * The next mapping of a text of maps from *@at on, which moves past it; lines
 * of another form are skipped. False: there are no more. The text is changed,
 * and @path points into it.
 */
bool proc_next_mapping(char **at, struct proc_mapping *ret);

/* All mappings of a process, by address. */
struct proc_maps {
	struct str text;   /* what the paths point into */
	struct strv moved; /* or these: below folders of proc_add_folder() */
	struct proc_mapping *data;
	size_t n;
	size_t cap;
};

/*
 * Where an overlay lies on another one, the kernel names mapped files from the
 * root of the lower one, which no mount shows: fs/backing-file.c remembers the
 * path of the caller once, not twice. Mappings of files on @device are below
 * @folder then, unless their path leads to the file as it is. There may be
 * several folders on a device.
 */
struct err *proc_add_folder(dev_t device, const char *folder) _must_check_;

/* A process that has ended has none, or is an error once it was waited for. */
struct err *proc_read_maps(pid_t pid, struct proc_maps *ret) _must_check_;
/*
 * Of the text of statm: another number where mappings came or went, or part of a
 * reserve became writable. Some changes keep it, such as two that cancel out.
 */
uint64_t proc_mappings_mark(const char *text);
void proc_maps_free(struct proc_maps *maps);
static inline void proc_maps_freep(struct proc_maps *maps)
{
	proc_maps_free(maps);
}

/* ---- stat ---- */

/* Of a process or a thread (proc_pid_stat(5)). */
struct proc_stat {
	char state; /* 'R', 'S', 'Z', … */
	pid_t parent;
	unsigned flags; /* PF_… of the kernel's linux/sched.h */
	/* Page faults, of all threads where a process was asked for. */
	uint64_t minor_faults, major_faults;
	uint64_t start_ticks; /* since boot, sysconf(_SC_CLK_TCK) per second */
};

bool proc_parse_stat(const char *text, struct proc_stat *ret);
bool proc_read_stat_fd(int fd, struct proc_stat *ret);
/* @tid 0: of the process. @pid may be a thread's number, too. */
bool proc_read_stat(pid_t pid, pid_t tid, struct proc_stat *ret);

/* ---- status ---- */

/* The value of the line "NAME:\tVALUE" of a text of status. */
bool proc_status_field(const char *text, const char *name, char *out, size_t n);
bool proc_status_number(const char *text, const char *name, int base,
			uint64_t *ret);

#define PROC_NAME_MAX 64 /* 16 of a program, more of the kernel's own */

struct proc_status {
	char name[PROC_NAME_MAX]; /* as the process has it, without escapes */
	char state;
	pid_t parent;
	pid_t tracer; /* 0: none */
};

bool proc_parse_status(const char *text, struct proc_status *ret);
bool proc_read_status(pid_t pid, struct proc_status *ret);

/* From comm; @tid 0: of the process. */
bool proc_read_name(pid_t pid, pid_t tid, char out[PROC_NAME_MAX]);

/* ---- children ---- */

DEFINE_VEC(pids, pid_t)

bool pids_have(const struct pids *pids, pid_t pid);
/* Adds the numbers of a text of children: "12 15 ". */
struct err *proc_parse_children(const char *text,
				struct pids *ret) _must_check_;
/*
 * Adds the children that the thread @tid of @pid has started and that are alive
 * or not waited for. None where the process is gone or the kernel does not list
 * them (CONFIG_PROC_CHILDREN).
 */
struct err *proc_read_children(pid_t pid, pid_t tid,
			       struct pids *ret) _must_check_;
/* Adds its threads; none where the process is gone. */
struct err *proc_read_threads(pid_t pid, struct pids *ret) _must_check_;
