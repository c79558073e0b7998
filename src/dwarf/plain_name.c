#include <string.h>

#include "dwarf/index_internal.h"

char *object_plain_name(const char *symbol)
{
	char *plain = demangle_name(symbol);
	return plain ? plain : strdup(symbol);
}

/* Into template arguments, or "{lambda(int)#1}", and out again. */
static void count_depth(char c, int *depth)
{
	*depth += c == '<' || c == '{';
	*depth -= (c == '>' || c == '}') && *depth > 0;
}

/* Where its parameters begin: a '(' outside those. */
static size_t name_length(const char *name)
{
	int depth = 0;
	for (size_t i = 0; name[i]; i++) {
		if (!strncmp(name + i, "operator", 8)) {
			/* operator(), operator<, operator->… */
			i += 8;
			i += strspn(name + i, "<>=!+-*/%&|^~[],");
			if (!strncmp(name + i, "()", 2))
				i += 2;
			if (!name[i])
				return i;
		}
		if (!strncmp(name + i, "(anonymous namespace)", 21)) {
			i += 20;
			continue;
		}
		count_depth(name[i], &depth);
		if (name[i] == '(' && !depth)
			return i;
	}
	return strlen(name);
}

/* Templates begin with their return type: where the name begins. */
static size_t name_start(const char *plain, size_t n)
{
	size_t start = 0;
	int depth = 0;
	for (size_t i = 0; i < n; i++) {
		count_depth(plain[i], &depth);
		if (plain[i] == ' ' && !depth && i + 1 < n &&
		    strncmp(plain + i, " namespace", 10) != 0)
			start = i + 1;
	}
	if (strstr(plain, "operator "))
		start = 0; /* conversions */
	return start;
}

char *object_function_name(const char *symbol)
{
	char *plain = object_plain_name(symbol);
	if (!plain || strncmp(symbol, "_Z", 2) != 0)
		return plain;
	size_t n = name_length(plain), start = name_start(plain, n);
	memmove(plain, plain + start, n - start);
	plain[n - start] = '\0';
	return plain;
}

char *object_function_call(const char *symbol)
{
	char *plain = object_plain_name(symbol);
	if (!plain || strncmp(symbol, "_Z", 2) != 0)
		return plain;
	size_t start = name_start(plain, name_length(plain));
	memmove(plain, plain + start, strlen(plain + start) + 1);
	return plain;
}
