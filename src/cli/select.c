#include "cli/select.h"

#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/shuffle.h"
#include "base/str.h"
#include "base/suggest.h"
#include "cli/order_file.h"
#include "report/name.h"

/* Entries of one run; more is a slip of the finger, not a wish. */
#define ENTRIES_LIMIT ((size_t)100 << 20)
#define SHOWN_UNKNOWN 5

/* A name that has '*' or '[' in it still matches itself. */
static bool pattern_matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || str_glob(pattern, name);
}

bool select_matches(const struct option_list *patterns, const char *name)
{
	bool wanted = true;
	bool found = false;
	for (size_t i = 0; i < patterns->n; i++) {
		const char *pattern = patterns->data[i].text;
		if (pattern[0] == '!') {
			if (pattern_matches(pattern + 1, name))
				return false;
			continue;
		}
		wanted = false;
		found = found || pattern_matches(pattern, name);
	}
	return wanted || found;
}

static bool select_is_named(const struct option_list *patterns,
			    const char *name)
{
	for (size_t i = 0; i < patterns->n; i++) {
		if (!strcmp(patterns->data[i].text, name))
			return true;
	}
	return false;
}

static void suggest_test(const struct suite *suite,
			 struct suggestion *suggestion, const char *word)
{
	suggestion_init(suggestion, word);
	for (size_t i = 0; i < suite_count(suite); i++)
		suggestion_offer(suggestion, suite_test(suite, i)->name);
}

static struct err *none_selected(const struct suite *suite,
				 const struct option_list *patterns)
{
	const char *first = NULL;
	for (size_t i = 0; i < patterns->n && !first; i++) {
		if (patterns->data[i].text[0] != '!')
			first = patterns->data[i].text;
	}
	if (!first)
		return err_create(ERR_USAGE, "--tests excludes every test");

	struct suggestion suggestion;
	suggest_test(suite, &suggestion, first);
	struct err *err =
		err_create(ERR_USAGE, "no test matches --tests '%s'", first);
	if (suggestion.best)
		return err_hint(err, "did you mean '%s'?", suggestion.best);
	if (strchr(first, '*'))
		return err_hint(err, "'polygraph list' shows the names");
	return err_hint(err,
			"'polygraph list' shows the names; '*%s*' matches "
			"anywhere in a name",
			first);
}

/* One of several patterns that matches nothing is probably misspelt. */
static void warn_of_idle_patterns(const struct suite *suite,
				  const struct option_list *patterns)
{
	for (size_t i = 0; i < patterns->n; i++) {
		const char *pattern = patterns->data[i].text;
		bool excludes = pattern[0] == '!';
		bool used = false;
		for (size_t j = 0; j < suite_count(suite) && !used; j++)
			used = pattern_matches(pattern + excludes,
					       suite_test(suite, j)->name);
		if (!used)
			log_warn("no test matches --tests '%s'", pattern);
	}
}

struct err *select_tests(const struct suite *suite,
			 const struct option_list *patterns,
			 struct indexes *ret)
{
	_cleanup_(indexes_freep) struct indexes chosen = {};
	for (size_t i = 0; i < suite_count(suite); i++) {
		if (select_matches(patterns, suite_test(suite, i)->name))
			TRY(vec_push(&chosen, i));
	}
	if (!chosen.n)
		return none_selected(suite, patterns);
	warn_of_idle_patterns(suite, patterns);
	*ret = chosen;
	chosen = (struct indexes){};
	return NULL;
}

/* What is unknown in an order file, a line each. */
struct unknown_names {
	struct str text;
	size_t n;
};

static struct err *add_unknown(const struct suite *suite,
			       struct unknown_names *unknown,
			       const struct order_line *line)
{
	if (unknown->n++ >= SHOWN_UNKNOWN)
		return NULL;
	struct suggestion suggestion;
	suggest_test(suite, &suggestion, line->name ? line->name : line->raw);
	TRY(str_appendf(&unknown->text, "%sline %zu: '",
			unknown->text.n ? "\n" : "", line->line));
	TRY(str_append_escaped(&unknown->text, line->raw, strlen(line->raw)));
	TRY(str_append(&unknown->text, "'"));
	if (!suggestion.best)
		return NULL;
	TRY(str_append(&unknown->text, " (did you mean '"));
	TRY(name_append(&unknown->text, suggestion.best));
	return str_append(&unknown->text, "'?)");
}

