#include "process/process_ipc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#define OBJECTS_MAX 65536
#define SEMAPHORES_MAX 256
#define PROCESSES_MAX 65536
#define DESCRIPTORS_MAX 65536
#define MAPS_MAX ((size_t)16 << 20)
#define SHARED_FOLDER "/dev/shm"

enum kind { SHARED, SEMAPHORE, QUEUE, KINDS };

/* As linux/sem.h wants it from its caller, semctl(2). */
union semun {
	int val;
	struct semid_ds *buf;
	unsigned short *array;
	struct seminfo *info;
};

struct object {
	int id;
	uid_t user;
	pid_t users[2]; /* 0: none, or not known */
	size_t n;	/* semaphores; or who has shared memory attached */
};

static uint64_t key_of(enum kind kind, int id)
{
	return (uint64_t)kind << 32 | (uint32_t)id;
}

/* The highest index in use; -1: none. */
static int last_index(enum kind kind)
{
	struct shm_info shared;
	struct seminfo semaphore;
	struct msginfo queue;
	switch (kind) {
	case SHARED:
		return shmctl(0, SHM_INFO, (struct shmid_ds *)&shared);
	case SEMAPHORE:
		return semctl(0, 0, SEM_INFO,
			      (union semun){ .info = &semaphore });
	default:
		return msgctl(0, MSG_INFO, (struct msqid_ds *)&queue);
	}
}

static bool object_at(enum kind kind, int index, struct object *ret)
{
	struct shmid_ds shared;
	struct semid_ds semaphore;
	struct msqid_ds queue;
	*ret = (struct object){ .id = -1 };
	switch (kind) {
	case SHARED:
		ret->id = shmctl(index, SHM_STAT, &shared);
		if (ret->id < 0)
			return false;
		ret->user = shared.shm_perm.cuid;
		ret->users[0] = shared.shm_cpid;
		ret->users[1] = shared.shm_lpid;
		ret->n = shared.shm_nattch;
		return true;
	case SEMAPHORE:
		ret->id = semctl(index, 0, SEM_STAT,
				 (union semun){ .buf = &semaphore });
		if (ret->id < 0)
			return false;
		ret->user = semaphore.sem_perm.cuid;
		ret->n = semaphore.sem_nsems;
		return true;
	default:
		ret->id = msgctl(index, MSG_STAT, &queue);
		if (ret->id < 0)
			return false;
		ret->user = queue.msg_perm.cuid;
		ret->users[0] = queue.msg_lspid;
		ret->users[1] = queue.msg_lrpid;
		return true;
	}
}

