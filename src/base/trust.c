#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

bool trust_owner(uid_t owner)
{
	uint64_t caller;
	const char *sudo = getenv("SUDO_UID");
	if (owner == geteuid() || owner == 0)
		return true;
	return geteuid() == 0 && sudo && str_to_u64(sudo, 10, &caller) &&
	       caller == owner;
}

static struct err *trust_check_owner(const char *path, uid_t owner)
{
	if (trust_owner(owner))
		return NULL;
	const struct passwd *user = getpwuid(owner);
	_cleanup_(freep) char *number = NULL;
	TRY(str_format(&number, "%u", (unsigned)owner));
	return err_create(ERR_USAGE, "'%s' belongs to another user (%s)", path,
			  user ? user->pw_name : number);
}

struct err *trust_check(const char *path, const struct stat *status)
{
	TRY(trust_check_owner(path, status->st_uid));
	if (status->st_mode & S_IWOTH)
		return err_create(ERR_USAGE,
				  "'%s' can be written by every user", path);
	return NULL;
}

/* Rule 3, and whether there is something at all. */
static struct err *trust_check_link(const char *path)
{
	struct stat status;
	if (lstat(path, &status) < 0)
		return err_errno(errno, "cannot open '%s'", path);
	return S_ISLNK(status.st_mode) ? trust_check_owner(path, status.st_uid)
				       : NULL;
}

/* Opens it without waiting: it may be a FIFO. */
static struct err *trust_open(const char *path, int flags, int *ret_fd)
{
	struct stat status;
	TRY(trust_check_link(path));
	_cleanup_(closep) int fd = open(
		path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0 || fstat(fd, &status) < 0)
		return err_errno(errno, "cannot open '%s'", path);
	if (!(flags & O_DIRECTORY) && !S_ISREG(status.st_mode))
		return err_create(ERR_USAGE, "'%s' is not a regular file",
				  path);
	TRY(trust_check(path, &status));
	*ret_fd = take_fd(fd);
	return NULL;
}

struct err *trust_open_folder(const char *path, int *ret_fd)
{
	return trust_open(path, O_DIRECTORY, ret_fd);
}

struct err *trust_read_file(const char *path, size_t limit, char **ret,
			    size_t *ret_n)
{
	_cleanup_(closep) int fd = -1;
	TRY(trust_open(path, 0, &fd));
	return file_read_fd(fd, path, limit, ret, ret_n);
}
