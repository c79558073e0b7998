#include "jvm/jvm_suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/path.h"
#include "jvm/jvm_choices.h"
#include "jvm/jvm_heap.h"
#include "jvm/jvm_outside.h"
#include "jvm/jvm_pool.h"
#include "jvm/jvm_schedules.h"
#include "jvm/jvm_tree.h"
#include "jvm/kinds.h"
#include "keep/save.h"
#include "process/process_run.h"
#include "process/process_saving.h"
#include "suite/agent_library.h"

const struct jvm_part *const jvm_parts[] = {
	&jvm_heap_part,
	&jvm_outside_part,
	&jvm_schedules_part,
	NULL,
};

static struct err *jvm_suite_run(struct suite *suite, const size_t *order,
				 size_t n, unsigned flags,
				 const struct suite_observer *observer)
{
	return jvm_run_restored((struct jvm_suite *)suite, order, n, flags,
				observer);
}

static void jvm_suite_close(struct suite *suite)
{
	struct jvm_suite *self = (struct jvm_suite *)suite;
	jvm_pool_free(self);
	jvm_outside_destroy(self->outside);
	process_saving_destroy(self->saving);
	if (self->saver)
		err_ignore(saver_put_back(self->saver));
	saver_destroy(self->saver);
	strv_free(&self->ids);
	strv_free(&self->folders);
	jvm_heap_free(&self->heap);
	free(self->java);
	free(self->agent);
	free(self->jar);
	free(self->class_path);
	jvm_project_free(&self->project);
	suite_free_tests(suite);
	free(self);
}

static void jvm_suite_closep(struct jvm_suite **suite)
{
	if (*suite)
		jvm_suite_close(&(*suite)->suite);
}

static const struct suite_ops ops = {
	.run = jvm_suite_run,
	.run_tree = jvm_run_tree,
	.keep_files = jvm_keep_files,
	.put_back = jvm_put_back,
	.touched_file = jvm_touched_file,
	.unrestored = jvm_unrestored,
	.java_models = true,
	.choose = jvm_choose,
	.watched = SUITE_ALL,
	.watch = jvm_heap_watch,
	.initialise = jvm_heap_initialise,
	.run_places = jvm_heap_run_places,
	.places_max = JVM_HEAP_PLACES,
	.try_roots = jvm_try_roots,
	.run_schedule = jvm_run_schedule,
	.close = jvm_suite_close,
};

/* The agent's options and the VM's words. */
static struct err *jvm_suite_make_words(struct jvm_suite *suite,
					struct str *options, struct strv *words)
{
	/* No files of its own: neither below /tmp nor, if it crashes, here. */
	TRY(strv_add(words, "-XX:-UsePerfData"));
	TRY(strv_add(words, "-XX:+ErrorFileToStderr"));
	TRY(str_append(options, ""));
	for (const struct jvm_part *const *part = jvm_parts; *part; part++) {
		if ((*part)->prepare)
			TRY((*part)->prepare(suite, options, words));
	}
	TRY(jvm_choices_add_words(suite, words));
	if (suite->suite.options.vm_options)
		TRY(strv_add_all(words, suite->suite.options.vm_options));
	TRY(strv_add(words, "-cp"));
	TRY(strv_add(words, suite->class_path));
	return strv_add(words, "polygraph.Main");
}

static struct err *join_words(const struct str *options,
			      const struct strv *words, char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_append(&text, options->s));
	for (size_t i = 0; i < words->n; i++)
		TRY(str_appendf(&text, "\n%s", words->data[i]));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

struct err *jvm_suite_vm_words(struct jvm_suite *suite, char **ret)
{
	_cleanup_(str_freep) struct str options = STR_INIT;
	_cleanup_(strv_freep) struct strv words = {};
	TRY(jvm_suite_make_words(suite, &options, &words));
	return join_words(&options, &words, ret);
}

struct err *jvm_suite_start_vm(struct jvm_suite *suite, struct jvm_vm **ret)
{
	_cleanup_(str_freep) struct str options = STR_INIT;
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(freep) char *all = NULL;
	_cleanup_(choice_block_free) struct choice_block block =
		CHOICE_BLOCK_INIT;
	TRY(jvm_suite_make_words(suite, &options, &words));
	TRY(join_words(&options, &words, &all));
	TRY(jvm_choices_prepare(suite, &options, &block));
	struct jvm_command command = {
		.java = suite->java,
		.agent = suite->agent,
		.options = options.s,
		.words = &words,
	};
	_cleanup_(jvm_seen_destroyp) struct jvm_seen *seen = NULL;
	if (suite->outside) {
		TRY(jvm_seen_create(suite, &seen));
		command.follow = jvm_seen_follow(seen);
	} else if (suite->saving) {
		TRY(process_saving_begin(suite->saving, &command.follow));
	}
	_cleanup_(jvm_vm_destroyp) struct jvm_vm *vm = NULL;
	TRY(jvm_vm_start(&command, &vm));
	vm->seen = take_ptr(seen);
	if (suite->saving)
		process_saving_started(suite->saving,
				       take_ptr(vm->process.unfollowed));
	vm->words = take_ptr(all);
	vm->block = block;
	block = (struct choice_block)CHOICE_BLOCK_INIT;
	*ret = take_ptr(vm);
	return NULL;
}

struct err *jvm_suite_add_folders(const struct jvm_suite *suite,
				  struct str *message)
{
	return message_add_texts(message, &suite->folders);
}

