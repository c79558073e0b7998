#include "native/sort_models.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "native/agent_call.h"
#include "native/chooser.h"
#include "native/session.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "wire/choices.h"

#define BYTES_MAX ((uint64_t)1 << 20)
#define PLACES_MAX 4096
/* In a test; each takes some 25 µs. */
#define STOPS_MAX 2000

/*
 * Functions that others of them call are left alone then. What has the range as
 * its arguments is of the library's own making, and differs between the two.
 */
static const struct sort_function {
	const char *start; /* of the symbol */
	uint16_t model;
	uint8_t end; /* number of the argument that is the range's end */
} sort_functions[] = {
	{ "_ZSt16__introsort_loopI", WIRE_MODEL_std_sort, 1 },
	{ "_ZSt13__introselectI", WIRE_MODEL_std_nth_element, 2 },
	{ "_ZSt14__partial_sortI", WIRE_MODEL_std_partial_sort, 2 },
	{ "_ZSt13__heap_selectI", WIRE_MODEL_std_partial_sort, 2 },
	{ "_ZNSt3__16__sortI", WIRE_MODEL_std_sort, 1 },
	{ "_ZNSt3__111__introsortI", WIRE_MODEL_std_sort, 1 },
	{ "_ZNSt3__113__nth_elementI", WIRE_MODEL_std_nth_element, 2 },
	{ "_ZNSt3__114__partial_sortI", WIRE_MODEL_std_partial_sort, 2 },
};

enum sort_state {
	SORT_NEW, /* debug information was not asked yet */
	SORT_VARIED,
	SORT_TOTAL, /* equal elements cannot be distinguished */
	SORT_LEFT,  /* their bytes may not be moved, or it is not known */
};

/* A function of the program that sorts. */
struct sort_place {
	struct object *object;
	const struct sort_function *function;
	uint64_t value, size; /* in the file */
	uint64_t at;	      /* in memory; 0: not now */
	bool less;	      /* compares with "<" */
	enum sort_state state;
	struct object_elements elements;
};

struct sort_models {
	VEC(struct sort_place) places;
	VEC(const struct object *) known; /* whose functions are listed */
	size_t stops;			  /* in this test */
	VEC(pid_t) calling; /* threads that come back to a breakpoint */
	size_t left;	    /* functions, because of their elements */
	bool told;
};

void sort_models_destroy(struct sort_models *models)
{
	if (!models)
		return;
	vec_free(&models->places);
	vec_free(&models->known);
	vec_free(&models->calling);
	free(models);
}

/* ---- functions ---- */

struct sort_search {
	struct sort_models *models;
	struct object *object;
	struct err *err;
};

static bool sort_visit_symbol(void *data, const struct object_symbol *symbol)
{
	struct sort_search *search = data;
	const char *name = symbol->name;
	if (!symbol->function || symbol->ifunc || !symbol->size ||
	    !str_starts(name, "_Z") || strstr(name, ".cold"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(sort_functions); i++) {
		if (!str_starts(name, sort_functions[i].start))
			continue;
		struct sort_place place = {
			.object = search->object,
			.function = &sort_functions[i],
			.value = symbol->value,
			.size = symbol->size,
			.less = strstr(name, "_Iter_less_iter") ||
				strstr(name, "6__lessI"),
		};
		search->err = vec_push(&search->models->places, place);
		break;
	}
	return !search->err && search->models->places.n < PLACES_MAX;
}

static struct err *sort_list_functions(struct sort_models *models,
				       struct object *object)
{
	for (size_t i = 0; i < models->known.n; i++) {
		if (models->known.data[i] == object)
			return NULL;
	}
	struct sort_search search = { .models = models, .object = object };
	object_each_symbol(object, sort_visit_symbol, &search);
	TRY(search.err);
	return vec_push(&models->known, object);
}

/* ---- where they begin ---- */

static bool sort_is_chosen(struct session *session, unsigned model)
{
	const struct wire_choices *block = chooser_block(session->chooser);
	return block->active && block->models[model / 64] >> model % 64 & 1;
}

static bool sort_is_any_chosen(struct session *session)
{
	return sort_is_chosen(session, WIRE_MODEL_std_sort) ||
	       sort_is_chosen(session, WIRE_MODEL_std_nth_element) ||
	       sort_is_chosen(session, WIRE_MODEL_std_partial_sort);
}

static bool sort_is_watched(const struct sort_place *place)
{
	return place->at &&
	       (place->state == SORT_NEW || place->state == SORT_VARIED);
}

static struct err *sort_on_entry(struct run *run, struct thread *thread,
				 uint64_t arg);

static struct err *sort_watch(struct run *run)
{
	struct sort_models *models = run->session->sort_models;
	for (size_t i = 0; i < models->places.n; i++) {
		const struct sort_place *place = &models->places.data[i];
		uint64_t word;
		if (!sort_is_watched(place) ||
		    breakpoint_at(run->tracee, RADDR(place->at), &word))
			continue;
		TRY(run_break(run, RADDR(place->at), sort_on_entry, 0));
	}
	return NULL;
}

/* Not while a thread has to stop at one of them again. */
static struct err *sort_rest(struct run *run)
{
	struct sort_models *models = run->session->sort_models;
	if (models->calling.n)
		return NULL;
	for (size_t i = 0; i < models->places.n; i++) {
		const struct sort_place *place = &models->places.data[i];
		uint64_t word;
		if (!sort_is_watched(place) ||
		    !breakpoint_at(run->tracee, RADDR(place->at), &word) ||
		    run->session->hooks.data[word].call != sort_on_entry)
			continue;
		TRY(run_unbreak(run, RADDR(place->at)));
	}
	return NULL;
}

struct err *sort_models_attach(struct run *run)
{
	struct session *session = run->session;
	const struct program *program = run->program;
	if (!session->chooser)
		return NULL;
	if (!session->sort_models)
		session->sort_models = calloc(1, sizeof(*session->sort_models));
	struct sort_models *models = session->sort_models;
	if (!models)
		return err_nomem();
	for (size_t i = 0; i < models->places.n; i++)
		models->places.data[i].at = 0;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		if (!module->end || !module->object || module->system)
			continue;
		TRY(sort_list_functions(models, module->object));
		for (size_t k = 0; k < models->places.n; k++) {
			struct sort_place *place = &models->places.data[k];
			if (place->object == module->object)
				place->at = place->value + module->bias;
		}
	}
	return sort_watch(run);
}

