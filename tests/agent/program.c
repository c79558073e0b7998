/*
 * A tested program with one way of allocating for each word; test_agent.c runs
 * it with the agent and compares.
 */
#include "program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#define LARGE (128 * 1024)

/* Every function that allocates, and its odd cases. */
static void every(void)
{
	live(malloc(100), 100);
	live(malloc(0), 0);
	live(calloc(7, 9), 63);
	live(realloc(NULL, 55), 55);
	live(realloc(malloc(40), 20), 20);
	char *grown = realloc(malloc(30), 90000);
	live(grown, 90000);
	void *old = malloc(77);
	live(reallocarray(old, 3, 100), 300);
	live(aligned_alloc(64, 640), 640);
	live(memalign(4096, 33), 33);
	live(valloc(10), 10);
	live(pvalloc(10), 4096);
	void *aligned;
	MUST(posix_memalign(&aligned, 256, 257) == 0);
	live(aligned, 257);
	live(strdup("twelve bytes"), 13);
	live(strndup("twelve bytes", 6), 7);
	live(strndup("short", 60), 6);

	char *text = NULL;
	MUST(asprintf(&text, "%0200d", 7) == 200);
	live(text, 201);

	/* What fails, fails as it always did, and changes nothing. */
	volatile size_t huge = (size_t)1 << 62;
	void *kept = malloc(48);
	errno = 0;
	MUST(malloc(huge) == NULL && errno == ENOMEM);
	errno = 0;
	MUST(realloc(kept, huge) == NULL && errno == ENOMEM);
	errno = 0;
	MUST(reallocarray(kept, huge, 8) == NULL && errno == ENOMEM);
	errno = 0;
	MUST(calloc(huge, 8) == NULL && errno == ENOMEM);
	void *untouched = kept;
	MUST(posix_memalign(&untouched, 3, 8) == EINVAL && untouched == kept);
	live(kept, 48);

	/* What succeeds leaves errno alone. */
	errno = 4711;
	for (int i = 0; i < 1000; i++)
		MUST(malloc(i * 50));
	MUST(errno == 4711);

	void *gone = malloc(5000), *other = malloc(64);
	free(gone);
	MUST(realloc(other, 0) == NULL);
	free(NULL);
	freed(gone);
	freed(other);
	show();
}

/* More than a cell, exactly a cell, mappings, moved mappings. */
static void large(void)
{
	static const size_t sizes[] = { LARGE - 1, LARGE,	LARGE + 1,
					200000,	   5 << 20,	40 << 20,
					LARGE + 7, 300 << 20,	1 << 20 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		live(malloc(sizes[i]), sizes[i]);
	void *block = malloc(3 << 20);
	block = realloc(block, 70 << 20);
	live(block, 70 << 20);
	block = realloc(malloc(90 << 20), 1000);
	live(block, 1000);
	block = malloc(25 << 20);
	free(block);
	freed(block);
	show();
}

enum { THREADS = 4, SLOTS = 500, ROUNDS = 60000 };
struct slot {
	void *block;
	size_t size;
};
static struct slot slots[THREADS][SLOTS];
/* Blocks that one thread allocated are freed by another. */
static void *volatile handed[THREADS][SLOTS];

static size_t some_size(unsigned *seed)
{
	unsigned kind = rand_r(seed) % 100;
	size_t size = rand_r(seed);
	return kind < 80 ? size % 500 : kind < 98 ? size % 20000 : size % 400000;
}

static void *stress(void *argument)
{
	size_t self = (size_t)argument;
	unsigned seed = (unsigned)self + 1;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned at = rand_r(&seed) % SLOTS;
		struct slot *slot = &slots[self][at];
		size_t size = some_size(&seed);
		switch (rand_r(&seed) % 4) {
		case 0: {
			void *mine = __atomic_exchange_n(
				&handed[(self + 1) % THREADS][at], slot->block,
				__ATOMIC_ACQ_REL);
			free(mine);
			*slot = (struct slot){};
			break;
		}
		case 1:
			if (size) {
				slot->block = realloc(slot->block, size);
				slot->size = size;
				break;
			}
			/* fall through */
		default:
			free(slot->block);
			slot->block = malloc(size);
			slot->size = size;
		}
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];
	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_create(&all[i], NULL, stress, (void *)i));
	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_join(all[i], NULL));
	for (size_t i = 0; i < THREADS; i++) {
		for (size_t k = 0; k < SLOTS; k++) {
			if (slots[i][k].block)
				live(slots[i][k].block, slots[i][k].size);
			free(handed[i][k]);
			if (handed[i][k])
				freed(handed[i][k]);
		}
	}
	show();
}

