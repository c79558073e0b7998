/* Process state in a C program; see same.h. */
#include "same.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define STATE polygraph_agent_state

extern sighandler_t bsd_signal(int number, sighandler_t handler);
extern sighandler_t ssignal(int number, sighandler_t handler);
extern sighandler_t sysv_signal(int number, sighandler_t handler);
extern sighandler_t __sysv_signal(int number, sighandler_t handler);

static volatile sig_atomic_t caught;
static void on_signal(int number)
{
	caught = number;
}
static void on_other(int number)
{
	caught = -number;
}

static uint64_t address(sighandler_t handler)
{
	return (uint64_t)(uintptr_t)handler;
}

/* Before main(): constructors find it working. */
static uint64_t early_changes;
static long early_random;
static void early_exit(void)
{
	puts("early exit");
	fflush(stdout);
}
__attribute__((constructor)) static void early(void)
{
	signal(SIGUSR2, on_other);
	MUST(setlocale(LC_NUMERIC, "C"));
	early_random = random();
	MUST(!atexit(early_exit));
	NOTED(STATE.active);
	early_changes = AGENT ? STATE.changes : 3;
	NOTED(STATE.signals[SIGUSR2].handler == address(on_other));
	NOTED(STATE.exits_n == 1 &&
	      STATE.exits[0].function == (uintptr_t)early_exit);
}

static void signals(void)
{
	static const struct {
		const char *name;
		sighandler_t (*set)(int, sighandler_t);
		uint64_t flags;
	} functions[] = {
		{ "signal", signal, SA_RESTART },
		{ "bsd_signal", bsd_signal, SA_RESTART },
		{ "ssignal", ssignal, SA_RESTART },
		{ "sysv_signal", sysv_signal, SA_RESETHAND | SA_NODEFER },
		{ "__sysv_signal", __sysv_signal, SA_RESETHAND | SA_NODEFER },
		{ "sigset", sigset, 0 },
	};
	MUST(early_changes == 3);
	NOTED(STATE.signals[SIGPIPE].handler == 1);
	NOTED(STATE.signals[SIGTERM].handler == 0);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		uint64_t changes = AGENT ? STATE.changes : 0;
		errno = 4711;
		MUST(functions[i].set(SIGUSR1, on_signal) == SIG_DFL);
		MUST(errno == 4711);
		NOTED(STATE.signals[SIGUSR1].handler == address(on_signal));
		NOTED(STATE.signals[SIGUSR1].flags == functions[i].flags);
		NOTED(STATE.changes == changes + 1);
		caught = 0;
		raise(SIGUSR1);
		MUST(caught == SIGUSR1);
		/* sysv_signal's are gone after one: the kernel did that. */
		sighandler_t old = functions[i].set(SIGUSR1, SIG_IGN);
		printf("%s %d\n", functions[i].name, old == on_signal);
		NOTED(STATE.signals[SIGUSR1].handler == 1);
		MUST(functions[i].set(SIGUSR1, SIG_DFL) == SIG_IGN);
		NOTED(STATE.signals[SIGUSR1].handler == 0);
		errno = 0;
		MUST(functions[i].set(SIGKILL, SIG_IGN) == SIG_ERR);
		MUST(errno == EINVAL);
		errno = 0;
		MUST(functions[i].set(9999, SIG_IGN) == SIG_ERR);
		MUST(errno == EINVAL);
		NOTED(STATE.changes == changes + 3);
		NOTED(STATE.signals[SIGKILL].handler == 0);
	}
	MUST(!sigignore(SIGHUP));
	NOTED(STATE.signals[SIGHUP].handler == 1);
	MUST(sigignore(-1) == -1 && errno == EINVAL);

	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART }, old;
	action.sa_handler = on_signal;
	sigaddset(&action.sa_mask, SIGTERM);
	MUST(!sigaction(SIGUSR2, &action, &old));
	MUST(old.sa_handler == on_other);
	NOTED(STATE.signals[SIGUSR2].handler == address(on_signal));
	NOTED(STATE.signals[SIGUSR2].flags == (SA_SIGINFO | SA_RESTART));
	NOTED(STATE.signals[SIGUSR2].mask == 1UL << (SIGTERM - 1));
	uint64_t changes = AGENT ? STATE.changes : 0;
	MUST(!sigaction(SIGUSR2, NULL, &old));
	MUST((old.sa_flags & ~0x04000000) == action.sa_flags);
	MUST(sigismember(&old.sa_mask, SIGTERM) == 1);
	NOTED(STATE.changes == changes);
	MUST(!siginterrupt(SIGUSR2, 1));
	NOTED(STATE.signals[SIGUSR2].flags == SA_SIGINFO);
	NOTED(STATE.changes == changes + 1);
	MUST(sigaction(SIGRTMAX, &action, NULL) == 0);
	NOTED(STATE.signals[SIGRTMAX].handler == address(on_signal));

	/* What libc does inside itself puts everything back. */
	struct wire_signal before =
		AGENT ? STATE.signals[SIGINT] : (struct wire_signal){};
	MUST(system("exit 7") == 7 << 8);
	NOTED(!memcmp(&before, &STATE.signals[SIGINT], sizeof(before)));
}

