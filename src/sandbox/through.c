#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "sandbox/sandbox_internal.h"

#define SOCKETS_MAX 256

/* ---- folders ---- */

static struct err *open_through(struct sandbox_site *site, const char *path)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		log_debug(LOG_SANDBOX, "'%s' cannot be made: %s", path,
			  strerror(errno));
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		log_debug(LOG_SANDBOX, "'%s' does not go through: %s", path,
			  strerror(errno));
	struct err *err = vec_push(&site->through, fd);
	if (err)
		closep(&fd);
	return err;
}

/* ---- sockets ---- */

/*
 * A socket has no name in an overlay: connecting to it fails. So those that are
 * in use now are mounted on their own place. The eighth field of a line is the
 * path, which may hold blanks; newlines in it cut it off. A relative one is of a
 * folder that nobody knows; those in ours are found.
 */
static const char *socket_path(char *line)
{
	char *at = line;
	for (int field = 0; field < 7; field++) {
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	at += *at == ' ';
	return *at && *at != '@' ? at : NULL;
}

static struct err *open_socket(struct sandbox_site *site, const char *name)
{
	_cleanup_(freep) char *path = NULL;
	struct stat st;
	TRY(*name == '/' ? str_copy(name, &path)
			 : path_join(site->cwd, name, &path));
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct err *err = NULL;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode)) {
		err = vec_push(&site->socket_fds, fd);
		if (!err) {
			fd = -1;
			err = strv_add(&site->sockets, path);
		}
	}
	closep(&fd);
	return err;
}

static struct err *open_sockets(struct sandbox_site *site)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	struct err *err = proc_read(getpid(), 0, "net/unix", &text);
	if (err) {
		err_ignore(err);
		return NULL;
	}
	char *next;
	for (char *line = strtok_r(text.s, "\n", &next); line;
	     line = strtok_r(NULL, "\n", &next)) {
		const char *path = socket_path(line);
		if (site->sockets.n == SOCKETS_MAX) {
			log_debug(LOG_SANDBOX, "more than %d sockets in use",
				  SOCKETS_MAX);
			return NULL;
		}
		if (path)
			TRY(open_socket(site, path));
	}
	return NULL;
}

struct err *sandbox_through_open(struct sandbox_site *site)
{
	for (size_t i = 0; i < site->options->n_through; i++)
		TRY(open_through(site, site->options->through[i]));
	return open_sockets(site);
}

/* ---- inside ---- */

static struct err *bind_below(const char *root, const char *path, int fd)
{
	_cleanup_(freep) char *target = NULL;
	if (asprintf(&target, "%s%s", root, path) < 0) {
		target = NULL;
		return err_nomem();
	}
	return sandbox_bind(fd, target);
}

struct err *sandbox_through_bind(struct sandbox_site *site, const char *root)
{
	for (size_t i = 0; i < site->through.n; i++) {
		if (site->through.data[i] >= 0)
			TRY(bind_below(root, site->options->through[i],
				       site->through.data[i]));
	}
	for (size_t i = 0; i < site->sockets.n; i++) {
		struct err *err = bind_below(root, site->sockets.data[i],
					     site->socket_fds.data[i]);
		if (err)
			err_ignore(err); /* gone, or hidden */
	}
	return NULL;
}
