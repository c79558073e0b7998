/*
 * What the agent notes of process state (wire/state.h). Values are written
 * after the C library's function succeeded, without locks: of two threads that
 * change the same at once either may be the one that is noted, as either may
 * be the one that wins.
 */
#pragma once

#include "recorder/next_internal.h"
#include "wire/state.h"

#pragma GCC visibility push(hidden)

extern struct wire_state agent_state;
void state_begin(void);
/* random.c */
void random_begin(void);
_cold_ void state_asked(enum wire_asked what, const char *name);
_cold_ void state_wrote(enum wire_asked what, const char *name);

/* statics.c: @address is memory of the C library that was returned; or NULL. */
#define STATICS_TEXT 64 /* of a short text: longer than any of them */
void statics_note(const void *address, size_t n);

#pragma GCC visibility pop

static inline void state_changed(void)
{
	__atomic_fetch_add(&agent_state.changes, 1, __ATOMIC_RELEASE);
}

static inline void state_ask(enum wire_asked what, const char *name)
{
	if (unlikely(__atomic_load_n(&agent_state.log_reads, __ATOMIC_RELAXED)))
		state_asked(what, name);
}

/* It is set again; what it was no longer matters. */
static inline void state_write(enum wire_asked what, const char *name)
{
	if (unlikely(__atomic_load_n(&agent_state.log_reads, __ATOMIC_RELAXED)))
		state_wrote(what, name);
}
