/*
 * Models of calls that may do less than they are asked for: how much less, and
 * reading. Whether a descriptor allows it is asked each time: numbers are used
 * again for other files.
 */
#include "models/short_internal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- descriptors ---- */

enum short_kind short_kind(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);
	long failed = sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE,
			       (long)&type, (long)&size, 0);
	if (!failed)
		return type == SOCK_STREAM ? SHORT_STREAM : SHORT_NEVER;
	if (failed != -ENOTSOCK)
		return SHORT_NEVER;
	struct stat about;
	if (sys_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0))
		return SHORT_NEVER;
	return S_ISFIFO(about.st_mode) ? SHORT_PIPE : SHORT_NEVER;
}

bool short_nonblocking(int fd)
{
	long flags = sys_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	return flags < 0 || flags & O_NONBLOCK;
}

size_t short_available(int fd)
{
	int n = 0;
	if (sys_call(SYS_ioctl, fd, FIONREAD, (long)&n, 0, 0, 0) || n < 0)
		return 0;
	return (size_t)n;
}

/* ---- sizes ---- */

static void add_size(size_t *sizes, size_t *n, struct short_call call,
		     size_t size)
{
	if (size < call.least || size >= call.n || !size)
		return;
	for (size_t i = 0; i < *n; i++) {
		if (sizes[i] == size)
			return;
	}
	sizes[(*n)++] = size;
}

/*
 * Few sizes, so that all combinations of a test can be tried. Single bytes of
 * much data would take for ever.
 */
size_t short_size(struct short_call call)
{
	size_t sizes[4] = { call.n }, n = 1;
	add_size(sizes, &n, call, call.n <= 256 || call.one ? 1 : call.n / 16);
	add_size(sizes, &n, call, call.n / 2 + (call.n & 1));
	add_size(sizes, &n, call, call.n - 1);
	if (n < 2 && call.least < call.n)
		add_size(sizes, &n, call, call.least);
	if (n < 2)
		return call.n;
	uint64_t equal = choose_mix(call.model, call.n);
	/* By its turn: its number depends on what was open at the start. */
	uint64_t turn = choose_object((const void *)((uintptr_t)call.fd + 1));
	struct choose_keys keys = {
		.equal = equal,
		.object = choose_mix(equal, turn),
	};
	size_t size = sizes[choose_pick(call.model, n, keys)];
	choose_argument("%zu bytes, descriptor %d", call.n, call.fd);
	choose_did("%s only %zu of %zu bytes", call.verb, size, call.n);
	return size;
}

/* ---- vectors ---- */

size_t short_total(const struct iovec *vectors, size_t n)
{
	size_t total = 0;
	if (!n || n > SHORT_VECTORS || !sys_readable((uintptr_t)vectors) ||
	    !sys_readable((uintptr_t)(vectors + n) - 8))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (vectors[i].iov_len > (size_t)SSIZE_MAX - total)
			return 0;
		total += vectors[i].iov_len;
	}
	return total;
}

size_t short_vectors(const struct iovec *vectors, size_t n, size_t size,
		     struct iovec *ret)
{
	size_t used = 0;
	for (size_t i = 0; i < n && i < SHORT_VECTORS; i++) {
		ret[used] = vectors[i];
		if (ret[used].iov_len >= size) {
			ret[used].iov_len = size;
			return used + 1;
		}
		size -= ret[used++].iov_len;
	}
	return used;
}

/* ---- reading ---- */

/* SO_RCVLOWAT: this many arrive together, if available. */
static bool short_together(int fd)
{
	int least = 1;
	socklen_t size = sizeof(least);
	sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVLOWAT, (long)&least,
		 (long)&size, 0);
	return least > 1;
}

/*
 * Streams keep no boundaries, and data may come in any pieces. A pipe gives
 * less than is asked for only where less is there, and what was written in one
 * piece of up to PIPE_BUF bytes came as one: its first PIPE_BUF bytes come
 * together.
 */
size_t short_read(enum wire_model model, int fd, size_t n, bool dontwait)
{
	struct short_call call = { model, fd, n, 1, false, "read" };
	if (n < 2 || n > SSIZE_MAX)
		return n;
	enum short_kind kind = short_kind(fd);
	if (kind == SHORT_NEVER)
		return n;
	size_t there = short_available(fd);
	if (kind == SHORT_PIPE ? there <= PIPE_BUF || there >= n
			       : short_together(fd))
		return n;
	if (kind == SHORT_PIPE)
		call.least = PIPE_BUF;
	if (!there) {
		/* It is not known yet how much will come. */
		if (dontwait || short_nonblocking(fd))
			return n;
		call.one = true;
	} else if (there < n) {
		call.n = there;
	}
	size_t size = short_size(call);
	return size == call.n ? n : size;
}

/* A pipe gives less than is there: only where one asks for it. */
static size_t short_pipe(int fd, size_t n)
{
	if (n < 2 || n > SSIZE_MAX || short_kind(fd) != SHORT_PIPE)
		return n;
	struct short_call call = {
		WIRE_MODEL_read_pipe, fd, short_available(fd), 1, false, "read",
	};
	if (call.n > n)
		call.n = n;
	size_t size = call.n < 2 ? call.n : short_size(call);
	return size == call.n ? n : size;
}

/*
 * A timer that was not read in time has expired more often than once. Waiting is
 * enough for that: the kernel counts.
 */
