/*
 * What the file system says about one name at one moment: the one record that
 * comparing files and keeping them are built on.
 *
 * Links are never followed. Times are exact, whatever year they are of.
 *
 * Time stamps come from a clock that moves every 1 to 10 ms (CONFIG_HZ); since
 * Linux 6.13 some file systems have finer ones, which is not relied on. So a
 * file that was changed just before it was looked at may be changed again
 * without another time: file_time_is_racy(), as "racy" entries of git's index.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* In nanoseconds: more than the slowest clock of time stamps takes for one step. */
#define FILE_TIME_TICK ((int64_t)11000000)

/* What a walk over many names compares comes first: it is a cache line. */
struct file_state {
	uint64_t ino, size;
	struct timespec mtime, ctime;
	uint64_t dev;
	uint32_t mode; /* type and permissions; 0: nothing is there */
	uint32_t nlink;
	uint32_t uid, gid;
	uint64_t rdev;	       /* of a device */
	struct timespec btime; /* 0: the file system does not know */
	struct timespec atime;
	bool mount; /* a file system is mounted there */
};

/*
 * @name in the open folder @dir, or AT_FDCWD; NULL: what @dir is open on (O_PATH
 * is fine). False: errno says why, and @ret is untouched.
 */
bool file_state_take(int dir, const char *name, struct file_state *ret);

/* Neither written nor otherwise changed in between, as far as times tell? */
bool file_state_is_same(const struct file_state *a, const struct file_state *b);
/*
 * The same file, whatever its content by now? Inode numbers are given again at
 * once; the time of birth tells.
 */
bool file_state_is_same_file(const struct file_state *a,
			     const struct file_state *b);
/*
 * For maps: the same for all names of one file. Numbers of devices take up more
 * than 20 bits (makedev(3)): those of mounts without a disk count up.
 */
static inline uint64_t file_state_key(const struct file_state *state)
{
	return state->ino ^ (state->dev * UINT64_C(0x9e3779b97f4a7c15));
}

/* The clock that time stamps come from, in nanoseconds since 1970. */
int64_t file_time_now(void);
/* May something that was changed at @changed be changed unseen after @now? */
bool file_time_is_racy(struct timespec changed, int64_t now);
static inline bool file_time_is_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}
/*
 * In nanoseconds since 1970. The seconds of what does not fit (before 1677,
 * after 2262) are cut off.
 */
int64_t file_time_ns(struct timespec time);
