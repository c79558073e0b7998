/* Models of calls that may do less than they are asked for: writing, moving. */
/* sendfile() and sendfile64() are two symbols here. */
#undef _FILE_OFFSET_BITS
#include "models/short_internal.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- writing ---- */

/*
 * A blocking pipe takes all; one that does not block takes up to PIPE_BUF bytes
 * in one piece. A stream that blocks takes all on Linux, unless a handled
 * signal interrupts it; POSIX does not say so: at FULL only.
 */
size_t short_write(enum wire_model model, int fd, size_t n, bool dontwait)
{
	struct short_call call = { model, fd, n, 1, false, "wrote" };
	if (n < 2 || n > SSIZE_MAX)
		return n;
	enum short_kind kind = short_kind(fd);
	if (kind == SHORT_NEVER || (kind == SHORT_PIPE && n <= PIPE_BUF))
		return n;
	bool partly = kind == SHORT_STREAM &&
		      (dontwait || choose_block->level == WIRE_FULL);
	return partly || short_nonblocking(fd) ? short_size(call) : n;
}

_export_ ssize_t write(int fd, const void *data, size_t n)
{
	CHOOSE_NEXT(write, -1)
	if (choose_wanted(WIRE_MODEL_write, CHOOSE_CALLER()))
		n = short_write(WIRE_MODEL_write, fd, n, false);
	return next(fd, data, n);
}

_export_ ssize_t writev(int fd, const struct iovec *vectors, int n)
{
	CHOOSE_NEXT(writev, -1)
	struct iovec less[SHORT_VECTORS];
	if (n > 0 && choose_wanted(WIRE_MODEL_writev, CHOOSE_CALLER())) {
		size_t total = short_total(vectors, (size_t)n);
		size_t size = short_write(WIRE_MODEL_writev, fd, total, false);
		if (size < total) {
			n = (int)short_vectors(vectors, (size_t)n, size, less);
			vectors = less;
		}
	}
	return next(fd, vectors, n);
}

#define PLAIN_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)

static size_t send_size(enum wire_model model, int fd, size_t n, int flags)
{
	return flags & ~PLAIN_FLAGS
		       ? n
		       : short_write(model, fd, n, flags & MSG_DONTWAIT);
}

_export_ ssize_t send(int fd, const void *data, size_t n, int flags)
{
	CHOOSE_NEXT(send, -1)
	if (choose_wanted(WIRE_MODEL_send, CHOOSE_CALLER()))
		n = send_size(WIRE_MODEL_send, fd, n, flags);
	return next(fd, data, n, flags);
}

_export_ ssize_t sendto(int fd, const void *data, size_t n, int flags,
			const struct sockaddr *to, socklen_t to_size)
{
	CHOOSE_NEXT(sendto, -1)
	if (choose_wanted(WIRE_MODEL_sendto, CHOOSE_CALLER()))
		n = send_size(WIRE_MODEL_sendto, fd, n, flags);
	return next(fd, data, n, flags, to, to_size);
}

/* What is attached goes with the first byte. */
_export_ ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	CHOOSE_NEXT(sendmsg, -1)
	struct iovec less[SHORT_VECTORS];
	if (!choose_wanted(WIRE_MODEL_sendmsg, CHOOSE_CALLER()) ||
	    !sys_readable((uintptr_t)message) ||
	    !sys_readable((uintptr_t)(message + 1) - 8))
		return next(fd, message, flags);
	size_t total = short_total(message->msg_iov, message->msg_iovlen);
	size_t size = send_size(WIRE_MODEL_sendmsg, fd, total, flags);
	if (size >= total)
		return next(fd, message, flags);
	struct msghdr header = *message;
	header.msg_iov = less;
	header.msg_iovlen = short_vectors(message->msg_iov, message->msg_iovlen,
					  size, less);
	return next(fd, &header, flags);
}

/* ---- moving ---- */

/*
 * How much there is to move of @n bytes: the rest of a file from @offset (NULL:
 * from its own) on, or what a pipe has. 0: unknown.
 */
static size_t there_of(int fd, const off64_t *offset, size_t n)
{
	struct stat about;
	if (sys_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0))
		return 0;
	if (S_ISFIFO(about.st_mode)) {
		size_t there = short_available(fd);
		return there < n ? there : n;
	}
	if (!S_ISREG(about.st_mode) ||
	    (offset && !sys_readable((uintptr_t)offset)))
		return 0;
	off64_t at = offset ? *offset
			    : sys_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
	if (at < 0 || at >= about.st_size)
		return 0;
	size_t left = (size_t)(about.st_size - at);
	return left < n ? left : n;
}

static size_t move_size(enum wire_model model, int fd, const off64_t *offset,
			size_t n)
{
	size_t there = there_of(fd, offset, n);
	struct short_call call = { model, fd, there, 1, false, "moved" };
	size_t size = there < 2 ? there : short_size(call);
	return size == there ? n : size;
}

_export_ ssize_t sendfile(int to, int from, off_t *offset, size_t n)
{
	CHOOSE_NEXT(sendfile, -1)
	if (choose_wanted(WIRE_MODEL_sendfile, CHOOSE_CALLER()))
		n = move_size(WIRE_MODEL_sendfile, from, offset, n);
	return next(to, from, offset, n);
}

_export_ ssize_t sendfile64(int to, int from, off64_t *offset, size_t n)
{
	CHOOSE_NEXT(sendfile64, -1)
	if (choose_wanted(WIRE_MODEL_sendfile, CHOOSE_CALLER()))
		n = move_size(WIRE_MODEL_sendfile, from, offset, n);
	return next(to, from, offset, n);
}

_export_ ssize_t copy_file_range(int from, off64_t *from_offset, int to,
				 off64_t *to_offset, size_t n, unsigned flags)
{
	CHOOSE_NEXT(copy_file_range, -1)
	if (choose_wanted(WIRE_MODEL_copy_file_range, CHOOSE_CALLER()))
		n = move_size(WIRE_MODEL_copy_file_range, from, from_offset, n);
	return next(from, from_offset, to, to_offset, n, flags);
}

_export_ ssize_t splice(int from, off64_t *from_offset, int to,
			off64_t *to_offset, size_t n, unsigned flags)
{
	CHOOSE_NEXT(splice, -1)
	if (choose_wanted(WIRE_MODEL_splice, CHOOSE_CALLER()))
		n = move_size(WIRE_MODEL_splice, from, from_offset, n);
	return next(from, from_offset, to, to_offset, n, flags);
}

_export_ ssize_t tee(int from, int to, size_t n, unsigned flags)
{
	CHOOSE_NEXT(tee, -1)
	if (choose_wanted(WIRE_MODEL_tee, CHOOSE_CALLER()))
		n = move_size(WIRE_MODEL_tee, from, NULL, n);
	return next(from, to, n, flags);
}
