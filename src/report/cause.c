#include "report/cause.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "report/kind.h"
#include "report/value.h"

static const char *const type_names[CAUSE_TYPES] = {
	[CAUSE_MEMORY] = "memory",   [CAUSE_FILE] = "file",
	[CAUSE_PROCESS] = "process", [CAUSE_CALL] = "call",
	[CAUSE_LEFT] = "left",	     [CAUSE_TEST] = "test",
};

const char *cause_type_name(enum cause_type type)
{
	return type_names[type];
}

static void cause_free(struct cause *cause)
{
	free(cause->name);
	vec_free(&cause->findings);
	vec_free(&cause->leave);
	vec_free(&cause->misled);
	vec_free(&cause->could);
	vec_free(&cause->cleaners);
}

void causes_free(struct causes *causes)
{
	for (size_t i = 0; i < causes->n; i++)
		cause_free(&causes->data[i]);
	vec_free(causes);
}

/* ---- where a finding belongs ---- */

struct grouping {
	const struct report *report;
	struct causes *causes;
	struct map_text numbers; /* of tests, by their name in JSON */
	struct map_text places;	 /* in causes, by type and name */
	struct map_text roots;	 /* the same, by root alone */
	struct map_text by_id;	 /* the same, by id of pollution */
	struct map_text turned;	 /* by id of pollution: the test it turns + 1 */
	struct map_text beside;	 /* in causes, by what is left beside it */
};

/* A root of that name in another program is another one. */
static void forget_suite(struct grouping *grouping)
{
	map_text_free(&grouping->places);
	map_text_free(&grouping->roots);
	map_text_free(&grouping->by_id);
	map_text_free(&grouping->turned);
	map_text_free(&grouping->beside);
}

static void grouping_freep(struct grouping *grouping)
{
	map_text_free(&grouping->numbers);
	forget_suite(grouping);
}

static struct err *number_tests(struct grouping *grouping)
{
	const struct roster *roster = grouping->report->roster;
	for (size_t i = 0; roster && i < roster->n; i++) {
		const char *raw = roster_name(roster, i);
		_cleanup_(freep) char *name = str_utf8(raw, strlen(raw));
		if (!name)
			return err_nomem();
		TRY(map_text_put(&grouping->numbers, name, i));
	}
	return NULL;
}

static const char *text_member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* The cause of that type and @by; a new one, called @name, where there is none. */
static struct err *find_cause_by(struct grouping *grouping,
				 enum cause_type type, const char *by,
				 const char *name, size_t *ret)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t at;
	TRY(str_appendf(&key, "%s %s", type_names[type], by));
	if (map_text_get(&grouping->places, key.s, &at)) {
		*ret = at;
		return NULL;
	}
	struct cause cause = { .type = type, .name = strdup(name) };
	struct err *err =
		cause.name ? vec_push(grouping->causes, cause) : err_nomem();
	if (err) {
		cause_free(&cause);
		return err;
	}
	*ret = grouping->causes->n - 1;
	if (type <= CAUSE_PROCESS)
		TRY(map_text_put(&grouping->roots, name, *ret));
	return map_text_put(&grouping->places, key.s, *ret);
}

static struct err *find_cause(struct grouping *grouping, enum cause_type type,
			      const char *name, size_t *ret)
{
	return find_cause_by(grouping, type, name, name, ret);
}

static enum cause_type type_of_root(const char *where)
{
	return !strcmp(where, "file")	   ? CAUSE_FILE
	       : !strcmp(where, "process") ? CAUSE_PROCESS
					   : CAUSE_MEMORY;
}

