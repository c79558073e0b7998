/*
 * What tests read from the file system, by name, and in which state that is:
 * what was learnt from running them holds only as long as all of it is the same.
 *
 *	inputs_begin(inputs), inputs_sink(inputs, event)
 *		while they run, as calls are followed
 *	TRY(inputs_pack(inputs, began, &text))
 *		when files are as they were before
 *	inputs_hold(own, text.s, n)
 *		in a later call: nothing differs
 *
 * An input is a name as the program gave it, so that a link that leads elsewhere
 * by now is noticed. One that was looked for in vain is an input, too. What
 * counts is what was asked for: of what was opened the content, of what was only
 * looked at size and time, of a folder that was listed the names in it.
 *
 * What does not count: names of pseudo file systems (/proc, /sys, devices), and
 * the tool's own folder of results.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "follow/follow.h"

struct inputs;

/* @own: the folder that does not count, absolute. */
struct err *inputs_create(const char *own, struct inputs **ret) _must_check_;
void inputs_destroy(struct inputs *inputs); /* NULL is fine */
static inline void inputs_destroyp(struct inputs **inputs)
{
	inputs_destroy(*inputs);
}

/* From now on they are seen; without that none are known. */
void inputs_begin(struct inputs *inputs);
/*
 * The sink for follow_options, with FOLLOW_FILES and FOLLOW_READS. NULL: a call
 * was not seen.
 */
void inputs_sink(void *data, const struct follow_event *event);
/* Something was not seen: it is not known what was read. Any thread. */
void inputs_lose(struct inputs *inputs);

/* Those of an earlier call. */
struct err *inputs_add(struct inputs *inputs, const char *text,
		       size_t n) _must_check_;
/*
 * All of them with their states now. It stays empty where they are not known, or
 * where one that tests only read is younger than @began (real time).
 */
struct err *inputs_pack(const struct inputs *inputs, int64_t began,
			struct str *ret) _must_check_;
/* Are they all in that state? False also where the text is not whole. */
bool inputs_hold(const char *own, const char *text, size_t n);
