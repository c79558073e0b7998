/*
 * greatest, by calls: for each test a suite calls greatest_test_pre(), which runs
 * its set-up and says whether to run it, and greatest_test_post() after it.
 * Compilers inline the tests in between, so they cannot be called. A test that is
 * not wanted is skipped as the framework itself does it: greatest_test_pre()
 * returns 0.
 *
 * There is no list: the tests are found by a run in which every call returns 0. In
 * an order that keeps the program's own sequence, the program runs normally. Any
 * other order runs at the place of one call, the first that main() itself makes,
 * or else the first of all. There the function of a suite is called for each part
 * of the order that is in its sequence, as the framework's own
 * GREATEST_SHUFFLE_TESTS evaluates a suite again and again. Tests that main()
 * itself runs are in its frame: where nothing in that differs from one to the
 * other, greatest_test_pre() returns to where the wanted test is.
 *
 * A suite is evaluated once for each test of an order that is reversed. So that
 * this does not cost a stop for each pair of tests, code of ours in the program
 * counts the calls up to that of the wanted test (arch_count()).
 *
 * Seen with 1.3.1, 1.4.1 and 1.5.0; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/function_calls.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 1000000
/* A test's handle is its name in the program and its number in its unit. */
#define NUMBER_SHIFT 48
#define NUMBER_MAX 0xffff
#define ADDRESS_MASK ((UINT64_C(1) << NUMBER_SHIFT) - 1)
/*
 * Its group is its unit, the function that runs it; for one that cannot be called
 * by itself the address there that follows the call of greatest_test_pre().
 */
#define PLACE_BIT (UINT64_C(1) << 63)
#define FIXED_BIT (UINT64_C(1) << 62) /* and it cannot be returned to */

#define RANDOM_ORDER 0x40 /* of the second struct greatest_prng */

struct greatest_layout { /* struct greatest_run_info */
	uint64_t setup;	 /* four words: set-up, tear-down, and data for each */
	uint64_t file, line, message;
	uint64_t suffix, filter, exclude, exact, random; /* 0: not there */
};

struct greatest_hooks {
	uint64_t setup, setup_data, teardown, teardown_data;
};

struct greatest {
	struct greatest_layout at;
	struct raddr info;	/* greatest_info */
	struct raddr pre, post; /* greatest_test_pre(), greatest_test_post() */
	struct raddr stub;	/* where the function of a suite returns to */
	struct raddr counter;	/* code that greatest_test_pre() jumps to … */
	struct raddr count;	/* … and its struct arch_count */
	uint64_t due_unit, due_number; /* of the call that it stops at */
	struct calls place;	       /* the call where other orders run */
	struct greatest_hooks hooks;   /* at that */
	uint64_t place_return;	       /* where it returns to; 0: any will do */
	bool placed;		       /* it was made */
	uint64_t digest;   /* of main() at its first call, while discovering */
	struct calls call; /* of either function, for the test */
	bool direct;	   /* the order is not the program's own */
	uint64_t unit;	   /* that the last call was from; 0: not known */
	bool callable;	   /* the unit can be called by itself */
	uint64_t number;   /* of that call in it */
	size_t called; /* the place in the order for which a suite was called */
	uint64_t group; /* of the running test */
	int32_t result; /* what it returned */
};

/* The function with a call that returns to @return_to. */
static bool greatest_find_unit(struct run *run, uint64_t return_to,
			       struct object_symbol *ret, uint64_t *ret_unit)
{
	const struct module *module =
		program_module(run->program, RADDR(return_to));
	if (!module || !module->object ||
	    !object_symbol_at(module->object, return_to - 1 - module->bias,
			      ret))
		return false;
	*ret_unit = ret->value + module->bias;
	return true;
}

/* Without debug information all but main() have no parameters. */
static bool greatest_is_callable(struct run *run, const char *name,
				 uint64_t unit)
{
	struct object_signature signature;
	return strcmp(name, "main") != 0 &&
	       (!function_signature_of(run, unit, &signature) ||
		!signature.parameters);
}