/* Leaves of the table that several threads need at the same moment. */
enum { FAR_BLOCKS = 20, FAR_SIZE = 20 << 20 };
static void *far[THREADS][FAR_BLOCKS];
static pthread_barrier_t barrier;

static void *allocate_far(void *argument)
{
	size_t self = (size_t)argument;
	for (int i = 0; i < FAR_BLOCKS; i++) {
		pthread_barrier_wait(&barrier);
		far[self][i] = malloc(FAR_SIZE);
	}
	return NULL;
}

static void leaves(void)
{
	pthread_t all[THREADS];
	MUST(!pthread_barrier_init(&barrier, NULL, THREADS));
	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_create(&all[i], NULL, allocate_far, (void *)i));
	for (size_t i = 0; i < THREADS; i++)
		MUST(!pthread_join(all[i], NULL));
	for (size_t i = 0; i < THREADS * FAR_BLOCKS; i++)
		live(far[i / FAR_BLOCKS][i % FAR_BLOCKS], FAR_SIZE);
	show();
}

/* Children forked while other threads allocate can allocate themselves. */
static void *allocate_on(void *argument)
{
	for (unsigned i = 0;; i++)
		free(malloc(i % 3000 * 100));
	return argument;
}

static void forks(void)
{
	pthread_t thread;
	alarm(60);
	for (size_t i = 0; i < 2; i++)
		MUST(!pthread_create(&thread, NULL, allocate_on, NULL));
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();
		if (child == 0) {
			for (unsigned k = 0; k < 300; k++)
				free(realloc(malloc(k * 10), k * 1000));
			_exit(0);
		}
		int status;
		MUST(waitpid(child, &status, 0) == child && status == 0);
	}
	live(malloc(10), 10);
	show();
	_exit(0);
}

/* The child's own table is looked at, after both went on. */
static void forked(void)
{
	int pipes[2];
	void *before = malloc(123), *gone = malloc(456);
	void *elsewhere = malloc(1 << 20);
	MUST(!pipe(pipes));
	pid_t child = fork();
	if (child == 0) {
		char byte;
		free(gone);
		MUST(read(pipes[0], &byte, 1) == 1);
		tell(RECORD_PID, (void *)(size_t)getpid(), 0);
		live(before, 123);
		live(elsewhere, 1 << 20);
		live(malloc(789), 789);
		freed(gone);
		show();
		_exit(0);
	}
	free(before);
	free(elsewhere);
	MUST(write(pipes[1], "", 1) == 1);
	int status;
	MUST(waitpid(child, &status, 0) == child && status == 0);
}

/* Who allocates is known: through frame pointers, also the callers. */
AS_WRITTEN void *inner(size_t size)
{
	void *block = malloc(size);
	__asm__ volatile("" ::: "memory");
	return block;
}
AS_WRITTEN void *outer(size_t size)
{
	void *block = inner(size);
	__asm__ volatile("" ::: "memory");
	return block;
}
static void stacks(void)
{
	tell(RECORD_CODE, (void *)inner, 64);
	tell(RECORD_CODE, (void *)outer, 64);
	live(outer(10), 10);
	live(outer(20), 20);
	show();
}

/* malloc() from code that has something else in the frame pointer. */
static void *with_frame(uintptr_t frame, size_t size)
{
	void *block;
	__asm__ volatile("pushq %%rbp\n\t"
			 "movq %%rsp, %%r12\n\t"
			 "subq $256, %%rsp\n\t"
			 "andq $-16, %%rsp\n\t"
			 "movq %1, %%rbp\n\t"
			 "call malloc@PLT\n\t"
			 "movq %%r12, %%rsp\n\t"
			 "popq %%rbp\n\t"
			 : "=a"(block)
			 : "r"(frame), "D"(size)
			 : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12",
			   "memory", "cc");
	return block;
}