/* A child's are its own, one by vfork() does not write into ours. */
static void children(void)
{
	int status;
	MUST(signal(SIGUSR1, on_signal) == SIG_DFL);
	pid_t child = fork();
	if (child == 0) {
		MUST(signal(SIGUSR1, on_other) == on_signal);
		NOTED(STATE.signals[SIGUSR1].handler == address(on_other));
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && status == 0);
	NOTED(STATE.signals[SIGUSR1].handler == address(on_signal));
	child = vfork();
	if (child == 0) {
		signal(SIGUSR1, SIG_IGN);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && status == 0);
	NOTED(STATE.signals[SIGUSR1].handler == address(on_signal));
	MUST(signal(SIGUSR1, SIG_DFL) == on_signal);
	NOTED(STATE.signals[SIGUSR1].handler == 0);
}

enum { THREADS = 4, ROUNDS = 2000 };
static void *set_often(void *argument)
{
	int self = (int)(intptr_t)argument;
	unsigned short seed[3] = {};
	for (int i = 0; i < ROUNDS; i++) {
		MUST(signal(SIGRTMIN + self, i % 2 ? on_signal : on_other) !=
		     SIG_ERR);
		MUST(getenv("PATH"));
		erand48(seed);
		random();
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];
	uint64_t changes = AGENT ? STATE.changes : 0;
	if (AGENT)
		STATE.log_reads = 1;
	for (intptr_t i = 0; i < THREADS; i++)
		MUST(!pthread_create(&all[i], NULL, set_often, (void *)i));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(all[i], NULL));
	NOTED(STATE.changes == changes + THREADS * ROUNDS);
	NOTED(STATE.reads_n == THREADS * ROUNDS);
	NOTED(STATE.asked[WIRE_RANDOM] == THREADS * ROUNDS);
	for (int i = 0; i < THREADS; i++)
		NOTED(STATE.signals[SIGRTMIN + i].handler ==
		      address(on_signal));
}

static void locales(void)
{
	NOTED(!strcmp(STATE.locale[LC_CTYPE], "C"));
	NOTED(STATE.locale_calls == 1);
	printf("%s\n", setlocale(LC_ALL, NULL));
	MUST(!setlocale(LC_ALL, "xx_NOT_THERE"));
	NOTED(STATE.locale_calls == 1);
	errno = 4711;
	MUST(setlocale(LC_CTYPE, "C.UTF-8"));
	printf("%d\n", errno);
	NOTED(STATE.locale_calls == 2);
	NOTED(!strcmp(STATE.locale[LC_CTYPE], "C.UTF-8"));
	NOTED(!strcmp(STATE.locale[LC_NUMERIC], "C"));
	printf("%s\n", setlocale(LC_ALL, NULL));
	MUST(setlocale(LC_ALL, "C.UTF-8"));
	NOTED(!strcmp(STATE.locale[LC_NUMERIC], "C.UTF-8"));
	NOTED(!strcmp(STATE.locale[LC_IDENTIFICATION], "C.UTF-8"));
	NOTED(!STATE.locale[LC_ALL][0]);
	printf("%s\n", setlocale(LC_ALL, NULL));
}