/* ---- opening ---- */

static struct err *jvm_suite_find_own(struct jvm_suite *suite)
{
	struct err *err = agent_library_find(AGENT_LIBRARY_JVM, &suite->agent);
	if (!err)
		err = agent_library_find(AGENT_LIBRARY_JAR, &suite->jar);
	return err ? err_hint(err,
			      "polygraph was built without Java; install a JDK "
			      "(Debian: openjdk-17-jdk-headless junit4 junit5 "
			      "testng) and build it again")
		   : NULL;
}

static struct err *jvm_suite_find_java(struct jvm_suite *suite)
{
	const char *given = suite->suite.options.java_home;
	const char *home = given ? given : getenv("JAVA_HOME");
	if (!home || !*home)
		return str_copy("java", &suite->java);
	TRY(path_join(home, "bin/java", &suite->java));
	if (access(suite->java, X_OK))
		return err_hint(err_create(ERR_USAGE,
					   "'%s' is not the folder of a JDK: "
					   "there is no bin/java in it",
					   home),
				given ? "--java takes the folder in which "
					"bin/java is"
				      : "set JAVA_HOME, or give --java");
	return NULL;
}

static struct err *jvm_suite_add_folder(struct jvm_suite *suite,
					const char *folder)
{
	struct stat status;
	if (stat(folder, &status) || !S_ISDIR(status.st_mode))
		return err_hint(
			err_create(ERR_USAGE, "'%s' is not a folder", folder),
			"--test-classes takes the folder below which the "
			"compiled test classes are (target/test-classes)");
	return strv_add(&suite->folders, folder);
}

static struct err *jvm_suite_set_class_path(struct jvm_suite *suite)
{
	_cleanup_(str_freep) struct str path = STR_INIT;
	const char *given = suite->suite.options.class_path;
	const char *told = suite->project.class_path;
	for (size_t i = 0; i < suite->folders.n; i++)
		TRY(str_appendf(&path, "%s:", suite->folders.data[i]));
	if (given && *given)
		TRY(str_appendf(&path, "%s:", given));
	if (told && *told)
		TRY(str_appendf(&path, "%s:", told));
	TRY(str_append(&path, suite->jar));
	suite->class_path = str_take(&path);
	return suite->class_path ? NULL : err_nomem();
}

static struct err *jvm_suite_check_framework(const char *framework)
{
	if (!framework || !strcmp(framework, "auto"))
		return NULL;
	for (size_t i = 0; java_framework_name(i); i++) {
		if (!strcmp(java_framework_name(i), framework))
			return NULL;
	}
	return err_hint(err_create(ERR_USAGE, "'%s' is no framework of Java",
				   framework),
			"for Java tests --framework takes junit4, junit5 or "
			"testng");
}

/* @project is taken over; its folders are NULL where the source names them. */
static struct err *jvm_suite_open(const struct suite_options *options,
				  struct jvm_project *project,
				  struct suite **ret)
{
	_cleanup_(jvm_suite_closep) struct jvm_suite *suite =
		calloc(1, sizeof(*suite));
	if (!suite)
		return err_nomem();
	suite->suite.ops = &ops;
	suite->suite.framework = "java";
	suite->suite.options = *options;
	suite->project = *project;
	*project = (struct jvm_project){};
	TRY(jvm_suite_check_framework(options->framework));
	_cleanup_(freep) char *folders =
		strdup(suite->project.folders ? suite->project.folders
					      : options->source);
	if (!folders)
		return err_nomem();
	char *rest = folders;
	for (char *folder; (folder = strsep(&rest, ":"));) {
		if (*folder)
			TRY(jvm_suite_add_folder(suite, folder));
	}
	TRY(jvm_suite_find_own(suite));
	TRY(jvm_suite_find_java(suite));
	TRY(jvm_suite_set_class_path(suite));
	TRY(jvm_suite_list(suite));
	if (options->restores) {
		TRY(saver_create(&suite->saver));
		TRY(process_saving_create(suite->saver, &suite->saving));
	}
	*ret = &take_ptr(suite)->suite;
	return NULL;
}

static struct err *java_suite_open(const struct suite_options *options,
				   struct suite **ret)
{
	struct jvm_project none = {};
	return jvm_suite_open(options, &none, ret);
}

static struct err *maven_suite_open(const struct suite_options *options,
				    struct suite **ret)
{
	_cleanup_(jvm_project_free) struct jvm_project project = {};
	TRY(jvm_ask_maven(options->source, &project));
	return jvm_suite_open(options, &project, ret);
}

static struct err *gradle_suite_open(const struct suite_options *options,
				     struct suite **ret)
{
	_cleanup_(jvm_project_free) struct jvm_project project = {};
	TRY(jvm_ask_gradle(options->source, &project));
	return jvm_suite_open(options, &project, ret);
}

const char *java_framework_name(size_t i)
{
	static const char *const names[] = { "junit4", "junit5", "testng" };
	return i < ARRAY_SIZE(names) ? names[i] : NULL;
}

const struct suite_kind java_suite_kind = {
	.open = java_suite_open,
	.signal = process_run_signal,
	.takes_words = true,
};

const struct suite_kind maven_suite_kind = {
	.open = maven_suite_open,
	.signal = process_run_signal,
	.takes_words = true,
};

const struct suite_kind gradle_suite_kind = {
	.open = gradle_suite_open,
	.signal = process_run_signal,
	.takes_words = true,
};
