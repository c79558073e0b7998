#include "finding/hint.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "finding/assumption.h"
#include "finding/flaky.h"
#include "finding/hint_calls.h"
#include "finding/leftover.h"
#include "finding/statement.h"
#include "finding/words.h"

/* Longer values say no more. */
#define VALUE_MAX 40

/* ---- words of the frameworks ---- */

static const struct {
	const char *framework;
	const char *undo; /* "restore it …" */
	const char *prepare;
} places[] = {
	{ "gtest", "in TearDown", "in SetUp" },
	{ "boost", "in the fixture's destructor",
	  "in the fixture's constructor" },
	{ "catch2", "in the fixture's destructor",
	  "in the fixture's constructor" },
	{ "doctest", "in the fixture's destructor",
	  "in the fixture's constructor" },
	{ "check", "in the teardown function", "in the setup function" },
	{ "cmocka", "in the teardown function", "in the setup function" },
	{ "cunit", "in the suite's teardown function",
	  "in the suite's setup function" },
	{ "glib", "in the fixture's teardown function",
	  "in the fixture's setup function" },
	{ "unity", "in tearDown()", "in setUp()" },
	{ "cpputest", "in teardown()", "in setup()" },
	{ "qtest", "in cleanup()", "in init()" },
	{ "criterion", "in .fini", "in .init" },
	{ "clar", "in the suite's cleanup function",
	  "in the suite's initialize function" },
	{ "munit", "in the tear_down function", "in the setup function" },
	{ "utest", "in UTEST_F_TEARDOWN", "in UTEST_F_SETUP" },
	{ "junit4", "in the @After method", "in the @Before method" },
	{ "junit5", "in the @AfterEach method", "in the @BeforeEach method" },
	{ "testng", "in the @AfterMethod method",
	  "in the @BeforeMethod method" },
};

static const char *place_to_undo(const char *framework)
{
	for (size_t i = 0; framework && i < ARRAY_SIZE(places); i++) {
		if (!strcmp(places[i].framework, framework))
			return places[i].undo;
	}
	return NULL;
}

static const char *place_to_prepare(const char *framework)
{
	for (size_t i = 0; framework && i < ARRAY_SIZE(places); i++) {
		if (!strcmp(places[i].framework, framework))
			return places[i].prepare;
	}
	return NULL;
}

/* ---- what undoes a change ---- */

/* In which words its tests are written. */
enum hint_language { HINT_C, HINT_JAVA, HINT_COMMANDS };

/* One place, as hints need it. */
struct hint_change {
	enum change_where where;
	const char *root, *path, *before, *after;
	const char *file; /* that declares it; NULL: unknown */
	unsigned line;
	size_t more; /* further places */
	enum hint_language language;
};

static enum hint_language language_of(const char *framework)
{
	static const char *const commands[] = { "commands", "ctest", "meson" };
	for (size_t i = 0; framework && i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(framework, commands[i]))
			return HINT_COMMANDS;
	}
	return framework && (!strcmp(framework, "java") ||
			     !strcmp(framework, "testng") ||
			     str_starts(framework, "junit"))
		       ? HINT_JAVA
		       : HINT_C;
}

/* "NAME" of "environment[NAME]"; NULL: of something else. */
static struct err *name_in_brackets(const char *root, const char *what,
				    char **ret)
{
	size_t n = strlen(what);
	const char *end = strrchr(root, ']');
	*ret = NULL;
	if (strncmp(root, what, n) != 0 || root[n] != '[' || !end)
		return NULL;
	*ret = strndup(root + n + 1, (size_t)(end - root) - n - 1);
	return *ret ? NULL : err_nomem();
}

static bool is_plain(const char *value)
{
	return *value && strlen(value) <= VALUE_MAX && !strchr(value, '{') &&
	       !strstr(value, "…") && !strstr(value, " bytes");
}

static bool is_absent(const char *value)
{
	return !strcmp(value, "(absent)") || !strcmp(value, "absent") ||
	       !strcmp(value, "unset") || !strcmp(value, "(unset)");
}

