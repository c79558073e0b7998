#include "jvm/jvm_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "jvm/jvm_classes.h"
#include "jvm/jvm_outside.h"
#include "jvm/jvm_tree.h"
#include "state/containers.h"
#include "suite/change.h"
#include "wire/vm_heap.h"

#define CHANGES_MAX (1U << 20)
#define PATHS_MAX (1U << 16)

/* ---- what is asked for ---- */

static struct err *message_add_list(struct str *message,
				    const char *const *list)
{
	uint32_t n = 0;
	while (list && list[n])
		n++;
	TRY(message_add_number(message, n));
	for (uint32_t i = 0; i < n; i++)
		TRY(message_add_text(message, list[i]));
	return NULL;
}

static struct err *message_add_containers(struct str *message,
					  const struct suite_watch *watch)
{
	TRY(message_add_number(message, (uint32_t)watch->n_containers));
	for (size_t i = 0; i < watch->n_containers; i++) {
		const struct container_user *row = &watch->containers[i];
		TRY(message_add_text(message, row->type));
		TRY(message_add_text(message, row->shape));
		TRY(message_add_text(message, row->first));
		TRY(message_add_text(message, row->count));
		TRY(message_add_text(message, row->next));
		TRY(message_add_text(message, row->value));
		TRY(message_add_number(message, row->unordered));
	}
	return NULL;
}

static uint32_t jvm_heap_flags(const struct suite_watch *watch)
{
	uint32_t flags = WIRE_HEAP_ON;
	if (watch->what & SUITE_MEMORY)
		flags |= WIRE_HEAP_MEMORY;
	if (watch->what & SUITE_PROCESS)
		flags |= WIRE_HEAP_PROCESS;
	if (watch->consecutive)
		flags |= WIRE_HEAP_CONSECUTIVE;
	if (watch->everything)
		flags |= WIRE_HEAP_EVERYTHING;
	if (watch->method && !strcmp(watch->method, "compare"))
		flags |= WIRE_HEAP_SLOW;
	return flags;
}

static bool jvm_heap_is_watched(const struct suite_watch *watch)
{
	return watch && watch->what & (SUITE_MEMORY | SUITE_PROCESS);
}

/* Between the set-up and the tear-down of a test. */
static bool point_is_inner(enum suite_point point)
{
	return point == SUITE_AFTER_SETUP || point == SUITE_BEFORE_TEARDOWN;
}

static struct err *jvm_heap_prepare(struct jvm_suite *suite,
				    struct str *options, struct strv *words)
{
	const struct suite_watch *watch = suite->heap.watch;
	(void)words;
	/* Both set breakpoints, which a VM lets one of them do. */
	if (suite->heap.watched.n)
		TRY(str_append(options, ",reads=1"));
	else if (watch && (point_is_inner(watch->from) ||
			   (!watch->consecutive && point_is_inner(watch->to))))
		TRY(str_append(options, ",points=1"));
	return jvm_heap_is_watched(suite->heap.watch) || suite->heap.watched.n
		       ? str_append(options, ",heap=1")
		       : NULL;
}

static struct err *jvm_heap_send_places(const struct jvm_heap *heap,
					struct jvm_vm *vm)
{
	_cleanup_(str_freep) struct str message = STR_INIT;
	TRY(message_add_number(&message, (uint32_t)heap->watched.n));
	for (size_t i = 0; i < heap->watched.n; i++)
		TRY(message_add_text(&message,
				     heap->places.data[heap->watched.data[i]]));
	return jvm_vm_send(vm, (enum wire_vm_kind)WIRE_HEAP_PLACES, &message);
}

static struct err *jvm_heap_send_put_back(const struct jvm_heap *heap,
					  struct jvm_vm *vm)
{
	_cleanup_(str_freep) struct str message = STR_INIT;
	TRY(message_add_number(&message, (uint32_t)heap->put_entry));
	TRY(message_add_texts(&message, heap->put_back));
	return jvm_vm_send(vm, (enum wire_vm_kind)WIRE_HEAP_PUT_BACK, &message);
}

