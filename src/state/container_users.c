/*
 * Users' rows: checked once, when the configuration is read, so that a mistake
 * is a sentence and not a row that never applies.
 */
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/containers_internal.h"

enum user_key {
	USER_FIRST = 1 << 0,
	USER_LAST = 1 << 1,
	USER_COUNT = 1 << 2,
	USER_NEXT = 1 << 3,
	USER_VALUE = 1 << 4,
	USER_ELEMENT = 1 << 5,
	USER_UNORDERED = 1 << 6,
};

static const struct {
	enum user_key key;
	const char *name;
} key_names[] = {
	{ USER_FIRST, "first" },	 { USER_LAST, "last" },
	{ USER_COUNT, "count" },	 { USER_NEXT, "next" },
	{ USER_VALUE, "value" },	 { USER_ELEMENT, "element" },
	{ USER_UNORDERED, "unordered" },
};

static const struct {
	const char *name;
	enum container_shape shape;
	unsigned needs, takes;
} shapes[] = {
	{ "sequence", CONTAINER_SEQUENCE, USER_FIRST,
	  USER_FIRST | USER_LAST | USER_COUNT | USER_ELEMENT | USER_UNORDERED },
	{ "text", CONTAINER_TEXT, USER_FIRST,
	  USER_FIRST | USER_LAST | USER_COUNT | USER_ELEMENT },
	{ "chain", CONTAINER_CHAIN, USER_FIRST | USER_NEXT,
	  USER_FIRST | USER_COUNT | USER_NEXT | USER_VALUE | USER_ELEMENT |
		  USER_UNORDERED },
	{ "pointer", CONTAINER_POINTER, USER_FIRST, USER_FIRST | USER_ELEMENT },
	{ "optional", CONTAINER_OPTIONAL, USER_COUNT | USER_VALUE,
	  USER_COUNT | USER_VALUE | USER_ELEMENT },
	{ "skip", CONTAINER_SKIP, 0, 0 },
};

static unsigned keys_given(const struct container_user *user)
{
	return (user->first ? USER_FIRST : 0U) | (user->last ? USER_LAST : 0U) |
	       (user->count ? USER_COUNT : 0U) | (user->next ? USER_NEXT : 0U) |
	       (user->value ? USER_VALUE : 0U) |
	       (user->element ? USER_ELEMENT : 0U) |
	       (user->unordered ? USER_UNORDERED : 0U);
}

/* "first, count and next" */
static struct err *key_list(unsigned keys, struct str *out)
{
	unsigned left = keys;
	for (size_t i = 0; i < ARRAY_SIZE(key_names); i++) {
		if (!(left & key_names[i].key))
			continue;
		left &= ~(unsigned)key_names[i].key;
		TRY(str_appendf(out, "%s'%s'",
				!out->n ? ""
				: left	? ", "
					: " and ",
				key_names[i].name));
	}
	return NULL;
}

static struct err *container_report_wrong(const struct container_user *user,
					  const char *what, unsigned keys,
					  unsigned takes)
{
	_cleanup_(str_freep) struct str names = STR_INIT, all = STR_INIT;
	TRY(key_list(keys, &names));
	TRY(key_list(takes, &all));
	struct err *err =
		err_create(ERR_USAGE, "container '%s': shape '%s' %s %s",
			   user->type, user->shape, what, names.s);
	return takes ? err_hint(err,
				"it takes %s; docs/containers.md has examples",
				all.s)
		     : err_hint(err, "it takes only 'type' and 'shape'");
}

static struct err *container_check_recipe(const struct container_user *user,
					  size_t *ret_shape)
{
	if (!user->type || !user->type[0])
		return err_hint(
			err_create(ERR_USAGE, "a container without 'type'"),
			"name the types that it is for: type = "
			"\"app::ring<*\"");
	_cleanup_(str_freep) struct str all = STR_INIT;
	size_t shape = ARRAY_SIZE(shapes);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		TRY(str_appendf(&all, "%s%s", i ? ", " : "", shapes[i].name));
		if (user->shape && !strcmp(user->shape, shapes[i].name))
			shape = i;
	}
	if (!user->shape)
		return err_hint(err_create(ERR_USAGE,
					   "container '%s' has no 'shape'",
					   user->type),
				"shapes are: %s", all.s);
	if (shape == ARRAY_SIZE(shapes))
		return err_hint(
			err_create(ERR_USAGE,
				   "container '%s': there is no shape '%s'",
				   user->type, user->shape),
			"shapes are: %s", all.s);
	unsigned given = keys_given(user), takes = shapes[shape].takes;
	if (given & ~takes)
		return container_report_wrong(user, "does not take",
					      given & ~takes, takes);
	if (shapes[shape].needs & ~given)
		return container_report_wrong(
			user, "needs", shapes[shape].needs & ~given, takes);
	unsigned ends = USER_LAST | USER_COUNT;
	if (takes & USER_LAST && (given & ends) != USER_LAST &&
	    (given & ends) != USER_COUNT)
		return container_report_wrong(user, "needs one of", ends,
					      takes);
	*ret_shape = shape;
	return NULL;
}

/* NULL stays NULL. */
static struct err *container_keep_text(struct containers *containers,
				       const char *text, const char **ret)
{
	if (!text)
		return NULL;
	_cleanup_(freep) char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	TRY(vec_push(&containers->texts, copy));
	*ret = take_ptr(copy);
	return NULL;
}

struct err *container_users_add(struct containers *containers,
				const struct container_user *users, size_t n)
{
	if (!n)
		return NULL;
	containers->users = calloc(n, sizeof(*containers->users));
	if (!containers->users)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct container_user *user = &users[i];
		struct container_recipe *row =
			&containers->users[containers->n_users];
		size_t shape = 0;
		TRY(container_check_recipe(user, &shape));
		row->user = true;
		row->shape = shapes[shape].shape;
		row->unordered = user->unordered;
		bool optional = row->shape == CONTAINER_OPTIONAL;
		TRY(container_keep_text(containers, user->type, &row->type));
		TRY(container_keep_text(containers,
					optional ? user->value : user->first,
					&row->places[PLACE_FIRST].path));
		TRY(container_keep_text(containers, user->last,
					&row->places[PLACE_LAST].path));
		TRY(container_keep_text(containers, user->count,
					&row->places[PLACE_COUNT].path));
		TRY(container_keep_text(containers, user->next, &row->next));
		TRY(container_keep_text(containers,
					optional ? NULL : user->value,
					&row->value));
		/* C's way to write it is fine. */
		const char *element = user->element;
		if (element && str_starts(element, "struct "))
			element += strlen("struct ");
		TRY(container_keep_text(containers, element, &row->element));
		containers->n_users++;
	}
	return NULL;
}
