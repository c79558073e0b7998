#include "finding/hint.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "finding/assumption.h"
#include "finding/flaky.h"
#include "finding/hint_calls.h"
#include "finding/leftover.h"
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

static bool is_java(const char *framework)
{
	return framework &&
	       (!strcmp(framework, "java") || !strcmp(framework, "testng") ||
		str_starts(framework, "junit"));
}

/* ---- what undoes a change ---- */

/* One place, as hints need it. */
struct hint_change {
	enum change_where where;
	const char *root, *path, *before, *after;
	bool java; /* the test is written in it */
};

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

static struct err *append_environment(struct str *str,
				      const struct hint_change *change,
				      const char *name)
{
	TRY(str_append(str, is_absent(change->before) ? "unsetenv(\""
						      : "setenv(\""));
	TRY(words_append(str, name));
	if (is_absent(change->before))
		return str_append(str, "\")");
	TRY(str_append(str, "\", "));
	TRY(words_append(str, change->before));
	return str_append(str, ", 1)");
}

static struct err *append_property(struct str *str,
				   const struct hint_change *change,
				   const char *name)
{
	bool absent = is_absent(change->before);
	TRY(str_append(str, absent ? "System.clearProperty(\""
				   : "System.setProperty(\""));
	TRY(words_append(str, name));
	if (absent)
		return str_append(str, "\")");
	TRY(str_append(str, "\", "));
	TRY(words_append(str, change->before));
	return str_append(str, ")");
}

static struct err *append_file_undo(struct str *str,
				    const struct hint_change *change)
{
	if (is_absent(change->before)) {
		TRY(str_append(str, change->java ? "Files.delete(Path.of(\""
						 : "remove(\""));
		TRY(words_append(str, change->root));
		return str_appendf(
			str, "\")%s, or write to a new folder for each test",
			change->java ? ")" : "");
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
	{ "working-directory", "chdir() back to %s" },
	{ "root-directory", "leave the new root in a child process" },
	{ "umask", "umask(%s)" },
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
	{ "rounding-mode", "fesetround() back to %s" },
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

static struct err *append_process(struct str *str,
				  const struct hint_change *change)
{
	_cleanup_(freep) char *name = NULL;
	if (!change->java)
		TRY(name_in_brackets(change->root, "environment", &name));
	if (name)
		return append_environment(str, change, name);
	TRY(name_in_brackets(change->root, "system-property", &name));
	if (name)
		return append_property(str, change, name);
	if (str_starts(change->after, "trapping: "))
		return str_append(str, "fedisableexcept(FE_ALL_EXCEPT)");
	for (size_t i = 0; change->java && i < ARRAY_SIZE(java_attributes);
	     i++) {
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

static struct err *append_memory(struct str *str,
				 const struct hint_change *change)
{
	const char *elements = strstr(change->before, " element");
	if (elements && !strncmp(change->before, "0 ", 2)) {
		TRY(str_append(str, "empty "));
		return words_append(str, change->path);
	}
	if (elements) {
		TRY(str_append(str, "take out of "));
		TRY(words_append(str, change->path));
		return str_append(str, " what the test put in");
	}
	if (is_absent(change->before)) {
		TRY(str_append(str, "erase "));
		return words_append(str, change->path);
	}
	if (is_absent(change->after)) {
		TRY(str_append(str, "restore "));
		return words_append(str, change->path);
	}
	if (!is_plain(change->before)) {
		TRY(str_append(str, "restore "));
		return words_append(str, change->path);
	}
	TRY(str_append(str, "set "));
	TRY(words_append(str, change->path));
	TRY(str_append(str, " back to "));
	return words_append(str, change->before);
}

static struct err *append_undo(struct str *str,
			       const struct hint_change *change)
{
	return change->where == CHANGE_FILE	 ? append_file_undo(str, change)
	       : change->where == CHANGE_PROCESS ? append_process(str, change)
						 : append_memory(str, change);
}

/* "restore it in TearDown: unsetenv("SHOP_LOCALE")" */
static struct err *append_restore(struct str *str,
				  const struct hint_change *change,
				  const char *framework)
{
	const char *place = place_to_undo(framework);
	TRY(str_appendf(str, "restore it %s: ",
			place ? place : "at the end of the test"));
	return append_undo(str, change);
}

/* ---- kinds ---- */

static struct err *hint_leftover(const struct leftover *leftover,
				 const char *framework, struct str *str)
{
	const struct change_path *path = &leftover->change.paths[0];
	const struct hint_change change = {
		.where = leftover->change.where,
		.root = leftover->change.root,
		.path = path->path,
		.before = path->before,
		.after = path->after,
		.java = is_java(framework),
	};
	return append_restore(str, &change, framework);
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
	const struct hint_change change = {
		.where = dependence->left.change.where,
		.root = dependence->left.change.root,
		.path = dependence->left.path,
		.before = dependence->left.before,
		.after = dependence->left.after,
		.java = is_java(framework),
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
	TRY(append_restore(str, &change, framework));
	TRY(str_append(str, " (in "));
	TRY(words_append(str, by));
	return str_append(str, ")");
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

struct err *hint_make(struct finding *finding, const char *framework)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	const struct leftover *leftover = leftover_of(finding);
	const struct assumption *assumption = assumption_of(finding);
	if (finding->hint || !finding->evidence)
		return NULL;
	if (leftover && leftover->restores)
		return NULL;
	if (leftover && leftover->change.n)
		TRY(hint_leftover(leftover, framework, &str));
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
