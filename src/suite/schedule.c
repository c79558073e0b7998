#include "suite/schedule.h"

#include "suite/kind.h"

void suite_moment_free(struct suite_moment *moment)
{
	for (size_t i = 0; i < moment->stack.n; i++) {
		free(moment->stack.data[i].function);
		free(moment->stack.data[i].file);
	}
	vec_free(&moment->stack);
	free(moment->key);
	free(moment->file);
	*moment = (struct suite_moment){};
}

void suite_trace_free(struct suite_trace *trace)
{
	for (size_t i = 0; i < trace->moments.n; i++)
		suite_moment_free(&trace->moments.data[i]);
	vec_free(&trace->moments);
	*trace = (struct suite_trace){};
}

bool suite_has_schedules(const struct suite *suite)
{
	return suite->ops->run_schedule;
}

struct err *suite_run_schedule(struct suite *suite, size_t test,
			       const struct suite_schedule *schedule,
			       const struct suite_observer *observer,
			       struct suite_trace *ret)
{
	if (!suite->ops->run_schedule)
		return err_create(ERR_USAGE,
				  "tests of %s suites are processes, whose "
				  "threads are not scheduled",
				  suite->framework);
	BUG_ON(!suite->options.schedules);
	return suite->ops->run_schedule(suite, test, schedule, observer, ret);
}
