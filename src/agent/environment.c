/*
 * LD_PRELOAD as the user had it. The controller prepends the agent: "AGENT" if
 * the variable was not set, "AGENT:OLD" if it was. It is restored in place,
 * before any code of the program runs, so neither the program nor what it
 * starts ever sees the agent.
 */
#include "agent/agent.h"

#include <link.h>

#define VARIABLE "LD_PRELOAD="

void environment_restore(char **envp)
{
	const struct link_map *own = lookup_own();
	if (!own || !own->l_name || !*own->l_name || !envp)
		return;
	for (char **entry = envp; *entry; entry++) {
		char *value = text_after(*entry, VARIABLE);
		const char *rest =
			value ? text_after(value, own->l_name) : NULL;
		if (!rest || (*rest && *rest != ':'))
			continue;
		if (*rest) {
			do
				*value++ = *++rest;
			while (*rest);
		} else {
			/* As unsetenv(3) does it. */
			for (char **to = entry; *to; to++)
				to[0] = to[1];
		}
		return;
	}
}
