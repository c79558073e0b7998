/* Calls where there is no source or no compiler: addresses and numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "repair/candidates.h"

#define RAW_FAR ((unsigned)-1)
/* Alternatives for one argument, calls of one function, and of all. */
#define RAW_VALUES 6
#define RAW_CALLS 24
#define RAW_MAX 2000
#define RAW_OBJECTS 3

struct raw_values {
	struct suite_raw_argument data[RAW_VALUES];
	size_t n;
};

static void raw_add(struct raw_values *values, struct suite_raw_argument value)
{
	if (values->n < RAW_VALUES)
		values->data[values->n++] = value;
}

static void raw_add_numbers(const struct candidate_input *input,
			    struct raw_values *ret)
{
	raw_add(ret, (struct suite_raw_argument){ .value = 0 });
	for (size_t i = 0; i < input->pool->numbers.n; i++) {
		const char *text = input->pool->numbers.data[i];
		char *end;
		errno = 0;
		long long number = strtoll(text, &end, 0);
		if (!errno && !*end && ret->n + 2 < RAW_VALUES)
			raw_add(ret, (struct suite_raw_argument){
					     .value = (uint64_t)number });
	}
	raw_add(ret, (struct suite_raw_argument){ .value = 1 });
	raw_add(ret, (struct suite_raw_argument){ .value = UINT64_MAX });
}

/* The pool has them in quotes. */
static void raw_add_texts(const struct candidate_input *input, bool string,
			  struct raw_values *ret)
{
	for (size_t i = 0; i < input->pool->plain.n && ret->n + 1 < RAW_VALUES;
	     i++)
		raw_add(ret, (struct suite_raw_argument){
				     .text = input->pool->plain.data[i],
				     .string = string });
	raw_add(ret,
		(struct suite_raw_argument){ .text = "", .string = string });
}

static void raw_add_objects(const struct candidate_input *input,
			    const struct routine_value *wanted,
			    struct raw_values *ret)
{
	const struct routines *all = &input->code->routines;
	for (size_t i = 0; i < all->variables.n; i++) {
		const struct routine_variable *variable =
			&all->variables.data[i];
		if (variable->value.kind == ROUTINE_OBJECT &&
		    variable->address && *wanted->type &&
		    !strcmp(variable->value.type, wanted->type))
			raw_add(ret, (struct suite_raw_argument){
					     .value = variable->address });
	}
}

/* false: it takes something that cannot be given like this. */
static bool raw_values_for(const struct candidate_input *input,
			   const struct routine_value *value,
			   struct raw_values *ret)
{
	switch (value->kind) {
	case ROUTINE_BOOL:
		raw_add(ret, (struct suite_raw_argument){ .value = 0 });
		raw_add(ret, (struct suite_raw_argument){ .value = 1 });
		return !value->reference;
	case ROUTINE_INTEGER:
	case ROUTINE_ENUM:
		raw_add_numbers(input, ret);
		return !value->reference;
	case ROUTINE_TEXT:
		raw_add_texts(input, false, ret);
		return !value->reference;
	case ROUTINE_STRING:
		raw_add_texts(input, true, ret);
		return value->reference && value->fixed;
	case ROUTINE_POINTER:
		raw_add_objects(input, value, ret);
		raw_add(ret, (struct suite_raw_argument){ .value = 0 });
		return true;
	case ROUTINE_OBJECT:
		raw_add_objects(input, value, ret);
		return value->reference && ret->n;
	default:
		return false;
	}
}

static struct err *raw_add_calls(const struct candidate_input *input,
				 const struct raw_candidate *with,
				 struct raw_list *ret)
{
	const struct routine *routine = with->routine;
	struct raw_values values[ROUTINE_PARAMETERS] = {};
	size_t total = 1, first = with->call.n;
	if (routine->n + first > ROUTINE_PARAMETERS)
		return NULL;
	for (size_t i = 0; i < routine->n; i++) {
		if (!raw_values_for(input, &routine->parameters[i], &values[i]))
			return NULL;
		total = MIN(total * values[i].n, (size_t)RAW_CALLS);
	}
	for (size_t call = 0; call < total && ret->n < RAW_MAX; call++) {
		struct raw_candidate one = *with;
		size_t rest = call;
		for (size_t i = 0; i < routine->n; i++) {
			one.call.arguments[one.call.n++] =
				values[i].data[rest % values[i].n];
			rest /= values[i].n;
		}
		TRY(vec_push(ret, one));
	}
	return NULL;
}

