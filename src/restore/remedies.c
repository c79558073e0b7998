#include "restore/remedies.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "attributes/put_back.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "keep/save.h"
#include "program/program.h"
#include "restore/undo.h"
#include "tracee/memory.h"
#include "wire/heap.h"

#define NO_FILE ((size_t)-1)
/* The first words of a freed block are glibc's (malloc.c, tcache_entry). */
#define FREED_WORDS 16

struct remedy {
	struct undo undo;		  /* memory */
	struct attribute_kept *attribute; /* process state */
	size_t file;			  /* of the keeper; NO_FILE: none */
};

static void remedy_free(struct remedy *remedy)
{
	undo_free(&remedy->undo);
	attribute_kept_destroy(remedy->attribute);
}

void remedies_free(struct remedies *remedies)
{
	for (size_t i = 0; i < remedies->roots.n; i++)
		remedy_free(&remedies->all[i]);
	free(remedies->all);
	free(remedies->chosen);
	changes_freep_deep(&remedies->roots);
}

struct err *remedies_quarantine(const struct program *program,
				struct tracee *tracee, bool *ret)
{
	struct wire_heap heap;
	uint64_t agent = program_agent_heap(program);
	if (!agent ||
	    memory_read_some(tracee, RADDR(agent), &heap, sizeof(heap)) !=
		    sizeof(heap) ||
	    heap.magic != WIRE_HEAP_MAGIC ||
	    heap.version != WIRE_HEAP_VERSION || !heap.active)
		return NULL;
	TRY(memory_write_u64(tracee,
			     RADDR(agent + offsetof(struct wire_heap, fresh)),
			     WIRE_FRESH));
	*ret = true;
	return NULL;
}

/* ---- finding ---- */

static struct err *remedy_find_undo(const struct remedy_source *source,
				    struct undo_finder *finder, size_t root,
				    struct undo *undo, bool *ret_possible)
{
	TRY(undo_find(finder, root, undo, ret_possible));
	if (*ret_possible && source->between)
		TRY(undo_spare(undo, source->between, source->now));
	if (undo_is_empty(undo))
		*ret_possible = false;
	return NULL;
}

static uint64_t remedies_symbol_address(void *data, const char *name)
{
	const struct remedy_source *source = data;
	struct raddr address;
	return program_symbol(source->program, name, &address) ? address.v : 0;
}

static struct err *remedy_find(const struct remedy_source *source,
			       struct undo_finder *finder,
			       const struct change *change,
			       struct remedy *remedy, bool *ret_possible)
{
	if (change->where == CHANGE_MEMORY)
		return remedy_find_undo(source, finder, change->root_number,
					&remedy->undo, ret_possible);
	if (change->where != CHANGE_PROCESS || !source->before)
		return NULL;
	TRY(attribute_keep(change->root, tracee_thread(source->before, 0),
			   remedies_symbol_address, (void *)source,
			   &remedy->attribute));
	*ret_possible = remedy->attribute;
	return NULL;
}

static struct err *remedies_add_root(struct remedies *remedies,
				     const struct remedy_source *source,
				     struct undo_finder *finder,
				     struct change *change)
{
	struct remedy remedy = { .file = NO_FILE };
	bool possible = false;
	struct err *err =
		remedy_find(source, finder, change, &remedy, &possible);
	if (!err && possible)
		err = vec_push(&remedies->roots, *change);
	if (err || !possible) {
		remedy_free(&remedy);
		if (!err)
			log_debug(LOG_RESTORE, "'%s' cannot be restored",
				  change->root);
		return err;
	}
	remedies->all[remedies->roots.n - 1] = remedy;
	*change = (struct change){};
	return NULL;
}

struct err *remedies_find(struct remedies *remedies,
			  const struct remedy_source *source,
			  struct changes *changes)
{
	remedies->all = calloc(changes->n + 1, sizeof(*remedies->all));
	if (!remedies->all)
		return err_nomem();
	_cleanup_(undo_finder_destroyp) struct undo_finder *finder = NULL;
	if (source->memory)
		TRY(undo_finder_create(source->memory, source->quarantined,
				       &finder));
	for (size_t i = 0; i < changes->n; i++) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		TRY(remedies_add_root(remedies, source, finder,
				      &changes->data[i]));
	}
	return NULL;
}

