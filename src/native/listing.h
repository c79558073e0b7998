/*
 * Finding the tests of a program whose process stands where its first test is
 * about to run: from the framework's own list, or by runs in copies in which all
 * tests are skipped. Where these crash or hang, by one in which they run.
 */
#pragma once

#include "base/err.h"

struct session;

/* Adds them to the session's suite. */
struct err *listing_find(struct session *session) _must_check_;
