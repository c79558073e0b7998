#include "cli/sandboxing.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "base/strv.h"
#include "cli/guard.h"
#include "cli/interrupt.h"
#include "dwarf/index.h"
#include "results/results.h"
#include "sandbox/sandbox.h"

#define FIELD(member) .offset = offsetof(struct common_options, member)

static const char *const modes[] = { "auto", "always", "never", NULL };

/* clang-format off */
static const struct option sandbox_options[] = {
	{ "sandbox", 0, OPTION_CHOICE, FIELD(sandbox), .value = "WHEN",
	  .choices = modes,
	  .help = "run the tests in a private file system, so that none of "
		  "your files is changed: auto (default: if the system "
		  "allows it), always or never (default of run)" },
	{ "write-through", 0, OPTION_LIST, FIELD(write_through),
	  .value = "DIR",
	  .help = "folder in which tests change your files even so, e.g. for "
		  "coverage data; repeatable" },
	{}
};
/* clang-format on */

const struct option_group sandbox_group = { "Sandbox", sandbox_options };

/* The working directory outside, while an empty folder of results is ours. */
static int made_results_in = -1;

/* ---- begin again ---- */

/*
 * What the controllers before met, and what is to be tried: a private copy of
 * the folder that a file is in, or leaving the file itself out of the sandbox.
 */
#define COVER "cover "
#define LEAVE "leave "

static struct strv again;
static unsigned mode;

static bool was_tried(const char *way, const char *path)
{
	const struct strv *asked = guard_asked();
	for (size_t i = 0; i < asked->n; i++) {
		if (str_starts(asked->data[i], way) &&
		    !strcmp(asked->data[i] + strlen(way), path))
			return true;
	}
	return false;
}

static struct err *ask_for(const char *path)
{
	bool covers = sandbox_refuses(path) && !was_tried(COVER, path);
	if (!covers && (mode == SANDBOX_ALWAYS || was_tried(LEAVE, path)))
		return NULL;
	TRY(strv_addf(&again, "%s%s", covers ? COVER : LEAVE, path));
	if (covers)
		log_warn("'%s' is read-only in the sandbox, and a test fails: "
			 "the tests begin again, with a private copy of its "
			 "folder",
			 path);
	else
		log_warn("'%s' cannot be changed in the sandbox, and a test "
			 "fails: the tests begin again without a sandbox for "
			 "it; it is restored afterwards, but not if polygraph "
			 "is killed",
			 path);
	return NULL;
}

struct err *sandboxing_check(void)
{
	_cleanup_(strv_freep) struct strv refused = {};
	TRY(sandbox_take_refused(&refused));
	for (size_t i = 0; i < refused.n; i++)
		TRY(ask_for(refused.data[i]));
	return again.n ? err_create(ERR_INTERRUPTED,
				    "another sandbox is needed")
		       : NULL;
}

bool sandboxing_begins_again(void)
{
	return again.n && !interrupt_happened();
}

const char *sandboxing_left_out(size_t i)
{
	const struct strv *asked = guard_asked();
	for (size_t k = 0; k < asked->n; k++) {
		if (str_starts(asked->data[k], LEAVE) && i-- == 0)
			return asked->data[k] + strlen(LEAVE);
	}
	return NULL;
}

static struct err *add_met(struct strv *places, struct strv *through)
{
	const struct strv *asked = guard_asked();
	for (size_t i = 0; i < asked->n; i++) {
		const char *word = asked->data[i];
		bool covers = str_starts(word, COVER);
		const char *path = word + strlen(covers ? COVER : LEAVE);
		_cleanup_(freep) char *folder = strndup(
			path, (size_t)MAX(path_base(path) - path - 1, 1));
		if (!folder)
			return err_nomem();
		if (covers)
			TRY(strv_add(places, folder));
		else
			TRY(strv_add(through,
				     access(path, F_OK) ? folder : path));
	}
	return NULL;
}

static struct err *tell_guard(void)
{
	_cleanup_(strv_freep) struct strv words = {};
	const struct strv *asked = guard_asked();
	for (size_t i = 0; i < asked->n; i++)
		TRY(strv_add(&words, asked->data[i]));
	for (size_t i = 0; i < again.n; i++)
		TRY(strv_add(&words, again.data[i]));
	return guard_ask_again(&words);
}

void sandboxing_end(void)
{
	if (made_results_in >= 0)
		unlinkat(made_results_in, RESULTS_FOLDER, AT_REMOVEDIR);
	closep(&made_results_in);
	made_results_in = -1;
	sandbox_leave();
	if (sandboxing_begins_again())
		err_ignore(tell_guard());
}

