/*
 * Which tests read files and process state that others left changed: the
 * system calls of the process, reading ones too, are followed (follow/), and
 * the agent notes what is asked of the C library (wire/state.h). For places.c
 * alone.
 */
#pragma once

#include "watch/host.h"

struct readers;

/* Of @list those that are not memory; *@ret is NULL where there are none. */
struct err *readers_create(const struct watch_host *host,
			   const struct suite_place *list, size_t n,
			   struct readers **ret) _must_check_;
void readers_destroy(struct readers *readers); /* NULL is fine */

struct err *readers_start(struct readers *readers,
			  const struct watch_process *process) _must_check_;
void readers_stop(struct readers *readers);
void readers_begin(struct readers *readers, struct tracee *tracee);
/* Tells the observer what @test read since readers_begin(). */
void readers_end(struct readers *readers, struct tracee *tracee, size_t test);
