#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"

/* What outfile_abandon() removes. */
static _Atomic(char *) half_written;

void outfile_abandon(void)
{
	char *path = half_written;
	if (path)
		unlink(path);
}

/* mkostemp() makes it private; ours is as readable as the one it replaces. */
static void set_mode(int fd, const char *path)
{
	struct stat st;
	mode_t mask = umask(0);
	umask(mask);
	mode_t mode = stat(path, &st) ? 0666 & ~mask : st.st_mode & 0777;
	if (fchmod(fd, mode))
		return; /* a file system without modes */
}

static struct err *temporary_name(const char *path, char **ret)
{
	const char *base = path_base(path);
	if (asprintf(ret, "%.*s.%s.XXXXXX", (int)(base - path), path, base) < 0)
		return err_nomem();
	return NULL;
}

static struct err *open_beside(struct outfile *outfile)
{
	_cleanup_(freep) char *name = NULL;
	TRY(temporary_name(outfile->path, &name));
	_cleanup_(closep) int fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return err_errno(errno, "cannot write '%s'", outfile->path);
	half_written = outfile->temporary = take_ptr(name);
	set_mode(fd, outfile->path);
	outfile->file = fdopen(fd, "w");
	if (!outfile->file)
		return err_nomem();
	fd = -1;
	return NULL;
}

struct err *outfile_open(const char *path, struct outfile *ret)
{
	_cleanup_(outfile_discard) struct outfile outfile = {};
	struct stat st;
	/* Replacing a link would cut it off from what it points to. */
	outfile.path = realpath(path, NULL);
	if (!outfile.path)
		outfile.path = strdup(path);
	if (!outfile.path)
		return err_nomem();
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		outfile.file = fopen(path, "we");
		if (!outfile.file)
			return err_errno(errno, "cannot write '%s'", path);
	} else {
		TRY(open_beside(&outfile));
	}
	*ret = outfile;
	outfile = (struct outfile){};
	return NULL;
}

struct err *outfile_commit(struct outfile *outfile)
{
	errno = 0;
	bool failed = ferror(outfile->file);
	failed = fclose(take_ptr(outfile->file)) || failed;
	if (failed)
		return err_errno(errno ? errno : EIO, "cannot write '%s'",
				 outfile->path);
	if (!outfile->temporary)
		return NULL;
	if (rename(outfile->temporary, outfile->path))
		return err_errno(errno, "cannot write '%s'", outfile->path);
	half_written = NULL;
	free(take_ptr(outfile->temporary));
	return NULL;
}

void outfile_discard(struct outfile *outfile)
{
	if (outfile->file)
		fclose(outfile->file);
	if (outfile->temporary) {
		unlink(outfile->temporary);
		half_written = NULL;
	}
	free(outfile->temporary);
	free(outfile->path);
	*outfile = (struct outfile){};
}
