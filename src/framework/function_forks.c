#include "framework/function_forks.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "framework/function_calls.h"
#include "framework/function_places.h"
#include "native/session.h"
#include "native/verdict.h"
#include "tracee/breakpoint.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

/* So long a child has until it calls its test. */
#define PROBE_NS (2 * NS_PER_S)
#define PIPES_MAX 16
#define DESCRIPTORS_MAX 64
#define PIPE_CONTENT_MAX ((size_t)1 << 20)
#define SHARED_MAX ((size_t)64 << 20)

static bool function_forks_same_program(const struct run *run,
					const struct run *copy)
{
	char path[64];
	struct stat ours, its;
	snprintf(path, sizeof(path), "/proc/%d/exe", tracee_pid(run->tracee));
	if (stat(path, &ours) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", tracee_pid(copy->tracee));
	return stat(path, &its) == 0 && its.st_dev == ours.st_dev &&
	       its.st_ino == ours.st_ino;
}

struct err *function_forks_probe(struct run *run, struct thread *thread,
				 run_hook *hook, bool *ret)
{
	_cleanup_(run_destroyp) struct run *copy = NULL;
	*ret = false;
	if (checkpoint_obstacle(run->tracee))
		return NULL;
	TRY(run_copy(run, thread, &copy));
	struct thread *child = tracee_thread(copy->tracee, 0);
	TRY(calls_skip(copy, child, 0));
	uint64_t deadline = tracer_clock() + PROBE_NS;
	for (;;) {
		struct tracee_event event;
		TRY(tracee_continue(copy->tracee, deadline, &event));
		if (event.kind == TRACEE_EXECUTED)
			run->session->executes_itself |=
				function_forks_same_program(run, copy);
		if (event.kind != TRACEE_BREAKPOINT)
			return event.kind == TRACEE_INTERRUPTED
				       ? err_create(ERR_INTERRUPTED,
						    "interrupted")
				       : NULL;
		*ret = run->session->hooks.data[event.breakpoint].call == hook;
		if (*ret) {
			log_debug(LOG_FRAMEWORK,
				  "the program forks for each of its tests");
			return NULL;
		}
	}
}

struct fork_pipe {
	unsigned long number;
	int reads, writes; /* -1: not open */
	unsigned flags;
};

static bool fork_pipe_read(pid_t pid, int fd, unsigned long *ret_number,
			   unsigned *ret_flags)
{
	char path[64], target[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	if (sscanf(target, "pipe:[%lu]", ret_number) != 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	err_ignore(file_read(path, 4096, &text, NULL));
	const char *flags = text ? strstr(text, "flags:") : NULL;
	return flags && sscanf(flags, "flags: %o", ret_flags) == 1;
}

static struct err *fork_pipe_move(struct thread *thread, int from, int to,
				  unsigned flags)
{
	const uint64_t move[6] = { (uint64_t)from, (uint64_t)to,
				   flags & O_CLOEXEC };
	const uint64_t close_it[6] = { (uint64_t)from };
	int64_t result;
	TRY(remote_syscall(thread, SYS_dup3, move, &result));
	return remote_syscall(thread, SYS_close, close_it, &result);
}

/*
 * A new pipe with what is in the old one. Of one whose ends are not both ours
 * somebody else may hold the other: it stays, unless that end is closed everywhere.
 */
static struct err *fork_pipe_renew(struct thread *thread,
				   const struct fork_pipe *pipe)
{
	struct raddr at;
	int ends[2];
	int64_t result;
	TRY(remote_map(thread, sizeof(ends), &at));
	const uint64_t args[6] = { at.v,
				   pipe->flags & (O_CLOEXEC | O_NONBLOCK) };
	TRY(remote_syscall(thread, SYS_pipe2, args, &result));
	struct err *err = memory_read(thread->tracee, at, ends, sizeof(ends));
	TRY(remote_unmap(thread, at, sizeof(ends)));
	if (err || result < 0)
		return err;
	const uint64_t content[6] = { (uint64_t)pipe->reads, (uint64_t)ends[1],
				      PIPE_CONTENT_MAX, SPLICE_F_NONBLOCK };
	const uint64_t close_it[6] = { (uint64_t)ends[1] };
	TRY(remote_syscall(thread, SYS_tee, content, &result));
	TRY(fork_pipe_move(thread, ends[0], pipe->reads, pipe->flags));
	if (pipe->writes < 0)
		return remote_syscall(thread, SYS_close, close_it, &result);
	return fork_pipe_move(thread, ends[1], pipe->writes, pipe->flags);
}

static bool fork_pipe_has_writer(pid_t pid, int fd)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	_cleanup_(closep) int ours =
		open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct pollfd ask = { .fd = ours, .events = POLLIN };
	return ours < 0 || poll(&ask, 1, 0) < 0 || !(ask.revents & POLLHUP);
}

static struct err *function_forks_renew_pipes(struct run *run,
					      struct thread *thread)
{
	struct fork_pipe pipes[PIPES_MAX];
	size_t n = 0;
	pid_t pid = tracee_pid(run->tracee);
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MAX; fd++) {
		unsigned long number;
		unsigned flags;
		size_t i = 0;
		if (!fork_pipe_read(pid, fd, &number, &flags))
			continue;
		while (i < n && pipes[i].number != number)
			i++;
		if (i == PIPES_MAX)
			break;
		if (i == n)
			pipes[n++] = (struct fork_pipe){ number, -1, -1, 0 };
		pipes[i].flags |= flags;
		if ((flags & O_ACCMODE) == O_RDONLY)
			pipes[i].reads = fd;
		else
			pipes[i].writes = fd;
	}
	for (size_t i = 0; i < n; i++) {
		if (pipes[i].reads >= 0 &&
		    (pipes[i].writes >= 0 ||
		     !fork_pipe_has_writer(pid, pipes[i].reads)))
			TRY(fork_pipe_renew(thread, &pipes[i]));
	}
	return NULL;
}

static struct err *fork_memory_renew(struct run *run, struct thread *thread,
				     const struct proc_mapping *mapping)
{
	size_t n = mapping->end - mapping->start;
	_cleanup_(freep) unsigned char *content = malloc(n);
	if (!content)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(mapping->start), content, n));
	const uint64_t args[6] = {
		mapping->start,		n,
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
		(uint64_t)-1,		0
	};
	int64_t result;
	TRY(remote_syscall(thread, SYS_mmap, args, &result));
	if (result != (int64_t)mapping->start)
		return err_create(ERR_SUITE, "shared memory of a copied "
					     "process was not replaced");
	return memory_write(run->tracee, RADDR(mapping->start), content, n);
}

