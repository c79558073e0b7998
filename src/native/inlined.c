#include "native/inlined.h"

#include "base/log.h"
#include "dwarf/frames.h"
#include "native/framework.h"
#include "native/session.h"
#include "native/verdict.h"

size_t inlined_tests(struct session *session)
{
	const struct program *program = session->program;
	if (session->counted_inlined || !session->framework->flows)
		return session->inlined;
	session->counted_inlined = true;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		if (module->object && !module->system && module->end)
			session->inlined += object_count_inlined(
				module->object,
				session_test_functions(session));
	}
	return session->inlined;
}

struct inlined_search {
	const struct session *session;
	const char *name; /* of debug information */
};

/* The innermost one: what is inlined into it, and what it calls, is part of it. */
static bool inlined_visit_frame(void *data, const struct frame *frame)
{
	struct inlined_search *search = data;
	const struct module *module =
		program_module(search->session->program, RADDR(frame->pc));
	if (module && module->object && !module->system)
		search->name = object_inlined_at(
			module->object, frame->code - module->bias,
			session_test_functions(search->session));
	return !search->name;
}

bool inlined_is_blamed(struct run *run, pid_t tid, const char *what)
{
	struct session *session = run->session;
	struct inlined_search search = { .session = session };
	if (!run->deferred || !inlined_tests(session))
		return false;
	struct err *err = frames_walk(tracee_pid(run->tracee), tid,
				      inlined_visit_frame, &search);
	err_ignore(err);
	if (!search.name)
		return false;
	log_debug(LOG_NATIVE, "'%s', which was inlined, %s after '%s'",
		  search.name, what, run_name(run, run->current));
	if (!session->told_blamed)
		suite_limit(session->observer,
			    "'%s' was inlined into the runner and %s in some "
			    "orders, which is held against no other test: "
			    "build with -fno-inline",
			    search.name, what);
	session->told_blamed = true;
	return true;
}

bool inlined_may_have_failed(struct session *session)
{
	return verdict_is_known(session) && inlined_tests(session);
}

bool inlined_explains_status(struct run *run)
{
	struct session *session = run->session;
	if (!inlined_may_have_failed(session))
		return false;
	if (!session->told_blamed)
		suite_limit(session->observer,
			    "the program ended with %s in some orders although "
			    "no test failed: one that was inlined into the "
			    "runner may have; build with -fno-inline",
			    run_end_text(run));
	session->told_blamed = true;
	return true;
}
