/*
 * Which units of a build were compiled with which headers, as the build itself
 * recorded it: ninja's record, or the *.d files that a compiler wrote.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/strv.h"

/*
 * Calls @add with each unit that was compiled with one of these headers
 * (absolute paths), and adds all units to @listed. *@ret_known false: the build
 * has no such record.
 */
struct err *depends_read(const char *build, const struct strv *headers,
			 struct map_text *listed,
			 struct err *(*add)(void *data, const char *unit),
			 void *data, bool *ret_known) _must_check_;
