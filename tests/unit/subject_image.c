/*
 * A program that changes its memory in many ways and says so: at each boundary
 * it executes a break instruction with, in its registers, what it has done
 * since the last (subject_image.h). What it says lies on its stack, which is no
 * part of an image.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject_image.h"
#include "wire/heap.h"

#define PAGE ((size_t)4096)
#define MIB ((size_t)1 << 20)
/* What is below the large state. */
#define RESERVE_BELOW MIB
#define STACK_BELOW (MIB / 4)

static struct subject_step *step;

static char data_array[4 * PAGE] __attribute__((aligned(4096))) = "data";
static char bss_array[4 * PAGE] __attribute__((aligned(4096)));
static char untouched[SUBJECT_UNTOUCHED];

/* Everything in [p, p+n) is exact: what is not announced did not change. */
static void area(const void *p, size_t n)
{
	if (step->areas_n == SUBJECT_AREAS)
		abort();
	step->areas[step->areas_n++] =
		(struct subject_area){ (uintptr_t)p, (uintptr_t)p + n };
}

static void expect(const void *p, enum subject_kind kind)
{
	if (step->expected_n == SUBJECT_EXPECTED)
		abort();
	step->expected[step->expected_n++] =
		(struct subject_expected){ (uintptr_t)p & ~(PAGE - 1),
					   (uint64_t)kind };
}

static void __attribute__((noinline)) boundary(const char *name)
{
	__asm__ volatile("int3" : : "D"(step), "S"(name) : "memory");
	step->expected_n = 0;
}

static void *must(void *p)
{
	if (p == MAP_FAILED || !p)
		abort();
	return p;
}

