#include "repair/build_command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#define COMMAND_BYTES ((size_t)256 << 10)
#define DATABASE_BYTES ((size_t)64 << 20)
#define TICK_MS 100
#define EVENT(status) ((unsigned)(status) >> 16)

/* ---- in a process of its own: it traces the build ---- */

/* "gcc", "x86_64-linux-gnu-g++-12", "clang": a driver, not what it starts. */
static bool is_compiler_name(const char *name)
{
	static const char *const known[] = { "cc",  "gcc",   "c++",
					     "g++", "clang", "clang++" };
	size_t n = strlen(name);
	while (n && (isdigit((unsigned char)name[n - 1]) || name[n - 1] == '.'))
		n--;
	n -= n && name[n - 1] == '-';
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t length = strlen(known[i]);
		if (n >= length &&
		    !strncmp(name + n - length, known[i], length) &&
		    (n == length || name[n - length - 1] == '-'))
			return true;
	}
	return false;
}

static bool is_word_of_file(const char *folder, const char *word,
			    const char *path)
{
	char joined[PATH_MAX], resolved[PATH_MAX];
	if (strcmp(path_base(word), path_base(path)) != 0)
		return false;
	int n = snprintf(joined, sizeof(joined), "%s%s%s",
			 *word == '/' ? "" : folder, *word == '/' ? "" : "/",
			 word);
	return n > 0 && (size_t)n < sizeof(joined) &&
	       realpath(joined, resolved) && !strcmp(resolved, path);
}

static size_t read_process_file(pid_t pid, const char *name, char *ret,
				size_t size)
{
	char path[64];
	size_t n = 0;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < size) {
		ssize_t got = read(fd, ret + n, size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return n;
}

/* Is that the compiler, started for this file? @ret: its folder, its words. */
static size_t read_compiler_call(pid_t pid, const char *path, char *ret)
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
	ssize_t got = readlink(link, ret, PATH_MAX - 1);
	if (got <= 0)
		return 0;
	ret[got] = '\0';
	size_t from = (size_t)got + 1;
	size_t n = from + read_process_file(pid, "cmdline", ret + from,
					    COMMAND_BYTES - from - 1);
	ret[n] = '\0';
	if (n == from || !is_compiler_name(path_base(ret + from)))
		return 0;
	for (size_t at = from; at < n; at += strlen(ret + at) + 1) {
		if (is_word_of_file(ret, ret + at, path))
			return n;
	}
	return 0;
}

static void write_whole(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t wrote = write(fd, data, n);
		if (wrote <= 0)
			return;
		data += wrote;
		n -= (size_t)wrote;
	}
}

/* The signal with which it goes on. */
static int signal_to_pass(int status)
{
	int number = WSTOPSIG(status);
	/* Where it begins to be traced, and where it reports something. */
	return EVENT(status) || number == SIGSTOP || number == SIGTRAP ? 0
								       : number;
}

/* Until that compiler begins, or all have ended. */
static void trace_build(pid_t first, const char *path, int out)
{
	char *call = malloc(COMMAND_BYTES);
	const long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
			     PTRACE_O_EXITKILL;
	int status;
	if (!call || waitpid(first, &status, __WALL) != first ||
	    !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, first, 0, options) < 0 ||
	    ptrace(PTRACE_CONT, first, 0, 0) < 0)
		_exit(1);
	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			_exit(0);
		if (!WIFSTOPPED(status))
			continue;
		size_t n = EVENT(status) == PTRACE_EVENT_EXEC
				   ? read_compiler_call(pid, path, call)
				   : 0;
		if (n) {
			write_whole(out, call, n);
			_exit(0);
		}
		ptrace(PTRACE_CONT, pid, 0, (long)signal_to_pass(status));
	}
}

static void start_build(const char *build, const char *path, int out)
{
	int null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid_t first = fork();
	if (first < 0)
		_exit(1);
	if (first > 0)
		trace_build(first, path, out);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(out);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(1);
	raise(SIGSTOP);
	execl("/bin/sh", "sh", "-c", build, NULL);
	_exit(1);
}

/* ---- in ours ---- */

/* Its processes end with the one that traces them. */
static struct err *listen_to_build(const char *build, const char *path,
				   uint64_t deadline, struct str *ret)
{
	int ends[2];
	char buffer[4096];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "no pipe");
	pid_t pid = fork();
	if (!pid)
		start_build(build, path, ends[1]);
	close(ends[1]);
	_cleanup_(closep) int in = ends[0];
	if (pid < 0)
		return err_errno(errno, "cannot run '%s'", build);
	struct err *err = NULL;
	while (!err && !interrupted && clock_now() < deadline) {
		struct pollfd ready = { .fd = in, .events = POLLIN };
		if (poll(&ready, 1, TICK_MS) <= 0)
			continue;
		ssize_t n = read(in, buffer, sizeof(buffer));
		if (n <= 0)
			break;
		err = str_append_n(ret, buffer, (size_t)n);
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!err && interrupted)
		err = err_create(ERR_INTERRUPTED, "interrupted");
	return err;
}

/* As read_compiler_call() has it: the folder, then the words. */
static json_t *database_make_entry(const char *path, const struct str *call)
{
	json_t *words = json_array();
	size_t at = call->n ? strlen(call->s) + 1 : 0;
	for (; at < call->n; at += strlen(call->s + at) + 1)
		json_array_append_new(words, json_string(call->s + at));
	return json_pack("{s:s, s:s, s:o}", "file", path, "directory",
			 call->n ? call->s : "/", "arguments", words);
}

static struct err *database_add_entry(const char *database, json_t *entry)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(json_freep) json_t *all = NULL;
	if (!entry)
		return err_nomem();
	if (!access(database, R_OK))
		TRY(file_read(database, DATABASE_BYTES, &text, NULL));
	all = text ? json_loads(text, 0, NULL) : NULL;
	if (!all)
		all = json_array();
	if (json_array_append(all, entry) < 0)
		return err_nomem();
	return json_dump_file(all, database, 0) < 0
		       ? err_create(ERR_INTERNAL, "cannot write '%s'", database)
		       : NULL;
}

struct err *build_command_ask(const char *build, const char *path,
			      const char *database, uint64_t limit_ns)
{
	_cleanup_(str_freep) struct str call = STR_INIT;
	struct stat status;
	uint64_t began = clock_now();
	if (stat(path, &status) < 0 || utimensat(AT_FDCWD, path, NULL, 0) < 0)
		return NULL;
	struct err *err = listen_to_build(build, path, began + limit_ns, &call);
	const struct timespec times[] = { status.st_atim, status.st_mtim };
	if (utimensat(AT_FDCWD, path, times, 0) < 0)
		log_debug(LOG_REPAIR, "%s keeps the time of now", path);
	TRY(err);
	log_debug(LOG_REPAIR, "'%s' %s %s, known after %.3f s", build,
		  call.n ? "compiles" : "does not compile", path,
		  (double)(clock_now() - began) / 1e9);
	_cleanup_(json_freep) json_t *entry = database_make_entry(path, &call);
	return database_add_entry(database, entry);
}
