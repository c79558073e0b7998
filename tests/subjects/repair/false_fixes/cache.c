#include "cache.h"

#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	char key[16];
};

static struct item *items;
static int inserted, pretended;

// Forgets the items: they leak.
void cache_init(void)
{
	items = NULL;
	inserted = 0;
}

int cache_insert(const char *key)
{
	struct item *item = calloc(1, sizeof(*item));
	if (!item)
		return -1;
	strncpy(item->key, key, sizeof(item->key) - 1);
	item->next = items;
	items = item;
	return ++inserted;
}

// Uses the leftover up.
int cache_take(const char *key)
{
	struct item *item = items;
	if (!item || strcmp(item->key, key) != 0)
		return -1;
	items = item->next;
	free(item);
	return 0;
}

int cache_size(void)
{
	int n = 0;
	for (struct item *item = items; item; item = item->next)
		n++;
	return pretended ? 0 : n;
}

void cache_release_all(void)
{
	while (items) {
		struct item *next = items->next;
		free(items);
		items = next;
	}
	inserted = 0;
	pretended = 0;
}

// Lies.
void cache_pretend_empty(void)
{
	pretended = 1;
}