static void read_late(int fd)
{
	struct itimerspec left;
	if (sys_call(SYS_timerfd_gettime, fd, (long)&left, 0, 0, 0, 0))
		return;
	long interval = left.it_interval.tv_nsec, value = left.it_value.tv_nsec;
	if (left.it_interval.tv_sec || !interval || interval > 10 * 1000000 ||
	    left.it_value.tv_sec || value > 10 * 1000000)
		return;
	uint64_t equal = choose_mix(WIRE_MODEL_timerfd, (uint64_t)interval);
	struct choose_keys keys = {
		.equal = equal,
		.object = choose_mix(equal, (uint64_t)fd),
	};
	if (!choose_pick(WIRE_MODEL_timerfd, 2, keys))
		return;
	choose_argument("timer of descriptor %d", fd);
	choose_did("was read after two more expirations");
	struct timespec pause = {
		.tv_nsec = value + 2 * interval,
	};
	sys_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

static size_t short_read_size(int fd, size_t n, uintptr_t caller)
{
	if (choose_wanted(WIRE_MODEL_read, caller))
		n = short_read(WIRE_MODEL_read, fd, n, false);
	if (choose_wanted(WIRE_MODEL_read_pipe, caller))
		n = short_pipe(fd, n);
	if (n == sizeof(uint64_t) && choose_wanted(WIRE_MODEL_timerfd, caller))
		read_late(fd);
	return n;
}

_export_ ssize_t read(int fd, void *data, size_t n)
{
	CHOOSE_NEXT(read, -1)
	return next(fd, data, short_read_size(fd, n, CHOOSE_CALLER()));
}

ssize_t __read_chk(int fd, void *data, size_t n, size_t room);
_export_ ssize_t __read_chk(int fd, void *data, size_t n, size_t room)
{
	CHOOSE_NEXT(__read_chk, -1)
	if (n <= room)
		n = short_read_size(fd, n, CHOOSE_CALLER());
	return next(fd, data, n, room);
}

_export_ ssize_t readv(int fd, const struct iovec *vectors, int n)
{
	CHOOSE_NEXT(readv, -1)
	struct iovec less[SHORT_VECTORS];
	if (n > 0 && choose_wanted(WIRE_MODEL_readv, CHOOSE_CALLER())) {
		size_t total = short_total(vectors, (size_t)n);
		size_t size = short_read(WIRE_MODEL_readv, fd, total, false);
		if (size < total) {
			n = (int)short_vectors(vectors, (size_t)n, size, less);
			vectors = less;
		}
	}
	return next(fd, vectors, n);
}

/* Other flags change what is promised: MSG_WAITALL, MSG_PEEK, … */
#define PLAIN_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)

static size_t receive_size(enum wire_model model, int fd, size_t n, int flags)
{
	if (flags & ~PLAIN_FLAGS)
		return n;
	return short_read(model, fd, n, flags & MSG_DONTWAIT);
}

_export_ ssize_t recv(int fd, void *data, size_t n, int flags)
{
	CHOOSE_NEXT(recv, -1)
	if (choose_wanted(WIRE_MODEL_recv_timeout, CHOOSE_CALLER()) &&
	    short_interrupted(fd, flags))
		return -1;
	if (choose_wanted(WIRE_MODEL_recv, CHOOSE_CALLER()))
		n = receive_size(WIRE_MODEL_recv, fd, n, flags);
	return next(fd, data, n, flags);
}

ssize_t __recv_chk(int fd, void *data, size_t n, size_t room, int flags);
_export_ ssize_t __recv_chk(int fd, void *data, size_t n, size_t room,
			    int flags)
{
	CHOOSE_NEXT(__recv_chk, -1)
	if (choose_wanted(WIRE_MODEL_recv_timeout, CHOOSE_CALLER()) &&
	    short_interrupted(fd, flags))
		return -1;
	if (n <= room && choose_wanted(WIRE_MODEL_recv, CHOOSE_CALLER()))
		n = receive_size(WIRE_MODEL_recv, fd, n, flags);
	return next(fd, data, n, room, flags);
}

_export_ ssize_t recvfrom(int fd, void *data, size_t n, int flags,
			  struct sockaddr *from, socklen_t *from_size)
{
	CHOOSE_NEXT(recvfrom, -1)
	if (choose_wanted(WIRE_MODEL_recvfrom, CHOOSE_CALLER()))
		n = receive_size(WIRE_MODEL_recvfrom, fd, n, flags);
	return next(fd, data, n, flags, from, from_size);
}

ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t room, int flags,
		       struct sockaddr *from, socklen_t *from_size);
_export_ ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t room,
				int flags, struct sockaddr *from,
				socklen_t *from_size)
{
	CHOOSE_NEXT(__recvfrom_chk, -1)
	if (n <= room && choose_wanted(WIRE_MODEL_recvfrom, CHOOSE_CALLER()))
		n = receive_size(WIRE_MODEL_recvfrom, fd, n, flags);
	return next(fd, data, n, room, flags, from, from_size);
}

/*
 * The header is the program's, and results are written to it: it gets other
 * vectors for the time of the call.
 */
_export_ ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	CHOOSE_NEXT(recvmsg, -1)
	struct iovec less[SHORT_VECTORS];
	if (!choose_wanted(WIRE_MODEL_recvmsg, CHOOSE_CALLER()) ||
	    !sys_readable((uintptr_t)message) ||
	    !sys_readable((uintptr_t)(message + 1) - 8))
		return next(fd, message, flags);
	size_t total = short_total(message->msg_iov, message->msg_iovlen);
	size_t size = receive_size(WIRE_MODEL_recvmsg, fd, total, flags);
	if (size >= total)
		return next(fd, message, flags);
	struct msghdr header = *message;
	header.msg_iov = less;
	header.msg_iovlen = short_vectors(message->msg_iov, message->msg_iovlen,
					  size, less);
	ssize_t got = next(fd, &header, flags);
	if (got >= 0) {
		message->msg_namelen = header.msg_namelen;
		message->msg_controllen = header.msg_controllen;
		message->msg_flags = header.msg_flags;
	}
	return got;
}