/* Classes that have these static fields. */
static struct err *jvm_heap_add_owners(const char *const *roots,
				       struct strv *ret)
{
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	for (size_t i = 0; roots && roots[i]; i++) {
		_cleanup_(freep) char *owner = NULL;
		uint64_t known;
		TRY(jvm_root_owner(roots[i], &owner));
		if (!owner || map_text_get(&seen, owner, &known))
			continue;
		TRY(map_text_put(&seen, owner, 1));
		TRY(strv_add(ret, owner));
	}
	return NULL;
}

/* Classes that are initialised before the first test. */
static struct err *jvm_heap_send_classes(const struct jvm_suite *suite,
					 struct jvm_vm *vm)
{
	_cleanup_(str_freep) struct str message = STR_INIT;
	_cleanup_(strv_freep) struct strv names = {};
	if (suite->heap.watch)
		TRY(jvm_heap_add_owners(suite->heap.watch->present, &names));
	if (suite->heap.eager)
		TRY(jvm_classes_find(suite->class_path, &names));
	for (size_t i = 0; suite->heap.first && i < suite->heap.first->n; i++)
		TRY(strv_add(&names, suite->heap.first->data[i]));
	if (!names.n)
		return NULL;
	log_debug(LOG_JVM, "%zu classes are initialised first", names.n);
	TRY(message_add_texts(&message, &names));
	return jvm_vm_send(vm, (enum wire_vm_kind)WIRE_HEAP_EAGER, &message);
}

static struct err *jvm_heap_begin(struct jvm_suite *suite, struct jvm_vm *vm)
{
	const struct suite_watch *watch = suite->heap.watch;
	_cleanup_(str_freep) struct str message = STR_INIT;
	suite->heap.any_ended = false;
	if (suite->heap.watched.n)
		TRY(jvm_heap_send_places(&suite->heap, vm));
	if (!jvm_heap_is_watched(watch))
		return NULL;
	TRY(jvm_heap_send_classes(suite, vm));
	uint32_t flags = jvm_heap_flags(watch);
	if (suite->heap.put_back) {
		flags &= ~(uint32_t)WIRE_HEAP_ON;
		TRY(jvm_heap_send_put_back(&suite->heap, vm));
	}
	TRY(message_add_number(&message, flags));
	TRY(message_add_number(&message, watch->from));
	TRY(message_add_number(&message, watch->to));
	TRY(message_add_number(&message, (uint32_t)watch->paths));
	TRY(message_add_number(&message, (uint32_t)suite->heap.span));
	TRY(message_add_list(&message, watch->include_roots));
	TRY(message_add_list(&message, watch->exclude_roots));
	TRY(message_add_list(&message, watch->exclude_fields));
	TRY(message_add_containers(&message, watch));
	return jvm_vm_send(vm, (enum wire_vm_kind)WIRE_HEAP_WATCH, &message);
}

/* ---- what comes ---- */

static struct err *jvm_heap_number(struct jvm_heap *heap, const char *place,
				   uint64_t *ret)
{
	if (map_text_get(&heap->numbers, place, ret))
		return NULL;
	TRY(strv_add(&heap->places, place));
	*ret = heap->places.n;
	return map_text_put(&heap->numbers, place, *ret);
}

static uint64_t message_wide(struct message_reader *reader)
{
	uint64_t low = message_number(reader);
	return low | (uint64_t)message_number(reader) << 32;
}

/* An empty text is one, too. */
static struct err *message_shown(struct message_reader *reader, char **ret)
{
	TRY(message_text(reader, ret));
	if (!*ret)
		*ret = strdup("");
	return *ret ? NULL : err_nomem();
}

