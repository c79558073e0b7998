#include "watch/readers.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes/attributes.h"
#include "base/log.h"
#include "files/files.h"
#include "follow/follow.h"
#include "keep/save.h"
#include "tracee/memory.h"
#include "wire/state.h"

struct readers {
	struct watch_host host;
	const struct suite_place *list;
	size_t n;
	VEC(const char *) roots; /* of files … */
	VEC(size_t) files;	 /* … and which places they are */
	VEC(size_t) found;	 /* room for answers */
	/* By place: read, or set again before that, since readers_begin(). */
	atomic_bool *read;
	atomic_bool *own;
	struct files_readers *names;
	struct follow *follow;
	struct raddr agent; /* 0: none */
	uint64_t reads_n;   /* of the agent's, looked at */
	uint64_t asked[WIRE_ASKED];
	bool said;
};

struct err *readers_create(const struct watch_host *host,
			   const struct suite_place *list, size_t n,
			   struct readers **ret)
{
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any |= list[i].where != CHANGE_MEMORY;
	*ret = NULL;
	if (!any)
		return NULL;
	struct readers *readers = calloc(1, sizeof(*readers));
	if (!readers)
		return err_nomem();
	readers->host = *host;
	readers->list = list;
	readers->n = n;
	readers->read = calloc(n, sizeof(*readers->read));
	readers->own = calloc(n, sizeof(*readers->own));
	struct err *err = readers->read && readers->own ? NULL : err_nomem();
	for (size_t i = 0; !err && i < n; i++) {
		if (list[i].where != CHANGE_FILE)
			continue;
		err = vec_push(&readers->roots, list[i].root);
		if (!err)
			err = vec_push(&readers->files, i);
		if (!err)
			err = vec_push(&readers->found, i);
	}
	if (!err && readers->roots.n)
		err = files_readers_create(readers->roots.data,
					   readers->roots.n, NULL,
					   &readers->names);
	if (err)
		readers_destroy(readers);
	else
		*ret = readers;
	return err;
}

void readers_stop(struct readers *readers)
{
	follow_destroy(take_ptr(readers->follow));
}

void readers_destroy(struct readers *readers)
{
	if (!readers)
		return;
	readers_stop(readers);
	files_readers_destroy(readers->names);
	vec_free(&readers->roots);
	vec_free(&readers->files);
	vec_free(&readers->found);
	free(readers->read);
	free(readers->own);
	free(readers);
}

static void watch_readers_note(struct readers *readers, size_t place)
{
	if (!atomic_load(&readers->own[place]))
		atomic_store(&readers->read[place], true);
}

/* Does the call depend on this attribute? */
static bool is_used(const char *root, const struct follow_event *event)
{
	if (event->kind == FOLLOW_LOOKED)
		return attribute_concerns(root, event);
	if (event->relative && !strcmp(root, "working-directory"))
		return true;
	bool creates = event->kind == FOLLOW_CREATE ||
		       (event->kind == FOLLOW_OPEN && event->flags & O_CREAT);
	return creates && !strcmp(root, "umask");
}

static void watch_readers_on_call(void *data, const struct follow_event *event)
{
	struct readers *readers = data;
	if (*readers->host.saver)
		saver_event(*readers->host.saver, event);
	if (readers->names)
		files_readers_sink(readers->names, event);
	for (size_t i = 0; i < readers->n; i++) {
		const struct suite_place *place = &readers->list[i];
		if (place->where != CHANGE_PROCESS)
			continue;
		if (is_used(place->root, event))
			watch_readers_note(readers, i);
		else if (event->kind == FOLLOW_STATE &&
			 attribute_concerns(place->root, event))
			atomic_store(&readers->own[i], true);
	}
}

/* ---- what the agent noted ---- */

static bool read_agent(const struct readers *readers, struct tracee *tracee,
		       size_t offset, void *to, size_t n)
{
	struct raddr at = raddr_add(readers->agent, offset);
	return memory_read_some(tracee, at, to, n) == n;
}

static void start_agent(struct readers *readers, struct tracee *tracee)
{
	const struct suite_place *list = readers->list;
	uint32_t on = 1;
	bool any = false;
	for (size_t i = 0; i < readers->n; i++)
		any |= list[i].where == CHANGE_PROCESS;
	readers->agent = RADDR(0);
	struct raddr agent;
	if (!any ||
	    !program_symbol(readers->host.program, WIRE_STATE_SYMBOL, &agent))
		return;
	struct raddr log =
		raddr_add(agent, offsetof(struct wire_state, log_reads));
	struct err *err = memory_write(tracee, log, &on, sizeof(on));
	if (err)
		err_ignore(err);
	else
		readers->agent = agent;
}

