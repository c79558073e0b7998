#include "watch/memory_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "program/place.h"
#include "suite/change.h"
#include "tracee/memory.h"

#define DETAIL_LINES 60
#define STACK_MAX 16
#define FRAMES_MAX 6
/* Variables of a library that are reported when it is loaded. */
#define LATE_MAX 100
/* Pointers that state_digest() follows, less one. */
#define DIGEST_DEPTH 3

/* ---- what the walk sees ---- */

static const uint8_t *page_before(void *data, uint64_t address)
{
	struct memory_watch *watch = data;
	return image_page(watch->image, IMAGE_BEFORE, address);
}

static const uint8_t *page_after(void *data, uint64_t address)
{
	struct memory_watch *watch = data;
	return image_page(watch->image, IMAGE_AFTER, address);
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

static struct err *load_areas(struct memory_watch *watch)
{
	return areas_load(&watch->areas, watch->host.program, watch->tracee,
			  !image_blocks_missing(watch->image));
}

static enum state_area area_of(void *data, uint64_t address)
{
	struct memory_watch *watch = data;
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
		err = roots_init(&watch->roots, watch->pool,
				 host->program->owns, options);
	_cleanup_(container_user_list_freep) struct container_user_list
		users = {};
	if (!err)
		err = roots_skip_types(host->program->owns, &users);
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
	log_info("%llu captures (%llu with other mappings, %llu pages hot): "
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
	if (watch->image)
		memory_watch_log_costs(watch);
	watch->capture_ns = watch->compare_ns = 0;
	state_destroy(watch->state);
	image_destroy(watch->image);
	watch->state = NULL;
	watch->image = NULL;
	watch->tracee = NULL;
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
	containers_destroy(watch->containers);
	type_pool_destroy(watch->pool);
	areas_free(&watch->areas);
	state_differences_free(&watch->differences);
	vec_free(&watch->pages);
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
	struct raddr arena;
	if (program_symbol(program, "main_arena", &arena))
		image_set_arena(watch->image, arena.v);
	watch->tracee = process->tracee;
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

/* Everything that can be reached, from nothing. */
static struct err *index_anew(struct memory_watch *watch, struct thread *thread)
{
	state_destroy(watch->state);
	watch->state = NULL;
	map_u64_free(&watch->fixtures); /* other numbers from now on */
	TRY(roots_load(&watch->roots, watch->host.program, thread));
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
	log_info("%zu roots, %zu objects reachable", options.n_roots,
		 counts.nodes);
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

/* The C++ library's own frames, which at -O0 are many. */
static bool is_library(const struct call_frame *frame)
{
	return frame->file && place_is_system(frame->file);
}

/* Where there is code of the project, only that is of interest. */
static void drop_library(struct change_path *path)
{
	size_t own = 0, n = 0;
	for (size_t i = 0; i < path->n_stack; i++)
		own += path->stack[i].file && !is_library(&path->stack[i]);
	for (size_t i = 0; i < path->n_stack; i++) {
		struct call_frame *frame = &path->stack[i];
		if ((own && is_library(frame)) || n == FRAMES_MAX) {
			free(frame->function);
			free(frame->file);
			continue;
		}
		path->stack[n++] = *frame;
	}
	path->n_stack = n;
}

static struct err *find_frames(struct memory_watch *watch, uint32_t stack,
			       struct change_path *path)
{
	const struct program *program = watch->host.program;
	uint64_t addresses[STACK_MAX];
	size_t n = image_stack(watch->image, stack, addresses, STACK_MAX);
	path->stack = calloc(STACK_MAX, sizeof(*path->stack));
	if (!path->stack)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		/* A return address: the call is before it. */
		uint64_t code = addresses[i] - 1;
		const struct module *module =
			program_module(program, RADDR(code));
		struct object_symbol symbol;
		const char *file;
		unsigned line;
		if (!module || !module->object)
			continue;
		struct call_frame *frame = &path->stack[path->n_stack];
		if (object_symbol_at(module->object, code - module->bias,
				     &symbol))
			frame->function = object_function_name(symbol.name);
		if (program_line(program, RADDR(code), &file, &line)) {
			frame->file = strdup(file);
			frame->line = line;
		}
		if (frame->function || frame->file)
			path->n_stack++;
		/* What called main() does not count. */
		if (frame->function && !strcmp(frame->function, "main"))
			break;
	}
	drop_library(path);
	return NULL;
}

static struct err *
memory_watch_add_path(struct memory_watch *watch,
		      const struct state_difference *difference,
		      struct change *change)
{
	struct change_path *grown = realloc(
		change->paths, (change->n + 1) * sizeof(*change->paths));
	if (!grown)
		return err_nomem();
	change->paths = grown;
	struct change_path *path = &grown[change->n++];
	*path = (struct change_path){
		.address = difference->address,
		.size = difference->size,
		.heap = difference->heap,
		.depth = difference->depth,
	};
	TRY(str_copy(difference->path, &path->path));
	TRY(str_copy(difference->before, &path->before));
	TRY(str_copy(difference->after, &path->after));
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

static struct err *add_detail(struct memory_watch *watch, size_t root,
			      struct change *change)
{
	_cleanup_(freep) char *before = NULL, *after = NULL;
	TRY(state_render(watch->state, &watch->before, root, DETAIL_LINES,
			 &before));
	TRY(state_render(watch->state, &watch->after, root, DETAIL_LINES,
			 &after));
	if (asprintf(&change->detail, "  before:\n%s  after:\n%s", before,
		     after) < 0) {
		change->detail = NULL;
		return err_nomem();
	}
	return NULL;
}

static struct err *change_of_root(struct memory_watch *watch, size_t root,
				  struct changes *changes, struct change **ret)
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
		.digest_before =
			state_digest(watch->state, &watch->before, root),
		.digest = state_digest(watch->state, &watch->after, root),
		.root_number = root,
	};
	TRY(vec_push(changes, change));
	*ret = &changes->data[changes->n - 1];
	TRY(str_copy(at->name, &(*ret)->root));
	TRY(str_copy(place->file, &(*ret)->file));
	return watch->options->detail ? add_detail(watch, root, *ret) : NULL;
}

static struct err *collect_changes(struct memory_watch *watch,
				   struct changes *changes)
{
	for (size_t i = 0; i < watch->differences.n; i++) {
		const struct state_difference *difference =
			&watch->differences.data[i];
		struct change *change = NULL;
		TRY(change_of_root(watch, difference->root, changes, &change));
		TRY(memory_watch_add_path(watch, difference, change));
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
		TRY(change_of_root(watch, i, changes, &change));
		change->first = true;
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

struct err *memory_watch_capture(struct memory_watch *watch,
				 struct thread *thread, struct changes *ret,
				 struct changes *held)
{
	uint64_t start = clock_now();
	TRY(image_capture(watch->image, thread));
	uint64_t captured = clock_now();
	watch->capture_ns += captured - start;
	areas_forget(&watch->areas);
	if (!watch->state)
		return index_anew(watch, thread);
	TRY(memory_watch_compare(watch, ret || (held && held->n)));
	if (ret)
		TRY(collect_changes(watch, ret));
	else if (held && held->n)
		TRY(memory_watch_drop_undone(watch, held));
	watch->compare_ns += clock_now() - captured;
	/* What was loaded in the meantime has no state before. */
	if (watch->once ||
	    loaded_modules(watch->host.program) == watch->modules)
		return NULL;
	TRY(index_anew(watch, thread));
	return ret ? add_late(watch, ret) : NULL;
}
