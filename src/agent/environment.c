/*
 * LD_PRELOAD as the user had it. The controller puts the agent in front:
 * "AGENT" where the variable was not set, "AGENT:OLD" where it was. It is put
 * back in place, before any code of the program runs, so neither the program
 * nor what it starts ever sees the agent.
 */
#include "agent/agent_internal.h"

#include <link.h>
#include <string.h>

#define VARIABLE "LD_PRELOAD="

void environment_restore(char **envp)
{
	const struct link_map *own = lookup_own();
	if (!own || !own->l_name || !*own->l_name || !envp)
		return;
	size_t n = strlen(own->l_name);
	for (char **entry = envp; *entry; entry++) {
		char *value = *entry + strlen(VARIABLE);
		if (strncmp(*entry, VARIABLE, strlen(VARIABLE)) != 0 ||
		    strncmp(value, own->l_name, n) != 0)
			continue;
		if (value[n] == ':') {
			memmove(value, value + n + 1,
				strlen(value + n + 1) + 1);
		} else if (value[n] == '\0') {
			/* As unsetenv(3) does it. */
			for (char **to = entry; *to; to++)
				to[0] = to[1];
		} else {
			continue;
		}
		return;
	}
}
