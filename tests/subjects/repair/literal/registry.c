#include "registry.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	char *name;
	struct entry *next;
};

static struct entry *entries;

int registry_add(const char *name)
{
	struct entry *entry = malloc(sizeof(*entry));
	if (!entry || registry_has(name)) {
		free(entry);
		return -1;
	}
	entry->name = strdup(name);
	entry->next = entries;
	entries = entry;
	return 0;
}

int registry_remove(const char *name)
{
	for (struct entry **at = &entries; *at; at = &(*at)->next) {
		struct entry *entry = *at;
		if (strcmp(entry->name, name) != 0)
			continue;
		*at = entry->next;
		free(entry->name);
		free(entry);
		return 0;
	}
	return -1;
}

int registry_has(const char *name)
{
	for (struct entry *at = entries; at; at = at->next)
		if (!strcmp(at->name, name))
			return 1;
	return 0;
}

int registry_size(void)
{
	int n = 0;
	for (struct entry *at = entries; at; at = at->next)
		n++;
	return n;
}
