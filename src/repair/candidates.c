#include "repair/candidates.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"

#define FAR ((unsigned)-1)
#define FAR_SCORE 40
/* Further away is no more than a guess. */
#define LIKELY_MAX 4
/* Alternatives for one argument, and calls of one function. */
#define VALUES_MAX 10
#define CALLS_MAX 48
#define OBJECTS_MAX 4
#define LITERALS_OF 3
/* Pairs of clean-up and set-up out of the test's file. */
#define FIXTURES_MAX 24
#define FIXTURE_SCORE 10
#define CANDIDATES_MAX 20000

void candidate_free(struct repair_candidate *candidate)
{
	free(candidate->code);
	free(candidate->function);
	free(candidate->include);
	free(candidate->save);
	free(candidate->restore);
	free(candidate->release);
}

void candidates_free(struct candidate_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		candidate_free(&list->data[i]);
	vec_free(list);
}

static int candidate_order(const void *left, const void *right)
{
	const struct repair_candidate *a = left, *b = right;
	if (a->score != b->score)
		return a->score < b->score ? -1 : 1;
	if (a->arguments != b->arguments)
		return a->arguments < b->arguments ? -1 : 1;
	return strcmp(a->code, b->code);
}

void candidates_sort(struct candidate_list *list)
{
	if (list->n)
		qsort(list->data, list->n, sizeof(*list->data),
		      candidate_order);
}

/* Takes @code over. */
static struct err *candidate_add(struct candidate_list *list, char *code,
				 const struct repair_candidate *with,
				 const char *function)
{
	struct repair_candidate candidate = *with;
	candidate.code = code;
	if (!code)
		return err_nomem();
	struct err *err = str_copy(function, &candidate.function);
	if (!err && list->n < CANDIDATES_MAX)
		err = vec_push(list, candidate);
	else
		candidate_free(&candidate);
	return err;
}

/* ---- names ---- */

struct name_hint {
	const char *part;
	unsigned score;
};

static const struct name_hint hints[] = {
	{ "reset", 0 },	   { "clear", 0 },	{ "cleanup", 0 },
	{ "clean_up", 0 }, { "teardown", 0 },	{ "tear_down", 0 },
	{ "clean", 1 },	   { "restore", 1 },	{ "default", 1 },
	{ "shutdown", 1 }, { "deinit", 1 },	{ "reinit", 1 },
	{ "fini", 1 },	   { "unregister", 1 }, { "unsubscribe", 1 },
	{ "remove", 2 },   { "destroy", 2 },	{ "free", 2 },
	{ "release", 2 },  { "delete", 2 },	{ "drop", 2 },
	{ "unset", 2 },	   { "uninstall", 2 },	{ "disable", 2 },
	{ "detach", 2 },   { "empty", 3 },	{ "flush", 2 },
	{ "purge", 2 },	   { "close", 3 },	{ "stop", 3 },
	{ "pop", 4 },	   { "erase", 2 },	{ "init", 4 },
	{ "setup", 4 },	   { "set_up", 4 },	{ "set", 4 },
	{ "open", 5 },	   { "start", 5 },	{ "create", 6 },
	{ "load", 6 },	   { "enable", 5 },	{ "configure", 5 },
	{ "use", 6 },
};

/* Words that end something, and words that begin it again. */
#define NAMES_CLEANING 3
#define NAMES_MAKING_FROM 4

static unsigned name_score(const char *name)
{
	const char *last = name, *at = name;
	unsigned best = 8;
	char lower[256];
	while ((at = strstr(at, "::")))
		last = at += 2;
	size_t n = 0;
	for (; last[n] && n + 1 < sizeof(lower); n++)
		lower[n] = (char)tolower((unsigned char)last[n]);
	lower[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (strstr(lower, hints[i].part))
			best = MIN(best, hints[i].score);
	}
	return best;
}

/* ---- arguments ---- */

static struct err *value_add(struct strv *values, const char *text)
{
	for (size_t i = 0; i < values->n; i++) {
		if (!strcmp(values->data[i], text))
			return NULL;
	}
	return values->n < VALUES_MAX ? strv_add(values, text) : NULL;
}

