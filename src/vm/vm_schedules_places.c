/*
 * Places in Java 17's library where work begins without a wait: a pool's next task,
 * and what is left to do after a lock, a semaphore or a latch was released. Each is a
 * row of a method's table of lines, with a breakpoint.
 */
#include <string.h>

#include "vm/vm_schedules_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Stops of a run, after which there are no more: they cost time. */
#define STOPS_MAX 2000

static struct library_place {
	const char *class_name, *method;
	jint row;    /* of its table, from 0 */
	bool inside; /* struct suite_schedule.inside */
	enum wire_schedule_operation operation;
	jmethodID id; /* NULL: there is none */
	jlocation location;
} places[] = {
	{ "java/util/concurrent/ThreadPoolExecutor", "beforeExecute", 0, false,
	  WIRE_OPERATION_TASK, NULL, 0 },
	{ "java/util/concurrent/ForkJoinPool$WorkQueue", "topLevelExec", 0,
	  false, WIRE_OPERATION_TASK, NULL, 0 },
	/* "return true", after the next one was told. */
	{ "java/util/concurrent/locks/AbstractQueuedSynchronizer", "release", 2,
	  true, WIRE_OPERATION_RELEASE, NULL, 0 },
	{ "java/util/concurrent/locks/AbstractQueuedSynchronizer",
	  "releaseShared", 2, true, WIRE_OPERATION_RELEASE, NULL, 0 },
};

/* Where threads of pools wait for what is to do next. */
static struct {
	const char *class_name, *method;
	jmethodID id;
} idling[] = {
	{ "java/util/concurrent/ThreadPoolExecutor", "getTask", NULL },
	{ "java/util/concurrent/ForkJoinPool", "awaitWork", NULL },
};

static unsigned stops; /* atomic */

static jmethodID find_method(JNIEnv *env, const char *class_name,
			     const char *method)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID *methods = NULL, found = NULL;
	jint n = 0;
	if (!class) {
		(*env)->ExceptionClear(env);
		return NULL;
	}
	if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods))
		return NULL;
	for (jint i = 0; i < n && !found; i++) {
		char *name = NULL;
		if ((*jvmti)->GetMethodName(jvmti, methods[i], &name, NULL,
					    NULL))
			continue;
		if (!strcmp(name, method))
			found = methods[i];
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return found;
}

static void break_place(JNIEnv *env, struct library_place *place)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	jvmtiLineNumberEntry *lines = NULL;
	jint n = 0;
	jmethodID id = find_method(env, place->class_name, place->method);
	if (!id || (*jvmti)->GetLineNumberTable(jvmti, id, &n, &lines))
		return;
	if (place->row < n) {
		place->location = lines[place->row].start_location;
		place->id = id;
		(*jvmti)->SetBreakpoint(jvmti, id, place->location);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
}

void vm_schedule_break_places(JNIEnv *env)
{
	bool inside = vm_schedule.flags & WIRE_SCHEDULE_INSIDE;
	for (size_t i = 0; i < COUNT(places); i++) {
		if (inside || !places[i].inside)
			break_place(env, &places[i]);
	}
	for (size_t i = 0; i < COUNT(idling); i++)
		idling[i].id = find_method(env, idling[i].class_name,
					   idling[i].method);
}

bool vm_schedule_at_place(struct vm_thread *self, jmethodID method,
			  jlocation location)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	const struct library_place *place = NULL;
	for (size_t i = 0; i < COUNT(places) && !place; i++) {
		if (places[i].id == method && places[i].location == location)
			place = &places[i];
	}
	if (!place)
		return false;
	if (__atomic_add_fetch(&stops, 1, __ATOMIC_RELAXED) > STOPS_MAX)
		(*jvmti)->ClearBreakpoint(jvmti, method, location);
	bool first =
		self && self->fresh && place->operation == WIRE_OPERATION_TASK;
	if (first)
		self->fresh = false; /* it was started for this task */
	if (self && self != vm_schedule.test && !first)
		vm_schedule_segment(self, place->operation, place->inside);
	return true;
}

bool vm_schedule_idles(void)
{
	jvmtiFrameInfo frames[16];
	jint n = 0;
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, 16, frames, &n))
		return false;
	for (jint i = 0; i < n; i++) {
		for (size_t k = 0; k < COUNT(idling); k++) {
			if (idling[k].id && frames[i].method == idling[k].id)
				return true;
		}
	}
	return false;
}