/* What was at a path and what is there now, as a change. */
static struct err *describe_file(const struct keeper *keeper,
				 const struct kept *before,
				 const struct kept *now, size_t path,
				 struct change *change)
{
	change->root = keeper_root(keeper, path);
	change->paths = calloc(1, sizeof(*change->paths));
	if (!change->root || !change->paths)
		return err_nomem();
	change->n = 1;
	change->paths[0].path = strdup(change->root);
	change->paths[0].before = kept_text(before, path);
	change->paths[0].after = kept_text(now, path);
	return change->paths[0].path && change->paths[0].before &&
			       change->paths[0].after
		       ? NULL
		       : err_nomem();
}

static struct err *remedies_add_file(struct remedies *remedies,
				     const struct keeper *keeper,
				     const struct kept *before,
				     const struct kept *now, size_t path)
{
	struct change change = {
		.where = CHANGE_FILE,
		.weight = WEIGHT_MEDIUM,
	};
	struct err *err = describe_file(keeper, before, now, path, &change);
	if (!err)
		err = vec_push(&remedies->roots, change);
	if (err)
		change_free(&change);
	else
		remedies->all[remedies->roots.n - 1] =
			(struct remedy){ .file = path };
	return err;
}

struct err *remedies_find_files(struct remedies *remedies,
				const struct saver *saver,
				const struct saved *saved)
{
	const struct keeper *keeper = saver_keeper(saver);
	const struct kept *before = saver_first(saver);
	const struct kept *now = saved_kept(saved);
	_cleanup_(freep) size_t *changed = NULL;
	size_t n = 0;
	TRY(saved_changed(saver, saved, &changed, &n));
	remedies->chosen =
		calloc(saved_count(saved) + 1, sizeof(*remedies->chosen));
	struct remedy *grown = realloc(
		remedies->all, (remedies->roots.n + n + 1) * sizeof(*grown));
	if (grown)
		remedies->all = grown;
	if (!grown || !remedies->chosen)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		TRY(remedies_add_file(remedies, keeper, before, now,
				      changed[i]));
	return NULL;
}

/* ---- restoring ---- */

static struct err *remedy_apply(const struct remedy *remedy,
				const struct program *program,
				struct tracee *copy)
{
	TRY(undo_apply(&remedy->undo, program, copy));
	if (!remedy->attribute)
		return NULL;
	/* What cannot be restored after all stays as the tests left it. */
	struct err *err =
		attribute_put_back(remedy->attribute, tracee_thread(copy, 0));
	if (err)
		log_debug(LOG_RESTORE, "not restored: %s", err_message(err));
	err_ignore(err);
	return NULL;
}

void remedies_overwrite_more(struct remedies *remedies)
{
	remedies->overwrites = remedies->overwrites ? SIZE_MAX : FREED_WORDS;
}

/* A block may belong to several roots: what is restored of it counts. */
static struct err *remedies_overwrite(const struct remedies *remedies,
				      const bool *put_back, struct tracee *copy)
{
	for (size_t i = 0; i < remedies->roots.n; i++) {
		if (!put_back[i])
			TRY(undo_overwrite_freed(&remedies->all[i].undo,
						 remedies->overwrites, copy));
	}
	for (size_t i = 0; i < remedies->roots.n; i++) {
		if (put_back[i])
			TRY(undo_restore_freed(&remedies->all[i].undo, copy));
	}
	return NULL;
}

struct err *remedies_apply(const struct remedies *remedies,
			   const bool *put_back, const struct program *program,
			   struct tracee *copy)
{
	if (remedies->overwrites)
		TRY(remedies_overwrite(remedies, put_back, copy));
	for (size_t i = 0; i < remedies->roots.n; i++) {
		if (put_back[i])
			TRY(remedy_apply(&remedies->all[i], program, copy));
	}
	return NULL;
}

struct err *remedies_put_back_files(const struct remedies *remedies,
				    const bool *put_back, struct saver *saver,
				    const struct saved *now)
{
	bool any = false;
	for (size_t i = 0; i < remedies->roots.n; i++) {
		size_t file = remedies->all[i].file;
		if (file == NO_FILE)
			continue;
		remedies->chosen[file] = put_back[i];
		any |= put_back[i];
	}
	return any ? saver_put_back_some(saver, now, remedies->chosen) : NULL;
}
