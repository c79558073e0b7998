#include "cli/common.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/kinds.h"
#include "framework/frameworks.h"

#define TIMEOUT_DEFAULT (30 * NS_PER_S)

#define FIELD(member) .offset = offsetof(struct common_options, member)

static const char *const automatic[] = { "auto", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const formats[] = { "text",	"json", "sarif",
				       "junit", "html", NULL };

/* clang-format off */
static const struct option suite_options[] = {
	{ "tests", 0, OPTION_LIST, FIELD(tests), .value = "PATTERN",
	  .often = true,
	  .help = "only tests whose name matches this shell pattern; prefix '!' "
		  "to exclude; repeatable" },
	{ "framework", 0, OPTION_TEXT, FIELD(framework), .value = "NAME",
	  .choices = automatic, .more_choices = kinds_framework,
	  .help = "auto (default: detected automatically)" },
	{ "test-functions", 0, OPTION_LIST, FIELD(test_functions),
	  .value = "GLOB",
	  .help = "with --framework functions: the functions that are tests, "
		  "by symbol or C++ name; prefix '!' to exclude; repeatable "
		  "(default: test_*)" },
	{ "ctest", 0, OPTION_TEXT, FIELD(ctest), .value = "BUILD-DIR",
	  .often = true,
	  .help = "the tests of a CMake build folder, one process each" },
	{ "meson", 0, OPTION_TEXT, FIELD(meson), .value = "BUILD-DIR",
	  .often = true,
	  .help = "the tests of a Meson build folder, one process each" },
	{ "commands", 0, OPTION_TEXT, FIELD(commands), .value = "FILE",
	  .often = true,
	  .help = "a file with one shell command per line, each a test" },
	{ "test-classes", 0, OPTION_TEXT, FIELD(test_classes), .value = "DIR",
	  .help = "the folder with compiled Java tests (JUnit, TestNG), or "
		  "several with ':' between them; words after -- go to the "
		  "Java VM" },
	{ "maven", 0, OPTION_TEXT, FIELD(maven), .value = "DIR",
	  .often = true,
	  .help = "the compiled Java tests of a Maven project; mvn is asked "
		  "for the class path, without a network" },
	{ "gradle", 0, OPTION_TEXT, FIELD(gradle), .value = "DIR",
	  .help = "the same of a Gradle project" },
	{ "classpath", 0, OPTION_TEXT, FIELD(classpath), .value = "CLASSPATH",
	  .help = "with --test-classes: what they need, the test framework "
		  "included, with ':' between" },
	{ "java", 0, OPTION_TEXT, FIELD(java), .value = "JAVA-HOME",
	  .help = "the folder of the JDK that runs Java tests (default: "
		  "$JAVA_HOME, or the java in $PATH)" },
	{ "timeout", 0, OPTION_DURATION, FIELD(timeout_ns),
	  .value = "DURATION",
	  .often = true,
	  .help = "time limit per test: 500ms, 30s, 10m (default: the "
		  "limit that the suite declares, or 30s)" },
	{}
};

static const struct option output_options[] = {
	{ "format", 0, OPTION_LIST, FIELD(formats), .value = "FORMAT",
	  .choices = formats,
	  .often = true,
	  .help = "text (default), json, sarif, junit or html; repeatable, "
		  "each with its own --output" },
	{ "output", 'o', OPTION_LIST, FIELD(outputs), .value = "PATH",
	  .often = true,
	  .help = "file for the preceding --format (default or '-': standard "
		  "output); without one, its name says the format: .html, "
		  ".json, .sarif, .xml (junit), .txt" },
	{ "color", 0, OPTION_CHOICE, FIELD(color), .value = "WHEN",
	  .choices = colors,
	  .help = "auto (default: on a terminal), always or never" },
	{ "all", 0, OPTION_FLAG, FIELD(all),
	  .help = "as text, also list what nobody is expected to act on: "
		  "findings of low severity that mislead no test (default: "
		  "they are counted in a line)" },
	{ "quiet", 'q', OPTION_FLAG, FIELD(quiet),
	  .often = true,
	  .help = "only the results: no progress, no warnings" },
	{ "verbose", 'v', OPTION_FLAG, FIELD(verbose),
	  .often = true,
	  .help = "every test with its full output, every finding and limit" },
	{}
};

/* What each command takes. */
#define ASKING_OPTIONS                                                         \
	{ "usage", 'h', OPTION_FLAG, FIELD(usage), .no_config = true,          \
	  .often = true,                                                       \
	  .help = "show the options that are used most" },                     \
	{ "help", 0, OPTION_FLAG, FIELD(help), .no_config = true,              \
	  .often = true,                                                       \
	  .help = "show all options" },                                        \
	{ "version", 'V', OPTION_FLAG, FIELD(version), .no_config = true,      \
	  .help = "show the version" },

static const struct option general_options[] = {
	{ "config", 0, OPTION_TEXT, FIELD(config), .value = "FILE",
	  .no_config = true,
	  .help = "read options from this file (default: polygraph.toml in the "
		  "working directory, or in the nearest folder above)" },
	ASKING_OPTIONS
	{}
};

static const struct option bare_options[] = {
	ASKING_OPTIONS
	{}
};
/* clang-format on */

const struct option_group common_suite_group = { "Suite", suite_options };
const struct option_group common_output_group = { "Output", output_options };
const struct option_group common_general_group = { "General", general_options };
const struct option_group common_bare_group = { "General", bare_options };

static unsigned core_count(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)MAX(CPU_COUNT(&set), 1);
}

