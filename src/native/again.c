#include "native/again.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "native/arguments.h"
#include "native/between.h"
#include "native/framework.h"
#include "native/parallel.h"
#include "native/saving.h"
#include "nest/descendants.h"
#include "watch/file_guard.h"

struct err *again_fork(struct session *session, struct again *ret,
		       bool *ret_new)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_errno(errno, "cannot make a socket pair");
	tracer_unpin(session->tracer); /* it inherits processors */
	pid_t controller = getpid();
	pid_t pid = fork();
	if (pid < 0) {
		int number = errno;
		close(ends[0]);
		close(ends[1]);
		return err_errno(number, "cannot fork");
	}
	*ret_new = !pid;
	if (!pid) {
		close(ends[0]);
		/* They are to notice when the controller is gone. */
		parallel_close(session);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != controller)
			_exit(0);
		*ret = (struct again){ .fd = ends[1] };
		return NULL;
	}
	close(ends[1]);
	descendants_spare_child(pid);
	*ret = (struct again){ pid, ends[0] };
	return NULL;
}

void again_stop(struct again *again)
{
	closep(&again->fd);
	/* Unless it was reaped already. */
	if (again->pid && waitpid(again->pid, NULL, __WALL | WNOHANG))
		again->pid = 0;
	else if (again->pid)
		kill(again->pid, SIGTERM);
}

void again_reap(const struct again *again)
{
	while (again->pid && waitpid(again->pid, NULL, __WALL) < 0 &&
	       errno == EINTR)
		;
}

struct err *again_open(const struct session *session,
		       const struct file_guard_refusal *refusal,
		       struct suite **ret)
{
	struct suite_options options = session->suite.options;
	options.jobs = 1;
	options.framework = session->framework->name;
	_cleanup_(suite_closep) struct suite *suite = NULL;
	size_t tests = session->suite.tests.n;
	*ret = NULL;
	TRY(session_open(&options, session->frameworks, refusal, &suite));
	if (suite_touched_file(suite, 0) || suite_unrestored(suite, 0))
		return NULL;
	if (suite_count(suite) != tests)
		return err_create(ERR_SUITE,
				  "started again, the program has %zu tests "
				  "instead of %zu",
				  suite_count(suite), tests);
	TRY(between_take_over((struct session *)suite, session));
	TRY(arguments_take_over((struct session *)suite, session));
	*ret = take_ptr(suite);
	return NULL;
}

/* ---- work beside ---- */

struct suite_beside {
	struct again again;
};

/* What it was to find out is for the caller to find out, then. */
static void again_refused(void *data)
{
	(void)data;
	suite_interrupt();
}

static void _noreturn_ again_work(const struct session *session, int fd,
				  suite_work *work, void *data)
{
	const struct file_guard_refusal refusal = { again_refused, NULL };
	struct suite *suite = NULL;
	struct err *err = again_open(session, &refusal, &suite);
	if (!err && suite)
		err = work(data, suite, fd);
	if (err)
		log_debug(LOG_NATIVE, "beside: %s", err_message(err));
	err_ignore(err);
	suite_close(suite);
	_exit(0);
}

struct err *again_beside_start(struct suite *suite, suite_work *work,
			       void *data, struct suite_beside **ret)
{
	struct session *session = (struct session *)suite;
	bool new;
	*ret = NULL;
	if (saving_shares_files(session) || session->tests_forked)
		return NULL;
	_cleanup_(freep) struct suite_beside *beside =
		calloc(1, sizeof(*beside));
	if (!beside)
		return err_nomem();
	TRY(again_fork(session, &beside->again, &new));
	if (new)
		again_work(session, beside->again.fd, work, data);
	*ret = take_ptr(beside);
	return NULL;
}

int again_beside_socket(const struct suite_beside *beside)
{
	return beside->again.fd;
}

void again_beside_end(struct suite_beside *beside)
{
	again_stop(&beside->again);
	again_reap(&beside->again);
	free(beside);
}
