/*
 * Functions of a program as somebody who wants to call them sees them: what they
 * are called in source code, what they take, what they give.
 *
 * Filled in from debug information (dwarf/routines.c); whoever writes calls as
 * source code reads it (repair/). Texts live as long as the list.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"
#include "base/vec.h"

enum routine_kind {
	ROUTINE_OTHER, /* nothing that a call could be written with */
	ROUTINE_VOID,
	ROUTINE_BOOL,
	ROUTINE_INTEGER,
	ROUTINE_FLOAT,
	ROUTINE_ENUM,
	ROUTINE_TEXT,	 /* char *, const char * */
	ROUTINE_STRING,	 /* std::string, std::string_view, also const & */
	ROUTINE_POINTER, /* to a struct or class, or to void */
	ROUTINE_OBJECT,	 /* a struct or class, or a reference to one */
};

/* What a function takes or gives; or what a variable holds. */
struct routine_value {
	enum routine_kind kind;
	bool reference;
	bool fixed;	     /* what is pointed or referred to is const */
	const char *type;    /* of structs, classes, enums: qualified; "" */
	const char *choices; /* of enums: enumerators, one a line; "" */
};

#define ROUTINE_PARAMETERS 6

struct routine {
	const char *name;   /* qualified, as a call has it: "app::reset" */
	const char *symbol; /* linkage name */
	const char *owner;  /* class whose object it is called on; NULL: none */
	const char *file;   /* where it is declared; NULL: unknown */
	unsigned line;
	uint64_t address; /* as loaded; 0: it has no code of its own */
	bool local;	  /* static: other files cannot name it */
	struct routine_value result;
	struct routine_value parameters[ROUTINE_PARAMETERS];
	size_t n;
};

/* A variable that a call may be given, or that a statement assigns to. */
struct routine_variable {
	const char *name;
	const char *file;
	uint64_t address; /* as loaded; 0: it has no place of its own */
	bool local;
	struct routine_value value;
};

struct routines {
	VEC(struct routine) functions;
	VEC(struct routine_variable) variables;
	struct strv texts; /* what they point to */
};

static inline void routines_free(struct routines *routines)
{
	vec_free(&routines->functions);
	vec_free(&routines->variables);
	strv_free(&routines->texts);
}
static inline void routines_freep(struct routines *routines)
{
	routines_free(routines);
}
