/*
 * Which functions of the project can change some variables, by their code: those
 * that write them or take their address, and those that call such functions.
 *
 * It is a guess that ranks: a function that only reads a pointer from there may
 * write what it points to, and calls through pointers are not seen.
 */
#pragma once

#include "program/program.h"

struct writers;

/* The variables are @n places; @thread has the memory and the thread-locals. */
struct err *writers_find(const struct program *program, struct thread *thread,
			 const struct program_span *places, size_t n,
			 struct writers **ret) _must_check_;
void writers_destroy(struct writers *writers); /* NULL is fine */
/*
 * How far the function that begins at @address is from one of those places: 0 if
 * it writes it itself; WRITERS_FAR: it does not lead there.
 */
#define WRITERS_FAR ((unsigned)-1)
unsigned writers_distance(const struct writers *writers, uint64_t address);
