#include "tracee/hand_over.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "tracee/remote.h"
#include "tracee/tracee_internal.h"

#define STOP_NS (5 * NS_PER_S)
#define STAT_MAX ((size_t)4096)

/* PR_SET_PTRACER fails where there is no Yama, and nobody needs it then. */
static void permit_everybody(struct thread *thread)
{
	const uint64_t args[6] = { PR_SET_PTRACER,
				   (uint64_t)PR_SET_PTRACER_ANY };
	int64_t answer = 0;
	err_ignore(remote_syscall(thread, SYS_prctl, args, &answer));
}

/* proc(5): the state is the letter after the name in brackets. */
static bool is_stopped(pid_t pid)
{
	_cleanup_(freep) char *text = NULL;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	struct err *err = file_read(path, STAT_MAX, &text, NULL);
	if (err) {
		err_destroy(err);
		return false;
	}
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'T';
}

static struct err *wait_until_stopped(pid_t pid)
{
	uint64_t until = clock_now() + STOP_NS;
	while (!is_stopped(pid)) {
		if (clock_now() > until)
			return err_create(ERR_INTERNAL,
					  "process %d does not stop", (int)pid);
		usleep(1000);
	}
	return NULL;
}

struct err *tracee_hand_over(struct tracee *tracee)
{
	TRY(tracee_stop_all(tracee));
	permit_everybody(tracee->threads.data[0]);
	processors_release(tracee);
	tracee->overlays_kept = true;
	TRY(breakpoint_clean(tracee, tracee->pid));
	/* It is delivered before anything of the program runs again. */
	if (kill(tracee->pid, SIGSTOP) < 0)
		return err_errno(errno, "cannot stop process %d",
				 (int)tracee->pid);
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		TRY(thread_store(thread));
		if (ptrace(PTRACE_DETACH, thread->tid, 0, 0) < 0)
			return err_errno(errno, "cannot let go of thread %d",
					 (int)thread->tid);
	}
	tracee->gone = true;
	log_debug(LOG_TRACEE, "process %d was given away", (int)tracee->pid);
	return wait_until_stopped(tracee->pid);
}