static struct err *function_forks_renew_memory(struct run *run,
					       struct thread *thread,
					       struct raddr except)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	TRY(proc_read_maps(tracee_pid(run->tracee), &maps));
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_mapping *mapping = &maps.data[i];
		if (mapping->shared && mapping->readable && mapping->writable &&
		    mapping->start != except.v &&
		    mapping->end - mapping->start <= SHARED_MAX &&
		    !strcmp(mapping->path, "/dev/zero" PROC_DELETED))
			TRY(fork_memory_renew(run, thread, mapping));
	}
	return NULL;
}

struct err *function_forks_unshare(struct run *run, struct thread *thread,
				   struct raddr except)
{
	TRY(function_forks_renew_pipes(run, thread));
	return function_forks_renew_memory(run, thread, except);
}

/* The child will come to @from: what it is to do there. */
static struct err *function_forks_overlay(struct run *run,
					  struct function_forks *forks,
					  struct raddr from, struct raddr to)
{
	uint8_t code[ARCH_INSN_MAX];
	size_t n = ARCH_CALL_SIZE;
	struct arch_result result;
	function_result(run, from.v, &result);
	if (!to.v)
		n = arch_return(&result, code);
	else if (!arch_jump(from, to, code))
		return err_create(ERR_SUITE, "a test function is too far away "
					     "from another");
	breakpoint_overlay_children(run->tracee, true);
	TRY(breakpoint_overlay(run->tracee, from, code, n));
	forks->overlaid = from;
	return NULL;
}

/*
 * While a signal is on its way to the thread, nothing can be done in it: it calls
 * fork() once more, and has got the signal by then.
 */
static bool function_forks_call_again(struct run *run, struct thread *thread)
{
	uint64_t return_to;
	struct raddr site, sp = regs_sp(&thread->regs);
	if (!thread->has_waiting)
		return false;
	struct err *err = memory_read_u64(run->tracee, sp, &return_to);
	if (err) {
		err_ignore(err);
		return false;
	}
	if (!breakpoint_call_before(run->tracee, RADDR(return_to), &site))
		return false;
	regs_set_sp(&thread->regs, raddr_add(sp, 8));
	regs_set_pc(&thread->regs, site);
	thread_dirty(thread);
	return true;
}

struct err *function_forks_enter(struct run *run, struct thread *thread,
				 struct function_forks *forks,
				 struct slots *slots, run_hook *returned)
{
	if (function_forks_call_again(run, thread))
		return NULL;
	size_t here = slots->next, test = run_wanted(run);
	if (here >= run_tests(run))
		return NULL;
	if (forks->running)
		return err_hint(err_create(ERR_SUITE,
					   "the program forks for a test while "
					   "another is still running"),
				"make it run one at a time, or run its tests "
				"as processes with --commands");
	bool fits = test != RUN_NONE && slots_fit(run, slots, here, test);
	slots->next = here + 1;
	struct raddr entry =
		RADDR(run_handle(run, here) & FUNCTION_ADDRESS_MASK);
	struct raddr wanted = RADDR(0);
	if (fits)
		wanted = RADDR(run_handle(run, test) & FUNCTION_ADDRESS_MASK);
	if (!raddr_eq(entry, wanted))
		TRY(function_forks_overlay(run, forks, entry, wanted));
	TRY(calls_enter(run, thread, &forks->call, returned, 0));
	if (fits) {
		forks->running = true;
		forks->child = 0;
		TRY(run_begin(run));
	}
	/* Last: what examines the process may have kept a copy of it. */
	return function_forks_renew_pipes(run, thread);
}

