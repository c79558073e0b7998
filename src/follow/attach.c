/*
 * The filter in a process that runs already: it installs it itself, by remote
 * system calls, and the listener is taken over from it.
 *
 * Everything that can fail on our side is done before: a filter cannot be
 * removed again, and one whose listener nobody has makes calls fail.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "follow/follow_internal.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

/* The program as it lies in the tested process for a moment. */
struct filter_image {
	struct sock_fprog header;
	struct sock_filter code[FILTER_MAX];
};

static bool syscall_was_refused(int64_t answer, int number)
{
	return answer == -(int64_t)number;
}

static struct err *attach_install_filter(struct thread *thread,
					 struct raddr image, int64_t *ret)
{
	uint64_t flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			 SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	if (tracee_threads(thread->tracee) > 1)
		flags |= SECCOMP_FILTER_FLAG_TSYNC |
			 SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
	bool privileges_given_up = false;
	for (;;) {
		const uint64_t args[6] = { SECCOMP_SET_MODE_FILTER, flags,
					   image.v };
		int64_t got;
		TRY(remote_syscall(thread, SYS_seccomp, args, &got));
		if (syscall_was_refused(got, EINVAL) &&
		    flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
			log_debug(LOG_FOLLOW,
				  "a signal can take back a call that waits "
				  "(before Linux 5.19)");
			flags &= ~(
				uint64_t)SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
			continue;
		}
		if (syscall_was_refused(got, EACCES) && !privileges_given_up) {
			const uint64_t give_up[6] = { PR_SET_NO_NEW_PRIVS, 1 };
			privileges_given_up = true;
			log_debug(LOG_FOLLOW,
				  "without privileges: the process gives up "
				  "gaining new ones (no_new_privs)");
			TRY(remote_syscall(thread, SYS_prctl, give_up, &got));
			if (got == 0)
				continue;
		}
		if (got < 0)
			return err_errno((int)-got,
					 "the tested process cannot be given a "
					 "system call filter");
		checkpoint_allow_filters(thread->tracee);
		*ret = got;
		return NULL;
	}
}

static struct err *close_there(struct thread *thread, int64_t fd)
{
	const uint64_t args[6] = { (uint64_t)fd };
	int64_t got;
	return remote_syscall(thread, SYS_close, args, &got);
}

/* Installs it and takes the listener; *@ret stays -1 where nothing was installed. */
static struct err *take_listener(struct thread *thread, struct raddr image,
				 int pidfd, int *ret)
{
	/* A number of ours, so that there is one left afterwards. */
	_cleanup_(closep) int reserved = dup(pidfd);
	if (reserved < 0)
		return err_errno(errno, "cannot take over the listener");
	int64_t there = -1;
	TRY(attach_install_filter(thread, image, &there));
	close(take_fd(reserved));
	*ret = (int)syscall(SYS_pidfd_getfd, pidfd, (int)there, 0);
	int number = errno;
	TRY(close_there(thread, there));
	if (*ret < 0)
		return err_errno(number, "cannot take over the listener");
	return NULL;
}

/* Does the process have the same root as we, now? */
static bool shares_root(pid_t pid)
{
	char path[64], own[64] = "", theirs[64] = "";
	struct stat a, b;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (stat("/", &a) < 0 || stat(path, &b) < 0 || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return readlink("/proc/self/ns/mnt", own, sizeof(own) - 1) > 0 &&
	       readlink(path, theirs, sizeof(theirs) - 1) > 0 &&
	       !strcmp(own, theirs);
}

/* Tracer and tracee may be on one processor for now (tracee/processors.c). */
static void take_processors(struct follow *follow, struct tracee *tracee)
{
	cpu_set_t cpus;
	if (tracee_pinned(tracee, &cpus) ||
	    sched_getaffinity(tracee_pid(tracee), sizeof(cpus), &cpus) == 0)
		CPU_OR(&follow->all, &follow->all, &cpus);
}

/* Rings that were set up before anybody looked. */
static bool has_rings(pid_t pid)
{
	char path[64], target[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *folder = opendir(path);
	bool found = false;
	for (const struct dirent *entry;
	     folder && !found && (entry = readdir(folder));) {
		ssize_t n = readlinkat(dirfd(folder), entry->d_name, target,
				       sizeof(target) - 1);
		target[MAX(n, 0)] = '\0';
		found = !strcmp(target, "anon_inode:[io_uring]");
	}
	if (folder)
		closedir(folder);
	return found;
}

struct err *follow_attach(struct thread *thread,
			  const struct follow_options *options,
			  struct follow **ret)
{
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	pid_t pid = tracee_pid(thread->tracee);
	TRY(follow_create(options, &follow));
	_cleanup_(closep) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return err_errno(errno, "cannot follow process %d", pid);
	/* Are we allowed to take descriptors at all? There is no such one. */
	if (syscall(SYS_pidfd_getfd, pidfd, INT_MAX, 0) < 0 && errno != EBADF)
		return err_errno(errno, "cannot take descriptors of process %d",
				 pid);
	follow->names.careful = !shares_root(pid);
	if (follow->names.careful)
		log_debug(LOG_FOLLOW,
			  "process %d has another root or mount namespace: "
			  "its names are looked up from there",
			  pid);
	take_processors(follow, thread->tracee);
	if (options->flags & FOLLOW_FILES && has_rings(pid))
		atomic_fetch_or(&follow->unseen, FOLLOW_RINGS);
	TRY(follow_start(follow));

	struct raddr address;
	_cleanup_(freep) struct filter_image *image = calloc(1, sizeof(*image));
	if (!image)
		return err_nomem();
	TRY(remote_map(thread, sizeof(*image), &address));
	image->header.len = follow->filter.n;
	image->header.filter =
		(struct sock_filter *)(uintptr_t)(address.v +
						  offsetof(struct filter_image,
							   code));
	memcpy(image->code, follow->filter.code, sizeof(image->code));
	int listener = -1;
	struct err *err =
		memory_write(thread->tracee, address, image, sizeof(*image));
	if (!err)
		err = take_listener(thread, address, pidfd, &listener);
	/* From here on somebody answers, whatever happens. */
	if (listener >= 0)
		follow_go(follow, listener);
	struct err *unmapped = remote_unmap(thread, address, sizeof(*image));
	if (err) {
		err_ignore(unmapped);
		return err;
	}
	TRY(unmapped);
	tracee_remake_calls(thread->tracee, follow_again);
	log_debug(LOG_FOLLOW, "process %d is followed", pid);
	*ret = take_ptr(follow);
	return NULL;
}
