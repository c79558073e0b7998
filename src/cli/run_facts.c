#include "cli/run_facts.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
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

static bool is_source_root(const char *folder)
{
	static const char *const marks[] = { ".git", ".hg", ".svn", ".jj" };
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		_cleanup_(freep) char *path = NULL;
		struct err *err = path_join(folder, marks[i], &path);
		bool there = !err && !access(path, F_OK);
		err_ignore(err);
		if (there)
			return true;
	}
	return false;
}

/* The part of @path that is also the beginning of @other, whole names. */
static void cut_to_common(char *path, const char *other)
{
	size_t n = 0, last = 0;
	for (; path[n] && path[n] == other[n]; n++) {
		if (path[n] == '/')
			last = n;
	}
	if (!path[n] && other[n] == '/')
		return;
	path[MAX(last, (size_t)1)] = '\0';
}

/*
 * The working copy that the first source file lies in; else what all of them
 * have in common.
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
			cut_to_common(common, full);
			continue;
		}
		char *slash = strrchr(full, '/');
		slash[slash == full] = '\0';
		common = take_ptr(full);
	}
	if (!common)
		return NULL;
	_cleanup_(freep) char *above = strdup(common);
	if (!above)
		return err_nomem();
	for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
		if (is_source_root(above)) {
			*ret = take_ptr(above);
			return NULL;
		}
		*slash = '\0';
	}
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
