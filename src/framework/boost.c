/*
 * Boost.Test, by data. A suite keeps its children in a multimap from rank to id,
 * and the framework's loop goes from the first node to the end. When a suite
 * starts, a node of ours becomes the first of its map and its own successor: the
 * id in it decides what runs next, as many times as wanted, until the map's end
 * becomes its successor. Nothing else points to our node, so a test may call
 * exit(), which destroys the maps. Consecutive tests of one suite share one pass
 * through it, with its fixtures. Suites are nested, so there is a stack of such
 * loops.
 *
 * The framework reports its progress to its results collector, whose virtual
 * functions exist in every build. There is one stop per test: when a test starts,
 * the previous one of the same suite has ended. Assertions do not stop, because
 * most of them hold. Whether a test passed is read from the framework's own
 * results, which also know about expected failures. Where it failed comes from the
 * formatters of the log, which by default see only errors.
 *
 * The first test of a suite begins with the suite's fixtures, so that a crash in
 * them is reported as the failure of a test.
 *
 * Seen with 1.74; see docs/frameworks.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define COLLECTOR "_ZN5boost9unit_test19results_collector_t"
/* In one piece, for it stands in lists of names. */
/* clang-format off */
#define UNIT_START \
	"_ZN5boost9unit_test19results_collector_t15test_unit_startERKNS0_9test_unitE"
/* clang-format on */
#define UNIT_FINISH COLLECTOR "16test_unit_finishERKNS0_9test_unitEm"
#define UNIT_SKIPPED                                                           \
	COLLECTOR "17test_unit_skippedERKNS0_9test_unitENS0_13basic_"          \
		  "cstringIKcEE"
#define EXCEPTION COLLECTOR "16exception_caughtERKNS_19execution_exceptionE"
#define CHECKPOINT                                                             \
	"_ZN5boost9unit_test15unit_test_log_t14set_checkpointENS0_13basic_"    \
	"cstringIKcEEmS4_"
#define RESULTS "_ZNK5boost9unit_test19results_collector_t7resultsEm"
#define GET_UNIT "_ZN5boost9unit_test9framework3getEmNS0_14test_unit_typeE"
#define RUN "_ZN5boost9unit_test9framework3runEmb"
#define LAZY_VALUE "15log_entry_valueERSoRKNS0_12lazy_ostreamE"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
#define DEPTH_MAX 64
#define UNITS_MAX 10000000
#define DEPENDENCIES_MAX 100000 /* of one unit */
#define RELATIONS_MAX 1000000
/* More than a balanced tree of all memory is high. */
#define TREE_HEIGHT_MAX 128
/* The part of a test_unit that is read. */
#define UNIT_SIZE 232

/* boost::unit_test::test_unit_type, test_unit::run_status */
enum { TYPE_CASE = 0x01, TYPE_SUITE = 0x10, TYPE_ANY = 0x11 };
enum { STATUS_ENABLED = 1 };
/* unit_test_log_formatter::log_entry_types */
enum { ENTRY_ERROR = 3 };
/* execution_exception::error_code */
enum { CODE_SYSTEM = 210, CODE_TIMEOUT = 215 };

/* libstdc++'s std::_Rb_tree_node<std::pair<const unsigned long, …>>. */
struct boost_node {
	uint64_t color;
	uint64_t parent, left, right;
	uint64_t key;
	uint64_t value; /* or what begins here */
};
/* In a std::map or multimap, after the comparison. */
#define TREE_HEADER 8
enum { COLOR_RED = 0 };

/* Of a test_unit, of a test_suite seen from its test_unit, of test_results. */
struct boost_layout {
	uint64_t type, file, line, id, dependencies, name;
	uint64_t default_status, run_status;
	uint64_t children;
	uint64_t failed, expected, aborted, timed_out;
};

/* A suite that is running, and its loop. */
struct boost_level {
	uint64_t suite;
	uint64_t coming;   /* the child the loop comes to next; 0: it ends */
	uint64_t header;   /* of its map; begins as a node does */
	uint64_t first;	   /* the map's first node as it was */
	struct raddr node; /* ours */
};

struct boost {
	struct boost_layout at;
	uint64_t root;
	struct raddr finish;
	struct raddr store; /* header of the map of results; 0: not found */
	struct raddr nodes; /* memory for ours */
	bool early;	    /* the running test has not come to its own start */
	bool watching;	    /* there is a breakpoint at the end of units */
	bool undecided;	    /* what comes after the running test */
	bool collecting;    /* a message, piece by piece */
	enum outcome outcome; /* worse than in the framework's own results */
	size_t depth;
	struct boost_level levels[DEPTH_MAX];
};