/* Words after the executable are its own; warn where that looks unintended. */
static void warn_of_late_options(const struct options *options, int argc,
				 char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!str_starts(argv[i], "--") || !argv[i][2])
			continue;
		size_t n = strcspn(argv[i] + 2, "=");
		char name[64];
		if (n >= sizeof(name))
			continue;
		memcpy(name, argv[i] + 2, n);
		name[n] = '\0';
		if (!option_find(options->groups, name) ||
		    !strcmp(name, "help") || !strcmp(name, "version"))
			continue;
		log_warn("'%s' comes after the executable and is passed to "
			 "it; put options for polygraph before it",
			 argv[i]);
		return;
	}
}

static const char *kind_source(const struct options *options,
			       const struct kind_option *kind)
{
	const struct option *option =
		option_find(options->groups, kind->option + 2);
	return option ? *(char *const *)((const char *)options->values +
					 option->offset)
		      : NULL;
}

/* *@ret: NULL: none were given. */
static struct err *choose_test_functions(const struct option_list *given,
					 struct common_suite *suite,
					 const char *const **ret)
{
	bool includes = false;
	size_t n = 0;
	if (given->n > COMMON_GLOBS_MAX)
		return err_create(ERR_USAGE,
				  "--test-functions was given %zu times; at "
				  "most %d are possible",
				  given->n, COMMON_GLOBS_MAX);
	for (size_t i = 0; i < given->n; i++)
		includes |= given->data[i].text[0] != '!';
	if (!includes)
		suite->test_functions[n++] = "test_*";
	for (size_t i = 0; i < given->n; i++)
		suite->test_functions[n++] = given->data[i].text;
	suite->test_functions[n] = NULL;
	*ret = given->n ? suite->test_functions : NULL;
	return NULL;
}

/* Do the words at the end go to what that option starts? */
static bool kind_takes_words(const struct options *options, int argc,
			     char **argv)
{
	for (const struct kind_option *kind = kind_options; kind->kind;
	     kind++) {
		if (!kind->kind->takes_words || !kind_source(options, kind))
			continue;
		if (!argc || argv[0][0] == '-' ||
		    options_source(options, kind->option + 2) ==
			    OPTION_COMMAND_LINE)
			return true;
	}
	return false;
}

/* The words that ask for the same suite again. */
static struct err *make_kind_words(const struct common_options *common,
				   const struct kind_option *kind,
				   const char *source, int argc, char **argv,
				   struct common_suite *ret)
{
	size_t n = 0;
	if (argc > COMMON_WORDS_MAX - 8)
		return err_create(ERR_USAGE,
				  "%d words for the Java VM are too many",
				  argc);
	if (kind->kind->takes_words && common->classpath) {
		ret->words[n++] = (char *)"--classpath";
		ret->words[n++] = common->classpath;
	}
	if (kind->kind->takes_words && common->java) {
		ret->words[n++] = (char *)"--java";
		ret->words[n++] = common->java;
	}
	ret->words[n++] = (char *)kind->option;
	ret->words[n++] = (char *)source;
	if (argc)
		ret->words[n++] = (char *)"--";
	for (int i = 0; i < argc; i++)
		ret->words[n++] = argv[i];
	ret->words[n] = NULL;
	return NULL;
}

