/*
 * What functions of the C library keep for their next call: the agent notes it,
 * and some of it is in variables that everybody may set.
 */
#include "attributes/attributes_internal.h"

struct err *read_strtok(struct attributes *a, struct items *items)
{
	if (!a->has_agent) {
		items->unknown = true;
		return NULL;
	}
	const char *rest = a->wire->strtok_rest;
	if (!*rest)
		return NULL;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(text_quoted(&text, rest, strlen(rest)));
	return items_one(items, text.s);
}

/* A variable of getopt(), as it is before the first call where there was none. */
static bool option_variable(struct attributes *a, const char *name,
			    int32_t *ret, struct err **err)
{
	uint64_t address = attributes_symbol(a, name);
	*ret = 1;
	/* Whoever has a getopt() of their own has these names, too. */
	if (a->has_agent && !a->wire->getopt_calls)
		return true;
	if (!read_bytes(a, address, ret, sizeof(*ret)))
		return false;
	*err = ranges_add(&a->spans, GROUP_HOOKS, address, sizeof(*ret));
	return !*err;
}

struct err *read_getopt(struct attributes *a, struct items *items)
{
	int32_t next, errors;
	struct err *err = NULL;
	if (!option_variable(a, "optind", &next, &err) ||
	    !option_variable(a, "opterr", &errors, &err)) {
		items->unknown = true;
		return err;
	}
	bool inside = a->has_agent && a->wire->getopt_inside;
	struct item *item;
	TRY(items_add(items, NULL, &item));
	/* 0 and 1 both begin anew. */
	TRY(item_textf(item, NULL, "optind %d%s", MAX(next, 1),
		       inside && next > 1 ? ", inside an argument" : ""));
	return item_text(item, "opterr", errors ? "1" : "0");
}

struct err *read_hsearch(struct attributes *a, struct items *items)
{
	if (!a->has_agent) {
		items->unknown = true;
		return NULL;
	}
	return a->wire->hsearch ? items_one(items, "a table") : NULL;
}
