#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/proc.h"
#include "base/str.h"
#include "follow/follow.h"
#include "nest/nest.h"
#include "suite/kind.h"

/* Standard error of a tool that is kept for the message. */
/* Of a quarter of a millisecond: one that the kernel holds is left alone. */
#define GROUP_ROUNDS 800
#define TOOL_ERR_MAX ((size_t)8 << 10)

enum step { STEP_FOLDER, STEP_EXEC };

struct process_trouble {
	enum step step;
	int number;
};

/*
 * A pipe whose ends are not 0, 1 or 2, which we may have been started without:
 * the child would overwrite one while it sets up the other.
 */
static struct err *process_make_pipe(int ends[2])
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot create a pipe");
	for (int i = 0; i < 2; i++) {
		if (fds[i] > 2)
			continue;
		int above = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		int number = errno;
		close(fds[i]);
		fds[i] = above;
		if (above < 0) {
			close(fds[!i]);
			return err_errno(number, "cannot create a pipe");
		}
	}
	ends[0] = fds[0];
	ends[1] = fds[1];
	return NULL;
}

/*
 * Between fork and exec: system calls only, since other threads may have held
 * the allocator's locks.
 */
struct process_child {
	const struct process_spec *spec;
	int out, err;
	int trouble;
};

static void process_become_command(void *data)
{
	const struct process_child *child = data;
	const struct process_spec *spec = child->spec;
	struct process_trouble trouble = { .step = STEP_EXEC };
	sigset_t none;
	sigemptyset(&none);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_RDONLY);
	if (null > 0) {
		dup2(null, 0);
		close(null);
	} else if (null < 0) {
		close(0);
	}
	dup2(child->out, 1);
	dup2(child->err, 2);
	/* Where that is not allowed, addresses differ. */
	if (spec->same_addresses)
		personality(ADDR_NO_RANDOMIZE);
	/* What we happened to inherit would be another each time. */
	if (spec->same_addresses)
		close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (spec->inherited)
		fcntl(spec->inherited, F_SETFD, 0);
	bool entered = !spec->folder || !chdir(spec->folder);
	trouble.number = errno;
	/* In any case: the other side waits for it. */
	if (spec->follow)
		follow_child(spec->follow);
	if (!entered) {
		trouble.step = STEP_FOLDER;
	} else if (spec->environment) {
		execvpe(spec->argv[0], spec->argv, spec->environment);
	} else {
		execvp(spec->argv[0], spec->argv);
	}
	if (entered)
		trouble.number = errno;
	ssize_t ignored = write(child->trouble, &trouble, sizeof(trouble));
	(void)ignored;
	_exit(127);
}

static struct err *
process_describe_trouble(const struct process_spec *spec,
			 const struct process_trouble *trouble, char **ret_why)
{
	_cleanup_(str_freep) struct str why = STR_INIT;
	if (trouble->step == STEP_FOLDER)
		TRY(str_appendf(&why, "cannot enter folder '%s': %s",
				spec->folder, strerror(trouble->number)));
	else
		TRY(str_appendf(&why, "cannot start '%s': %s", spec->argv[0],
				strerror(trouble->number)));
	*ret_why = str_take(&why);
	return *ret_why ? NULL : err_nomem();
}

