/* Cases of the models of short and interrupted calls. */
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

static const char text[] = "a message of more than a few bytes";
#define SIZE sizeof(text)

/* A stream of two ends, the text in it; taken from the raw system call. */
static void stream(int ends[2], bool filled)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
	for (size_t done = 0; filled && done < SIZE;) {
		ssize_t n = send(ends[1], text + done, SIZE - done, 0);
		if (n < 0)
			abort();
		done += (size_t)n;
	}
}

static ssize_t all(int fd, ssize_t (*part)(int, char *, size_t))
{
	char data[SIZE];
	size_t done = 0;
	while (done < SIZE) {
		ssize_t n = part(fd, data + done, SIZE - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return memcmp(data, text, SIZE) ? -1 : (ssize_t)SIZE;
}

static ssize_t by_read(int fd, char *data, size_t n)
{
	return read(fd, data, n);
}

static ssize_t by_recv(int fd, char *data, size_t n)
{
	return recv(fd, data, n, 0);
}

static ssize_t by_recvfrom(int fd, char *data, size_t n)
{
	return recvfrom(fd, data, n, 0, NULL, NULL);
}

/* In two vectors, so that the end may lie in either. */
static ssize_t by_readv(int fd, char *data, size_t n)
{
	struct iovec parts[] = { { data, n / 2 }, { data + n / 2, n - n / 2 } };
	return readv(fd, parts, 2);
}

static ssize_t by_recvmsg(int fd, char *data, size_t n)
{
	struct iovec parts[] = { { data, n / 2 }, { data + n / 2, n - n / 2 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t got = recvmsg(fd, &message, 0);
	return message.msg_iov == parts && message.msg_iovlen == 2 ? got : -1;
}

/* fragile: one call gives all; correct: a loop does. */
#define RECEIVES(name)                                                         \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		char data[SIZE];                                               \
		int ends[2];                                                   \
		stream(ends, true);                                            \
		return by_##name(ends[0], data, SIZE) == (ssize_t)SIZE;        \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		int ends[2];                                                   \
		stream(ends, true);                                            \
		return all(ends[0], by_##name) == (ssize_t)SIZE;               \
	}

RECEIVES(recv)
RECEIVES(recvfrom)
RECEIVES(readv)
RECEIVES(recvmsg)

static bool read_fragile(void)
{
	char data[SIZE];
	int ends[2];
	stream(ends, true);
	return by_read(ends[0], data, SIZE) == (ssize_t)SIZE;
}

/*
 * What must stay whole does: a datagram, a file, what a pipe got in one piece,
 * MSG_WAITALL, and the end is the end.
 */
static bool whole(void)
{
	char data[SIZE];
	int ends[2], pipes[2];
	int file = memfd_create("file", 0);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) || pipe(pipes))
		return false;
	if (write(file, text, SIZE) != SIZE || lseek(file, 0, SEEK_SET) ||
	    read(file, data, SIZE) != SIZE || read(file, data, SIZE) != 0)
		return false;
	if (send(ends[1], text, SIZE, 0) != SIZE ||
	    read(ends[0], data, SIZE) != SIZE)
		return false;
	if (write(pipes[1], text, SIZE) != SIZE ||
	    read(pipes[0], data, SIZE) != SIZE)
		return false;
	static char much[2 * PIPE_BUF];
	if (write(pipes[1], much, sizeof(much)) != sizeof(much) ||
	    read(pipes[0], much, sizeof(much)) != sizeof(much))
		return false;
	close(pipes[1]);
	if (read(pipes[0], data, SIZE) != 0)
		return false;
	int least = SIZE;
	stream(ends, true);
	if (setsockopt(ends[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least)) ||
	    read(ends[0], data, SIZE) != SIZE)
		return false;
	stream(ends, true);
	if (recv(ends[0], data, 4, MSG_PEEK) != 4 ||
	    recv(ends[0], data, SIZE, MSG_WAITALL) != SIZE)
		return false;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return read(ends[0], data, SIZE) < 0 && errno == EAGAIN;
}

static bool read_correct(void)
{
	int ends[2];
	stream(ends, true);
	return all(ends[0], by_read) == (ssize_t)SIZE && whole();
}

/* One message, one read: true today, if nobody writes a second. */
static bool read_pipe_fragile(void)
{
	char data[SIZE];
	int pipes[2];
	if (pipe(pipes))
		abort();
	write(pipes[1], text, SIZE);
	return read(pipes[0], data, SIZE) == SIZE;
}

static bool read_pipe_correct(void)
{
	int pipes[2];
	if (pipe(pipes))
		abort();
	write(pipes[1], text, SIZE);
	return all(pipes[0], by_read) == (ssize_t)SIZE;
}

/* ---- sending ---- */

static ssize_t by_write(int fd, const char *data, size_t n)
{
	return write(fd, data, n);
}

static ssize_t by_send(int fd, const char *data, size_t n)
{
	return send(fd, data, n, MSG_NOSIGNAL);
}

static ssize_t by_sendto(int fd, const char *data, size_t n)
{
	return sendto(fd, data, n, 0, NULL, 0);
}

static ssize_t by_writev(int fd, const char *data, size_t n)
{
	struct iovec parts[] = { { (char *)data, n / 2 },
				 { (char *)data + n / 2, n - n / 2 } };
	return writev(fd, parts, 2);
}

static ssize_t by_sendmsg(int fd, const char *data, size_t n)
{
	struct iovec parts[] = { { (char *)data, n / 2 },
				 { (char *)data + n / 2, n - n / 2 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	return sendmsg(fd, &message, 0);
}

static bool sends_all(ssize_t (*part)(int, const char *, size_t))
{
	int ends[2];
	stream(ends, false);
	for (size_t done = 0; done < SIZE;) {
		ssize_t n = part(ends[1], text + done, SIZE - done);
		if (n <= 0 || (size_t)n > SIZE - done)
			return false;
		done += (size_t)n;
	}
	return all(ends[0], by_read) == (ssize_t)SIZE;
}

#define SENDS(name)                                                            \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		int ends[2];                                                   \
		stream(ends, false);                                           \
		fcntl(ends[1], F_SETFL, O_NONBLOCK);                           \
		return by_##name(ends[1], text, SIZE) == (ssize_t)SIZE;        \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		return sends_all(by_##name);                                   \
	}

SENDS(write)
SENDS(writev)
SENDS(send)
SENDS(sendto)
SENDS(sendmsg)

/* ---- moving ---- */

static int filled_file(void)
{
	int file = memfd_create("file", 0);
	if (write(file, text, SIZE) != SIZE || lseek(file, 0, SEEK_SET))
		abort();
	return file;
}

static bool same_text(int file)
{
	char data[SIZE];
	return pread(file, data, SIZE, 0) == SIZE && !memcmp(data, text, SIZE);
}

/* The file is asked for more than it has: the end of it is no shortness. */
static bool sendfile_fragile(void)
{
	return sendfile(memfd_create("to", 0), filled_file(), NULL, 1000) ==
	       SIZE;
}

static bool sendfile_correct(void)
{
	int to = memfd_create("to", 0), from = filled_file();
	off_t at = 0;
	while (at < (off_t)SIZE) {
		if (sendfile(to, from, &at, SIZE - (size_t)at) <= 0)
			return false;
	}
	return same_text(to) && !sendfile(to, from, &at, 1);
}

static bool copy_file_range_fragile(void)
{
	int to = memfd_create("to", 0), from = filled_file();
	return copy_file_range(from, NULL, to, NULL, SIZE, 0) == SIZE;
}

static bool copy_file_range_correct(void)
{
	int to = memfd_create("to", 0), from = filled_file();
	for (size_t done = 0; done < SIZE;) {
		ssize_t n =
			copy_file_range(from, NULL, to, NULL, SIZE - done, 0);
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return same_text(to);
}

static bool splice_fragile(void)
{
	int pipes[2];
	if (pipe(pipes))
		abort();
	return splice(filled_file(), NULL, pipes[1], NULL, SIZE, 0) == SIZE;
}

static bool splice_correct(void)
{
	int pipes[2], from = filled_file();
	if (pipe(pipes))
		abort();
	for (size_t done = 0; done < SIZE;) {
		ssize_t n = splice(from, NULL, pipes[1], NULL, SIZE - done, 0);
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return all(pipes[0], by_read) == (ssize_t)SIZE;
}

static ssize_t tee_once(void)
{
	int from[2], to[2];
	if (pipe(from) || pipe(to) || write(from[1], text, SIZE) != SIZE)
		abort();
	return tee(from[0], to[1], SIZE, 0);
}

static bool tee_fragile(void)
{
	return tee_once() == SIZE;
}

static bool tee_correct(void)
{
	ssize_t n = tee_once();
	return n > 0 && n <= (ssize_t)SIZE;
}

/* ---- interrupted ---- */

static const struct timespec soon = { .tv_nsec = 300000 };

static void block_usr1(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	sigprocmask(SIG_BLOCK, set, NULL);
}

static bool sigtimedwait_fragile(void)
{
	sigset_t set;
	block_usr1(&set);
	return sigtimedwait(&set, NULL, &soon) < 0 && errno == EAGAIN;
}

/* A signal that is there comes at once. */
static bool sigtimedwait_correct(void)
{
	sigset_t set;
	int got;
	block_usr1(&set);
	do
		got = sigtimedwait(&set, NULL, &soon);
	while (got < 0 && errno == EINTR);
	if (errno != EAGAIN)
		return false;
	kill(getpid(), SIGUSR1);
	return sigtimedwait(&set, NULL, &soon) == SIGUSR1;
}

static void *send_usr1(void *process)
{
	usleep(200);
	kill(*(pid_t *)process, SIGUSR1);
	return NULL;
}

static int wait_info(bool loop)
{
	sigset_t set;
	block_usr1(&set);
	pthread_t thread;
	pid_t self = getpid();
	pthread_create(&thread, NULL, send_usr1, &self);
	int got;
	do
		got = sigwaitinfo(&set, NULL);
	while (loop && got < 0 && errno == EINTR);
	pthread_join(thread, NULL);
	return got;
}

static bool sigwaitinfo_fragile(void)
{
	return wait_info(false) == SIGUSR1;
}

static bool sigwaitinfo_correct(void)
{
	return wait_info(true) == SIGUSR1;
}

static void *post(void *id)
{
	struct sembuf up = { .sem_op = 1 };
	usleep(200);
	semop(*(int *)id, &up, 1);
	return NULL;
}

/* First what need not wait, then what another thread ends. */
static bool semaphores(bool loop, bool timed)
{
	struct timespec long_enough = { .tv_sec = 10 };
	int id = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT), failed;
	struct sembuf up = { .sem_op = 1 }, down = { .sem_op = -1 };
	if (id < 0)
		return true;
	pthread_t thread;
	if (semop(id, &up, 1) || semop(id, &down, 1))
		return false;
	pthread_create(&thread, NULL, post, &id);
	do
		failed = timed ? semtimedop(id, &down, 1, &long_enough)
			       : semop(id, &down, 1);
	while (loop && failed && errno == EINTR);
	pthread_join(thread, NULL);
	semctl(id, 0, IPC_RMID);
	return !failed;
}

static bool semop_fragile(void)
{
	return semaphores(false, false);
}

static bool semop_correct(void)
{
	return semaphores(true, false);
}

static bool semtimedop_fragile(void)
{
	return semaphores(false, true);
}

static bool semtimedop_correct(void)
{
	return semaphores(true, true);
}

static int with_timeout(int fd)
{
	struct timeval timeout = { .tv_usec = 1000 };
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return fd;
}

static int listening(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	/* Without a name the kernel gives one. */
	if (bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t)) ||
	    listen(fd, 1))
		abort();
	return with_timeout(fd);
}

static bool accept_fragile(void)
{
	return accept(listening(), NULL, NULL) < 0 && errno == EAGAIN;
}

static bool accept_correct(void)
{
	int fd = listening(), got;
	do
		got = accept(fd, NULL, NULL);
	while (got < 0 && errno == EINTR);
	return got < 0 && errno == EAGAIN;
}

static bool recv_timeout_fragile(void)
{
	int ends[2];
	char byte;
	stream(ends, false);
	return recv(with_timeout(ends[0]), &byte, 1, 0) < 0 && errno == EAGAIN;
}

static bool recv_timeout_correct(void)
{
	int ends[2];
	char byte;
	ssize_t got;
	stream(ends, false);
	with_timeout(ends[0]);
	do
		got = recv(ends[0], &byte, 1, 0);
	while (got < 0 && errno == EINTR);
	return got < 0 && errno == EAGAIN && send(ends[1], "x", 1, 0) == 1 &&
	       recv(ends[0], &byte, 1, 0) == 1;
}

CASES(CASE(read), CASE(read_pipe), CASE(readv), CASE(recv), CASE(recvfrom),
      CASE(recvmsg), CASE(write), CASE(writev), CASE(send), CASE(sendto),
      CASE(sendmsg), CASE(sendfile), CASE(copy_file_range), CASE(splice),
      CASE(tee), CASE(sigtimedwait), CASE(sigwaitinfo), CASE(semop),
      CASE(semtimedop), CASE(accept), CASE(recv_timeout))