/* The table that is noted is the one that changes, and nothing else does. */
static void changes_table(void)
{
	char copy[256];
	if (!AGENT)
		return;
	MUST(STATE.random_size <= sizeof(copy));
	memcpy(copy, (void *)STATE.random, STATE.random_size);
	char *old = (char *)STATE.random;
	random();
	MUST(memcmp(copy, old, STATE.random_size));
}

static void numbers(void)
{
	static int32_t tables[3][64];
	NOTED(STATE.random_size == 128);
	printf("%ld\n", early_random);
	for (int i = 0; i < 50; i++)
		printf("%d %ld\n", rand(), random());
	if (AGENT)
		changes_table();
	else
		random();
	for (int i = 0; i < 5; i++)
		printf("%.9f %ld %ld\n", drand48(), lrand48(), mrand48());
	unsigned short x[3] = { 1, 2, 3 };
	printf("%.9f\n", erand48(x));
	if (AGENT) {
		unsigned short copy[3];
		MUST(STATE.drand48_size == 3 * sizeof(short));
		memcpy(copy, (void *)STATE.drand48, sizeof(copy));
		printf("%ld\n", lrand48());
		MUST(memcmp(copy, (void *)STATE.drand48, sizeof(copy)));
	} else {
		printf("%ld\n", lrand48());
	}
	srandom(5);
	srand48(6);
	printf("%ld %ld\n", random(), lrand48());

	static const size_t sizes[] = { 8, 100, 256 };
	static const uint64_t expected[] = { 8, 64, 256 };
	char *first = NULL;
	for (int i = 0; i < 3; i++) {
		uint64_t changes = AGENT ? STATE.changes : 0;
		char *old = initstate(7 + i, (char *)tables[i], sizes[i]);
		MUST(old);
		if (!i)
			first = old;
		NOTED(STATE.random == (uintptr_t)tables[i]);
		NOTED(STATE.random_size == expected[i]);
		NOTED(STATE.changes == changes + 1);
		printf("%ld\n", random());
		if (AGENT)
			changes_table();
		else
			random();
	}
	MUST(!initstate(1, (char *)tables[0], 4) && errno == EINVAL);
	NOTED(STATE.random == (uintptr_t)tables[2]);
	MUST(setstate((char *)tables[1]) == (char *)tables[2]);
	NOTED(STATE.random == (uintptr_t)tables[1]);
	NOTED(STATE.random_size == 64);
	printf("%ld\n", random());
	MUST(setstate(first) == (char *)tables[1]);
	NOTED(STATE.random_size == 128);
	printf("%ld\n", random());
}

static void sequence48(void)
{
	/* Never seeded: the first numbers of all. */
	for (int i = 0; i < 5; i++)
		printf("%ld\n", mrand48());
	unsigned short seed[3] = { 9, 8, 7 };
	unsigned short copy[3] = {}, back[3] = {};
	if (AGENT)
		memcpy(copy, (void *)STATE.drand48, sizeof(copy));
	unsigned short *old = seed48(seed);
	printf("%d %d %d\n", old[0], old[1], old[2]);
	/* Put back as a program does it, it is what it was. */
	memcpy(back, old, sizeof(back));
	printf("%ld\n", lrand48());
	seed48(back);
	NOTED(!memcmp(copy, (void *)STATE.drand48, STATE.drand48_size));
	printf("%ld\n", lrand48());
}

static void first(void)
{
	puts("first");
	fflush(stdout);
}
static void second(void)
{
	puts("second");
	fflush(stdout);
}
static void third(int status, void *argument)
{
	printf("third %d %s\n", status, (char *)argument);
	fflush(stdout);
}

static char third_argument[] = "argument";

