/*
 * Every model against its cases (cases.h): does it make the fragile one fail, and
 * does the correct one hold, whatever is chosen?
 *
 *	test_models AGENT FAMILY PROGRAM [SEEDS]
 *
 * SEEDS (of correct cases) are $POLYGRAPH_TEST_SEEDS otherwise, or 200.
 *
 * Models of FAMILY only. Correct cases run with all models at once, optional ones
 * apart; fragile ones with their own model alone, so that it is that one.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/choices.h"

struct model {
	const char *name;
	enum wire_level level;
	unsigned flags;
};

#define X(name, kind, level, flags, api, clause, never) { #name, level, flags },
static const struct model order[] = { WIRE_MODELS_ORDER(X){} };
static const struct model hash[] = { WIRE_MODELS_HASH(X){} };
static const struct model memory[] = { WIRE_MODELS_MEMORY(X){} };
static const struct model values[] = { WIRE_MODELS_VALUES(X){} };
static const struct model shorts[] = { WIRE_MODELS_SHORT(X){} };
static const struct model statics[] = { WIRE_MODELS_STATICS(X){} };
static const struct model threads[] = { WIRE_MODELS_THREADS(X){} };
static const struct model environment[] = { WIRE_MODELS_ENVIRONMENT(X){} };
static const struct model all[] = { WIRE_MODELS(X){} };
#undef X

static const struct {
	const char *name;
	const struct model *models;
} families[] = {
	{ "order", order },	{ "hash", hash },
	{ "memory", memory },	{ "values", values },
	{ "short", shorts },	{ "statics", statics },
	{ "threads", threads }, { "environment", environment },
};

#define SEEDS 200
#define TRIES 20

static const char *const levels[] = { "one", "eq", "id", "full" };

static struct wire_choices *block;
static char preload[4200], variable[64];
static const char *program;
static unsigned problems;

static unsigned number_of(const char *name)
{
	for (unsigned i = 0; all[i].name; i++) {
		if (!strcmp(all[i].name, name))
			return i;
	}
	abort();
}

static void set_bit(unsigned model)
{
	block->models[model / 64] |= 1ULL << model % 64;
	block->on[model / 64] |= 1ULL << model % 64;
}

static void prepare(enum wire_level level, uint64_t seed, bool active)
{
	memset(block, 0, sizeof(*block));
	block->magic = WIRE_CHOICES_MAGIC;
	block->version = WIRE_CHOICES_VERSION;
	block->active = active;
	block->level = level;
	block->seed = seed;
	block->epoch = 1;
	block->phase = 1;
}

/* Runs the program; what it said, a line a case. */
static void run(const char *which, const char *model, char *out, size_t size)
{
	int ends[2];
	if (pipe(ends))
		abort();
	pid_t pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		personality(ADDR_NO_RANDOMIZE);
		/* Whoever started this may ignore some. */
		for (int i = 1; i < NSIG; i++)
			signal(i, SIG_DFL);
		/* Where users set these, they stay. */
		unsetenv("TZ");
		unsetenv("LC_ALL");
		unsetenv("TMPDIR");
		unsetenv("COLUMNS");
		unsetenv("LINES");
		putenv(preload);
		putenv(variable);
		execl(program, program, which, model, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	size_t n = 0;
	ssize_t got;
	while ((got = read(ends[0], out + n, size - 1 - n)) > 0 ||
	       (got < 0 && errno == EINTR)) {
		if (got > 0)
			n += (size_t)got;
	}
	out[n] = '\0';
	close(ends[0]);
	int status = 0;
	while (waitpid(pid, &status, 0) != pid)
		;
	if (status) {
		printf("%s %s ended with status %d\n", program, which, status);
		problems++;
	}
}

/* "held", "failed", "unreachable"; NULL: there is no such case. */
static const char *verdict(char *out, const char *model)
{
	static char word[32];
	size_t n = strlen(model);
	for (char *line = out; line && *line;) {
		char *end = strchr(line, '\n');
		if (!strncmp(line, model, n) && line[n] == ' ') {
			snprintf(word, sizeof(word), "%.*s",
				 (int)strcspn(line + n + 1, "\n"),
				 line + n + 1);
			return word;
		}
		line = end ? end + 1 : NULL;
	}
	return NULL;
}

static void expect(char *out, const char *model, const char *which,
		   const char *wanted, const char *when, uint64_t seed)
{
	const char *found = verdict(out, model);
	if (found && !strcmp(found, wanted))
		return;
	if (found && !strcmp(found, "unreachable") && *which == 'f')
		return;
	printf("%s: the %s case %s %s, seed %llu\n", model, which,
	       found ? found : "is missing", when, (unsigned long long)seed);
	problems++;
}

/*
 * Cases of threads are fragile because they bet on time: on a busy machine one may lose its
 * bet by itself. A fragile case is good if it holds once.
 */
static bool holds_without(const char *model)
{
	char out[16384];
	for (int tries = 0; tries < TRIES; tries++) {
		run("fragile", model, out, sizeof(out));
		const char *found = verdict(out, model);
		if (found && strcmp(found, "failed"))
			return true;
	}
	return false;
}

static void check_without(const struct model *models)
{
	char correct[16384], fragile[16384];
	prepare(WIRE_FULL, 1, false);
	run("correct", NULL, correct, sizeof(correct));
	run("fragile", NULL, fragile, sizeof(fragile));
	for (const struct model *model = models; model->name; model++) {
		const char *found = verdict(correct, model->name);
		if (found && !strcmp(found, "failed")) {
			printf("%s: the correct case failed without choices\n",
			       model->name);
			problems++;
		}
		found = verdict(fragile, model->name);
		if (found && !strcmp(found, "failed") &&
		    !holds_without(model->name)) {
			printf("%s: the fragile case failed without choices\n",
			       model->name);
			problems++;
		}
	}
}

static void check_correct(const struct model *models, uint64_t seeds)
{
	char out[16384];
	for (unsigned level = 0; level < WIRE_LEVELS; level++) {
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			prepare((enum wire_level)level, seed, true);
			for (unsigned i = 0; all[i].name; i++) {
				if (all[i].level <= level &&
				    !(all[i].flags & WIRE_OPTIONAL))
					set_bit(i);
			}
			run("correct", NULL, out, sizeof(out));
			for (const struct model *model = models; model->name;
			     model++)
				expect(out, model->name, "correct", "held",
				       levels[level], seed);
		}
	}
}