static struct err *greatest_read_pointed(struct run *run, uint64_t at,
					 char **ret)
{
	const struct greatest *greatest = run->state;
	uint64_t text;
	if (!at)
		return NULL;
	TRY(run_u64(run, raddr_add(greatest->info, at), &text));
	return text ? run_text(run, RADDR(text), ret) : NULL;
}

static bool greatest_matches(const char *name, const char *filter, bool exact)
{
	return exact ? strcmp(name, filter) == 0 : strstr(name, filter) != NULL;
}

/* Do the program's own options let it run? */
static struct err *greatest_is_selected(struct run *run, const char *name,
					bool *ret)
{
	const struct greatest *greatest = run->state;
	_cleanup_(freep) char *filter = NULL, *exclude = NULL;
	uint8_t exact = 0;
	TRY(greatest_read_pointed(run, greatest->at.filter, &filter));
	TRY(greatest_read_pointed(run, greatest->at.exclude, &exclude));
	if (greatest->at.exact)
		TRY(memory_read(run->tracee,
				raddr_add(greatest->info, greatest->at.exact),
				&exact, 1));
	*ret = (!filter || !*filter || greatest_matches(name, filter, exact)) &&
	       (!exclude || !*exclude ||
		!greatest_matches(name, exclude, exact));
	return NULL;
}

/* The name as it is printed, with what greatest_set_test_suffix() set. */
static struct err *greatest_read_name(struct run *run, uint64_t at, char **ret)
{
	const struct greatest *greatest = run->state;
	_cleanup_(freep) char *name = NULL, *suffix = NULL;
	TRY(run_text(run, RADDR(at), &name));
	TRY(greatest_read_pointed(run, greatest->at.suffix, &suffix));
	if (!suffix) {
		*ret = take_ptr(name);
		return NULL;
	}
	return str_format(ret, "%s_%s", name, suffix);
}

/* greatest_test_pre() clears it in the end. */
static struct err *greatest_clear_suffix(struct run *run)
{
	const struct greatest *greatest = run->state;
	return greatest->at.suffix
		       ? memory_write_u64(
				 run->tracee,
				 raddr_add(greatest->info, greatest->at.suffix),
				 0)
		       : NULL;
}

/* At the entry of greatest_test_pre(): which call of which function is it? */
static struct err *greatest_count_call(struct run *run,
				       const struct thread *thread,
				       struct object_symbol *ret_symbol,
				       uint64_t *ret_return_to)
{
	struct greatest *greatest = run->state;
	uint64_t unit = 0;
	TRY(run_u64(run, regs_sp(&thread->regs), ret_return_to));
	greatest_find_unit(run, *ret_return_to, ret_symbol, &unit);
	greatest->number = unit == greatest->unit ? greatest->number + 1 : 0;
	greatest->unit = unit;
	return NULL;
}

/* Where a test is, or the call for it: its function may be inlined there. */
static void greatest_find_place(struct run *run, const char *function,
				uint64_t return_to, const char **ret_file,
				unsigned *ret_line)
{
	const struct module *module =
		program_module(run->program, RADDR(return_to));
	struct raddr body;
	if (program_symbol(run->program, function, &body) &&
	    program_function_place(run->program, body, ret_file, ret_line))
		return;
	if (!module || !module->object ||
	    !object_inlined_place(module->object, function, ret_file, ret_line))
		program_line(run->program, RADDR(return_to - 1), ret_file,
			     ret_line);
}

