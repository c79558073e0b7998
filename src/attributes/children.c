/* Threads that still run, and children that are alive or not waited for. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "attributes/attributes_internal.h"

#define CHILDREN_MAX 256
#define LIST_MAX ((size_t)64 << 10)

static ssize_t read_whole(int folder, const char *name, char *out, size_t n)
{
	_cleanup_(closep) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	while (fd >= 0 && got < n - 1) {
		ssize_t more = read(fd, out + got, n - 1 - got);
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	out[got] = '\0';
	return fd < 0 ? -1 : (ssize_t)got;
}

bool process_facts(pid_t pid, struct process_facts *ret)
{
	char path[64], text[2048];
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (read_whole(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	*ret = (struct process_facts){};
	const char *state = strstr(text, "\nState:");
	const char *parent = strstr(text, "\nPPid:");
	const char *tracer = strstr(text, "\nTracerPid:");
	return sscanf(text, "Name:\t%63[^\n]", ret->name) == 1 && state &&
	       sscanf(state, "\nState: %c", &ret->state) == 1 && parent &&
	       sscanf(parent, "\nPPid: %d", &ret->parent) == 1 && tracer &&
	       sscanf(tracer, "\nTracerPid: %d", &ret->tracer) == 1;
}

/* The children of all threads, as the kernel writes them: "12 15 ". */
static size_t list_children(struct attributes *a, char *out, size_t n)
{
	size_t got = 0, threads = tracee_threads(a->tracee);
	for (size_t i = 0; i < threads && got < n / 2; i++) {
		char path[64];
		snprintf(path, sizeof(path), "task/%d/children",
			 tracee_thread(a->tracee, i)->tid);
		ssize_t more = read_whole(a->proc, path, out + got, n - got);
		got += more > 0 ? (size_t)more : 0;
	}
	out[got] = '\0';
	return got;
}

/* Those whose parent is gone become ours (PR_SET_CHILD_SUBREAPER). */
static size_t list_orphans(char *out, size_t n)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	ssize_t got = read_whole(AT_FDCWD, path, out, n);
	return got > 0 ? (size_t)got : 0;
}

/* Its end was seen, but nobody has looked at it yet. */
static bool is_gone(const struct thread *thread)
{
	return thread->has_waiting && (WIFEXITED(thread->waiting_status) ||
				       WIFSIGNALED(thread->waiting_status));
}

void tasks_probe(struct attributes *a, unsigned *ret)
{
	uint64_t digest = 0;
	size_t n = tracee_threads(a->tracee);
	for (size_t i = 0; i < n; i++) {
		const struct thread *thread = tracee_thread(a->tracee, i);
		if (!is_gone(thread))
			digest = digest_of(&thread->tid, sizeof(thread->tid),
					   digest);
	}
	if (digest != a->tasks)
		*ret |= SOURCE_TASKS;
	a->tasks = digest;
}

struct err *read_threads(struct attributes *a, struct items *items)
{
	size_t n = tracee_threads(a->tracee);
	for (size_t i = 0; i < n && i < CHILDREN_MAX; i++) {
		const struct thread *thread = tracee_thread(a->tracee, i);
		pid_t tid = thread->tid;
		char path[64], name[64], where[256];
		if (tid == a->pid || is_gone(thread))
			continue;
		snprintf(path, sizeof(path), "task/%d/comm", tid);
		if (read_whole(a->proc, path, name, sizeof(name)) < 0)
			continue;
		name[strcspn(name, "\n")] = '\0';
		struct item *item;
		TRY(items_add(items, name, &item));
		/* Where it happens to be is no change. */
		item->digest = digest_of("thread", 6, 0);
		if (tid == a->thread->tid || !a->options.where ||
		    !a->options.where(a->options.data, tid, where,
				      sizeof(where)))
			snprintf(where, sizeof(where), "running");
		TRY(item_text(item, NULL, where));
	}
	return NULL;
}

/*
 * A child has its parent's name until it executes a program: the one it had
 * first stays, else it would be another one by then.
 */
static struct err *first_name(struct attributes *a, pid_t pid, const char *now,
			      const char **ret)
{
	struct child_name child = { .pid = pid, .seen = true };
	for (size_t i = 0; i < a->children.n; i++) {
		if (a->children.data[i].pid == pid) {
			a->children.data[i].seen = true;
			*ret = a->children.data[i].name;
			return NULL;
		}
	}
	snprintf(child.name, sizeof(child.name), "%s", now);
	TRY(vec_push(&a->children, child));
	*ret = a->children.data[a->children.n - 1].name;
	return NULL;
}

static void forget_children(struct attributes *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->children.n; i++) {
		struct child_name child = a->children.data[i];
		if (!child.seen)
			continue;
		child.seen = false;
		a->children.data[n++] = child;
	}
	a->children.n = n;
}

static struct err *add_processes(struct attributes *a, const char *list,
				 struct items *items)
{
	pid_t self = getpid();
	for (const char *at = list; *at;) {
		char *end;
		pid_t pid = (pid_t)strtol(at, &end, 10);
		if (end == at)
			break;
		at = end + strspn(end, " ");
		struct process_facts facts;
		/* What we trace is a copy of ours, or about to be let go. */
		if (pid == a->pid || !process_facts(pid, &facts) ||
		    facts.tracer == self ||
		    (facts.parent != a->pid && facts.parent != self))
			continue;
		/* To wait for one that became ours is our business. */
		if (facts.parent == self && facts.state == 'Z')
			continue;
		struct item *item;
		const char *name;
		TRY(first_name(a, pid, facts.name, &name));
		TRY(items_add(items, name, &item));
		TRY(item_text(item, NULL,
			      facts.state == 'Z' ? "not waited for"
						 : "running"));
		items->live = true;
		if (items->list.n > CHILDREN_MAX)
			break;
	}
	return NULL;
}

struct err *read_children(struct attributes *a, struct items *items)
{
	_cleanup_(freep) char *list = malloc(LIST_MAX);
	if (!list)
		return err_nomem();
	list_children(a, list, LIST_MAX);
	TRY(add_processes(a, list, items));
	list_orphans(list, LIST_MAX);
	TRY(add_processes(a, list, items));
	forget_children(a);
	return NULL;
}
