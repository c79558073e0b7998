/*
 * Caches with entries, one a key: each test adds what it happens to need, so that
 * no two tests leave the same. What shows such a cache is that an entry is the
 * same whichever test adds it: others add it, too, in the suite or when they run
 * alone, and it never differs.
 *
 * A registry to which a test adds something of its own has no second test that
 * adds the same. Where slots are shared by many keys, entries differ, and nothing
 * is claimed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "pollution/pollution_internal.h"

/* A cache has at least so many tests that add to it. */
#define KEYED_ADDERS 3

struct keyed_entry {
	char *value; /* as shown */
	size_t test; /* that had it first */
};

struct keyed_root {
	size_t adders;
	bool differs;	/* an entry was another one after another test */
	bool confirmed; /* an entry was added by two tests, and was the same */
};

struct keyed {
	VEC(struct keyed_entry) entries;
	VEC(struct keyed_root) roots;
	struct map_text entry_numbers; /* path → entry */
	struct map_text root_numbers;  /* root → root */
	struct map_text adders;	       /* root and test → 1 */
};

struct err *keyed_create(struct keyed **ret)
{
	struct keyed *keyed = calloc(1, sizeof(*keyed));
	*ret = keyed;
	return keyed ? NULL : err_nomem();
}

void keyed_destroy(struct keyed *keyed)
{
	if (!keyed)
		return;
	for (size_t i = 0; i < keyed->entries.n; i++)
		free(keyed->entries.data[i].value);
	vec_free(&keyed->entries);
	vec_free(&keyed->roots);
	map_text_free(&keyed->entry_numbers);
	map_text_free(&keyed->root_numbers);
	map_text_free(&keyed->adders);
	free(keyed);
}

static struct err *keyed_root_number(struct keyed *keyed, const char *root,
				     uint64_t *ret)
{
	const struct keyed_root empty = {};
	if (map_text_get(&keyed->root_numbers, root, ret))
		return NULL;
	TRY(vec_push(&keyed->roots, empty));
	*ret = keyed->roots.n - 1;
	return map_text_put(&keyed->root_numbers, root, *ret);
}

static struct err *keyed_note_value(struct keyed *keyed, uint64_t root,
				    size_t test, const char *path,
				    const char *value)
{
	uint64_t number;
	if (change_is_nothing(value))
		return NULL;
	if (!map_text_get(&keyed->entry_numbers, path, &number)) {
		struct keyed_entry entry = { .test = test };
		TRY(str_copy(value, &entry.value));
		struct err *err = vec_push(&keyed->entries, entry);
		if (err) {
			free(entry.value);
			return err;
		}
		return map_text_put(&keyed->entry_numbers, path,
				    keyed->entries.n - 1);
	}
	const struct keyed_entry *entry = &keyed->entries.data[number];
	if (strcmp(entry->value, value) != 0)
		keyed->roots.data[root].differs = true;
	else if (entry->test != test)
		keyed->roots.data[root].confirmed = true;
	return NULL;
}

static struct err *keyed_note_adder(struct keyed *keyed, uint64_t root,
				    size_t test)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t known;
	TRY(str_appendf(&key, "%llu %zu", (unsigned long long)root, test));
	if (map_text_get(&keyed->adders, key.s, &known))
		return NULL;
	keyed->roots.data[root].adders++;
	return map_text_put(&keyed->adders, key.s, 1);
}

struct err *keyed_note(struct keyed *keyed, size_t test,
		       const struct change *change)
{
	uint64_t root;
	bool adds = false;
	if (change->where != CHANGE_MEMORY || change->first)
		return NULL;
	TRY(keyed_root_number(keyed, change->root, &root));
	for (size_t i = 0; i < change->n; i++) {
		const struct change_path *path = &change->paths[i];
		TRY(keyed_note_value(keyed, root, test, path->path,
				     path->before));
		TRY(keyed_note_value(keyed, root, test, path->path,
				     path->after));
		adds |= change_is_nothing(path->before);
	}
	return adds ? keyed_note_adder(keyed, root, test) : NULL;
}

bool keyed_is_cache(const struct keyed *keyed, const struct change *change)
{
	uint64_t number;
	if (change->where != CHANGE_MEMORY ||
	    !map_text_get(&keyed->root_numbers, change->root, &number))
		return false;
	const struct keyed_root *root = &keyed->roots.data[number];
	log_debug(LOG_POLLUTION,
		  "%s: %zu tests add to it, entries %s, %s by a second test",
		  change->root, root->adders,
		  root->differs ? "differ" : "are the same",
		  root->confirmed ? "added" : "not added");
	return root->adders >= KEYED_ADDERS && root->confirmed &&
	       !root->differs;
}
