#include "watch/memory_watch_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "suite/change.h"
#include "tracee/memory.h"
#include "watch/call_stack.h"
#include "wire/state.h"

#define TYPE_TEXT_MAX 256 /* of the name of a type */
#define DETAIL_LINES 60
#define STACK_MAX 16
/* Variables of a library that are reported when it is loaded. */
#define LATE_MAX 100
/* Pointers that state_digest() follows, less one. */
#define DIGEST_DEPTH 3
#define WHY_SIZE 64
/* Of memory that a function of the C library returns, in bytes. */
#define RESULT_MAX 4096

/* ---- what the walk sees ---- */

static const uint8_t *watched_page(struct memory_watch *watch,
				   enum image_side side, uint64_t address)
{
	if (held_roots_contain(address))
		return held_roots_page(&watch->held, address);
	return image_page(watch->image, side, address);
}

static const uint8_t *page_before(void *data, uint64_t address)
{
	return watched_page(data, IMAGE_BEFORE, address);
}

static const uint8_t *page_after(void *data, uint64_t address)
{
	return watched_page(data, IMAGE_AFTER, address);
}

static bool block_on(struct memory_watch *watch, enum image_side side,
		     uint64_t address, struct view_block *ret)
{
	struct image_block block;
	if (!image_block(watch->image, side, address, &block))
		return false;
	*ret = (struct view_block){ block.start, block.size, block.stack,
				    block.exact };
	return true;
}

static bool block_before(void *data, uint64_t address, struct view_block *ret)
{
	return block_on(data, IMAGE_BEFORE, address, ret);
}

static bool block_after(void *data, uint64_t address, struct view_block *ret)
{
	return block_on(data, IMAGE_AFTER, address, ret);
}

/* What the agent noted of memory that the C library's functions return. */
static struct err *load_results(struct memory_watch *watch)
{
	struct {
		uint64_t n;
		struct wire_result list[WIRE_RESULTS];
	} noted;
	struct raddr agent;
	watch->areas.results.n = 0;
	if (!program_symbol(watch->host.program, WIRE_STATE_SYMBOL, &agent))
		return NULL;
	struct raddr from =
		raddr_add(agent, offsetof(struct wire_state, results_n));
	if (memory_read_some(watch->tracee, from, &noted, sizeof(noted)) !=
	    sizeof(noted))
		return NULL;
	for (uint64_t i = 0; i < MIN(noted.n, (uint64_t)WIRE_RESULTS); i++) {
		const struct wire_result *one = &noted.list[i];
		struct area_result result = {
			one->address,
			one->address + MIN(one->size, (uint64_t)RESULT_MAX),
		};
		TRY(vec_push(&watch->areas.results, result));
	}
	return NULL;
}

static struct err *load_areas(struct memory_watch *watch)
{
	if (!watch->areas.fresh)
		TRY(load_results(watch));
	return areas_load(&watch->areas, watch->host.program, watch->tracee,
			  !image_blocks_missing(watch->image));
}

static enum state_area area_of(void *data, uint64_t address)
{
	struct memory_watch *watch = data;
	if (held_roots_cover(&watch->held, address))
		return STATE_DATA;
	/* Seldom asked: read only when it is. */
	err_ignore(load_areas(watch));
	return areas_find(&watch->areas, address);
}

static bool symbol_of(void *data, uint64_t address, char *out, size_t n)
{
	struct memory_watch *watch = data;
	return program_name_at(watch->host.program, RADDR(address), out, n);
}

/* ---- life ---- */

struct err *memory_watch_create(const struct watch_host *host,
				const struct suite_watch *options,
				struct memory_watch **ret)
{
	struct memory_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return err_nomem();
	watch->host = *host;
	watch->options = options;
	struct err *err = type_pool_create(&watch->pool);
	if (!err)
		err = roots_init(&watch->roots, watch->pool, options);
	_cleanup_(container_user_list_freep) struct container_user_list
		users = {};
	if (!err)
		err = roots_skip_types(host->program, &users);
	if (!err)
		err = vec_append(&users, options->containers,
				 options->n_containers);
	if (!err)
		err = containers_create(watch->pool, users.data, users.n,
					&watch->containers);
	if (!err)
		containers_set_symbols(watch->containers, symbol_of, watch);
	if (err) {
		memory_watch_destroy(watch);
		return err;
	}
	*ret = watch;
	return NULL;
}

