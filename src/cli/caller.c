#include "cli/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/macro.h"

/* Debug information is read by recursion; this is what systems usually give. */
#define STACK_BYTES ((size_t)8 << 20)
#define STACK_SMALL ((size_t)1 << 20)
/* Pipes, the memory of each process, results; with few tests a third is used. */
#define DESCRIPTORS_MIN 64

void caller_settle(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The lowest number that is free is this one (open(2)). */
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/", O_PATH) != fd)
			break;
	}
	/* An ignored SIGCHLD takes the exit status of children with it. */
	signal(SIGCHLD, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool stack_is_small(void)
{
	struct rlimit limit;
	return !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < STACK_SMALL;
}

/* Threads get as much as the limit at the start (pthread_create(3)). */
static void enlarge_thread_stacks(void)
{
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes))
		return;
	if (!pthread_attr_setstacksize(&attributes, STACK_SMALL))
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

static struct {
	int (*function)(int argc, char **argv);
	int argc;
	char **argv;
	int result;
} call;

static void run_call(void)
{
	call.result = call.function(call.argc, call.argv);
}

int caller_run(int (*function)(int argc, char **argv), int argc, char **argv)
{
	static ucontext_t small, large;
	if (!stack_is_small())
		return function(argc, argv);
	enlarge_thread_stacks();
	char *stack = mmap(
		NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	/* Its first page is a wall. */
	if (stack == MAP_FAILED || getcontext(&large) ||
	    mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE))
		return function(argc, argv);
	call.function = function;
	call.argc = argc;
	call.argv = argv;
	large.uc_stack.ss_sp = stack;
	large.uc_stack.ss_size = STACK_BYTES;
	large.uc_link = &small;
	makecontext(&large, run_call, 0);
	swapcontext(&small, &large);
	return call.result;
}

static unsigned count_free_descriptors(unsigned enough)
{
	struct rlimit limit;
	unsigned found = 0;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return enough;
	for (rlim_t fd = 0; fd < limit.rlim_cur && found < enough; fd++)
		found += fcntl((int)fd, F_GETFD) < 0;
	return found;
}

struct err *caller_check_folder(void)
{
	struct stat st;
	if (!stat(".", &st) && st.st_nlink)
		return NULL;
	return err_hint(
		err_create(ERR_USAGE, "the working directory has been deleted"),
		"change to a folder that exists (if it was made again: "
		"cd \"$PWD\")");
}

struct err *caller_check(void)
{
	TRY(caller_check_folder());
	if (access("/proc/self/exe", F_OK))
		return err_hint(
			err_create(ERR_SUITE,
				   "/proc is not mounted; tested programs "
				   "cannot be examined without it"),
			"mount -t proc proc /proc");
	unsigned n = count_free_descriptors(DESCRIPTORS_MIN);
	if (n >= DESCRIPTORS_MIN)
		return NULL;
	return err_hint(
		err_create(ERR_SUITE,
			   "only %u more files can be opened; at least %d "
			   "are needed",
			   n, DESCRIPTORS_MIN),
		"raise the limit: ulimit -n 1024");
}
