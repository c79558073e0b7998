/*
 * Which level can break which assertion about the order of a set (nondex.cc):
 * many seeds a level, a table of what failed at least once, and the table that is
 * expected.
 *
 *	test_nondex AGENT PROGRAM [SEEDS]
 *
 * The expected one is NonDex's, but for two cells. A C++ container that nobody
 * changes is iterated in the same order at each level, FULL too, (b) and (c).
 * C++17 [container.requirements.general]: "Unless otherwise specified […] invoking
 * a container member function […] shall not invalidate iterators to, or change
 * the values of, objects within that container"; [unord.req]: "Rehashing
 * invalidates iterators, changes ordering between elements", and neither begin()
 * nor find() rehashes. An iterator that is kept meanwhile would tell.
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

#define ASSERTIONS 6

static const char *const assertions[ASSERTIONS] = {
	"(a) a literal order",
	"(b) a second iteration",
	"(c) an iteration after a lookup",
	"(d) after adding and removing a third",
	"(e) a second set built alike",
	"(f) a set of two others, relatively",
};

static const char *const levels[WIRE_LEVELS] = { "ONE", "EQ", "ID", "FULL" };

static const struct {
	const char *set;
	const char *fails[ASSERTIONS]; /* a letter a level: x can, . cannot */
} expected[] = {
	{ "std::unordered_set",
	  { "xxxx", "....", "....", "..xx", "..xx", ".xxx" } },
	{ "GHashTable", { "xxxx", "...x", "...x", "..xx", "..xx", ".xxx" } },
};
#define SETS (sizeof(expected) / sizeof(expected[0]))

static bool seen[SETS];
static bool failed[SETS][ASSERTIONS][WIRE_LEVELS];
static struct wire_choices *block;

static void prepare(unsigned level, uint64_t seed)
{
	static const struct {
		unsigned level, flags;
	} models[] = {
#define X(name, kind, level, flags, api, clause, never) { level, flags },
		WIRE_MODELS(X)
#undef X
	};
	memset(block, 0, sizeof(*block));
	block->magic = WIRE_CHOICES_MAGIC;
	block->version = WIRE_CHOICES_VERSION;
	block->active = 1;
	block->level = level;
	block->seed = seed;
	block->epoch = 1;
	block->phase = 1;
	/* Of this family: others have their own tables. */
#define X(name, kind, level, flags, api, clause, never) WIRE_MODEL_##name,
	static const unsigned family[] = { WIRE_MODELS_HASH(X) };
#undef X
	for (size_t i = 0; i < sizeof(family) / sizeof(family[0]); i++) {
		unsigned model = family[i];
		if (models[model].level > level ||
		    models[model].flags & WIRE_OPTIONAL)
			continue;
		block->models[model / 64] |= 1ULL << model % 64;
		block->on[model / 64] |= 1ULL << model % 64;
	}
}

static bool note(const char *line, unsigned level)
{
	for (size_t i = 0; i < SETS; i++) {
		size_t n = strlen(expected[i].set);
		if (strncmp(line, expected[i].set, n) || line[n] != ' ' ||
		    strlen(line) < n + 2UL * ASSERTIONS)
			continue;
		seen[i] = true;
		for (unsigned a = 0; a < ASSERTIONS; a++)
			failed[i][a][level] |= line[n + 1 + 2UL * a] == '0';
		return true;
	}
	return false;
}

static bool run(const char *program, char *preload, char *variable,
		unsigned level)
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
	char line[128];
	bool right = out != NULL;
	while (out && fgets(line, sizeof(line), out))
		right &= note(line, level);
	if (out)
		fclose(out);
	int status = 0;
	while (waitpid(pid, &status, 0) != pid)
		;
	return right && status == 0;
}

static unsigned compare(void)
{
	unsigned problems = 0;
	for (size_t i = 0; i < SETS; i++) {
		if (!seen[i]) {
			printf("\n%s: skipped, built without it\n",
			       expected[i].set);
			continue;
		}
		printf("\n%-38s ONE  EQ   ID   FULL\n", expected[i].set);
		for (unsigned a = 0; a < ASSERTIONS; a++) {
			printf("%-38s", assertions[a]);
			for (unsigned level = 0; level < WIRE_LEVELS; level++) {
				bool can = expected[i].fails[a][level] == 'x';
				bool did = failed[i][a][level];
				printf(" %-4s", did ? "x" : ".");
				if (can == did)
					continue;
				fprintf(stderr, "%s, %s at %s: %s\n",
					expected[i].set, assertions[a],
					levels[level],
					did ? "failed, and must not"
					    : "never failed");
				problems++;
			}
			printf("\n");
		}
	}
	return problems;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	uint64_t seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : 200;
	int fd = memfd_create("choices", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*block)))
		return 3;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (block == MAP_FAILED)
		return 3;
	char preload[4200], variable[64];
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	snprintf(variable, sizeof(variable),
		 WIRE_CHOICES_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), fd);
	unsigned problems = 0;
	prepare(WIRE_FULL, 1);
	block->active = 0;
	if (!run(argv[2], preload, variable, WIRE_FULL))
		return 4;
	for (size_t i = 0; i < SETS; i++) {
		for (unsigned a = 0; a < ASSERTIONS; a++) {
			if (!failed[i][a][WIRE_FULL])
				continue;
			printf("%s, %s: fails without choices\n",
			       expected[i].set, assertions[a]);
			problems++;
		}
	}
	for (unsigned level = 0; level < WIRE_LEVELS; level++) {
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			prepare(level, seed);
			if (run(argv[2], preload, variable, level))
				continue;
			printf("%s did not end well: %s, seed %llu\n", argv[2],
			       levels[level], (unsigned long long)seed);
			problems++;
		}
	}
	printf("x: fails at some of %llu seeds\n", (unsigned long long)seeds);
	problems += compare();
	return problems != 0;
}
