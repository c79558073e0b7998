/* Items: what an attribute is made of, and what differs between two points. */
#include <stdarg.h>
#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "attributes/attributes_internal.h"

uint64_t digest_of(const void *bytes, size_t n, uint64_t seed)
{
	uint64_t digest = XXH3_64bits_withSeed(bytes, n, seed);
	return digest ? digest : 1; /* 0 is what is absent */
}

static void item_free(struct item *item)
{
	free(item->key);
	for (unsigned i = 0; i < item->n; i++)
		free(item->fields[i].text);
}

void items_free(struct items *items)
{
	for (size_t i = 0; i < items->list.n; i++)
		item_free(&items->list.data[i]);
	vec_free(&items->list);
	*items = (struct items){};
}

struct err *items_add(struct items *items, const char *key, struct item **ret)
{
	static struct item spare; /* what is beyond all bounds goes here */
	if (items->list.n >= ITEMS_MAX) {
		item_free(&spare);
		spare = (struct item){};
		items->left_out++;
		*ret = &spare;
		return NULL;
	}
	struct item item = {};
	if (key) {
		item.key = strdup(key);
		if (!item.key)
			return err_nomem();
	}
	struct err *err = vec_push(&items->list, item);
	if (err) {
		free(item.key);
		return err;
	}
	*ret = &items->list.data[items->list.n - 1];
	return NULL;
}

struct err *item_text(struct item *item, const char *field, const char *text)
{
	BUG_ON(item->n == ITEM_FIELDS);
	char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	item->fields[item->n].name = field;
	item->fields[item->n++].text = copy;
	return NULL;
}

struct err *item_textf(struct item *item, const char *field, const char *fmt,
		       ...)
{
	char text[512];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return item_text(item, field, text);
}

struct err *items_one(struct items *items, const char *text)
{
	struct item *item;
	TRY(items_add(items, NULL, &item));
	return item_text(item, NULL, text);
}

struct err *text_quoted(struct str *out, const char *bytes, size_t n)
{
	size_t shown = n;
	if (n > TEXT_MAX) {
		shown = TEXT_MAX * 3 / 4;
		/* Not in the middle of a character. */
		while (shown > TEXT_MAX / 2 && (bytes[shown] & 0xc0) == 0x80)
			shown--;
	}
	TRY(str_append(out, "\""));
	TRY(str_append_n(out, bytes, shown));
	if (shown == n)
		return str_append(out, "\"");
	return str_appendf(out, "…\" (%zu bytes, hash %08x)", n,
			   (unsigned)digest_of(bytes, n, 0));
}

struct err *text_comma(struct str *out, const char *word)
{
	if (out->n)
		TRY(str_append(out, ", "));
	return str_append(out, word);
}

struct keyed_item {
	struct item item;
	size_t at;
};

/*
 * Of objects without a name the older one comes first: a new one must not take the number of one
 * that was there already, wherever the kernel lists it.
 */
