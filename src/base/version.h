/* The version of the program; the build may set it. */
#pragma once

#ifndef POLYGRAPH_VERSION
#define POLYGRAPH_VERSION "0.1.0"
#endif

/* The commit that it was built from; "unknown" outside a git checkout. */
extern const char polygraph_commit[];