/* On objects that a getter gives, or that have a fixed place. */
static struct err *raw_add_members(const struct candidate_input *input,
				   const unsigned *distances,
				   struct raw_candidate *with,
				   struct raw_list *ret)
{
	const struct routines *all = &input->code->routines;
	const struct routine_value class = { .type = with->routine->owner };
	struct raw_values objects = {};
	for (size_t i = 0, n = 0; i < all->functions.n && n < RAW_OBJECTS;
	     i++) {
		const struct routine *getter = &all->functions.data[i];
		if (getter->n || getter->owner || !getter->address ||
		    (getter->result.kind != ROUTINE_POINTER &&
		     !getter->result.reference) ||
		    strcmp(getter->result.type, class.type) != 0)
			continue;
		/* What gives the object is as near as what it is called on. */
		if (distances[i] != RAW_FAR)
			with->score = MIN(with->score,
					  candidate_score(with->routine,
							  distances[i] + 1));
		with->call.getter = getter->address;
		with->call.n = 0;
		n++;
		TRY(raw_add_calls(input, with, ret));
	}
	with->call.getter = 0;
	raw_add_objects(input, &class, &objects);
	for (size_t i = 0; i < objects.n; i++) {
		with->call.arguments[0] = objects.data[i];
		with->call.n = 1;
		TRY(raw_add_calls(input, with, ret));
	}
	return NULL;
}

static int raw_order(const void *left, const void *right)
{
	const struct raw_candidate *a = left, *b = right;
	if (a->score != b->score)
		return a->score < b->score ? -1 : 1;
	return a->call.n < b->call.n ? -1 : a->call.n > b->call.n;
}

struct err *candidates_raw(const struct candidate_input *input,
			   struct raw_list *ret)
{
	const struct routines *all = &input->code->routines;
	_cleanup_(freep) unsigned *distances = NULL;
	TRY(candidates_rank(input, &distances));
	BUG_ON(!distances);
	for (size_t i = 0; i < all->functions.n; i++) {
		const struct routine *routine = &all->functions.data[i];
		struct raw_candidate with = {
			.routine = routine,
			.call = { .function = routine->address },
			.score = candidate_score(routine, distances[i]),
		};
		if (!routine->address || candidate_is_runners(input, routine))
			continue;
		if (routine->owner)
			TRY(raw_add_members(input, distances, &with, ret));
		else if (distances[i] != RAW_FAR)
			TRY(raw_add_calls(input, &with, ret));
	}
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), raw_order);
	return NULL;
}

static const char *raw_variable_at(const struct candidate_input *input,
				   uint64_t address)
{
	const struct routines *all = &input->code->routines;
	for (size_t i = 0; address && i < all->variables.n; i++) {
		if (all->variables.data[i].address == address)
			return all->variables.data[i].name;
	}
	return NULL;
}

struct err *candidate_raw_text(const struct candidate_input *input,
			       const struct raw_candidate *candidate,
			       char **ret)
{
	const struct routine *routine = candidate->routine;
	_cleanup_(str_freep) struct str text = STR_INIT;
	size_t skip = candidate->call.n - routine->n;
	TRY(str_appendf(&text, "%s(", routine->name));
	for (size_t i = 0; i < routine->n; i++) {
		const struct suite_raw_argument *argument =
			&candidate->call.arguments[skip + i];
		const char *name = raw_variable_at(input, argument->value);
		bool pointer = routine->parameters[i].kind == ROUTINE_POINTER;
		TRY(str_append(&text, i ? ", " : ""));
		if (argument->text)
			TRY(str_appendf(&text, "\"%s\"", argument->text));
		else if (name)
			TRY(str_appendf(&text, "%s%s", pointer ? "&" : "",
					name));
		else
			TRY(str_appendf(&text, "%lld",
					(long long)argument->value));
	}
	TRY(str_append(&text, ")"));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}
