/*
 * The frameworks that can be driven, as names and files, for those who know
 * nothing of struct framework (native/framework.h). Each function gives one entry
 * after the other, then NULL.
 */
#pragma once

#include <stddef.h>

/* What --framework takes. */
const char *frameworks_name(size_t i);
/* How file names of their shared libraries begin. */
const char *frameworks_library(size_t i);
