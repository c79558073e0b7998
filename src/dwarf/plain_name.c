#include <string.h>

#include "dwarf/index_internal.h"

char *object_plain_name(const char *symbol)
{
	char *plain = demangle(symbol);
	return plain ? plain : strdup(symbol);
}
