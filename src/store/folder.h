/*
 * The folder of results, and who gets at it: only its owner reads it, and what
 * others can have put there is refused (base/trust.h).
 */
#pragma once

#include "base/err.h"

/* Makes the folder and an empty file for the database where they are missing. */
struct err *store_folder_make(const char *path) _must_check_;
