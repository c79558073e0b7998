#include "whole/part.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "process/process_suite.h"

#define PROCESSES_NAME "processes"

static void part_free(struct build_part *part)
{
	free(part->name);
	free(part->folder);
	strv_free(&part->argv);
	strv_free(&part->env);
	strv_free(&part->tests);
	strv_free(&part->files);
	vec_free(&part->lines);
	*part = (struct build_part){};
}

void part_select(struct build_part *part, const bool *keep)
{
	bool places = part->files.n == part->tests.n;
	size_t kept = 0;
	for (size_t i = 0; i < part->tests.n; i++) {
		if (!keep[i]) {
			part->selected = true;
			free(part->tests.data[i]);
			if (places)
				free(part->files.data[i]);
			continue;
		}
		part->tests.data[kept] = part->tests.data[i];
		if (places) {
			part->files.data[kept] = part->files.data[i];
			part->lines.data[kept] = part->lines.data[i];
		}
		kept++;
	}
	part->tests.n = kept;
	if (places)
		part->files.n = part->lines.n = kept;
}

void parts_free(struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		part_free(&parts->data[i]);
	vec_free(parts);
}

static void parts_clear(struct parts *parts)
{
	parts_free(parts);
}

/* Takes it over, also where it fails. */
static struct err *parts_add(struct parts *parts, struct build_part *part)
{
	struct err *err = vec_push(parts, *part);
	if (err)
		part_free(part);
	*part = (struct build_part){};
	return err;
}

/* ---- which tests of a list belong together ---- */

static bool is_executable_file(const char *path)
{
	char magic[SELFMAG];
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || access(path, X_OK))
		return false;
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* Tests of one executable, by their number in the list. */
struct part_group {
	char *program; /* absolute */
	VEC(size_t) tests;
};

struct part_finder {
	const struct process_suite *list;
	VEC(struct part_group) groups;
	struct map_text numbers; /* of a program, its folder, its environment */
	bool *taken;		 /* by test: it is in a part from inside */
};

static void part_finder_free(struct part_finder *finder)
{
	for (size_t i = 0; i < finder->groups.n; i++) {
		free(finder->groups.data[i].program);
		vec_free(&finder->groups.data[i].tests);
	}
	vec_free(&finder->groups);
	map_text_free(&finder->numbers);
	free(finder->taken);
}

/* Interpreters and tools: what they run is no test executable. */
static bool is_of_system(const char *program)
{
	static const char *const folders[] = { "/bin/", "/sbin/", "/usr/bin/",
					       "/usr/sbin/" };
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (str_starts(program, folders[i]))
			return true;
	}
	return false;
}

/* What others need to have run before, or after, stays where it is. */
static bool stands_alone(const struct process_suite *list, size_t number)
{
	const struct process_test *test = &list->tests.data[number];
	return test->argv.n && !test->after.n && !test->fixtures &&
	       !test->provides && !test->cleans &&
	       !list->suite.tests.data[number].disabled;
}

static struct err *part_key(const struct process_test *test,
			    const char *program, struct str *ret)
{
	TRY(str_appendf(ret, "%s\n%s", program,
			test->folder ? test->folder : ""));
	for (size_t i = 0; i < test->environment.n; i++) {
		const struct env_change *change = &test->environment.data[i];
		TRY(str_appendf(ret, "\n%d %s=%s", (int)change->operation,
				change->name,
				change->value ? change->value : ""));
	}
	return NULL;
}

static struct err *finder_add(struct part_finder *finder, size_t number)
{
	const struct process_test *test = &finder->list->tests.data[number];
	_cleanup_(freep) char *program = NULL;
	_cleanup_(str_freep) struct str key = STR_INIT;
	if (!stands_alone(finder->list, number))
		return NULL;
	if (!strchr(test->argv.data[0], '/'))
		return NULL; /* found through PATH: no program of the build */
	TRY(test->folder ? path_join(test->folder, test->argv.data[0], &program)
			 : str_copy(test->argv.data[0], &program));
	if (!is_executable_file(program))
		return NULL;
	char *real = realpath(program, NULL);
	if (!real)
		return NULL;
	free(program);
	program = real;
	if (is_of_system(program))
		return NULL;
	TRY(part_key(test, program, &key));
	uint64_t at = finder->groups.n;
	if (!map_text_get(&finder->numbers, key.s, &at)) {
		TRY(map_text_put(&finder->numbers, key.s, at));
		TRY(vec_push(&finder->groups,
			     (struct part_group){ .program = program }));
		program = NULL;
	}
	BUG_ON(!finder->groups.data);
	return vec_push(&finder->groups.data[at].tests, number);
}

/* ---- what the executable is started with ---- */

static bool names_one_of(const struct strv *argv, const struct strv *names)
{
	for (size_t i = 1; i < argv->n; i++) {
		for (size_t j = 0; j < names->n; j++) {
			if (strstr(argv->data[i], names->data[j]))
				return true;
		}
	}
	return false;
}

static bool same_words(const struct strv *a, const struct strv *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 1; i < a->n; i++) {
		if (strcmp(a->data[i], b->data[i]))
			return false;
	}
	return true;
}

static struct err *part_make(const struct process_suite *list,
			     const struct part_group *group, bool bare,
			     struct build_part *ret)
{
	const struct process_test *first =
		&list->tests.data[group->tests.data[0]];
	TRY(strv_add(&ret->argv, group->program));
	for (size_t i = 1; !bare && i < first->argv.n; i++)
		TRY(strv_add(&ret->argv, first->argv.data[i]));
	TRY(str_copy(first->folder, &ret->folder));
	if (first->environment.n)
		TRY(env_build(&first->environment, &ret->env));
	return path_display(NULL, group->program, &ret->name);
}

