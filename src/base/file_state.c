#include "base/file_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/macro.h"

static struct timespec file_time_of(struct statx_timestamp time)
{
	return (struct timespec){
		.tv_sec = time.tv_sec,
		.tv_nsec = time.tv_nsec,
	};
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
		.mtime = file_time_of(st.stx_mtime),
		.ctime = file_time_of(st.stx_ctime),
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.mode = st.stx_mode,
		.nlink = st.stx_nlink,
		.uid = st.stx_uid,
		.gid = st.stx_gid,
		.rdev = makedev(st.stx_rdev_major, st.stx_rdev_minor),
		.atime = file_time_of(st.stx_atime),
		.mount = st.stx_attributes & STATX_ATTR_MOUNT_ROOT,
	};
	if (st.stx_mask & STATX_BTIME)
		ret->btime = file_time_of(st.stx_btime);
	return true;
}

bool file_state_is_same(const struct file_state *a, const struct file_state *b)
{
	return a->ino == b->ino && a->size == b->size &&
	       file_time_is_same(a->mtime, b->mtime) &&
	       file_time_is_same(a->ctime, b->ctime) && a->dev == b->dev &&
	       a->mode == b->mode && a->nlink == b->nlink;
}

bool file_state_is_same_file(const struct file_state *a,
			     const struct file_state *b)
{
	return a->ino == b->ino && a->dev == b->dev &&
	       file_time_is_same(a->btime, b->btime) &&
	       (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

int64_t file_time_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return file_time_ns(now);
}

bool file_time_is_racy(struct timespec changed, int64_t now)
{
	return file_time_ns(changed) >= now - FILE_TIME_TICK;
}

int64_t file_time_ns(struct timespec time)
{
	const int64_t second = NS_PER_S, most = INT64_MAX / second - 1;
	int64_t seconds = MAX(MIN(time.tv_sec, most), -most);
	return seconds * second + time.tv_nsec % second;
}
