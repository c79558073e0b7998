/* What a name is just before it is changed, and the ring of records. */
#include "recorder/filelog_internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Small copies become instructions, as without -fno-builtin. */
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define XXH_INLINE_ALL
#include <xxhash.h>

#define CHUNK (64U << 10)
#define XATTRS 512
#define SEEN 1024 /* names that are remembered */
#define PAGE 4096UL
#define NS_PER_SECOND 1000000000LL

struct wire_files agent_files = {
	.magic = WIRE_FILES_MAGIC,
	.version = WIRE_FILES_VERSION,
};
extern struct wire_files polygraph_agent_files _export_
	__attribute__((alias("agent_files")));

/* glibc 2.32; without it we cannot know whether there are threads. */
extern char __libc_single_threaded __attribute__((weak));

static struct wire_ring *ring;
static bool locks;

/* Of the operation that is under way. */
static int busy;
static struct wire_file_state states[2];
static char paths[2][WIRE_FILE_PATH];
static uint32_t lengths[2];
static char texts[2][WIRE_FILE_TEXT];
static char chunk[CHUNK] __attribute__((aligned(64)));
static XXH3_state_t hashing;

/*
 * Names by their hashes, and the positions of their last records: as long as
 * the controller has not read those, what the names were is known.
 */
static struct {
	uint64_t name, position;
} seen[SEEN];

void filelog_begin(void)
{
	ring = sys_map_shared(sizeof(*ring), WIRE_MAPPING);
	agent_files.ring = (uint64_t)(uintptr_t)ring;
	agent_files.size = ring ? WIRE_FILES_SIZE : 0;
	agent_files.call_end = (uint64_t)(uintptr_t)sys_call_end;
}

void filelog_locks(void)
{
	locks = true;
}

