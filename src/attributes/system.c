/*
 * What whole processes leave in the system: the same items as those of one
 * process, found from outside. Ports are looked up among the sockets of what the
 * test left running, so that nobody else's are ever blamed on it.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "attributes/attributes_internal.h"
#include "base/map.h"
#include "base/path.h"
#include "base/proc.h"

#define NET_MAX ((size_t)4 << 20)
#define SOCKETS_MAX 4096

enum {
	SYSTEM_SHARED,
	SYSTEM_SEMAPHORE,
	SYSTEM_QUEUE,
	SYSTEM_PORT,
	SYSTEM_CHILD,
	SYSTEM_ROWS
};

static const char *const names[SYSTEM_ROWS] = {
	[SYSTEM_SHARED] = "shared-memory", [SYSTEM_SEMAPHORE] = "semaphore",
	[SYSTEM_QUEUE] = "message-queue",  [SYSTEM_PORT] = "port",
	[SYSTEM_CHILD] = "child",
};

struct system_state {
	bool captured;
	struct ipc_owner ipc;
	int shm, queues;
	struct items rows[SYSTEM_ROWS];
};

struct err *system_state_create(struct system_state **ret)
{
	struct system_state *state = calloc(1, sizeof(*state));
	if (!state)
		return err_nomem();
	state->ipc.user = geteuid();
	ipc_begin(&state->ipc);
	state->shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	state->queues = ipc_queues();
	*ret = state;
	return NULL;
}

void system_state_destroy(struct system_state *state)
{
	if (!state)
		return;
	for (size_t i = 0; i < SYSTEM_ROWS; i++)
		items_free(&state->rows[i]);
	closep(&state->shm);
	closep(&state->queues);
	ipc_end(&state->ipc);
	free(state);
}

void system_state_touched(struct system_state *state, const char *path)
{
	ipc_touched(&state->ipc, path);
}

/* ---- ports ---- */

static struct err *note_sockets(pid_t pid, struct map_u64 *sockets)
{
	char path[64], link[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *dir = opendir(path);
	if (!dir)
		return NULL;
	struct err *err = NULL;
	size_t count = 0;
	for (const struct dirent *entry;
	     !err && (entry = readdir(dir)) && count < SOCKETS_MAX; count++) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link,
				       sizeof(link) - 1);
		unsigned long long inode;
		link[MAX(n, (ssize_t)0)] = '\0';
		if (sscanf(link, "socket:[%llu]", &inode) == 1)
			err = map_u64_put(sockets, inode, 1);
	}
	closedir(dir);
	return err;
}

static struct err *take_socket(struct map_u64 *sockets, uint64_t inode,
			       const char *key, const char *text,
			       struct items *items)
{
	/* Once, also where several processes have it. */
	if (!map_u64_remove(sockets, inode))
		return NULL;
	struct item *item;
	TRY(items_add(items, key, &item));
	return item_text(item, NULL, text);
}

