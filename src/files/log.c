#include "files/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "files/files_internal.h"
#include "wire/files.h"

/*
 * A record that is not complete belongs to a process that is writing it just
 * now, or was killed while it did: after so many looks it is taken for the
 * latter.
 */
#define PATIENCE 16

struct files_log {
	pthread_mutex_t lock; /* taken before that of files */
	struct files *files;
	uint64_t object;
	struct wire_files description;
	int memory; /* of the process */
	int twin;   /* of another that shares the ring; -1: none */
	bool on;

	uint64_t tail;
	unsigned looks; /* at the same record that is not complete */
	uint8_t *buffer;

	/* The folder that was resolved last, as long as one look takes. */
	char *folder, *resolved;

	struct files_log_counts counts;
};

static void files_log_unlockp(struct files_log **log)
{
	pthread_mutex_unlock(&(*log)->lock);
}

static bool files_log_read_at(int memory, uint64_t address, void *out, size_t n)
{
	return pread(memory, out, n, (off_t)address) == (ssize_t)n;
}

static bool files_log_write_at(int memory, uint64_t address, const void *data,
			       size_t n)
{
	return pwrite(memory, data, n, (off_t)address) == (ssize_t)n;
}

static bool read_description(int memory, uint64_t object,
			     struct wire_files *ret)
{
	return files_log_read_at(memory, object, ret, sizeof(*ret)) &&
	       ret->magic == WIRE_FILES_MAGIC &&
	       ret->version == WIRE_FILES_VERSION && ret->ring &&
	       ret->call_end && ret->size == WIRE_FILES_SIZE &&
	       ret->ring < UINT64_MAX / 2 - sizeof(struct wire_ring);
}

static int open_memory(pid_t pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	return open(path, O_RDWR | O_CLOEXEC);
}

struct err *files_log_create(pid_t pid, pid_t twin, uint64_t object,
			     struct files_log **ret)
{
	_cleanup_(closep) int memory = open_memory(pid);
	_cleanup_(closep) int other = twin ? open_memory(twin) : -1;
	struct wire_files description, of_other;
	if (memory < 0)
		return err_errno(errno, "cannot open the memory of %d", pid);
	if (!object || !read_description(memory, object, &description))
		return err_create(ERR_INTERNAL, "there is no log of files");
	if (other >= 0 && (!read_description(other, object, &of_other) ||
			   of_other.ring != description.ring)) {
		closep(&other);
		other = -1;
	}
	struct files_log *log = calloc(1, sizeof(*log));
	uint8_t *buffer = malloc(WIRE_FILES_SIZE);
	if (!log || !buffer) {
		free(log);
		free(buffer);
		return err_nomem();
	}
	pthread_mutex_init(&log->lock, NULL);
	log->object = object;
	log->description = description;
	log->memory = take_fd(memory);
	log->twin = take_fd(other);
	log->buffer = buffer;
	*ret = log;
	return NULL;
}

static void set_active(int memory, uint64_t object, uint32_t active)
{
	files_log_write_at(memory, object + offsetof(struct wire_files, active),
			   &active, sizeof(active));
}

static void switch_off(struct files_log *log, const char *why)
{
	if (!log->on)
		return;
	log->on = false;
	set_active(log->memory, log->object, 0);
	if (why)
		log_info("files are no longer logged by the process: %s", why);
}

static void forget_folder(struct files_log *log)
{
	free(take_ptr(log->folder));
	free(take_ptr(log->resolved));
}

void files_log_destroy(struct files_log *log)
{
	if (!log)
		return;
	switch_off(log, NULL);
	forget_folder(log);
	closep(&log->memory);
	closep(&log->twin);
	pthread_mutex_destroy(&log->lock);
	free(log->buffer);
	free(log);
}

uint64_t files_log_exempt(const struct files_log *log)
{
	return log->description.call_end;
}

/* The ring is the same in both, whichever of them is alive. */
static bool ring_read(const struct files_log *log, uint64_t offset, void *out,
		      size_t n)
{
	uint64_t address = log->description.ring + offset;
	return files_log_read_at(log->memory, address, out, n) ||
	       (log->twin >= 0 &&
		files_log_read_at(log->twin, address, out, n));
}

static bool read_head(const struct files_log *log, uint64_t *ret)
{
	return ring_read(log, offsetof(struct wire_ring, head), ret,
			 sizeof(*ret));
}

static bool write_tail(const struct files_log *log)
{
	uint64_t address =
		log->description.ring + offsetof(struct wire_ring, tail);
	return files_log_write_at(log->memory, address, &log->tail,
				  sizeof(log->tail)) ||
	       (log->twin >= 0 &&
		files_log_write_at(log->twin, address, &log->tail,
				   sizeof(log->tail)));
}

