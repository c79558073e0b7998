/*
 * Test names on a line of their own, so that they can be read back: the form of
 * order files, written by `polygraph list --quiet` (reader: cli/order.c).
 */
#pragma once

#include "base/str.h"

/* \n, \t, \r, \\ and \xNN for the bytes that a line cannot hold. */
struct err *name_append(struct str *str, const char *name) _must_check_;
