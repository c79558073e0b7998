#include "nest/nest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "nest/descendants.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* For what a program does between fork and exec, also with a long path. */
#define STACK_SIZE ((size_t)1 << 20)
/* How long we wait before we look whether the nest was stopped or killed. */
#define POKE_NS (5 * NS_PER_MS)
/* Longest time that it takes to end everything; then without the nest. */
#define END_NS (5 * NS_PER_S)
#define END_ROUNDS 4000
#define END_PAUSE_NS (250 * NS_PER_US)

enum nest_wish {
	WISH_HOLD, /* the program's end is to be kept */
	WISH_REAP, /* all that ended may go */
	WISH_END,  /* everything is to end */
};

struct nest {
	uint8_t stack[STACK_SIZE] __attribute__((aligned(64)));
	struct nest *next; /* of all of this process */
	pid_t pid;
	int pidfd;
	int program_fd; /* of the program, where that is held */
	pid_t controller;
	void (*child)(void *data);
	void *data;
	bool children_ignored; /* SIGCHLD, by whoever started us */
	/* Written by the nest: the program's number, or an error below 0. */
	atomic_int program;
	/* Written by the nest, @ended last. */
	atomic_int ended;
	int code, status;
	atomic_int wish;     /* enum nest_wish */
	atomic_int finished; /* everything in it was ended */
};

static struct nest *nests;

/* ---- in the nest ---- */

/*
 * The nest has the controller's memory, so also its errno: it makes system
 * calls itself and uses nothing of the C library.
 */
static long nest_call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

static void nest_wake(atomic_int *word)
{
	nest_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

/* The next child that ended; @flags: WNOWAIT leaves it as it is. */
static pid_t nest_find_ended(siginfo_t *info, int flags)
{
	info->si_pid = 0;
	long result = nest_call(SYS_waitid, P_ALL, 0, (long)info,
				WEXITED | WNOHANG | __WALL | flags, 0);
	return result < 0 ? -1 : info->si_pid;
}

static void nest_keep_end(struct nest *nest, const siginfo_t *info)
{
	nest->code = info->si_code;
	nest->status = info->si_status;
	atomic_store(&nest->ended, 1);
	nest_wake(&nest->ended);
}

/* Waits for all that ended, or up to the program if that is held. */
static void nest_reap(struct nest *nest)
{
	siginfo_t info;
	while (nest_find_ended(&info, WNOWAIT) > 0) {
		if (info.si_pid == atomic_load(&nest->program)) {
			if (!atomic_load(&nest->ended))
				nest_keep_end(nest, &info);
			if (atomic_load(&nest->wish) == WISH_HOLD)
				return;
		}
		nest_call(SYS_waitid, P_PID, info.si_pid, 0,
			  WEXITED | WNOHANG | __WALL, 0);
	}
}

/* Kills the processes of a text of children. */
static void nest_kill_listed(const char *text, long n, int *pid)
{
	for (long i = 0; i < n; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			*pid = *pid * 10 + (text[i] - '0');
			continue;
		}
		if (*pid > 0)
			nest_call(SYS_kill, *pid, SIGKILL, 0, 0, 0);
		*pid = 0;
	}
}

static void nest_kill_children(const struct nest *nest)
{
	char text[512];
	long fd = nest_call(SYS_openat, AT_FDCWD,
			    (long)"/proc/thread-self/children",
			    O_RDONLY | O_CLOEXEC, 0, 0);
	if (fd < 0) {
		/* The kernel has no such list: as far as its group goes. */
		nest_call(SYS_kill, -atomic_load(&nest->program), SIGKILL, 0, 0,
			  0);
		return;
	}
	int pid = 0;
	for (long n;
	     (n = nest_call(SYS_read, fd, (long)text, sizeof(text), 0, 0)) > 0;)
		nest_kill_listed(text, n, &pid);
	nest_call(SYS_close, fd, 0, 0, 0, 0);
}

