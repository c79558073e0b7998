/*
 * System V and POSIX shared memory, semaphores and message queues. They belong to
 * the system, not to a process: what appears between two points is the test's
 * where its user made it then, and no other process is known to have.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "attributes/attributes_internal.h"
#include "base/path.h"

#define LIST_MAX ((size_t)4 << 20)
#define OBJECTS_MAX ITEMS_MAX

/* Where in a line a column is: by the header, its order grew over time. */
static int column(const char *header, const char *name)
{
	int at = 0;
	size_t n = strlen(name);
	for (const char *word = header; *word; at++) {
		word += strspn(word, " \t");
		size_t length = strcspn(word, " \t\n");
		if (!length || *word == '\n')
			break;
		if (length == n && !strncmp(word, name, n))
			return at;
		word += length;
	}
	return -1;
}

static long long value(const char *line, int at)
{
	for (int i = 0;; i++) {
		line += strspn(line, " \t");
		if (!*line || *line == '\n' || at < 0)
			return -1;
		if (i == at)
			return strtoll(line, NULL, 10);
		line += strcspn(line, " \t\n");
	}
}

static const struct {
	const char *path, *id, *size, *unit;
} system_v[] = {
	[IPC_SHARED] = { "/proc/sysvipc/shm", "shmid", "size", "bytes" },
	[IPC_SEMAPHORE] = { "/proc/sysvipc/sem", "semid", "nsems",
			    "semaphores" },
	[IPC_QUEUE] = { "/proc/sysvipc/msg", "msqid", "qnum", "messages" },
};

static struct err *list_system_v(enum ipc_kind kind, struct ipc_owner *owner,
				 struct items *items)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	struct err *err = file_read(system_v[kind].path, LIST_MAX, &text, &n);
	if (err) {
		err_ignore(err); /* a kernel without */
		return NULL;
	}
	int id = column(text, system_v[kind].id), user = column(text, "cuid");
	int size = column(text, system_v[kind].size);
	int creator = column(text, "cpid"), changed = column(text, "ctime");
	const char *line = strchr(text, '\n');
	for (size_t i = 0; line && *++line && i < OBJECTS_MAX; i++) {
		const char *at = line;
		line = strchr(line, '\n');
		uint64_t number =
			(uint64_t)kind << 56 | (uint32_t)value(at, id);
		if (!ipc_is_own(owner, number, (uint32_t)value(at, user),
				(pid_t)value(at, creator), value(at, changed)))
			continue;
		/* Ids go on counting: one without a key has no name. */
		char name[32] = "private";
		uint32_t key = (uint32_t)value(at, 0);
		if (key)
			snprintf(name, sizeof(name), "0x%x", key);
		struct item *item;
		TRY(items_add(items, name, &item));
		TRY(item_textf(item, NULL, "%lld %s", value(at, size),
			       system_v[kind].unit));
		item->digest = digest_of(item->fields[0].text,
					 strlen(item->fields[0].text), number);
	}
	return NULL;
}

static struct err *list_folder(enum ipc_kind kind, const char *path,
			       struct ipc_owner *owner, struct items *items)
{
	DIR *dir = opendir(path);
	if (!dir)
		return NULL;
	struct err *err = NULL;
	size_t count = 0;
	for (const struct dirent *entry;
	     !err && (entry = readdir(dir)) && count < OBJECTS_MAX;) {
		struct stat st;
		const char *name = entry->d_name;
		bool semaphore = !strncmp(name, "sem.", 4);
		if (name[0] == '.' || (kind == IPC_SEMAPHORE) != semaphore ||
		    fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		count++;
		uint64_t id = digest_of(name, strlen(name),
					st.st_ino ^ (uint64_t)st.st_dev << 32);
		if (!ipc_is_own(owner, id, st.st_uid, 0, st.st_ctim.tv_sec))
			continue;
		char key[300];
		snprintf(key, sizeof(key), "/%s", name + (semaphore ? 4 : 0));
		struct item *item;
		err = items_add(items, key, &item);
		if (!err && kind == IPC_SHARED)
			err = item_textf(item, NULL, "%lld bytes",
					 (long long)st.st_size);
		else if (!err)
			err = item_text(item, NULL, "present");
		if (!err)
			item->digest = digest_of(item->fields[0].text,
						 strlen(item->fields[0].text),
						 st.st_ino);
	}
	closedir(dir);
	return err;
}

struct err *ipc_list(enum ipc_kind kind, struct ipc_owner *owner,
		     struct items *items)
{
	TRY(list_system_v(kind, owner, items));
	return list_folder(kind, kind == IPC_QUEUE ? "/dev/mqueue" : "/dev/shm",
			   owner, items);
}

/* ---- whose it is ---- */

static bool known(const struct ipc_owner *owner, uint64_t id, bool *ret_foreign)
{
	for (size_t i = 0; i < owner->seen.n; i++) {
		if ((owner->seen.data[i] & ~1ULL) == (id & ~1ULL)) {
			*ret_foreign = owner->seen.data[i] & 1;
			return true;
		}
	}
	return false;
}

/* Does @pid descend from the tested process (or from us: it is an orphan)? */
static bool descends(const struct ipc_owner *owner, pid_t pid)
{
	pid_t self = getpid();
	for (int depth = 0; depth < 64 && pid > 1; depth++) {
		struct process_facts facts;
		if (pid == owner->pid)
			return true;
		if (!process_facts(pid, &facts))
			return depth == 0; /* gone: nobody can tell */
		if (facts.parent == self)
			return facts.tracer != self;
		pid = facts.parent;
	}
	return false;
}

bool ipc_is_own(struct ipc_owner *owner, uint64_t id, uint32_t user,
		pid_t creator, int64_t changed)
{
	bool foreign;
	id = digest_of(&id, sizeof(id), 0);
	if (known(owner, id, &foreign))
		return !foreign;
	/* What is there at the first point is as good as the test's. */
	foreign = user != owner->user ||
		  (owner->captured &&
		   (changed < owner->last_time ||
		    (creator > 0 && !descends(owner, creator))));
	/* Without memory it is looked at again the next time. */
	if (owner->seen.n < OBJECTS_MAX)
		err_ignore(vec_push(&owner->seen, (id & ~1ULL) | foreign));
	return !foreign;
}

static struct err *read_kind(struct attributes *a, enum ipc_kind kind,
			     struct items *items)
{
	char text[128];
	unsigned real, effective = 0;
	if (status_field(a, "Uid", text, sizeof(text)))
		sscanf(text, "%u %u", &real, &effective);
	a->ipc.user = effective;
	a->ipc.pid = a->pid;
	return ipc_list(kind, &a->ipc, items);
}

struct err *read_shared_memory(struct attributes *a, struct items *items)
{
	return read_kind(a, IPC_SHARED, items);
}

struct err *read_semaphores(struct attributes *a, struct items *items)
{
	return read_kind(a, IPC_SEMAPHORE, items);
}

struct err *read_queues(struct attributes *a, struct items *items)
{
	return read_kind(a, IPC_QUEUE, items);
}