/* It may stand between quotes as it is. */
static bool is_quotable(const char *name)
{
	for (; *name; name++) {
		if (*name == '"' || *name == '\\' ||
		    (unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	}
	return true;
}

/* The statement that a patch would have; *@ret: there is one. */
static struct err *append_statement(struct str *str,
				    const struct hint_change *change, bool *ret)
{
	char *path = (char *)change->path, *before = (char *)change->before;
	struct change_path one = { .path = path, .before = before };
	const struct change whole = {
		.where = change->where,
		.root = (char *)change->root,
		.paths = &one,
		.n = 1,
	};
	_cleanup_(statement_freep) struct statement_code statement = {};
	TRY(statement_of(&whole, &statement));
	*ret = statement.code.n && !statement.save;
	if (!*ret)
		return NULL;
	/* The sentence goes on. */
	statement.code.s[statement.code.n - 1] = '\0';
	return words_append(str, statement.code.s);
}

/* Where the value is cut, or would have to be written in another way. */
static struct err *append_set_back(struct str *str, const char *what,
				   const char *name)
{
	TRY(str_appendf(str, "set the %s ", what));
	TRY(words_append(str, name));
	return str_append(str, " back to what it was");
}

/* Between quotes, and between them as it is. */
static bool hint_is_literal(const char *value)
{
	size_t n = strlen(value);
	_cleanup_(freep) char *inner =
		n >= 2 ? strndup(value + 1, n - 2) : NULL;
	return inner && value[0] == '"' && value[n - 1] == '"' &&
	       is_quotable(inner) && !strstr(inner, "…");
}

static struct err *append_property(struct str *str,
				   const struct hint_change *change,
				   const char *name)
{
	bool absent = is_absent(change->before);
	if (!is_quotable(name) || (!absent && !hint_is_literal(change->before)))
		return append_set_back(str, "property", name);
	TRY(str_append(str, absent ? "System.clearProperty(\""
				   : "System.setProperty(\""));
	TRY(words_append(str, name));
	if (absent)
		return str_append(str, "\")");
	TRY(str_append(str, "\", "));
	TRY(words_append(str, change->before));
	return str_append(str, ")");
}

/* "remove("x.log")", "Files.delete(Path.of("x.log"))", "remove the folder x" */
static struct err *append_removal(struct str *str,
				  const struct hint_change *change)
{
	bool folder = str_starts(change->after, "folder"), done = false;
	if (!folder && change->language == HINT_C)
		TRY(append_statement(str, change, &done));
	if (!folder && change->language == HINT_JAVA &&
	    is_quotable(change->root)) {
		TRY(str_append(str, "Files.delete(Path.of(\""));
		TRY(words_append(str, change->root));
		return str_append(str, "\"))");
	}
	if (done)
		return NULL;
	TRY(str_append(str, folder ? "remove the folder " : "remove "));
	return words_append(str, change->root);
}

static struct err *append_file_undo(struct str *str,
				    const struct hint_change *change)
{
	if (is_absent(change->before)) {
		TRY(append_removal(str, change));
		return str_append(str,
				  ", or write to a new folder for each test");
	}
	if (is_absent(change->after)) {
		TRY(str_append(str, "create "));
		TRY(words_append(str, change->root));
		return str_append(str, " again");
	}
	TRY(str_append(str, "write a copy of "));
	TRY(words_append(str, change->root));
	return str_append(str, ", not the file itself");
}

/* By the attribute: what puts it back. */
struct hint_undo {
	const char *root;
	const char *undo; /* "%s": the value before */
};

/* Where it is called otherwise in Java. */
static const struct hint_undo java_attributes[] = {
	{ "descriptor*", "close it" },
	{ "mapping*", "keep no reference to the buffer" },
	{ "thread*", "end and join the thread, or shut its executor down" },
	{ "test-thread*", "set it back on the test's thread" },
	{ "logger*", "keep the logger, and set its level and handlers back" },
	{ "security-providers", "Security.removeProvider() what was added" },
	{ "environment*", "set the variable back in the same way" },
};

static const struct hint_undo attributes[] = {
	{ "umask", "umask() with what it was" },
	{ "working-directory",
	  "chdir() back to the folder that getcwd() gave at its start" },
	{ "root-directory", "leave the new root in a child process" },
	{ "signal-handler*", "sigaction() with what was there before" },
	{ "signal-mask", "pthread_sigmask() with the mask from before" },
	{ "signal-stack", "sigaltstack() with what was there before" },
	{ "pending-signals*", "wait for the signal, or ignore it first" },
	{ "stdio*", "send the stream back to where it went" },
	{ "descriptor*", "close() it" },
	{ "locale*", "setlocale() back to %s" },
	{ "time-zone", "set TZ back, and call tzset()" },
	{ "limit*", "setrlimit() back to %s" },
	{ "priority", "setpriority() back to %s" },
	{ "scheduling", "sched_setscheduler() with what was there before" },
	{ "cpu-affinity", "sched_setaffinity() with what was there before" },
	{ "timer*", "disarm it" },
	{ "rounding-mode", "fesetround() with what fegetround() gave before" },
	{ "floating-point-exceptions", "feclearexcept(FE_ALL_EXCEPT)" },
	{ "random", "srandom() with a fixed seed in each test that draws" },
	{ "drand48", "srand48() with a fixed seed in each test that draws" },
	{ "thread*", "end and join the thread" },
	{ "child*", "end the child and wait for it" },
	{ "mapping*", "munmap() it" },
	{ "shared-memory*", "remove it: shm_unlink() or shmctl(IPC_RMID)" },
	{ "semaphore*", "remove it: sem_unlink() or semctl(IPC_RMID)" },
	{ "message-queue*", "remove it: mq_unlink() or msgctl(IPC_RMID)" },
	{ "port*", "close the socket" },
	{ "lock*", "unlock the file" },
	{ "atexit*", "register it once, before the tests" },
	{ "stream*", "restore its flags: copyfmt() of a copy from before" },
	{ "terminate-handler", "std::set_terminate() with the old one" },
	{ "new-handler", "std::set_new_handler() with the old one" },
	{ "default-*locale", "Locale.setDefault() with the one from before" },
	{ "default-time-zone",
	  "TimeZone.setDefault() with the one from before" },
	{ "default-uncaught-exception-handler",
	  "Thread.setDefaultUncaughtExceptionHandler() with the old one" },
	{ "System.out", "System.setOut() with the stream from before" },
	{ "System.err", "System.setErr() with the stream from before" },
	{ "System.in", "System.setIn() with the stream from before" },
	{ "security-manager", "System.setSecurityManager() with the old one" },
	{ "shutdown-hooks", "Runtime.removeShutdownHook() with that hook" },
	{ "proxy-selector", "ProxySelector.setDefault() with the old one" },
	{ "authenticator", "Authenticator.setDefault() with the old one" },
	{ "cookie-handler", "CookieHandler.setDefault() with the old one" },
};

/* Of these a patch has the statement that a person would write, too. */
static bool hint_is_code(const char *root)
{
	static const char *const roots[] = { "environment*",  "umask",
					     "rounding-mode", "signal-handler*",
					     "getopt",	      "hsearch" };
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		if (str_glob(roots[i], root))
			return true;
	}
	return false;
}

static struct err *append_process(struct str *str,
				  const struct hint_change *change)
{
	_cleanup_(freep) char *name = NULL;
	const bool java = change->language == HINT_JAVA;
	bool done = false;
	if (change->language == HINT_C && hint_is_code(change->root))
		TRY(append_statement(str, change, &done));
	if (done)
		return NULL;
	if (change->language == HINT_C)
		TRY(name_in_brackets(change->root, "environment", &name));
	if (name)
		return append_set_back(str, "variable", name);
	TRY(name_in_brackets(change->root, "system-property", &name));
	if (name)
		return append_property(str, change, name);
	if (str_starts(change->after, "trapping: "))
		return str_append(str, "fedisableexcept(FE_ALL_EXCEPT)");
	for (size_t i = 0; java && i < ARRAY_SIZE(java_attributes); i++) {
		if (str_glob(java_attributes[i].root, change->root))
			return str_append(str, java_attributes[i].undo);
	}
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		const char *undo = attributes[i].undo;
		const char *value = strstr(undo, "%s");
		if (!str_glob(attributes[i].root, change->root))
			continue;
		if (!value)
			return str_append(str, undo);
		TRY(str_append_n(str, undo, (size_t)(value - undo)));
		TRY(words_append(str, is_plain(change->before)
					      ? change->before
					      : "what it was"));
		return str_append(str, value + strlen("%s"));
	}
	TRY(str_append(str, "restore "));
	return words_append(str, change->root);
}