struct err *files_log_begin(struct files_log *log, struct files *files)
{
	pthread_mutex_lock(&log->lock);
	_cleanup_(files_log_unlockp) struct files_log *locked _unused_ = log;
	/* Processes of earlier runs may have written to it: it is shared. */
	if (!read_head(log, &log->tail) || log->tail % WIRE_FILE_ALIGN != 0 ||
	    !write_tail(log))
		return err_create(ERR_INTERNAL,
				  "the log of files cannot be read");
	log->files = files;
	log->on = true;
	set_active(log->memory, log->object, 1);
	return NULL;
}

/* ---- records ---- */

/*
 * The folder of @path without symbolic links, and the last part as it is: the
 * agent has seen that it is none.
 */
static char *files_log_resolve_path(struct files_log *log, char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return strdup(path);
	*slash = '\0';
	if (!log->folder || strcmp(log->folder, path)) {
		forget_folder(log);
		log->folder = strdup(path);
		log->resolved = realpath(path, NULL);
	}
	const char *folder = log->resolved ?: path;
	char *ret;
	if (asprintf(&ret, "%s/%s", strcmp(folder, "/") ? folder : "",
		     slash + 1) < 0)
		ret = NULL;
	*slash = '/';
	return ret;
}

static void snap_of(const struct wire_file_state *state, const char *text,
		    const struct snap_limits *limits, struct snap *ret)
{
	if (!state->mode) {
		snap_absent(ret);
		return;
	}
	*ret = (struct snap){
		.type = S_ISREG(state->mode)   ? SNAP_FILE
			: S_ISDIR(state->mode) ? SNAP_FOLDER
					       : SNAP_UNKNOWN,
		/* Nobody knows when it was taken. */
		.flags = SNAP_RACY,
		.stat = {
			.ino = state->inode,
			.size = state->size,
			.mtime = file_time_spec(state->mtime),
			.ctime = file_time_spec(state->ctime),
			.dev = state->device,
			.mode = state->mode,
			.nlink = (uint32_t)state->links,
			.uid = state->uid,
			.gid = state->gid,
			.btime = file_time_spec(state->btime),
			.atime = file_time_spec(state->atime),
		},
	};
	if (ret->type != SNAP_FILE || state->hashed != 1)
		return;
	ret->hash = state->hash;
	ret->flags |= SNAP_HASHED;
	if (state->text && state->text == state->size &&
	    state->size <= limits->text)
		snap_keep_text(ret, text, state->text);
}

static bool event_of(const struct wire_file *record, struct follow_event *ret)
{
	static const struct {
		enum follow_kind kind;
		long number;
	} calls[WIRE_CALLS] = {
		[WIRE_CALL_OPEN] = { FOLLOW_OPEN, SYS_openat },
		[WIRE_CALL_UNLINK] = { FOLLOW_REMOVE, SYS_unlink },
		[WIRE_CALL_RMDIR] = { FOLLOW_REMOVE, SYS_rmdir },
		[WIRE_CALL_RENAME] = { FOLLOW_RENAME, SYS_rename },
		[WIRE_CALL_MKDIR] = { FOLLOW_CREATE, SYS_mkdir },
		[WIRE_CALL_TRUNCATE] = { FOLLOW_CHANGE, SYS_truncate },
	};
	if (record->call == WIRE_CALL_NONE || record->call >= WIRE_CALLS)
		return false;
	*ret = (struct follow_event){
		.kind = calls[record->call].kind,
		.number = calls[record->call].number,
		.tid = record->pid,
		.flags = record->call == WIRE_CALL_OPEN ? record->flags : 0,
		.mode = record->mode,
	};
	return true;
}

/* False: its parts do not fit into it. */
static bool files_log_check_record(const struct wire_file *record)
{
	uint64_t room = record->bytes - sizeof(*record), used = 0;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t n = record->path[i];
		if (n >= WIRE_FILE_PATH || used + n >= room ||
		    record->data[used + n] != '\0' ||
		    memchr(record->data + used, '\0', n))
			return false;
		used += n + 1;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (record->before[i].text > WIRE_FILE_TEXT)
			return false;
		used += record->before[i].text;
	}
	return used <= room && record->path[0] && record->data[0] == '/' &&
	       (!record->path[1] || record->data[record->path[0] + 1] == '/');
}

