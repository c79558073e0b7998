/*
 * The filter in a child that is about to execute a program: it installs it in
 * itself and hands the listener to its parent.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "follow/follow_internal.h"

struct err *follow_prepare(const struct follow_options *options,
			   struct follow **ret)
{
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	TRY(follow_create(options, &follow));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		       follow->ends) < 0)
		return err_errno(errno, "cannot make a socket pair");
	*ret = take_ptr(follow);
	return NULL;
}

/* As child_install_filter() of attach.c. */
static int child_install_filter(const struct follow *follow)
{
	struct sock_fprog program = {
		.len = follow->filter.n,
		.filter = (struct sock_filter *)follow->filter.code,
	};
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	bool privileges_given_up = false;
	for (;;) {
		int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				      flags, &program);
		if (fd >= 0)
			return fd;
		if (errno == EINVAL &&
		    flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
			flags &= ~SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
		else if (errno == EACCES && !privileges_given_up &&
			 prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
			privileges_given_up = true;
		else
			return -errno;
	}
}

/* One message: an error number, or 0 with a descriptor. */
union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

void follow_child(struct follow *follow)
{
	int saved = errno;
	union control control = {};
	int fd = child_install_filter(follow);
	int number = fd < 0 ? -fd : 0;
	struct iovec vector = { &number, sizeof(number) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	while (sendmsg(follow->ends[1], &message, MSG_NOSIGNAL) < 0 &&
	       errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	close(follow->ends[0]);
	close(follow->ends[1]);
	errno = saved;
}

struct err *follow_begin(struct follow *follow)
{
	union control control = {};
	int number = 0, fd = -1;
	struct iovec vector = { &number, sizeof(number) };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space),
	};
	close(take_fd(follow->ends[1]));
	TRY(follow_start(follow));
	ssize_t got;
	do
		got = recvmsg(follow->ends[0], &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(errno, "cannot follow the command");
	if (got != sizeof(number))
		return err_create(ERR_INTERNAL,
				  "the command ended before it was followed");
	if (number)
		return err_errno(number,
				 "the command cannot be given a system call "
				 "filter");
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(fd)))
		return err_create(ERR_INTERNAL,
				  "the command's listener did not arrive");
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	follow_go(follow, fd);
	return NULL;
}