static void process_wait(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

struct err *process_start(const struct process_spec *spec, struct process *ret,
			  char **ret_why)
{
	_cleanup_(closep) int out_read = -1, out_write = -1;
	_cleanup_(closep) int err_read = -1, err_write = -1;
	_cleanup_(closep) int trouble_read = -1, trouble_write = -1;
	int ends[2];
	TRY(process_make_pipe(ends));
	out_read = ends[0], out_write = ends[1];
	TRY(process_make_pipe(ends));
	trouble_read = ends[0], trouble_write = ends[1];
	if (spec->split) {
		TRY(process_make_pipe(ends));
		err_read = ends[0], err_write = ends[1];
	}
	fcntl(out_read, F_SETFL, O_NONBLOCK);
	if (err_read >= 0)
		fcntl(err_read, F_SETFL, O_NONBLOCK);

	uint64_t began = clock_now();
	struct process_child child = {
		.spec = spec,
		.out = out_write,
		.err = spec->split ? err_write : out_write,
		.trouble = trouble_write,
	};
	_cleanup_(nest_endp) struct nest *nest = NULL;
	struct err *failed =
		nest_start(NEST_HOLDS, process_become_command, &child, &nest);
	if (failed)
		return err_hint(failed,
				"lower --jobs, or raise the limit of processes "
				"(ulimit -u)");
	close(take_fd(trouble_write));
	/* Before anything is waited for: its exec may be held back. */
	_cleanup_(err_destroyp) struct err *unfollowed =
		spec->follow ? follow_begin(spec->follow) : NULL;

	/* The pipe closes when the command takes over. */
	struct process_trouble trouble;
	ssize_t got;
	while ((got = read(trouble_read, &trouble, sizeof(trouble))) < 0 &&
	       errno == EINTR)
		;
	if (got == sizeof(trouble))
		return process_describe_trouble(spec, &trouble, ret_why);
	*ret = (struct process){
		.nest = nest,
		.pid = nest_program(nest),
		.pidfd = nest_program_fd(nest),
		.out = take_fd(out_read),
		.err = take_fd(err_read),
		.began_ns = began,
		.unfollowed = take_ptr(unfollowed),
	};
	take_ptr(nest);
	return NULL;
}

static void ignore_call(void *data _unused_,
			const struct follow_event *event _unused_)
{
}

struct err *process_try_follow(void)
{
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	const struct follow_options options = {
		.flags = FOLLOW_FILES,
		.sink = ignore_call,
	};
	TRY(follow_prepare(&options, &follow));
	pid_t pid = fork();
	if (!pid) {
		follow_child(follow);
		_exit(0);
	}
	if (pid < 0)
		return err_errno(errno, "cannot start a process");
	struct err *err = follow_begin(follow);
	process_wait(pid);
	return err;
}

bool process_ended(struct process *process)
{
	if (process->ended)
		return true;
	siginfo_t info;
	if (!process->nest || !nest_ended(process->nest, &info))
		return false;
	process->ended = true;
	process->ended_ns = clock_now();
	if (!info.si_code) {
		/* Somebody killed the nest and took its end. */
		process->status = -1;
	} else if (info.si_code == CLD_EXITED) {
		process->status = info.si_status;
	} else {
		process->signal = info.si_status;
		process->dumped = info.si_code == CLD_DUMPED;
	}
	return true;
}

void process_kill(const struct process *process)
{
	if (!process->nest || process->left)
		return;
	kill(-process->pid, SIGKILL);
	/* It may have left the group. */
	if (!process->ended)
		kill(process->pid, SIGKILL);
}

/* More than one command leaves. */
#define LEFT_MAX 1024

static bool process_runs_on(pid_t pid)
{
	struct proc_status status;
	return proc_read_status(pid, &status) && status.state != 'Z' &&
	       status.state != 'X';
}

struct err *process_left(const struct process *process, struct pids *ret)
{
	_cleanup_(pids_freep) struct pids all = {};
	if (!process->nest)
		return NULL;
	TRY(nest_children(process->nest, &all));
	for (size_t i = 0; i < all.n && all.n < LEFT_MAX; i++) {
		if (all.data[i] != process->pid)
			TRY(proc_read_children(all.data[i], all.data[i], &all));
	}
	for (size_t i = 0; i < all.n; i++) {
		pid_t pid = all.data[i];
		if (pid != process->pid && process_runs_on(pid))
			TRY(vec_push(ret, pid));
	}
	return NULL;
}

void process_leave(struct process *process)
{
	process->left = true;
	process->pidfd = -1;
	nest_release(process->nest);
}

/* The next test is not to meet them on their way out. */
void process_end_group(struct process *process, bool *ret_left)
{
	for (int i = 0; i < GROUP_ROUNDS; i++) {
		_cleanup_(pids_freep) struct pids left = {};
		bool alive = false;
		process_kill(process);
		err_ignore(process_left(process, &left));
		for (size_t k = 0; k < left.n; k++)
			alive |= getpgid(left.data[k]) == process->pid;
		*ret_left = left.n;
		if (!alive)
			break;
		usleep(250);
	}
	if (*ret_left)
		process_leave(process);
	else
		process_end(process);
}

void process_end(struct process *process)
{
	process_kill(process);
	nest_end(take_ptr(process->nest));
	process->pidfd = -1;
}

void process_reap(struct process *process)
{
	process_end(process);
	process->pid = -1;
	err_destroy(take_ptr(process->unfollowed));
	closep(&process->out);
	closep(&process->err);
	process->out = process->err = -1;
}

/* ---- tools ---- */

struct process_tool {
	struct process process;
	struct str out, err;
	bool out_open, err_open;
};

static void tool_freep(struct process_tool *tool)
{
	process_reap(&tool->process);
	str_free(&tool->out);
	str_free(&tool->err);
}

static struct err *tool_read(int fd, struct str *into, size_t limit, bool *open)
{
	char buffer[1 << 16];
	ssize_t got = read(fd, buffer, sizeof(buffer));
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got <= 0) {
		*open = false;
		return NULL;
	}
	size_t n = MIN((size_t)got, limit - into->n);
	return n ? str_append_n(into, buffer, n) : NULL;
}

