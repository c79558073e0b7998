/*
 * Whose call is it? The library's own code is looked through where it only passes
 * on what the program asked for (collections, streams, files), and so are
 * assertions, which look at the program's objects for it. The first other frame
 * decides: the program's calls count, those of test frameworks, of tools that run
 * tests and of the rest of the library do not.
 */
#pragma once

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

/* Of the environment: it can say names, files and lines. */
void vm_callers_begin(jvmtiEnv *jvmti);

/*
 * The model as which a call of @model counts (a HashSet calls its HashMap), where
 * this thread's call is the program's; else -1.
 */
int vm_callers_model(int model);

/*
 * The program's frames of this thread, from the innermost on, as wire_choice.frames
 * has them; *@ret_n bytes, at most @size.
 */
void vm_callers_frames(unsigned char *out, size_t size, uint64_t *ret_n);

/*
 * The same of a thread that has no frame of the program: the innermost one of the
 * library that says what it waits for.
 */
void vm_callers_library_frame(unsigned char *out, size_t size, uint64_t *ret_n);
