/* What is kept of a run under a schedule, and how its parts are known again. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "native/scheduler_internal.h"
#include "native/unwind_thread.h"
#include "tracee/memory.h"

#define MOMENTS_MAX ((size_t)4096)
/* Times that the same statement is kept. */
#define AGAIN_MAX 3
#define STATEMENTS_MAX ((size_t)2000)
/* Lines of a test after which no other begins in its file. */
#define LINES_MAX 400
#define SCHEDULE_STACK_BYTES ((size_t)16 << 10)
#define SCHEDULE_FRAMES ((size_t)8)

void scheduler_free(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->threads.n; i++)
		free(scheduler->threads.data[i].group);
	vec_free(&scheduler->threads);
	vec_free(&scheduler->statements);
	for (size_t i = 0; i < scheduler->timers.n; i++)
		suite_moment_free(&scheduler->timers.data[i].moment);
	vec_free(&scheduler->timers);
	map_u64_free(&scheduler->by_address);
	map_text_free(&scheduler->counts);
}

struct sched_thread *scheduler_find(struct scheduler *scheduler, pid_t tid)
{
	/* Numbers are given again: the last one counts. */
	for (size_t i = scheduler->threads.n; i-- > 0;) {
		if (scheduler->threads.data[i].tid == tid)
			return &scheduler->threads.data[i];
	}
	return NULL;
}

/* ---- stacks ---- */

static struct err *scheduler_unwind(struct run *run,
				    const struct thread *thread,
				    struct unwind_frames *ret)
{
	const struct program *program = run->program;
	_cleanup_(freep) unsigned char *stack = malloc(SCHEDULE_STACK_BYTES);
	_cleanup_(freep) struct unwind_module *modules =
		calloc(program->modules.n + 1, sizeof(*modules));
	if (!stack || !modules)
		return err_nomem();
	size_t n = MIN(program->modules.n, (size_t)UNWIND_MODULES);
	for (size_t i = 0; i < n; i++)
		modules[i] = (struct unwind_module){
			.path = program->modules.data[i].path,
			.bias = program->modules.data[i].bias,
		};
	struct unwind_thread walked = {
		.modules = modules,
		.n_modules = n,
		.stack = stack,
		.stack_address = regs_sp(&thread->regs).v,
	};
	walked.stack_n = memory_read_some(run->tracee, regs_sp(&thread->regs),
					  stack, SCHEDULE_STACK_BYTES);
	unwind_thread_take(thread, &walked);
	TRY(unwinder_callers(run->session->schedule_unwinder, &walked, ret));
	/*
	 * In glibc's clone() and clone3() unwind information ends before the
	 * system call, since it would be wrong in the child; the return address
	 * is on top of the stack.
	 */
	long number = regs_syscall(&thread->regs);
	if (ret->n || (number != SYS_clone && number != SYS_clone3) ||
	    walked.stack_n < sizeof(uint64_t))
		return NULL;
	memcpy(&walked.registers[UNWIND_RIP], stack, sizeof(uint64_t));
	walked.registers[UNWIND_RSP] += sizeof(uint64_t);
	return unwinder_callers(run->session->schedule_unwinder, &walked, ret);
}

void scheduler_warm_up(struct run *run)
{
	_cleanup_(unwind_frames_freep) struct unwind_frames frames = {};
	const struct thread *thread =
		run->at ? run->at : tracee_thread(run->tracee, 0);
	if (thread)
		err_ignore(scheduler_unwind(run, thread, &frames));
}

/* "queue.c:17", which is the same in every run; "?": not known. */
static struct err *append_frame_key(struct str *key,
				    const struct unwind_frames *frames)
{
	if (!frames->n || !frames->data[0].file)
		return str_append(key, "?");
	const char *slash = strrchr(frames->data[0].file, '/');
	return str_appendf(key, "%s:%u",
			   slash ? slash + 1 : frames->data[0].file,
			   frames->data[0].line);
}

/* ---- threads ---- */

struct err *scheduler_add_thread(struct run *run, const struct thread *thread,
				 const struct thread *maker,
				 struct sched_thread **ret)
{
	struct scheduler *scheduler = run->session->scheduler;
	_cleanup_(str_freep) struct str group = STR_INIT;
	const struct sched_thread *made_by =
		maker ? scheduler_find(scheduler, maker->tid) : NULL;
	struct sched_thread known = { .tid = thread->tid };
	if (maker) {
		_cleanup_(unwind_frames_freep) struct unwind_frames frames = {};
		TRY(scheduler_unwind(run, maker, &frames));
		if (made_by && made_by->number)
			TRY(str_appendf(&group, "%s/", made_by->group));
		TRY(append_frame_key(&group, &frames));
	} else {
		TRY(str_append(&group, "before"));
	}
	if (thread->tid != scheduler->test_tid)
		known.number = ++scheduler->numbers;
	known.group = str_take(&group);
	if (!known.group)
		return err_nomem();
	struct err *err = vec_push(&scheduler->threads, known);
	if (err) {
		free(known.group);
		return err;
	}
	*ret = &scheduler->threads.data[scheduler->threads.n - 1];
	return NULL;
}

/* ---- statements ---- */

