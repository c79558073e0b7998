/*
 * What to do about each finding: one sentence, made of its evidence.
 *
 * It names what is to be called or restored, and where. Code in it is what a test
 * could say as it stands, and what a patch would have (finding/statement.h); of
 * variables it is said which state they have to have. It is a suggestion: who
 * reads it knows the code.
 */
#pragma once

#include "finding/finding.h"

/*
 * Fills in the hints that are not there. @framework: of the suite, by its name
 * ("gtest"), for the words that its users have for set-up and tear-down. What a
 * test leaves that another one needs has the advice of that one.
 */
struct err *hints_make(struct findings *findings,
		       const char *framework) _must_check_;