static void memory_watch_log_costs(const struct memory_watch *watch)
{
	struct image_counts counts = image_counts(watch->image);
	if (!counts.captures)
		return;
	log_debug(LOG_WATCH,
		  "%llu captures (%llu with other mappings, %llu pages hot): "
		  "%llu pages and %llu+%llu us each",
		  (unsigned long long)counts.captures,
		  (unsigned long long)counts.moved,
		  (unsigned long long)counts.hot,
		  (unsigned long long)(counts.written / counts.captures),
		  (unsigned long long)(watch->capture_ns / counts.captures /
				       1000),
		  (unsigned long long)(watch->compare_ns / counts.captures /
				       1000));
}

void memory_watch_stop(struct memory_watch *watch)
{
	map_u64_free(&watch->fixtures);
	map_u64_free(&watch->freed);
	if (watch->image)
		memory_watch_log_costs(watch);
	watch->capture_ns = watch->compare_ns = 0;
	moments_free(&watch->moments);
	state_destroy(watch->state);
	image_destroy(watch->image);
	watch->state = NULL;
	watch->image = NULL;
	watch->tracee = NULL;
	watch->held.list = NULL;
	watch->areas.all.n = 0;
	areas_forget(&watch->areas);
	map_u64_free(&watch->known_modules);
	watch->loads = 0;
}

void memory_watch_destroy(struct memory_watch *watch)
{
	if (!watch)
		return;
	memory_watch_stop(watch);
	roots_free(&watch->roots);
	held_roots_free(&watch->held);
	containers_destroy(watch->containers);
	type_pool_destroy(watch->pool);
	areas_free(&watch->areas);
	state_differences_free(&watch->differences);
	vec_free(&watch->pages);
	vec_free(&watch->omitted);
	free(watch);
}

struct err *memory_watch_start(struct memory_watch *watch,
			       const struct watch_process *process)
{
	memory_watch_stop(watch);
	enum image_method method = IMAGE_AUTO;
	const char *name = watch->options->method;
	if (name && !image_method_by_name(name, &method))
		return err_create(ERR_USAGE, "there is no method '%s'", name);
	const struct program *program = watch->host.program;
	TRY(image_create(process->thread, process->origin, method,
			 program_agent_heap(program), &watch->image));
	struct raddr symbol;
	if (!program_agent_heap(program) &&
	    program_symbol(program, "__asan_init", &symbol))
		TRY(image_set_asan(watch->image));
	else if (program_symbol(program, "main_arena", &symbol))
		image_set_arena(watch->image, symbol.v);
	watch->tracee = process->tracee;
	watch->held.list = process->held;
	moments_start(&watch->moments);
	watch->before = (struct view){ page_before, block_before, watch };
	watch->after = (struct view){ page_after, block_after, watch };
	return NULL;
}

/* ---- roots ---- */

static size_t loaded_modules(const struct program *program)
{
	size_t n = 0;
	for (size_t i = 0; i < program->modules.n; i++)
		n += program->modules.data[i].end != 0;
	return n;
}

/* Which files roots are from, and since which look at them. */
static struct err *note_modules(struct memory_watch *watch)
{
	watch->loads++;
	for (size_t i = 0; i < watch->roots.all.n; i++) {
		uint64_t known, module = watch->roots.all.data[i].module;
		if (!map_u64_get(&watch->known_modules, module, &known))
			TRY(map_u64_put(&watch->known_modules, module,
					watch->loads));
	}
	return NULL;
}

struct state_options memory_watch_options(struct memory_watch *watch)
{
	return (struct state_options){
		.roots = watch->roots.all.data,
		.n_roots = watch->roots.all.n,
		.vtables = watch->roots.vtables.data,
		.n_vtables = watch->roots.vtables.n,
		.area = area_of,
		.symbol = symbol_of,
		.data = watch,
		.exclude_fields = watch->options->exclude_fields,
		.paths = watch->options->paths ? watch->options->paths : 3,
	};
}