static struct err *greatest_add_test(struct run *run,
				     const struct thread *thread,
				     const struct object_symbol *unit,
				     uint64_t return_to)
{
	struct greatest *greatest = run->state;
	uint64_t name_at = thread_arg(thread, 0), group = greatest->unit;
	_cleanup_(freep) char *name = NULL, *function = NULL, *full = NULL;
	const char *file = NULL;
	unsigned line = 0;
	bool selected;
	TRY(greatest_read_name(run, name_at, &name));
	TRY(greatest_is_selected(run, name, &selected));
	if (!selected || greatest->number > NUMBER_MAX ||
	    run_tests(run) >= TESTS_MAX)
		return NULL;
	TRY(run_text(run, RADDR(name_at), &function));
	greatest_find_place(run, function, return_to, &file, &line);
	if (!greatest->callable) {
		uint64_t digest = calls_caller_digest(run, thread);
		if (!greatest->digest)
			greatest->digest = digest;
		bool equal = digest == greatest->digest;
		group = PLACE_BIT | return_to | (equal ? 0 : FIXED_BIT);
		TRY(str_format(&full, "%s", name));
	} else {
		TRY(run_declare_group(run, group, 0));
		/* Compilers add to names: "suite.constprop.0". */
		TRY(str_format(&full, "%.*s/%s", (int)strcspn(unit->name, "."),
			       unit->name, name));
	}
	return run_add_test(run, full, file, line, false,
			    name_at | greatest->number << NUMBER_SHIFT, group);
}

/* The thread is at the entry of greatest_test_pre(). */
static struct err *greatest_discover(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	struct object_symbol unit;
	uint64_t return_to;
	TRY(greatest_count_call(run, thread, &unit, &return_to));
	if (greatest->number == 0)
		greatest->callable =
			greatest->unit &&
			greatest_is_callable(run, unit.name, greatest->unit);
	TRY(greatest_add_test(run, thread, &unit, return_to));
	TRY(greatest_clear_suffix(run));
	return calls_skip(run, thread, 0);
}

static struct err *greatest_judge_test(struct run *run)
{
	const struct greatest *greatest = run->state;
	const struct greatest_layout *at = &greatest->at;
	_cleanup_(freep) char *file = NULL, *message = NULL;
	uint32_t line = 0;
	if (!greatest->result)
		return NULL;
	err_ignore(greatest_read_pointed(run, at->message, &message));
	if (greatest->result > 0)
		return run_skip(run, NULL, 0, message);
	err_ignore(greatest_read_pointed(run, at->file, &file));
	err_ignore(run_u32(run, raddr_add(greatest->info, at->line), &line));
	return run_fail(run, file, line, message);
}

static struct err *greatest_write_hooks(struct run *run,
					const struct greatest_hooks *hooks)
{
	const struct greatest *greatest = run->state;
	return memory_write(run->tracee,
			    raddr_add(greatest->info, greatest->at.setup),
			    hooks, sizeof(*hooks));
}

/* A test that cannot be run now, and the reason. */
static struct err *greatest_miss_test(struct run *run, const char *why)
{
	TRY(run_begin(run));
	TRY(run_skip(run, NULL, 0, why));
	return run_end(run, OUTCOME_NONE);
}

static struct err *greatest_on_pre(struct run *run, struct thread *thread,
				   uint64_t arg);

/* The thread came to the call that was to be found. */
static struct err *greatest_on_due_call(struct run *run, struct thread *thread,
					uint64_t arg)
{
	struct greatest *greatest = run->state;
	TRY(calls_unmute(run, greatest->pre));
	calls_instead(thread, greatest->pre);
	greatest->unit = greatest->due_unit;
	greatest->number = greatest->due_number - 1;
	return greatest_on_pre(run, thread, arg);
}

/* Every copy of the process has it. */
static struct err *greatest_add_counter(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	struct { /* in the program */
		struct arch_count count;
		uint64_t unused;
	} words = {};
	uint8_t code[ARCH_COUNT_SIZE];
	TRY(remote_map(thread, sizeof(words), &greatest->count));
	struct raddr cleared =
		greatest->at.suffix
			? raddr_add(greatest->info, greatest->at.suffix)
			: raddr_add(greatest->count, sizeof(words.count));
	arch_count(greatest->count, cleared, code);
	TRY(breakpoint_code(thread, greatest->pre, code, sizeof(code),
			    &greatest->counter));
	return run_break(run, raddr_add(greatest->counter, ARCH_COUNT_DUE),
			 greatest_on_due_call, 0);
}

