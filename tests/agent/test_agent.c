/*
 * The agent in real programs: what they say of their blocks against what the
 * table says, read from outside as the controller does.
 *
 * Where programs and agent are comes through the environment: AGENT, PROGRAMS.
 */
#include "../unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"
#include "dwarf/object.h"
#include "image/blocks.h"
#include "records.h"


/* Pages of another process, kept until the moment is over. */
struct memory {
	pid_t pid;
	struct map_u64 pages;
};

static const uint8_t *page(void *data, uint64_t address)
{
	struct memory *memory = data;
	uint64_t there;
	if (map_u64_get(&memory->pages, address + 1, &there))
		return (const uint8_t *)(uintptr_t)there;
	uint8_t *copy = malloc(IMAGE_PAGE);
	struct iovec to = { copy, IMAGE_PAGE };
	struct iovec from = { (void *)(uintptr_t)address, IMAGE_PAGE };
	if (process_vm_readv(memory->pid, &to, 1, &from, 1, 0) != IMAGE_PAGE) {
		free(copy);
		copy = NULL;
	}
	assert_ok(map_u64_put(&memory->pages, address + 1,
			      (uint64_t)(uintptr_t)copy));
	return copy;
}

static void memory_freep(struct memory *memory)
{
	for (size_t i = 0; i < memory->pages.map.cap; i++) {
		if (memory->pages.map.slots[i].hash)
			free((void *)(uintptr_t)
				     memory->pages.map.slots[i].value);
	}
	map_u64_free(&memory->pages);
}

DEFINE_VEC(records, struct record)

/* A program under the agent, stopped where it shows its blocks. */
struct shown {
	pid_t pid;
	int in, out;
	uint64_t heap;
	struct records records;
	struct memory memory;
	struct blocks *blocks;
};

static const char *program(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", getenv("PROGRAMS"), name);
	return path;
}

/* Address space that programs may have; 0: as much as there is. */
static rlim_t limit;