/* ---- what goes through ---- */

static struct err *add_absolute(struct strv *folders, const char *path)
{
	_cleanup_(freep) char *cwd = getcwd(NULL, 0);
	_cleanup_(freep) char *joined = NULL;
	if (*path == '/')
		return strv_add(folders, path);
	if (!cwd)
		return err_errno(errno, "the working directory has no name");
	TRY(path_join(cwd, path, &joined));
	return strv_take(folders, take_ptr(joined));
}

static struct err *add_results(struct strv *through)
{
	const char *folder = results_folder();
	struct stat st;
	if (lstat(folder, &st) < 0 && errno == ENOENT && made_results_in < 0) {
		_cleanup_(freep) char *copy = strdup(folder);
		if (!copy)
			return err_nomem();
		made_results_in =
			open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	/* It may be a link to another place. */
	_cleanup_(freep) char *resolved = realpath(folder, NULL);
	return add_absolute(through, resolved ? resolved : folder);
}

/* Without one that can be used nothing goes through. */
static struct err *add_cache(struct strv *through)
{
	_cleanup_(freep) char *folder = NULL;
	TRY(index_cache_folder(&folder));
	if (!folder)
		return NULL;
	struct err *unusable = index_cache_make_folder(folder);
	if (unusable) {
		err_ignore(unusable);
		return NULL;
	}
	_cleanup_(freep) char *resolved = realpath(folder, NULL);
	return strv_take(through,
			 resolved ? take_ptr(resolved) : take_ptr(folder));
}

static struct err *add_asked(struct strv *through,
			     const struct option_list *asked)
{
	for (size_t i = 0; i < asked->n; i++) {
		const char *path = asked->data[i].text;
		struct stat st;
		_cleanup_(freep) char *resolved = realpath(path, NULL);
		if (!resolved || stat(resolved, &st) < 0)
			return err_with_kind(
				err_errno(errno, "--write-through '%s'", path),
				ERR_USAGE);
		if (!S_ISDIR(st.st_mode))
			return err_create(ERR_USAGE,
					  "--write-through '%s' is not a "
					  "folder",
					  path);
		TRY(sandbox_let_through(resolved));
		TRY(strv_take(through, take_ptr(resolved)));
	}
	return NULL;
}

/* ---- where tests write ---- */

static struct err *add_folder_of(struct strv *places, const char *file)
{
	_cleanup_(freep) char *copy = strdup(file);
	if (!copy)
		return err_nomem();
	return add_absolute(places, dirname(copy));
}

static struct err *add_places(struct strv *places,
			      const struct sandboxing *what)
{
	const struct suite_options *suite =
		what->suite ? &what->suite->options : NULL;
	if (suite && suite->argv)
		TRY(add_folder_of(places, suite->argv[0]));
	if (suite && suite->source) {
		TRY(add_absolute(places, suite->source));
		TRY(add_folder_of(places, suite->source));
	}
	for (size_t i = 0; what->folders && i < what->folders->n; i++)
		TRY(add_absolute(places, what->folders->data[i].text));
	return NULL;
}

/* ---- enter ---- */

static struct err *refuse_or_warn(const struct common_options *common,
				  struct err *err)
{
	if (common->sandbox == SANDBOX_ALWAYS)
		return err_hint(err_prefix(err, "no sandbox is possible here"),
				"--sandbox auto runs the tests without one; %s",
				sandbox_advice());
	log_warn("no sandbox is possible here (%s): tests change your files; "
		 "they are restored afterwards, but not if polygraph is "
		 "killed; %s",
		 err_message(err), sandbox_advice());
	err_destroy(err);
	return NULL;
}

struct err *sandboxing_begin(const struct common_options *common,
			     const struct sandboxing *what)
{
	_cleanup_(strv_freep) struct strv through = {};
	_cleanup_(strv_freep) struct strv places = {};
	if (sandbox_is_entered())
		return NULL;
	mode = common->sandbox;
	TRY(add_asked(&through, &common->write_through));
	if (common->sandbox == SANDBOX_NEVER)
		return NULL;
	if (what->keeps_results)
		TRY(add_results(&through));
	TRY(add_cache(&through));
	TRY(add_places(&places, what));
	TRY(add_met(&places, &through));
	const struct sandbox_options options = {
		.places = (const char *const *)places.data,
		.n_places = places.n,
		.through = (const char *const *)through.data,
		.n_through = through.n,
	};
	struct err *forbidden = NULL;
	TRY(sandbox_enter(&options, &forbidden));
	if (forbidden)
		return refuse_or_warn(common, forbidden);
	sandbox_give_up_rights();
	return NULL;
}