static struct err *greatest_begin_count(struct run *run,
					const struct arch_count *count)
{
	const struct greatest *greatest = run->state;
	uint8_t code[ARCH_CALL_SIZE];
	if (!arch_jump(greatest->pre, greatest->counter, code))
		return NULL;
	TRY(memory_write(run->tracee, greatest->count, count, sizeof(*count)));
	return breakpoint_overlay(run->tracee, greatest->pre, code,
				  sizeof(code));
}

/*
 * After a call that is not that of the wanted test: those up to it are skipped
 * without a stop. They are counted as by greatest_count_call().
 */
static struct err *greatest_skip_to_wanted(struct run *run)
{
	struct greatest *greatest = run->state;
	struct arch_count count = { .left = UINT64_MAX, .again = UINT64_MAX };
	size_t test = run_wanted(run);
	if (test == RUN_NONE)
		return run_settled(run) ? greatest_begin_count(run, &count)
					: NULL;
	uint64_t group = run_group(run, test);
	uint64_t inside = group & ADDRESS_MASK;
	if (!(group & PLACE_BIT))
		inside++; /* as if it were after a call there */
	struct object_symbol symbol;
	uint64_t number = run_handle(run, test) >> NUMBER_SHIFT, unit;
	if (!greatest_find_unit(run, inside, &symbol, &unit) || !symbol.size)
		return NULL;
	greatest->due_unit = unit;
	greatest->due_number = number;
	count.from = unit + 1;
	count.size = symbol.size;
	count.again = number;
	if (greatest->unit != unit)
		count.left = number;
	else if (greatest->number < number)
		count.left = number - greatest->number - 1;
	return greatest_begin_count(run, &count);
}

static struct err *greatest_begin_test(struct run *run, struct thread *thread);

/*
 * In an order that is not the program's own, at its place: leads to the next
 * wanted test, or lets the program continue without any.
 */
static struct err *greatest_lead_to_next(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	const struct greatest_hooks none = {};
	TRY(calls_unmute(run, greatest->pre));
	for (;;) {
		size_t test = run_wanted(run);
		thread->regs = greatest->place.entry;
		thread_dirty(thread);
		greatest->unit = 0;
		if (test == RUN_NONE) {
			TRY(greatest_write_hooks(run, &greatest->hooks));
			TRY(memory_write_u64(run->tracee,
					     regs_sp(&thread->regs),
					     greatest->place.return_to.v));
			TRY(calls_skip(run, thread, 0));
			return calls_mute(run, greatest->pre);
		}
		uint64_t group = run_group(run, test);
		if (group & FIXED_BIT) {
			TRY(greatest_miss_test(
				run, "the program runs it only in its own "
				     "sequence of tests"));
			continue;
		}
		if (!(group & PLACE_BIT)) {
			if (greatest->called == run->next + 1) {
				TRY(greatest_miss_test(
					run, "its suite does not come to it "
					     "when it is run again"));
				continue;
			}
			greatest->called = run->next + 1;
			TRY(greatest_write_hooks(run, &none));
			return calls_from_entry(run, thread, RADDR(group),
						greatest->stub);
		}
		TRY(greatest_write_hooks(run, &greatest->hooks));
		TRY(memory_write_u64(run->tracee, regs_sp(&thread->regs),
				     group & ADDRESS_MASK));
		regs_set_arg(&thread->regs, 0,
			     run_handle(run, test) & ADDRESS_MASK);
		return greatest_begin_test(run, thread);
	}
}

/* The test that runs has ended, or was not run at all. */
static struct err *greatest_go_on(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	greatest->call.inside = false;
	if (greatest->direct) {
		return greatest->group & PLACE_BIT
			       ? greatest_lead_to_next(run, thread)
			       : NULL;
	}
	return run_wanted(run) == RUN_NONE ? calls_mute(run, greatest->pre)
					   : NULL;
}

static struct err *
greatest_on_suite_return(struct run *run, struct thread *thread, uint64_t arg);

