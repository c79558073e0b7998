#include "results/last.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/trust.h"
#include "report/report.h"
#include "store/folder.h"

#define LAST_NEW LAST_FILE ".new"
#define LAST_PATH RESULTS_FOLDER "/" LAST_FILE

static void last_closep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static struct err *write_last(int folder, const struct report *report)
{
	const struct report_style style = {};
	int fd = openat(folder, LAST_NEW,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	if (fd < 0)
		return err_errno(errno, "cannot create '%s'", LAST_PATH);
	_cleanup_(last_closep) FILE *file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return err_nomem();
	}
	TRY(report_json.write(report, &style, file));
	if (fflush(file) || ferror(file))
		return err_errno(errno, "cannot write '%s'", LAST_PATH);
	if (renameat(folder, LAST_NEW, folder, LAST_FILE) < 0)
		return err_errno(errno, "cannot write '%s'", LAST_PATH);
	return NULL;
}

void last_report_put(const struct report *report)
{
	_cleanup_(closep) int folder = -1;
	/* The folder alone may have been made for a sandbox. */
	if (!results_are_there())
		return;
	/* Where findings are refused, nothing else is written either. */
	struct err *err = store_folder_make(RESULTS_FOLDER);
	if (!err)
		err = trust_open_folder(RESULTS_FOLDER, &folder);
	if (!err) {
		/* Of a call that was killed. */
		unlinkat(folder, LAST_NEW, 0);
		err = write_last(folder, report);
	}
	if (!err)
		return;
	if (folder >= 0)
		unlinkat(folder, LAST_NEW, 0);
	/* Where findings cannot be kept either, that was said. */
	log_debug(LOG_RESULTS, "the report is not kept: %s", err_message(err));
	err_destroy(err);
}

static struct err *parse_report(const char *path, const char *text, size_t n,
				json_t **ret)
{
	json_error_t error;
	json_t *document = json_loadb(text, n, JSON_ALLOW_NUL, &error);
	if (!document)
		return err_create(ERR_USAGE, "%s:%d: not JSON: %s", path,
				  error.line, error.text);
	*ret = document;
	return NULL;
}

struct err *last_report_get(json_t **ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	if (access(LAST_PATH, F_OK) < 0)
		return err_hint(
			err_create(ERR_USAGE,
				   "there is no report of a run in '%s'",
				   RESULTS_FOLDER),
			"run a detector here first, or name a file that "
			"--format json wrote");
	TRY(trust_read_file(LAST_PATH, LAST_BYTES_MAX, &text, &n));
	return parse_report(LAST_PATH, text, n, ret);
}

struct err *last_report_read(const char *path, json_t **ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	struct err *err = file_read(path, LAST_BYTES_MAX, &text, &n);
	if (err)
		return err_with_kind(err, ERR_USAGE);
	return parse_report(path, text, n, ret);
}
