/*
 * Process state: everything a process hands on from test to test that is
 * neither memory of the program nor a file.
 *
 * One table (table.c) has a row an attribute: its name, how it is read, what
 * may change it, what a change of it is worth. An attribute has items, each a
 * key and a text: the environment one a variable, the working directory just
 * one. A change is an item that differs; its root is "name" or "name[key]".
 *
 * Rows that only system calls change are read again only when such a call was
 * followed (attributes_dirty()); the others are read at each point, as cheaply
 * as they can be: by the kernel's files, by what the agent notes (wire/state.h),
 * by reading the C and C++ library's variables.
 *
 * attributes_dirty() and _touched() may be called from another thread at any time;
 * all other calls must come from one thread.
 */
#pragma once

#include "base/err.h"
#include "follow/follow.h"
#include "suite/change.h"
#include "tracee/tracee.h"

struct attributes;
struct pids;

struct attributes_options {
	/* Where a variable or function of the program is; 0: it has none. */
	uint64_t (*symbol)(void *data, const char *name);
	/* The function at an address, for a person. */
	bool (*function)(void *data, uint64_t address, char *out, size_t n);
	/* Loaded files of the program, in their order; NULL ends them. */
	const char *(*library)(void *data, size_t index);
	void *data;
	/* Files below it are called by their path from there; or NULL. */
	const char *directory;
	uint64_t agent; /* address of its struct wire_state; 0: none */
	bool raised;	/* exceptions that calculations raised count, too */
	bool followed;	/* attributes_dirty() and _touched() will be called */
	/* Variables that the tool set: never reported. Ends with NULL; or NULL. */
	const char *const *own_variables;
	/* Descriptors of the tool in the tested process: never reported. */
	const int *own;
	size_t n_own;
	/*
	 * For attributes_capture_outside(). Is this descriptor or mapping, by
	 * its path or in words ("socket unix"), not the tests' doing? And the
	 * processes that it started and that lost their parents. Or NULL.
	 */
	bool (*ignores)(void *data, const char *thing, bool writes);
	struct err *(*orphans)(void *data, struct pids *ret);
	/* Descriptors are called by what they refer to, not by their numbers. */
	bool unnumbered;
};

struct err *attributes_create(const struct attributes_options *options,
			      struct attributes **ret) _must_check_;
void attributes_destroy(struct attributes *attributes); /* NULL is fine */
static inline void attributes_destroyp(struct attributes **attributes)
{
	attributes_destroy(*attributes);
}

/* These (enum follow_state) may have changed. */
void attributes_dirty(struct attributes *attributes, unsigned states);

/*
 * So was this file (any path that was followed; NULL is fine): POSIX objects are
 * files of a folder that all processes share, and only their names show who
 * changed them.
 */
void attributes_touched(struct attributes *attributes, const char *path);

/*
 * A point, with all threads stopped: what changed since the last one is
 * appended to @ret (CHANGE_PROCESS), or forgotten where that is NULL. The first
 * one compares with nothing.
 */
struct err *attributes_capture(struct attributes *attributes,
			       struct thread *thread,
			       struct changes *ret) _must_check_;
/*
 * The same of a process that is not traced: rows that the kernel's files are
 * enough for. It may run on meanwhile.
 */
struct err *attributes_capture_outside(struct attributes *attributes, pid_t pid,
				       struct changes *ret) _must_check_;
/* Is this change undone as of the last point? */
bool attributes_undone(const struct attributes *attributes,
		       const struct change *change);

/* What could not be looked at, and why; NULL: all could. */
const char *attributes_limit(const struct attributes *attributes);

/* Files that are open for writing, as of the last point. */
struct attributes_file {
	const char *path;
	uint64_t device, inode;
};
const struct attributes_file *
attributes_files(const struct attributes *attributes, size_t *ret_n);
/* Files that are mapped, shared and writable, likewise. */
const struct attributes_file *
attributes_mapped(const struct attributes *attributes, size_t *ret_n);

/*
 * What whole processes leave in the system, for suites of processes: System V
 * and POSIX shared memory, semaphores, message queues, ports, and processes
 * that descend from us but not from @known.
 */
struct system_state;
struct err *system_state_create(struct system_state **ret) _must_check_;
void system_state_destroy(struct system_state *state); /* NULL is fine */
/* As attributes_touched(): POSIX objects are reported only where it was called. */
void system_state_touched(struct system_state *state, const char *path);
/* @children: of the test that just ended and alive; with their names looked up. */
struct err *system_state_capture(struct system_state *state,
				 const pid_t *children, size_t n_children,
				 struct changes *ret) _must_check_;

/* Does this call (FOLLOW_LOOKED, FOLLOW_STATE) read, or set, that attribute? */
bool attribute_concerns(const char *root, const struct follow_event *event);
/* The states (enum follow_state) that it is of; 0: of none. */
unsigned attribute_states(const char *root);

/* For documentation and tests: the table, one after the other; NULL ends it. */
struct attribute_row {
	const char *name;
	const char *what; /* one sentence */
	const char *how;  /* how it is read */
};
bool attributes_row(size_t index, struct attribute_row *ret);