/* unit_test_main(), also with the older form of an initialisation function. */
#define UNIT_TEST_MAIN "_ZN5boost9unit_test14unit_test_mainEPFbvEiPPc"
#define UNIT_TEST_MAIN_OLD                                                     \
	"_ZN5boost9unit_test14unit_test_mainEPFPNS0_10test_suiteEiPPcEiS4_"

static void boost_find_layout(const struct run *run, struct boost_layout *at)
{
	static const char *const unit = "boost::unit_test::test_unit";
	static const char *const suite = "boost::unit_test::test_suite";
	static const char *const results = "boost::unit_test::test_results";
	static const uint64_t end = UNIT_SIZE - 7;
	const struct adapter_member rows[] = {
		{ &at->type, unit, "p_type", 0, end },
		{ &at->file, unit, "p_file_name", 24, end - 8 },
		{ &at->line, unit, "p_line_num", 40, end },
		{ &at->id, unit, "p_id", 48, end },
		{ &at->dependencies, unit, "p_dependencies", 88, end - 16 },
		{ &at->name, unit, "p_name", 136, ANYWHERE },
		{ &at->default_status, unit, "p_default_status", 216, end },
		{ &at->run_status, unit, "p_run_status", 220, end },
		{ &at->children, suite, "m_ranked_children", 312, ANYWHERE },
		{ &at->failed, results, "p_assertions_failed", 16, end },
		{ &at->expected, results, "p_expected_failures", 32, end },
		{ &at->aborted, results, "p_aborted", 104, end },
		{ &at->timed_out, results, "p_timed_out", 106, end },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
	/* A test_suite begins with its vtable, then the test_unit. */
	at->children -= 8;
}

static struct boost_level *boost_top_level(struct boost *boost)
{
	return boost->depth ? &boost->levels[boost->depth - 1] : NULL;
}

/* The text of a basic_cstring, which is two pointers. */
static struct err *boost_text_between(struct run *run, uint64_t begin,
				      uint64_t end, char **ret)
{
	size_t n = end < begin ? 0 : MIN(end - begin, RUN_TEXT_MAX);
	_cleanup_(freep) char *text = calloc(1, n + 1);
	if (!text)
		return err_nomem();
	if (n)
		TRY(memory_read(run->tracee, RADDR(begin), text, n));
	*ret = take_ptr(text);
	return NULL;
}

/* A basic_cstring is not trivial to copy: as an argument it is a reference. */
static struct err *boost_text_at(struct run *run, uint64_t address, char **ret)
{
	uint64_t bounds[2];
	TRY(memory_read(run->tracee, RADDR(address), bounds, sizeof(bounds)));
	return boost_text_between(run, bounds[0], bounds[1], ret);
}

/*
 * The child of @suite that contains the test that runs next, or that has begun
 * early; 0: none.
 */
static uint64_t boost_next_child(const struct run *run, uint64_t suite)
{
	const struct boost *boost = run->state;
	size_t test = boost->early ? run->current : run_wanted(run);
	if (test == RUN_NONE)
		return 0;
	uint64_t child = run_handle(run, test);
	uint64_t group = run_group(run, test);
	for (int i = 0; group && i < DEPTH_MAX; i++) {
		if (group == suite)
			return child;
		child = group;
		group = run_group_parent(run, group);
	}
	return 0;
}

/* Makes the innermost loop come to the next wanted child of its suite. */
static struct err *boost_advance_loop(struct run *run)
{
	struct boost *boost = run->state;
	struct boost_level *level = boost_top_level(boost);
	if (!level)
		return NULL;
	level->coming = boost_next_child(run, level->suite);
	/* std::_Rb_tree_increment(): right and then left, or else up. */
	struct boost_node node = { .parent = level->header };
	if (level->coming) {
		node.right = level->node.v;
		TRY(run_u64(run, RADDR(level->coming + boost->at.id),
			    &node.value));
	}
	return memory_write(run->tracee, level->node, &node, sizeof(node));
}

static run_hook boost_on_finish;

/* Stops at the end of a unit, where that is not another test's start. */
static struct err *boost_watch_ends(struct run *run, bool watch)
{
	struct boost *boost = run->state;
	if (watch == boost->watching)
		return NULL;
	boost->watching = watch;
	return watch ? run_break(run, boost->finish, boost_on_finish, 0)
		     : run_unbreak(run, boost->finish);
}

/*
 * The map of results: from the entry that the collector gives for the root up
 * to the map's header. Header and topmost node are each other's parent.
 */
static struct err *boost_find_store(struct run *run, struct thread *thread)
{
	struct boost *boost = run->state;
	struct raddr results;
	if (!program_symbol(run->program, RESULTS, &results)) {
		log_debug(LOG_FRAMEWORK, "Boost.Test: its results cannot be "
					 "read, expected failures are "
					 "failures");
		return NULL;
	}
	uint64_t args[] = { 0, 0 }, entry;
	TRY(run_u64(run, RADDR(boost->root + boost->at.id), &args[1]));
	TRY(remote_call(thread, results, args, 2, CALL_LIMIT_NS, &entry));
	uint64_t at = entry - offsetof(struct boost_node, value);
	for (int i = 0; i < TREE_HEIGHT_MAX; i++) {
		struct boost_node node, parent;
		TRY(memory_read(run->tracee, RADDR(at), &node,
				offsetof(struct boost_node, key)));
		TRY(memory_read(run->tracee, RADDR(node.parent), &parent,
				offsetof(struct boost_node, key)));
		if (parent.parent == at) {
			bool above = (uint32_t)parent.color == COLOR_RED;
			boost->store = RADDR(above ? node.parent : at);
			return NULL;
		}
		at = node.parent;
	}
	return adapter_unknown_version(run, "the map of results has no header");
}

struct boost_entry {
	struct boost_node node;
	uint8_t more[UNIT_SIZE];
};

/* The results of a unit: a search in the map, beginning with the newest. */
static bool boost_find_results(struct run *run, uint64_t unit,
			       struct boost_entry *entry, const uint8_t **ret)
{
	const struct boost *boost = run->state;
	struct boost_node header;
	uint64_t id;
	memset(entry, 0, sizeof(*entry));
	if (!boost->store.v ||
	    memory_read_some(run->tracee, RADDR(unit + boost->at.id), &id,
			     sizeof(id)) != sizeof(id) ||
	    memory_read_some(run->tracee, boost->store, &header,
			     offsetof(struct boost_node, key)) !=
		    offsetof(struct boost_node, key))
		return false;
	uint64_t at = header.right;
	for (int i = 0; at && i < TREE_HEIGHT_MAX; i++) {
		size_t n = memory_read_some(run->tracee, RADDR(at), entry,
					    sizeof(*entry));
		if (n < sizeof(entry->node) + 72)
			return false;
		if (entry->node.key == id) {
			*ret = (const uint8_t *)&entry->node.value;
			return true;
		}
		if (!i)
			at = header.parent;
		else
			at = id < entry->node.key ? entry->node.left
						  : entry->node.right;
	}
	return false;
}

/* As test_results::passed(). */
static struct err *boost_judge_test(struct run *run)
{
	struct boost *boost = run->state;
	const struct boost_layout *at = &boost->at;
	struct boost_entry entry;
	const uint8_t *results;
	if (!boost_find_results(run, run_handle(run, run->current), &entry,
				&results))
		return NULL;
	uint64_t failed, expected;
	memcpy(&failed, results + at->failed, sizeof(failed));
	memcpy(&expected, results + at->expected, sizeof(expected));
	bool passed = failed <= expected && !results[at->aborted] &&
		      !results[at->timed_out];
	if (passed) {
		/* What was noted was expected. */
		boost->outcome = OUTCOME_PASS;
		return NULL;
	}
	if (run->outcome)
		return NULL;
	char text[64];
	snprintf(text, sizeof(text), "%llu failed assertions",
		 (unsigned long long)failed);
	return run_fail(run, NULL, 0, text);
}

static struct err *boost_end_test(struct run *run)
{
	struct boost *boost = run->state;
	if (!run->in_test)
		return NULL;
	if (!boost->outcome)
		TRY(boost_judge_test(run));
	return run_end(run, boost->outcome);
}

static struct err *boost_begin_test(struct run *run)
{
	struct boost *boost = run->state;
	boost->outcome = OUTCOME_NONE;
	boost->collecting = false;
	return run_begin(run);
}

/* The thread is where @suite starts, before its fixtures. */
static struct err *boost_enter_suite(struct run *run, uint64_t suite)
{
	struct boost *boost = run->state;
	if (boost->depth == DEPTH_MAX)
		return err_create(ERR_SUITE, "suites are nested too deeply");
	struct boost_level *level = &boost->levels[boost->depth];
	level->suite = suite;
	level->header = suite + boost->at.children + TREE_HEADER;
	level->node =
		raddr_add(boost->nodes,
			  (int64_t)(boost->depth * sizeof(struct boost_node)));
	struct raddr first =
		RADDR(level->header + offsetof(struct boost_node, left));
	TRY(run_u64(run, first, &level->first));
	TRY(memory_write_u64(run->tracee, first, level->node.v));
	boost->depth++;
	TRY(boost_advance_loop(run));
	TRY(boost_watch_ends(run, true));
	if (run->in_test || run_wanted(run) == RUN_NONE)
		return NULL;
	boost->early = run->early = true;
	return boost_begin_test(run);
}

/* The next wanted tests, as long as they are in @suite, did not run. */
static struct err *boost_miss_tests(struct run *run, uint64_t suite,
				    bool skipped, const char *file,
				    unsigned line, const char *reason)
{
	while (boost_next_child(run, suite)) {
		TRY(boost_begin_test(run));
		TRY(skipped ? run_skip(run, file, line, reason)
			    : run_fail(run, file, line, reason));
		TRY(run_end(run, OUTCOME_NONE));
	}
	return NULL;
}

/* The innermost suite is over. */
static struct err *boost_leave_suite(struct run *run)
{
	struct boost *boost = run->state;
	struct boost_level *level = boost_top_level(boost);
	TRY(memory_write_u64(
		run->tracee,
		RADDR(level->header + offsetof(struct boost_node, left)),
		level->first));
	boost->depth--;
	if (boost->early) {
		/* A fixture of the suite failed: no test of it was run. */
		boost->early = false;
		if (!boost->outcome || !run->faulted)
			TRY(run_fail(run, NULL, 0,
				     "the suite's fixture failed"));
		_cleanup_(freep) char *file =
			run->file ? strdup(run->file) : NULL;
		_cleanup_(freep) char *text =
			strdup(run->message ? run->message : "");
		unsigned line = run->line;
		TRY(run_end(run, boost->outcome));
		TRY(boost_miss_tests(run, level->suite, false, file, line,
				     text));
	}
	if (boost->depth)
		return boost_advance_loop(run);
	/* Anything else that the program runs passes without a stop. */
	struct raddr function;
	return program_symbol(run->program, RUN, &function)
		       ? calls_mute(run, function)
		       : NULL;
}

/* results_collector_t::test_unit_finish(unit, microseconds) */
static struct err *boost_on_finish(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct boost *boost = run->state;
	uint64_t unit = thread_arg(thread, 1);
	if (run->in_test && !boost->early &&
	    unit == run_handle(run, run->current)) {
		bool undecided = boost->undecided;
		boost->undecided = false;
		TRY(boost_end_test(run));
		return undecided ? boost_advance_loop(run) : NULL;
	}
	if (boost_top_level(boost) && unit == boost_top_level(boost)->suite)
		return boost_leave_suite(run);
	return NULL;
}

/* results_collector_t::test_unit_start(unit) */
static struct err *boost_on_start(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct boost *boost = run->state;
	uint64_t unit = thread_arg(thread, 1);
	struct boost_level *level = boost_top_level(boost);
	if (!run->order) {
		uint32_t type;
		TRY(run_u32(run, RADDR(unit + boost->at.type), &type));
		if (type != TYPE_SUITE || run->ready_thread)
			return NULL;
		boost->root = unit;
		TRY(boost_find_store(run, thread));
		TRY(remote_map(thread, DEPTH_MAX * sizeof(struct boost_node),
			       &boost->nodes));
		run_ready(run, thread);
		return NULL;
	}
	/* A test may run a tree of its own: not ours. */
	if (!level || unit != level->coming)
		return NULL;
	if (run_test_by_handle(run, unit) == RUN_NONE)
		return boost_enter_suite(run, unit);
	if (!boost->early) {
		TRY(boost_end_test(run));
		TRY(boost_begin_test(run));
	}
	boost->early = false;
	TRY(run_group_ready(run));
	boost->undecided = run_parts(run);
	if (boost->undecided)
		return boost_watch_ends(run, true);
	TRY(boost_advance_loop(run));
	return boost_watch_ends(run, run_test_by_handle(run, level->coming) ==
					     RUN_NONE);
}

/* results_collector_t::test_unit_skipped(unit, reason) */
static struct err *boost_on_skipped(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	struct boost *boost = run->state;
	uint64_t unit = thread_arg(thread, 1);
	struct boost_level *level = boost_top_level(boost);
	if (!run->order || !level || unit != level->coming)
		return NULL;
	_cleanup_(freep) char *reason = NULL;
	err_ignore(boost_text_at(run, thread_arg(thread, 2), &reason));
	if (!boost->early) {
		TRY(boost_end_test(run));
		TRY(boost_begin_test(run));
	}
	boost->early = false;
	TRY(run_skip(run, NULL, 0, reason));
	TRY(run_end(run, OUTCOME_NONE));
	TRY(boost_miss_tests(run, unit, true, NULL, 0, reason));
	TRY(boost_watch_ends(run, true));
	return boost_advance_loop(run);
}

/* The formatters of the log, and what they get of a failed assertion. */
enum boost_piece {
	PIECE_START,
	PIECE_VALUE,
	PIECE_LAZY,
	PIECE_CONTEXT,
	PIECE_FINISH
};
static const char *const formatters[] = {
	"22compiler_log_formatter",
	"17xml_log_formatter",
	"19junit_log_formatter",
};
static const char *const pieces[] = {
	[PIECE_START] =
		"15log_entry_startERSoRKNS0_14log_entry_dataENS0_23unit_"
		"test_log_formatter15log_entry_typesE",
	[PIECE_VALUE] = "15log_entry_valueERSoNS0_13basic_cstringIKcEE",
	[PIECE_LAZY] = LAZY_VALUE,
	[PIECE_CONTEXT] = "17log_entry_contextERSoNS0_9log_levelENS0_13basic_"
			  "cstringIKcEE",
	[PIECE_FINISH] = "16log_entry_finishERSo",
};

static struct err *boost_find_piece(struct run *run, uint64_t formatter,
				    enum boost_piece piece, struct raddr *ret)
{
	_cleanup_(freep) char *symbol = NULL;
	TRY(str_format(&symbol, "_ZN5boost9unit_test6output%s%s",
		       formatters[formatter], pieces[piece]));
	if (!program_symbol(run->program, symbol, ret))
		*ret = RADDR(0);
	return NULL;
}

static run_hook boost_on_value, boost_on_lazy, boost_on_context,
	boost_on_entry_finish;

static struct err *boost_collect_message(struct run *run, uint64_t formatter,
					 bool on)
{
	struct boost *boost = run->state;
	static run_hook *const hooks[] = {
		[PIECE_VALUE] = boost_on_value,
		[PIECE_LAZY] = boost_on_lazy,
		[PIECE_CONTEXT] = boost_on_context,
		[PIECE_FINISH] = boost_on_entry_finish,
	};
	boost->collecting = on;
	for (int i = PIECE_VALUE; i <= PIECE_FINISH; i++) {
		struct raddr at;
		TRY(boost_find_piece(run, formatter, (enum boost_piece)i, &at));
		if (at.v)
			TRY(on ? run_break(run, at, hooks[i], formatter)
			       : run_unbreak(run, at));
	}
	return NULL;
}

/* log_entry_start(stream, entry, type) */
static struct err *boost_on_entry(struct run *run, struct thread *thread,
				  uint64_t formatter)
{
	uint64_t entry = thread_arg(thread, 2), line = 0;
	if (!run->in_test || run->outcome ||
	    (uint32_t)thread_arg(thread, 3) < ENTRY_ERROR)
		return NULL;
	/* log_entry_data: a std::string and a size_t. */
	_cleanup_(freep) char *file = NULL;
	err_ignore(run_string(run, RADDR(entry), &file));
	err_ignore(run_u64(run, RADDR(entry + 32), &line));
	TRY(run_fail(run, file, (unsigned)line, NULL));
	return boost_collect_message(run, formatter, true);
}

/* log_entry_value(stream, text) */
static struct err *boost_on_value(struct run *run, struct thread *thread,
				  uint64_t formatter)
{
	(void)formatter;
	const struct boost *boost = run->state;
	_cleanup_(freep) char *text = NULL;
	if (!boost->collecting)
		return NULL;
	err_ignore(boost_text_at(run, thread_arg(thread, 2), &text));
	return text ? run_note_more(run, text) : NULL;
}

/*
 * log_entry_value(stream, lazy): its base's function of the same name does the
 * same by way of a text.
 */
static struct err *boost_on_lazy(struct run *run, struct thread *thread,
				 uint64_t formatter)
{
	(void)formatter;
	const struct boost *boost = run->state;
	struct raddr base;
	if (!boost->collecting ||
	    !program_symbol(run->program,
			    "_ZN5boost9unit_test23unit_test_log_"
			    "formatter" LAZY_VALUE,
			    &base))
		return NULL;
	regs_set_pc(&thread->regs, base);
	thread_dirty(thread);
	return NULL;
}

/* log_entry_context(stream, level, text) */
static struct err *boost_on_context(struct run *run, struct thread *thread,
				    uint64_t formatter)
{
	(void)formatter;
	const struct boost *boost = run->state;
	_cleanup_(freep) char *text = NULL;
	if (!boost->collecting)
		return NULL;
	err_ignore(boost_text_at(run, thread_arg(thread, 3), &text));
	if (!text)
		return NULL;
	TRY(run_note_more(run, "\n"));
	return run_note_more(run, text);
}

static struct err *boost_on_entry_finish(struct run *run, struct thread *thread,
					 uint64_t formatter)
{
	(void)thread;
	return boost_collect_message(run, formatter, false);
}

/* results_collector_t::exception_caught(exception) */
static struct err *boost_on_exception(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct boost *boost = run->state;
	struct {
		uint32_t code, pad;
		uint64_t what[2], file[2], line;
	} exception;
	if (!run->in_test)
		return NULL;
	TRY(memory_read(run->tracee, RADDR(thread_arg(thread, 1)), &exception,
			sizeof(exception)));
	if (exception.code == CODE_TIMEOUT)
		boost->outcome = OUTCOME_TIMEOUT;
	else if (exception.code >= CODE_SYSTEM)
		boost->outcome = OUTCOME_CRASH;
	/* A fatal one ends all loops: no other test will start. */
	TRY(boost_watch_ends(run, true));
	if (boost->outcome == OUTCOME_CRASH && run->faulted)
		return NULL; /* where it was is known */
	_cleanup_(freep) char *what = NULL, *file = NULL;
	err_ignore(boost_text_between(run, exception.what[0], exception.what[1],
				      &what));
	if (exception.line)
		err_ignore(boost_text_between(run, exception.file[0],
					      exception.file[1], &file));
	return run_fail(run, file, (unsigned)exception.line, what);
}

/* The framework's own shuffling does not use the loop that we control. */
static struct err *boost_refuse_random(const struct run *run)
{
	const char *variable = getenv("BOOST_TEST_RANDOM");
	bool found = variable && strcmp(variable, "0") != 0;
	char **argv = run->session->argv;
	for (size_t i = 1; argv[i] && !found; i++)
		found = str_starts(argv[i], "--random") &&
			strcmp(argv[i], "--random=0") != 0;
	return found ? err_hint(
			       err_create(ERR_USAGE,
					  "Boost.Test's own --random cannot be "
					  "combined with a chosen order"),
			       "leave it out; polygraph run --shuffle --seed N "
			       "does that")
		     : NULL;
}

static struct err *boost_attach(struct run *run)
{
	struct boost *boost = run->state;
	TRY(boost_refuse_random(run));
	boost_find_layout(run, &boost->at);
	program_symbol(run->program, UNIT_FINISH, &boost->finish);
	TRY(run_break_symbol(run, UNIT_START, boost_on_start, 0, NULL));
	TRY(run_break_symbol(run, UNIT_SKIPPED, boost_on_skipped, 0, NULL));
	TRY(run_break_symbol(run, EXCEPTION, boost_on_exception, 0, NULL));
	for (uint64_t i = 0; i < ARRAY_SIZE(formatters); i++) {
		struct raddr at;
		TRY(boost_find_piece(run, i, PIECE_START, &at));
		if (at.v)
			TRY(run_break(run, at, boost_on_entry, i));
	}
	return NULL;
}

DEFINE_VEC(ids, uint64_t)

/* The ids of a suite's children, in the order of the tree. */
static struct err *boost_read_children(struct run *run, uint64_t suite,
				       struct ids *ret)
{
	const struct boost *boost = run->state;
	uint64_t stack[TREE_HEIGHT_MAX], at;
	struct boost_node nodes[TREE_HEIGHT_MAX];
	size_t depth = 0;
	TRY(run_u64(run,
		    RADDR(suite + boost->at.children + TREE_HEADER +
			  offsetof(struct boost_node, parent)),
		    &at));
	while (at || depth) {
		if (at) {
			if (depth == TREE_HEIGHT_MAX)
				return adapter_unknown_version(
					run, "a suite's children do not end");
			TRY(memory_read(run->tracee, RADDR(at), &nodes[depth],
					sizeof(nodes[depth])));
			stack[depth] = at;
			at = nodes[depth++].left;
			continue;
		}
		depth--;
		TRY(vec_push(ret, nodes[depth].value));
		at = nodes[depth].right == stack[depth] ? 0
							: nodes[depth].right;
		if (ret->n > UNITS_MAX)
			return err_create(ERR_SUITE, "a suite does not end");
	}
	return NULL;
}

/* Tests that a unit has, [from, to) of the list, and one unit it depends on. */
struct boost_dependency {
	size_t from, to;
	uint64_t on; /* its id */
};

struct boost_listing {
	struct run *run;
	struct thread *thread;
	VEC(struct boost_dependency) dependencies;
	/* Of units, by id: their first test, and the one after their last. */
	struct map_u64 from, to;
};

static void boost_listing_free(struct boost_listing *listing)
{
	vec_free(&listing->dependencies);
	map_u64_free(&listing->from);
	map_u64_free(&listing->to);
}

/* Tests from @from on are the unit's: they depend on what it depends on. */
static struct err *boost_note_unit(struct boost_listing *listing,
				   const uint8_t *copy, size_t from)
{
	const struct boost *boost = listing->run->state;
	size_t to = run_tests(listing->run);
	uint64_t id, bounds[3]; /* of a std::vector */
	memcpy(&id, copy + boost->at.id, sizeof(id));
	memcpy(bounds, copy + boost->at.dependencies, sizeof(bounds));
	if (from == to || listing->run->session->relisting)
		return NULL;
	TRY(map_u64_put(&listing->from, id, from));
	TRY(map_u64_put(&listing->to, id, to));
	uint64_t n = (bounds[1] - bounds[0]) / 8;
	if (bounds[1] < bounds[0] || bounds[2] < bounds[1] ||
	    n > DEPENDENCIES_MAX)
		return NULL; /* no list of this version */
	for (uint64_t i = 0; i < n; i++) {
		struct boost_dependency dependency = { from, to, 0 };
		TRY(run_u64(listing->run, RADDR(bounds[0] + i * 8),
			    &dependency.on));
		TRY(vec_push(&listing->dependencies, dependency));
	}
	return NULL;
}

/*
 * The framework skips what depends on a unit that failed. Nothing has to come
 * before a unit that will not run (disabled, or left out by the user).
 */
static struct err *
boost_declare_dependencies(const struct boost_listing *listing)
{
	struct run *run = listing->run;
	size_t left = RELATIONS_MAX;
	for (size_t i = 0; i < listing->dependencies.n; i++) {
		const struct boost_dependency *dependency =
			&listing->dependencies.data[i];
		uint64_t from = 0, to = 0;
		if (!map_u64_get(&listing->from, dependency->on, &from) ||
		    !map_u64_get(&listing->to, dependency->on, &to))
			continue;
		size_t n = (dependency->to - dependency->from) * (to - from);
		if (n > left) {
			log_warn("too many tests depend on each other: some of "
				 "depends_on is left out");
			return NULL;
		}
		left -= n;
		for (size_t test = dependency->from; test < dependency->to;
		     test++) {
			for (uint64_t other = from; other < to; other++) {
				if (!run_disabled(run, other))
					TRY(run_declare_needs(run, test,
							      other));
			}
		}
	}
	return NULL;
}

static struct err *boost_list_suite(struct boost_listing *listing,
				    uint64_t suite, const char *path,
				    int depth);

static struct err *boost_list_unit(struct boost_listing *listing,
				   uint64_t suite, uint64_t unit,
				   const char *path, int depth)
{
	struct run *run = listing->run;
	const struct boost *boost = run->state;
	const struct boost_layout *at = &boost->at;
	uint8_t copy[UNIT_SIZE];
	size_t from = run_tests(run);
	TRY(memory_read(run->tracee, RADDR(unit), copy, sizeof(copy)));
	uint32_t type, default_status, run_status;
	uint64_t file_at[2], line;
	memcpy(&type, copy + at->type, sizeof(type));
	memcpy(&default_status, copy + at->default_status,
	       sizeof(default_status));
	memcpy(&run_status, copy + at->run_status, sizeof(run_status));
	memcpy(file_at, copy + at->file, sizeof(file_at));
	memcpy(&line, copy + at->line, sizeof(line));

	_cleanup_(freep) char *name = NULL, *file = NULL, *full = NULL;
	TRY(run_string(run, RADDR(unit + at->name), &name));
	TRY(str_format(&full, "%s%s%s", path, *path ? "/" : "", name));
	if (type == TYPE_SUITE) {
		TRY(run_add_group(run, unit, suite));
		TRY(run_declare_group(run, unit, suite));
		TRY(boost_list_suite(listing, unit, full, depth + 1));
		return boost_note_unit(listing, copy, from);
	}
	bool enabled = run_status == STATUS_ENABLED;
	if (!enabled && default_status == STATUS_ENABLED) {
		log_debug(LOG_FRAMEWORK,
			  "Boost.Test: '%s' left out: --run_test", full);
		return NULL;
	}
	TRY(boost_text_between(run, file_at[0], file_at[1], &file));
	TRY(run_add_test(run, full, line ? file : NULL, (unsigned)line,
			 !enabled, unit, suite));
	return boost_note_unit(listing, copy, from);
}

static struct err *boost_list_suite(struct boost_listing *listing,
				    uint64_t suite, const char *path, int depth)
{
	struct run *run = listing->run;
	struct raddr get;
	if (depth == DEPTH_MAX)
		return err_create(ERR_SUITE, "suites are nested too deeply");
	if (!program_symbol(run->program, GET_UNIT, &get))
		return adapter_unknown_version(run, "no framework::get()");
	_cleanup_(ids_freep) struct ids ids = {};
	TRY(boost_read_children(run, suite, &ids));
	for (size_t i = 0; i < ids.n; i++) {
		const uint64_t args[] = { ids.data[i], TYPE_ANY };
		uint64_t unit;
		TRY(remote_call(listing->thread, get, args, 2, CALL_LIMIT_NS,
				&unit));
		TRY(boost_list_unit(listing, suite, unit, path, depth));
	}
	return NULL;
}

static struct err *boost_list(struct run *run, struct thread *thread)
{
	const struct boost *boost = run->state;
	_cleanup_(boost_listing_free) struct boost_listing listing = {
		.run = run,
		.thread = thread,
	};
	TRY(boost_list_suite(&listing, boost->root, "", 0));
	return boost_declare_dependencies(&listing);
}

/*
 * unit_test_log_t::set_checkpoint(file, line, text): the macros that define
 * test cases report each step of their fixtures this way. So does every
 * assertion, without a text.
 */
static struct err *boost_on_checkpoint(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	const struct boost *boost = run->state;
	uint64_t bounds[2];
	if (!run->in_test || boost->early)
		return NULL;
	TRY(memory_read(run->tracee, RADDR(thread_arg(thread, 3)), bounds,
			sizeof(bounds)));
	if (bounds[0] >= bounds[1])
		return NULL;
	_cleanup_(freep) char *text = NULL;
	err_ignore(boost_text_between(run, bounds[0], bounds[1], &text));
	if (text && str_ends(text, "\" test entry"))
		return run_point(run, SUITE_AFTER_SETUP);
	if (text && str_ends(text, "\" fixture teardown"))
		return run_point(run, SUITE_BEFORE_TEARDOWN);
	return NULL;
}

static struct err *boost_start(struct run *run, struct thread *thread)
{
	(void)thread;
	const struct boost *boost = run->state;
	if (run_point_wanted(run, SUITE_AFTER_SETUP) ||
	    run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		TRY(run_break_symbol(run, CHECKPOINT, boost_on_checkpoint, 0,
				     NULL));
	return boost_enter_suite(run, boost->root);
}

/* clang-format off */
static const char *const boost_functions[] = {
	"boost::unit_test::", "boost::test_tools::", "boost::runtime::",
	"boost::debug::", "boost::fpe::", "boost::nfp::",
	"boost::execution_monitor::", "boost::execution_exception::",
	"boost::execution_aborted::", "boost::system_error::",
	"boost_execution_monitor_",
	NULL,
};
/* clang-format on */

const struct framework framework_boost = {
	.name = "boost",
	.state_size = sizeof(struct boost),
	.body_method = "test_method",
	/* Programs that hold it, static or header-only, have the first. */
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS(UNIT_START),
		FRAMEWORK_HAS(UNIT_FINISH),
		FRAMEWORK_HAS(GET_UNIT),
		FRAMEWORK_USES(UNIT_START, UNIT_TEST_MAIN,
			       UNIT_TEST_MAIN_OLD, RUN)),
	.own = {
		.title = "Boost.Test",
		.functions = boost_functions,
		.symbols = FRAMEWORK_LIST(UNIT_START, GET_UNIT, RUN),
		.variables = FRAMEWORK_LIST("boost::unit_test",
			"boost::test_tools", "boost::execution_monitor",
			"boost::runtime"),
		.beside = FRAMEWORK_LIST("*.ipp"),
		.types = FRAMEWORK_LIST("boost::unit_test::*"),
		.libraries = FRAMEWORK_LIST("libboost_unit_test_framework",
			"libboost_test_exec_monitor"),
	},
	.attach = boost_attach,
	.list = boost_list,
	.start = boost_start,
	.branches = true,
	.catches_faults = true,
};