static struct err *values_of_choices(const struct routine_value *value,
				     struct strv *ret)
{
	const char *at = value->choices;
	while (*at) {
		size_t n = strcspn(at, "\n");
		_cleanup_(freep) char *one = strndup(at, n);
		if (!one)
			return err_nomem();
		TRY(value_add(ret, one));
		at += n + (at[n] == '\n');
	}
	return NULL;
}

static bool same_type(const struct routine_value *a,
		      const struct routine_value *b)
{
	return *a->type && !strcmp(a->type, b->type);
}

/* Variables and getters that lead to such an object. */
static struct err *values_of_objects(const struct candidate_input *input,
				     const struct routine_value *wanted,
				     bool pointer, struct strv *ret)
{
	const struct routines *all = &input->code->routines;
	const char *own = input->source->path;
	for (size_t i = 0; i < all->variables.n && ret->n < VALUES_MAX; i++) {
		const struct routine_variable *variable =
			&all->variables.data[i];
		bool is_pointer = variable->value.kind == ROUTINE_POINTER;
		char text[1024];
		if (!same_type(&variable->value, wanted) ||
		    (variable->local &&
		     (!variable->file || strcmp(variable->file, own) != 0)))
			continue;
		snprintf(text, sizeof(text), "%s%s",
			 pointer && !is_pointer	  ? "&"
			 : !pointer && is_pointer ? "*"
						  : "",
			 variable->name);
		TRY(value_add(ret, text));
	}
	for (size_t i = 0; i < all->functions.n && ret->n < VALUES_MAX; i++) {
		const struct routine *routine = &all->functions.data[i];
		bool is_pointer = routine->result.kind == ROUTINE_POINTER;
		char text[1024];
		if (routine->n || routine->owner || routine->local ||
		    (!is_pointer && !routine->result.reference) ||
		    !same_type(&routine->result, wanted))
			continue;
		snprintf(text, sizeof(text), "%s%s()",
			 pointer && !is_pointer	  ? "&"
			 : !pointer && is_pointer ? "*"
						  : "",
			 routine->name);
		TRY(value_add(ret, text));
	}
	return NULL;
}

static struct err *values_of_texts(const struct candidate_input *input,
				   bool null, struct strv *ret)
{
	for (size_t i = 0; i < input->pool->texts.n && ret->n + 2 < VALUES_MAX;
	     i++)
		TRY(value_add(ret, input->pool->texts.data[i]));
	TRY(value_add(ret, "\"\""));
	return null ? value_add(ret, input->cxx ? "nullptr" : "0") : NULL;
}

static struct err *values_of_numbers(const struct candidate_input *input,
				     struct strv *ret)
{
	TRY(value_add(ret, "0"));
	for (size_t i = 0;
	     i < input->pool->numbers.n && ret->n + 2 < VALUES_MAX; i++)
		TRY(value_add(ret, input->pool->numbers.data[i]));
	TRY(value_add(ret, "1"));
	return value_add(ret, "-1");
}

/* "(struct ratio){2}": of nothing, and of the first numbers that are known. */
static struct err *values_of_literals(const struct candidate_input *input,
				      const struct routine_value *value,
				      struct strv *ret)
{
	static const char *const in_c[] = { "(struct %s){%s}", "(%s){%s}" };
	const struct strv *numbers = &input->pool->numbers;
	for (size_t i = 0; i <= MIN(numbers->n, (size_t)LITERALS_OF); i++) {
		const char *number = i		  ? numbers->data[i - 1]
				     : input->cxx ? ""
						  : "0";
		for (size_t j = 0; j < ARRAY_SIZE(in_c); j++) {
			_cleanup_(freep) char *text = NULL;
			TRY(str_format(&text, input->cxx ? "%s{%s}" : in_c[j],
				       value->type, number));
			TRY(value_add(ret, text));
		}
	}
	return NULL;
}