static void memory_watch_tell_left_out(const struct memory_watch *watch,
				       const char *name, const char *why)
{
	const struct suite_observer *observer = *watch->host.observer;
	if (observer && observer->left_out)
		observer->left_out(observer->data, name, why);
}

static void memory_watch_tell_all_left_out(const struct memory_watch *watch)
{
	for (size_t i = 0; i < watch->roots.left_out.n; i++) {
		const struct root_left_out *left =
			&watch->roots.left_out.data[i];
		char why[WHY_SIZE];
		if (left->owner && own_is_made(left->owner, left->name))
			continue;
		if (left->owner)
			snprintf(why, sizeof(why), "of %s", left->owner->title);
		memory_watch_tell_left_out(watch, left->name,
					   left->owner ? why : left->why);
	}
}

static struct err *add_held(struct memory_watch *watch)
{
	const struct held_source source = {
		.program = watch->host.program,
		.image = watch->image,
		.areas = &watch->areas,
		.tracee = watch->tracee,
	};
	TRY(load_areas(watch));
	return held_roots_add(&watch->held, &source, &watch->roots);
}

/* Everything that can be reached, from nothing. */
static struct err *index_anew(struct memory_watch *watch, struct thread *thread)
{
	moments_forget_roots(&watch->moments);
	state_destroy(watch->state);
	watch->state = NULL;
	map_u64_free(&watch->fixtures); /* other numbers from now on */
	TRY(roots_load(&watch->roots, watch->host.program, thread));
	memory_watch_tell_all_left_out(watch);
	if (watch->held.list)
		TRY(add_held(watch));
	TRY(containers_complete(watch->containers));
	watch->modules = loaded_modules(watch->host.program);
	TRY(note_modules(watch));
	const struct state_options options = memory_watch_options(watch);
	TRY(state_create(watch->pool, watch->containers, &options,
			 &watch->state));
	/* Work of our own: on all processors. */
	tracer_unpin(watch->host.tracer);
	TRY(state_index(watch->state, &watch->after));
	struct state_counts counts = state_counts(watch->state);
	log_debug(LOG_WATCH, "%zu roots, %zu objects reachable",
		  options.n_roots, counts.nodes);
	if (watch->roots.untyped && !watch->said_untyped) {
		suite_limit(*watch->host.observer,
			    watch->roots.dynamic
				    ? "pollution: without debug information "
				      "(-g) variables are compared word by word"
				    : "pollution: the program is statically "
				      "linked and has no debug information "
				      "(-g): its memory is not compared");
		watch->said_untyped = true;
	}
	if (watch->roots.stripped && !watch->said_stripped) {
		suite_limit(*watch->host.observer,
			    "pollution: '%s' is stripped: changes of its "
			    "variables are not seen, but of those that it "
			    "exports",
			    path_base(watch->roots.stripped->path));
		watch->said_stripped = true;
	}
	const char *missing = image_blocks_missing(watch->image);
	if (missing && !watch->said_blocks) {
		suite_limit(*watch->host.observer,
			    "pollution: sizes of heap blocks are not known "
			    "(%s): only one object is compared for each "
			    "pointer",
			    missing);
		watch->said_blocks = true;
	}
	return NULL;
}

/* ---- differences into changes ---- */

static struct err *find_frames(struct memory_watch *watch, uint32_t stack,
			       struct change_path *path)
{
	uint64_t addresses[STACK_MAX];
	struct call_stack found = {};
	size_t n = image_stack(watch->image, stack, addresses, STACK_MAX);
	path->stack = calloc(CALL_STACK_FRAMES, sizeof(*path->stack));
	if (!path->stack)
		return err_nomem();
	/* A return address: the call is before it. */
	for (size_t i = 0; i < n; i++) {
		if (!call_stack_add(&found, watch->host.program,
				    addresses[i] - 1))
			break;
	}
	call_stack_finish(&found);
	for (size_t i = 0; i < found.n; i++)
		path->stack[path->n_stack++] = found.frames[i];
	return NULL;
}