static struct err *greatest_on_post_return(struct run *run,
					   struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct greatest *greatest = run->state;
	if (!calls_returned(&greatest->call, thread))
		return NULL;
	/* The last call of a suite may be a jump: then the suite returned. */
	bool returned = raddr_eq(greatest->call.return_to, greatest->stub);
	if (returned)
		TRY(run_break(run, greatest->stub, greatest_on_suite_return,
			      0));
	else
		TRY(run_unbreak(run, greatest->call.return_to));
	TRY(greatest_judge_test(run));
	TRY(run_end(run, OUTCOME_NONE));
	return returned ? greatest_lead_to_next(run, thread)
			: greatest_go_on(run, thread);
}

/* greatest_test_post(result), in older versions with the name before it. */
static struct err *greatest_on_post(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	struct greatest *greatest = run->state;
	if (!run->in_test || calls_nested(&greatest->call, thread))
		return NULL;
	bool named = thread_arg(thread, 0) ==
		     (run_handle(run, run->current) & ADDRESS_MASK);
	greatest->result = (int32_t)thread_arg(thread, named ? 1 : 0);
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN));
	return calls_enter(run, thread, &greatest->call,
			   greatest_on_post_return, 0);
}

static struct err *greatest_on_pre_return(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct greatest *greatest = run->state;
	if (!calls_returned(&greatest->call, thread))
		return NULL;
	TRY(run_unbreak(run, greatest->call.return_to));
	greatest->call.inside = false;
	if ((uint32_t)regs_result(&thread->regs) == 1)
		return run_point(run, SUITE_AFTER_SETUP);
	TRY(run_skip(run, NULL, 0, "left out by the program's own options"));
	TRY(run_end(run, OUTCOME_NONE));
	return greatest_go_on(run, thread);
}

/* The thread is at the entry of greatest_test_pre() for the wanted test. */
static struct err *greatest_begin_test(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	const uint8_t no = 0;
	greatest->group = run_group(run, run_wanted(run));
	/* The framework's own shuffling would run it later. */
	if (greatest->at.random)
		TRY(memory_write(run->tracee,
				 raddr_add(greatest->info,
					   greatest->at.random + RANDOM_ORDER),
				 &no, 1));
	TRY(calls_enter(run, thread, &greatest->call, greatest_on_pre_return,
			0));
	return run_begin(run);
}

/* The function of a suite that was called again has returned. */
static struct err *greatest_on_suite_return(struct run *run,
					    struct thread *thread, uint64_t arg)
{
	(void)arg;
	return greatest_lead_to_next(run, thread);
}

/* The thread is at the entry of greatest_test_pre(): is this the place? */
static struct err *greatest_take_place(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	uint64_t return_to;
	TRY(run_u64(run, regs_sp(&thread->regs), &return_to));
	if (greatest->place_return && greatest->place_return != return_to) {
		const struct arch_count count = {
			.from = greatest->place_return,
			.size = 1,
		};
		TRY(greatest_begin_count(run, &count));
		TRY(greatest_clear_suffix(run));
		return calls_skip(run, thread, 0);
	}
	greatest->placed = true;
	greatest->place.entry = thread->regs;
	greatest->place.return_to = RADDR(return_to);
	TRY(memory_read(run->tracee,
			raddr_add(greatest->info, greatest->at.setup),
			&greatest->hooks, sizeof(greatest->hooks)));
	TRY(calls_stubs(thread, 1, &greatest->stub));
	TRY(run_break(run, greatest->stub, greatest_on_suite_return, 0));
	return greatest_lead_to_next(run, thread);
}

/* Where the program flows: is this call that of the wanted test? */
static struct err *greatest_is_wanted(struct run *run,
				      const struct thread *thread, bool *ret)
{
	const struct greatest *greatest = run->state;
	struct object_symbol symbol;
	uint64_t return_to;
	TRY(greatest_count_call(run, thread, &symbol, &return_to));
	size_t test = run_wanted(run);
	*ret = false;
	if (test == RUN_NONE)
		return NULL;
	uint64_t group = run_group(run, test);
	*ret = run_handle(run, test) == (thread_arg(thread, 0) |
					 greatest->number << NUMBER_SHIFT) &&
	       (group & PLACE_BIT ? (group & ADDRESS_MASK) == return_to
				  : group == greatest->unit);
	return NULL;
}

