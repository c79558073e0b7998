#include "jvm/jvm_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"
#include "base/strv.h"
#include "process/process.h"

#define TOOL_NS (300 * NS_PER_S)
#define TOOL_OUTPUT ((size_t)4 << 20)
#define PATH_LIMIT ((size_t)4 << 20)

void jvm_project_free(struct jvm_project *project)
{
	free(project->folders);
	free(project->class_path);
	*project = (struct jvm_project){};
}

/* ---- asking ---- */

/* A file of ours that is gone when it is not needed any more. */
struct scratch_file {
	char *path;
};

static void scratch_file_remove(struct scratch_file *file)
{
	if (file->path)
		unlink(file->path);
	free(file->path);
}

static struct err *scratch_file_create(const char *text, const char *suffix,
				       struct scratch_file *ret)
{
	const char *folder = getenv("TMPDIR");
	_cleanup_(freep) char *path = NULL;
	TRY(str_format(&path, "%s/polygraph-XXXXXX%s",
		       folder && *folder ? folder : "/tmp", suffix));
	_cleanup_(closep) int fd = mkstemps(path, (int)strlen(suffix));
	if (fd < 0)
		return err_errno(errno, "cannot create '%s'", path);
	ret->path = take_ptr(path);
	size_t n = strlen(text);
	if (write(fd, text, n) != (ssize_t)n)
		return err_errno(errno, "cannot write '%s'", ret->path);
	return NULL;
}

/* The line of the output that says most; a copy. */
static char *describe_failure(const struct process_output *output)
{
	const char *texts[] = { output->out, output->err };
	const char *best = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(texts) && !best; i++) {
		best = strstr(texts[i], "[ERROR] ");
		best = best ? best + strlen("[ERROR] ") : NULL;
	}
	for (size_t i = ARRAY_SIZE(texts); i-- > 0 && !best;)
		best = *texts[i] ? texts[i] : NULL;
	if (!best)
		best = "it says nothing";
	_cleanup_(freep) char *line = strndup(best, strcspn(best, "\n"));
	return line ? str_escape(line) : NULL;
}

static struct err *ask_tool(char *const *argv, const char *folder,
			    const char *tool, const char *instead,
			    struct process_output *ret)
{
	const struct process_spec spec = { .argv = argv, .folder = folder };
	struct err *err = process_output(&spec, TOOL_OUTPUT, TOOL_NS, ret);
	if (err)
		return err_with_kind(err, ERR_SUITE);
	if (ret->why)
		return err_hint(
			err_create(ERR_SUITE, "%s is not installed (%s)", tool,
				   ret->why),
			"install it, or give --classpath and %s", instead);
	if (!ret->status)
		return NULL;
	_cleanup_(freep) char *line = describe_failure(ret);
	if (line && (strstr(line, "prefix 'dependency'") ||
		     strstr(line, "maven-dependency-plugin")))
		return err_hint(
			err_create(ERR_SUITE,
				   "%s could not tell the class path of '%s': "
				   "%s",
				   tool, folder, line),
			"its plug-in maven-dependency-plugin is not in the "
			"local repository (Debian: "
			"libmaven-dependency-plugin-java, with "
			"-Dmaven.repo.local=/usr/share/maven-repo in "
			".mvn/maven.config); or give --classpath and %s",
			instead);
	return err_hint(err_create(ERR_SUITE,
				   "%s could not tell the class path of '%s': "
				   "%s",
				   tool, folder, line ? line : "?"),
			"build the project's tests once with %s, so that all "
			"it needs is on this machine; or give --classpath and "
			"%s",
			tool, instead);
}