/* What is more than a time stamp comes first. */
static size_t change_place_of(const struct change *change, unsigned kind)
{
	size_t at = change->n;
	while (kind != VALUE_TIME && at > 0 &&
	       change->paths[at - 1].kind == VALUE_TIME)
		at--;
	return at;
}

struct err *memory_watch_add_path(struct memory_watch *watch,
				  const struct state_difference *difference,
				  struct change *change)
{
	struct change_path *grown = realloc(
		change->paths, (change->n + 1) * sizeof(*change->paths));
	if (!grown)
		return err_nomem();
	change->paths = grown;
	size_t at = change_place_of(change, difference->kind);
	struct change_path *path = &grown[at];
	memmove(path + 1, path, (change->n++ - at) * sizeof(*path));
	*path = (struct change_path){
		.address = difference->address,
		.size = difference->size,
		.heap = difference->heap,
		.depth = difference->depth,
		.kind = difference->kind,
	};
	TRY(str_copy(difference->path, &path->path));
	TRY(str_copy(difference->before, &path->before));
	TRY(str_copy(difference->after, &path->after));
	if (difference->type != TYPE_UNKNOWN) {
		char type[TYPE_TEXT_MAX];
		type_describe(watch->pool, difference->type, type,
			      sizeof(type));
		TRY(str_format(&path->type, "%s%s", type,
			       difference->pointer ? " *" : ""));
	}
	return difference->stack ? find_frames(watch, difference->stack, path)
				 : NULL;
}

/* A C++ static that was constructed in the meantime. */
static bool is_first(const struct memory_watch *watch,
		     const struct state_root *root)
{
	uint8_t was = 1, is = 0;
	return root->guard && view_read(&watch->before, root->guard, &was, 1) &&
	       view_read(&watch->after, root->guard, &is, 1) && !(was & 1) &&
	       is & 1;
}

struct err *memory_watch_add_detail(struct memory_watch *watch,
				    const struct view *before, size_t root,
				    struct change *change)
{
	_cleanup_(freep) char *was = NULL, *is = NULL;
	TRY(state_render(watch->state, before, root, DETAIL_LINES, &was));
	TRY(state_render(watch->state, &watch->after, root, DETAIL_LINES, &is));
	free(change->detail);
	if (asprintf(&change->detail, "  before:\n%s  after:\n%s", was, is) <
	    0) {
		change->detail = NULL;
		return err_nomem();
	}
	return NULL;
}

struct err *memory_watch_add_change(struct memory_watch *watch, size_t root,
				    struct changes *changes,
				    struct change **ret)
{
	for (size_t i = 0; i < changes->n; i++) {
		struct change *known = &changes->data[i];
		if (known->where == CHANGE_MEMORY &&
		    known->root_number == root) {
			*ret = known;
			return NULL;
		}
	}
	const struct state_root *at = &watch->roots.all.data[root];
	const struct root_place *place = &watch->roots.places.data[root];
	struct change change = {
		.where = CHANGE_MEMORY,
		.line = place->line,
		.first = is_first(watch, at),
		.more = state_more(watch->state, root),
		.kinds = state_kinds(watch->state, root),
		.digest_before =
			state_digest(watch->state, &watch->before, root),
		.digest = state_digest(watch->state, &watch->after, root),
		.root_address =
			held_roots_contain(at->address) ? 0 : at->address,
		.root_size = at->size,
		.root_number = root,
	};
	TRY(vec_push(changes, change));
	*ret = &changes->data[changes->n - 1];
	TRY(str_copy(at->name, &(*ret)->root));
	TRY(str_copy(place->file, &(*ret)->file));
	return watch->options->detail
		       ? memory_watch_add_detail(watch, &watch->before, root,
						 *ret)
		       : NULL;
}

bool memory_watch_leaves_out(const struct memory_watch *watch,
			     const struct state_difference *difference)
{
	if (watch->options->runners)
		return false;
	const struct program *program = watch->host.program;
	const struct state_root *root =
		&watch->roots.all.data[difference->root];
	return program_is_runners(program, root->address, root->size) ||
	       program_is_runners(program, difference->address,
				  difference->size);
}

