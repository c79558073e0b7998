/* A point: which sources changed, and what the rows that need them say now. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "attributes/attributes_internal.h"
#include "base/log.h"

const struct attribute attribute_table[] = {
#define ROW(...) { __VA_ARGS__ },
#include "attributes/rows.h"
#undef ROW
};
const size_t attribute_count = ARRAY_SIZE(attribute_table);

struct err *attributes_create(const struct attributes_options *options,
			      struct attributes **ret)
{
	struct attributes *a = calloc(1, sizeof(*a));
	if (!a)
		return err_nomem();
	a->options = *options;
	ipc_begin(&a->ipc);
	a->ipc.followed = options->followed;
	a->pidfd = a->proc = a->descriptors_dir = a->status = -1;
	a->shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	a->queues = ipc_queues();
	a->rows = calloc(attribute_count, sizeof(*a->rows));
	a->own = calloc(options->n_own + 1, sizeof(*a->own));
	a->wire = calloc(1, sizeof(*a->wire));
	if (!a->rows || !a->own || !a->wire) {
		attributes_destroy(a);
		return err_nomem();
	}
	if (options->n_own)
		memcpy(a->own, options->own, options->n_own * sizeof(*a->own));
	a->options.own = a->own;
	*ret = a;
	return NULL;
}

static void close_files(struct attributes *a)
{
	int *files[] = { &a->pidfd, &a->proc, &a->descriptors_dir, &a->status };
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		closep(files[i]);
		*files[i] = -1;
	}
}

void attributes_destroy(struct attributes *a)
{
	if (!a)
		return;
	close_files(a);
	closep(&a->shm);
	closep(&a->queues);
	descriptors_free(a);
	ranges_free(&a->spans);
	for (size_t i = 0; a->rows && i < attribute_count; i++)
		items_free(&a->rows[i]);
	ipc_end(&a->ipc);
	vec_free(&a->files);
	vec_free(&a->children);
	mapped_clear(a);
	vec_free(&a->mapped);
	vec_free(&a->old_shared);
	str_free(&a->status_text);
	map_text_free(&a->symbols);
	free(a->rows);
	free(a->own);
	free(a->wire);
	free(a);
}

void attributes_dirty(struct attributes *a, unsigned states)
{
	atomic_fetch_or_explicit(&a->dirty, states & STATE_ALL,
				 memory_order_relaxed);
}

void attributes_touched(struct attributes *a, const char *path)
{
	ipc_touched(&a->ipc, path);
}

uint64_t attributes_symbol(struct attributes *a, const char *name)
{
	uint64_t address = 0;
	if (!a->options.symbol || map_text_get(&a->symbols, name, &address))
		return address;
	address = a->options.symbol(a->options.data, name);
	err_ignore(map_text_put(&a->symbols, name, address));
	return address;
}

void attributes_function(const struct attributes *a, uint64_t address,
			 char *out, size_t n)
{
	if (!a->options.function ||
	    !a->options.function(a->options.data, address, out, n))
		snprintf(out, n, "0x%llx", (unsigned long long)address);
}

void attributes_set_first(struct attributes *a,
			  struct err *(*read)(struct attributes *a,
					      struct items *items),
			  const char *key, bool first)
{
	for (size_t i = 0; i < attribute_count; i++) {
		struct items *items = &a->rows[i];
		if (attribute_table[i].read != read)
			continue;
		for (size_t k = 0; k < items->list.n; k++) {
			struct item *item = &items->list.data[k];
			if (!key || (item->key && !strcmp(item->key, key)))
				item->pristine = first;
		}
	}
}

const struct item *attributes_item(const struct attributes *a,
				   struct err *(*read)(struct attributes *a,
						       struct items *items),
				   const char *key)
{
	for (size_t i = 0; i < attribute_count; i++) {
		if (attribute_table[i].read == read)
			return items_find(&a->rows[i], key);
	}
	return NULL;
}

/* Another process than the last time: nothing is to be compared with. */
static struct err *open_process(struct attributes *a, pid_t pid)
{
	char path[64];
	close_files(a);
	descriptors_free(a);
	ranges_free(&a->spans);
	a->captured = false;
	a->streams_known = false;
	a->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	a->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->proc < 0)
		return err_errno(errno, "cannot open /proc/%d", pid);
	a->descriptors_dir =
		openat(a->proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	a->status = openat(a->proc, "status", O_RDONLY | O_CLOEXEC);
	a->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return NULL;
}

static struct err *attributes_probe_changes(struct attributes *a,
					    unsigned *changed)
{
	if (!a->captured) {
		*changed = SOURCE_ALL;
	} else {
		unsigned states = STATE_ALL;
		if (a->options.followed)
			states = atomic_exchange(&a->dirty, 0);
		*changed |= states;
		if (a->thread)
			TRY(ranges_probe(a, changed));
	}
	if (a->thread) {
		filters_probe(a, *changed);
		TRY(agent_probe(a, changed));
		signals_probe(a, changed);
		floats_probe(a, changed);
		tasks_probe(a, changed);
	}
	files_probe(a, changed);
	return descriptors_probe(a, *changed, changed);
}