/* " 0: 0100007F:1F90 00000000:0000 0A … uid timeout inode" */
static struct err *inet_line(const char *line, const char *kind, bool six,
			     struct map_u64 *sockets, struct items *items)
{
	char hex[64], remote[64], text[INET6_ADDRSTRLEN] = "", key[128];
	unsigned port, remote_port, state;
	unsigned long long inode;
	if (sscanf(line,
		   " %*u: %63[0-9A-F]:%x %63[0-9A-F]:%x %x %*s %*s %*s %*u %*u "
		   "%llu",
		   hex, &port, remote, &remote_port, &state, &inode) != 6)
		return NULL;
	bool udp = kind[0] == 'u';
	if (!port || (udp ? remote_port != 0 : state != 0x0a))
		return NULL;
	uint32_t words[4] = {};
	for (unsigned i = 0; i < (six ? 4U : 1U); i++) {
		char word[9] = "";
		if (strlen(hex) < (size_t)8 * (i + 1))
			return NULL;
		memcpy(word, hex + (size_t)8 * i, 8);
		words[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	inet_ntop(six ? AF_INET6 : AF_INET, words, text, sizeof(text));
	socket_port_text(kind, text, six, port, key, sizeof(key));
	return take_socket(sockets, inode, key, udp ? "bound" : "listening",
			   items);
}

/* "Num RefCount Protocol Flags Type St Inode Path" */
static struct err *unix_line(const char *line, struct map_u64 *sockets,
			     struct items *items)
{
	unsigned flags;
	unsigned long long inode;
	int name = 0;
	char key[256];
	if (sscanf(line, "%*s %*x %*x %x %*x %*x %llu %n", &flags, &inode,
		   &name) != 2 ||
	    !name || !line[name])
		return NULL;
	snprintf(key, sizeof(key), "unix %.200s", line + name);
	return take_socket(sockets, inode, key,
			   flags & 0x10000 ? "listening" : "bound", items);
}

static struct err *add_ports(pid_t pid, struct map_u64 *sockets,
			     struct items *items)
{
	static const struct {
		const char *file, *kind;
		bool six;
	} files[] = {
		{ "tcp", "tcp", false }, { "tcp6", "tcp", true },
		{ "udp", "udp", false }, { "udp6", "udp", true },
		{ "unix", NULL, false },
	};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[64];
		_cleanup_(freep) char *text = NULL;
		size_t n;
		snprintf(path, sizeof(path), "/proc/%d/net/%s", pid,
			 files[i].file);
		struct err *err = file_read(path, NET_MAX, &text, &n);
		if (err) {
			err_ignore(err);
			continue;
		}
		for (char *line = text, *next; line && *line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			if (files[i].kind)
				TRY(inet_line(line, files[i].kind, files[i].six,
					      sockets, items));
			else
				TRY(unix_line(line, sockets, items));
		}
	}
	return NULL;
}

static struct err *list_ports(const pid_t *children, size_t n,
			      struct items *items)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_(map_u64_freep) struct map_u64 sockets = MAP_INIT;
		TRY(note_sockets(children[i], &sockets));
		if (sockets.map.n)
			TRY(add_ports(children[i], &sockets, items));
	}
	return NULL;
}

static struct err *list_processes(const pid_t *children, size_t n,
				  struct items *items)
{
	for (size_t i = 0; i < n; i++) {
		struct proc_status status;
		if (!proc_read_status(children[i], &status))
			continue;
		struct item *item;
		TRY(items_add(items, status.name, &item));
		TRY(item_text(item, NULL, process_text(&status)));
	}
	return NULL;
}

static const struct attribute *row_named(const char *name)
{
	for (size_t i = 0; i < attribute_count; i++) {
		if (!strcmp(attribute_table[i].name, name))
			return &attribute_table[i];
	}
	BUG("no attribute '%s'", name);
}

struct err *system_state_capture(struct system_state *state,
				 const pid_t *children, size_t n_children,
				 struct changes *ret)
{
	ipc_take_touched(&state->ipc);
	for (unsigned i = 0; i < SYSTEM_ROWS; i++) {
		const struct attribute *row = row_named(names[i]);
		_cleanup_(items_freep) struct items items = {};
		if (i == SYSTEM_PORT)
			TRY(list_ports(children, n_children, &items));
		else if (i == SYSTEM_CHILD)
			TRY(list_processes(children, n_children, &items));
		else
			TRY(ipc_list((enum ipc_kind)i,
				     i == SYSTEM_QUEUE ? state->queues
						       : state->shm,
				     &items));
		TRY(items_finish(&items, i == SYSTEM_PORT));
		if (state->captured && ret)
			TRY(items_compare(row, row->shared ? &state->ipc : NULL,
					  &state->rows[i], &items, ret));
		items_free(&state->rows[i]);
		state->rows[i] = items;
		items = (struct items){};
	}
	state->captured = true;
	state->ipc.last_time = time(NULL);
	return NULL;
}