/* An element that has to go is named as a whole: "carriers_["dhl"]". */
static size_t element_length(const char *path)
{
	const char *end = strrchr(path, ']');
	return end && end[1] == '.' ? (size_t)(end + 1 - path) : strlen(path);
}

/* "N elements" */
static bool count_elements(const char *value, unsigned long *ret)
{
	char *end;
	*ret = strtoul(value, &end, 10);
	return end > value && str_starts(end, " element");
}

static bool hint_is_pointer(const char *value)
{
	return !strcmp(value, "NULL") || *value == '&' ||
	       str_starts(value, "0x");
}

/* What there was before, as far as a value says it. */
static struct err *append_former(struct str *str,
				 const struct hint_change *change)
{
	unsigned long before, after;
	if (is_absent(change->before))
		return str_append(str, " has to be gone again");
	if (is_absent(change->after))
		return str_append(str, " has to be there again");
	if (count_elements(change->before, &before)) {
		if (!before)
			return str_append(str, " has to be empty again");
		if (count_elements(change->after, &after) && after > before)
			return str_append(str, " has to be without what the "
					       "test added");
		return str_append(str, " has to be as before");
	}
	/* What a pointer was is not all that it takes to put it back. */
	if (!is_plain(change->before) || hint_is_pointer(change->before) ||
	    hint_is_pointer(change->after))
		return str_append(str, " has to be as before");
	TRY(str_append(str, " has to be "));
	TRY(words_append(str, change->before));
	TRY(str_append(str, " again"));
	return change->more
		       ? str_appendf(str, ", and %zu more place%s as before",
				     change->more, change->more == 1 ? "" : "s")
		       : NULL;
}

