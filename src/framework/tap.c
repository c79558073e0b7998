/*
 * Programs that print TAP with a library and have no functions that are named as
 * tests: each point ("ok 3 - name") is a test. It begins where the one before
 * ended, or with main(), and ends where the library has printed it; the line that
 * was printed is its name and its verdict. Where it is in the source, the library
 * is told by macros of its own, or it is where the library was called.
 *
 * Points cannot be called: they come in the program's own sequence, and those
 * that are not wanted run without being reported. An order against that sequence
 * takes one process after another. The list comes from a run of the whole program.
 *
 * Libraries: libtap (vok_at_loc()), the older libtap and ccan/tap (_gen_result()),
 * and that of C TAP Harness (ok(), is_int(), …).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/output.h"

#define POINTS_MAX 100000

struct tap_points {
	struct calls call; /* of the library's function */
	size_t position;   /* points so far */
	uint64_t number;   /* of the last one, as printed */
};

struct tap_point {
	uint64_t number;
	bool ok, todo, skip;
	const char *name; /* in the text */
	size_t name_n;
	const char *why; /* after SKIP */
	size_t why_n;
};

/* Functions that print points; the place is in arguments, or the caller's. */
static const struct {
	const char *name;
	unsigned file, line; /* number of the argument, from 1; 0: none */
} tap_printers[] = {
	{ "vok_at_loc", 1, 2 },
	{ "ok_at_loc", 1, 2 },
	{ "is_at_loc", 1, 2 },
	{ "isnt_at_loc", 1, 2 },
	{ "cmp_ok_at_loc", 1, 2 },
	{ "cmp_mem_at_loc", 1, 2 },
	{ "like_at_loc", 1, 2 },
	{ "_gen_result", 3, 4 },
	{ "ok", 0, 0 },
	{ "okv", 0, 0 },
	{ "ok_block", 0, 0 },
	{ "is_int", 0, 0 },
	{ "is_string", 0, 0 },
	{ "is_hex", 0, 0 },
	{ "is_bool", 0, 0 },
	{ "is_double", 0, 0 },
	{ "is_blob", 0, 0 },
	{ "skip", 0, 0 },
	{ "skip_block", 0, 0 },
};

static const char *tap_point_directive(const char *line, size_t n,
				       const char *word)
{
	for (size_t i = 0; i + 1 < n; i++) {
		size_t at = i + 1;
		if (line[i] != '#')
			continue;
		while (at < n && line[at] == ' ')
			at++;
		if (n - at >= strlen(word) &&
		    !strncasecmp(line + at, word, strlen(word)))
			return line + i;
	}
	return NULL;
}

/* "not ok 3 - name # TODO why", without spaces before it. */
static bool tap_parse_point(const char *line, size_t n, struct tap_point *ret)
{
	const char *at = line, *end = line + n;
	*ret = (struct tap_point){ .ok = !str_starts(line, "not ") };
	at += ret->ok ? 0 : 4;
	if (!str_starts(at, "ok") || (at[2] != ' ' && at + 2 != end))
		return false;
	at += 2;
	while (at < end && *at == ' ')
		at++;
	while (at < end && *at >= '0' && *at <= '9' && ret->number < POINTS_MAX)
		ret->number = 10 * ret->number + (uint64_t)(*at++ - '0');
	const char *todo = tap_point_directive(at, (size_t)(end - at), "todo");
	const char *skip = tap_point_directive(at, (size_t)(end - at), "skip");
	ret->todo = todo;
	ret->skip = skip;
	ret->why = skip ? skip : end;
	ret->why_n = (size_t)(end - ret->why);
	if (todo || skip)
		end = todo ? todo : skip;
	while (at < end && (*at == ' ' || *at == '-'))
		at++;
	while (end > at && end[-1] == ' ')
		end--;
	ret->name = at;
	ret->name_n = (size_t)(end - at);
	return true;
}

/* The next point in the text that is not known yet; NULL: none. */
static const char *tap_next_point(const char *text, uint64_t known,
				  struct tap_point *ret)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		if (tap_parse_point(text, n, ret) &&
		    (!ret->number || ret->number > known))
			return text + n;
		text += n + (text[n] == '\n');
	}
	return NULL;
}

static struct err *tap_judge_point(struct run *run,
				   const struct tap_point *point,
				   const char *file, unsigned line)
{
	if (point->skip) {
		char why[256];
		snprintf(why, sizeof(why), "%.*s",
			 (int)MIN(point->why_n, sizeof(why) - 1), point->why);
		return run_skip(run, NULL, 0, why);
	}
	if (point->ok || point->todo)
		return NULL;
	return run_fail(run, file, line, "not ok");
}

static struct err *tap_add_point(struct run *run, const struct tap_point *point,
				 const char *file, unsigned line)
{
	_cleanup_(freep) char *name = NULL;
	size_t test = run_tests(run);
	if (test >= POINTS_MAX)
		return NULL;
	if (point->name_n)
		name = strndup(point->name, point->name_n);
	else if (asprintf(&name, "%zu", test + 1) < 0)
		name = NULL;
	if (!name)
		return err_nomem();
	TRY(run_add_test(run, name, run_source(run, file), line, false,
			 test + 1, 0));
	run_declare_priority(run, test, -(int64_t)test);
	return NULL;
}

