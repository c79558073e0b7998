/* What the subject of the images' test says at each boundary. */
#pragma once

#include <stdint.h>

#define SUBJECT_AREAS 64
#define SUBJECT_EXPECTED 256
#define SUBJECT_BEGIN "begin"
#define SUBJECT_END "end"
/* Boundaries after which @block is live, and dead again. */
#define SUBJECT_ALLOCATED "a block"
#define SUBJECT_FREED "a block freed"
#define SUBJECT_BLOCK_SIZE 100

#define SUBJECT_UNTOUCHED (64 << 20)

/* After this one, the byte at @block is to be written from outside. */
#define SUBJECT_POKE "poke"
/* Its argument for a large state instead of many kinds of changes. */
#define SUBJECT_LARGE "large"

/* For a mapping that is watched by the program itself. */
#define SUBJECT_WATCHES "watches"
/* For another program in its place after the beginning. */
#define SUBJECT_EXECUTES "executes"

enum subject_kind {
	SUBJECT_CHANGED,
	SUBJECT_NEW,	   /* was not there before */
	SUBJECT_TOUCHED,   /* either of the two: it was there without rights */
	SUBJECT_GONE,	   /* is not there any more */
	SUBJECT_GONE_ZERO, /* the same, if anybody remembers it */
	SUBJECT_MAYBE_NEW, /* may be told as new */
};

struct subject_expected {
	uint64_t page;
	uint64_t kind;
};

struct subject_area {
	uint64_t start;
	uint64_t end;
};

/* At a boundary: its address in the first argument, a name in the second. */
struct subject_step {
	uint64_t agent; /* its table; 0: it is not there */
	uint64_t block;
	uint64_t untouched; /* SUBJECT_UNTOUCHED bytes that nobody writes */
	uint64_t areas_n;
	struct subject_area areas[SUBJECT_AREAS];
	uint64_t expected_n;
	struct subject_expected expected[SUBJECT_EXPECTED];
};
