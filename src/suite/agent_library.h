/*
 * Where the libraries lie that are preloaded into tested programs: beside this
 * program, as it is built, or where it is installed.
 */
#pragma once

#include "base/err.h"

#define AGENT_LIBRARY_STATE "libpolygraph-agent.so"
#define AGENT_LIBRARY_CHOICES "libpolygraph-choices.so"

/*
 * Its path, the caller's. An error (ERR_SUITE) if it does not exist, or if
 * LD_PRELOAD cannot name it.
 */
struct err *agent_library_find(const char *name, char **ret) _must_check_;
