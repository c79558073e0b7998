#include "watch/areas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "tracee/memory.h"

/* glibc's heaps of other threads begin at multiples of this (arena.c). */
#define ARENA_ALIGN ((uint64_t)64 << 20)

void areas_free(struct areas *areas)
{
	vec_free(&areas->all);
}

static uint64_t process_pages(pid_t pid)
{
	char path[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	err_ignore(file_read(path, 256, &text, NULL));
	return text ? strtoull(text, NULL, 10) : 0;
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

struct mapping {
	uint64_t start, end;
	char access[5];
	const char *name;
};

static enum state_area judge(const struct program *program,
			     struct tracee *tracee,
			     const struct mapping *mapping,
			     const struct area *before, bool blocks_known,
			     bool *ret_module)
{
	*ret_module = false;
	bool writable = mapping->access[1] == 'w';
	if (mapping->access[2] == 'x')
		return STATE_CODE;
	if (mapping->access[0] != 'r')
		return STATE_NOWHERE;
	if (!strcmp(mapping->name, "[heap]"))
		return blocks_known ? STATE_HEAP : STATE_DATA;
	if (mapping->name[0] == '[')
		return STATE_FOREIGN; /* stack, vdso, our own */
	if (mapping->name[0]) {
		for (size_t i = 0; i < program->modules.n; i++) {
			const struct module *module = &program->modules.data[i];
			if (strcmp(module->path, mapping->name) != 0)
				continue;
			*ret_module = true;
			/* Variables that are no roots are somebody else's. */
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
	if (blocks_known && mapping->start % ARENA_ALIGN == 0)
		return STATE_HEAP;
	return writable ? STATE_DATA : STATE_CONST;
}

struct err *areas_load(struct areas *areas, const struct program *program,
		       struct tracee *tracee, bool blocks_known)
{
	if (areas->fresh)
		return NULL;
	areas->fresh = true;
	uint64_t pages = process_pages(tracee_pid(tracee));
	if (areas->all.n && pages == areas->pages)
		return NULL;
	char path[64], line[4352];
	snprintf(path, sizeof(path), "/proc/%d/maps", tracee_pid(tracee));
	FILE *maps = fopen(path, "re");
	if (!maps)
		return err_errno(errno, "cannot read '%s'", path);
	struct err *err = NULL;
	areas->all.n = 0;
	areas->pages = pages;
	while (!err && fgets(line, sizeof(line), maps)) {
		unsigned long long start, end;
		int name = 0;
		struct mapping mapping = {};
		if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &start, &end,
			   mapping.access, &name) < 3 ||
		    !name)
			continue;
		line[strcspn(line, "\n")] = '\0';
		mapping.start = start;
		mapping.end = end;
		mapping.name = line + name;
		const struct area *before =
			areas->all.n ? &areas->all.data[areas->all.n - 1]
				     : NULL;
		struct area area = { .start = start, .end = end };
		area.kind = judge(program, tracee, &mapping, before,
				  blocks_known, &area.module);
		err = vec_push(&areas->all, area);
	}
	fclose(maps);
	return err;
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
	if (low < areas->all.n && areas->all.data[low].start <= address)
		return areas->all.data[low].kind;
	return STATE_NOWHERE;
}
