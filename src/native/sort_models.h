/*
 * std::sort, std::nth_element and std::partial_sort, by breakpoints: they are
 * templates, so their code is the program's own. Where one of them begins that was
 * not inlined, the agent puts the range into another order (models/sorting_std.c),
 * and then it is sorted: nothing of how elements are compared needs to be known.
 *
 * The range is in the registers of the first arguments. Debug information tells how
 * large elements are, and whether their bytes may be moved; where they may not, or it
 * is not known, nothing is done.
 *
 * What is asked for too often in a test is left alone for the rest of it.
 */
#pragma once

#include "native/run.h"

struct sort_models;

void sort_models_destroy(struct sort_models *models); /* NULL is fine */

/* The program, or more of its libraries, was loaded; does nothing without choices. */
struct err *sort_models_attach(struct run *run) _must_check_;
/* A test begins. */
struct err *sort_models_begin(struct run *run) _must_check_;
/* Tells what was left alone because of its elements. */
void sort_models_tell(struct session *session);
