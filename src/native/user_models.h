/*
 * Functions that users say leave something open (suite_options.user_models), by
 * breakpoints: at each, arguments are kept; where it returns, the agent makes
 * the choice in the thread that does (models/choose_user.c), numbered as all
 * others are, and what it decided becomes the function's result.
 *
 * Calls are distinguished by thread and stack pointer, so they may nest. What a
 * function left by longjmp() or an exception never returned is forgotten.
 *
 * What it does not do: see calls that were inlined, or those that a framework's
 * own breakpoint lies at.
 */
#pragma once

#include "native/run.h"

struct user_models;

struct err *user_models_create(const struct suite_user_model *models, size_t n,
			       struct user_models **ret) _must_check_;
void user_models_destroy(struct user_models *models); /* NULL is fine */

/* The program, or more of its libraries, was loaded. */
struct err *user_models_attach(struct run *run) _must_check_;
/* Tells once which functions there are not. */
void user_models_tell(struct session *session);
