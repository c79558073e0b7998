#include "native/executable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/globs.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "native/framework.h"
#include "native/inlined.h"
#include "tracee/output.h"

struct err *executable_find(const char *name, char **ret)
{
	_cleanup_(freep) char *found = NULL;
	if (strchr(name, '/') || access(name, F_OK) == 0) {
		found = strdup(name);
		if (!found)
			return err_nomem();
		*ret = take_ptr(found);
		return NULL;
	}
	const char *path = getenv("PATH");
	while (path && *path) {
		size_t n = strcspn(path, ":");
		_cleanup_(freep) char *folder = strndup(path, n);
		if (!folder)
			return err_nomem();
		TRY(path_join(n ? folder : ".", name, &found));
		if (access(found, X_OK) == 0) {
			*ret = take_ptr(found);
			return NULL;
		}
		free(take_ptr(found));
		path += n + (path[n] == ':');
	}
	return err_hint(err_create(ERR_USAGE, "there is no '%s'", name),
			"give the path of the test executable");
}

static struct err *check_script(const char *path)
{
	struct err *err = err_create(
		ERR_USAGE, "'%s' is a script, not a test executable", path);
	_cleanup_(freep) char *text = NULL;
	err_ignore(file_read(path, 1 << 20, &text, NULL));
	if (text && strstr(text, "libtool"))
		return err_hint(err,
				"libtool made it; let libtool start us: "
				"libtool --mode=execute polygraph … %s",
				path);
	return err_hint(err, "give the program that the script starts, or run "
			     "the script as a process with --commands");
}

struct err *executable_check(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return err_hint(err_with_kind(err_errno(errno, "'%s'", path),
					      ERR_USAGE),
				"give the path of the test executable");
	if (!S_ISREG(st.st_mode))
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is not a regular file", path),
				"give the path of the test executable");

	struct object_facts facts;
	struct err *err = object_probe(path, &facts);
	if (err)
		return err_with_kind(err, ERR_USAGE);
	if (facts.script)
		return check_script(path);
	if (!facts.elf)
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is not an ELF executable",
					   path),
				"give a compiled test program");
	if (!facts.native)
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is for %s; only 64-bit x86-64 "
					   "programs can be run here",
					   path,
					   facts.machine ? facts.machine
							 : "another processor"),
				"build the tests for this machine");
	if (!facts.executable)
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is not a program but a "
					   "library or an object file",
					   path),
				"give the test program that uses it");
	if (access(path, X_OK) < 0)
		return err_hint(err_create(ERR_USAGE,
					   "'%s' has no execute permission",
					   path),
				"chmod +x %s", path);
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getegid()))
		return err_hint(
			err_create(ERR_USAGE,
				   "'%s' is set-user-ID or set-group-ID: the "
				   "system forbids tracing it",
				   path),
			"remove the bit (chmod ug-s) or run a copy without it");
	return NULL;
}

static bool count_match(void *data, const char *name, const char *file,
			unsigned line)
{
	(void)name;
	(void)file;
	(void)line;
	++*(unsigned *)data;
	return true;
}

/* How tests are named where they are not named test_*. */
static const char *const likely_globs[] = {
	"t_*",	      "*_test", "*_tests",  "Test*",
	"check_*",    "tst_*",	"tests_*",  "test[A-Z0-9]*",
	"testcase_*", "TEST_*", "*::test*", "case_*",
};
/* Fewer are a coincidence. */
#define LIKELY_MIN 2

/* A method of so many classes is that of a runner's own test classes. */
#define LIKELY_CLASSES 3

struct likely_names {
	unsigned n[ARRAY_SIZE(likely_globs)];
	/* C++ methods with "test" in their names: in how many classes. */
	struct map_text methods;
	char method[64]; /* the most frequent */
	unsigned n_classes;
};

static void likely_names_free(struct likely_names *likely)
{
	map_text_free(&likely->methods);
}