struct err *function_forks_return(struct run *run, struct thread *thread,
				  struct function_forks *forks)
{
	if (!calls_returned(&forks->call, thread))
		return NULL;
	forks->call.inside = false;
	if (forks->overlaid.v) {
		TRY(breakpoint_overlay_end(run->tracee, forks->overlaid));
		breakpoint_overlay_children(run->tracee, false);
		forks->overlaid = RADDR(0);
	}
	if (!forks->running)
		return NULL;
	forks->child = (int)regs_result(&thread->regs);
	if (forks->child > 0)
		return NULL;
	forks->running = false;
	TRY(run_fail(run, NULL, 0, "the program could not fork for it"));
	return run_end(run, OUTCOME_NONE);
}

struct err *function_forks_wait(struct run *run, struct thread *thread,
				struct function_forks *forks,
				enum function_wait way, run_hook *returned)
{
	if (!forks->running || !forks->child || forks->call.inside)
		return NULL;
	forks->way = (int)way;
	return calls_enter(run, thread, &forks->call, returned, 0);
}

/* False: that was another child, or ours has not ended. */
static bool function_forks_read_status(struct run *run,
				       const struct thread *thread,
				       const struct function_forks *forks,
				       int *ret)
{
	/* waitid(): signal, error, code, and from the 16th byte child and status. */
	struct {
		int32_t number, error, code, unused, child, user, status;
	} info;
	const struct regs *entry = &forks->call.entry;
	uint64_t at = regs_arg(entry, forks->way == FUNCTION_WAIT ? 0 : 1);
	if (forks->way == FUNCTION_WAITID) {
		at = regs_arg(entry, 2);
		if (!at ||
		    memory_read_some(run->tracee, RADDR(at), &info,
				     sizeof(info)) != sizeof(info) ||
		    info.child != forks->child)
			return false;
		*ret = info.code == CLD_EXITED ? (info.status & 0xff) << 8
					       : info.status & 0x7f;
		return info.code == CLD_EXITED || info.code == CLD_KILLED ||
		       info.code == CLD_DUMPED;
	}
	if ((int)regs_result(&thread->regs) != forks->child)
		return false;
	uint32_t status = 0;
	if (at)
		err_ignore(memory_read_u32(run->tracee, RADDR(at), &status));
	*ret = (int)status;
	return WIFEXITED(*ret) || WIFSIGNALED(*ret);
}

/* With the place that it printed. */
static struct err *function_forks_fail(struct run *run, int signal,
				       const char *text)
{
	_cleanup_(freep) char *output = NULL;
	struct function_place place;
	TRY(run_output(run, &output));
	if (!function_place_find(output, &place))
		return run_fail(run, NULL, 0, text);
	/* assert() says more than the signal that follows. */
	bool says_all = signal == SIGABRT && place.assertion;
	TRY(run_fail(run, place.file, place.line,
		     says_all ? place.text : text));
	if (says_all || !*place.text)
		return NULL;
	TRY(run_note_more(run, ": "));
	return run_note_more(run, place.text);
}

struct err *function_forks_waited(struct run *run, struct thread *thread,
				  struct function_forks *forks,
				  run_hook *returned)
{
	enum outcome outcome = OUTCOME_NONE;
	char text[128];
	int status;
	if (!calls_returned(&forks->call, thread))
		return NULL;
	if (!function_forks_read_status(run, thread, forks, &status)) {
		forks->call.inside = false;
		return NULL;
	}
	if (!status && run->session->verdict)
		TRY(verdict_foresee(run, thread, (struct hook){ returned, 0 }));
	forks->call.inside = false;
	forks->running = false;
	forks->child = 0;
	if (WIFSIGNALED(status)) {
		const char *name = sigabbrev_np(WTERMSIG(status));
		snprintf(text, sizeof(text), "SIG%s (%s)", name ? name : "?",
			 strsignal(WTERMSIG(status)));
		TRY(function_forks_fail(run, WTERMSIG(status), text));
		outcome = OUTCOME_CRASH;
	} else if (WEXITSTATUS(status)) {
		snprintf(text, sizeof(text),
			 "its process ended with exit status %d",
			 WEXITSTATUS(status));
		TRY(function_forks_fail(run, 0, text));
	} else if (run->seen.foreseen) {
		snprintf(text, sizeof(text),
			 "its process ended with exit status 0, but the "
			 "program then ends with %d",
			 run->seen.foreseen);
		TRY(function_forks_fail(run, 0, text));
	}
	return run_end(run, outcome);
}
