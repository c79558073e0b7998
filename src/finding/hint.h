/*
 * What to do about a finding: one sentence, made of its evidence.
 *
 * It names what is to be called or restored, and where. It is a suggestion: who
 * reads it knows the code.
 */
#pragma once

#include "finding/finding.h"

/*
 * Fills in finding->hint, unless there is one. @framework: of the suite, by its
 * name ("gtest"), for the words that its users have for set-up and tear-down.
 */
struct err *hint_make(struct finding *finding,
		      const char *framework) _must_check_;