static void count_likely_method(struct likely_names *likely, const char *name)
{
	uint64_t n = 0;
	if (strlen(name) >= sizeof(likely->method) || name[0] == '~' ||
	    strpbrk(name, "<( ") || !strcasestr(name, "test"))
		return;
	map_text_get(&likely->methods, name, &n);
	err_ignore(map_text_put(&likely->methods, name, ++n));
	if (n <= likely->n_classes)
		return;
	likely->n_classes = (unsigned)n;
	snprintf(likely->method, sizeof(likely->method), "%s", name);
}

static bool count_likely(void *data, const struct object_symbol *symbol)
{
	struct likely_names *likely = data;
	if (!symbol->function || strchr(symbol->name, '.'))
		return true;
	_cleanup_(freep) char *name = object_function_name(symbol->name);
	const char *scope = NULL;
	for (const char *at = name ? strstr(name, "::") : NULL; at;
	     at = strstr(at + 2, "::"))
		scope = at;
	for (size_t i = 0; name && i < ARRAY_SIZE(likely_globs); i++)
		likely->n[i] += (!scope || strstr(likely_globs[i], "::")) &&
				str_glob(likely_globs[i], name);
	if (scope)
		count_likely_method(likely, scope + 2);
	return true;
}

struct err *executable_unrecognised(const struct program *program,
				    const char *const *globs)
{
	const struct module *module = &program->modules.data[0];
	const struct object_facts *facts =
		module->object ? object_facts(module->object) : NULL;
	_cleanup_(str_freep) struct str names = STR_INIT;
	TRY(globs_describe(globs, &names));
	struct err *err =
		err_create(ERR_SUITE,
			   "'%s': no test framework recognised and no function "
			   "matches %s",
			   module->path, names.s);
	if (facts && !facts->symtab)
		return err_hint(err, "it is stripped: build it without -s and "
				     "do not strip it");
	unsigned inlined = 0;
	if (module->object)
		object_each_inlined(module->object, globs, count_match,
				    &inlined);
	if (inlined)
		return err_hint(
			err,
			"%u matching functions were inlined: build with "
			"-fno-inline or mark them "
			"__attribute__((noinline))",
			inlined);
	_cleanup_(likely_names_free) struct likely_names likely = {};
	if (module->object)
		object_each_symbol(module->object, count_likely, &likely);
	if (likely.n_classes >= LIKELY_CLASSES)
		return err_hint(err,
				"%u classes have a method '%s': are these its "
				"tests? --test-functions '*::%s'",
				likely.n_classes, likely.method, likely.method);
	size_t best = 0;
	for (size_t i = 1; i < ARRAY_SIZE(likely_globs); i++) {
		if (likely.n[i] > likely.n[best])
			best = i;
	}
	if (likely.n[best] >= LIKELY_MIN)
		return err_hint(err,
				"%u functions match '%s': are these its tests? "
				"--test-functions '%s'",
				likely.n[best], likely_globs[best],
				likely_globs[best]);
	return err_hint(err, "name the framework with --framework, or for a "
			     "hand-written runner its functions with "
			     "--test-functions GLOB");
}

/* The end of what the program printed, as a hint. */
static struct err *with_last_words(struct session *session, struct err *err,
				   const char *otherwise)
{
	struct output_piece piece = {};
	struct err *cut = output_cut(session->output, NULL, 0, &piece);
	_cleanup_(freep) char *text = piece.text;
	if (cut) {
		err_ignore(cut);
		return err;
	}
	while (piece.n && strchr("\n\r ", text[piece.n - 1]))
		text[--piece.n] = '\0';
	if (!piece.n)
		return err_hint(err, "%s", otherwise);
	const char *last = memrchr(text, '\n', piece.n);
	last = last ? last + 1 : text;
	return err_hint(err, "its last words: %.300s", last);
}

/* A runner of its own executable: of the tests nothing is called in it. */
static struct err *executable_runs_itself(void)
{
	return err_hint(err_create(ERR_SUITE,
				   "the program runs its tests by executing "
				   "itself again, a process for each of them"),
			"run them as processes, with --commands FILE: one "
			"command per line, the program with the name of one "
			"test");
}

