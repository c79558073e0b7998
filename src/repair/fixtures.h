/*
 * Fixtures as text: which function of a file runs before or after a test.
 *
 * Known are members of the class that a test names (GoogleTest, CppUTest, and
 * constructors and destructors with Boost.Test, Catch2 and doctest), functions
 * that a test is registered with (cmocka, Check, GLib), and the setUp() and
 * tearDown() of Unity. What other files have is not seen.
 */
#pragma once

#include "repair/source.h"

struct source_fixture {
	struct source_span body;
	struct source_span name;
};

/* The next function from *@at on that is called like one; false: no more. */
bool fixture_next(const struct source_file *source, size_t *at,
		  struct source_fixture *ret);
/* What runs before the test with this body (@before), or after it. */
bool fixture_of(const struct source_file *source, struct source_span test,
		bool before, struct source_fixture *ret);
