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

/* Memory of the C library that a function of it returns, each time the same. */
struct area_result {
	uint64_t start, end;
};

struct areas {
	VEC(struct area) all; /* by address */
	uint64_t mark;	      /* of the mappings when they were read */
	bool fresh;	      /* nothing can have changed since */
	VEC(struct area_result) results;
	/* What is below on the stack that it is in is no more; 0: not known. */
	uint64_t stack_pointer;
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
bool areas_is_result(const struct areas *areas, uint64_t address);
enum state_area areas_find(const struct areas *areas, uint64_t address);
