/*
 * Tests that do something to the process above them, or leave processes. The
 * first word on the command line is in that of each process, to find them by.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST __attribute__((noinline)) void
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

static pid_t server;
static volatile int yes = 1;

static int signal_parent(int number)
{
	return number == SIGSTOP || number == SIGKILL ? 0
						      : kill(getppid(), number);
}

static void signal_parent_all(void)
{
	union sigval value = { .sival_int = 7 };
	for (int number = 1; number <= SIGRTMAX; number++)
		signal_parent(number);
	sigqueue(getppid(), SIGRTMIN + 3, value);
}

/* Calls @act in a process whose parent has ended, and waits for it. */
static void as_orphan(void (*act)(void))
{
	int ends[2];
	char byte;
	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	if (child == 0) {
		pid_t parent = getpid();
		if (fork() == 0) {
			while (getppid() == parent)
				usleep(1000);
			act();
			_exit(0);
		}
		_exit(0);
	}
	close(ends[1]);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(read(ends[0], &byte, 1) == 0);
	close(ends[0]);
}

static void stop_parent(void)
{
	CHECK(kill(getppid(), SIGSTOP) == 0);
}

static void kill_parent(void)
{
	CHECK(kill(getppid(), SIGKILL) == 0);
}

TEST test_signals_parent(void)
{
	signal_parent_all();
}

TEST test_signals_parent_as_orphan(void)
{
	as_orphan(signal_parent_all);
}

TEST test_signals_group(void)
{
	for (int number = 1; number <= SIGRTMAX; number++)
		signal(number, SIG_IGN);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (number != SIGSTOP && number != SIGKILL &&
		    (number < 32 || number >= SIGRTMIN))
			kill(0, number);
	}
	for (int number = 1; number <= SIGRTMAX; number++)
		signal(number, SIG_DFL);
}

TEST test_stops_parent(void)
{
	stop_parent();
}

TEST test_stops_parent_as_orphan(void)
{
	as_orphan(stop_parent);
}

TEST test_kills_parent(void)
{
	kill_parent();
}

TEST test_kills_parent_as_orphan(void)
{
	as_orphan(kill_parent);
}

TEST test_fails(void)
{
	if (yes)
		abort();
}

/* What is allowed: a process knows its children, and its children know it. */
TEST test_signals_child(void)
{
	int status, ends[2];
	pid_t self = getpid();
	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	if (child == 0) {
		(void)!write(ends[1], getppid() == self ? "y" : "n", 1);
		for (;;)
			pause();
	}
	char byte;
	CHECK(read(ends[0], &byte, 1) == 1 && byte == 'y');
	CHECK(kill(child, SIGUSR1) == 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
	close(ends[0]);
	close(ends[1]);
}

TEST test_has_parent(void)
{
	pid_t parent = getppid();
	CHECK(parent > 1 && parent != getpid());
	CHECK(kill(parent, 0) == 0);
	CHECK(getppid() == parent);
	CHECK(waitpid(parent, NULL, WNOHANG) < 0 && errno == ECHILD);
	CHECK(waitpid(-1, NULL, WNOHANG) <= 0);
}

/* ---- what stays ---- */

static void sleep_as(const char *name)
{
	prctl(PR_SET_NAME, name);
	for (;;)
		pause();
}

static void leave_daemon(void)
{
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (fork() == 0)
			sleep_as("pg-left");
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child);
}

static void leave_child(void)
{
	if (fork() == 0)
		sleep_as("pg-left");
}

/* Processes of that name with our word on their command line. */
static int count(const char *name, const char *word)
{
	int found = 0;
	DIR *proc = opendir("/proc");
	CHECK(proc);
	for (struct dirent *entry; (entry = readdir(proc));) {
		char path[300], text[4096] = "";
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		int fd = open(path, O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n <= 0 || strncmp(text, name, strlen(name)) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		close(fd);
		found += n > 0 && memmem(text, (size_t)n, word, strlen(word));
	}
	closedir(proc);
	return found;
}

static const char *word = "";

/* Nothing of an earlier process is there, but what all of them share is. */
static void leave_both(void)
{
	CHECK(count("pg-left", word) == 0);
	CHECK(kill(server, 0) == 0 && count("pg-server", word) == 1);
	leave_daemon();
	leave_child();
}

#define LEAVES(name)                                                           \
	TEST name(void)                                                        \
	{                                                                      \
		leave_both();                                                  \
	}
LEAVES(test_leaves_1)
LEAVES(test_leaves_2)
LEAVES(test_leaves_3)
LEAVES(test_leaves_4)
LEAVES(test_leaves_5)
LEAVES(test_leaves_6)
LEAVES(test_leaves_7)
LEAVES(test_leaves_8)
LEAVES(test_leaves_9)

/* A daemon keeps the port: a second time in one process it is taken. */
TEST test_holds_port(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((unsigned short)atoi(getenv("PORT"))),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(fd >= 0);
	CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(fd, 1) == 0);
	leave_daemon();
	close(fd);
}

TEST test_hangs(void)
{
	leave_both();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	word = argc > 1 ? argv[1] : "";
	server = fork();
	if (server == 0)
		sleep_as("pg-server");
	while (kill(server, 0) == 0 && count("pg-server", word) == 0)
		usleep(1000);
	test_signals_parent();
	test_signals_parent_as_orphan();
	test_signals_group();
	test_stops_parent();
	test_stops_parent_as_orphan();
	test_kills_parent();
	test_kills_parent_as_orphan();
	test_fails();
	test_signals_child();
	test_has_parent();
	test_leaves_1();
	test_leaves_2();
	test_leaves_3();
	test_leaves_4();
	test_leaves_5();
	test_leaves_6();
	test_leaves_7();
	test_leaves_8();
	test_leaves_9();
	test_holds_port();
	test_hangs();
	return 0;
}