struct err *executable_ended_early(struct session *session, const char *how)
{
	if (session->executes_itself)
		return executable_runs_itself();
	struct err *err = err_create(
		ERR_SUITE, "the program ended before it started a test (%s)",
		how);
	const struct framework *framework = session->framework;
	bool by_hand = framework && !strcmp(framework->name, "functions");
	size_t inlined = by_hand ? inlined_tests(session) : 0;
	if (inlined)
		return err_hint(err,
				"%zu functions that look like tests were "
				"inlined into their callers: build with "
				"-fno-inline or mark them "
				"__attribute__((noinline))",
				inlined);
	return with_last_words(
		session, err,
		"it printed nothing; does it run its tests when started by "
		"hand?");
}

struct err *executable_hung_early(struct session *session)
{
	if (session->executes_itself)
		return executable_runs_itself();
	char limit[16];
	duration_format(session->suite.options.timeout_ns, limit);
	return with_last_words(
		session,
		err_create(ERR_SUITE,
			   "the program did not start a test within %s", limit),
		"give it more time with --timeout, or name its framework with "
		"--framework");
}

struct err *executable_no_tests(struct session *session)
{
	return err_hint(err_create(ERR_SUITE, "the suite has no tests"),
			"framework: %s; does the program list tests when "
			"started by hand?",
			session->framework->name);
}

void executable_judge_end(struct session *session, const struct run *run,
			  enum run_state state)
{
	if (state == RUN_HUNG)
		suite_limit(session->observer,
			    "the program did not end after its last test");
	else if (state == RUN_GONE && run->killed_by && !run->dying)
		suite_limit(session->observer,
			    "the program ended badly after its last test: %s",
			    run_end_text(run));
	else if (state == RUN_GONE && run->exit_status &&
		 run->framework->exit_status_counts && !session->unhappy)
		suite_limit(session->observer,
			    "the program ended with %s although no test "
			    "failed; %s",
			    run_end_text(run),
			    inlined_tests(session)
				    ? "one that was inlined into the runner "
				      "may have"
				    : "--alone shows which test causes it");
	else if (state == RUN_GONE && run->exit_status && run->failed_outside &&
		 !session->unhappy)
		suite_limit(session->observer,
			    "the program ended with %s although no test "
			    "failed: something around its tests did",
			    run_end_text(run));
}

void executable_tell_listing(struct session *session)
{
	size_t n = session->suite.tests.n;
	if (session->told_listing)
		return;
	session->told_listing = true;
	if (session->dies_without_tests && session->framework->flows)
		suite_limit(session->observer,
			    "the program crashes or hangs if its tests are "
			    "skipped: some tests ran without the code before "
			    "them; if that code is tests, too, name them with "
			    "--test-functions");
	if (!session->listing_end)
		return;
	suite_limit(session->observer,
		    "the program %s while its tests were listed: there may be "
		    "more than the %zu test%s that it had called by then",
		    session->listing_end, n, n == 1 ? "" : "s");
}

void executable_tell_forked(struct session *session)
{
	if (!session->tests_forked || !session->watch || session->told_forked)
		return;
	session->told_forked = true;
	suite_limit(session->observer,
		    "pollution: the program forks for each of its tests: what "
		    "they change in memory and in their process is gone with "
		    "it; compared are files, shared memory, semaphores and "
		    "message queues, ports and processes that are left");
}

void executable_tell_inlined(struct session *session)
{
	const struct suite_observer *observer = session->observer;
	const char *const *globs = session_test_functions(session);
	_cleanup_(str_freep) struct str names = STR_INIT;
	if (session->told_inlined || !observer || !observer->limit)
		return;
	session->told_inlined = true;
	size_t n = inlined_tests(session);
	struct err *err = globs_describe(globs, &names);
	if (n && !err)
		suite_limit(observer,
			    "%zu function%s matching %s %s inlined into the "
			    "runner and cannot be run as %s: build with "
			    "-fno-inline",
			    n, n == 1 ? "" : "s", names.s,
			    n == 1 ? "was" : "were",
			    n == 1 ? "a test" : "tests");
	err_ignore(err);
}