static struct err *jvm_heap_read_path(struct jvm_heap *heap,
				      struct message_reader *reader,
				      struct change_path *ret)
{
	_cleanup_(freep) char *place = NULL;
	ret->kind = message_number(reader);
	ret->depth = message_number(reader);
	TRY(message_shown(reader, &ret->path));
	TRY(message_shown(reader, &ret->before));
	TRY(message_shown(reader, &ret->after));
	TRY(message_text(reader, &ret->type));
	TRY(message_text(reader, &place));
	ret->size = 1;
	return place ? jvm_heap_number(heap, place, &ret->address) : NULL;
}

static struct err *jvm_heap_read_change(struct jvm_heap *heap,
					struct message_reader *reader,
					struct change *ret)
{
	uint32_t where = message_number(reader);
	ret->where = where == CHANGE_PROCESS ? CHANGE_PROCESS : CHANGE_MEMORY;
	ret->first = message_number(reader) & 1;
	ret->weight = (enum change_weight)message_number(reader);
	ret->more = message_number(reader);
	ret->kinds = message_number(reader);
	ret->digest_before = message_wide(reader);
	ret->digest = message_wide(reader);
	TRY(message_shown(reader, &ret->root));
	TRY(message_text(reader, &ret->file));
	uint32_t n = message_number(reader);
	/* Whoever reads about a change shows its first path. */
	if (n > PATHS_MAX || ret->weight > WEIGHT_HIGH || (!n && !ret->first))
		reader->broken = true;
	if (reader->broken)
		return NULL;
	ret->paths = calloc(n + 1, sizeof(*ret->paths));
	if (!ret->paths)
		return err_nomem();
	while (ret->n < n && !reader->broken)
		TRY(jvm_heap_read_path(heap, reader, &ret->paths[ret->n++]));
	if (!n || reader->broken)
		return NULL;
	if (ret->where != CHANGE_MEMORY)
		return map_text_put(&heap->attributes, ret->root,
				    ret->paths[0].address);
	ret->root_address = ret->paths[0].address;
	ret->root_size = 1;
	return NULL;
}

static struct err *jvm_heap_changes(struct jvm_suite *suite,
				    struct message_reader *reader, size_t entry,
				    size_t test,
				    const struct suite_observer *observer)
{
	_cleanup_(changes_freep_deep) struct changes changes = {};
	message_number(reader); /* its place in the VM's order */
	uint32_t n = message_number(reader);
	for (uint32_t i = 0; i < n && i < CHANGES_MAX && !reader->broken; i++) {
		struct change change = {};
		struct err *err =
			jvm_heap_read_change(&suite->heap, reader, &change);
		if (!err && !reader->broken)
			err = vec_push(&changes, change);
		if (err || reader->broken)
			change_free(&change);
		if (err)
			return err;
	}
	if (reader->broken)
		return err_create(ERR_SUITE, "what the Java VM says about "
					     "changes is broken");
	if (observer->changed)
		observer->changed(observer->data, entry, test, changes.data,
				  changes.n);
	return NULL;
}

static struct err *jvm_heap_left_out(struct message_reader *reader,
				     const struct suite_observer *observer)
{
	_cleanup_(freep) char *name = NULL, *why = NULL;
	TRY(message_text(reader, &name));
	TRY(message_text(reader, &why));
	if (name && why && observer->left_out)
		observer->left_out(observer->data, name, why);
	return NULL;
}

static void jvm_heap_read(const struct jvm_heap *heap,
			  struct message_reader *reader, size_t test,
			  const struct suite_observer *observer)
{
	message_number(reader); /* the test's place in the VM's order */
	uint32_t place = message_number(reader);
	bool fills = message_number(reader);
	if (!reader->broken && place < heap->asked.n && observer->read)
		observer->read(observer->data, test, heap->asked.data[place],
			       fills);
}

static void jvm_heap_log_cost(const struct jvm_vm *vm,
			      struct message_reader *reader)
{
	uint32_t numbers[8];
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		numbers[i] = message_number(reader);
	log_debug(LOG_JVM,
		  "VM %d: heap examined %u times, changed %u times, compared "
		  "as a whole %u times, walked %u times; %u objects; %u us, "
		  "at most %u us; %u ms of processor time in all",
		  (int)vm->process.pid, numbers[0], numbers[1], numbers[2],
		  numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]);
}

