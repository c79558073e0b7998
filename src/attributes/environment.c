/*
 * The environment: the array that environ points to, and what it points to. Both
 * are watched as they lie in memory, and taken apart only when bytes differ.
 */
#include "attributes/attributes_internal.h"
#include "base/compare.h"

#define GROUP 0 /* SOURCE_ENVIRONMENT */
#define VARIABLES_MAX ITEMS_MAX
#define VALUE_MAX ((size_t)64 << 10)
#define TOTAL_MAX ((size_t)4 << 20)
#define KEY_MAX 200

struct environment_place {
	uint64_t start, end;
};

/* Strings that follow one another are one place. */
static struct err *watch_strings(struct attributes *a,
				 struct environment_place *places, size_t n)
{
	qsort(places, n, sizeof(*places), compare_as_u64);
	for (size_t i = 0; i < n;) {
		struct environment_place whole = places[i++];
		while (i < n && places[i].start <= whole.end + 16) {
			whole.end = MAX(whole.end, places[i].end);
			i++;
		}
		TRY(ranges_add(&a->spans, GROUP, whole.start,
			       whole.end - whole.start));
	}
	return NULL;
}

static bool environment_is_own(const struct attributes *a, const char *text,
			       size_t n)
{
	const char *const *own = a->options.own_variables;
	for (size_t i = 0; own && own[i]; i++) {
		size_t length = strlen(own[i]);
		if (n > length && text[length] == '=' &&
		    !strncmp(text, own[i], length))
			return true;
	}
	return false;
}

static struct err *add_variable(struct items *items, const char *text, size_t n)
{
	char key[KEY_MAX + 4];
	const char *equals = memchr(text, '=', n);
	size_t length = equals ? (size_t)(equals - text) : n;
	size_t shown = MIN(length, (size_t)KEY_MAX);
	memcpy(key, text, shown);
	memcpy(key + shown, shown < length ? "…" : "", shown < length ? 4 : 1);
	struct item *item;
	TRY(items_add(items, key, &item));
	item->digest = digest_of(text, n, 0);
	_cleanup_(str_freep) struct str value = STR_INIT;
	if (equals)
		TRY(text_quoted(&value, equals + 1, n - length - 1));
	return item_text(item, NULL, value.s ? value.s : "without a value");
}

/* Where the array ends; @n pointers could be read. */
static size_t read_array(struct attributes *a, uint64_t array, uint64_t *out)
{
	size_t n = 0;
	while (n < VARIABLES_MAX) {
		uint64_t at = array + n * 8;
		size_t want = MIN((4096 - (at & 4095)) / 8,
				  (uint64_t)(VARIABLES_MAX - n));
		want = MAX(want, (size_t)1);
		if (!read_bytes(a, at, out + n, want * 8))
			return n;
		for (size_t i = 0; i < want; i++, n++) {
			if (!out[n])
				return n;
		}
	}
	return n;
}

/*
 * One string. Most follow one another: what was read for the one before
 * may have this one, too.
 */
struct environment_window {
	uint64_t start;
	size_t n;
	char *bytes; /* VALUE_MAX + 1 */
};

static bool in_window(struct attributes *a, struct environment_window *window,
		      uint64_t at, const char **ret, size_t *ret_n)
{
	for (int again = 0; again < 2; again++) {
		if (at >= window->start && at < window->start + window->n) {
			const char *text = window->bytes + (at - window->start);
			size_t rest = window->n - (at - window->start);
			size_t n = strnlen(text, rest);
			if (n < rest || rest >= VALUE_MAX) {
				*ret = text;
				*ret_n = n;
				return true;
			}
		}
		window->start = at;
		window->n = 0;
		bool ends = false;
		while (!ends && window->n < VALUE_MAX) {
			uint64_t next = at + window->n;
			size_t want = MIN(VALUE_MAX - window->n,
					  (size_t)(4096 - (next & 4095)));
			if (!read_bytes(a, next, window->bytes + window->n,
					want))
				break;
			ends = memchr(window->bytes + window->n, 0, want);
			window->n += want;
		}
		if (!window->n)
			return false;
		if (!ends && window->n < VALUE_MAX) {
			/* It runs into what is not there. */
			*ret = window->bytes;
			*ret_n = window->n;
			return true;
		}
	}
	return false;
}

struct err *read_environment(struct attributes *a, struct items *items)
{
	uint64_t variable = attributes_symbol(a, "environ"), array;
	if (!variable)
		variable = attributes_symbol(a, "__environ");
	ranges_forget(&a->spans, GROUP);
	if (!read_u64(a, variable, &array)) {
		items->unknown = true;
		return NULL;
	}
	TRY(ranges_add(&a->spans, GROUP, variable, 8));
	_cleanup_(freep) uint64_t *strings =
		calloc(VARIABLES_MAX, sizeof(*strings));
	_cleanup_(freep) struct environment_place *places =
		calloc(VARIABLES_MAX, sizeof(*places));
	struct environment_window window = { .bytes = malloc(VALUE_MAX + 1) };
	_cleanup_(freep) char *bytes = window.bytes;
	if (!strings || !places || !bytes)
		return err_nomem();
	size_t n = array ? read_array(a, array, strings) : 0, found = 0;
	if (array)
		TRY(ranges_add(&a->spans, GROUP, array,
			       (n + (n < VARIABLES_MAX)) * 8));
	size_t total = 0;
	for (size_t i = 0; i < n && total < TOTAL_MAX; i++) {
		const char *text;
		size_t length;
		if (!in_window(a, &window, strings[i], &text, &length))
			continue;
		total += length + 1;
		if (!environment_is_own(a, text, length))
			TRY(add_variable(items, text, length));
		places[found++] =
			(struct environment_place){ strings[i],
						    strings[i] + length + 1 };
	}
	return watch_strings(a, places, found);
}
