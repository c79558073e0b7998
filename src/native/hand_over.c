#include "native/hand_over.h"

#include <signal.h>

#include "native/framework.h"
#include "native/session.h"
#include "tracee/hand_over.h"

struct err *run_continue(struct run *run, struct tracee_event *ret)
{
	const struct suite *suite = &run->session->suite;
	if (!suite->hand_over || !run->in_test || run->next < run->n)
		return tracee_continue(run->tracee, run->deadline, ret);
	const struct framework *framework = run->session->framework;
	if (framework->answered)
		return err_hint(
			err_create(ERR_USAGE,
				   "tests of %s need their runner while "
				   "they run, so no debugger can take "
				   "them over",
				   framework->own.title),
			"run the test with the framework's own option "
			"for a debugger (--debug)");
	if (framework->before_hand_over)
		TRY(framework->before_hand_over(run));
	pid_t pid = tracee_pid(run->tracee);
	tracer_tick(false);
	struct err *err = tracee_hand_over(run->tracee);
	if (!err)
		err = suite->hand_over(suite->hand_over_data, pid,
				       framework->body_method);
	kill(pid, SIGKILL);
	*ret = (struct tracee_event){ .kind = TRACEE_KILLED,
				      .signal = SIGKILL };
	return err;
}