/* Rows that need neither the process's memory nor a call made in it. */
static bool is_seen_outside(const struct attribute *row)
{
	static struct err *(*const reads[])(struct attributes * a,
					    struct items * items) = {
		read_directory,	  read_root,	      read_umask,
		read_limits,	  read_descriptors,   read_children,
		read_mappings,	  read_shared_memory, read_semaphores,
		read_queues,	  read_ports,	      read_locks,
		read_user_ids,	  read_group_ids,     read_groups,
		read_personality, read_session,	      read_process_group,
	};
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++) {
		if (row->read == reads[i])
			return true;
	}
	return false;
}

static struct err *read_row(struct attributes *a, size_t index,
			    struct changes *ret)
{
	const struct attribute *row = &attribute_table[index];
	_cleanup_(items_freep) struct items items = {};
	TRY(row->read(a, &items));
	if (items.unknown) {
		log_debug(LOG_ATTRIBUTES, "%s is not compared: not known now",
			  row->name);
		return NULL;
	}
	TRY(items_finish(&items, row->unique));
	items.known = true;
	if (row->needs == STATE_IDS)
		a->ids_moved |=
			items_digest(&items) != items_digest(&a->rows[index]);
	if (a->captured && ret && a->rows[index].known && !items.silent)
		TRY(items_compare(row, row->shared ? &a->ipc : NULL,
				  &a->rows[index], &items, ret));
	items_free(&a->rows[index]);
	a->rows[index] = items;
	items = (struct items){};
	return NULL;
}

static struct err *attributes_capture_all(struct attributes *a, pid_t pid,
					  struct changes *ret)
{
	a->has_status = a->ids_moved = false;
	if (pid != a->pid)
		TRY(open_process(a, pid));
	unsigned changed = 0;
	for (size_t i = 0; i < attribute_count; i++) {
		if (a->rows[i].live)
			changed |= attribute_table[i].needs;
	}
	if (!a->captured)
		atomic_store(&a->dirty, 0);
	TRY(attributes_probe_changes(a, &changed));
	ipc_take_touched(&a->ipc);
	a->ipc.asked = changed & STATE_IPC;
	a->changed = changed;
	a->ipc.pid = pid;
	if (changed & SOURCE_ZONE)
		a->zone_variable = zone_variable(a);
	for (size_t i = 0; i < attribute_count; i++) {
		if (attribute_table[i].needs & changed &&
		    (a->thread || is_seen_outside(&attribute_table[i])))
			TRY(read_row(a, i, ret));
	}
	if (a->thread)
		TRY(ranges_settle(a));
	a->ipc.last_time = time(NULL);
	a->captured = true;
	return NULL;
}

struct err *attributes_capture(struct attributes *a, struct thread *thread,
			       struct changes *ret)
{
	a->thread = thread;
	a->tracee = thread->tracee;
	TRY(attributes_capture_all(a, tracee_pid(thread->tracee), ret));
	a->thread = NULL;
	return NULL;
}

struct err *attributes_capture_outside(struct attributes *a, pid_t pid,
				       struct changes *ret)
{
	a->thread = NULL;
	a->tracee = NULL;
	return attributes_capture_all(a, pid, ret);
}

static bool split_root(const char *root, size_t *ret_row, char **ret_key)
{
	size_t n = strcspn(root, "[");
	size_t length = strlen(root);
	*ret_key = NULL;
	for (size_t i = 0; i < attribute_count; i++) {
		if (strlen(attribute_table[i].name) != n ||
		    strncmp(attribute_table[i].name, root, n) != 0)
			continue;
		*ret_row = i;
		if (!root[n])
			return true;
		if (root[length - 1] != ']')
			return false;
		*ret_key = strndup(root + n + 1, length - n - 2);
		return *ret_key != NULL;
	}
	return false;
}

bool attributes_undone(const struct attributes *a, const struct change *change)
{
	_cleanup_(freep) char *key = NULL;
	size_t row;
	if (change->where != CHANGE_PROCESS ||
	    !split_root(change->root, &row, &key))
		return false;
	const struct items *items = &a->rows[row];
	uint64_t now;
	if (key && !strcmp(key, "*")) {
		now = items_digest(items);
	} else {
		const struct item *item = items_find(items, key);
		now = item ? item->digest : 0;
	}
	return now == change->digest_before;
}

const char *attributes_limit(const struct attributes *a)
{
	return a->refused ? "a filter of system calls (seccomp) that a test "
			    "left on: alternate signal stack, timers, dumpable "
			    "and parent-death signal are no longer looked at"
			  : NULL;
}

const struct attributes_file *attributes_files(const struct attributes *a,
					       size_t *ret_n)
{
	*ret_n = a->files.n;
	return a->files.data;
}

const struct attributes_file *attributes_mapped(const struct attributes *a,
						size_t *ret_n)
{
	*ret_n = a->mapped.n;
	return a->mapped.data;
}

unsigned attribute_states(const char *root)
{
	_cleanup_(freep) char *key = NULL;
	size_t row;
	return split_root(root, &row, &key) ? attribute_table[row].looked : 0;
}

bool attributes_row(size_t index, struct attribute_row *ret)
{
	if (index >= attribute_count)
		return false;
	const struct attribute *row = &attribute_table[index];
	*ret = (struct attribute_row){ row->name, row->what, row->how };
	return true;
}
