/*
 * Standard output and error of a tested program, captured.
 *
 * The program writes into two pipes; the controller drains them whenever it
 * wakes up. Cuts divide the streams into pieces, one per test. A program whose
 * standard output is a pipe buffers it, so at a cut some bytes may still be in
 * its own memory: the caller reads them there (from the program's stdio
 * structure) and passes them in; when they arrive through the pipe later, they
 * are skipped.
 *
 * Of each piece the first and the last OUTPUT_KEEP bytes are kept; what is
 * between them is counted and dropped. So a flood costs no memory and no disk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct output;

#define OUTPUT_KEEP ((size_t)64 << 10)

struct output_piece {
	char *text; /* standard output, then standard error */
	size_t n;
	uint64_t dropped;
};

struct err *output_create(bool pass_through, struct output **ret) _must_check_;
void output_destroy(struct output *output); /* NULL is fine */
static inline void output_destroyp(struct output **output)
{
	output_destroy(*output);
}

/* For the child: which descriptors become its 1 and 2. */
void output_ends(const struct output *output, int *ret_out, int *ret_err);
/*
 * What the program prints from now on: kept, and passed through where that was
 * asked for; kept only; or neither: then cuts and restarts do nothing either, so
 * that another process can run while the current piece waits. Returns what was
 * before.
 */
enum output_use { OUTPUT_SHOWN, OUTPUT_KEPT, OUTPUT_IGNORED };
enum output_use output_set_use(struct output *output, enum output_use use);
/* Reads what is there; never waits. True: one of the pipes was nearly full. */
bool output_drain(struct output *output);

/*
 * Bytes of standard output that are still in the program's memory belong to the
 * current piece, too. @text may be NULL if they are not needed.
 */
void output_take_over(struct output *output, const char *text, size_t pending);
/* The same, and ends the current piece. @ret NULL: it is thrown away. */
struct err *output_cut(struct output *output, const char *text, size_t pending,
		       struct output_piece *ret) _must_check_;
/* What the current piece has so far; it continues. */
struct err *output_peek(struct output *output, char **ret) _must_check_;
/* The program is gone; what comes next is another one's from the start. */
void output_restart(struct output *output);