struct err *sort_models_begin(struct run *run)
{
	struct sort_models *models = run->session->sort_models;
	if (!models)
		return NULL;
	models->stops = 0;
	return sort_is_any_chosen(run->session) ? sort_watch(run) : NULL;
}

/* ---- one call ---- */

/* The function that has this address: @begin: begins there. */
static struct sort_place *sort_find_place(struct sort_models *models,
					  uint64_t address, bool begin)
{
	for (size_t i = 0; i < models->places.n; i++) {
		struct sort_place *place = &models->places.data[i];
		if (place->at && (begin ? place->at == address
					: address - place->at < place->size))
			return place;
	}
	return NULL;
}

static void sort_learn(struct sort_models *models, struct sort_place *place)
{
	struct object_elements *elements = &place->elements;
	if (!object_range_elements(place->object, place->value, elements)) {
		place->state = SORT_LEFT;
		models->left++;
	} else if (elements->scalar && place->less &&
		   place->function->model == WIRE_MODEL_std_sort) {
		place->state = SORT_TOTAL;
	} else {
		place->state = SORT_VARIED;
	}
}

/* Is there such a range? Code made for one caller may have other arguments. */
static bool sort_find_range(const struct thread *thread,
			    const struct sort_place *place, uint64_t *ret_base,
			    uint64_t *ret_n)
{
	uint64_t base = thread_arg(thread, 0), size = place->elements.size;
	uint64_t end = thread_arg(thread, place->function->end);
	char byte;
	if (!base || end <= base || end - base > BYTES_MAX ||
	    (end - base) % size)
		return false;
	for (unsigned i = 1; i < place->function->end; i++) {
		uint64_t middle = thread_arg(thread, i);
		if (middle < base || middle > end || (middle - base) % size)
			return false;
	}
	*ret_base = base;
	*ret_n = (end - base) / size;
	return *ret_n > 1 &&
	       memory_read_some(thread->tracee, RADDR(base), &byte, 1) == 1 &&
	       memory_read_some(thread->tracee, RADDR(end - 1), &byte, 1) == 1;
}

static void sort_forget_call(struct sort_models *models,
			     const struct thread *thread)
{
	pid_t number = agent_call_thread(thread);
	for (size_t i = models->calling.n; i--;) {
		if (models->calling.data[i] == number)
			models->calling.data[i] =
				models->calling.data[--models->calling.n];
	}
}

static struct err *sort_begin_choice(struct run *run, struct thread *thread,
				     const struct sort_place *place,
				     uint64_t caller)
{
	const struct wire_choices *block = chooser_block(run->session->chooser);
	uint64_t base, n, agent = block->sort_address;
	if (!agent || !sort_find_range(thread, place, &base, &n))
		return NULL;
	const struct object_elements *elements = &place->elements;
	uint64_t flags = (elements->addresses ? WIRE_SORT_ADDRESSES : 0) |
			 (elements->inside ? WIRE_SORT_INSIDE : 0);
	const uint64_t arguments[AGENT_CALL_ARGUMENTS] = {
		place->function->model, base, n, elements->size, flags, caller,
	};
	const struct agent_call call = { .kind = place->function->model };
	struct sort_models *models = run->session->sort_models;
	TRY(vec_push(&models->calling, agent_call_thread(thread)));
	return agent_call_begin(run, thread, agent, arguments, &call);
}

static struct err *sort_on_entry(struct run *run, struct thread *thread,
				 uint64_t arg _unused_)
{
	struct session *session = run->session;
	struct sort_models *models = session->sort_models;
	struct agent_call call;
	uint64_t caller;
	sort_forget_call(models, thread);
	if (agent_call_end(run, thread, true, &call))
		return NULL;
	if (++models->stops > STOPS_MAX ||
	    (run->in_test && !sort_is_any_chosen(session)))
		return sort_rest(run);
	struct sort_place *place =
		sort_find_place(models, regs_pc(&thread->regs).v, true);
	if (!place || !sort_is_chosen(session, place->function->model) ||
	    memory_read_some(run->tracee, regs_sp(&thread->regs), &caller,
			     sizeof(caller)) != sizeof(caller) ||
	    sort_find_place(models, caller, false))
		return NULL;
	if (place->state == SORT_NEW)
		sort_learn(models, place);
	if (place->state != SORT_VARIED)
		return run_unbreak(run, RADDR(place->at));
	struct err *err = sort_begin_choice(run, thread, place, caller);
	if (err) /* the test continues as usual */
		err_ignore(err);
	return NULL;
}

void sort_models_tell(struct session *session)
{
	struct sort_models *models = session->sort_models;
	const struct suite_observer *observer = session->observer;
	if (!models || models->told || !models->left || !observer ||
	    !observer->limit)
		return;
	models->told = true;
	suite_limit(observer,
		    "std::sort, std::nth_element, std::partial_sort: %zu of "
		    "them left alone, for it is not known that their elements "
		    "may be moved",
		    models->left);
}