static struct err *jvm_heap_message(struct jvm_suite *suite, struct jvm_vm *vm,
				    uint16_t kind,
				    struct message_reader *reader, size_t entry,
				    size_t test,
				    const struct suite_observer *observer)
{
	const struct suite_watch *watch = suite->heap.watch;
	switch (kind) {
	case WIRE_HEAP_COST:
		jvm_heap_log_cost(vm, reader);
		return NULL;
	case WIRE_HEAP_CHANGES:
		/* Of a test before the first one of this VM nothing is told. */
		if (watch && watch->consecutive && !suite->heap.any_ended)
			return NULL;
		if (watch && watch->consecutive)
			return jvm_heap_changes(
				suite, reader, suite->heap.last_entry,
				suite->heap.last_test, observer);
		return jvm_heap_changes(suite, reader, entry, test, observer);
	case WIRE_HEAP_READ:
		jvm_heap_read(&suite->heap, reader, test, observer);
		return NULL;
	case WIRE_HEAP_LEFT_OUT:
		return jvm_heap_left_out(reader, observer);
	default:
		return NULL;
	}
}

static struct err *jvm_heap_ended(struct jvm_suite *suite, struct jvm_vm *vm,
				  size_t entry, size_t test,
				  const struct suite_observer *observer)
{
	(void)vm, (void)observer;
	suite->heap.any_ended = true;
	suite->heap.last_entry = entry;
	suite->heap.last_test = test;
	return NULL;
}

const struct jvm_part jvm_heap_part = {
	.prepare = jvm_heap_prepare,
	.begin = jvm_heap_begin,
	.first = WIRE_HEAP_WATCH,
	.end = WIRE_VM_CHOICES,
	.message = jvm_heap_message,
	.ended = jvm_heap_ended,
};

/* ---- the suite's functions ---- */

struct err *jvm_heap_watch(struct suite *suite, const struct suite_watch *watch)
{
	TRY(jvm_outside_watch((struct jvm_suite *)suite, watch));
	((struct jvm_suite *)suite)->heap.watch = watch;
	return NULL;
}

/* The number of a place; 0: it cannot be watched. */
static uint64_t jvm_heap_place(const struct jvm_heap *heap,
			       const struct suite_place *place)
{
	uint64_t number = 0;
	if (place->where == CHANGE_MEMORY)
		number = place->address;
	else if (place->where == CHANGE_PROCESS)
		map_text_get(&heap->attributes, place->root, &number);
	return number <= heap->places.n ? number : 0;
}

struct err *jvm_heap_run_places(struct suite *suite, const size_t *order,
				size_t n, const struct suite_place *places,
				size_t n_places,
				const struct suite_observer *observer)
{
	struct jvm_suite *self = (struct jvm_suite *)suite;
	struct jvm_heap *heap = &self->heap;
	struct err *err = jvm_outside_watch_places(self, places, n_places);
	for (size_t i = 0; !err && i < n_places; i++) {
		uint64_t number = jvm_heap_place(heap, &places[i]);
		if (!number)
			continue;
		err = vec_push(&heap->watched, (size_t)number - 1);
		if (!err)
			err = vec_push(&heap->asked, i);
	}
	if (!err)
		err = jvm_run_restored(self, order, n, SUITE_SERIAL, observer);
	heap->watched.n = heap->asked.n = 0;
	struct err *failed = jvm_outside_watch(self, heap->watch);
	if (!err)
		return failed;
	err_ignore(failed);
	return err;
}

void jvm_heap_initialise(struct suite *suite, bool early)
{
	((struct jvm_suite *)suite)->heap.eager = early;
}

void jvm_heap_free(struct jvm_heap *heap)
{
	map_text_free(&heap->numbers);
	strv_free(&heap->places);
	map_text_free(&heap->attributes);
	vec_free(&heap->watched);
	vec_free(&heap->asked);
}