static struct err *values_for(const struct candidate_input *input,
			      const struct routine_value *value,
			      struct strv *ret)
{
	switch (value->kind) {
	case ROUTINE_BOOL:
		TRY(value_add(ret, input->cxx ? "false" : "0"));
		return value_add(ret, input->cxx ? "true" : "1");
	case ROUTINE_INTEGER:
	case ROUTINE_FLOAT:
		return values_of_numbers(input, ret);
	case ROUTINE_ENUM:
		return values_of_choices(value, ret);
	case ROUTINE_TEXT:
		return values_of_texts(input, true, ret);
	case ROUTINE_STRING:
		return values_of_texts(input, false, ret);
	case ROUTINE_POINTER:
		TRY(values_of_objects(input, value, true, ret));
		return value_add(ret, input->cxx ? "nullptr" : "0");
	case ROUTINE_OBJECT:
		TRY(values_of_objects(input, value, false, ret));
		return value->reference && !value->fixed
			       ? NULL
			       : values_of_literals(input, value, ret);
	default:
		return NULL;
	}
}

/* ---- calls ---- */

/* All combinations of arguments, up to a bound: the first ones vary least. */
static struct err *add_calls(const struct candidate_input *input,
			     const struct routine *routine, const char *object,
			     const struct repair_candidate *with,
			     struct candidate_list *ret)
{
	struct strv values[ROUTINE_PARAMETERS] = {};
	struct err *err = NULL;
	size_t total = 1;
	const char *name = routine->name;
	if (routine->owner) {
		for (const char *at = name; (at = strstr(at, "::"));)
			name = at += 2;
	}
	for (size_t i = 0; !err && i < routine->n; i++) {
		err = values_for(input, &routine->parameters[i], &values[i]);
		total = MIN(total * values[i].n, (size_t)CALLS_MAX);
	}
	for (size_t call = 0; !err && call < total; call++) {
		_cleanup_(str_freep) struct str text = STR_INIT;
		size_t rest = call;
		err = str_appendf(&text, "%s%s(", object, name);
		for (size_t i = 0; !err && i < routine->n; i++) {
			err = str_appendf(&text, "%s%s", i ? ", " : "",
					  values[i].data[rest % values[i].n]);
			rest /= values[i].n;
		}
		if (!err)
			err = str_append(&text, ");");
		if (!err)
			err = candidate_add(ret, str_take(&text), with,
					    routine->name);
	}
	for (size_t i = 0; i < routine->n; i++)
		strv_free(&values[i]);
	return err;
}

/* "Bus::get().", "registry.", "current->": objects of a class. */
struct object_way {
	char text[600];
	unsigned distance;
};

static unsigned variable_distance(const struct candidate_input *input,
				  const char *name)
{
	for (size_t i = 0; i < input->bench->n; i++) {
		if (input->polluted[i] &&
		    !strcmp(input->bench->roots[i].root, name))
			return 0;
	}
	return FAR;
}

static size_t find_objects(const struct candidate_input *input,
			   const char *class, const unsigned *distances,
			   struct object_way *ret)
{
	const struct routines *all = &input->code->routines;
	size_t n = 0;
	for (size_t i = 0; i < all->functions.n && n < OBJECTS_MAX; i++) {
		const struct routine *routine = &all->functions.data[i];
		bool pointer = routine->result.kind == ROUTINE_POINTER;
		if (routine->n || routine->owner || routine->local ||
		    (!pointer && !routine->result.reference) ||
		    strcmp(routine->result.type, class) != 0)
			continue;
		snprintf(ret[n].text, sizeof(ret[n].text), "%s()%s",
			 routine->name, pointer ? "->" : ".");
		ret[n++].distance = distances[i];
	}
	for (size_t i = 0; i < all->variables.n && n < OBJECTS_MAX; i++) {
		const struct routine_variable *variable =
			&all->variables.data[i];
		bool pointer = variable->value.kind == ROUTINE_POINTER;
		if (strcmp(variable->value.type, class) != 0 ||
		    (variable->local &&
		     (!variable->file ||
		      strcmp(variable->file, input->source->path) != 0)))
			continue;
		snprintf(ret[n].text, sizeof(ret[n].text), "%s%s",
			 variable->name, pointer ? "->" : ".");
		ret[n++].distance = variable_distance(input, variable->name);
	}
	return n;
}

