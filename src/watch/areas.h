/*
 * What lies where in a tracee, as far as a walk over its memory needs to know:
 * which addresses may be looked into (state.h, enum state_area).
 */
#pragma once

#include "program/program.h"
#include "state/state.h"

struct area {
	uint64_t start, end;
	enum state_area kind;
	bool module; /* of a file that the loader mapped */
};

struct areas {
	VEC(struct area) all; /* by address */
	uint64_t pages;	      /* of the process, when it was read */
	bool fresh;	      /* nothing can have changed since */
};

/*
 * Reads it if the process has other mappings than the last time; nothing
 * happens until areas_forget() says that it ran since.
 */
struct err *areas_load(struct areas *areas, const struct program *program,
		       struct tracee *tracee, bool blocks_known) _must_check_;
static inline void areas_forget(struct areas *areas)
{
	areas->fresh = false;
}
void areas_free(struct areas *areas);
enum state_area areas_find(const struct areas *areas, uint64_t address);