static void try_frames(void)
{
	char here[64] __attribute__((aligned(16)));
	uintptr_t near = (uintptr_t)here;
	memset(here, 0, sizeof(here));
	const uintptr_t frames[] = {
		0,	  1,	   16,	    near,    near + 8, near + 4096,
		near & ~4095UL,	   near + (1 << 20), near + (16 << 20),
		~0UL,	  ~15UL,   1UL << 47,	    (uintptr_t)malloc(10),
		(uintptr_t)&slots, (uintptr_t)polygraph_agent_heap,
	};
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		for (int k = 0; k < 3; k++)
			live(with_frame(frames[i], 24 + i), 24 + i);
	}
	/* A chain that leads somewhere, and turns around. */
	void **chain = (void **)here;
	chain[0] = here + 16;
	chain[1] = (void *)0x123456789;
	chain[2] = here;
	chain[3] = (void *)0x123456789;
	live(with_frame(near, 99), 99);
}

static ucontext_t main_context, other_context;
static void other_stack(void)
{
	try_frames();
	swapcontext(&other_context, &main_context);
}
static void on_signal(int number)
{
	(void)number;
	try_frames();
}
static void *in_thread(void *argument)
{
	try_frames();
	return argument;
}

static void frames(void)
{
	/* Stacks between pages that cannot be read, in each kind of place. */
	enum { SIZE = 256 * 1024, GUARD = 64 * 1024 };
	char *area = mmap(NULL, 3 * SIZE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(!mprotect(area + GUARD, SIZE, PROT_READ | PROT_WRITE));
	try_frames();
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = area + GUARD;
	other_context.uc_stack.ss_size = SIZE;
	other_context.uc_link = &main_context;
	makecontext(&other_context, other_stack, 0);
	swapcontext(&main_context, &other_context);

	stack_t stack = { .ss_sp = malloc(SIZE), .ss_size = SIZE };
	MUST(!sigaltstack(&stack, NULL));
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_ONSTACK };
	MUST(!sigaction(SIGUSR1, &action, NULL));
	raise(SIGUSR1);

	pthread_t thread;
	MUST(!pthread_create(&thread, NULL, in_thread, NULL));
	MUST(!pthread_join(thread, NULL));
	try_frames();
	show();
}

/* A library that comes and goes. */
static void library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	must(!!handle, "dlopen");
	void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(handle, "allocate");
	void (*release)(void *) = (void (*)(void *))dlsym(handle, "release");
	MUST(allocate && release);
	void *kept = allocate(321), *gone = allocate(12345);
	MUST(!dlclose(handle));
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	release = (void (*)(void *))dlsym(handle, "release");
	release(gone);
	live(kept, 321);
	freed(gone);
	show();
}

/* Nothing of the agent is in the environment, here or in a child. */
static void environment(const char *expected)
{
	const char *value = getenv("LD_PRELOAD");
	if (!strcmp(expected, "unset"))
		MUST(!value);
	else
		MUST(value && !strcmp(value, expected));
	MUST(getenv("BEFORE_IT") && getenv("AFTER_IT"));
	char command[128];
	snprintf(command, sizeof(command), "test \"${LD_PRELOAD-unset}\" = '%s'",
		 expected);
	MUST(system(command) == 0);
	show();
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	if (!strcmp(word, "every"))
		every();
	else if (!strcmp(word, "large"))
		large();
	else if (!strcmp(word, "threads"))
		threads();
	else if (!strcmp(word, "leaves"))
		leaves();
	else if (!strcmp(word, "forks"))
		forks();
	else if (!strcmp(word, "forked"))
		forked();
	else if (!strcmp(word, "stacks"))
		stacks();
	else if (!strcmp(word, "frames"))
		frames();
	else if (!strcmp(word, "library"))
		library(argv[2]);
	else if (!strcmp(word, "environment"))
		environment(argv[2]);
	else
		return 2;
	return 0;
}