static void start(struct shown *shown, const char *preload, const char *name,
		  const char *word, const char *argument)
{
	int in[2], out[2];
	*shown = (struct shown){};
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	const char *path = program(name);
	shown->pid = fork();
	if (shown->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		/* Meson's: it would write to all of the large blocks. */
		unsetenv("MALLOC_PERTURB_");
		setenv("BEFORE_IT", "1", 1);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		else
			unsetenv("LD_PRELOAD");
		setenv("AFTER_IT", "1", 1);
		if (limit)
			setrlimit(RLIMIT_AS, &(struct rlimit){ limit, limit });
		execl(path, path, word, argument, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	shown->in = in[1];
	shown->out = out[0];
	shown->memory.pid = shown->pid;
	for (;;) {
		struct record record;
		size_t n = 0;
		while (n < sizeof(record)) {
			ssize_t part = read(shown->out, (char *)&record + n,
					    sizeof(record) - n);
			if (part <= 0)
				fail_msg("%s %s ended early", name, word);
			n += (size_t)part;
		}
		if (record.kind == RECORD_END)
			break;
		if (record.kind == RECORD_HEAP)
			shown->heap = record.address;
		else if (record.kind == RECORD_PID)
			shown->memory.pid = (pid_t)record.address;
		else
			assert_ok(vec_push(&shown->records, record));
	}
	assert_ok(blocks_create(page, &shown->memory, shown->heap,
				&shown->blocks));
}

static void finish(struct shown *shown)
{
	int status;
	close(shown->in);
	assert_int_equal(waitpid(shown->pid, &status, 0), shown->pid);
	assert_int_equal(status, 0);
	close(shown->out);
	blocks_destroy(shown->blocks);
	memory_freep(&shown->memory);
	records_freep(&shown->records);
}

/* Was @address told again after record @i? */
static bool told_later(const struct shown *shown, size_t i)
{
	uint64_t address = shown->records.data[i].address;
	for (size_t k = i + 1; k < shown->records.n; k++) {
		if (shown->records.data[k].address == address)
			return true;
	}
	return false;
}

static void check_inside(struct blocks *blocks, uint64_t start, uint64_t size,
			 uint64_t at)
{
	struct image_block block = {};
	if (!blocks_find(blocks, at, &block))
		fail_msg("%lx: not found, in %lx of %lu", at, start, size);
	if (block.start != start || block.size != size)
		fail_msg("%lx: in %lx of %lu, not %lx of %lu", at, block.start,
			 block.size, start, size);
	assert_true(block.exact);
}

static void check_blocks(struct shown *shown)
{
	size_t lives = 0;
	const char *why = blocks_missing(shown->blocks);
	if (why)
		fail_msg("%s", why);
	assert_int_equal(blocks_lost(shown->blocks), 0);
	for (size_t i = 0; i < shown->records.n; i++) {
		const struct record *record = &shown->records.data[i];
		uint64_t start = record->address, size = record->size;
		struct image_block block;
		if (told_later(shown, i))
			continue;
		if (record->kind == RECORD_FREED) {
			assert_false(blocks_find(shown->blocks, start,
						 &block) &&
				     block.start == start);
		} else if (record->kind == RECORD_LIVE) {
			assert_int_not_equal(start, 0);
			const uint64_t offsets[] = { 0,	       1,
						     size / 2, size / 3 * 2,
						     size - 1, size };
			for (size_t k = 0; k < ARRAY_SIZE(offsets); k++) {
				if (offsets[k] <= size)
					check_inside(shown->blocks, start, size,
						     start + offsets[k]);
			}
			lives++;
		}
	}
	assert_true(lives > 0);
}

static void check_program(const char *name, const char *word,
			  const char *argument)
{
	struct shown shown;
	start(&shown, getenv("AGENT"), name, word, argument);
	check_blocks(&shown);
	finish(&shown);
}

static void test_every_function(void **state)
{
	(void)state;
	check_program("program", "every", NULL);
}

static void test_large(void **state)
{
	(void)state;
	check_program("program", "large", NULL);
}

static void test_threads(void **state)
{
	(void)state;
	check_program("program", "threads", NULL);
	check_program("program", "leaves", NULL);
}

static void test_forked(void **state)
{
	(void)state;
	check_program("program", "forked", NULL);
	check_program("program", "forks", NULL);
}

static void test_frames(void **state)
{
	(void)state;
	check_program("program", "frames", NULL);
}

static void test_library(void **state)
{
	(void)state;
	char path[4096];
	snprintf(path, sizeof(path), "%s", program("module.so"));
	check_program("program", "library", path);
}

static void check_stacks(const char *name)
{
	struct shown shown;
	start(&shown, getenv("AGENT"), name, "stacks", NULL);
	check_blocks(&shown);
	uint64_t frames[2][8], code[2] = {}, codes = 0;
	size_t n[2] = {}, blocks = 0;
	for (size_t i = 0; i < shown.records.n; i++) {
		const struct record *record = &shown.records.data[i];
		if (record->kind == RECORD_CODE) {
			code[codes++] = record->address;
		} else {
			struct image_block block;
			assert_true(blocks_find(shown.blocks, record->address,
						&block));
			n[blocks] = blocks_stack(shown.blocks, block.stack,
						 frames[blocks], 8);
			blocks++;
		}
	}
	assert_int_equal(codes, 2);
	assert_int_equal(blocks, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(n[i] >= 3);
		for (size_t k = 0; k < 2; k++)
			assert_in_range(frames[i][k], code[k] + 1,
					code[k] + 64);
		assert_int_equal(frames[i][1], frames[0][1]);
	}
	assert_int_equal(blocks_stack(shown.blocks, 0, frames[0], 8), 0);
	assert_int_equal(blocks_stack(shown.blocks, 1U << 23, frames[0], 8), 0);
	finish(&shown);
}

static void test_stacks(void **state)
{
	(void)state;
	check_stacks("program");
	check_stacks("cxx");
}

static void test_operators(void **state)
{
	(void)state;
	check_program("cxx", "every", NULL);
	check_program("replaced", "every", NULL);
}

/* The program's own allocator is left alone, and said to be there. */
static void test_foreign(void **state)
{
	(void)state;
	struct image_block block;
	struct shown shown;
	start(&shown, getenv("AGENT"), "foreign", NULL, NULL);
	const char *why = blocks_missing(shown.blocks);
	assert_non_null(why);
	assert_non_null(strstr(why, "liballocator.so"));
	assert_false(blocks_find(shown.blocks, shown.heap, &block));
	finish(&shown);

	static const char *const names[] = { "own", "wrapped" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		start(&shown, getenv("AGENT"), names[i], NULL, NULL);
		why = blocks_missing(shown.blocks);
		assert_non_null(why);
		assert_non_null(strstr(why, "itself"));
		finish(&shown);
	}
}

/* Without memory for the tables the program runs, and keeps what it had. */
static void test_no_memory(void **state)
{
	(void)state;
	struct shown shown;
	limit = 24 << 20;
	start(&shown, getenv("AGENT"), "program", "environment", "unset");
	limit = 0;
	const char *why = blocks_missing(shown.blocks);
	assert_non_null(why);
	assert_non_null(strstr(why, "no memory"));
	finish(&shown);
}

/* [heap] of a process, as it is now. */
static struct blocks_glibc heap_of(pid_t pid)
{
	char path[64], line[4096];
	struct blocks_glibc where = {};
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[heap]"))
			sscanf(line, "%lx-%lx", &where.heap_start,
			       &where.heap_end);
	}
	fclose(maps);
	return where;
}

/* 0 where the program does not have it itself. */
static uint64_t main_arena(const char *name)
{
	struct object *object = NULL;
	struct object_symbol symbol;
	assert_ok(object_open(program(name), &object));
	bool found = object_symbol(object, "main_arena", &symbol);
	uint64_t value = found ? symbol.value : 0;
	object_close(object);
	return value;
}

/* Blocks from the allocator's headers; sizes are at least what was asked. */
static void test_glibc(void **state)
{
	(void)state;
	static const char *const names[] = { "static", "dynamic" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct shown shown;
		start(&shown, NULL, names[i], NULL, NULL);
		blocks_destroy(shown.blocks);
		struct blocks_glibc where = heap_of(shown.pid);
		where.main_arena = main_arena(names[i]);
		assert_ok(blocks_create_glibc(page, &shown.memory, &where,
					      &shown.blocks));
		assert_null(blocks_missing(shown.blocks));
		size_t lives = 0, gone = 0;
		for (size_t k = 0; k < shown.records.n; k++) {
			const struct record *record = &shown.records.data[k];
			struct image_block block = {};
			bool found = blocks_find(shown.blocks, record->address,
						 &block);
			if (record->kind == RECORD_FAST && !where.main_arena)
				continue;
			if (record->kind != RECORD_LIVE) {
				if (found)
					fail_msg("freed %lx of %lu found: %lx",
						 record->address, record->size,
						 block.start);
				gone++;
				continue;
			}
			if (!found)
				fail_msg("%lx of %lu not found",
					 record->address, record->size);
			assert_int_equal(block.start, record->address);
			assert_in_range(block.size, record->size,
					record->size + 8192);
			assert_false(block.exact);
			assert_true(blocks_find(shown.blocks,
						record->address + record->size,
						&block));
			assert_int_equal(block.start, record->address);
			lives++;
		}
		assert_in_range(lives, 300, 5000);
		assert_in_range(gone, 100, 5000);
		finish(&shown);
	}
}

static void test_environment(void **state)
{
	(void)state;
	const char *agent = getenv("AGENT");
	char preload[8192], module[4096];
	struct shown shown;
	start(&shown, agent, "program", "environment", "unset");
	finish(&shown);
	snprintf(preload, sizeof(preload), "%s:", agent);
	start(&shown, preload, "program", "environment", "");
	finish(&shown);
	snprintf(module, sizeof(module), "%s", program("module.so"));
	snprintf(preload, sizeof(preload), "%s:%s", agent, module);
	start(&shown, preload, "program", "environment", module);
	finish(&shown);
}

static void test_regions(void **state)
{
	(void)state;
	struct shown shown;
	start(&shown, getenv("AGENT"), "program", "large", NULL);
	struct blocks_region regions[64];
	size_t n = blocks_regions(shown.blocks, regions, 64);
	assert_in_range(n, 4, 64);
	/* The description itself does, no block of the program lies in them. */
	bool own = false;
	for (size_t i = 0; i < n; i++)
		own |= shown.heap >= regions[i].start &&
		       shown.heap < regions[i].end;
	assert_true(own);
	for (size_t i = 0; i < n; i++) {
		assert_true(regions[i].start < regions[i].end);
		for (size_t k = 0; k < shown.records.n; k++) {
			uint64_t at = shown.records.data[k].address;
			assert_false(at >= regions[i].start &&
				     at < regions[i].end);
		}
	}
	finish(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_function),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_glibc),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_regions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