static struct err *tool_run(struct process_tool *tool, size_t limit,
			    uint64_t deadline)
{
	while (tool->out_open || tool->err_open) {
		struct pollfd fds[] = {
			{ .fd = tool->out_open ? tool->process.out : -1,
			  .events = POLLIN },
			{ .fd = tool->err_open ? tool->process.err : -1,
			  .events = POLLIN },
		};
		if (poll(fds, ARRAY_SIZE(fds), 100) < 0 && errno != EINTR)
			return err_errno(errno, "cannot wait for output");
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (clock_now() > deadline)
			return err_create(ERR_SUITE, "it does not end");
		if (fds[0].revents)
			TRY(tool_read(tool->process.out, &tool->out, limit,
				      &tool->out_open));
		if (fds[1].revents)
			TRY(tool_read(tool->process.err, &tool->err,
				      TOOL_ERR_MAX, &tool->err_open));
		if (tool->out.n >= limit)
			return err_create(ERR_SUITE, "it prints too much");
		/* Something it left behind may hold the pipes. */
		if (process_ended(&tool->process) && !fds[0].revents &&
		    !fds[1].revents)
			break;
	}
	while (!process_ended(&tool->process)) {
		if (interrupted)
			return err_create(ERR_INTERRUPTED, "interrupted");
		if (clock_now() > deadline)
			return err_create(ERR_SUITE, "it does not end");
		struct pollfd fd = { .fd = tool->process.pidfd,
				     .events = POLLIN };
		poll(&fd, 1, tool->process.pidfd < 0 ? 5 : 100);
	}
	return NULL;
}

struct err *process_output(const struct process_spec *spec, size_t limit,
			   uint64_t timeout_ns, struct process_output *ret)
{
	struct process_spec split = *spec;
	split.split = true;
	_cleanup_(tool_freep) struct process_tool tool = {
		.process = PROCESS_INIT,
		.out_open = true,
		.err_open = true,
	};
	struct process_output output = {};
	TRY(process_start(&split, &tool.process, &output.why));
	if (!output.why) {
		struct err *err =
			tool_run(&tool, limit, clock_now() + timeout_ns);
		if (err)
			return err_prefix(err, "%s", spec->argv[0]);
	}
	output.status = tool.process.signal ? -1 : tool.process.status;
	output.out_n = tool.out.n;
	output.out = str_take(&tool.out);
	output.err = str_take(&tool.err);
	if (!output.out || !output.err) {
		process_output_free(&output);
		return err_nomem();
	}
	*ret = output;
	return NULL;
}

void process_output_free(struct process_output *output)
{
	free(output->out);
	free(output->err);
	free(output->why);
	*output = (struct process_output){};
}
