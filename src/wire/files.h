/*
 * The log of file operations that the agent (in the tested process) keeps, for
 * the controller to read. Stopping an operation so that the controller can
 * examine it costs 20 times as much as writing down what it is about to change.
 *
 * The agent exports one object of this type, WIRE_FILES_SYMBOL. As long as
 * @active is 0, which only the controller changes, nothing is logged.
 *
 * The log is a ring in memory that is shared with the processes that fork(2)
 * makes: records follow each other from position @tail to position @head, the
 * place of a position being its remainder by @size. A record never wraps around
 * the end: there, one without content (WIRE_CALL_NONE) leads back to the
 * beginning.
 *
 * Invariants:
 *  1. A record is written before its operation takes place, and @before is what
 *     was there until then. The operation may fail.
 *  2. Where a record is not possible (the log is full, anything unusual), the
 *     operation is left to the C library, whose system call can be seen.
 *  3. Operations with a record are made by the one instruction that ends at
 *     @call_end.
 *  4. A record counts when its @position is its position plus 1, which is
 *     written last. A process that was killed may leave one that never counts.
 */
#pragma once

#include <stdint.h>

#define WIRE_FILES_MAGIC 0x73656c6979676c70ULL
#define WIRE_FILES_VERSION 1
#define WIRE_FILES_SYMBOL "polygraph_agent_files"

#define WIRE_FILES_SIZE (1ULL << 20) /* of the log */
#define WIRE_FILE_ALIGN 16
/* Larger files are not read; content up to WIRE_FILE_TEXT is kept. */
#define WIRE_FILE_LARGEST (1ULL << 20)
#define WIRE_FILE_TEXT 4096
#define WIRE_FILE_PATH 4096

enum wire_call {
	WIRE_CALL_NONE,
	WIRE_CALL_OPEN,	    /* @flags and @mode as of open(2) */
	WIRE_CALL_UNLINK,   /* of a file */
	WIRE_CALL_RMDIR,    /* of a folder */
	WIRE_CALL_RENAME,   /* of a file; the second path is the new name */
	WIRE_CALL_MKDIR,    /* @mode */
	WIRE_CALL_TRUNCATE, /* by its name */
	WIRE_CALLS,
};

/* What a name was: a file or a folder, or nothing. Times in ns since 1970. */
struct wire_file_state {
	uint32_t mode;	 /* with its type, as of stat(2); 0: absent */
	uint32_t hashed; /* 1: @hash is XXH3_64bits() of the content */
	/*
	 * 1: nothing else is known, but a record of the same name is
	 * before this one, and was not read when this was written.
	 */
	uint32_t seen, zero;
	uint64_t hash;
	uint64_t device, inode, size, links;
	uint32_t uid, gid;
	int64_t mtime, ctime, atime, btime; /* the last is 0: not known */
	uint64_t text; /* bytes of content in the record: all of it, or 0 */
};

struct wire_file {
	uint64_t position; /* plus 1, see above */
	uint32_t bytes;	   /* of the record, a multiple of WIRE_FILE_ALIGN */
	uint32_t call;	   /* enum wire_call */
	/* So far in a record that only leads on. */
	int32_t pid;
	uint32_t flags, mode;
	/*
	 * Absolute, links are not resolved, "." and ".." may occur: bytes of
	 * each without its 0; the second is empty where there is none.
	 */
	uint32_t path[2];
	uint32_t zero;
	struct wire_file_state before[2];
	/* Both paths, each with a 0; then both contents. */
	char data[];
};

struct wire_ring {
	uint64_t head; /* where the next record will be */
	uint64_t
		tail; /* where the controller continues reading; it writes this */
	uint64_t records;
	uint64_t refused; /* there was no room */
	uint64_t lost;	  /* took place without a record: only in a race */
	uint64_t zero[3];
	uint8_t data[WIRE_FILES_SIZE];
};

struct wire_files {
	uint64_t magic;
	uint32_t version;
	uint32_t active;   /* written by the controller */
	uint64_t ring;	   /* address of a struct wire_ring; 0: none */
	uint64_t size;	   /* WIRE_FILES_SIZE */
	uint64_t call_end; /* address after the instruction */
};
