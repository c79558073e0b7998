#include "suite/agent_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"

/* From the program's own folder. */
static const char *const places[] = {
	"",
	"/../lib/polygraph",
	"/../lib/" POLYGRAPH_MULTIARCH "/polygraph",
	"/../lib64/polygraph",
};

struct err *agent_library_find(const char *name, char **ret)
{
	char self[4096];
	ssize_t got = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[got > 0 ? got : 0] = '\0';
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < ARRAY_SIZE(places); i++) {
		_cleanup_(freep) char *path = NULL;
		if (asprintf(&path, "%s%s/%s", self, places[i], name) < 0) {
			path = NULL;
			return err_nomem();
		}
		if (access(path, R_OK))
			continue;
		if (strpbrk(path, " :"))
			return err_create(ERR_SUITE,
					  "'%s' cannot be preloaded: its path "
					  "has a blank or a colon",
					  path);
		*ret = take_ptr(path);
		return NULL;
	}
	return err_create(ERR_SUITE, "%s is missing", name);
}