static char *map(size_t n, int rights)
{
	return must(mmap(NULL, n, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void variables(void)
{
	boundary("nothing");
	data_array[PAGE + 3]++;
	expect(&data_array[PAGE], SUBJECT_CHANGED);
	bss_array[3 * PAGE]++;
	expect(&bss_array[3 * PAGE], SUBJECT_CHANGED);
	boundary("variables");
	data_array[5]++;
	data_array[5]--;
	bss_array[PAGE] = 0;
	boundary("written, not changed");
	data_array[PAGE + 3]--;
	expect(&data_array[PAGE], SUBJECT_CHANGED);
	boundary("put back");
}

static void heap(char *block)
{
	block[PAGE] ^= 1;
	expect(block + PAGE, SUBJECT_CHANGED);
	boundary("heap");

	char *more = must(sbrk(0));
	more = must(sbrk((intptr_t)(PAGE - (uintptr_t)more % PAGE)));
	more = must(sbrk(8 * PAGE));
	area(more, 8 * PAGE);
	more[0] = 1;
	more[2 * PAGE] = 1;
	expect(more, SUBJECT_NEW);
	expect(more + 2 * PAGE, SUBJECT_NEW);
	boundary("brk grows");
	more[0] = 2;
	more[5 * PAGE] = 2;
	expect(more, SUBJECT_CHANGED);
	expect(more + 5 * PAGE, SUBJECT_CHANGED);
	boundary("in the grown part");
	must(sbrk(-8 * (intptr_t)PAGE));
	expect(more, SUBJECT_GONE);
	expect(more + 2 * PAGE, SUBJECT_GONE);
	expect(more + 5 * PAGE, SUBJECT_GONE);
	boundary("brk shrinks");
}

static char *fill(size_t pages, int first)
{
	char *p = map(pages * PAGE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < pages; i++) {
		memset(p + i * PAGE, first + (int)i, PAGE);
		expect(p + i * PAGE, SUBJECT_NEW);
	}
	area(p, pages * PAGE);
	return p;
}

static void expect_all(char *p, size_t pages, enum subject_kind kind)
{
	for (size_t i = 0; i < pages; i++)
		expect(p + i * PAGE, kind);
}

static void mappings(void)
{
	char *p = map(8 * PAGE, PROT_READ | PROT_WRITE);
	area(p, 8 * PAGE);
	p[0] = p[PAGE] = p[4 * PAGE] = 1;
	expect(p, SUBJECT_NEW);
	expect(p + PAGE, SUBJECT_NEW);
	expect(p + 4 * PAGE, SUBJECT_NEW);
	boundary("mmap");
	p[7 * PAGE] = 1;
	expect(p + 7 * PAGE, SUBJECT_CHANGED);
	boundary("first touch");
	munmap(p, 8 * PAGE);
	expect(p, SUBJECT_GONE);
	expect(p + PAGE, SUBJECT_GONE);
	expect(p + 4 * PAGE, SUBJECT_GONE);
	expect(p + 7 * PAGE, SUBJECT_GONE);
	boundary("munmap");

	/* In the place of another, of the same size: nothing is larger. */
	char *a = fill(4, 1);
	boundary("filled");
	munmap(a, 4 * PAGE);
	must(mmap(a, 4 * PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	a[0] = 77;
	expect_all(a, 4, SUBJECT_CHANGED);
	boundary("replaced");
	a[PAGE] = 78;
	expect(a + PAGE, SUBJECT_CHANGED);
	boundary("in the replacement");
	munmap(a, 4 * PAGE);
	must(mmap(a, 4 * PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	expect_all(a, 2, SUBJECT_CHANGED);
	boundary("replaced and not touched");
	memset(a, 5, 4 * PAGE);
	expect_all(a, 4, SUBJECT_CHANGED);
	boundary("filled again");

	/* Elsewhere, the same size. */
	char *b = fill(4, 1);
	munmap(a, 4 * PAGE);
	expect_all(a, 4, SUBJECT_GONE);
	boundary("elsewhere");
	munmap(b + PAGE, 2 * PAGE);
	expect_all(b + PAGE, 2, SUBJECT_GONE);
	boundary("a hole");
	b[0]++;
	expect(b, SUBJECT_CHANGED);
	boundary("beside the hole");
	munmap(b, 4 * PAGE);
	expect(b, SUBJECT_GONE);
	expect(b + 3 * PAGE, SUBJECT_GONE);
	boundary("all gone");
}

static void moving(void)
{
	char *b = fill(4, 10);
	char *c = map(64 * PAGE, PROT_NONE);
	munmap(c, 64 * PAGE);
	c += 32 * PAGE;
	boundary("to be moved");
	must(mremap(b, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, c));
	area(c, 4 * PAGE);
	expect_all(b, 4, SUBJECT_GONE);
	expect_all(c, 4, SUBJECT_NEW);
	boundary("moved");
	c[PAGE]++;
	expect(c + PAGE, SUBJECT_CHANGED);
	boundary("where it moved to");
	madvise(c, 2 * PAGE, MADV_DONTNEED);
	expect_all(c, 2, SUBJECT_CHANGED);
	boundary("thrown away");
	c[0] = 1;
	expect(c, SUBJECT_CHANGED);
	boundary("after it was thrown away");

	/* A reserve that is opened bit by bit: no mapping comes or goes. */
	char *r = map(8 * MIB, PROT_NONE);
	area(r, 8 * MIB);
	boundary("reserve");
	mprotect(r, MIB, PROT_READ | PROT_WRITE);
	r[0] = 1;
	expect(r, SUBJECT_TOUCHED);
	boundary("opened");
	mprotect(r, 2 * MIB, PROT_READ | PROT_WRITE);
	r[MIB] = 1;
	expect(r + MIB, SUBJECT_TOUCHED);
	boundary("opened further");
	r[0] = 2;
	r[MIB + PAGE] = 2;
	expect(r, SUBJECT_CHANGED);
	expect(r + MIB + PAGE, SUBJECT_CHANGED);
	boundary("in what was opened");
	mprotect(r, PAGE, PROT_READ);
	boundary("made read-only");
	mprotect(r, PAGE, PROT_READ | PROT_WRITE);
	r[1] = 2;
	mprotect(r, PAGE, PROT_READ);
	expect(r, SUBJECT_CHANGED);
	boundary("written meanwhile");
}

static void large(void)
{
	char *p = map(64 * MIB, PROT_READ | PROT_WRITE);
	area(p, 64 * MIB);
	p[10 * MIB] = p[30 * MIB] = 1;
	expect(p + 10 * MIB, SUBJECT_NEW);
	expect(p + 30 * MIB, SUBJECT_NEW);
	boundary("large and empty");
	p[30 * MIB] = 2;
	p[50 * MIB] = 2;
	expect(p + 30 * MIB, SUBJECT_CHANGED);
	expect(p + 50 * MIB, SUBJECT_CHANGED);
	boundary("in the large one");
	madvise(p + 20 * MIB, 32 * MIB, MADV_DONTNEED);
	expect(p + 30 * MIB, SUBJECT_CHANGED);
	expect(p + 50 * MIB, SUBJECT_CHANGED);
	boundary("much thrown away");
	munmap(p, 64 * MIB);
	expect(p + 10 * MIB, SUBJECT_GONE);
	expect(p + 30 * MIB, SUBJECT_GONE_ZERO);
	expect(p + 50 * MIB, SUBJECT_GONE_ZERO);
	boundary("the large one gone");
	step->areas_n--; /* the place is used again */
}

/* Empty at first: then it is looked at in another way. */
static void filling(void)
{
	char *p = map(6 * MIB, PROT_READ | PROT_WRITE);
	p[0] = p[MIB] = 1;
	expect(p, SUBJECT_NEW);
	expect(p + MIB, SUBJECT_NEW);
	boundary("empty");
	memset(p, 1, 5 * MIB);
	boundary("filled up");
	area(p, 6 * MIB);
	boundary("nothing after it was filled");
	p[MIB] = p[5 * MIB + 5 * PAGE] = 2;
	expect(p + MIB, SUBJECT_CHANGED);
	expect(p + 5 * MIB + 5 * PAGE, SUBJECT_CHANGED);
	boundary("in what was filled");
	madvise(p + 2 * MIB, 2 * PAGE, MADV_DONTNEED);
	expect_all(p + 2 * MIB, 2, SUBJECT_CHANGED);
	boundary("some of it thrown away");
}

static void by_the_kernel(char *block)
{
	int ends[2];
	if (pipe(ends) || write(ends[1], "hello", 5) != 5 ||
	    read(ends[0], block + 3 * PAGE, 5) != 5)
		abort();
	expect(block + 3 * PAGE, SUBJECT_CHANGED);
	boundary("read into");
	close(ends[0]);
	close(ends[1]);

	int fd = memfd_create("subject", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 4 * PAGE))
		abort();
	char *p = must(mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0));
	area(p, 4 * PAGE);
	expect_all(p, 4, SUBJECT_MAYBE_NEW);
	p[PAGE] = 1;
	expect(p + PAGE, SUBJECT_NEW);
	boundary("shared");
	p[2 * PAGE] = 1;
	expect(p + 2 * PAGE, SUBJECT_CHANGED);
	boundary("in shared memory");
	close(fd);
}

static void processes(char *block)
{
	pid_t child = fork();
	if (!child) {
		block[0]++;
		data_array[0]++;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	boundary("a child wrote");
	child = fork();
	if (!child)
		_exit(0);
	block[2 * PAGE]++;
	expect(block + 2 * PAGE, SUBJECT_CHANGED);
	waitpid(child, NULL, 0);
	boundary("with a child");
}

static void *run_thread(void *arg)
{
	int *pipe = arg;
	char byte = 1;
	/* A stack is written to, and no part of it. */
	if (pipe)
		area((void *)((uintptr_t)&byte & ~(PAGE - 1)), PAGE);
	bss_array[PAGE] = 9;
	if (pipe && read(pipe[0], &byte, 1) < 0)
		abort();
	return NULL;
}

static void threads(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run_thread, NULL) ||
	    pthread_join(thread, NULL))
		abort();
	expect(&bss_array[PAGE], SUBJECT_CHANGED);
	boundary("a thread wrote");
	bss_array[PAGE] = 8;
	expect(&bss_array[PAGE], SUBJECT_CHANGED);
	boundary("after the thread");
	int ends[2];
	if (pipe(ends) || pthread_create(&thread, NULL, run_thread, ends))
		abort();
	while (*(volatile char *)&bss_array[PAGE] != 9)
		usleep(100);
	expect(&bss_array[PAGE], SUBJECT_CHANGED);
	boundary("a thread waits");
	data_array[3 * PAGE]++;
	expect(&data_array[3 * PAGE], SUBJECT_CHANGED);
	boundary("beside a thread");
	if (write(ends[1], "", 1) != 1 || pthread_join(thread, NULL))
		abort();
	boundary("the thread is gone");
}

static void blocks(void)
{
	char *block = must(malloc(SUBJECT_BLOCK_SIZE));
	memset(block, 1, SUBJECT_BLOCK_SIZE);
	step->block = (uintptr_t)block;
	boundary(SUBJECT_ALLOCATED);
	free(block);
	boundary(SUBJECT_FREED);
}

/* Nobody else can watch a mapping that the program watches itself. */
static void watches(void)
{
	boundary(SUBJECT_BEGIN);
	data_array[0]++;
	expect(data_array, SUBJECT_CHANGED);
	boundary("before");
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	char *p = map(4 * PAGE, PROT_READ | PROT_WRITE);
	area(p, 4 * PAGE);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register arg = {
		.range = { (uintptr_t)p, 4 * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	p[0] = 1;
	expect(p, SUBJECT_NEW);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &arg) < 0)
		exit(0);
	data_array[PAGE]++;
	expect(data_array + PAGE, SUBJECT_CHANGED);
	boundary("watches");
	p[0] = 2;
	expect(p, SUBJECT_CHANGED);
	boundary("in what it watches");
	boundary(SUBJECT_END);
	exit(0);
}

static char *state;

static void change(size_t at)
{
	state[at]++;
	expect(state + at, SUBJECT_CHANGED);
}

/* Only one place is written to, until the others are forgotten. */
static void cool_down(void)
{
	for (int i = 0; i < 20; i++) {
		change(MIB);
		boundary("cooling down");
	}
}

static void *change_in_thread(void *arg)
{
	(void)arg;
	change(34 * MIB);
	return NULL;
}

/*
 * A thread's stack, with its inaccessible page, right below the state: the
 * kernel makes one mapping of both.
 */
static void change_on_stack_below(void)
{
	char *stack = state - STACK_BELOW;
	pthread_attr_t attr;
	pthread_t thread;
	munmap(state - RESERVE_BELOW, RESERVE_BELOW - STACK_BELOW - PAGE);
	if (mprotect(stack, STACK_BELOW, PROT_READ | PROT_WRITE) ||
	    pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stack, STACK_BELOW) ||
	    pthread_create(&thread, &attr, change_in_thread, NULL) ||
	    pthread_join(thread, NULL))
		abort();
	pthread_attr_destroy(&attr);
}

static void share_with_child(size_t at)
{
	pid_t child = vfork();
	if (!child) {
		state[at]++;
		_exit(0);
	}
	expect(state + at, SUBJECT_CHANGED);
}

/* Much memory: what is seldom written to must not be missed. */
static void large_state(void)
{
	boundary(SUBJECT_BEGIN);
	/* Faults of the code itself come now and not when it matters. */
	share_with_child(12 * MIB);
	madvise(state + MIB, PAGE, MADV_NORMAL);
	boundary("by a child that shares memory");
	cool_down();
	change(30 * MIB);
	boundary("far away");
	boundary("nothing");
	cool_down();
	/* Thrown away without a fault, where it is looked at first. */
	madvise(state + MIB, 2 * PAGE, MADV_DONTNEED);
	expect_all(state + MIB, 2, SUBJECT_CHANGED);
	change(20 * MIB);
	change(21 * MIB);
	boundary("as many thrown away");
	cool_down();
	/* The same where it is looked at behind the last find, and further. */
	madvise(state + 23 * MIB, PAGE, MADV_DONTNEED);
	expect(state + 23 * MIB, SUBJECT_CHANGED);
	change(6 * MIB);
	boundary("thrown away far away");
	cool_down();
	for (size_t i = 0; i < 100; i++)
		change(2 * MIB + i * PAGE);
	change(40 * MIB);
	boundary("many and one");
	cool_down();
	share_with_child(25 * MIB);
	boundary("by a child that shares memory again");
	cool_down();
	int ends[2];
	if (pipe(ends) || write(ends[1], "hello", 5) != 5 ||
	    read(ends[0], state + 33 * MIB, 5) != 5)
		abort();
	expect(state + 33 * MIB, SUBJECT_CHANGED);
	boundary("by the kernel");
	cool_down();
	change_on_stack_below();
	boundary("by a thread");
	cool_down();
	step->block = (uintptr_t)(state + 45 * MIB);
	boundary(SUBJECT_POKE);
	expect(state + 45 * MIB, SUBJECT_CHANGED);
	boundary("from outside");
	cool_down();
	change(45 * MIB);
	boundary("once more where it was from outside");
	boundary(SUBJECT_END);
}

int main(int argc, char **argv)
{
	struct subject_step mine = {
		.agent = (uintptr_t)dlsym(RTLD_DEFAULT, WIRE_HEAP_SYMBOL),
	};
	step = &mine;
	if (argc > 1 && !strcmp(argv[1], SUBJECT_LARGE)) {
		state = map(RESERVE_BELOW + 48 * MIB, PROT_NONE);
		state += RESERVE_BELOW;
		if (mprotect(state, 48 * MIB, PROT_READ | PROT_WRITE))
			abort();
		memset(state, 1, 48 * MIB);
		area(state, 48 * MIB);
		large_state();
		return 0;
	}
	area(data_array, sizeof(data_array));
	area(bss_array, sizeof(bss_array));
	step->untouched = (uintptr_t)untouched;
	if (argc > 1 && !strcmp(argv[1], SUBJECT_WATCHES))
		watches();
	if (argc > 1 && !strcmp(argv[1], SUBJECT_EXECUTES)) {
		boundary(SUBJECT_BEGIN);
		execv(argv[0], (char *[]){ argv[0], NULL });
		abort();
	}
	char *block = must(malloc(64 * 1024)); /* below what is mapped apart */
	char *pages = (char *)(((uintptr_t)block + PAGE - 1) & ~(PAGE - 1));
	memset(block, 1, 64 * 1024);
	area(pages, 8 * PAGE);
	boundary(SUBJECT_BEGIN);
	variables();
	heap(pages);
	mappings();
	moving();
	large();
	filling();
	by_the_kernel(pages);
	blocks();
	processes(pages);
	threads();
	boundary(SUBJECT_END);
	return 0;
}
