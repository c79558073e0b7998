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

enum kind { SHARED, SEMAPHORE, QUEUE, KINDS };

/* As linux/sem.h wants it from its caller, semctl(2). */
union semun {
	int val;
	struct semid_ds *buf;
	unsigned short *array;
	struct seminfo *info;
};

struct ipc_object {
	int id;
	uid_t user;
	pid_t users[2]; /* 0: none, or not known */
	size_t n;	/* semaphores; or who has shared memory attached */
};

static uint64_t ipc_object_key(enum kind kind, int id)
{
	return (uint64_t)kind << 32 | (uint32_t)id;
}

/* The highest index in use; -1: none. */
static int ipc_last_index(enum kind kind)
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

static bool ipc_object_at(enum kind kind, int index, struct ipc_object *ret)
{
	struct shmid_ds shared;
	struct semid_ds semaphore;
	struct msqid_ds queue;
	*ret = (struct ipc_object){ .id = -1 };
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

static bool ipc_user_is_alive(pid_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

/* The number given to a process last; 0: not known. */
static pid_t ipc_last_pid(void)
{
	_cleanup_(freep) char *text = NULL;
	uint64_t pid = 0;
	err_ignore(file_read("/proc/loadavg", 4096, &text, NULL));
	char *last = text ? strrchr(text, ' ') : NULL;
	if (last)
		last[strcspn(last, "\n")] = '\0';
	return last && str_to_u64(last + 1, 10, &pid) ? (pid_t)pid : 0;
}

/* One of those that were started within the span? They are dead by now. */
static bool ipc_user_is_recent(const struct ipc_span *span, pid_t pid)
{
	return pid > span->first && pid <= span->last;
}

/*
 * Numbers of processes are given in sequence: whoever used it last, or made it,
 * was started within the span. Of whom nothing is known may be somebody else's.
 */
static bool ipc_object_is_left(const struct ipc_span *span, enum kind kind,
			       const struct ipc_object *object)
{
	bool recent = false;
	size_t n = kind == SEMAPHORE ? object->n : 2;
	if (kind == SHARED && object->n)
		return false; /* attached */
	for (size_t i = 0; i < n && i < SEMAPHORES_MAX; i++) {
		pid_t pid = kind == SEMAPHORE
				    ? semctl(object->id, (int)i, GETPID)
				    : object->users[i];
		if (ipc_user_is_alive(pid))
			return false;
		recent |= ipc_user_is_recent(span, pid);
	}
	return recent;
}

static bool ipc_remove_object(enum kind kind, int id)
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

struct err *ipc_span_begin(struct ipc_span *span)
{
	ipc_span_free(span);
	span->first = ipc_last_pid();
	for (unsigned kind = 0; kind < KINDS; kind++) {
		int last = MIN(ipc_last_index((enum kind)kind), OBJECTS_MAX);
		for (int i = 0; i <= last; i++) {
			struct ipc_object object;
			if (ipc_object_at((enum kind)kind, i, &object))
				TRY(map_u64_put(&span->known,
						ipc_object_key((enum kind)kind,
							       object.id),
						1));
		}
	}
	return NULL;
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

size_t ipc_span_end(struct ipc_span *span)
{
	size_t removed = 0;
	span->last = ipc_last_pid();
	if (!span->first || span->last < span->first) {
		/* Nobody knows whose is whose. */
		log_debug(LOG_PROCESS,
			  "IPC objects stay: numbers of processes wrapped");
		return 0;
	}
	for (unsigned kind = 0; kind < KINDS; kind++) {
		int last = MIN(ipc_last_index((enum kind)kind), OBJECTS_MAX);
		for (int i = 0; i <= last; i++) {
			struct ipc_object object;
			uint64_t known;
			if (!ipc_object_at((enum kind)kind, i, &object) ||
			    object.user != geteuid() ||
			    map_u64_get(
				    &span->known,
				    ipc_object_key((enum kind)kind, object.id),
				    &known) ||
			    !ipc_object_is_left(span, (enum kind)kind, &object))
				continue;
			log_debug(LOG_PROCESS,
				  "removed: IPC object %d, which tests left",
				  object.id);
			removed +=
				ipc_remove_object((enum kind)kind, object.id);
		}
	}
	return removed;
}

void ipc_span_free(struct ipc_span *span)
{
	map_u64_free(&span->known);
}