struct err *common_suite_choose(const struct options *options, int argc,
				char **argv, struct common_suite *ret)
{
	const struct common_options *common = options->values;
	int given = argc;
	char **given_words = argv;
	if (kind_takes_words(options, argc, argv))
		argc = 0;
	/* The command line overrides the configuration file. */
	enum option_source strongest =
		argc ? OPTION_COMMAND_LINE : OPTION_DEFAULT;
	for (const struct kind_option *kind = kind_options; kind->kind; kind++)
		strongest = MAX(strongest,
				options_source(options, kind->option + 2));

	const char *chosen = argc ? argv[0] : NULL;
	const struct kind_option *chosen_kind = NULL;
	for (const struct kind_option *kind = kind_options; kind->kind;
	     kind++) {
		const char *source = kind_source(options, kind);
		if (!source ||
		    options_source(options, kind->option + 2) < strongest)
			continue;
		if (chosen)
			return err_hint(err_create(ERR_USAGE,
						   "both '%s' and '%s' were "
						   "given",
						   chosen, kind->option),
					"give one suite at a time");
		chosen = kind->option;
		chosen_kind = kind;
		TRY(make_kind_words(common, kind, source, given - argc,
				    given_words, ret));
	}
	if (!chosen)
		return err_hint(
			err_create(ERR_USAGE, "no test executable given"),
			"give a TEST-EXECUTABLE, or --ctest, --meson, "
			"--commands or --test-classes");
	const char *const *test_functions = NULL;
	TRY(choose_test_functions(&common->test_functions, ret,
				  &test_functions));
	ret->options = (struct suite_options){
		.kind = chosen_kind ? chosen_kind->kind : kind_of_words,
		.argv = argc ? argv : NULL,
		.source =
			chosen_kind ? kind_source(options, chosen_kind) : NULL,
		.class_path = common->classpath,
		.java_home = common->java,
		.vm_options = given > argc ? given_words : NULL,
		.framework = common->framework,
		.framework_library = frameworks_library,
		.test_functions = test_functions,
		.timeout_ns = common->timeout_ns ? common->timeout_ns
						 : TIMEOUT_DEFAULT,
		.timeout_given = common->timeout_ns,
		.jobs = common->jobs ? (unsigned)common->jobs : core_count(),
	};
	ret->command = argc ? argv : ret->words;
	if (argc && !options->ended)
		warn_of_late_options(options, argc, argv);
	return NULL;
}

struct err *common_suite_open(const struct common_suite *choice,
			      struct suite **ret)
{
	_cleanup_(suite_closep) struct suite *suite = NULL;
	TRY(suite_open(&choice->options, &suite));
	if (suite_count(suite)) {
		*ret = take_ptr(suite);
		return NULL;
	}
	if (!choice->options.argv)
		return err_create(ERR_SUITE, "'%s' has no tests",
				  choice->options.source);
	return err_hint(
		err_create(ERR_SUITE, "'%s' has no tests", choice->command[0]),
		"if it does have tests, name them: --framework NAME, or "
		"--framework functions --test-functions GLOB");
}

/* Short enough to be typed again. */
struct err *common_seed_choose(const struct options *options, uint64_t given,
			       uint64_t *ret)
{
	uint32_t random;
	if (options_source(options, "seed") != OPTION_DEFAULT) {
		*ret = given;
		return NULL;
	}
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_errno(errno, "cannot get a random seed");
	*ret = random;
	return NULL;
}

void common_budget_format(uint64_t ns, char out[32])
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{ "h", 3600 * NS_PER_S }, { "m", 60 * NS_PER_S },
		{ "s", NS_PER_S },	  { "ms", NS_PER_MS },
		{ "us", 1000 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns % units[i].ns && i + 1 < ARRAY_SIZE(units))
			continue;
		snprintf(out, 32, "%llu%s",
			 (unsigned long long)(ns / units[i].ns), units[i].unit);
		return;
	}
}
