#include "framework/fixture.h"

#include "tracee/memory.h"

/* A vtable of a framework's class has no more of interest. */
#define SLOTS_MAX 16

bool fixture_wanted(const struct run *run)
{
	return run_point_wanted(run, SUITE_AFTER_SETUP) ||
	       run_point_wanted(run, SUITE_BEFORE_TEARDOWN);
}

/* Each copy of a process has a state of its own: @arg is the offset in it. */
static struct err *fixture_on_step(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	return fixture_step(run, thread,
			    (struct fixture *)((char *)run->state + arg));
}

struct err *fixture_watch(struct run *run, const struct fixture *fixture,
			  run_hook *hook)
{
	uint64_t arg =
		(uint64_t)((const char *)fixture - (const char *)run->state);
	if (!hook)
		hook = fixture_on_step;
	if (fixture->body.v && run_point_wanted(run, SUITE_AFTER_SETUP))
		TRY(run_break(run, fixture->body, hook, arg));
	if (fixture->teardown.v && run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		TRY(run_break(run, fixture->teardown, hook, arg));
	return NULL;
}

struct err *fixture_step(struct run *run, const struct thread *thread,
			 struct fixture *fixture)
{
	struct raddr pc = regs_pc(&thread->regs);
	if (fixture->object && thread_arg(thread, 0) != fixture->object)
		return NULL;
	if (raddr_eq(pc, fixture->setup) && !fixture->set_up) {
		fixture->set_up = true;
		return NULL;
	}
	if (raddr_eq(pc, fixture->body) && run->point < SUITE_AFTER_SETUP)
		return run_point(run, SUITE_AFTER_SETUP);
	if (raddr_eq(pc, fixture->teardown))
		return run_point(run, SUITE_BEFORE_TEARDOWN);
	return NULL;
}

struct err *fixture_of_object(struct run *run, uint64_t object,
			      uint64_t setup_slot, struct fixture *ret)
{
	uint64_t vtable, functions[3];
	*ret = (struct fixture){};
	/* It may be something else, or damaged by the test: ignored. */
	if (memory_read_some(run->tracee, RADDR(object), &vtable,
			     sizeof(vtable)) != sizeof(vtable) ||
	    memory_read_some(run->tracee, RADDR(vtable + setup_slot * 8),
			     functions, sizeof(functions)) != sizeof(functions))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!program_module(run->program, RADDR(functions[i])))
			return NULL;
	}
	*ret = (struct fixture){
		.object = object,
		.setup = RADDR(functions[0]),
		.teardown = RADDR(functions[1]),
		.body = RADDR(functions[2]),
	};
	return NULL;
}

uint64_t fixture_slot(struct run *run, const char *vtable, const char *function,
		      uint64_t fallback)
{
	struct raddr at, wanted;
	uint64_t slots[SLOTS_MAX];
	if (!program_symbol(run->program, vtable, &at) ||
	    !program_symbol(run->program, function, &wanted))
		return fallback;
	/* Before the slots: offset to top, type information. */
	size_t n = memory_read_some(run->tracee, raddr_add(at, 16), slots,
				    sizeof(slots)) /
		   sizeof(*slots);
	for (size_t i = 0; i < n; i++) {
		if (slots[i] == wanted.v)
			return i;
	}
	return fallback;
}
