#include "framework/stand_in.h"

#include "tracee/memory.h"

struct stand_in stand_in_replace(const struct run *run,
				 const struct stand_in_stubs *stubs,
				 uint64_t *setup, uint64_t *body,
				 uint64_t *teardown)
{
	struct stand_in test = {
		.begin = *setup ? *setup : *body,
		.body = *body,
		.teardown = *teardown,
	};
	if (*setup && *body && run_point_wanted(run, SUITE_AFTER_SETUP))
		*body = stubs->body;
	if (*teardown && run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		*teardown = stubs->teardown;
	*(*setup ? setup : body) = stubs->begin;
	return test;
}

struct err *stand_in_read(struct run *run, uint64_t address,
			  struct stand_in *ret)
{
	return memory_read(run->tracee, RADDR(address), ret, sizeof(*ret));
}

struct err *stand_in_begun(struct run *run, const struct stand_in *test)
{
	return test->begin == test->body ? run_point(run, SUITE_AFTER_SETUP)
					 : NULL;
}

struct err *stand_in_point(struct run *run, struct thread *thread,
			   const struct stand_in *test, enum suite_point point)
{
	calls_instead(thread,
		      RADDR(point == SUITE_AFTER_SETUP ? test->body
						       : test->teardown));
	return run_point(run, point);
}
