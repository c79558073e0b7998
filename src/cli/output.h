/*
 * Where a report goes: pairs of --format and --output.
 *
 * Outputs belong to the formats just before them, else to those that follow:
 * "--format text --format json --output x.json" is text to standard output and
 * JSON to the file. A file is written next to its place and moved there when it
 * is whole, so that nobody ever reads half a report.
 */
#pragma once

#include "base/err.h"
#include "base/outfile.h"
#include "cli/common.h"
#include "report/report.h"

struct report_output {
	const struct report_format *format;
	const char *path;	    /* NULL: standard output */
	struct outfile_place place; /* of the path */
};

struct outputs {
	struct report_output *data;
	size_t n;
	size_t cap;
	struct report_style style;
	unsigned color; /* enum color */
};

/*
 * Pairs them and looks whether they can be written, before a long run finds
 * out at its end. @kind is the command, for the formats that cannot show it.
 * Paths stay those of @common.
 */
struct err *outputs_choose(const struct common_options *common,
			   const char *kind, struct outputs *ret) _must_check_;
void outputs_free(struct outputs *outputs);
static inline void outputs_freep(struct outputs *outputs)
{
	outputs_free(outputs);
}

struct err *outputs_write(const struct outputs *outputs,
			  const struct report *report) _must_check_;

/*
 * The same where something else than a struct report is written. @format is NULL
 * for the verdict alone, which the terminal gets where all else goes to files.
 */
typedef struct err *output_writer(const void *data,
				  const struct report_format *format,
				  const struct report_style *style, FILE *out);
struct err *outputs_write_by(const struct outputs *outputs,
			     output_writer *writer,
			     const void *data) _must_check_;

/* Writes what is left in standard output's buffer. */
struct err *output_flush_stdout(void) _must_check_;
/* Such a write failed because its reader has left. */
bool output_reader_left(void);
/* One that understands more than lines. */
bool output_is_terminal(int fd);
/* Whether text to @fd is coloured. */
bool output_color(unsigned color, int fd);
