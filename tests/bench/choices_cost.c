/*
 * Runs a program plain, and with the library that makes choices, without the
 * rest of the tool: for bench_choices.py.
 *
 *	choices_cost AGENT cost TIMES PROGRAM [ARGS...]
 *		In turns, at level ONE with all models (optional ones aside). A line
 *		each time: seconds and processor seconds plain, the same with
 *		choices, both exit statuses, choices made, choices that acted.
 *	choices_cost AGENT models
 *		Optional ones aside: a line each, family, model, lowest level.
 *	choices_cost AGENT first MODEL SEEDS PROGRAM
 *		PROGRAM is one of tests/models: the first seed that breaks the
 *		fragile case of MODEL at its lowest level; 0: none, -1: no such case.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/choices.h"

#define SECONDS_MAX 300

struct model {
	const char *name, *family;
	enum wire_level level;
	unsigned flags;
};

#define ROW(family, name, level, flags) { #name, family, level, flags },
static const struct model models[] = {
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("order", name, level, flags)
	WIRE_MODELS_ORDER(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("hash", name, level, flags)
		WIRE_MODELS_HASH(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("memory", name, level, flags)
			WIRE_MODELS_MEMORY(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("values", name, level, flags)
				WIRE_MODELS_VALUES(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("short", name, level, flags)
					WIRE_MODELS_SHORT(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("statics", name, level, flags)
						WIRE_MODELS_STATICS(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("threads", name, level, flags)
							WIRE_MODELS_THREADS(X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("environment", name, level, flags)
								WIRE_MODELS_ENVIRONMENT(
									X)
#undef X
#define X(name, kind, level, flags, api, clause, never)                        \
	ROW("java", name, level, flags)
									WIRE_MODELS_JAVA(
										X)
#undef X
};
#define MODELS (sizeof(models) / sizeof(models[0]))
_Static_assert(MODELS == WIRE_MODELS_N, "in the order of enum wire_model");

static struct wire_choices *block;
static char preload[4200], variable[64];

static void prepare(enum wire_level level, uint64_t seed)
{
	memset(block, 0, sizeof(*block));
	block->magic = WIRE_CHOICES_MAGIC;
	block->version = WIRE_CHOICES_VERSION;
	block->active = 1;
	block->level = level;
	block->seed = seed;
	block->epoch = 1;
	block->phase = 1;
}

static void set_bit(size_t model)
{
	block->models[model / 64] |= 1ULL << model % 64;
	block->on[model / 64] |= 1ULL << model % 64;
}

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void become(char **argv, bool choosing, int out)
{
	int null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(out < 0 ? null : out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setpgid(0, 0);
	alarm(SECONDS_MAX); /* which exec keeps */
	/* As under the tool: picks are of use only where they can be repeated. */
	personality(ADDR_NO_RANDOMIZE);
	if (choosing) {
		putenv(preload);
		putenv(variable);
	}
	execv(argv[0], argv);
	_exit(127);
}

struct took {
	double seconds, processor;
	int status;
};

static struct took measure(char **argv, bool choosing)
{
	struct took took;
	struct rusage usage;
	double began = now();
	pid_t pid = fork();
	if (!pid)
		become(argv, choosing, -1);
	while (wait4(pid, &took.status, 0, &usage) != pid)
		;
	took.seconds = now() - began;
	took.processor =
		(double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
			1e-6;
	kill(-pid, SIGKILL); /* what it left behind */
	return took;
}

static int cost(int times, char **argv)
{
	for (int i = 0; i < times; i++) {
		struct took took[2];
		/* Who goes first changes: drift hits both alike. */
		for (int k = 0; k < 2; k++) {
			bool choosing = (i + k) % 2;
			if (choosing)
				prepare(WIRE_ONE, (uint64_t)i + 1);
			for (size_t n = 0; choosing && n < MODELS; n++) {
				if (models[n].level == WIRE_ONE &&
				    !(models[n].flags & WIRE_OPTIONAL))
					set_bit(n);
			}
			took[choosing] = measure(argv, choosing);
		}
		uint64_t made = 0, acted = 0;
		for (size_t n = 0; n < MODELS; n++) {
			made += block->made[n];
			acted += block->acted[n];
		}
		printf("%.6f %.6f %.6f %.6f %d %d %llu %llu\n", took[0].seconds,
		       took[0].processor, took[1].seconds, took[1].processor,
		       took[0].status, took[1].status, (unsigned long long)made,
		       (unsigned long long)acted);
		fflush(stdout);
	}
	return 0;
}

/* What a program of tests/models says of its one case. */
static bool says(char **argv, const char *wanted, bool *ret_known)
{
	char said[256];
	int ends[2];
	size_t n = 0;
	ssize_t got;
	if (pipe2(ends, O_CLOEXEC))
		exit(3);
	pid_t pid = fork();
	if (!pid)
		become(argv, true, ends[1]);
	close(ends[1]);
	while ((got = read(ends[0], said + n, sizeof(said) - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(ends[0]);
	while (waitpid(pid, NULL, 0) != pid)
		;
	*ret_known = n && !strstr(said, " unreachable");
	return strstr(said, wanted);
}

static int first(const char *name, long seeds, char *program)
{
	size_t model = 0;
	bool known = true;
	while (model < MODELS && strcmp(models[model].name, name) != 0)
		model++;
	if (model == MODELS)
		return 2;
	char *argv[] = { program, "fragile", (char *)name, NULL };
	/* Where users set these they stay. */
	unsetenv("TZ");
	unsetenv("LC_ALL");
	unsetenv("TMPDIR");
	unsetenv("COLUMNS");
	unsetenv("LINES");
	for (long seed = 1; seed <= seeds && known; seed++) {
		prepare(models[model].level, (uint64_t)seed);
		set_bit(model);
		if (says(argv, " failed", &known)) {
			printf("%ld\n", seed);
			return 0;
		}
	}
	printf(known ? "0\n" : "-1\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const levels[] = { "one", "eq", "id", "full" };
	if (argc < 3)
		return 2;
	int fd = memfd_create("choices", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(*block)))
		return 3;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (block == MAP_FAILED)
		return 3;
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	snprintf(variable, sizeof(variable),
		 WIRE_CHOICES_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), fd);
	if (!strcmp(argv[2], "cost") && argc > 4)
		return cost(atoi(argv[3]), argv + 4);
	if (!strcmp(argv[2], "first") && argc > 5)
		return first(argv[3], atol(argv[4]), argv[5]);
	if (strcmp(argv[2], "models") != 0)
		return 2;
	for (size_t i = 0; i < MODELS; i++) {
		if (!(models[i].flags & WIRE_OPTIONAL))
			printf("%s %s %s\n", models[i].family, models[i].name,
			       levels[models[i].level]);
	}
	return 0;
}
