#include "native/fingerprint.h"
#include "native/unwind_thread.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/vec.h"
#include "dwarf/unwind.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "wire/heap.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BYTES_MAX ((uint64_t)128 << 20)
#define FILES_MAX 1024
#define STACK_BYTES ((size_t)16 << 10) /* for the agent's frames */

struct fingerprint_span {
	uint64_t start, end;
};
DEFINE_VEC(spans, struct fingerprint_span)

struct fingerprint {
	struct run *run;
	XXH3_state_t *hash;
	struct wire_heap heap;
	struct spans live;	     /* heap blocks, ascending */
	struct fingerprint_span brk; /* the mapping "[heap]" */
	uint64_t sp;
	uint64_t bytes;
	bool known;
	uint8_t *buffer;
	size_t room;
};

static void fingerprint_free(struct fingerprint *f)
{
	XXH3_freeState(f->hash);
	spans_freep(&f->live);
	free(f->buffer);
}

static void fingerprint_add_bytes(struct fingerprint *f, const void *data,
				  size_t n)
{
	XXH3_64bits_update(f->hash, data, n);
}

static void add_u64(struct fingerprint *f, uint64_t value)
{
	fingerprint_add_bytes(f, &value, sizeof(value));
}

static struct err *fingerprint_read_bytes(struct fingerprint *f, uint64_t start,
					  size_t n, bool *ret)
{
	f->bytes += n;
	*ret = false;
	if (f->bytes > BYTES_MAX) {
		f->known = false;
		return NULL;
	}
	if (n > f->room) {
		free(f->buffer);
		f->buffer = malloc(n);
		f->room = f->buffer ? n : 0;
		if (!f->buffer)
			return err_nomem();
	}
	*ret = memory_read_some(f->run->tracee, RADDR(start), f->buffer, n) ==
	       n;
	f->known &= *ret;
	return NULL;
}

static bool is_live(const struct fingerprint *f, uint64_t address)
{
	size_t low = 0, high = f->live.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (f->live.data[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->live.n && address >= f->live.data[low].start;
}

/* Memory, with pointers into what is free of the heap taken for none. */
static struct err *add_memory(struct fingerprint *f, uint64_t start,
			      uint64_t end)
{
	bool there;
	TRY(fingerprint_read_bytes(f, start, end - start, &there));
	if (!there)
		return NULL;
	add_u64(f, start);
	add_u64(f, end);
	size_t n = end - start;
	for (size_t at = (8 - start % 8) % 8; at + 8 <= n; at += 8) {
		uint64_t word;
		memcpy(&word, f->buffer + at, sizeof(word));
		if (word - f->brk.start < f->brk.end - f->brk.start &&
		    !is_live(f, word))
			memset(f->buffer + at, 0, sizeof(word));
	}
	uint64_t tid = checkpoint_tid(f->run->tracee).v;
	if (tid >= start && tid + 4 <= end)
		memset(f->buffer + (tid - start), 0, 4);
	fingerprint_add_bytes(f, f->buffer, n);
	return NULL;
}

/* ---- the heap ---- */

/* The leaf of the shadow for @index; 0: none. */
static uint64_t find_leaf(struct fingerprint *f, uint64_t index)
{
	struct wire_slot slots[WIRE_PROBES];
	uint64_t first = index % WIRE_SLOTS;
	size_t n = MIN((size_t)WIRE_PROBES, (size_t)(WIRE_SLOTS - first));
	if (memory_read_some(f->run->tracee,
			     RADDR(f->heap.directory + first * sizeof(*slots)),
			     slots, n * sizeof(*slots)) != n * sizeof(*slots))
		return 0;
	for (size_t i = 0; i < n && slots[i].index; i++) {
		if (slots[i].index == index + 1)
			return slots[i].leaf;
	}
	return 0;
}

/* Live blocks that begin between @start and @end, in one leaf. */
static struct err *take_blocks(struct fingerprint *f, uint64_t start,
			       uint64_t end)
{
	uint64_t leaf = find_leaf(f, start >> WIRE_LEAF_SHIFT);
	uint64_t offset = start & ((1ULL << WIRE_LEAF_SHIFT) - 1);
	size_t n = (end - start) / WIRE_GRANULE;
	bool there;
	if (!leaf)
		return NULL;
	TRY(fingerprint_read_bytes(
		f, leaf + offset / WIRE_GRANULE * sizeof(uint64_t),
		n * sizeof(uint64_t), &there));
	if (!there)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		uint64_t entry;
		memcpy(&entry, f->buffer + i * sizeof(entry), sizeof(entry));
		if (!entry)
			continue;
		uint64_t at = start + i * WIRE_GRANULE;
		/* malloc(0) is a block, too: something that is pointed to. */
		uint64_t size = WIRE_SIZE(entry) ? WIRE_SIZE(entry) : 1;
		TRY(vec_push(&f->live,
			     (struct fingerprint_span){ at, at + size }));
	}
	return NULL;
}

static struct err *take_mapping_blocks(struct fingerprint *f,
				       struct fingerprint_span span)
{
	const uint64_t size = 1ULL << WIRE_LEAF_SHIFT;
	if (!f->heap.active)
		return NULL;
	while (span.start < span.end) {
		uint64_t end = MIN(span.end, (span.start / size + 1) * size);
		TRY(take_blocks(f, span.start, end));
		span.start = end;
	}
	return NULL;
}

/* ---- mappings ---- */

struct mapping {
	struct fingerprint_span span;
	bool heap, stack, anonymous;
	size_t blocks; /* that begin in it */
};
DEFINE_VEC(mappings, struct mapping)

static bool is_agents(const struct fingerprint *f, struct fingerprint_span span)
{
	uint64_t n = MIN(f->heap.regions_n, (uint64_t)WIRE_REGIONS);
	for (uint64_t i = 0; i < n; i++) {
		const struct wire_region *region = &f->heap.regions[i];
		if (span.start >= region->address &&
		    span.end <= region->address + region->size)
			return true;
	}
	return false;
}

static struct err *fingerprint_read_mappings(struct fingerprint *f,
					     struct mappings *ret)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	TRY(proc_read_maps(tracee_pid(f->run->tracee), &maps));
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_mapping *all = &maps.data[i];
		struct mapping mapping = {
			.span = { all->start, all->end },
			.heap = !strcmp(all->path, "[heap]"),
			.stack = !strcmp(all->path, "[stack]"),
			.anonymous = *all->path != '/' && *all->path != '[',
		};
		if (!all->readable || !all->writable || all->shared ||
		    is_agents(f, mapping.span))
			continue;
		if (mapping.heap)
			f->brk = mapping.span;
		size_t before = f->live.n;
		if (mapping.heap || mapping.anonymous)
			TRY(take_mapping_blocks(f, mapping.span));
		mapping.blocks = f->live.n - before;
		TRY(vec_push(ret, mapping));
	}
	return NULL;
}

