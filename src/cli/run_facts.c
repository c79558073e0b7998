#include "cli/run_facts.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "dwarf/object.h"
#include "suite/roster.h"

void run_facts_begin(struct run_facts *facts)
{
	*facts = (struct run_facts){ .began = clock_now() };
	facts->run.started = (uint64_t)time(NULL);
	facts->run.phases = facts->phases;
}

void run_facts_free(struct run_facts *facts)
{
	free(facts->folder);
	free(facts->sources);
	free(facts->build_id);
	strv_free(&facts->options);
	*facts = (struct run_facts){};
}

void run_facts_phase(struct run_facts *facts, const char *name,
		     uint64_t executions)
{
	if (facts->run.n_phases == RUN_FACTS_PHASES_MAX)
		return;
	facts->phases[facts->run.n_phases++] = (struct report_phase){
		.name = name,
		.start = clock_now() - facts->began,
		.executions = executions,
	};
}

void run_facts_phase_end(struct run_facts *facts, uint64_t executions)
{
	if (!facts->run.n_phases)
		return;
	struct report_phase *phase = &facts->phases[facts->run.n_phases - 1];
	/* Another process may have begun to count anew. */
	phase->executions = executions >= phase->executions
				    ? executions - phase->executions
				    : executions;
	phase->ns = clock_now() - facts->began - phase->start;
}

static const char *const copy_marks[] = { ".git", ".hg", ".svn", ".jj", NULL };
static const char *const build_marks[] = {
	"CMakeLists.txt", "meson.build",      "configure.ac",
	"Makefile",	  "GNUmakefile",      "pom.xml",
	"build.gradle",	  "build.gradle.kts", NULL,
};

static bool has_mark(const char *folder, const char *const *marks)
{
	for (size_t i = 0; marks[i]; i++) {
		_cleanup_(freep) char *path = NULL;
		struct err *err = path_join(folder, marks[i], &path);
		bool there = !err && !access(path, F_OK);
		err_ignore(err);
		if (there)
			return true;
	}
	return false;
}

/*
 * The nearest folder at or above @path that has a mark; with @nested, the highest
 * of those that lie directly in each other. NULL: there is none.
 */
static struct err *find_marked(const char *path, const char *const *marks,
			       bool nested, char **ret)
{
	_cleanup_(freep) char *above = strdup(path);
	_cleanup_(freep) char *found = NULL;
	if (!above)
		return err_nomem();
	for (char *slash; (slash = strrchr(above, '/')) != NULL;
	     *slash = '\0') {
		bool marked = has_mark(above, marks);
		if (found && (!marked || !nested))
			break;
		if (marked) {
			free(found);
			found = NULL;
			TRY(str_copy(above, &found));
		}
	}
	*ret = take_ptr(found);
	return NULL;
}

/*
 * The working copy that the source files of tests lie in; else the project that
 * its build files tell; else what all of them have in common.
 */
static struct err *find_sources(const struct roster *roster, char **ret)
{
	_cleanup_(freep) char *common = NULL;
	for (size_t i = 0; i < roster->n; i++) {
		const char *file = roster->tests[i].file;
		_cleanup_(freep) char *full =
			file ? realpath(file, NULL) : NULL;
		if (!full)
			continue;
		if (common) {
			path_cut_to_common(common, full);
			continue;
		}
		char *slash = strrchr(full, '/');
		slash[slash == full] = '\0';
		common = take_ptr(full);
	}
	if (!common)
		return NULL;
	TRY(find_marked(common, copy_marks, false, ret));
	if (!*ret)
		TRY(find_marked(common, build_marks, true, ret));
	if (!*ret)
		*ret = take_ptr(common);
	return NULL;
}

struct err *run_facts_fill(struct run_facts *facts,
			   const struct options *options, const char *program,
			   const struct roster *roster)
{
	struct report_run *run = &facts->run;
	facts->folder = getcwd(NULL, 0);
	if (program)
		err_ignore(object_build_id(program, &facts->build_id));
	TRY(find_sources(roster, &facts->sources));
	TRY(options_words(options, NULL, NULL, &facts->options));
	run->folder = facts->folder;
	run->sources = facts->sources;
	run->build_id = facts->build_id;
	run->options = (const char *const *)facts->options.data;
	run->n_options = facts->options.n;
	run->ns = clock_now() - facts->began;
	return NULL;
}
