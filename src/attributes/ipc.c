/*
 * System V and POSIX shared memory, semaphores and message queues. They belong to
 * the system, not to a process: what appears between two points is the test's
 * where its user made it then, and no other process is known to have.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include "attributes/attributes_internal.h"
#include "base/path.h"
#include "base/proc.h"

#define LIST_MAX ((size_t)4 << 20)
#define OBJECTS_MAX ITEMS_MAX

/* Where in a line a column is: by the header, its order grew over time. */
static int ipc_find_column(const char *header, const char *name)
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

static long long ipc_column_value(const char *line, int at)
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

static struct err *list_system_v(enum ipc_kind kind, struct items *items)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	struct err *err = file_read(system_v[kind].path, LIST_MAX, &text, &n);
	if (err) {
		err_ignore(err); /* a kernel without */
		return NULL;
	}
	int id = ipc_find_column(text, system_v[kind].id),
	    user = ipc_find_column(text, "cuid");
	int size = ipc_find_column(text, system_v[kind].size);
	int creator = ipc_find_column(text, "cpid"),
	    changed = ipc_find_column(text, "ctime");
	const char *line = strchr(text, '\n');
	for (size_t i = 0; line && *++line && i < OBJECTS_MAX; i++) {
		const char *at = line;
		line = strchr(line, '\n');
		/* Ids go on counting: one without a key has no name. */
		char name[32] = "private";
		uint32_t key = (uint32_t)ipc_column_value(at, 0);
		if (key)
			snprintf(name, sizeof(name), "0x%x", key);
		struct item *item;
		TRY(items_add(items, name, &item));
		TRY(item_textf(item, NULL, "%lld %s",
			       ipc_column_value(at, size),
			       system_v[kind].unit));
		item->digest = digest_of(item->fields[0].text,
					 strlen(item->fields[0].text),
					 (uint32_t)ipc_column_value(at, id));
		item->user = (uint32_t)ipc_column_value(at, user);
		item->creator = (pid_t)MAX(ipc_column_value(at, creator), 0LL);
		item->changed = ipc_column_value(at, changed);
	}
	return NULL;
}

static struct err *ipc_add_file(enum ipc_kind kind, const char *name,
				const struct stat *st, struct items *items)
{
	char key[300];
	snprintf(key, sizeof(key), "/%s",
		 name + (kind == IPC_SEMAPHORE ? strlen("sem.") : 0));
	struct item *item;
	TRY(items_add(items, key, &item));
	if (kind == IPC_SHARED)
		TRY(item_textf(item, NULL, "%lld bytes",
			       (long long)st->st_size));
	else
		TRY(item_text(item, NULL, "present"));
	item->digest = digest_of(item->fields[0].text,
				 strlen(item->fields[0].text), st->st_ino);
	item->user = st->st_uid;
	item->changed = st->st_ctim.tv_sec;
	item->device = st->st_dev;
	item->inode = st->st_ino;
	item->queue = kind == IPC_QUEUE;
	return NULL;
}

