#include "watch/areas.h"

#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "image/asan.h"
#include "tracee/memory.h"

/* glibc's heaps of other threads begin at multiples of this (arena.c). */
#define ARENA_ALIGN ((uint64_t)64 << 20)

void areas_free(struct areas *areas)
{
	vec_free(&areas->all);
	vec_free(&areas->results);
}

static uint64_t areas_read_mark(pid_t pid)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	err_ignore(proc_read(pid, 0, "statm", &text));
	return text.s ? proc_mappings_mark(text.s) : 0;
}

static bool has_stack_pointer(struct tracee *tracee, uint64_t start,
			      uint64_t end)
{
	for (size_t i = 0; i < tracee_threads(tracee); i++) {
		const struct thread *thread = tracee_thread(tracee, i);
		uint64_t sp = regs_sp(&thread->regs).v;
		if (thread->stopped && sp >= start && sp < end)
			return true;
	}
	return false;
}

static enum state_area area_kind(const struct program *program,
				 struct tracee *tracee,
				 const struct proc_mapping *mapping,
				 const struct area *before, bool blocks_known,
				 bool *ret_module)
{
	*ret_module = false;
	bool writable = mapping->writable;
	if (mapping->executable)
		return STATE_CODE;
	if (!mapping->readable)
		return STATE_NOWHERE;
	if (!strcmp(mapping->path, "[heap]"))
		return blocks_known ? STATE_HEAP : STATE_DATA;
	if (mapping->path[0] == '[')
		return STATE_FOREIGN; /* stack, vdso, our own */
	if (mapping->path[0]) {
		for (size_t i = 0; i < program->modules.n; i++) {
			const struct module *module = &program->modules.data[i];
			if (strcmp(module->path, mapping->path) != 0)
				continue;
			*ret_module = true;
			/* Variables that are not roots are foreign. */
			if (module->system || writable)
				return STATE_FOREIGN;
			return STATE_CONST;
		}
		/* A file that the program mapped. */
		return writable ? STATE_DATA : STATE_CONST;
	}
	/* The rest of a module's .bss has no name. */
	if (before && before->end == mapping->start && before->module &&
	    before->kind == STATE_FOREIGN)
		return STATE_FOREIGN;
	if (has_stack_pointer(tracee, mapping->start, mapping->end))
		return STATE_FOREIGN;
	if (blocks_known &&
	    (mapping->start % ARENA_ALIGN == 0 || asan_is_heap(mapping->start)))
		return STATE_HEAP;
	return writable ? STATE_DATA : STATE_CONST;
}

struct err *areas_load(struct areas *areas, const struct program *program,
		       struct tracee *tracee, bool blocks_known)
{
	if (areas->fresh)
		return NULL;
	areas->fresh = true;
	uint64_t mark = areas_read_mark(tracee_pid(tracee));
	if (areas->all.n && mark == areas->mark)
		return NULL;
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	TRY(proc_read_maps(tracee_pid(tracee), &maps));
	areas->all.n = 0;
	areas->mark = mark;
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_mapping *mapping = &maps.data[i];
		const struct area *before =
			areas->all.n ? &areas->all.data[areas->all.n - 1]
				     : NULL;
		struct area area = { .start = mapping->start,
				     .end = mapping->end };
		area.kind = area_kind(program, tracee, mapping, before,
				      blocks_known, &area.module);
		TRY(vec_push(&areas->all, area));
	}
	return NULL;
}

bool areas_is_result(const struct areas *areas, uint64_t address)
{
	for (size_t i = 0; i < areas->results.n; i++) {
		const struct area_result *result = &areas->results.data[i];
		if (address >= result->start && address < result->end)
			return true;
	}
	return false;
}

enum state_area areas_find(const struct areas *areas, uint64_t address)
{
	size_t low = 0, high = areas->all.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (areas->all.data[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == areas->all.n || areas->all.data[low].start > address)
		return STATE_NOWHERE;
	const struct area *area = &areas->all.data[low];
	if (area->kind == STATE_FOREIGN && !area->module &&
	    area->start <= areas->stack_pointer &&
	    areas->stack_pointer < area->end && address < areas->stack_pointer)
		return STATE_DEAD;
	if (area->kind == STATE_FOREIGN && areas_is_result(areas, address))
		return STATE_DATA;
	return area->kind;
}
