/*
 * Masked names: names of files in which the parts that differ from run to run
 * are replaced by fixed words, so that a file has the same name in every run.
 *
 *	XXXXXX	characters that mkstemp(3) and the like generate (MADE_UP_SHOWN)
 *	PID	the number of a process
 *	DATE	a date near today
 *	*	at the end of a path: any name in that folder
 *
 * And masked values: texts of which two runs show which parts differ from run to
 * run, whatever they are (MASK_DIFFERS).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MASK_ANY "/*"
#define MASK_PID "PID"
#define MASK_DATE "DATE"
#define MASK_DIFFERS "…"
#define MASK_RANDOM_MKTEMP 10 /* characters that mktemp(1) makes up, at most */
/* Digits that File.createTempFile() of Java does: a random number of 64 bits. */
#define MASK_RANDOM_MAX 20
/* Fewer than these one in a thousand has. */
#define MASK_LONG_NUMBER 16

/* Does @name contain one of them? */
bool masked_name(const char *name);
/* Where @name has such a long number, and how long; NULL: it has none. */
const char *masked_long_number(const char *name, size_t *ret_n);
/* Is @path, or a folder above it, one that @masked stands for? */
bool masked_fits(const char *masked, const char *path);
/*
 * The length of a date that @text begins with: 2026-11-15, 2026_11_15,
 * 2026.11.15 or 20261115; 0: it does not. Its day is counted from 1970.
 */
size_t masked_date(const char *text, int64_t *ret_day);
/*
 * @text, of which another run had @other: with words that differ shown as
 * MASK_DIFFERS. Numbers are one word, and so are letters, digits and '_'. *@ret
 * NULL: they are equal.
 */
struct err *masked_differs(const char *text, const char *other,
			   char **ret) _must_check_;
/* The same, in place. */
struct err *masked_replace(char **text, const char *other) _must_check_;