bool filelog_enter(void)
{
	if (!__atomic_load_n(&agent_files.active, __ATOMIC_RELAXED) || !ring ||
	    locks || !&__libc_single_threaded || !__libc_single_threaded ||
	    busy)
		return false;
	busy = 1;
	/* For a handler that comes now; there are no other threads. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

void filelog_leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	busy = 0;
}

static long filelog_syscall3(long number, long a, long b, long c)
{
	return sys_call(number, a, b, c, 0, 0, 0);
}

static int64_t filelog_timestamp(const struct statx_timestamp *time)
{
	int64_t seconds = time->tv_sec, most = INT64_MAX / NS_PER_SECOND - 1;
	if (seconds > most)
		seconds = most;
	if (seconds < -most)
		seconds = -most;
	return seconds * NS_PER_SECOND + time->tv_nsec % NS_PER_SECOND;
}

/* As makedev(3), which is a function of the C library. */
static uint64_t filelog_device_number(uint64_t major, uint64_t minor)
{
	return (major & 0xfff) << 8 | (major & ~0xfffULL) << 32 |
	       (minor & 0xff) | (minor & ~0xffULL) << 12;
}

static void filelog_take_stat(const struct statx *st,
			      struct wire_file_state *ret)
{
	*ret = (struct wire_file_state){
		.mode = st->stx_mode,
		.device = filelog_device_number(st->stx_dev_major,
						st->stx_dev_minor),
		.inode = st->stx_ino,
		.size = st->stx_size,
		.links = st->stx_nlink,
		.uid = st->stx_uid,
		.gid = st->stx_gid,
		.mtime = filelog_timestamp(&st->stx_mtime),
		.ctime = filelog_timestamp(&st->stx_ctime),
		.atime = filelog_timestamp(&st->stx_atime),
		.btime = st->stx_mask & STATX_BTIME
				 ? filelog_timestamp(&st->stx_btime)
				 : 0,
	};
}

static long open_content(const char *path)
{
	long flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	long fd = filelog_syscall3(SYS_open, (long)path, flags | O_NOATIME, 0);
	/* Only its owner may look without leaving a trace, open(2). */
	if (fd == -EPERM)
		fd = filelog_syscall3(SYS_open, (long)path, flags, 0);
	return fd;
}

static bool filelog_hash_content(long fd, struct wire_file_state *state,
				 char *text)
{
	uint64_t size = state->size;
	long n = sys_call(SYS_pread64, fd, (long)chunk, CHUNK, 0, 0, 0);
	if (size < CHUNK) {
		/* One byte more would be there if it had grown. */
		if (n < 0 || (uint64_t)n != size)
			return false;
		state->hash = XXH3_64bits(chunk, size);
		state->text = size <= WIRE_FILE_TEXT ? size : 0;
		for (uint64_t i = 0; i < state->text; i++)
			text[i] = chunk[i];
		return true;
	}
	XXH3_64bits_reset(&hashing);
	uint64_t at = 0;
	while (n > 0 && at < size) {
		XXH3_64bits_update(&hashing, chunk, (size_t)n);
		at += (uint64_t)n;
		if (at < size)
			n = sys_call(SYS_pread64, fd, (long)chunk, CHUNK,
				     (long)at, 0, 0);
	}
	state->hash = XXH3_64bits_digest(&hashing);
	return at == size;
}

/*
 * Extended attributes: their values would have to be reported, too. By
 * descriptor it takes a third of the time.
 */
static bool has_xattrs(long number, long file)
{
	char list[XATTRS];
	long n = filelog_syscall3(number, file, (long)list, sizeof(list));
	return n > 0 || n == -ERANGE;
}

static bool filelog_take_content(const char *path,
				 struct wire_file_state *state, char *text)
{
	if (state->size > WIRE_FILE_LARGEST)
		return false;
	if (state->size) {
		long fd = open_content(path);
		if (fd < 0)
			return false;
		bool known = !has_xattrs(SYS_flistxattr, fd) &&
			     filelog_hash_content(fd, state, text);
		filelog_syscall3(SYS_close, fd, 0, 0);
		if (!known)
			return false;
	} else {
		if (has_xattrs(SYS_llistxattr, (long)path))
			return false;
		state->hash = XXH3_64bits(chunk, 0);
	}
	state->hashed = 1;
	return true;
}

/* @given as an absolute path; the folder is asked for each time: 0.3 µs. */
static bool filelog_take_path(const char *given, char *ret,
			      uint32_t *ret_length)
{
	long n = 0;
	if (*given != '/') {
		n = filelog_syscall3(SYS_getcwd, (long)ret, WIRE_FILE_PATH, 0);
		/* With its 0; outside the root it begins differently. */
		if (n < 2 || *ret != '/')
			return false;
		ret[n - 1] = '/';
		if (n == 2)
			n = 1;
	}
	for (; *given; given++) {
		if (n == WIRE_FILE_PATH - 1)
			return false;
		ret[n++] = *given;
	}
	ret[n] = '\0';
	*ret_length = (uint32_t)n;
	return true;
}

/*
 * Reading there may do something, and nothing there counts. Names in /dev/shm
 * itself are shared memory, which is process state; folders there hold files.
 */
static bool filelog_is_pseudo_path(char *path)
{
	const char *shared = text_after(path, "/dev/shm/");
	while (shared && *shared && *shared != '/')
		shared++;
	if (shared && *shared)
		return false;
	return text_after(path, "/proc/") || text_after(path, "/sys/") ||
	       text_after(path, "/dev/");
}

/* @taken: its path is known already. */
static enum filelog_name filelog_look_at_name(unsigned i, const char *given,
					      bool taken)
{
	struct statx st;
	struct wire_file_state *state = &states[i];
	/*
	 * The kernel is the first to read the path: the pointer may be invalid.
	 */
	long error = sys_call(SYS_statx, AT_FDCWD, (long)given,
			      AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
			      STATX_BASIC_STATS | STATX_BTIME, (long)&st, 0);
	if (error && error != -ENOENT)
		return NAME_UNUSUAL;
	if (!error && S_ISCHR(st.stx_mode))
		return NAME_DEVICE;
	if (!*given ||
	    (!taken && !filelog_take_path(given, paths[i], &lengths[i])) ||
	    filelog_is_pseudo_path(paths[i]))
		return NAME_UNUSUAL;
	if (error) {
		*state = (struct wire_file_state){};
		return NAME_ABSENT;
	}
	bool is_file = S_ISREG(st.stx_mode);
	filelog_take_stat(&st, state);
	if (S_ISDIR(st.stx_mode))
		return has_xattrs(SYS_llistxattr, (long)given) ? NAME_UNUSUAL
							       : NAME_FOLDER;
	return is_file && filelog_take_content(given, state, texts[i])
		       ? NAME_FILE
		       : NAME_UNUSUAL;
}

enum filelog_name filelog_look(unsigned i, const char *given)
{
	return filelog_look_at_name(i, given, false);
}

/* Can all of a text be read? System calls say so, too, but cost more. */
static bool is_readable(const char *text)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!sys_readable((uintptr_t)text & ~7UL))
			return false;
		do {
			if (!*text++)
				return true;
		} while ((uintptr_t)text % PAGE);
	}
	return false;
}

