/* What tests of ordinary users cannot write to although they could outside. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"
#include "sandbox/sandbox_internal.h"

#define REFUSED_MAX 8

static struct sandbox_mounts closed; /* as they were outside */
static pthread_mutex_t refused_lock = PTHREAD_MUTEX_INITIALIZER;
static struct strv refused;

void sandbox_refused_begin(struct sandbox_mounts *mounts)
{
	for (size_t i = 0; i < mounts->n; i++)
		closep(&mounts->data[i].fd);
	closed = *mounts;
	*mounts = (struct sandbox_mounts){};
	for (size_t i = 0; i < closed.n; i++)
		closed.data[i].fd = -1;
}

/* The kernel asks for permissions first, so nothing else forbids it. */
static bool is_read_only(const char *path)
{
	return access(path, W_OK) < 0 && errno == EROFS;
}

bool sandbox_refuses(const char *path)
{
	_cleanup_(freep) char *folder = NULL;
	const struct sandbox_mount *mount = sandbox_mounts_find(&closed, path);
	if (!mount || !mount->has_files || mount->read_only)
		return false;
	if (access(path, F_OK) == 0)
		return is_read_only(path);
	folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	if (!slash || slash == folder)
		return false;
	*slash = '\0';
	return is_read_only(folder);
}

bool sandbox_pins(const char *path)
{
	struct statx st;
	return closed.n && !sandbox_mounts_has(&closed, path) &&
	       statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0,
		     &st) == 0 &&
	       st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

void sandbox_note_refused(const char *path)
{
	struct err *err = NULL;
	bool known = false;
	pthread_mutex_lock(&refused_lock);
	for (size_t i = 0; i < refused.n; i++)
		known |= !strcmp(refused.data[i], path);
	if (!known && refused.n < REFUSED_MAX)
		err = strv_add(&refused, path);
	pthread_mutex_unlock(&refused_lock);
	err_ignore(err);
}

struct err *sandbox_take_refused(struct strv *ret)
{
	struct err *err = NULL;
	pthread_mutex_lock(&refused_lock);
	for (size_t i = 0; i < refused.n && !err; i++)
		err = strv_add(ret, refused.data[i]);
	strv_free(&refused);
	pthread_mutex_unlock(&refused_lock);
	return err;
}