static void check_optional(const struct model *model, uint64_t seeds)
{
	char out[16384];
	for (unsigned level = model->level; level < WIRE_LEVELS; level++) {
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			prepare((enum wire_level)level, seed, true);
			set_bit(number_of(model->name));
			run("correct", model->name, out, sizeof(out));
			expect(out, model->name, "correct", "held",
			       levels[level], seed);
		}
	}
}

/* It fails at each level from its first on, at some seed. */
static void check_fragile(const struct model *model, uint64_t seeds)
{
	char out[16384];
	for (unsigned level = model->level; level < WIRE_LEVELS; level++) {
		bool failed = false, unreachable = false;
		uint64_t seed = 0;
		while (!failed && !unreachable && seed++ < seeds) {
			prepare((enum wire_level)level, seed, true);
			set_bit(number_of(model->name));
			run("fragile", model->name, out, sizeof(out));
			const char *found = verdict(out, model->name);
			failed = found && !strcmp(found, "failed");
			unreachable = found && !strcmp(found, "unreachable");
		}
		if (unreachable) {
			printf("skipped: %s is not called in this build\n",
			       model->name);
			return;
		}
		if (failed)
			continue;
		printf("%s: the fragile case held at level %s over %llu seeds "
		       "(%llu choices, %llu acted in the last)\n",
		       model->name, levels[level], (unsigned long long)seeds,
		       (unsigned long long)block->made[number_of(model->name)],
		       (unsigned long long)
			       block->acted[number_of(model->name)]);
		problems++;
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	const char *few = getenv("POLYGRAPH_TEST_SEEDS");
	uint64_t seeds = argc > 4 ? strtoull(argv[4], NULL, 10)
			 : few	  ? strtoull(few, NULL, 10)
				  : SEEDS;
	const struct model *models = NULL;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (!strcmp(families[i].name, argv[2]))
			models = families[i].models;
	}
	if (!models)
		return 2;
	int fd = memfd_create("choices", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*block)))
		return 3;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (block == MAP_FAILED)
		return 3;
	program = argv[3];
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	snprintf(variable, sizeof(variable),
		 WIRE_CHOICES_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), fd);

	check_without(models);
	for (const struct model *model = models; model->name; model++)
		check_fragile(model, SEEDS);
	check_correct(models, seeds);
	for (const struct model *model = models; model->name; model++) {
		if (model->flags & WIRE_OPTIONAL)
			check_optional(model, seeds);
	}
	unsigned n = 0;
	while (models[n].name)
		n++;
	printf("%u models, %llu seeds: %u problems\n", n,
	       (unsigned long long)seeds, problems);
	return problems != 0;
}