/* The line before which another test of the same file begins. */
static unsigned last_line_of(const struct session *session,
			     const struct suite_test *test)
{
	unsigned last = test->line + LINES_MAX;
	for (size_t i = 0; i < session->suite.tests.n; i++) {
		const struct suite_test *other = &session->suite.tests.data[i];
		if (other->file && !strcmp(other->file, test->file) &&
		    other->line > test->line)
			last = MIN(last, other->line - 1);
	}
	return last;
}

struct statement_search {
	struct scheduler *scheduler;
	uint64_t bias;
	struct err *err;
};

static bool scheduler_take_row(void *data, const struct object_row *row)
{
	struct statement_search *search = data;
	struct scheduler *scheduler = search->scheduler;
	struct raddr address = RADDR(row->address + search->bias);
	uint64_t known;
	if (map_u64_get(&scheduler->by_address, address.v, &known))
		return true;
	struct statement statement = { address, row->line, row->column };
	search->err = vec_push(&scheduler->statements, statement);
	if (!search->err)
		search->err = map_u64_put(&scheduler->by_address, address.v,
					  scheduler->statements.n - 1);
	return !search->err && scheduler->statements.n < STATEMENTS_MAX;
}

struct err *scheduler_find_statements(struct run *run)
{
	struct session *session = run->session;
	const struct suite_test *test =
		&session->suite.tests.data[session->scheduler->test];
	struct statement_search search = { .scheduler = session->scheduler };
	if (!test->file || !test->line)
		return NULL;
	for (size_t i = 0; i < run->program->modules.n && !search.err; i++) {
		const struct module *module = &run->program->modules.data[i];
		if (!module->object || module->system)
			continue;
		search.bias = module->bias;
		object_each_row(module->object, test->file, test->line,
				last_line_of(session, test), scheduler_take_row,
				&search);
	}
	log_debug(LOG_NATIVE, "schedule: %zu places of statements of %s",
		  session->scheduler->statements.n, test->name);
	return search.err;
}

/* ---- moments ---- */

static struct err *count_key(struct scheduler *scheduler,
			     struct suite_moment *moment)
{
	uint64_t n = 0;
	map_text_get(&scheduler->counts, moment->key, &n);
	moment->nth = (unsigned)MIN(n + 1, (uint64_t)UINT32_MAX);
	return map_text_put(&scheduler->counts, moment->key, n + 1);
}

struct err *scheduler_describe(struct run *run, const struct thread *at,
			       const struct sched_thread *known,
			       struct suite_moment *moment)
{
	struct scheduler *scheduler = run->session->scheduler;
	_cleanup_(unwind_frames_freep) struct unwind_frames frames = {};
	_cleanup_(str_freep) struct str key = STR_INIT;
	TRY(scheduler_unwind(run, at, &frames));
	TRY(str_appendf(&key, "%s %s", known->group, moment->operation));
	/* Where a thread is when a signal comes is left to chance. */
	if (moment->kind != SUITE_MOMENT_STARTED &&
	    strcmp(moment->operation, "signal") != 0) {
		TRY(str_append(&key, " "));
		TRY(append_frame_key(&key, &frames));
	}
	moment->key = str_take(&key);
	if (!moment->key)
		return err_nomem();
	for (size_t i = 0; i < frames.n && i < SCHEDULE_FRAMES; i++) {
		struct unwind_frame *from = &frames.data[i];
		struct call_frame frame = { from->function, from->file,
					    from->line };
		TRY(vec_push(&moment->stack, frame));
		from->function = from->file = NULL;
	}
	if (moment->stack.n) {
		TRY(str_copy(moment->stack.data[0].file, &moment->file));
		moment->line = moment->stack.data[0].line;
	}
	return count_key(scheduler, moment);
}

struct err *scheduler_describe_statement(struct run *run, struct raddr address,
					 struct suite_moment *moment)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t index;
	if (!map_u64_get(&scheduler->by_address, address.v, &index))
		return NULL;
	const struct statement *statement = &scheduler->statements.data[index];
	const struct suite_test *test =
		&run->session->suite.tests.data[scheduler->test];
	moment->line = statement->line;
	moment->column = statement->column;
	TRY(str_copy(test->file, &moment->file));
	TRY(str_format(&moment->key, "%u:%u", statement->line,
		       statement->column));
	return count_key(scheduler, moment);
}

struct err *scheduler_add_moment(struct run *run, struct suite_moment *moment)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct suite_trace *trace = scheduler->trace;
	moment->ns = scheduler_now(scheduler) - scheduler->began;
	bool often = moment->kind == SUITE_MOMENT_STATEMENT &&
		     moment->nth > AGAIN_MAX;
	bool full = trace->moments.n >= MOMENTS_MAX;
	trace->more |= full;
	log_debug(LOG_NATIVE, "schedule: %d thread %u '%s' %u", moment->kind,
		  moment->thread, moment->key ? moment->key : "", moment->nth);
	struct err *err =
		often || full ? NULL : vec_push(&trace->moments, *moment);
	if (err || often || full)
		suite_moment_free(moment);
	*moment = (struct suite_moment){};
	return err;
}

void scheduler_add_mark(struct run *run, enum suite_moment_kind kind)
{
	struct suite_moment moment = { .kind = kind };
	err_ignore(scheduler_add_moment(run, &moment));
}
