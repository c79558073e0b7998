#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/trust.h"
#include "store/store.h"

/* Results are not for version control, and the folder says so itself. */
static void folder_write_gitignore(int folder)
{
	_cleanup_(closep) int fd = openat(
		folder, ".gitignore",
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "*\n", 2) != 2)
		log_debug(LOG_STORE, "cannot write '.gitignore': %s",
			  strerror(errno));
}

/*
 * Results hold what tests left in memory and in the environment: they are for
 * their owner alone. Those that an older version made readable are closed.
 */
static void folder_close_to_others(int folder, const char *name,
				   const struct stat *status)
{
	mode_t mode = status->st_mode & 07700;
	if (status->st_uid == geteuid() && status->st_mode & 0077 &&
	    (name ? fchmodat(folder, name, mode, 0) : fchmod(folder, mode)))
		log_debug(LOG_STORE, "cannot change the mode of '%s': %s",
			  name ? name : ".", strerror(errno));
}

/* Of root in the folder of who called sudo(8): that user's as well. */
static struct err *folder_create_file(const char *path, int folder,
				      const struct stat *status)
{
	_cleanup_(closep) int fd = openat(
		folder, STORE_FILE,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)
		return err_errno(errno, "cannot create '%s/%s'", path,
				 STORE_FILE);
	if (fd >= 0 && !geteuid() && status->st_uid &&
	    fchown(fd, status->st_uid, status->st_gid))
		log_debug(LOG_STORE, "'%s' in '%s' stays root's: %s",
			  STORE_FILE, path, strerror(errno));
	return NULL;
}

/* SQLite opens by name what it finds there. */
static struct err *folder_check_files(const char *path, int folder)
{
	static const char *const names[] = { STORE_FILE, STORE_FILE "-wal",
					     STORE_FILE "-shm",
					     STORE_FILE "-journal" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *file = NULL;
		struct stat status;
		if (fstatat(folder, names[i], &status, AT_SYMLINK_NOFOLLOW))
			continue;
		TRY(path_join(path, names[i], &file));
		if (!S_ISREG(status.st_mode))
			return err_create(ERR_USAGE,
					  "'%s' is not a regular file", file);
		TRY(trust_check(file, &status));
		folder_close_to_others(folder, names[i], &status);
	}
	return NULL;
}

static struct err *folder_make_files(const char *path)
{
	struct stat status;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_errno(errno, "cannot create '%s'", path);
	_cleanup_(closep) int folder = -1;
	TRY(trust_open_folder(path, &folder));
	if (fstat(folder, &status) < 0)
		return err_errno(errno, "'%s'", path);
	folder_close_to_others(folder, NULL, &status);
	if (faccessat(folder, STORE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		folder_write_gitignore(folder);
	TRY(folder_check_files(path, folder));
	return folder_create_file(path, folder, &status);
}

struct err *store_folder_make(const char *path)
{
	struct err *err = folder_make_files(path);
	if (err && err_kind(err) == ERR_USAGE)
		return err_hint(err, "move '%s' away", path);
	return err;
}
