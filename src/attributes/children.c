/* Threads that still run, and children that are alive or not waited for. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "attributes/attributes_internal.h"
#include "base/proc.h"

#define CHILDREN_MAX 256

const char *process_text(const struct proc_status *status)
{
	return status->state == 'Z' ? "not waited for" : "running";
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
		char name[PROC_NAME_MAX];
		if (tid == a->pid || is_gone(thread) ||
		    !proc_read_name(a->pid, tid, name))
			continue;
		struct item *item;
		TRY(items_add(items, name, &item));
		/* Where it happens to be is chance. */
		item->digest = digest_of("thread", 6, 0);
		TRY(item_text(item, NULL, "running"));
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

static struct err *add_processes(struct attributes *a, const struct pids *pids,
				 struct items *items)
{
	pid_t self = getpid();
	for (size_t i = 0; i < pids->n; i++) {
		pid_t pid = pids->data[i];
		struct proc_status status;
		/* What we trace is a copy of ours, or about to be let go. */
		if (pid == a->pid || !proc_read_status(pid, &status) ||
		    status.tracer == self)
			continue;
		/* Its parent is just waiting for it. */
		if (status.state == 'X' || status.state == 'x')
			continue;
		/* To wait for an orphan is not its business. */
		if (status.parent != a->pid && status.state == 'Z')
			continue;
		struct item *item;
		const char *name;
		TRY(first_name(a, pid, status.name, &name));
		TRY(items_add(items, name, &item));
		/* One that was left ends when it ends, whichever test runs. */
		item->digest = digest_of("child", 5, 0);
		TRY(item_text(item, NULL, process_text(&status)));
		items->live = true;
		if (items->list.n > CHILDREN_MAX)
			break;
	}
	return NULL;
}

/* A child is listed at the thread that made it. */
static struct err *find_children(struct attributes *a, struct pids *ret)
{
	if (a->tracee) {
		for (size_t i = 0; i < tracee_threads(a->tracee); i++)
			TRY(proc_read_children(
				a->pid, tracee_thread(a->tracee, i)->tid, ret));
		return tracee_orphans(a->tracee, ret);
	}
	_cleanup_(pids_freep) struct pids threads = {};
	TRY(proc_read_threads(a->pid, &threads));
	for (size_t i = 0; i < threads.n; i++)
		TRY(proc_read_children(a->pid, threads.data[i], ret));
	return a->options.orphans ? a->options.orphans(a->options.data, ret)
				  : NULL;
}

struct err *read_children(struct attributes *a, struct items *items)
{
	_cleanup_(pids_freep) struct pids pids = {};
	TRY(find_children(a, &pids));
	TRY(add_processes(a, &pids, items));
	forget_children(a);
	return NULL;
}