enum filelog_name filelog_look_once(const char *given)
{
	if (!is_readable(given) || !*given ||
	    !filelog_take_path(given, paths[0], &lengths[0]))
		return filelog_look(0, given);
	uint64_t name = XXH3_64bits(paths[0], lengths[0]);
	if (seen[name % SEEN].name != name ||
	    seen[name % SEEN].position <
		    __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE))
		return filelog_look_at_name(0, given, true);
	states[0] = (struct wire_file_state){ .seen = 1 };
	return NAME_SEEN;
}

/* Room for @bytes in one piece; NULL: there is none. */
static struct wire_file *filelog_reserve_record(uint64_t bytes,
						uint64_t *ret_position)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	uint64_t rest, skip;
	do {
		uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		rest = WIRE_FILES_SIZE - head % WIRE_FILES_SIZE;
		skip = rest < bytes ? rest : 0;
		if (head + skip + bytes - tail > WIRE_FILES_SIZE)
			return NULL;
	} while (!__atomic_compare_exchange_n(
		&ring->head, &head, head + skip + bytes, true, __ATOMIC_ACQ_REL,
		__ATOMIC_RELAXED));
	if (skip) {
		struct wire_file *end =
			(struct wire_file *)&ring->data[head % WIRE_FILES_SIZE];
		end->bytes = (uint32_t)skip;
		end->call = WIRE_CALL_NONE;
		__atomic_store_n(&end->position, head + 1, __ATOMIC_RELEASE);
	}
	*ret_position = head + skip;
	return (struct wire_file *)&ring->data[(head + skip) % WIRE_FILES_SIZE];
}

static char *filelog_append_bytes(char *to, const char *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		to[i] = from[i];
	return to + n;
}

bool filelog_put(enum wire_call call, unsigned names, int flags, uint32_t mode)
{
	uint64_t position;
	if (names < 2) {
		states[1] = (struct wire_file_state){};
		paths[1][0] = '\0';
		lengths[1] = 0;
	}
	uint64_t bytes = sizeof(struct wire_file) + lengths[0] + lengths[1] +
			 2 + states[0].text + states[1].text;
	bytes = (bytes + WIRE_FILE_ALIGN - 1) & ~(WIRE_FILE_ALIGN - 1ULL);
	struct wire_file *record = filelog_reserve_record(bytes, &position);
	if (!record) {
		__atomic_fetch_add(&ring->refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	record->bytes = (uint32_t)bytes;
	record->call = call;
	record->pid = (int32_t)filelog_syscall3(SYS_getpid, 0, 0, 0);
	record->flags = (uint32_t)flags;
	record->mode = mode;
	record->zero = 0;
	char *to = record->data;
	for (unsigned i = 0; i < 2; i++) {
		record->path[i] = lengths[i];
		record->before[i] = states[i];
		to = filelog_append_bytes(to, paths[i], lengths[i] + 1);
	}
	for (unsigned i = 0; i < 2; i++)
		to = filelog_append_bytes(to, texts[i], states[i].text);
	for (unsigned i = 0; i < names; i++) {
		uint64_t name = XXH3_64bits(paths[i], lengths[i]);
		seen[name % SEEN].name = name;
		seen[name % SEEN].position = position;
	}
	__atomic_fetch_add(&ring->records, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&record->position, position + 1, __ATOMIC_RELEASE);
	return true;
}

void filelog_put_late(enum wire_call call, int flags, uint32_t mode)
{
	if (!filelog_put(call, 1, flags, mode))
		__atomic_fetch_add(&ring->lost, 1, __ATOMIC_RELAXED);
}