/* The agent's memory may be a part of a mapping only: around it. */
static struct err *add_around_agent(struct fingerprint *f,
				    struct fingerprint_span span)
{
	uint64_t n = MIN(f->heap.regions_n, (uint64_t)WIRE_REGIONS);
	while (span.start < span.end) {
		uint64_t end = span.end, next = span.end;
		for (uint64_t i = 0; i < n; i++) {
			const struct wire_region *region = &f->heap.regions[i];
			uint64_t low = region->address;
			uint64_t high = low + region->size;
			if (high <= span.start || low >= end)
				continue;
			end = MAX(low, span.start);
			next = MIN(high, span.end);
		}
		if (end > span.start)
			TRY(add_memory(f, span.start, end));
		span.start = next;
	}
	return NULL;
}

static struct err *add_mapping(struct fingerprint *f,
			       const struct mapping *mapping)
{
	struct fingerprint_span span = mapping->span;
	/* Its blocks are added with all others. */
	if (mapping->heap || mapping->blocks)
		return NULL;
	if (f->sp >= span.start && f->sp < span.end)
		span.start = f->sp;
	return add_around_agent(f, span);
}

/* ---- files ---- */

static struct err *add_files(struct fingerprint *f)
{
	char path[320], text[512];
	snprintf(path, sizeof(path), "/proc/%d/fd", tracee_pid(f->run->tracee));
	DIR *dir = opendir(path);
	if (!dir) {
		f->known = false;
		return NULL;
	}
	struct dirent *entry;
	uint64_t sum = 0; /* in whatever order they are listed */
	for (unsigned i = 0; i < FILES_MAX && (entry = readdir(dir)); i++) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s",
			 tracee_pid(f->run->tracee), entry->d_name);
		FILE *file = fopen(path, "re");
		size_t n = file ? fread(text, 1, sizeof(text), file) : 0;
		if (file)
			fclose(file);
		/* What is written to standard output makes no difference. */
		bool ours =
			strlen(entry->d_name) == 1 && entry->d_name[0] <= '2';
		if (!ours)
			sum += XXH3_64bits(text, n) ^
			       XXH3_64bits(entry->d_name,
					   strlen(entry->d_name));
	}
	closedir(dir);
	add_u64(f, sum);
	return NULL;
}

/* ---- registers and stack ---- */

/*
 * The agent's own frames hold what earlier calls left there: the state is that
 * of its caller. What the call itself is about are the arguments of the
 * function that it stopped in.
 */