/*
 * The arguments are the same in all entries, or each entry names a test of the
 * executable: then they select, and are left out.
 */
static bool arguments_select(const struct process_suite *list,
			     const struct part_group *group,
			     const struct strv *names)
{
	for (size_t i = 0; i < group->tests.n; i++) {
		const struct process_test *test =
			&list->tests.data[group->tests.data[i]];
		if (!names_one_of(&test->argv, names))
			return false;
	}
	return true;
}

static bool arguments_differ(const struct process_suite *list,
			     const struct part_group *group)
{
	const struct strv *first = &list->tests.data[group->tests.data[0]].argv;
	for (size_t i = 1; i < group->tests.n; i++) {
		if (!same_words(first,
				&list->tests.data[group->tests.data[i]].argv))
			return true;
	}
	return false;
}

/* Opened it is only where it holds many tests. */
static struct err *try_group(struct part_finder *finder,
			     const struct part_group *group, part_ask *ask,
			     void *data, struct parts *parts)
{
	const struct process_suite *list = finder->list;
	struct build_part part = {};
	bool several = arguments_differ(list, group);
	bool arguments = list->tests.data[group->tests.data[0]].argv.n > 1;
	/* First as it is; with arguments that select, without them. */
	for (int bare = several; bare <= (several || arguments); bare++) {
		part_free(&part);
		struct err *err = part_make(list, group, bare, &part);
		if (!err)
			err = ask(data, &part);
		if (err) {
			part_free(&part);
			return err;
		}
		bool fits = !bare || arguments_select(list, group, &part.tests);
		if (part.tests.n < 2 || !fits)
			continue;
		for (size_t i = 0; i < group->tests.n; i++)
			finder->taken[group->tests.data[i]] = true;
		return parts_add(parts, &part);
	}
	part_free(&part);
	return NULL;
}

/* ---- names and order ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct build_part *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static struct err *parts_name_all(struct parts *parts)
{
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	if (parts->n)
		qsort(parts->data, parts->n, sizeof(*parts->data),
		      compare_parts);
	for (size_t i = 0; i < parts->n; i++) {
		uint64_t count = 1;
		char *name = NULL;
		if (map_text_get(&seen, parts->data[i].name, &count))
			TRY(str_format(&name, "%s#%llu", parts->data[i].name,
				       (unsigned long long)++count));
		TRY(map_text_put(&seen, parts->data[i].name, count));
		if (name) {
			free(parts->data[i].name);
			parts->data[i].name = name;
		}
	}
	return NULL;
}

static struct err *parts_add_processes(const struct part_finder *finder,
				       struct parts *parts)
{
	const struct suite *suite = &finder->list->suite;
	struct build_part part = {};
	struct err *err = str_copy(PROCESSES_NAME, &part.name);
	for (size_t i = 0; !err && i < suite->tests.n; i++) {
		if (!finder->taken[i])
			err = strv_add(&part.tests, suite->tests.data[i].name);
	}
	if (err || !part.tests.n) {
		part_free(&part);
		return err;
	}
	return parts_add(parts, &part);
}

struct err *parts_find(const struct suite *suite, part_ask *ask, void *data,
		       struct parts *ret)
{
	_cleanup_(parts_clear) struct parts parts = {};
	_cleanup_(part_finder_free) struct part_finder finder = {
		.list = (const struct process_suite *)suite,
		.taken = calloc(suite->tests.n + 1, sizeof(bool)),
	};
	if (!finder.taken)
		return err_nomem();
	for (size_t i = 0; i < suite->tests.n; i++)
		TRY(finder_add(&finder, i));
	for (size_t i = 0; i < finder.groups.n; i++)
		TRY(try_group(&finder, &finder.groups.data[i], ask, data,
			      &parts));
	TRY(parts_name_all(&parts));
	TRY(parts_add_processes(&finder, &parts));
	log_debug(LOG_WHOLE, "%zu executables, %zu parts", finder.groups.n,
		  parts.n);
	*ret = parts;
	parts = (struct parts){};
	return NULL;
}

struct err *parts_of_programs(char *const *programs, size_t n, part_ask *ask,
			      void *data, struct parts *ret)
{
	_cleanup_(parts_clear) struct parts parts = {};
	struct build_part processes = {};
	struct err *err = str_copy(PROCESSES_NAME, &processes.name);
	for (size_t i = 0; !err && i < n; i++) {
		struct build_part part = {};
		if (!is_executable_file(programs[i]))
			err = err_create(ERR_USAGE,
					 "'%s' is not an executable program",
					 programs[i]);
		if (!err)
			err = path_display(NULL, programs[i], &part.name);
		if (!err)
			err = strv_add(&part.argv, programs[i]);
		if (!err)
			err = ask(data, &part);
		if (!err && part.tests.n > 1) {
			err = parts_add(&parts, &part);
			continue;
		}
		/* Tests of that part are commands. */
		_cleanup_(str_freep) struct str command = STR_INIT;
		if (!err)
			err = str_append_shell(&command, programs[i]);
		if (!err)
			err = strv_take(&processes.tests, str_take(&command));
		part_free(&part);
	}
	if (!err)
		err = parts_name_all(&parts);
	if (!err && processes.tests.n)
		err = parts_add(&parts, &processes);
	part_free(&processes);
	TRY(err);
	*ret = parts;
	parts = (struct parts){};
	return NULL;
}