/*
 * Any call of localtime() and the like overwrites what an earlier one returned:
 * that a variable still points there is seldom more than forgotten.
 */
static bool memory_watch_is_result(struct memory_watch *watch,
				   const struct state_difference *difference)
{
	err_ignore(load_areas(watch));
	return areas_is_result(&watch->areas, difference->address);
}

static struct err *
memory_watch_note_runners(struct memory_watch *watch,
			  const struct state_difference *difference)
{
	const struct state_root *root =
		&watch->roots.all.data[difference->root];
	struct omitted_word word = { root->name,
				     difference->address - root->address };
	memory_watch_tell_left_out(watch, root->name,
				   "that the runner counts or judges by");
	return vec_push(&watch->omitted, word);
}

static struct err *collect_changes(struct memory_watch *watch,
				   struct changes *changes)
{
	for (size_t i = 0; i < watch->differences.n; i++) {
		const struct state_difference *difference =
			&watch->differences.data[i];
		struct change *change = NULL;
		if (memory_watch_leaves_out(watch, difference)) {
			TRY(memory_watch_note_runners(watch, difference));
			continue;
		}
		TRY(memory_watch_add_change(watch, difference->root, changes,
					    &change));
		TRY(memory_watch_add_path(watch, difference, change));
		if (difference->dead)
			change->weight = WEIGHT_HIGH;
		else if (memory_watch_is_result(watch, difference))
			change->weight = WEIGHT_LOW;
	}
	return NULL;
}

/* Is it now again as it was before the test? Numbers tell only so deep. */
static bool is_undone(struct memory_watch *watch, const struct change *change)
{
	for (size_t i = 0; i < change->n; i++) {
		if (change->paths[i].depth > DIGEST_DEPTH)
			return false;
	}
	/* A change that the numbers do not show is none they undo. */
	return !change->more && change->digest != change->digest_before &&
	       state_digest(watch->state, &watch->after, change->root_number) ==
		       change->digest_before;
}

/*
 * Did the runner write there, too, between the tests? What it creates again for
 * each of them need not be what it was. For a variable known for that any path
 * will do: only a few are reported.
 */
static bool is_remade(const struct memory_watch *watch,
		      const struct change *change)
{
	uint64_t known;
	bool fixture =
		map_u64_get(&watch->fixtures, change->root_number, &known);
	for (size_t i = 0; i < watch->differences.n; i++) {
		const struct state_difference *difference =
			&watch->differences.data[i];
		if (difference->root != change->root_number)
			continue;
		if (fixture)
			return true;
		for (size_t j = 0; j < change->n; j++) {
			if (!strcmp(change->paths[j].path, difference->path))
				return true;
		}
	}
	return false;
}

/* The next test is about to begin: what the runner restored is a fixture. */
static struct err *memory_watch_drop_undone(struct memory_watch *watch,
					    struct changes *held)
{
	struct err *err = NULL;
	size_t n = 0;
	for (size_t i = 0; i < held->n; i++) {
		struct change *change = &held->data[i];
		if (err || change->where != CHANGE_MEMORY ||
		    (!is_remade(watch, change) && !is_undone(watch, change))) {
			held->data[n++] = *change;
			continue;
		}
		err = map_u64_put(&watch->fixtures, change->root_number, 1);
		change_free(change);
	}
	held->n = n;
	return err;
}

bool memory_watch_is_fixture(const struct memory_watch *watch,
			     const struct change *change)
{
	uint64_t known;
	return map_u64_get(&watch->fixtures, change->root_number, &known);
}

/* Variables of libraries that were loaded during this test. */
static struct err *add_late(struct memory_watch *watch, struct changes *changes)
{
	for (size_t i = 0; i < watch->roots.all.n; i++) {
		const struct state_root *root = &watch->roots.all.data[i];
		uint64_t known;
		if (map_u64_get(&watch->known_modules, root->module, &known) &&
		    known != watch->loads)
			continue;
		struct change *change = NULL;
		if (changes->n >= LATE_MAX)
			break;
		TRY(memory_watch_add_change(watch, i, changes, &change));
		change->first = true;
	}
	return NULL;
}