/* The root that explains it; else what is known of who leaves something. */
static struct err *place_dependence(struct grouping *grouping,
				    const json_t *object, size_t *ret)
{
	const json_t *because = json_object_get(object, "because");
	const json_t *polluted = json_object_get(object, "polluted");
	const char *first = json_string_value(json_array_get(because, 0));
	uint64_t at;
	if (first && map_text_get(&grouping->by_id, first, &at)) {
		*ret = at;
		return NULL;
	}
	first = json_string_value(json_array_get(polluted, 0));
	if (first && map_text_get(&grouping->roots, first, &at)) {
		*ret = at;
		return NULL;
	}
	if (first)
		return find_cause(
			grouping,
			type_of_root(text_member(
				json_object_get(object, "left"), "where")),
			first, ret);
	static const char *const lists[] = { "polluters", "setters" };
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list =
			json_array_get(json_object_get(object, lists[i]), 0);
		first = json_string_value(json_array_get(list, 0));
		if (first && json_array_size(list) == 1)
			return find_cause(grouping, CAUSE_LEFT, first, ret);
	}
	return find_cause(grouping, CAUSE_TEST, text_member(object, "test"),
			  ret);
}

/* ---- what is left beside something else ---- */

/* Which pollution turns which test? */
static struct err *note_turned(struct grouping *grouping, const json_t *object)
{
	const json_t *because = json_object_get(object, "because");
	uint64_t test;
	if (!map_text_get(&grouping->numbers, text_member(object, "test"),
			  &test))
		return NULL;
	for (size_t i = 0; i < json_array_size(because); i++) {
		const char *id = json_string_value(json_array_get(because, i));
		if (id)
			TRY(map_text_put(&grouping->turned, id, test + 1));
	}
	return NULL;
}

/* The one test that reads it, plus 1; 0: there is none, or several do. */
static uint64_t only_reader(const struct grouping *grouping,
			    const json_t *object)
{
	const json_t *readers = json_object_get(object, "readers");
	const char *name = json_string_value(json_array_get(readers, 0));
	uint64_t number;
	return json_array_size(readers) == 1 && name &&
			       map_text_get(&grouping->numbers, name, &number)
		       ? number + 1
		       : 0;
}

/* One test leaves it in memory, a file declares it, and it is about @other. */
static struct err *beside_key(const json_t *object, uint64_t other,
			      struct str *ret)
{
	const json_t *declared = json_object_get(object, "declared");
	const char *file = text_member(declared, "file");
	if (!other || !*file || strcmp(text_member(object, "where"), "memory"))
		return NULL;
	return str_appendf(ret, "%llu %s\n%s", (unsigned long long)other, file,
			   text_member(object, "test"));
}

/*
 * What a test leaves beside something that turns another test, which alone reads
 * it: the one is mended with the other. *@ret_found: the cause is *@ret.
 */
static struct err *place_beside(struct grouping *grouping, const json_t *object,
				size_t *ret, bool *ret_found)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t at = 0;
	TRY(beside_key(object, only_reader(grouping, object), &key));
	*ret_found = key.n && map_text_get(&grouping->beside, key.s, &at);
	if (*ret_found)
		*ret = (size_t)at;
	return NULL;
}

static struct err *place_pollution(struct grouping *grouping,
				   const json_t *object, size_t *ret)
{
	const char *id = text_member(object, "id");
	uint64_t turned = 0;
	bool found = false;
	if (!map_text_get(&grouping->turned, id, &turned))
		TRY(place_beside(grouping, object, ret, &found));
	if (!found)
		TRY(find_cause(grouping,
			       type_of_root(text_member(object, "where")),
			       text_member(object, "root"), ret));
	if (turned) {
		_cleanup_(str_freep) struct str key = STR_INIT;
		TRY(beside_key(object, turned, &key));
		if (key.n)
			TRY(map_text_put(&grouping->beside, key.s, *ret));
	}
	return map_text_put(&grouping->by_id, id, *ret);
}

/* ---- all kinds ---- */

/*
 * The call and the line of the project that makes it: several APIs may leave
 * the same thing open there, such as the order in a hash table.
 */