/* Is it one of the suite's tests, or what runs them? */
bool candidate_is_runners(const struct candidate_input *input,
			  const struct routine *routine)
{
	if (!strcmp(routine->name, "main"))
		return true;
	for (size_t i = 0; i < suite_count(input->suite); i++) {
		const struct suite_test *test = suite_test(input->suite, i);
		if (test->file && routine->file &&
		    test->line == routine->line &&
		    !strcmp(path_base(test->file), path_base(routine->file)))
			return true;
	}
	return false;
}

static bool can_be_named(const struct candidate_input *input,
			 const struct routine *routine)
{
	return !routine->local ||
	       (routine->file && !strcmp(routine->file, input->source->path));
}

unsigned candidate_score(const struct routine *routine, unsigned distance)
{
	unsigned far = distance == FAR ? FAR_SCORE : MIN(distance, 16U);
	return far + 2 * name_score(routine->name) + (unsigned)routine->n;
}

struct err *candidates_rank(const struct candidate_input *input, unsigned **ret)
{
	const struct routines *all = &input->code->routines;
	unsigned *distances = calloc(all->functions.n + 1, sizeof(*distances));
	if (!distances)
		return err_nomem();
	struct err *err = input->bench->rank(input->bench->context,
					     input->polluted, all, distances);
	if (err)
		free(distances);
	else
		*ret = distances;
	return err;
}

static struct err *add_routine_calls(const struct candidate_input *input,
				     size_t index, const unsigned *distances,
				     struct candidate_list *ret)
{
	const struct routine *routine =
		&input->code->routines.functions.data[index];
	struct repair_candidate with = {
		.arguments = (unsigned)routine->n,
		.distance = distances[index],
		.score = candidate_score(routine, distances[index]),
	};
	struct object_way objects[OBJECTS_MAX];
	if (!can_be_named(input, routine) ||
	    candidate_is_runners(input, routine))
		return NULL;
	if (!routine->owner)
		return add_calls(input, routine, "", &with, ret);
	size_t n = find_objects(input, routine->owner, distances, objects);
	for (size_t i = 0; i < n; i++) {
		unsigned near = MIN(distances[index],
				    objects[i].distance == FAR
					    ? FAR
					    : objects[i].distance + 1);
		with.distance = near;
		with.score = candidate_score(routine, near);
		TRY(add_calls(input, routine, objects[i].text, &with, ret));
	}
	return NULL;
}

struct err *candidates_from_functions(const struct candidate_input *input,
				      struct candidate_list *ret)
{
	_cleanup_(freep) unsigned *distances = NULL;
	const struct routines *all = &input->code->routines;
	TRY(candidates_rank(input, &distances));
	BUG_ON(!distances);
	for (size_t i = 0; i < all->functions.n; i++)
		TRY(add_routine_calls(input, i, distances, ret));
	log_debug(LOG_REPAIR, "%zu functions, %zu candidates", all->functions.n,
		  ret->n);
	return NULL;
}

/* ---- the likeliest ---- */

/* Does it clean up, as far as its name and type say? A query does not. */
static bool routine_cleans(const struct candidate_input *input,
			   const struct routine *routine)
{
	return name_score(routine->name) <= NAMES_CLEANING &&
	       (routine->n || routine->result.kind == ROUTINE_VOID) &&
	       can_be_named(input, routine) &&
	       !candidate_is_runners(input, routine);
}

struct likeliest {
	const struct routine *routine;
	unsigned score;
	struct object_way object; /* "Bus::get()."; "": none */
};

static void likeliest_offer(struct likeliest *best,
			    const struct routine *routine, unsigned distance,
			    const struct object_way *object)
{
	unsigned score = candidate_score(routine, distance);
	if (distance > LIKELY_MAX || (best->routine && score >= best->score))
		return;
	best->routine = routine;
	best->score = score;
	best->object = *object;
}

