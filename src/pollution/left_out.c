/* Variables that are not compared, by the reason. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "pollution/pollution_internal.h"

static struct err *left_out_reason(struct pollution *pollution, const char *why,
				   struct left_out **ret)
{
	for (size_t i = 0; i < pollution->left_out.n; i++) {
		if (!strcmp(pollution->left_out.data[i].why, why)) {
			*ret = &pollution->left_out.data[i];
			return NULL;
		}
	}
	struct left_out added = { .why = strdup(why) };
	if (!added.why)
		return err_nomem();
	struct err *err = vec_push(&pollution->left_out, added);
	if (err) {
		free(added.why);
		return err;
	}
	*ret = &pollution->left_out.data[pollution->left_out.n - 1];
	return NULL;
}

/* They are told again whenever the program starts: each name counts once. */
static struct err *left_out_add(struct pollution_search *search,
				const char *name, const char *why)
{
	struct left_out *reason = NULL;
	uint64_t known;
	TRY(left_out_reason(search->pollution, why, &reason));
	if (map_text_get(&search->left_out, name, &known))
		return NULL;
	TRY(strv_add(&reason->names, name));
	return map_text_put(&search->left_out, name, 1);
}

void search_left_out(void *data, const char *name, const char *why)
{
	struct pollution_search *search = data;
	search_fail(search, left_out_add(search, name, why));
}

static int left_out_compare(const void *a, const void *b)
{
	const struct left_out *one = a, *other = b;
	if (one->names.n != other->names.n)
		return one->names.n > other->names.n ? -1 : 1;
	return strcmp(one->why, other->why);
}

void left_out_sort(struct pollution *pollution)
{
	for (size_t i = 0; i < pollution->left_out.n; i++) {
		struct strv *names = &pollution->left_out.data[i].names;
		if (names->n)
			qsort(names->data, names->n, sizeof(*names->data),
			      compare_as_text);
	}
	if (pollution->left_out.n)
		qsort(pollution->left_out.data, pollution->left_out.n,
		      sizeof(*pollution->left_out.data), left_out_compare);
}

void left_out_free(struct pollution *pollution)
{
	for (size_t i = 0; i < pollution->left_out.n; i++) {
		free(pollution->left_out.data[i].why);
		strv_free(&pollution->left_out.data[i].names);
	}
	vec_free(&pollution->left_out);
}
