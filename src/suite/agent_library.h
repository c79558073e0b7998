/*
 * Where the libraries lie that are preloaded into tested programs: beside this
 * program, as it is built, or where it is installed.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

#define AGENT_LIBRARY_STATE "libpolygraph-agent.so"
#define AGENT_LIBRARY_CHOICES "libpolygraph-choices.so"
/* Of Java VMs: the agent, and the classes that run the tests. */
#define AGENT_LIBRARY_JVM "libpolygraph-jvm.so"
#define AGENT_LIBRARY_JAR "polygraph-jvm.jar"
/* Of these, what the library itself calls while choices are made. */
#define AGENT_LIBRARY_BOOT "polygraph-boot.jar"
/* The locale that lies beside the latter: models/locale_internal.h. */
#define AGENT_LIBRARY_LOCALE "xx_XX.UTF-8"

/*
 * Its path, the caller's, as LD_PRELOAD can name it. Where the library lies below
 * a folder with a blank or a colon in its name, that is a link in a temporary
 * folder, which is removed at the end. ERR_SUITE if it does not exist.
 */
struct err *agent_library_find(const char *name, char **ret) _must_check_;
/*
 * Can a library be preloaded into this program? Not if it is linked statically
 * or for another machine. What is no program, or cannot be read, counts as one
 * into which it can: scripts are run by others.
 */
bool agent_library_fits(const char *program);
