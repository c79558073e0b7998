/*
 * Pictures as SVG, by Graphviz: what a cause has to do with which tests, and
 * memory before and after.
 *
 * Colours are left to the style sheet of the page, which knows whether it is
 * dark: what a node is, is its class ("leave", "root", "misled", "could",
 * "cleaner"; "was", "changed" and "same" for memory).
 *
 * Names come from the tested program. They are cut and escaped here; whoever
 * shows a picture lets through nothing but shapes and text.
 */
#pragma once

#include <jansson.h>

#include "report/cause.h"

struct pictures;

/* *@ret stays NULL where Graphviz cannot draw: then there are none. */
struct err *pictures_create(struct pictures **ret) _must_check_;
void pictures_destroy(struct pictures *pictures); /* NULL is fine */
static inline void pictures_destroyp(struct pictures **pictures)
{
	pictures_destroy(*pictures);
}

/* *@ret is malloc()ed, from "<svg" on; it stays NULL where there is none. */
struct err *picture_of_cause(struct pictures *pictures,
			     const struct cause *cause,
			     const struct roster *roster,
			     char **ret) _must_check_;
/* @finding: pollution of memory, as JSON has it; @side: "before" or "after". */
struct err *picture_of_memory(struct pictures *pictures, const json_t *finding,
			      const char *side, char **ret) _must_check_;