static int by_key(const void *a, const void *b)
{
	const struct keyed_item *x = a, *y = b;
	int order = strverscmp(x->item.key ? x->item.key : "",
			       y->item.key ? y->item.key : "");
	if (!order)
		order = (x->item.changed > y->item.changed) -
			(x->item.changed < y->item.changed);
	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static struct err *items_sort_by_key(struct items *items)
{
	_cleanup_(freep) struct keyed_item *keyed =
		calloc(items->list.n, sizeof(*keyed));
	if (!keyed)
		return err_nomem();
	for (size_t i = 0; i < items->list.n; i++)
		keyed[i] = (struct keyed_item){ items->list.data[i], i };
	qsort(keyed, items->list.n, sizeof(*keyed), by_key);
	for (size_t i = 0; i < items->list.n; i++)
		items->list.data[i] = keyed[i].item;
	return NULL;
}

/* The second of a name is "NAME #2"; or goes where only the first counts. */
static struct err *tell_apart(struct items *items, bool unique)
{
	size_t kept = 0, same = 1;
	const char *first = NULL;
	struct item *list = items->list.data;
	for (size_t i = 0; i < items->list.n; i++) {
		char *key = list[i].key;
		if (!key || !first || strcmp(key, first) != 0) {
			list[kept] = list[i];
			first = list[kept++].key;
			same = 1;
			continue;
		}
		if (unique) {
			item_free(&list[i]);
			list[i] = (struct item){};
			continue;
		}
		char *numbered;
		if (asprintf(&numbered, "%s #%zu", key, ++same) < 0)
			return err_nomem();
		free(key);
		list[i].key = numbered;
		list[kept++] = list[i];
	}
	items->list.n = kept;
	return NULL;
}

struct err *items_finish(struct items *items, bool unique)
{
	for (size_t i = 0; i < items->list.n; i++) {
		struct item *item = &items->list.data[i];
		if (item->digest)
			continue;
		uint64_t digest = 0;
		for (unsigned f = 0; f < item->n; f++) {
			const char *text = item->fields[f].text;
			digest = digest_of(text, strlen(text) + 1, digest);
		}
		item->digest = digest_of(&digest, sizeof(digest), 0);
	}
	if (items->list.n < 2)
		return NULL;
	TRY(items_sort_by_key(items));
	TRY(tell_apart(items, unique));
	/* "x #2" may have to go elsewhere than "x". */
	return items_sort_by_key(items);
}

static int key_order(const struct item *a, const struct item *b)
{
	return strverscmp(a->key ? a->key : "", b->key ? b->key : "");
}

const struct item *items_find(const struct items *items, const char *key)
{
	const struct item wanted = { .key = (char *)key };
	size_t low = 0, high = items->list.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = key_order(&items->list.data[middle], &wanted);
		if (!order)
			return &items->list.data[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint64_t items_digest(const struct items *items)
{
	uint64_t digest = items->left_out;
	for (size_t i = 0; i < items->list.n; i++)
		digest = digest_of(&items->list.data[i].digest,
				   sizeof(uint64_t), digest);
	return digest_of(&digest, sizeof(digest), 0);
}

/* ---- comparing ---- */

static const char *field_text(const struct item *item, const char *name)
{
	for (unsigned i = 0; item && i < item->n; i++) {
		const char *own = item->fields[i].name;
		if (own == name || (own && name && !strcmp(own, name)))
			return item->fields[i].text;
	}
	return NULL;
}

static struct err *items_add_path(struct change *change, const char *field,
				  const char *before, const char *after)
{
	struct change_path *path = &change->paths[change->n];
	*path = (struct change_path){};
	if (asprintf(&path->path, "%s%s%s", change->root, field ? "." : "",
		     field ? field : "") < 0) {
		path->path = NULL;
		return err_nomem();
	}
	change->n++;
	path->before = strdup(before);
	path->after = strdup(after);
	return path->before && path->after ? NULL : err_nomem();
}

/* Where it is another one altogether, what else it has is its own. */
static bool is_another(const struct attribute *row, const char *from,
		       const char *to)
{
	return (row->read == read_handlers || row->read == read_descriptors) &&
	       from && to && strcmp(from, to) != 0;
}

static struct err *fill_paths(const struct attribute *row,
			      const struct item *before,
			      const struct item *after, struct change *change)
{
	const struct item *shape = after ? after : before;
	change->paths = calloc(ITEM_FIELDS + 1, sizeof(*change->paths));
	if (!change->paths)
		return err_nomem();
	const char *from = field_text(before, NULL);
	const char *to = field_text(after, NULL);
	bool all = before && after;
	if (!all) {
		const char *absent = row->absent ? row->absent : "absent";
		return items_add_path(change, NULL, from ? from : absent,
				      to ? to : absent);
	}
	if (is_another(row, from, to))
		return items_add_path(change, NULL, from, to);
	for (unsigned i = 0; i < shape->n; i++) {
		const char *name = shape->fields[i].name;
		from = field_text(before, name);
		to = field_text(after, name);
		from = from ? from : "unknown";
		if (strcmp(from, to) != 0)
			TRY(items_add_path(change, name, from, to));
	}
	if (change->n)
		return NULL;
	/* It looks the same, but is another one. */
	to = field_text(after, NULL);
	to = to ? to : "";
	_cleanup_(str_freep) struct str another = STR_INIT;
	TRY(str_appendf(&another, "another: %s", to));
	return items_add_path(change, NULL, to, another.s);
}

static bool only_offset(const struct change *change)
{
	for (size_t i = 0; i < change->n; i++) {
		if (!str_ends(change->paths[i].path, "].offset"))
			return false;
	}
	return change->n > 0;
}

static struct err *push_change(struct changes *ret, struct change *change)
{
	struct err *err = vec_push(ret, *change);
	if (err)
		change_free(change);
	return err;
}

static struct err *name_change(const struct attribute *row, const char *key,
			       struct change *change)
{
	int n = key ? asprintf(&change->root, "%s[%s]", row->name, key)
		    : asprintf(&change->root, "%s", row->name);
	if (n >= 0)
		return NULL;
	change->root = NULL;
	return err_nomem();
}

/*
 * Objects of the system stay, and so do children. What a descriptor refers to is
 * shared with the process that opened it.
 */
static bool items_are_outside(const struct attribute *row, bool was_there)
{
	return row->shared || !strcmp(row->name, "child") ||
	       (was_there && row->read == read_descriptors);
}

static struct err *add_change(const struct attribute *row,
			      const struct item *before,
			      const struct item *after, struct changes *ret)
{
	struct change change = { .where = CHANGE_PROCESS,
				 .weight = row->weight };
	struct err *err =
		name_change(row, after ? after->key : before->key, &change);
	if (!err)
		err = fill_paths(row, before, after, &change);
	if (err) {
		change_free(&change);
		return err;
	}
	change.digest_before = before ? before->digest : 0;
	change.digest = after ? after->digest : 0;
	change.first = before ? after && before->pristine : row->once;
	change.outside = items_are_outside(row, before);
	if (only_offset(&change))
		change.weight = WEIGHT_LOW;
	return push_change(ret, &change);
}

/* Where there are too many: one change for what was not reported. */
static struct err *add_rest(const struct attribute *row,
			    const struct items *before,
			    const struct items *after, size_t more,
			    struct changes *ret)
{
	struct change change = { .where = CHANGE_PROCESS,
				 .weight = row->weight };
	char from[64], to[64];
	snprintf(from, sizeof(from), "%zu in all",
		 before->list.n + before->left_out);
	snprintf(to, sizeof(to), "%zu in all, %zu more changed",
		 after->list.n + after->left_out, more);
	struct err *err = name_change(row, "*", &change);
	if (!err) {
		change.paths = calloc(1, sizeof(*change.paths));
		err = change.paths ? items_add_path(&change, NULL, from, to)
				   : err_nomem();
	}
	if (err) {
		change_free(&change);
		return err;
	}
	change.digest_before = items_digest(before);
	change.digest = items_digest(after);
	change.outside = items_are_outside(row, true);
	return push_change(ret, &change);
}

struct err *items_compare(const struct attribute *row,
			  const struct ipc_owner *owner,
			  const struct items *before, const struct items *after,
			  struct changes *ret)
{
	size_t told = 0, more = 0;
	size_t b = 0, a = 0;
	while (b < before->list.n || a < after->list.n) {
		const struct item *from =
			b < before->list.n ? &before->list.data[b] : NULL;
		const struct item *to =
			a < after->list.n ? &after->list.data[a] : NULL;
		if (from && to) {
			int order = key_order(from, to);
			if (order < 0)
				to = NULL;
			else if (order > 0)
				from = NULL;
		}
		b += from != NULL;
		a += to != NULL;
		if (from && to && from->digest == to->digest)
			continue;
		/* Without a value of its own it neither comes nor goes. */
		if ((!from || !to) && !field_text(from ? from : to, NULL))
			continue;
		if (owner && !ipc_is_own(owner, from, to))
			continue;
		if (told == CHANGES_MAX) {
			more++;
			continue;
		}
		TRY(add_change(row, from, to, ret));
		told++;
	}
	if (before->left_out != after->left_out)
		more += before->left_out > after->left_out
				? before->left_out - after->left_out
				: after->left_out - before->left_out;
	return more ? add_rest(row, before, after, more, ret) : NULL;
}