/* Whom a killed process leaves comes to us, hence the rounds. */
static void nest_end_children(struct nest *nest)
{
	const struct timespec pause = { .tv_nsec = END_PAUSE_NS };
	siginfo_t info;
	for (int round = 0; round < END_ROUNDS; round++) {
		pid_t pid;
		while ((pid = nest_find_ended(&info, 0)) > 0) {
			if (pid == atomic_load(&nest->program) &&
			    !atomic_load(&nest->ended))
				nest_keep_end(nest, &info);
		}
		if (pid < 0)
			return;
		nest_kill_children(nest);
		nest_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0);
	}
}

static void nest_prepare(void)
{
	/* Also those that the C library keeps for itself (32 and 33). */
	const uint64_t all = ~0ULL;
	nest_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8, 0);
	const unsigned long
		defaults[4] = {}; /* the kernel's struct sigaction */
	nest_call(SYS_prctl, PR_SET_NAME, (long)NEST_NAME, 0, 0, 0);
	nest_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	nest_call(SYS_prctl, PR_SET_PDEATHSIG, NEST_WAKE_SIGNAL, 0, 0, 0);
	nest_call(SYS_setpgid, 0, 0, 0, 0, 0);
	nest_call(SYS_rt_sigaction, SIGCHLD, (long)defaults, 0, 8, 0);
}

/*
 * AddressSanitizer looks at the whole stack before a function that does not
 * return, does not know this one, and would say so on standard error.
 */
#define NEST_STACK __attribute__((no_sanitize("address")))

NEST_STACK static void nest_become_program(struct nest *nest)
{
	/* A copy of the controller's memory: the C library is ours again. */
	if (nest->children_ignored)
		signal(SIGCHLD, SIG_IGN);
	nest->child(nest->data);
	_exit(127);
}

NEST_STACK static int nest_run(void *data)
{
	struct nest *nest = data;
	nest_prepare();
	/* The kernel writes the number before the program can kill us. */
	long pid = nest_call(SYS_clone, CLONE_PARENT_SETTID | SIGCHLD, 0,
			     (long)&nest->program, 0, 0);
	if (!pid)
		nest_become_program(nest);
	if (pid < 0)
		atomic_store(&nest->program, (int)pid);
	nest_wake(&nest->program);
	const uint64_t awaited =
		(1ULL << (SIGCHLD - 1)) | (1ULL << (NEST_WAKE_SIGNAL - 1));
	while (atomic_load(&nest->wish) != WISH_END &&
	       nest_call(SYS_getppid, 0, 0, 0, 0, 0) == nest->controller) {
		nest_reap(nest);
		nest_call(SYS_rt_sigtimedwait, (long)&awaited, 0, 0, 8, 0);
	}
	nest_end_children(nest);
	atomic_store(&nest->finished, 1);
	nest_call(SYS_exit_group, 0, 0, 0, 0, 0);
	return 0;
}

/* ---- in the controller ---- */

static void nest_signal(const struct nest *nest, int number)
{
	syscall(SYS_pidfd_send_signal, nest->pidfd, number, NULL, 0);
}

static bool process_is_over(int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	return poll(&fd, 1, 0) > 0;
}

static bool nest_is_gone(const struct nest *nest)
{
	siginfo_t info = {};
	if (!process_is_over(nest->pidfd))
		return false;
	/* Our wait for any child may have taken its end already. */
	waitid((idtype_t)P_PIDFD, (id_t)nest->pidfd, &info,
	       WEXITED | WNOHANG | __WALL);
	return true;
}

/* Waits for *@word to become other than 0; false: the nest is gone. */
static bool nest_await(const struct nest *nest, atomic_int *word)
{
	const struct timespec poke = { .tv_nsec = POKE_NS };
	for (bool gone = false; !atomic_load(word);) {
		if (gone)
			return false;
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &poke, NULL, 0);
		if (atomic_load(word))
			break;
		/* It may have been killed, or stopped. */
		gone = nest_is_gone(nest);
		nest_signal(nest, SIGCONT);
	}
	return true;
}

static void nest_free(struct nest *nest)
{
	for (struct nest **at = &nests; *at; at = &(*at)->next) {
		if (*at == nest) {
			*at = nest->next;
			break;
		}
	}
	closep(&nest->pidfd);
	closep(&nest->program_fd);
	munmap(nest, sizeof(*nest));
}