static struct err *ipc_list_folder(enum ipc_kind kind, int folder,
				   struct items *items)
{
	int fd = folder < 0 ? -1
			    : openat(folder, ".",
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		closep(&fd);
		return NULL;
	}
	struct err *err = NULL;
	size_t count = 0;
	for (const struct dirent *entry;
	     !err && (entry = readdir(dir)) && count < OBJECTS_MAX; count++) {
		struct stat st;
		const char *name = entry->d_name;
		bool semaphore = kind != IPC_QUEUE && !strncmp(name, "sem.", 4);
		if (name[0] != '.' && (kind == IPC_SEMAPHORE) == semaphore &&
		    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			err = ipc_add_file(kind, name, &st, items);
	}
	closedir(dir);
	return err;
}

struct err *ipc_list(enum ipc_kind kind, int folder, struct items *items)
{
	TRY(list_system_v(kind, items));
	return ipc_list_folder(kind, folder, items);
}

/* As linux/mount.h has them since 5.2. */
#define CONFIG_CREATE 6

/*
 * Where the queues are not mounted, a mount that no name leads to shows them
 * all the same, to those who may.
 */
int ipc_queues(void)
{
	int folder = open("/dev/mqueue", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	if (folder >= 0 && fstatfs(folder, &fs) == 0 &&
	    fs.f_type == MQUEUE_MAGIC)
		return folder;
	closep(&folder);
	_cleanup_(closep) int context =
		(int)syscall(SYS_fsopen, "mqueue", 1 /* FSOPEN_CLOEXEC */);
	if (context < 0 ||
	    syscall(SYS_fsconfig, context, CONFIG_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, 0);
}

/* ---- whose it is ---- */

#define SHARED_FOLDER "/dev/shm/"
#define TOUCHED_MAX 1024

void ipc_begin(struct ipc_owner *owner)
{
	pthread_mutex_init(&owner->mutex, NULL);
}

static void free_names(struct ipc_owner *owner)
{
	for (size_t i = 0; i < owner->names.n; i++)
		free(owner->names.data[i]);
	owner->names.n = 0;
}

void ipc_end(struct ipc_owner *owner)
{
	free_names(owner);
	vec_free(&owner->names);
	for (size_t i = 0; i < owner->touched.n; i++)
		free(owner->touched.data[i]);
	vec_free(&owner->touched);
	pthread_mutex_destroy(&owner->mutex);
}

void ipc_touched(struct ipc_owner *owner, const char *path)
{
	if (!path || !str_starts(path, SHARED_FOLDER))
		return;
	pthread_mutex_lock(&owner->mutex);
	char *name = NULL;
	if (owner->touched.n < TOUCHED_MAX)
		name = strdup(path + strlen(SHARED_FOLDER));
	struct err *err = name ? vec_push(&owner->touched, name) : NULL;
	if (!name || err) {
		owner->touched_all = true;
		free(name);
	}
	err_ignore(err);
	pthread_mutex_unlock(&owner->mutex);
}

void ipc_take_touched(struct ipc_owner *owner)
{
	free_names(owner);
	pthread_mutex_lock(&owner->mutex);
	owner->all = owner->touched_all;
	owner->touched_all = false;
	struct err *err = vec_append(&owner->names, owner->touched.data,
				     owner->touched.n);
	if (!err)
		owner->touched.n = 0;
	err_ignore(err);
	pthread_mutex_unlock(&owner->mutex);
}

static bool was_touched(const struct ipc_owner *owner, const char *key)
{
	/* "/name" is the file "name", or "sem.name". */
	for (size_t i = 0; i < owner->names.n; i++) {
		const char *name = owner->names.data[i];
		if (!strcmp(name, key + 1) ||
		    (!strncmp(name, "sem.", 4) && !strcmp(name + 4, key + 1)))
			return true;
	}
	return owner->all;
}

/* Does @pid descend from the tested process (or from us: it is an orphan)? */
static bool ipc_owner_descends(const struct ipc_owner *owner, pid_t pid)
{
	pid_t self = getpid();
	for (int depth = 0; depth < 64 && pid > 1; depth++) {
		struct proc_status status;
		if (pid == owner->pid)
			return true;
		if (!proc_read_status(pid, &status))
			return depth == 0; /* gone: not known */
		if (status.parent == self)
			return status.tracer != self;
		pid = status.parent;
	}
	return false;
}

bool ipc_is_own(const struct ipc_owner *owner, const struct item *before,
		const struct item *after)
{
	const struct item *item = after ? after : before;
	bool file = item->key[0] == '/';
	if (file && (item->held || (before && before->held)))
		return true;
	if (file && was_touched(owner, item->key))
		return true;
	/*
	 * Nothing else shows who made a file in a folder of all processes; a
	 * queue is asked for by a call of its own.
	 */
	if (owner->followed ? !owner->asked : file)
		return false;
	/* Nor who made the others, but for who made shared memory. */
	if (!owner->followed && owner->pid)
		return item->creator == owner->pid;
	if (file && !item->queue)
		return false;
	if (!before && item->changed < owner->last_time)
		return false;
	return item->user == owner->user &&
	       (before || !item->creator ||
		ipc_owner_descends(owner, item->creator));
}

/* Does the process have it open or mapped? */
static void note_held(const struct attributes *a, struct items *items)
{
	for (size_t i = 0; i < items->list.n; i++) {
		struct item *item = &items->list.data[i];
		if (item->key[0] != '/')
			continue;
		for (size_t k = 0; !item->held && k < a->descriptors.n; k++) {
			const struct descriptor *d = &a->descriptors.data[k];
			item->held = d->inode == item->inode &&
				     d->device == item->device;
		}
		char path[320];
		snprintf(path, sizeof(path), SHARED_FOLDER "%.290s",
			 item->key + 1);
		item->held |= attributes_item(a, read_mappings, path) != NULL;
		snprintf(path, sizeof(path), SHARED_FOLDER "sem.%.290s",
			 item->key + 1);
		item->held |= attributes_item(a, read_mappings, path) != NULL;
	}
}

static struct err *read_kind(struct attributes *a, enum ipc_kind kind,
			     struct items *items)
{
	char text[128];
	unsigned real, effective = 0;
	if (status_field(a, "Uid", text, sizeof(text)))
		sscanf(text, "%u %u", &real, &effective);
	a->ipc.user = effective;
	TRY(ipc_list(kind, kind == IPC_QUEUE ? a->queues : a->shm, items));
	note_held(a, items);
	return NULL;
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
	TRY(read_kind(a, IPC_QUEUE, items));
	/* Those that cannot be listed are seen while they are open. */
	for (size_t i = 0; a->queues < 0 && i < a->descriptors.n; i++) {
		const struct descriptor *d = &a->descriptors.data[i];
		struct item *item;
		if (!d->queue)
			continue;
		TRY(items_add(items, d->path, &item));
		TRY(item_text(item, NULL, "present"));
	}
	return NULL;
}