static struct err *tap_begin_point(struct run *run)
{
	const struct tap_points *points = run->state;
	return run_wanted(run) == points->position ? run_begin(run) : NULL;
}

/* Where the point is in the source; false: not known. */
static bool tap_find_source(struct run *run, size_t printer, char **ret_file,
			    unsigned *ret_line)
{
	const struct calls *call =
		&((const struct tap_points *)run->state)->call;
	if (tap_printers[printer].file) {
		unsigned file = tap_printers[printer].file - 1;
		unsigned line = tap_printers[printer].line - 1;
		err_ignore(run_text(run, RADDR(regs_arg(&call->entry, file)),
				    ret_file));
		*ret_line = (unsigned)regs_arg(&call->entry, line);
		return *ret_file;
	}
	const char *file;
	uint64_t site = call->return_to.v - 1;
	const struct module *module = program_module(run->program, RADDR(site));
	if (!module || !module->object ||
	    !object_line(module->object, site - module->bias, &file, ret_line))
		return false;
	*ret_file = strdup(file);
	return *ret_file;
}

/* The library has printed a point, or several. */
static struct err *tap_on_printed(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	struct tap_points *points = run->state;
	_cleanup_(freep) char *text = NULL, *file = NULL;
	unsigned line = 0;
	if (!calls_returned(&points->call, thread))
		return NULL;
	points->call.inside = false;
	if (!tap_find_source(run, arg, &file, &line))
		line = 0;
	TRY(run_output(run, &text));
	struct tap_point point;
	for (const char *at = text;
	     (at = tap_next_point(at, points->number, &point));) {
		points->number = MAX(point.number, points->number + 1);
		if (run->discovering)
			TRY(tap_add_point(run, &point, file, line));
		if (run->in_test) {
			TRY(tap_judge_point(run, &point, file, line));
			TRY(run_end(run, OUTCOME_NONE));
		}
		points->position++;
		if (!run->discovering && run->order)
			TRY(tap_begin_point(run));
	}
	if (run->discovering)
		output_restart(run->session->output);
	return NULL;
}

static struct err *tap_on_point(struct run *run, struct thread *thread,
				uint64_t arg)
{
	struct tap_points *points = run->state;
	if (points->call.inside && calls_nested(&points->call, thread))
		return NULL;
	return calls_enter(run, thread, &points->call, tap_on_printed, arg);
}

static struct err *tap_on_main(struct run *run, struct thread *thread,
			       uint64_t arg)
{
	(void)arg;
	run_ready(run, thread);
	return NULL;
}

static struct err *tap_attach(struct run *run)
{
	bool main_found, any = false;
	TRY(run_break_symbol(run, "main", tap_on_main, 0, &main_found));
	for (size_t i = 0; i < ARRAY_SIZE(tap_printers); i++) {
		bool found;
		TRY(run_break_symbol(run, tap_printers[i].name, tap_on_point, i,
				     &found));
		any |= found;
	}
	return main_found && any
		       ? NULL
		       : err_create(ERR_SUITE, "main() or the functions of the "
					       "TAP library are not found");
}

static struct err *tap_discover(struct run *run, struct thread *thread)
{
	(void)run;
	(void)thread;
	return NULL;
}

static struct err *tap_start(struct run *run, struct thread *thread)
{
	(void)thread;
	return tap_begin_point(run);
}

static bool tap_recognise(const struct program *program)
{
	static const char *const alone[] = { "vok_at_loc", "ok_at_loc" };
	static const char *const generated[] = { "_gen_result" };
	static const char *const plans[] = { "plan_tests", "plan_no_plan" };
	static const char *const points[] = { "ok" };
	static const char *const harness[] = { "skip_all", "bail",
					       "plan_lazy" };
	return program_uses_any(program, alone, ARRAY_SIZE(alone)) ||
	       (program_uses_any(program, generated, ARRAY_SIZE(generated)) &&
		program_uses_any(program, plans, ARRAY_SIZE(plans))) ||
	       (program_uses_any(program, points, ARRAY_SIZE(points)) &&
		program_uses_any(program, harness, ARRAY_SIZE(harness)));
}

const struct framework framework_tap = {
	.name = "tap",
	.state_size = sizeof(struct tap_points),
	.recognise = tap_recognise,
	.own = {
		.title = "the TAP library",
		.functions = FRAMEWORK_LIST("vok_at_loc$", "ok_at_loc$",
			"_gen_result$", "tap_plan$", "exit_status$"),
		.symbols = FRAMEWORK_LIST("vok_at_loc", "ok_at_loc",
			"_gen_result", "tap_plan", "plan_lazy"),
		.libraries = FRAMEWORK_LIST("libtap"),
	},
	.attach = tap_attach,
	.discover = tap_discover,
	.start = tap_start,
	.no_points = "the points of a TAP program have no set-up and tear-down",
};
