#include "report/name.h"

#include <string.h>

struct err *name_append(struct str *str, const char *name)
{
	size_t n = strlen(name);
	/* A name of blanks would be a blank line; its first one is spelled. */
	if (n && strspn(name, " \t") == n) {
		TRY(str_appendf(str, "\\x%02x", (unsigned)name[0]));
		name++;
	}
	for (;;) {
		size_t plain = strcspn(name, "\\");
		TRY(str_append_escaped(str, name, plain));
		name += plain;
		if (!*name)
			return NULL;
		TRY(str_append(str, "\\\\"));
		name++;
	}
}
