/*
 * Putting back what tests left changed, in subjects that say in their source
 * which variables matter: test_restore PROGRAM SOURCE [SUITE …]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "framework/frameworks.h"
#include "suite/suite.h"

#define SECOND (UINT64_C(1000) * 1000 * 1000)
#define GUILTY_MAX 8
#define ROOTS_MAX 256

struct expectation {
	char suite[64];
	bool both;
	bool any;
	bool none;
	char names[GUILTY_MAX][64];
	size_t n;
};

struct check {
	const struct expectation *expected;
	unsigned wrong;
	unsigned tries;
	uint64_t ns;
	bool called;
	bool limited;
};

static struct expectation expectations[256];
static size_t n_expectations;

static const char *base_name(const char *root)
{
	const char *name = root, *at;
	while ((at = strstr(name, "::")))
		name = at + 2;
	return name;
}

/* "Registry::get()::registry" and the like: the end is enough. */
static bool is_guilty(const struct expectation *expected, const char *root)
{
	for (size_t i = 0; i < expected->n; i++) {
		if (!strcmp(base_name(expected->names[i]), base_name(root)))
			return true;
	}
	return false;
}

static enum outcome attempt(struct check *check, suite_try *try, void *context,
			    const bool *put_back)
{
	enum outcome outcome = OUTCOME_NONE;
	uint64_t start = clock_now();
	struct err *err = try(context, put_back, &outcome);
	check->ns += clock_now() - start;
	check->tries++;
	if (err) {
		printf("  error: %s\n", err_message(err));
		err_destroy(err);
		check->wrong++;
	}
	return outcome;
}

static bool is_good(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

static void expect(struct check *check, bool wanted, enum outcome outcome,
		   const char *what, const char *root)
{
	if (is_good(outcome) == wanted)
		return;
	printf("  %s %s: outcome %d\n", what, root, (int)outcome);
	check->wrong++;
}

static struct err *judge(void *data, const struct change *roots, size_t n,
			 suite_try *try, void *context)
{
	struct check *check = data;
	const struct expectation *expected = check->expected;
	static bool set[ROOTS_MAX];
	size_t guilty = 0;
	bool innocent = false;
	check->called = true;
	if (!expected) /* is_interrupted(): not to be called */
		return NULL;
	if (n > ROOTS_MAX) {
		printf("  %zu roots\n", n);
		check->wrong++;
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		guilty += is_guilty(expected, roots[i].root);
		innocent |= !strcmp(roots[i].root, "innocent");
	}
	if ((expected->any ? !guilty : guilty != expected->n) || !innocent) {
		printf("  %zu of %zu variables, innocent %d:", guilty,
		       expected->n, innocent);
		for (size_t i = 0; i < n; i++)
			printf(" %s", roots[i].root);
		printf("\n");
		check->wrong++;
	}
	memset(set, 0, sizeof(set));
	expect(check, false, attempt(check, try, context, set), "nothing", "");
	memset(set, 1, sizeof(set));
	expect(check, true, attempt(check, try, context, set), "all", "");
	for (size_t i = 0; i < n; i++) {
		bool turns =
			is_guilty(expected, roots[i].root) && !expected->both;
		memset(set, 0, sizeof(set));
		set[i] = true;
		expect(check, turns, attempt(check, try, context, set), "alone",
		       roots[i].root);
	}
	for (size_t i = 0; i < n; i++)
		set[i] = !is_guilty(expected, roots[i].root);
	expect(check, false, attempt(check, try, context, set), "all but", "");
	for (size_t i = 0; i < n; i++)
		set[i] = is_guilty(expected, roots[i].root);
	expect(check, true, attempt(check, try, context, set), "only", "");
	return NULL;
}

static void on_limit(void *data, const char *text)
{
	struct check *check = data;
	check->limited = true;
	if (!check->expected || !check->expected->none)
		printf("  limit: %s\n", text);
}

static size_t find_test(const struct suite *suite, const char *group,
			const char *name)
{
	char full[128];
	snprintf(full, sizeof(full), "%s%s%s", group, *group ? "." : "", name);
	for (size_t i = 0; i < suite_count(suite); i++) {
		const char *is = suite_test(suite, i)->name;
		size_t n = strlen(is), end = strlen(full);
		if (n >= end && !strcmp(is + n - end, full) &&
		    (!*group || n == end))
			return i;
	}
	return (size_t)-1;
}

/* Comments of the source, each in front of the suite that it is about. */
static void read_source(const char *path)
{
	_cleanup_(freep) char *text = NULL;
	struct err *err = file_read(path, 1 << 20, &text, NULL);
	if (err || !text) {
		err_destroy(err);
		exit(2);
	}
	struct expectation now = {};
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char kind[16], names[4][64];
		line += strspn(line, "/ *");
		int n = sscanf(line, "%15[a-z]: %63s %63s %63s", kind, names[0],
			       names[1], names[2]);
		if (n >= 2 &&
		    (!strcmp(kind, "alone") || !strcmp(kind, "any") ||
		     !strcmp(kind, "none") || !strcmp(kind, "both"))) {
			now = (struct expectation){ .both = *kind == 'b',
						    .any = *kind == 'a' &&
							   kind[1] == 'n',
						    .none = *kind == 'n' };
			for (int i = 0; i < n - 1 && strcmp(names[i], "*/");
			     i++)
				strcpy(now.names[now.n++], names[i]);
		}
		if (now.n && (sscanf(line, "TEST(%63[A-Za-z], pollute",
				     now.suite) == 1 ||
			      strstr(line, "bool pollutes("))) {
			expectations[n_expectations++] = now;
			now = (struct expectation){};
		}
	}
}