static struct err *nest_clone(struct nest *nest)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	nest->pid = clone(nest_run, nest->stack + sizeof(nest->stack),
			  CLONE_VM | CLONE_FILES | CLONE_PIDFD | SIGCHLD, nest,
			  &nest->pidfd);
	int number = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return nest->pid < 0 ? err_errno(number, "cannot start a process")
			     : NULL;
}

struct err *nest_start(enum nest_kind kind, void (*child)(void *data),
		       void *data, struct nest **ret)
{
	struct nest *nest =
		mmap(NULL, sizeof(*nest), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (nest == MAP_FAILED)
		return err_nomem();
	struct sigaction action;
	nest->pidfd = nest->program_fd = -1;
	nest->controller = getpid();
	nest->child = child;
	nest->data = data;
	nest->children_ignored = !sigaction(SIGCHLD, NULL, &action) &&
				 action.sa_handler == SIG_IGN;
	atomic_init(&nest->wish, kind == NEST_HOLDS ? WISH_HOLD : WISH_REAP);
	/* Who is left when a nest is killed comes to us. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	struct err *err = nest_clone(nest);
	if (err) {
		munmap(nest, sizeof(*nest));
		return err;
	}
	nest->next = nests;
	nests = nest;
	bool started = nest_await(nest, &nest->program);
	int pid = atomic_load(&nest->program);
	if (!started || pid < 0) {
		nest_end(nest);
		return err_errno(pid < 0 ? -pid : ECHILD,
				 "cannot start a process");
	}
	if (kind == NEST_HOLDS)
		nest->program_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	log_debug(LOG_NEST, "process %d is the nest of %d", nest->pid, pid);
	*ret = nest;
	return NULL;
}

void nest_poke(const struct nest *nest)
{
	nest_signal(nest, SIGCONT);
	nest_signal(nest, NEST_WAKE_SIGNAL);
}

void nest_release(struct nest *nest)
{
	atomic_store(&nest->wish, WISH_REAP);
	nest_poke(nest);
	closep(&nest->program_fd);
	nest->program_fd = -1;
}

void nest_end(struct nest *nest)
{
	if (!nest)
		return;
	uint64_t deadline = clock_now() + END_NS;
	atomic_store(&nest->wish, WISH_END);
	nest_signal(nest, NEST_WAKE_SIGNAL);
	while (!nest_is_gone(nest)) {
		struct pollfd fd = { .fd = nest->pidfd, .events = POLLIN };
		if (poll(&fd, 1, (int)(POKE_NS / NS_PER_MS)) > 0)
			continue;
		nest_poke(nest);
		if (clock_now() > deadline)
			nest_signal(nest, SIGKILL);
	}
	bool finished = atomic_load(&nest->finished);
	nest_free(nest);
	/* Somebody killed it: what was in it became ours. */
	if (!finished)
		descendants_end();
}

pid_t nest_pid(const struct nest *nest)
{
	return nest->pid;
}

pid_t nest_program(const struct nest *nest)
{
	return atomic_load(&nest->program);
}

int nest_program_fd(const struct nest *nest)
{
	return nest->program_fd;
}

bool nest_ended(struct nest *nest, siginfo_t *ret)
{
	*ret = (siginfo_t){};
	if (!atomic_load(&nest->ended)) {
		if (!process_is_over(nest->program_fd))
			return false;
		if (!nest_await(nest, &nest->ended)) {
			/* Its program is a child of ours now. */
			*ret = (siginfo_t){};
			waitid(P_PID, (id_t)nest_program(nest), ret,
			       WEXITED | WNOHANG | WNOWAIT);
			return true;
		}
	}
	ret->si_code = nest->code;
	ret->si_status = nest->status;
	return true;
}

struct err *nest_children(const struct nest *nest, struct pids *ret)
{
	if (!nest_is_gone(nest))
		return proc_read_children(nest->pid, nest->pid, ret);
	return descendants_list(ret);
}

bool nest_owns(pid_t pid)
{
	for (const struct nest *nest = nests; nest; nest = nest->next) {
		if (nest->controller == getpid() &&
		    (nest->pid == pid || nest_program(nest) == pid))
			return true;
	}
	return false;
}
