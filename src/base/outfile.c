#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"

/* What outfile_abandon() removes: a name in a folder. */
static _Atomic(char *) half_written;
static atomic_int half_written_folder = -1;

void outfile_abandon(void)
{
	char *name = half_written;
	if (name)
		unlinkat(half_written_folder, name, 0);
}

/* ---- places ---- */

void outfile_place_close(struct outfile_place *place)
{
	closep(&place->folder);
	free(place->name);
	free(place->path);
	*place = (struct outfile_place)OUTFILE_PLACE_INIT;
}

struct err *outfile_place_open(const char *path, struct outfile_place *ret)
{
	_cleanup_(outfile_place_close) struct outfile_place place =
		OUTFILE_PLACE_INIT;
	/* Replacing a link would cut it off from what it points to. */
	_cleanup_(freep) char *resolved = realpath(path, NULL);
	_cleanup_(freep) char *folder = NULL;
	const char *whole = resolved ? resolved : path;
	const char *base = path_base(whole);
	TRY(str_copy(path, &place.path));
	TRY(str_copy(base, &place.name));
	TRY(str_format(&folder, "%.*s", (int)(base - whole), whole));
	place.folder =
		open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place.folder < 0)
		return err_errno(errno, "cannot write '%s'", path);
	*ret = place;
	place = (struct outfile_place)OUTFILE_PLACE_INIT;
	return NULL;
}

/* ---- files ---- */

/* A temporary file is private; ours is as readable as the one it replaces. */
static void set_mode(int fd, const struct outfile_place *place)
{
	struct stat st;
	mode_t mask = umask(0);
	umask(mask);
	mode_t mode = fstatat(place->folder, place->name, &st, 0)
			      ? 0666 & ~mask
			      : st.st_mode & 0777;
	if (fchmod(fd, mode))
		return; /* a file system without modes */
}

#define TEMPORARY_TRIES 100

/* As mkostemp(3), which knows no folders. */
static int create_temporary(const struct outfile_place *place, char **ret)
{
	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		unsigned random;
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		_cleanup_(freep) char *name = NULL;
		if (asprintf(&name, ".%s.%08x", place->name, random) < 0) {
			name = NULL;
			errno = ENOMEM;
			return -1;
		}
		int fd = openat(place->folder, name,
				O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			*ret = take_ptr(name);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static struct err *open_beside(struct outfile *outfile)
{
	const struct outfile_place *place = outfile->place;
	_cleanup_(closep) int fd = create_temporary(place, &outfile->temporary);
	if (fd < 0)
		return err_errno(errno, "cannot write '%s'", place->path);
	half_written_folder = place->folder;
	half_written = outfile->temporary;
	set_mode(fd, place);
	outfile->file = fdopen(fd, "w");
	if (!outfile->file)
		return err_nomem();
	fd = -1;
	return NULL;
}

/* A device or a pipe is not replaced. */
static struct err *open_directly(struct outfile *outfile)
{
	const struct outfile_place *place = outfile->place;
	int fd = openat(place->folder, place->name, O_WRONLY | O_CLOEXEC);
	outfile->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!outfile->file) {
		int number = errno;
		closep(&fd);
		return err_errno(number, "cannot write '%s'", place->path);
	}
	return NULL;
}

struct err *outfile_open(const struct outfile_place *place, struct outfile *ret)
{
	_cleanup_(outfile_discard) struct outfile outfile = { .place = place };
	struct stat st;
	if (!fstatat(place->folder, place->name, &st, 0) &&
	    !S_ISREG(st.st_mode))
		TRY(open_directly(&outfile));
	else
		TRY(open_beside(&outfile));
	*ret = outfile;
	outfile = (struct outfile){};
	return NULL;
}

struct err *outfile_commit(struct outfile *outfile)
{
	const struct outfile_place *place = outfile->place;
	errno = 0;
	bool failed = ferror(outfile->file);
	failed = fclose(take_ptr(outfile->file)) || failed;
	if (failed)
		return err_errno(errno ? errno : EIO, "cannot write '%s'",
				 place->path);
	if (!outfile->temporary)
		return NULL;
	if (renameat(place->folder, outfile->temporary, place->folder,
		     place->name))
		return err_errno(errno, "cannot write '%s'", place->path);
	half_written = NULL;
	free(take_ptr(outfile->temporary));
	return NULL;
}

void outfile_discard(struct outfile *outfile)
{
	if (outfile->file)
		fclose(outfile->file);
	if (outfile->temporary) {
		unlinkat(outfile->place->folder, outfile->temporary, 0);
		half_written = NULL;
	}
	free(outfile->temporary);
	*outfile = (struct outfile){};
}