static struct err *check_project(const char *folder, const char *option,
				 const char *const *files)
{
	_cleanup_(str_freep) struct str names = STR_INIT;
	for (size_t i = 0; files[i]; i++) {
		_cleanup_(freep) char *path = NULL;
		TRY(path_join(folder, files[i], &path));
		if (!access(path, R_OK))
			return NULL;
		TRY(str_appendf(&names, "%s%s", i ? ", " : "", files[i]));
	}
	return err_hint(err_create(ERR_USAGE,
				   "there is no project in '%s' (%s)", folder,
				   names.s),
			"%s takes the folder of one", option);
}

static bool is_folder(const char *path)
{
	struct stat status;
	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/*
 * Maven runs JUnit 5 with parts that are in no project's class path: they lie
 * beside the engine in the local repository, in the same version.
 */
static struct err *add_launcher(struct str *path)
{
	static const char engine[] = "junit-platform-engine";
	if (!path->n || strstr(path->s, "junit-platform-launcher"))
		return NULL;
	const char *at = strstr(path->s, "/junit-platform-engine-");
	if (!at)
		return NULL;
	const char *begin = at, *end = at + strcspn(at, ":");
	while (begin > path->s && begin[-1] != ':')
		begin--;
	_cleanup_(str_freep) struct str jar = STR_INIT;
	TRY(str_append(&jar, ""));
	for (const char *rest = begin; rest < end;) {
		bool here = !strncmp(rest, engine, strlen(engine));
		TRY(str_append_n(&jar, here ? "junit-platform-launcher" : rest,
				 here ? strlen("junit-platform-launcher") : 1));
		rest += here ? strlen(engine) : 1;
	}
	if (access(jar.s, R_OK)) {
		log_debug(LOG_JVM, "there is no %s", jar.s);
		return NULL;
	}
	return str_appendf(path, ":%s", jar.s);
}

static struct err *take_project(const char *folders, struct str *path,
				struct jvm_project *ret)
{
	struct jvm_project project = {};
	TRY(add_launcher(path));
	TRY(str_copy(folders, &project.folders));
	project.class_path = str_take(path);
	if (!project.class_path) {
		jvm_project_free(&project);
		return err_nomem();
	}
	log_debug(LOG_JVM, "test classes: %s; class path: %s", project.folders,
		  project.class_path);
	*ret = project;
	return NULL;
}

/* ---- Maven ---- */

#define MAVEN_INSTEAD "--test-classes target/test-classes"

struct err *jvm_ask_maven(const char *folder, struct jvm_project *ret)
{
	static const char *const files[] = { "pom.xml", NULL };
	TRY(check_project(folder, "--maven", files));
	_cleanup_(freep) char *tests = NULL, *classes = NULL, *text = NULL;
	TRY(path_join(folder, "target/test-classes", &tests));
	TRY(path_join(folder, "target/classes", &classes));
	if (!is_folder(tests))
		return err_hint(err_create(ERR_SUITE,
					   "'%s' has no compiled tests: there "
					   "is no folder '%s'",
					   folder, tests),
				"compile them with mvn test-compile");
	_cleanup_(scratch_file_remove) struct scratch_file list = {};
	TRY(scratch_file_create("", "", &list));
	_cleanup_(strv_freep) struct strv argv = {};
	TRY(strv_add(&argv, "mvn"));
	TRY(strv_add(&argv, "--offline"));
	TRY(strv_add(&argv, "--batch-mode"));
	TRY(strv_add(&argv, "--quiet"));
	TRY(strv_add(&argv, "dependency:build-classpath"));
	TRY(strv_add(&argv, "-DincludeScope=test"));
	TRY(strv_addf(&argv, "-Dmdep.outputFile=%s", list.path));
	_cleanup_(process_output_free) struct process_output output = {};
	TRY(ask_tool(argv.data, folder, "Maven (mvn)", MAVEN_INSTEAD, &output));
	size_t n = 0;
	TRY(file_read(list.path, PATH_LIMIT, &text, &n));
	text[strcspn(text, "\r\n")] = '\0';
	_cleanup_(str_freep) struct str path = STR_INIT;
	TRY(str_appendf(&path, "%s%s%s", is_folder(classes) ? classes : "",
			is_folder(classes) && *text ? ":" : "", text));
	return take_project(tests, &path, ret);
}

/* ---- Gradle ---- */

#define GRADLE_INSTEAD "--test-classes build/classes/java/test"
#define GRADLE_FOLDERS "polygraph-folders "
#define GRADLE_PATH "polygraph-path "

/* Says both of the task "test" of each project. */
static const char gradle_script[] =
	"allprojects { project ->\n"
	"  project.afterEvaluate {\n"
	"    def test = project.tasks.findByName('test')\n"
	"    if (test != null)\n"
	"      project.task('polygraphPath').doLast {\n"
	"        println('" GRADLE_FOLDERS "' + test.testClassesDirs.asPath)\n"
	"        println('" GRADLE_PATH "' + test.classpath.asPath)\n"
	"      }\n"
	"  }\n"
	"}\n";

/* Adds what follows @word in each line that begins so. */
static struct err *gradle_collect(const char *text, const char *word,
				  struct str *ret)
{
	for (const char *line = text; line;) {
		const char *end = strchr(line, '\n');
		size_t n = end ? (size_t)(end - line) : strlen(line);
		if (str_starts(line, word) && n > strlen(word)) {
			if (ret->n)
				TRY(str_append(ret, ":"));
			TRY(str_append_n(ret, line + strlen(word),
					 n - strlen(word)));
		}
		line = end ? end + 1 : NULL;
	}
	return NULL;
}

/* Only folders that are there: source sets without code have none. */
static struct err *gradle_keep_folders(const char *folders, struct str *ret)
{
	_cleanup_(freep) char *all = strdup(folders);
	if (!all)
		return err_nomem();
	char *rest = all;
	for (char *folder; (folder = strsep(&rest, ":"));) {
		if (is_folder(folder))
			TRY(str_appendf(ret, "%s%s", ret->n ? ":" : "",
					folder));
	}
	return NULL;
}

struct err *jvm_ask_gradle(const char *folder, struct jvm_project *ret)
{
	static const char *const files[] = { "build.gradle", "build.gradle.kts",
					     "settings.gradle",
					     "settings.gradle.kts", NULL };
	TRY(check_project(folder, "--gradle", files));
	_cleanup_(scratch_file_remove) struct scratch_file script = {};
	TRY(scratch_file_create(gradle_script, ".gradle", &script));
	_cleanup_(freep) char *wrapper = NULL;
	TRY(path_join(folder, "gradlew", &wrapper));
	_cleanup_(strv_freep) struct strv argv = {};
	TRY(strv_add(&argv, access(wrapper, X_OK) ? "gradle" : "./gradlew"));
	TRY(strv_add(&argv, "--offline"));
	TRY(strv_add(&argv, "--quiet"));
	TRY(strv_add(&argv, "--init-script"));
	TRY(strv_add(&argv, script.path));
	TRY(strv_add(&argv, "polygraphPath"));
	_cleanup_(process_output_free) struct process_output output = {};
	TRY(ask_tool(argv.data, folder, "Gradle", GRADLE_INSTEAD, &output));
	_cleanup_(str_freep) struct str named = STR_INIT, path = STR_INIT;
	_cleanup_(str_freep) struct str tests = STR_INIT;
	TRY(gradle_collect(output.out, GRADLE_FOLDERS, &named));
	TRY(gradle_collect(output.out, GRADLE_PATH, &path));
	if (named.n)
		TRY(gradle_keep_folders(named.s, &tests));
	if (!tests.n)
		return err_hint(err_create(ERR_SUITE,
					   "'%s' has no compiled tests%s%s",
					   folder, named.n ? " in " : "",
					   named.n ? named.s : ""),
				"compile them with gradle testClasses");
	TRY(str_append(&path, ""));
	return take_project(tests.s, &path, ret);
}