static struct err *add_registers(struct fingerprint *f,
				 const struct thread *thread,
				 struct unwinder *unwinder, uint64_t agent)
{
	const struct program *program = f->run->program;
	const struct module *own = program_module(program, RADDR(agent));
	uint64_t registers[UNWIND_REGISTERS] = {}, preserved[ARCH_PRESERVED];
	unsigned char stack[STACK_BYTES];
	struct unwind_module modules[UNWIND_MODULES];
	size_t n = MIN(program->modules.n, (size_t)UNWIND_MODULES);
	for (size_t i = 0; i < n; i++)
		modules[i] = (struct unwind_module){
			.path = program->modules.data[i].path,
			.bias = program->modules.data[i].bias,
		};
	struct unwind_thread walked = {
		.modules = modules,
		.n_modules = n,
		.stack = stack,
		.stack_address = f->sp,
	};
	walked.stack_n = memory_read_some(f->run->tracee, RADDR(f->sp), stack,
					  sizeof(stack));
	regs_preserved(&thread->regs, preserved);
	unwind_thread_take(thread, &walked);
	walked.registers[UNWIND_RSP] = f->sp;
	if (own && unwinder_outside(unwinder, &walked, own->path, registers)) {
		f->sp = registers[UNWIND_RSP];
		fingerprint_add_bytes(f, registers, sizeof(registers));
	} else {
		fingerprint_add_bytes(f, preserved, sizeof(preserved));
		add_u64(f, regs_pc(&thread->regs).v);
		add_u64(f, f->sp);
	}
	for (unsigned i = 0; i < 4; i++)
		add_u64(f, regs_arg(&thread->regs, i));
	return NULL;
}

struct err *fingerprint_take(struct run *run, struct thread *thread,
			     struct unwinder *unwinder, uint64_t *ret,
			     bool *ret_known)
{
	_cleanup_(fingerprint_free) struct fingerprint f = {
		.run = run,
		.hash = XXH3_createState(),
		.sp = regs_sp(&thread->regs).v,
		.known = true,
	};
	_cleanup_(mappings_freep) struct mappings mappings = {};
	uint64_t agent = program_agent_heap(run->program);
	if (!f.hash)
		return err_nomem();
	XXH3_64bits_reset(f.hash);
	if (!agent || memory_read_some(run->tracee, RADDR(agent), &f.heap,
				       sizeof(f.heap)) != sizeof(f.heap)) {
		*ret_known = false;
		return NULL;
	}
	TRY(add_registers(&f, thread, unwinder, agent));
	add_u64(&f, run->outcome);
	TRY(fingerprint_read_mappings(&f, &mappings));
	for (size_t i = 0; i < mappings.n; i++)
		TRY(add_mapping(&f, &mappings.data[i]));
	for (size_t i = 0; i < f.live.n; i++)
		TRY(add_memory(&f, f.live.data[i].start, f.live.data[i].end));
	TRY(add_files(&f));
	*ret = XXH3_64bits_digest(f.hash);
	*ret_known = f.known;
	return NULL;
}

/* What a descriptor is, where copies would share and use it up; NULL: not so. */
static const char *shared_kind(const char *link)
{
	static const struct {
		const char *link, *name;
	} kinds[] = {
		{ "pipe:", "a pipe is open" },
		{ "socket:", "a socket is open" },
		{ "anon_inode:[eventfd]", "an event descriptor is open" },
		{ "anon_inode:[timerfd]", "a timer is running" },
		{ "anon_inode:[eventpoll]", "an epoll descriptor is open" },
		{ "anon_inode:inotify", "files are watched" },
		{ "/dev/pts/", "a terminal is open" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strncmp(link, kinds[i].link, strlen(kinds[i].link)))
			return kinds[i].name;
	}
	return NULL;
}

const char *fingerprint_shared(struct run *run, struct fingerprint_files *files,
			       bool first)
{
	const char *found = NULL;
	char path[320], link[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", tracee_pid(run->tracee));
	DIR *dir = opendir(path);
	if (!dir)
		return "its descriptors cannot be read";
	struct dirent *entry;
	for (unsigned i = 0; i < FILES_MAX && (entry = readdir(dir)); i++) {
		int fd = atoi(entry->d_name);
		if (fd <= STDERR_FILENO)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%.16s",
			 tracee_pid(run->tracee), entry->d_name);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		const char *kind = shared_kind(link);
		uint64_t hash = XXH3_64bits(link, (size_t)n) ^ (uint64_t)fd;
		bool known = false;
		for (size_t k = 0; k < files->n; k++)
			known |= files->known[k] == hash;
		if (kind && first && files->n < ARRAY_SIZE(files->known))
			files->known[files->n++] = hash;
		else if (kind && !known)
			found = kind;
	}
	closedir(dir);
	return found;
}