static void exits(void)
{
	NOTED(STATE.exits_n == 1);
	MUST(!atexit(first));
	MUST(!on_exit(third, third_argument));
	MUST(!atexit(second));
	MUST(!at_quick_exit(second));
	NOTED(STATE.exits_n == 5);
	NOTED(STATE.exits[1].function == (uintptr_t)first);
	NOTED(STATE.exits[1].kind == 0);
	NOTED(STATE.exits[2].function == (uintptr_t)third);
	NOTED(STATE.exits[2].kind == 1);
	NOTED(STATE.exits[3].function == (uintptr_t)second);
	NOTED(STATE.exits[4].function == (uintptr_t)second);
	NOTED(STATE.exits[4].kind == 2);
	for (int i = 1; i < 5; i++) {
		NOTED(STATE.exits[i].caller_known);
		NOTED(STATE.exits[i].caller - (uintptr_t)exits < 4096);
	}
	exit(9);
}

static void quick_exits(void)
{
	MUST(!at_quick_exit(first));
	MUST(!at_quick_exit(second));
	for (int i = 0; i < WIRE_EXITS; i++)
		MUST(!at_quick_exit(first));
	NOTED(STATE.exits_n == WIRE_EXITS + 3);
	NOTED(STATE.exits[2].function == (uintptr_t)first);
	fflush(stdout);
	quick_exit(8);
}

static void asks(void)
{
	time_t now = 86400 * 365;
	struct tm tm;
	char text[64], *value;
	NOTED(!STATE.reads_n);
	MUST(getenv("PATH"));
	NOTED(!STATE.reads_n && !STATE.asked[WIRE_ENVIRONMENT]);
	if (AGENT)
		STATE.log_reads = 1;
	MUST(getenv("PATH"));
	value = secure_getenv("NOT_THERE");
	MUST(!value);
	MUST(!getenv("A_NAME_THAT_IS_LONGER_THAN_THERE_IS_ROOM_FOR_AND_IS_CUT"
		     "_OFF_THEREFORE"));
	NOTED(STATE.reads_n == 3 && STATE.asked[WIRE_ENVIRONMENT] == 3);
	NOTED(!strcmp(STATE.reads[0].name, "PATH"));
	NOTED(!strcmp(STATE.reads[1].name, "NOT_THERE"));
	NOTED(strlen(STATE.reads[2].name) == WIRE_READ_NAME - 1);
	printf("%d %ld %.5f %ld %ld\n", rand(), random(), drand48(), lrand48(),
	       mrand48());
	NOTED(STATE.asked[WIRE_RANDOM] == 2 && STATE.asked[WIRE_DRAND48] == 3);
	printf("%s %s\n", setlocale(LC_ALL, NULL), localeconv()->decimal_point);
	NOTED(STATE.asked[WIRE_LOCALE] == 2);
	MUST(setlocale(LC_ALL, "C"));
	NOTED(STATE.asked[WIRE_LOCALE] == 2);
	setenv("TZ", "XYZ-3", 1);
	MUST(localtime_r(&now, &tm) == &tm);
	tm = *localtime(&now);
	printf("%d %s %ld\n", tm.tm_hour, tm.tm_zone, (long)mktime(&tm));
	printf("%s", ctime(&now));
	printf("%s", ctime_r(&now, text));
	NOTED(STATE.asked[WIRE_TIME_ZONE] == 5);
	/* Setting is told apart from asking. */
	NOTED(STATE.reads_n == 4 && STATE.reads[3].wrote);
	NOTED(!strcmp(STATE.reads[3].name, "TZ") && !STATE.reads[0].wrote);
	static char entry[] = "OTHER=value";
	MUST(!putenv(entry) && !unsetenv("OTHER"));
	NOTED(STATE.reads_n == 6 && STATE.reads[4].wrote);
	NOTED(!strcmp(STATE.reads[4].name, "OTHER") && STATE.reads[5].wrote);
	MUST(!setenv("PATH", "not taken", 0));
	NOTED(STATE.reads_n == 7 && !STATE.reads[6].wrote);
	/* What comes after a seed does not depend on what was before. */
	NOTED(!STATE.overwritten);
	srand(7);
	srand48(7);
	NOTED(STATE.overwritten == (1U << WIRE_RANDOM | 1U << WIRE_DRAND48));
	printf("%d %.5f\n", rand(), drand48());
	NOTED(STATE.asked[WIRE_RANDOM] == 2 && STATE.asked[WIRE_DRAND48] == 3);
	for (int i = 0; i < 2 * WIRE_READS; i++)
		getenv("AGAIN");
	NOTED(STATE.reads_n == 7 + 2 * WIRE_READS);
	NOTED(!strcmp(STATE.reads[0].name, "AGAIN"));
}