static bool tell_record(struct files_log *log, struct wire_file *record)
{
	struct follow_event event;
	struct snap before[2] = {};
	if (record->bytes < sizeof(*record) ||
	    !files_log_check_record(record) || !event_of(record, &event))
		return false;
	char *first = record->data, *second = first + record->path[0] + 1;
	const char *text = second + record->path[1] + 1;
	_cleanup_(freep) char *path = files_log_resolve_path(log, first);
	_cleanup_(freep) char *path2 = NULL;
	if (*second && event.kind == FOLLOW_RENAME)
		path2 = files_log_resolve_path(log, second);
	event.path = path;
	event.path2 = path2;
	const struct snap_limits *limits = &log->files->limits;
	snap_of(&record->before[0], text, limits, &before[0]);
	snap_of(&record->before[1], text + record->before[0].text, limits,
		&before[1]);
	if (record->before[0].seen)
		files_event(log->files, &event);
	else
		files_event_known(log->files, &event, before);
	snap_free(&before[0]);
	snap_free(&before[1]);
	log->counts.records++;
	return true;
}

/* Bytes from the tail on to the head, or the end of the ring, into the buffer. */
static bool read_ring(struct files_log *log, uint64_t head, uint64_t *ret)
{
	uint64_t place = log->tail % WIRE_FILES_SIZE;
	uint64_t n = MIN(head - log->tail, WIRE_FILES_SIZE - place);
	if (!ring_read(log, offsetof(struct wire_ring, data) + place,
		       log->buffer, n))
		return false;
	*ret = n;
	return true;
}

enum parsed { ALL, NOT_YET, BROKEN };

/* What is in the buffer, @n bytes; the tail moves along. */
static enum parsed files_log_parse(struct files_log *log, uint64_t n)
{
	for (uint64_t at = 0; at < n;) {
		struct wire_file *record =
			(struct wire_file *)(log->buffer + at);
		if (record->position != log->tail + 1)
			return NOT_YET;
		if (!record->bytes || record->bytes % WIRE_FILE_ALIGN != 0 ||
		    record->bytes > n - at)
			return BROKEN;
		if (record->call != WIRE_CALL_NONE && !tell_record(log, record))
			return BROKEN;
		log->tail += record->bytes;
		log->looks = 0;
		at += record->bytes;
	}
	return ALL;
}

static enum parsed read_new(struct files_log *log, uint64_t head)
{
	/* Twice: up to the end of the ring, and from its beginning. */
	for (int i = 0; i < 2 && log->tail != head; i++) {
		uint64_t n;
		if (!read_ring(log, head, &n))
			return BROKEN;
		enum parsed parsed = files_log_parse(log, n);
		if (parsed != ALL)
			return parsed;
	}
	return ALL;
}

static void read_log(struct files_log *log)
{
	uint64_t head;
	/* It is not there any more: the process is gone. */
	if (!log->on || !read_head(log, &head) || head == log->tail)
		return;
	if (head % WIRE_FILE_ALIGN != 0 || head - log->tail > WIRE_FILES_SIZE) {
		switch_off(log, "it makes no sense");
		return;
	}
	uint64_t tail = log->tail;
	enum parsed parsed = read_new(log, head);
	forget_folder(log);
	if (parsed == BROKEN) {
		log->counts.lost++;
		switch_off(log, "it makes no sense");
	} else if (parsed == NOT_YET && ++log->looks > PATIENCE) {
		log->counts.lost++;
		log->tail = head;
		log->looks = 0;
	}
	if (log->tail != tail && !write_tail(log))
		switch_off(log, "it cannot be written");
}

void files_log_read(struct files_log *log)
{
	if (!log)
		return;
	pthread_mutex_lock(&log->lock);
	read_log(log);
	pthread_mutex_unlock(&log->lock);
}

/*
 * Who gets another root directory sees other files under the same names. It may
 * be a child, with memory of its own, or another program without a log.
 */
static void switch_off_in(const struct files_log *log, pid_t tid)
{
	struct wire_files description;
	_cleanup_(closep) int memory = open_memory(tid);
	if (memory >= 0 &&
	    read_description(memory, log->object, &description) &&
	    description.ring == log->description.ring)
		set_active(memory, log->object, 0);
}

void files_log_event(struct files_log *log, const struct follow_event *event)
{
	if (!log)
		return;
	pthread_mutex_lock(&log->lock);
	_cleanup_(files_log_unlockp) struct files_log *locked _unused_ = log;
	if (!log->on)
		return;
	read_log(log);
	if (event->states & (STATE_ROOT | STATE_NAMESPACE))
		switch_off_in(log, event->tid);
}

struct files_log_counts files_log_counts(const struct files_log *log)
{
	struct files_log_counts counts = log->counts;
	uint64_t refused;
	if (ring_read(log, offsetof(struct wire_ring, refused), &refused,
		      sizeof(refused)))
		counts.refused = refused;
	return counts;
}
