/* What the program that changes its process state says at each point. */
#pragma once

#include <stdint.h>

enum subject_phase {
	SUBJECT_BEGIN,	 /* the state to start from */
	SUBJECT_NOTHING, /* as at the last point */
	SUBJECT_CHANGED, /* @root went from @before to @after */
	SUBJECT_BACK,	 /* the other way round */
	SUBJECT_END,
};

/* Texts are patterns; NULL: anything. */
struct subject_point {
	uint32_t phase;
	uint32_t states; /* enum follow_state that did it */
	const char *name;
	const char *root;
	const char *path; /* NULL: as the root */
	const char *before, *after;
	const char *also; /* other roots that may change with it */
};
