/* The program: picks the command, reads its options, tells of errors. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/caller.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/config.h"
#include "cli/guard.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/kinds.h"
#include "cli/output.h"
#include "cli/sandboxing.h"

static void print_error(const struct err *err)
{
	_cleanup_(freep) char *message = str_escape(err_message(err));
	fprintf(stderr, "polygraph: %s\n", message ? message : "out of memory");
	const char *hint = err_hint_text(err);
	while (hint && *hint) {
		size_t n = strcspn(hint, "\n");
		_cleanup_(str_freep) struct str line = STR_INIT;
		struct err *failed = str_append_escaped(&line, hint, n);
		if (failed) {
			err_destroy(failed);
			return;
		}
		fprintf(stderr, "  %s\n", line.s);
		hint += n + (hint[n] == '\n');
	}
}

/*
 * The reader of our output has left: end as a program without a handler would,
 * so that shells see what they are used to.
 */
static enum status end_of_pipe(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	return (enum status)(128 + SIGPIPE);
}

/* Of --quiet and --verbose the one from the stronger source counts. */
static struct err *settle_loudness(struct options *options)
{
	struct common_options *common = options->values;
	enum option_source quiet = options_source(options, "quiet");
	enum option_source verbose = options_source(options, "verbose");
	if (!common->quiet || !common->verbose)
		return NULL;
	if (quiet == verbose)
		return err_create(ERR_USAGE,
				  "--quiet and --verbose cannot be combined");
	common->quiet = quiet > verbose;
	common->verbose = verbose > quiet;
	return NULL;
}

/*
 * Options may stand between and behind the words as well: the words move behind
 * them, and "--" ends them all.
 */
static struct err *parse_behind(struct options *options, int argc, char **argv,
				int *used)
{
	int at = *used, words = 0;
	_cleanup_(freep) char **kept = calloc((size_t)argc + 1, sizeof(*kept));
	if (!kept)
		return err_nomem();
	while (at < argc && !options->ended) {
		int more;
		kept[words++] = argv[at++];
		TRY(options_parse(options, argc - at, argv + at, &more));
		at += more;
	}
	while (at < argc)
		kept[words++] = argv[at++];
	*used = argc - words;
	for (int i = 0; i < words; i++)
		argv[*used + i] = kept[i];
	return NULL;
}

/*
 * Whatever did not work after Ctrl-C did so because of it, and what worked was
 * not all that was asked for. Takes @err over.
 */
static struct err *end_as_interrupted(struct err *err, enum status *ret)
{
	if (!interrupt_happened())
		return err;
	*ret = STATUS_INTERRUPTED;
	if (!err || err_kind(err) == ERR_INTERRUPTED)
		return err;
	log_debug(LOG_CLI, "after the interrupt: %s", err_message(err));
	err_destroy(err);
	return err_create(ERR_INTERRUPTED, "interrupted");
}

static struct err *main_run_command(const struct command *command, int argc,
				    char **argv, enum status *ret)
{
	_cleanup_(options_destroyp) struct options *options = NULL;
	int used;
	TRY(options_create(command->groups, command->defaults,
			   command->values_size, &options));
	const struct common_options *common = options->values;
	struct err *err = options_parse(options, argc, argv, &used);
	if (!err && command->word_first && used < argc)
		err = parse_behind(options, argc, argv, &used);
	if (err)
		return err_hint(err, "'polygraph help %s' lists the options",
				command->name);
	*ret = STATUS_OK;
	if (common->help || common->usage)
		return help_write(command, !common->help, 0, stdout);
	if (common->version)
		return command_version.run(options, 0, argv + argc, ret);
	if (option_find(command->groups, "config"))
		TRY(config_read(common->config, command, options));

	TRY(settle_loudness(options));
	log_level_set(common->quiet	? LOG_LEVEL_QUIET
		      : common->verbose ? LOG_LEVEL_INFO
					: LOG_LEVEL_WARN);
	if (command->guarded) {
		TRY(caller_check());
		TRY(guard_fork());
	}
	struct err *failed =
		command->run(options, argc - used, argv + used, ret);
	sandboxing_end();
	if (sandboxing_begins_again()) {
		err_destroy(failed);
		return NULL;
	}
	return command->guarded ? end_as_interrupted(failed, ret) : failed;
}

/* `check` may be left out, so what is no command is an executable, or a slip. */
static struct err *without_command(int argc, char **argv, enum status *ret)
{
	const char *word = argv[1];
	if (word[0] == '-' || strchr(word, '/') || !access(word, F_OK))
		return main_run_command(&command_check, argc - 1, argv + 1,
					ret);
	return command_unknown(word);
}

/* Does a polygraph.toml say what to check? */
static struct err *is_suite_configured(bool *ret)
{
	const struct command *command = &command_check;
	_cleanup_(options_destroyp) struct options *options = NULL;
	TRY(options_create(command->groups, command->defaults,
			   command->values_size, &options));
	TRY(config_read(NULL, command, options));
	*ret = options_source(options, "program") != OPTION_DEFAULT;
	for (const struct kind_option *kind = kind_options; kind->kind; kind++)
		*ret |= options_source(options, kind->option + 2) !=
			OPTION_DEFAULT;
	return NULL;
}

static struct err *main_without_words(char **argv, enum status *ret)
{
	bool configured = false;
	TRY(is_suite_configured(&configured));
	if (configured)
		return main_run_command(&command_check, 0, argv + 1, ret);
	*ret = STATUS_USAGE;
	return help_write(NULL, true, 0, stderr);
}

static struct err *main_start(int argc, char **argv, enum status *ret)
{
	if (argc < 2)
		return main_without_words(argv, ret);
	const char *word = argv[1];
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		word = "help";
	else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		word = "version";
	const struct command *command = command_find(word);
	if (!command)
		return without_command(argc, argv, ret);
	return main_run_command(command, argc - 2, argv + 2, ret);
}

/* What a report of a bug has to say first. */
static void main_log_call(int argc, char **argv)
{
	struct utsname system = {};
	uname(&system);
	log_debug(LOG_CLI,
		  "version " POLYGRAPH_VERSION ", %s %s on %s, user %u",
		  system.sysname, system.release, system.machine,
		  (unsigned)geteuid());
	for (int i = 1; i < argc; i++)
		log_debug(LOG_CLI, "argument %d: %s", i, argv[i]);
}

static int main_on_stack(int argc, char **argv)
{
	/* Only for the width of characters; numbers stay as C writes them. */
	setlocale(LC_CTYPE, "C.UTF-8");
	log_channels_set(getenv("POLYGRAPH_LOG"));
	if (log_enabled(LOG_CLI))
		main_log_call(argc, argv);
	interrupt_install();

	enum status status = STATUS_OK;
	struct err *err = main_start(argc, argv, &status);
	if (!err)
		err = output_flush_stdout();
	if (!err)
		return (int)status;

	if (output_reader_left()) {
		err_destroy(err);
		return (int)end_of_pipe();
	}
	status = command_status(err);
	print_error(err);
	err_destroy(err);
	return (int)status;
}

int main(int argc, char **argv)
{
	caller_settle();
	return caller_run(main_on_stack, argc, argv);
}
