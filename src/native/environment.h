/* The words that a tested program is started with: arguments, environment. */
#pragma once

#include "native/session.h"

/*
 * A copy of @words followed by @more; for arguments and the environment, where
 * variables in @more replace those of the same name.
 */
struct err *environment_copy_words(char *const *words, const char *const *more,
				   char ***ret) _must_check_;
void environment_free_words(char **words);

/*
 * What the session's program needs in its environment, as far as that is known:
 * before the framework is, the agent alone. Frees what was there before.
 */
struct err *environment_prepare(struct session *session) _must_check_;
/*
 * A sanitizer that looks for leaks when the program ends stops the program with
 * ptrace, which it cannot while we do. It says so and fails the whole program.
 */
bool environment_looks_for_leaks(const struct session *session);
