#include "cli/recipe.h"

#include <stdlib.h>
#include <string.h>

void recipes_freep(struct recipes *recipes)
{
	for (size_t i = 0; i < recipes->texts.n; i++)
		free(recipes->texts.data[i]);
	vec_free(&recipes->texts);
	vec_free(&recipes->rows);
}

static struct err *bad_recipe(const char *text)
{
	return err_hint(
		err_create(ERR_USAGE,
			   "--container '%s' is not a valid "
			   "recipe",
			   text),
		"write 'TYPE: SHAPE key=value …' with the keys first, last, "
		"count, next, value, element, and the word unordered; see "
		"docs/containers.md");
}

static struct err *parse_recipe(const char *text, struct recipes *recipes)
{
	char *copy = strdup(text);
	if (!copy)
		return err_nomem();
	struct err *err = vec_push(&recipes->texts, copy);
	if (err) {
		free(copy);
		return err;
	}
	char *colon = strstr(copy, ": ");
	if (!colon)
		return bad_recipe(text);
	*colon = '\0';
	struct container_user row = { .type = copy };
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{ "first", &row.first }, { "last", &row.last },
		{ "count", &row.count }, { "next", &row.next },
		{ "value", &row.value }, { "element", &row.element },
	};
	char *rest = colon + 2;
	for (char *word; (word = strsep(&rest, " "));) {
		char *equals = strchr(word, '=');
		bool known = !*word;
		if (!strcmp(word, "unordered")) {
			row.unordered = known = true;
		} else if (*word && !equals && !row.shape) {
			row.shape = word;
			known = true;
		}
		for (size_t i = 0; equals && i < ARRAY_SIZE(keys); i++) {
			size_t n = strlen(keys[i].key);
			if ((size_t)(equals - word) != n ||
			    strncmp(word, keys[i].key, n) != 0)
				continue;
			*keys[i].value = equals + 1;
			known = true;
		}
		if (!known)
			return bad_recipe(text);
	}
	if (!row.shape || !*row.type)
		return bad_recipe(text);
	return vec_push(&recipes->rows, row);
}

struct err *recipes_parse(const struct option_list *list, struct recipes *ret)
{
	for (size_t i = 0; i < list->n; i++)
		TRY(parse_recipe(list->data[i].text, ret));
	return NULL;
}
