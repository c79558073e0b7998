/*
 * What was there before any test changed it.
 *
 * Files and attributes are known by a number for their content. The number of a
 * variable's content goes only so deep: for memory each place that changed has to
 * be back, and the number if not all of them are known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "pollution/pollution_internal.h"

struct originals {
	struct map_text digests; /* "where root" → digest */
	struct map_text places;	 /* "root \n path", and with "\n value" → 1 */
};

struct err *originals_create(struct originals **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NULL : err_nomem();
}

void originals_destroy(struct originals *originals)
{
	if (!originals)
		return;
	map_text_free(&originals->digests);
	map_text_free(&originals->places);
	free(originals);
}

/* Is its content that of before? Notes it if this is its first change. */
static struct err *is_content_back(struct originals *originals,
				   const struct change *change, bool *ret)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t original;
	TRY(str_appendf(&key, "%d %s", change->where, change->root));
	if (map_text_get(&originals->digests, key.s, &original)) {
		*ret = change->digest == original;
		return NULL;
	}
	*ret = false;
	return map_text_put(&originals->digests, key.s, change->digest_before);
}

/* The same of one place in memory. */
static struct err *is_place_back(struct originals *originals, const char *root,
				 const struct change_path *path, bool *ret)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t known;
	TRY(str_appendf(&key, "%s\n%s", root, path->path));
	bool seen = map_text_get(&originals->places, key.s, &known);
	if (!seen)
		TRY(map_text_put(&originals->places, key.s, 1));
	TRY(str_appendf(&key, "\n%s", seen ? path->after : path->before));
	*ret = seen && map_text_get(&originals->places, key.s, &known);
	return seen ? NULL : map_text_put(&originals->places, key.s, 1);
}

/* Values that are shown in part, or by their number, may be others. */
static bool is_shown_in_part(const struct change *change)
{
	for (size_t i = 0; i < change->n; i++) {
		const char *value = change->paths[i].after;
		if (strstr(value, "…") || strstr(value, " element"))
			return true;
	}
	return change->more != 0;
}

struct err *originals_restored(struct originals *originals,
			       const struct change *change, bool *ret)
{
	*ret = false;
	if (change->where != CHANGE_MEMORY)
		return is_content_back(originals, change, ret);
	/* What was there before it was initialised is of no use. */
	if (change->first || !change->n)
		return NULL;
	bool all = true, whole;
	TRY(is_content_back(originals, change, &whole));
	for (size_t i = 0; i < change->n; i++) {
		bool back;
		TRY(is_place_back(originals, change->root, &change->paths[i],
				  &back));
		all &= back;
	}
	*ret = all && (!is_shown_in_part(change) ||
		       (whole && change->digest != change->digest_before));
	return NULL;
}
