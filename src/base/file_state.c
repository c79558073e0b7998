#include "base/file_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/macro.h"

/* More than the slowest clock of time stamps takes for one step. */
#define TICK_NS (11 * (int64_t)NS_PER_MS)

static int64_t nanoseconds_of(struct statx_timestamp time)
{
	const int64_t second = 1000000000;
	if (time.tv_sec >= FILE_TIME_MAX / second)
		return FILE_TIME_MAX;
	if (time.tv_sec < FILE_TIME_MIN / second)
		return FILE_TIME_MIN;
	return time.tv_sec * second + (int64_t)(time.tv_nsec % second);
}

bool file_state_take(int dir, const char *name, struct file_state *ret)
{
	struct statx st;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT |
		    (name ? 0 : AT_EMPTY_PATH);
	if (statx(dir, name ? name : "", flags, STATX_BASIC_STATS | STATX_BTIME,
		  &st) < 0)
		return false;
	*ret = (struct file_state){
		.ino = st.stx_ino,
		.size = st.stx_size,
		.mtime = nanoseconds_of(st.stx_mtime),
		.ctime = nanoseconds_of(st.stx_ctime),
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.mode = st.stx_mode,
		.nlink = st.stx_nlink,
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor),
		.btime = st.stx_mask & STATX_BTIME
				 ? nanoseconds_of(st.stx_btime)
				 : 0,
		.atime = nanoseconds_of(st.stx_atime),
		.mount = st.stx_attributes & STATX_ATTR_MOUNT_ROOT,
	};
	return true;
}

bool file_state_is_same(const struct file_state *a, const struct file_state *b)
{
	return a->ino == b->ino && a->size == b->size && a->mtime == b->mtime &&
	       a->ctime == b->ctime && a->dev == b->dev && a->mode == b->mode &&
	       a->nlink == b->nlink;
}

bool file_state_is_same_file(const struct file_state *a,
			     const struct file_state *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->btime == b->btime &&
	       (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

int64_t file_time_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

bool file_time_is_racy(int64_t changed, int64_t now)
{
	return changed >= now - TICK_NS;
}

struct timespec file_time_spec(int64_t time)
{
	int64_t second = NS_PER_S, seconds = time / second;
	if (time % second < 0)
		seconds--;
	return (struct timespec){
		.tv_sec = seconds,
		.tv_nsec = time - seconds * second,
	};
}