static bool is_alive(pid_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

static bool is_used(enum kind kind, const struct object *object)
{
	if (is_alive(object->users[0]) || is_alive(object->users[1]))
		return true;
	if (kind == SHARED)
		return object->n != 0;
	for (size_t i = 0; kind == SEMAPHORE && i < object->n; i++) {
		if (i == SEMAPHORES_MAX)
			return true; /* who knows */
		if (is_alive(semctl(object->id, (int)i, GETPID)))
			return true;
	}
	return false;
}

static bool remove_object(enum kind kind, int id)
{
	switch (kind) {
	case SHARED:
		return shmctl(id, IPC_RMID, NULL) == 0;
	case SEMAPHORE:
		return semctl(id, 0, IPC_RMID) == 0;
	default:
		return msgctl(id, IPC_RMID, NULL) == 0;
	}
}

/* ---- POSIX ---- */

typedef struct err *each_file(void *data, int folder, const char *name);

static struct err *for_files(each_file *each, void *data)
{
	DIR *dir = opendir(SHARED_FOLDER);
	struct err *err = NULL;
	size_t count = 0;
	for (const struct dirent *entry;
	     dir && !err && (entry = readdir(dir)) && count < OBJECTS_MAX;
	     count++) {
		struct stat st;
		if (entry->d_name[0] != '.' &&
		    fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_uid == geteuid())
			err = each(data, dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
	return err;
}

static struct err *note_file(void *data, int folder _unused_, const char *name)
{
	struct ipc_span *span = data;
	return map_text_put(&span->files, name, 1);
}

static bool has_open(const char *process, const char *path)
{
	char folder[300], link[PATH_MAX];
	snprintf(folder, sizeof(folder), "/proc/%.32s/fd", process);
	DIR *dir = opendir(folder);
	bool found = false;
	size_t count = 0;
	for (const struct dirent *entry;
	     dir && !found && (entry = readdir(dir)) && count < DESCRIPTORS_MAX;
	     count++) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link,
				       sizeof(link) - 1);
		link[MAX(n, (ssize_t)0)] = '\0';
		found = !strcmp(link, path);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool has_mapped(const char *process, const char *path)
{
	char file[64];
	_cleanup_(freep) char *text = NULL;
	snprintf(file, sizeof(file), "/proc/%.32s/maps", process);
	struct err *err = file_read(file, MAPS_MAX, &text, NULL);
	if (err) {
		err_ignore(err); /* it ended, or is not ours to look at */
		return false;
	}
	return text && strstr(text, path);
}

/* By anybody that we may look at. */
static bool file_is_used(const char *name)
{
	char path[300];
	snprintf(path, sizeof(path), SHARED_FOLDER "/%.255s", name);
	DIR *dir = opendir("/proc");
	bool used = !dir;
	size_t count = 0;
	for (const struct dirent *entry;
	     dir && !used && (entry = readdir(dir)) && count < PROCESSES_MAX;
	     count++) {
		uint64_t pid;
		if (str_to_u64(entry->d_name, 10, &pid))
			used = has_mapped(entry->d_name, path) ||
			       has_open(entry->d_name, path);
	}
	if (dir)
		closedir(dir);
	return used;
}

struct removing {
	const struct ipc_span *span;
	size_t removed;
};

static struct err *remove_file(void *data, int folder, const char *name)
{
	struct removing *removing = data;
	uint64_t known;
	if (map_text_get(&removing->span->files, name, &known) ||
	    file_is_used(name))
		return NULL;
	log_debug(LOG_SUITE, "left behind: " SHARED_FOLDER "/%s", name);
	removing->removed += unlinkat(folder, name, 0) == 0;
	return NULL;
}

/* ---- both ---- */

struct err *ipc_span_begin(struct ipc_span *span)
{
	ipc_span_free(span);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		int last = MIN(last_index((enum kind)kind), OBJECTS_MAX);
		for (int i = 0; i <= last; i++) {
			struct object object;
			if (object_at((enum kind)kind, i, &object))
				TRY(map_u64_put(
					&span->known,
					key_of((enum kind)kind, object.id), 1));
		}
	}
	return for_files(note_file, span);
}

struct err *ipc_span_create(struct ipc_span **ret)
{
	struct ipc_span *span = calloc(1, sizeof(*span));
	if (!span)
		return err_nomem();
	struct err *err = ipc_span_begin(span);
	if (err) {
		ipc_span_destroy(span);
		return err;
	}
	*ret = span;
	return NULL;
}

void ipc_span_destroy(struct ipc_span *span)
{
	if (span)
		ipc_span_free(span);
	free(span);
}

size_t ipc_span_end(const struct ipc_span *span)
{
	struct removing removing = { .span = span };
	for (unsigned kind = 0; kind < KINDS; kind++) {
		int last = MIN(last_index((enum kind)kind), OBJECTS_MAX);
		for (int i = 0; i <= last; i++) {
			struct object object;
			uint64_t known;
			if (!object_at((enum kind)kind, i, &object) ||
			    object.user != geteuid() ||
			    map_u64_get(&span->known,
					key_of((enum kind)kind, object.id),
					&known) ||
			    is_used((enum kind)kind, &object))
				continue;
			log_debug(LOG_SUITE, "left behind: IPC object %d",
				  object.id);
			removing.removed +=
				remove_object((enum kind)kind, object.id);
		}
	}
	err_ignore(for_files(remove_file, &removing));
	return removing.removed;
}

void ipc_span_free(struct ipc_span *span)
{
	map_u64_free(&span->known);
	map_text_free(&span->files);
}