struct err *candidates_likeliest(const struct candidate_input *input,
				 char **ret)
{
	const struct routines *all = &input->code->routines;
	_cleanup_(freep) unsigned *distances = NULL;
	static const struct object_way none;
	struct likeliest best = {};
	TRY(candidates_rank(input, &distances));
	BUG_ON(!distances);
	for (size_t i = 0; i < all->functions.n; i++) {
		const struct routine *routine = &all->functions.data[i];
		struct object_way objects[OBJECTS_MAX];
		if (!routine_cleans(input, routine))
			continue;
		if (!routine->owner) {
			likeliest_offer(&best, routine, distances[i], &none);
			continue;
		}
		size_t n =
			find_objects(input, routine->owner, distances, objects);
		for (size_t j = 0; j < n; j++)
			likeliest_offer(&best, routine,
					objects[j].distance == FAR
						? distances[i]
						: MIN(distances[i],
						      objects[j].distance + 1),
					&objects[j]);
	}
	if (!best.routine)
		return NULL;
	const char *name = best.routine->name;
	if (best.routine->owner) {
		for (const char *at = name; (at = strstr(at, "::"));)
			name = at += 2;
	}
	return str_format(ret, "%s%s(%s)", best.object.text, name,
			  best.routine->n ? "…" : "");
}

/* ---- fixtures of the test's own file ---- */

/* Called without arguments, by name: what its suite does around all tests. */
static bool is_own_fixture(const struct candidate_input *input,
			   const struct routine *routine, bool cleans)
{
	unsigned score = name_score(routine->name);
	return !routine->n && !routine->owner && routine->file &&
	       !strcmp(routine->file, input->source->path) &&
	       (cleans ? score <= NAMES_CLEANING
		       : score >= NAMES_MAKING_FROM && score < 8) &&
	       !candidate_is_runners(input, routine);
}

struct err *candidates_from_fixtures(const struct candidate_input *input,
				     struct candidate_list *ret)
{
	const struct routines *all = &input->code->routines;
	const struct repair_candidate with = { .score = FIXTURE_SCORE,
					       .fixture = true };
	size_t left = FIXTURES_MAX;
	for (size_t i = 0; i < all->functions.n; i++) {
		const struct routine *end = &all->functions.data[i];
		if (!is_own_fixture(input, end, true))
			continue;
		for (size_t j = 0; j < all->functions.n && left; j++) {
			const struct routine *begin = &all->functions.data[j];
			_cleanup_(freep) char *code = NULL;
			if (!is_own_fixture(input, begin, false))
				continue;
			left--;
			TRY(str_format(&code, "%s();\n%s();", end->name,
				       begin->name));
			TRY(candidate_add(ret, take_ptr(code), &with,
					  end->name));
		}
	}
	return NULL;
}

const struct routine *candidates_hidden(const struct candidate_input *input,
					const unsigned *distances)
{
	const struct routines *all = &input->code->routines;
	const struct routine *best = NULL;
	for (size_t i = 0; i < all->functions.n; i++) {
		const struct routine *routine = &all->functions.data[i];
		if (distances[i] > 2 || can_be_named(input, routine) ||
		    name_score(routine->name) > 3 ||
		    candidate_is_runners(input, routine))
			continue;
		if (!best || name_score(routine->name) < name_score(best->name))
			best = routine;
	}
	return best;
}

/* ---- several ---- */

struct err *candidates_pair(const struct candidate_list *from, size_t n,
			    struct candidate_list *ret)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			const struct repair_candidate *a = &from->data[i];
			const struct repair_candidate *b = &from->data[j];
			struct repair_candidate with = {
				.arguments = a->arguments + b->arguments,
				.score = a->score + b->score,
				.distance = MAX(a->distance, b->distance),
			};
			_cleanup_(freep) char *code = NULL;
			if (i == j || (a->function && b->function &&
				       !strcmp(a->function, b->function) &&
				       !a->arguments))
				continue;
			TRY(str_format(&code, "%s\n%s", a->code, b->code));
			TRY(str_copy(a->include ? a->include : b->include,
				     &with.include));
			TRY(candidate_add(ret, take_ptr(code), &with,
					  a->function));
		}
	}
	return NULL;
}
