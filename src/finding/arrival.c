#include "finding/arrival.h"

#include <stdlib.h>
#include <string.h>

#include "finding/words.h"

void arrival_free(struct arrival *arrival)
{
	for (size_t i = 0; i < arrival->stack.n; i++) {
		free(arrival->stack.data[i].function);
		free(arrival->stack.data[i].file);
	}
	vec_free(&arrival->stack);
	for (size_t i = 0; i < arrival->steps.n; i++)
		free(arrival->steps.data[i].place.file);
	vec_free(&arrival->steps);
	free(arrival->operation);
	free(arrival->lower.file);
	free(arrival->upper.file);
	free(arrival->passing.file);
	free(arrival->failing.file);
	free(arrival->event);
	free(arrival->until);
	free(arrival->before);
	free(arrival->passing_event);
	finding_failure_free(&arrival->failure);
	*arrival = (struct arrival){};
}

static void arrival_destroy(void *evidence)
{
	arrival_free(evidence);
	free(evidence);
}

const struct finding_kind arrival_kind = {
	.name = "schedule",
	.prefix = "schedule",
	.command = "schedules",
	.free = arrival_destroy,
};

struct err *arrival_append_place(struct str *str,
				 const struct arrival_place *place)
{
	TRY(words_append_place(str, place->file, place->line));
	return place->column ? str_appendf(str, ":%u", place->column) : NULL;
}

struct err *arrival_append_event(struct str *str, const struct arrival *arrival)
{
	bool started = !strcmp(arrival->operation, "start");
	bool locks = !strcmp(arrival->operation, "pthread_mutex_lock");
	const struct call_frame *frame =
		arrival->stack.n ? &arrival->stack.data[0] : NULL;
	bool timer = !strcmp(arrival->operation, "timer");
	if (started)
		TRY(str_append(str, "the thread started"));
	else if (timer)
		TRY(str_append(str, "the timer armed"));
	else if (!strcmp(arrival->operation, "task"))
		TRY(str_append(str, "a task of the pool's thread started"));
	else if (!strcmp(arrival->operation, "signal"))
		TRY(str_append(str, "what a thread does when a signal comes"));
	else
		TRY(str_appendf(str, "what a thread does %s %s",
				locks ? "from" : "after", arrival->operation));
	if (frame && frame->file) {
		TRY(str_append(str, " at "));
		TRY(words_append_place(str, frame->file, frame->line));
	}
	return NULL;
}

struct err *arrival_append_condition(struct str *str,
				     const struct arrival *arrival)
{
	if (!arrival->operation)
		return str_append(str, "its threads take turns differently");
	bool all = !arrival->early && arrival->event &&
		   !strcmp(arrival->event, ARRIVAL_ALL);
	if (all)
		return str_append(str, "all work of other threads comes late");
	TRY(arrival_append_event(str, arrival));
	if (!arrival->early && arrival->event && strchr(arrival->event, '\n'))
		TRY(str_append(str, ", with other work,"));
	return str_appendf(str, " comes %s", arrival->early ? "early" : "late");
}