/* The agent is looked for beside the program. */
static void move_beside_agent(char **argv)
{
	const char *agent = getenv("AGENT");
	char self[4096], folder[4200], program[4300], link_to[4300];
	if (!agent || getenv("BESIDE_AGENT"))
		return;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		exit(2);
	self[n] = '\0';
	snprintf(folder, sizeof(folder), "%s.d", self);
	snprintf(program, sizeof(program), "%s/test_restore-%d", folder,
		 (int)getpid());
	snprintf(link_to, sizeof(link_to), "%s/libpolygraph-agent.so", folder);
	mkdir(folder, 0777);
	if (symlink(agent, link_to) < 0 && errno != EEXIST)
		exit(2);
	if (link(self, program) < 0)
		exit(2);
	setenv("BESIDE_AGENT", program, 1);
	execv(program, argv);
	exit(2);
}

static bool is_chosen(char **argv, const char *suite)
{
	if (!argv[3])
		return true;
	for (size_t i = 3; argv[i]; i++) {
		if (!strcmp(argv[i], suite))
			return true;
	}
	return false;
}

/* A folder of its own, which goes with all that is in it. */
static char folder[] = "/tmp/test_restore-XXXXXX";

static void leave_folder(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (chdir("/") < 0 || system(command))
		printf("  %s stays\n", folder);
}

static const char *const files[] = { "changed.txt", "created.txt",
				     "innocent.txt", "removed.txt" };

/* Whoever interrupts it is obeyed, and for good: this comes last. */
static bool is_interrupted(struct suite *suite, const struct suite_watch *watch)
{
	static const size_t prefix;
	struct check check = {};
	struct suite_observer observer = { .limit = on_limit, .data = &check };
	suite_interrupt();
	struct err *err = suite_try_roots(suite, watch, &prefix, 1, 1, judge,
					  &check, &observer);
	bool right = err && err_kind(err) == ERR_INTERRUPTED && !check.called;
	if (!right)
		printf("not interrupted\n");
	err_destroy(err);
	return right;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	move_beside_agent(argv);
	const char *own = getenv("BESIDE_AGENT");
	if (own)
		unlink(own);
	read_source(argv[2]);
	char *command[] = { realpath(argv[1], NULL), NULL };
	if (!command[0] || !mkdtemp(folder) || chdir(folder) < 0)
		return 2;
	atexit(leave_folder);
	struct suite_options options = {
		.kind = &executable_suite_kind,
		.argv = command,
		.timeout_ns = 2 * SECOND,
		.jobs = 1,
		.agent = own != NULL,
	};
	struct suite_watch watch = {
		.what = SUITE_ALL,
		.from = SUITE_BEFORE_SETUP,
		.to = SUITE_AFTER_TEARDOWN,
	};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	struct err *err = suite_open(&options, &suite);
	if (err) {
		printf("%s\n", err_message(err));
		err_destroy(err);
		return 2;
	}
	bool keeps = !access("changed.txt", F_OK);
	if (keeps)
		err = suite_keep_files(suite, files, ARRAY_SIZE(files));
	if (err) {
		printf("%s\n", err_message(err));
		err_destroy(err);
		return 2;
	}
	unsigned wrong = 0, tried = 0;
	for (size_t i = 0; i < n_expectations; i++) {
		const struct expectation *expected = &expectations[i];
		size_t prefix = find_test(suite, expected->suite, "pollute");
		size_t victim = find_test(suite, expected->suite, "victim");
		char later[80];
		snprintf(later, sizeof(later), "%.60sLater", expected->suite);
		if (victim == (size_t)-1)
			victim = find_test(suite, later, "victim");
		if (!is_chosen(argv, expected->suite) || prefix == (size_t)-1 ||
		    victim == (size_t)-1)
			continue;
		struct check check = { .expected = expected };
		struct suite_observer observer = { .limit = on_limit,
						   .data = &check };
		uint64_t start = clock_now();
		err = suite_try_roots(suite, &watch, &prefix, 1, victim, judge,
				      &check, &observer);
		uint64_t took = clock_now() - start;
		if (err) {
			printf("  %s\n", err_message(err));
			err_destroy(err);
			check.wrong++;
		}
		check.wrong += check.called == expected->none;
		check.wrong += expected->none && !check.limited;
		printf("%s %s: %u tries, %llu us each, %llu us in all\n",
		       check.wrong ? "not ok" : "ok", expected->suite,
		       check.tries,
		       (unsigned long long)(check.tries
						    ? check.ns / check.tries /
							      1000
						    : 0),
		       (unsigned long long)(took / 1000));
		wrong += check.wrong != 0;
		tried++;
	}
	printf("%u of %u right\n", tried - wrong, tried);
	wrong += !is_interrupted(suite, &watch);
	suite_close(take_ptr(suite));
	if (waitpid(-1, NULL, WNOHANG | __WALL) >= 0 || errno != ECHILD) {
		printf("processes are left\n");
		wrong++;
	}
	/*
	 * What the subject made is as it was; what it made before its tests and
	 * removed itself is gone.
	 */
	_cleanup_(freep) char *text = NULL;
	if (keeps)
		err_ignore(file_read("changed.txt", 64, &text, NULL));
	if (keeps &&
	    (!text || strcmp(text, "text") != 0 ||
	     !access("created.txt", F_OK) || !access("removed.txt", F_OK))) {
		printf("files were left changed\n");
		wrong++;
	}
	free(command[0]);
	return wrong || !tried;
}