/*
 * Which state it has to have, and where that is declared: how to get there is for
 * whoever knows the code, since most of it cannot be named in a test, and an
 * assignment would leave the rest as it is.
 */
static struct err *append_memory(struct str *str,
				 const struct hint_change *change)
{
	_cleanup_(freep) char *path = strdup(change->path);
	if (!path)
		return err_nomem();
	if (is_absent(change->before))
		path[element_length(path)] = '\0';
	TRY(words_append(str, path));
	if (change->file) {
		TRY(str_append(str, " ("));
		TRY(words_append_place(str, change->file, change->line));
		TRY(str_append(str, ")"));
	}
	return append_former(str, change);
}

static struct err *append_undo(struct str *str,
			       const struct hint_change *change)
{
	return change->where == CHANGE_FILE	 ? append_file_undo(str, change)
	       : change->where == CHANGE_PROCESS ? append_process(str, change)
						 : append_memory(str, change);
}

/* "restore it in TearDown, after A: unsetenv("SHOP_LOCALE")" */
static struct err *append_restore(struct str *str,
				  const struct hint_change *change,
				  const char *test, const char *framework)
{
	const char *place = place_to_undo(framework);
	TRY(str_appendf(str, "restore it %s",
			place ? place : "at the end of "));
	TRY(str_append(str, place && test ? ", after " : ""));
	TRY(words_append(str, test ? test : place ? "" : "the test"));
	TRY(str_append(str, ": "));
	return append_undo(str, change);
}

/* ---- kinds ---- */

static struct err *hint_leftover(const struct finding *finding,
				 const char *framework, struct str *str)
{
	const struct leftover *leftover = leftover_of(finding);
	const struct change *all = &leftover->change;
	const struct hint_change change = {
		.where = all->where,
		.root = all->root,
		.path = all->paths[0].path,
		.before = all->paths[0].before,
		.after = all->paths[0].after,
		.file = finding->file,
		.line = finding->line,
		.more = all->n - 1 + all->more,
		.language = language_of(framework),
	};
	return append_restore(str, &change, NULL, framework);
}

static struct err *hint_unknown_place(const struct finding *finding,
				      const struct dependence *dependence,
				      const char *framework, struct str *str)
{
	const struct order_tests *order = dependence->class == ORDER_BRITTLE
						  ? &dependence->passing
						  : &dependence->failing;
	if (dependence->class == ORDER_UNEXPLAINED)
		return str_appendf(str,
				   "give the search more time, with a longer "
				   "--budget");
	if (dependence->polluted.n) {
		const char *place = place_to_undo(framework);
		TRY(str_append(str, "restore "));
		TRY(words_append(str, dependence->polluted.data[0]));
		return str_appendf(str, " %s",
				   place ? place : "at the end of the test");
	}
	TRY(str_append(str, "look for what "));
	if (order->n > 1)
		TRY(words_append(str, roster_name(finding->tests,
						  order->data[order->n - 2])));
	else
		TRY(str_append(str, "a test before it"));
	/* No time, or nobody asked: it may well be something that is compared. */
	if (!dependence->roots_known)
		return str_append(str,
				  " leaves changed, with polygraph pollution");
	return str_append(str, " leaves that is not compared: a server, a "
			       "device, the time");
}