static struct err *place_call(struct grouping *grouping, const json_t *object,
			      size_t *ret)
{
	const json_t *stack =
		json_object_get(json_object_get(object, "call"), "stack");
	_cleanup_(str_freep) struct str name = STR_INIT;
	_cleanup_(str_freep) struct str place = STR_INIT;
	TRY(str_append(&name, text_member(object, "api")));
	for (size_t i = 0; i < json_array_size(stack) && !place.n; i++) {
		const json_t *frame = json_array_get(stack, i);
		const char *file = text_member(frame, "file");
		if (*file && !str_starts(file, "/usr/"))
			TRY(str_appendf(
				&place, " at %s:%lld", file,
				(long long)json_integer_value(
					json_object_get(frame, "line"))));
	}
	/* Where it is not known, calls of two tests are not the same one. */
	if (!place.n)
		TRY(str_appendf(&place, " in %s", text_member(object, "test")));
	TRY(str_append(&name, place.s));
	return find_cause_by(grouping, CAUSE_CALL, place.s, name.s, ret);
}

static struct err *place_finding(struct grouping *grouping,
				 const json_t *object, size_t *ret)
{
	const char *kind = text_member(object, "kind");
	if (!strcmp(kind, "pollution"))
		return place_pollution(grouping, object, ret);
	if (!strcmp(kind, "order-dependent"))
		return place_dependence(grouping, object, ret);
	if (!strcmp(kind, "assumption"))
		return place_call(grouping, object, ret);
	return find_cause(grouping, CAUSE_TEST, text_member(object, "test"),
			  ret);
}

/* ---- who has to do with it ---- */

static struct err *add_test_named(const struct grouping *grouping,
				  struct cause_tests *tests, const char *name)
{
	uint64_t number;
	return name && map_text_get(&grouping->numbers, name, &number)
		       ? vec_push(tests, (size_t)number)
		       : NULL;
}

/* A list of names, or of lists of them. */
static struct err *add_tests(const struct grouping *grouping,
			     struct cause_tests *tests, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *value = json_array_get(list, i);
		for (size_t j = 0; j < json_array_size(value); j++)
			TRY(add_test_named(
				grouping, tests,
				json_string_value(json_array_get(value, j))));
		TRY(add_test_named(grouping, tests, json_string_value(value)));
	}
	return NULL;
}

static struct err *note_tests(const struct grouping *grouping,
			      struct cause *cause, const json_t *object)
{
	const char *kind = text_member(object, "kind");
	const char *test = text_member(object, "test");
	if (!strcmp(kind, "pollution")) {
		TRY(add_test_named(grouping, &cause->leave, test));
		return add_tests(grouping, &cause->could,
				 json_object_get(object, "readers"));
	}
	TRY(add_test_named(grouping, &cause->misled, test));
	TRY(add_tests(grouping, &cause->leave,
		      json_object_get(object, "polluters")));
	TRY(add_tests(grouping, &cause->leave,
		      json_object_get(object, "setters")));
	if (!strcmp(text_member(object, "class"), "non-idempotent"))
		TRY(add_test_named(grouping, &cause->leave, test));
	return add_tests(grouping, &cause->cleaners,
			 json_object_get(object, "cleaners"));
}

static int compare_numbers(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

static void sort_tests(struct cause_tests *tests)
{
	size_t n = 0;
	if (!tests->n)
		return;
	qsort(tests->data, tests->n, sizeof(*tests->data), compare_numbers);
	for (size_t i = 0; i < tests->n; i++) {
		if (!i || tests->data[i] != tests->data[n - 1])
			tests->data[n++] = tests->data[i];
	}
	tests->n = n;
}

/* Those of @others, both sorted, are no longer in @tests. */
static void subtract_tests(struct cause_tests *tests,
			   const struct cause_tests *others)
{
	size_t n = 0;
	for (size_t i = 0, j = 0; i < tests->n; i++) {
		while (j < others->n && others->data[j] < tests->data[i])
			j++;
		if (j == others->n || others->data[j] != tests->data[i])
			tests->data[n++] = tests->data[i];
	}
	tests->n = n;
}

/* ---- in which order ---- */

/* Findings of a report stand in one array: by address is as found. */
static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;
	bool x_leaves = x->kind == &leftover_kind;
	bool y_leaves = y->kind == &leftover_kind;
	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (x_leaves != y_leaves)
		return x_leaves ? 1 : -1;
	return (x > y) - (x < y);
}

