/*
 * The order of unordered containers (orders.cc) under many seeds: each container has
 * another one at some seed, from the level on that the program names, and is whole at
 * every seed.
 *
 *	test_orders AGENT PROGRAM [SEEDS]
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/choices.h"

#define SEEDS 24
#define CONTAINERS 64

static const char *const levels[WIRE_LEVELS] = { "one", "eq", "id", "full" };

/* Its line without choices, and whether it had another at a level. */
static struct container {
	char line[256];
	bool other[WIRE_LEVELS];
} containers[CONTAINERS];
static size_t containers_n;
static struct wire_choices *block;
static char preload[4200], variable[64];

static void prepare(unsigned level, uint64_t seed, bool active)
{
	memset(block, 0, sizeof(*block));
	block->magic = WIRE_CHOICES_MAGIC;
	block->version = WIRE_CHOICES_VERSION;
	block->active = active;
	block->level = level;
	block->seed = seed;
	block->epoch = 1;
	block->phase = 1;
	/* Not the seed of hashes: orders are another in any case then. */
	static const struct {
		unsigned model, level;
	} used[] = {
		{ WIRE_MODEL_unordered_insert, WIRE_ONE },
		{ WIRE_MODEL_unordered_rehash, WIRE_ID },
	};
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		unsigned model = used[i].model;
		if (used[i].level > level)
			continue;
		block->models[model / 64] |= 1ULL << model % 64;
		block->on[model / 64] |= 1ULL << model % 64;
	}
}

/* @level: WIRE_LEVELS, these are the first. */
static bool note(const char *line, size_t at, unsigned level)
{
	if (at >= CONTAINERS || (level < WIRE_LEVELS && at >= containers_n))
		return false;
	struct container *container = &containers[at];
	if (level == WIRE_LEVELS) {
		snprintf(container->line, sizeof(container->line), "%s", line);
		containers_n = at + 1;
		return line[0] >= '0' && line[0] <= '3';
	}
	const char *end = strchr(container->line, ':');
	size_t name = end ? (size_t)(end - container->line) : 0;
	if (!name || strncmp(line, container->line, name + 1) != 0)
		return false;
	container->other[level] |= strcmp(line, container->line) != 0;
	return true;
}

static bool run(const char *program, unsigned level)
{
	int ends[2];
	if (pipe(ends))
		return false;
	pid_t pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		personality(ADDR_NO_RANDOMIZE);
		putenv(preload);
		putenv(variable);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	FILE *out = fdopen(ends[0], "r");
	char line[256];
	bool right = out != NULL;
	for (size_t i = 0; out && fgets(line, sizeof(line), out); i++) {
		if (note(line, i, level))
			continue;
		printf("not expected: %s", line);
		right = false;
	}
	if (out)
		fclose(out);
	int status = 0;
	while (waitpid(pid, &status, 0) != pid)
		;
	return right && status == 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	uint64_t seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : SEEDS;
	int fd = memfd_create("choices", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*block)))
		return 3;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (block == MAP_FAILED)
		return 3;
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	snprintf(variable, sizeof(variable),
		 WIRE_CHOICES_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), fd);
	unsigned problems = 0;
	prepare(WIRE_FULL, 1, false);
	if (!run(argv[2], WIRE_LEVELS) || !containers_n)
		return 4;
	for (unsigned level = 0; level < WIRE_LEVELS; level++) {
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			prepare(level, seed, true);
			if (run(argv[2], level))
				continue;
			printf("level %s, seed %llu: a container is broken\n",
			       levels[level], (unsigned long long)seed);
			problems++;
		}
	}
	for (size_t i = 0; i < containers_n; i++) {
		const char *line = containers[i].line;
		unsigned first = (unsigned)(line[0] - '0');
		for (unsigned level = first; level < WIRE_LEVELS; level++) {
			if (containers[i].other[level])
				continue;
			printf("never another order at level %s: %s",
			       levels[level], line);
			problems++;
		}
	}
	printf("%zu containers, %llu seeds a level: %u problems\n",
	       containers_n, (unsigned long long)seeds, problems);
	return problems != 0;
}