static struct err *hint_dependence(const struct finding *finding,
				   const char *framework, struct str *str)
{
	const struct dependence *dependence = dependence_of(finding);
	const struct change *all = &dependence->left.change;
	const struct hint_change change = {
		.where = all->where,
		.root = all->root,
		.path = dependence->left.path,
		.before = dependence->left.before,
		.after = dependence->left.after,
		.file = all->file,
		.line = all->line,
		.more = all->n ? all->n - 1 + all->more : 0,
		.language = language_of(framework),
	};
	if (!change.path || !change.root)
		return hint_unknown_place(finding, dependence, framework, str);
	const char *by = roster_name(finding->tests, dependence->left.test);
	if (dependence->class == ORDER_BRITTLE) {
		const char *place = place_to_prepare(framework);
		TRY(str_appendf(str, "set %s up %s of ",
				change.where == CHANGE_FILE ? "the file" : "it",
				place ? place : "at the beginning"));
		TRY(words_append(str, finding_test(finding)));
		TRY(str_append(str, ", as "));
		TRY(words_append(str, by));
		return str_append(str, " does");
	}
	TRY(append_restore(str, &change, by, framework));
	if (change.where != CHANGE_MEMORY || change.language != HINT_C)
		return NULL;
	if (dependence->left.call) {
		TRY(str_append(str, "; "));
		TRY(words_append(str, dependence->left.call));
		TRY(str_append(str, " may do that"));
	}
	return str_appendf(str, "; 'polygraph repair %s' looks for the call",
			   finding->id);
}

static struct err *hint_flaky(const struct finding *finding, struct str *str)
{
	const struct finding_failure *failure = &flaky_of(finding)->failure;
	TRY(str_append(str, "nothing but chance differs: look for threads, "
			    "time and random numbers"));
	if (!failure->file)
		return NULL;
	TRY(str_append(str, " at "));
	return words_append_place(str, failure->file, failure->line);
}

static struct err *hint_make(struct finding *finding, const char *framework)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	const struct leftover *leftover = leftover_of(finding);
	const struct assumption *assumption = assumption_of(finding);
	if (finding->hint || !finding->evidence ||
	    (leftover && leftover->restores))
		return NULL;
	if (leftover && leftover->change.n)
		TRY(hint_leftover(finding, framework, &str));
	else if (dependence_of(finding))
		TRY(hint_dependence(finding, framework, &str));
	else if (assumption && assumption->calls.n)
		TRY(str_append(&str,
			       hint_of_call(assumption->calls.data[0].api)));
	else if (flaky_of(finding))
		TRY(hint_flaky(finding, &str));
	if (!str.n)
		return NULL;
	finding->hint = str_take(&str);
	return finding->hint ? NULL : err_nomem();
}

/* ---- one cause, one advice ---- */

static bool is_setter(const struct dependence *dependence, size_t test)
{
	for (size_t i = 0; i < dependence->setters.n; i++) {
		const struct order_tests *list = &dependence->setters.data[i];
		for (size_t j = 0; j < list->n; j++) {
			if (list->data[j] == test)
				return true;
		}
	}
	return false;
}

/* Does nobody but this test read what is left, and it needs that? */
static bool is_needed(const struct dependence *dependence,
		      const struct leftover *leftover)
{
	if (dependence->class != ORDER_BRITTLE || !leftover->readers_known ||
	    !leftover->readers.n || !is_setter(dependence, leftover->test))
		return false;
	for (size_t i = 0; i < leftover->readers.n; i++) {
		if (leftover->readers.data[i] != dependence->test)
			return false;
	}
	return true;
}

/* Who needs what is left has to set it up: it is not to be taken away. */
static struct err *adopt_hint(const struct findings *findings,
			      struct finding *finding)
{
	const struct leftover *leftover = leftover_of(finding);
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *other = &findings->data[i];
		if (!other->evidence || !other->hint || !dependence_of(other) ||
		    !is_needed(dependence_of(other), leftover))
			continue;
		return str_copy(other->hint, &finding->hint);
	}
	return NULL;
}

struct err *hints_make(struct findings *findings, const char *framework)
{
	for (size_t i = 0; i < findings->n; i++) {
		if (!leftover_of(&findings->data[i]))
			TRY(hint_make(&findings->data[i], framework));
	}
	for (size_t i = 0; i < findings->n; i++) {
		struct finding *finding = &findings->data[i];
		const struct leftover *leftover =
			finding->evidence ? leftover_of(finding) : NULL;
		if (!finding->hint && leftover && !leftover->restores)
			TRY(adopt_hint(findings, finding));
		TRY(hint_make(finding, framework));
	}
	return NULL;
}