static const struct finding *first_found(const struct cause *cause)
{
	const struct finding *first = cause->findings.data[0];
	for (size_t i = 1; i < cause->findings.n; i++)
		first = MIN(first, cause->findings.data[i]);
	return first;
}

static int compare_causes(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;
	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (!x->fresh != !y->fresh)
		return x->fresh ? -1 : 1;
	if (x->misled.n != y->misled.n)
		return x->misled.n < y->misled.n ? 1 : -1;
	const struct finding *of_x = first_found(x), *of_y = first_found(y);
	return (of_x > of_y) - (of_x < of_y);
}

static void finish_cause(struct cause *cause)
{
	sort_tests(&cause->leave);
	sort_tests(&cause->misled);
	sort_tests(&cause->could);
	sort_tests(&cause->cleaners);
	subtract_tests(&cause->could, &cause->misled);
	qsort(cause->findings.data, cause->findings.n,
	      sizeof(*cause->findings.data), compare_findings);
}

static struct err *add_finding_to(struct grouping *grouping,
				  const struct finding *finding,
				  const json_t *object)
{
	size_t at = 0;
	TRY(place_finding(grouping, object, &at));
	struct cause *cause = &grouping->causes->data[at];
	TRY(vec_push(&cause->findings, finding));
	cause->severity = MAX(cause->severity, finding->severity);
	cause->fresh += !finding->known;
	if (!finding->known)
		cause->fresh_severity =
			MAX(cause->fresh_severity, finding->severity);
	return note_tests(grouping, cause, object);
}

/* What explains others comes first: they are put where it is. */
static int turn_of(const struct grouping *grouping,
		   const struct finding *finding)
{
	uint64_t turned;
	if (finding->kind != &leftover_kind)
		return 2;
	return map_text_get(&grouping->turned, finding->id, &turned) ? 0 : 1;
}

/* Of one suite: from @first to before @end. */
static struct err *add_suite(struct grouping *grouping, json_t **objects,
			     size_t first, size_t end)
{
	const struct finding *findings = grouping->report->findings;
	for (size_t i = first; i < end; i++)
		TRY(note_turned(grouping, objects[i]));
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = first; i < end; i++) {
			if (turn_of(grouping, &findings[i]) == turn)
				TRY(add_finding_to(grouping, &findings[i],
						   objects[i]));
		}
	}
	return NULL;
}

/* Those of a suite of a whole build stand together. */
static struct err *group_findings(struct grouping *grouping, json_t **objects)
{
	const struct report *report = grouping->report;
	for (size_t i = 0; i < report->n_findings; i++)
		TRY(report_finding_json(&report->findings[i], &objects[i]));
	for (size_t first = 0, end = 0; first < report->n_findings;
	     first = end) {
		const char *suite = text_member(objects[first], "suite");
		while (end < report->n_findings &&
		       !strcmp(text_member(objects[end], "suite"), suite))
			end++;
		TRY(add_suite(grouping, objects, first, end));
		forget_suite(grouping);
	}
	return NULL;
}

struct err *causes_group(const struct report *report, struct causes *ret)
{
	_cleanup_(causes_free) struct causes causes = {};
	_cleanup_(grouping_freep) struct grouping grouping = {
		.report = report,
		.causes = &causes,
	};
	_cleanup_(freep) json_t **objects =
		calloc(report->n_findings + 1, sizeof(*objects));
	if (!objects)
		return err_nomem();
	TRY(number_tests(&grouping));
	struct err *err = group_findings(&grouping, objects);
	for (size_t i = 0; i < report->n_findings; i++)
		json_decref(objects[i]);
	TRY(err);
	for (size_t i = 0; i < causes.n; i++)
		finish_cause(&causes.data[i]);
	if (causes.n)
		qsort(causes.data, causes.n, sizeof(*causes.data),
		      compare_causes);
	*ret = causes;
	causes = (struct causes){};
	return NULL;
}