static struct err *unknown_error(const char *path,
				 struct unknown_names *unknown)
{
	if (unknown->n > SHOWN_UNKNOWN)
		TRY(str_appendf(&unknown->text, "\n… and %zu more",
				unknown->n - SHOWN_UNKNOWN));
	return err_hint(
		err_create(ERR_USAGE,
			   "order file '%s' names %zu test%s the suite does "
			   "not have",
			   path, unknown->n, unknown->n == 1 ? "" : "s"),
		"%s", unknown->text.s);
}

static struct err *select_resolve_order(const struct suite *suite,
					const char *path,
					const struct order_file *order,
					struct unknown_names *unknown,
					struct indexes *ret)
{
	_cleanup_(map_text_freep) struct map_text numbers = MAP_INIT;
	for (size_t i = 0; i < suite_count(suite); i++)
		TRY(map_text_put(&numbers, suite_test(suite, i)->name, i));
	for (size_t i = 0; i < order->n; i++) {
		const struct order_line *line = &order->data[i];
		uint64_t number;
		if ((line->name &&
		     map_text_get(&numbers, line->name, &number)) ||
		    map_text_get(&numbers, line->raw, &number))
			TRY(vec_push(ret, number));
		else
			TRY(add_unknown(suite, unknown, line));
	}
	return unknown->n ? unknown_error(path, unknown) : NULL;
}

static struct err *select_from_file(const struct suite *suite,
				    const struct selection_options *options,
				    struct indexes *ret)
{
	_cleanup_(order_file_freep) struct order_file order = {};
	_cleanup_(indexes_freep) struct indexes all = {};
	struct unknown_names unknown = {};
	TRY(order_file_read(options->order, &order));
	struct err *err = select_resolve_order(suite, options->order, &order,
					       &unknown, &all);
	str_free(&unknown.text);
	if (err)
		return err;
	if (!all.n)
		return err_create(ERR_USAGE, "order file '%s' names no test",
				  options->order);

	size_t kept = 0;
	for (size_t i = 0; i < all.n; i++) {
		const char *name = suite_test(suite, all.data[i])->name;
		if (select_matches(options->tests, name))
			all.data[kept++] = all.data[i];
	}
	all.n = kept;
	if (!kept)
		return none_selected(suite, options->tests);
	*ret = all;
	all = (struct indexes){};
	return NULL;
}

static void select_reverse_order(struct indexes *order)
{
	for (size_t i = 0, j = order->n; i + 1 < j; i++) {
		size_t other = order->data[i];
		order->data[i] = order->data[--j];
		order->data[j] = other;
	}
}

static struct err *select_repeat_order(struct indexes *order, uint64_t times)
{
	if (times > ENTRIES_LIMIT / MAX(order->n, (size_t)1))
		return err_create(ERR_USAGE,
				  "--repeat %llu of %zu tests is too much",
				  (unsigned long long)times, order->n);
	size_t n = order->n;
	TRY(vec_reserve(order, n * times));
	for (size_t i = n; i-- > 0;) {
		for (size_t j = times; j-- > 0;)
			order->data[i * times + j] = order->data[i];
	}
	order->n = n * times;
	return NULL;
}

struct err *select_order(const struct suite *suite,
			 const struct selection_options *options,
			 struct indexes *ret, struct indexes *ret_disabled)
{
	_cleanup_(indexes_freep) struct indexes order = {};
	_cleanup_(indexes_freep) struct indexes disabled = {};

	if (options->order)
		TRY(select_from_file(suite, options, &order));
	else
		TRY(select_tests(suite, options->tests, &order));
	size_t kept = 0;
	for (size_t i = 0; i < order.n; i++) {
		const struct suite_test *test =
			suite_test(suite, order.data[i]);
		if (test->disabled &&
		    !select_is_named(options->tests, test->name))
			TRY(vec_push(&disabled, order.data[i]));
		else
			order.data[kept++] = order.data[i];
	}
	order.n = kept;
	if (options->shuffle)
		shuffle_order(order.data, order.n, options->seed);
	if (options->reverse)
		select_reverse_order(&order);
	TRY(select_repeat_order(&order, options->repeat));

	*ret = order;
	*ret_disabled = disabled;
	order = disabled = (struct indexes){};
	return NULL;
}