/* "environment[NAME]" */
static bool is_variable(const char *root, const struct wire_read *read)
{
	static const char head[] = "environment[";
	size_t n = sizeof(head) - 1;
	size_t length = strnlen(read->name, sizeof(read->name));
	return !strncmp(root, head, n) &&
	       !strncmp(root + n, read->name, length) &&
	       !strcmp(root + n + length, "]");
}

/* Environment variables: those of the ring that came since the last time. */
static void take_variables(struct readers *readers, struct tracee *tracee)
{
	uint64_t n;
	if (!read_agent(readers, tracee, offsetof(struct wire_state, reads_n),
			&n, sizeof(n)))
		return;
	uint64_t from = readers->reads_n;
	readers->reads_n = n;
	if (n < from)
		return;
	if (n - from > WIRE_READS)
		from = n - WIRE_READS;
	for (; from < n; from++) {
		struct wire_read one;
		size_t at = offsetof(struct wire_state, reads) +
			    from % WIRE_READS * sizeof(one);
		if (!read_agent(readers, tracee, at, &one, sizeof(one)))
			return;
		for (size_t i = 0; i < readers->n; i++) {
			const struct suite_place *place = &readers->list[i];
			if (place->where != CHANGE_PROCESS ||
			    !is_variable(place->root, &one))
				continue;
			if (one.wrote)
				atomic_store(&readers->own[i], true);
			else
				watch_readers_note(readers, i);
		}
	}
}

/* All else that the agent counts. */
static void take_counts(struct readers *readers, struct tracee *tracee)
{
	static const char *const names[WIRE_ASKED] = {
		[WIRE_ENVIRONMENT] = NULL,	[WIRE_RANDOM] = "random",
		[WIRE_DRAND48] = "drand48",	[WIRE_LOCALE] = "locale[",
		[WIRE_TIME_ZONE] = "time-zone", [WIRE_STRTOK] = "strtok",
		[WIRE_GETOPT] = "getopt",	[WIRE_HSEARCH] = "hsearch",
	};
	uint64_t asked[WIRE_ASKED];
	if (!read_agent(readers, tracee, offsetof(struct wire_state, asked),
			asked, sizeof(asked)))
		return;
	for (size_t what = 0; what < WIRE_ASKED; what++) {
		bool more = asked[what] != readers->asked[what];
		readers->asked[what] = asked[what];
		for (size_t i = 0; more && names[what] && i < readers->n; i++) {
			const struct suite_place *place = &readers->list[i];
			if (place->where == CHANGE_PROCESS &&
			    !strncmp(place->root, names[what],
				     strlen(names[what])))
				watch_readers_note(readers, i);
		}
	}
}

/* What was asked for since the last time. */
static void take_agent(struct readers *readers, struct tracee *tracee)
{
	if (!readers->agent.v)
		return;
	take_variables(readers, tracee);
	take_counts(readers, tracee);
}

static void forget_agent(struct readers *readers, struct tracee *tracee)
{
	uint32_t none = 0;
	if (!readers->agent.v)
		return;
	take_agent(readers, tracee);
	struct raddr at = raddr_add(readers->agent,
				    offsetof(struct wire_state, overwritten));
	err_ignore(memory_write(tracee, at, &none, sizeof(none)));
}

/* ---- tests ---- */

struct err *readers_start(struct readers *readers,
			  const struct watch_process *process)
{
	readers_stop(readers);
	start_agent(readers, process->tracee);
	readers->reads_n = 0;
	const struct follow_options options = {
		.flags = FOLLOW_READS | FOLLOW_FILES | FOLLOW_STATES,
		.sink = watch_readers_on_call,
		.data = readers,
	};
	struct err *err =
		follow_attach(process->thread, &options, &readers->follow);
	if (!err)
		return NULL;
	if (!readers->said)
		suite_limit(*readers->host.observer,
			    "pollution: the tests that read changed files "
			    "could not be determined");
	log_debug(LOG_WATCH, "readers: %s", err_message(err));
	if (*readers->host.saver)
		saver_cannot_follow(*readers->host.saver, err_message(err));
	readers->said = true;
	err_destroy(err);
	return NULL;
}

void readers_begin(struct readers *readers, struct tracee *tracee)
{
	forget_agent(readers, tracee);
	if (readers->names)
		files_readers_take(readers->names, readers->found.data);
	for (size_t i = 0; i < readers->n; i++) {
		atomic_store(&readers->read[i], false);
		atomic_store(&readers->own[i], false);
	}
}

void readers_end(struct readers *readers, struct tracee *tracee, size_t test)
{
	const struct suite_observer *observer = *readers->host.observer;
	size_t n = readers->names ? files_readers_take(readers->names,
						       readers->found.data)
				  : 0;
	for (size_t i = 0; i < n; i++)
		watch_readers_note(readers,
				   readers->files.data[readers->found.data[i]]);
	take_agent(readers, tracee);
	for (size_t i = 0; i < readers->n; i++) {
		if (readers->read[i] && observer && observer->read)
			observer->read(observer->data, test, i, false);
	}
}