/* What functions keep for their next call, and what they return each time. */
static void statics(void)
{
	char text[] = "one two", *token;
	char name[] = "program", letters[] = "-ab", word[] = "word";
	char *words[] = { name, letters, word, NULL };
	time_t now = 0;
	if (AGENT)
		STATE.log_reads = 1;
	MUST((token = strtok(text, " ")) == text && !strcmp(token, "one"));
	NOTED(!strcmp(STATE.strtok_rest, "two"));
	NOTED(STATE.overwritten == 1U << WIRE_STRTOK);
	if (AGENT)
		STATE.overwritten = 0;
	MUST((token = strtok(NULL, " ")) && !strcmp(token, "two"));
	NOTED(!*STATE.strtok_rest && STATE.asked[WIRE_STRTOK] == 1);
	MUST(!strtok(NULL, " ") && !strtok(NULL, " "));
	MUST(getopt(3, words, "ab") == 'a' && optind == 1);
	NOTED(STATE.getopt_inside && STATE.getopt_calls == 1);
	NOTED(STATE.overwritten == 1U << WIRE_GETOPT);
	if (AGENT)
		STATE.overwritten = 0;
	MUST(getopt(3, words, "ab") == 'b' && optind == 2);
	NOTED(!STATE.getopt_inside && STATE.asked[WIRE_GETOPT] == 1);
	MUST(getopt(3, words, "ab") == -1 && !strcmp(words[optind], "word"));
	MUST(hcreate(4));
	NOTED(STATE.hsearch);
	hdestroy();
	NOTED(!STATE.hsearch);
	NOTED(!STATE.results_n);
	struct tm *tm = gmtime(&now);
	NOTED(STATE.results_n == 1 &&
	      STATE.results[0].address == (uintptr_t)tm &&
	      STATE.results[0].size == sizeof(*tm));
	MUST(localtime(&now) == tm);
	NOTED(STATE.results_n == 1);
	printf("%s%s\n", asctime(tm), l64a(123456));
	NOTED(STATE.results_n == 3);
}

/* Programs look for the next definition themselves, and find one that works. */
static void next_ones(void)
{
	char *(*get)(const char *) =
		(char *(*)(const char *))dlsym(RTLD_NEXT, "getenv");
	sighandler_t (*set)(int, sighandler_t) =
		(sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, "signal");
	long (*number)(void) = (long (*)(void))dlsym(RTLD_NEXT, "random");
	MUST(get && set && number);
	MUST(get("PATH") == getenv("PATH") && !get("NOT_THERE"));
	printf("%ld\n", number());
	MUST(set(SIGUSR1, on_signal) == SIG_DFL);
	MUST(signal(SIGUSR1, SIG_DFL) == on_signal);
}

/* All of it is the agent's memory, not the program's. */
static void regions(void)
{
	if (!AGENT)
		return;
	uint64_t from = (uintptr_t)&STATE, to = from + sizeof(STATE);
	for (uint64_t i = 0; i < polygraph_agent_heap.regions_n; i++) {
		const struct wire_region *region =
			&polygraph_agent_heap.regions[i];
		if (from >= region->address &&
		    to <= region->address + region->size)
			return;
	}
	MUST(!"listed");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*function)(void);
	} words[] = {
		{ "signals", signals }, { "children", children },
		{ "threads", threads }, { "locales", locales },
		{ "numbers", numbers }, { "sequence48", sequence48 },
		{ "exits", exits },	{ "quick_exits", quick_exits },
		{ "asks", asks },	{ "regions", regions },
		{ "statics", statics }, { "next_ones", next_ones },
		{ "abort", abort },
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (argc < 2)
			puts(words[i].word);
		else if (!strcmp(words[i].word, argv[1])) {
			NOTED(STATE.magic == WIRE_STATE_MAGIC);
			NOTED(STATE.version == WIRE_STATE_VERSION);
			words[i].function();
		}
	}
	return 0;
}