/* ---- what was freed ---- */

static struct err *note_freed(void *data, size_t root, uint64_t start,
			      uint64_t size)
{
	struct memory_watch *watch = data;
	struct image_block block;
	uint64_t known;
	if (image_block(watch->image, IMAGE_AFTER, start, &block) &&
	    block.start == start && block.size == size)
		return NULL;
	return map_u64_get(&watch->freed, root, &known)
		       ? NULL
		       : map_u64_put(&watch->freed, root, 1);
}

/*
 * Roots from which blocks were reached that are freed by now. Where nobody wrote
 * there since, comparing does not show it.
 */
static struct err *add_freed(struct memory_watch *watch,
			     struct changes *changes)
{
	for (size_t i = 0; i < watch->roots.all.n; i++) {
		uint64_t known;
		struct change *change = NULL;
		if (!map_u64_get(&watch->freed, i, &known))
			continue;
		TRY(memory_watch_add_change(watch, i, changes, &change));
		if (change->n)
			continue;
		_cleanup_(freep) char *path = NULL, *before = NULL;
		char after[] = "(freed memory)";
		TRY(str_copy(watch->roots.all.data[i].name, &path));
		TRY(state_describe(watch->state, &watch->before, i, &before));
		const struct state_difference freed = {
			.root = i,
			.path = path,
			.before = before,
			.after = after,
		};
		TRY(memory_watch_add_path(watch, &freed, change));
	}
	return NULL;
}

/* ---- points ---- */

static struct err *memory_watch_compare(struct memory_watch *watch, bool wanted)
{
	size_t n;
	const struct image_change *changes = image_changes(watch->image, &n);
	watch->pages.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct state_page page = { changes[i].address,
					   changes[i].before,
					   changes[i].after };
		TRY(vec_push(&watch->pages, page));
	}
	return state_compare(watch->state, &watch->before, &watch->after,
			     watch->pages.data, n,
			     wanted ? &watch->differences : NULL);
}

static struct err *memory_watch_compare_omitted(struct memory_watch *watch)
{
	const struct suite_observer *observer = *watch->host.observer;
	size_t n;
	const struct image_change *changes = image_changes(watch->image, &n);
	if (!observer || !observer->omitted)
		return NULL;
	return omitted_compare(&watch->roots, changes, n, &watch->omitted);
}

struct err *memory_watch_capture(struct memory_watch *watch,
				 struct thread *thread, struct changes *ret,
				 struct changes *held)
{
	uint64_t start = clock_now();
	TRY(image_capture(watch->image, thread));
	uint64_t captured = clock_now();
	watch->capture_ns += captured - start;
	areas_forget(&watch->areas);
	watch->areas.stack_pointer = regs_sp(&thread->regs).v;
	if (!watch->state)
		return index_anew(watch, thread);
	map_u64_free(&watch->freed);
	if (ret && watch->once)
		TRY(state_each_block(watch->state, note_freed, watch));
	TRY(memory_watch_compare(watch, ret || (held && held->n)));
	watch->omitted.n = 0;
	if (ret) {
		TRY(memory_watch_compare_omitted(watch));
		TRY(collect_changes(watch, ret));
		if (watch->once)
			TRY(add_freed(watch, ret));
		TRY(moments_judge(watch, ret));
	} else if (held && held->n) {
		TRY(memory_watch_drop_undone(watch, held));
	}
	moments_clear(&watch->moments);
	watch->compare_ns += clock_now() - captured;
	/* What was loaded in the meantime has no state before. */
	if (watch->once)
		return NULL;
	bool late = loaded_modules(watch->host.program) != watch->modules;
	/* What changed before keeps its numbers until the next test begins. */
	bool between = !ret || watch->options->consecutive;
	if (late || (between && held_roots_stale(&watch->held)))
		TRY(index_anew(watch, thread));
	return ret && late ? add_late(watch, ret) : NULL;
}