static struct err *greatest_on_pre(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct greatest *greatest = run->state;
	bool wanted;
	if (run->in_test)
		return NULL; /* a test in a test: the framework refuses it */
	if (run->discovering && run->ready_thread)
		return greatest_discover(run, thread);
	if (!run->order) {
		if (!greatest->counter.v)
			TRY(greatest_add_counter(run, thread));
		run_ready(run, thread);
		return NULL;
	}
	if (greatest->direct && !greatest->placed)
		return greatest_take_place(run, thread);
	TRY(greatest_is_wanted(run, thread, &wanted));
	if (wanted)
		return greatest_begin_test(run, thread);
	TRY(greatest_skip_to_wanted(run));
	TRY(greatest_clear_suffix(run));
	return calls_skip(run, thread, 0);
}

static struct err *greatest_attach(struct run *run)
{
	struct greatest *greatest = run->state;
	struct greatest_layout *at = &greatest->at;
	static const char *const info = "greatest_run_info";
	const struct adapter_member rows[] = {
		{ &at->setup, info, "setup", 96, ANYWHERE },
		{ &at->file, info, "fail_file", 80, ANYWHERE },
		{ &at->line, info, "fail_line", 72, ANYWHERE },
		{ &at->message, info, "msg", 88, ANYWHERE },
		{ &at->suffix, info, "name_suffix", 0, ANYWHERE },
		{ &at->filter, info, "test_filter", 0, ANYWHERE },
		{ &at->exclude, info, "test_exclude", 0, ANYWHERE },
		{ &at->exact, info, "exact_name_match", 0, ANYWHERE },
		{ &at->random, info, "prng", 0, ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
	const struct {
		const char *name, *old_name; /* before 1.3 */
		struct raddr *address;
	} symbols[] = {
		{ "greatest_info", NULL, &greatest->info },
		{ "greatest_test_pre", "greatest_pre_test", &greatest->pre },
		{ "greatest_test_post", "greatest_post_test", &greatest->post },
	};
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		if (!program_symbol(run->program, symbols[i].name,
				    symbols[i].address) &&
		    (!symbols[i].old_name ||
		     !program_symbol(run->program, symbols[i].old_name,
				     symbols[i].address)))
			return adapter_function_missing(
				run, symbols[i].name,
				"build it without link-time optimisation and "
				"do not strip it");
	}
	TRY(run_break(run, greatest->post, greatest_on_post, 0));
	return run_break(run, greatest->pre, greatest_on_pre, 0);
}

static struct err *greatest_start(struct run *run, struct thread *thread)
{
	struct greatest *greatest = run->state;
	greatest->direct = !run_settled(run) || !run_in_sequence(run);
	log_debug(LOG_FRAMEWORK, "greatest: the order %s",
		  greatest->direct ? "runs at the place of one call"
				   : "keeps the program's own sequence");
	for (size_t i = run_tests(run); i-- && greatest->direct;) {
		uint64_t group = run_group(run, i);
		if ((group & (PLACE_BIT | FIXED_BIT)) == PLACE_BIT)
			greatest->place_return = group & ADDRESS_MASK;
	}
	return greatest_on_pre(run, thread, 0);
}

const struct framework framework_greatest = {
	.name = "greatest",
	.state_size = sizeof(struct greatest),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS("greatest_info"),
		FRAMEWORK_HAS("greatest_test_pre", "greatest_pre_test")),
	.own = {
		.title = "greatest",
		.functions = FRAMEWORK_LIST("greatest_", "GREATEST_",
			"update_counts_and_reset_suite$", "report_suite$"),
		.symbols = FRAMEWORK_LIST("greatest_test_pre",
			"greatest_pre_test"),
		.variables = FRAMEWORK_LIST("greatest_", "greatest_info$"),
	},
	.attach = greatest_attach,
	.discover = greatest_discover,
	.start = greatest_start,
	.branches = true,
};
