/*
 * The points in the middle of a test: its set-up ended when its method is
 * entered, and its tear-down begins when it is left, whichever framework and
 * runner calls it.
 *
 * A breakpoint at the method's beginning, and the event that its frame is popped.
 * That makes code slow, so it is done only where these points are asked for.
 */
#include "vm/vm_points.h"

#include <pthread.h>

/*
 * A test with a limit of time runs on a thread of its own, which its framework
 * gives up when the time is over: it may come to a point when the test has ended,
 * and another one runs. The test ends when no point is looked at, and from then on
 * none is.
 */
static struct {
	jvmtiEnv *jvmti; /* NULL: not asked for */
	pthread_mutex_t lock;
	jmethodID method; /* of the test that runs; NULL: none */
	bool inside;	  /* it was entered and not left */
	unsigned tests;	  /* that started */
} points = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of @tests, which one this thread entered. */
static __thread unsigned entered;

bool vm_points_are_wanted(void)
{
	return points.jvmti;
}

void vm_points_expect(jmethodID method)
{
	jvmtiError error =
		(*points.jvmti)->SetBreakpoint(points.jvmti, method, 0);
	if (error != JVMTI_ERROR_NONE && error != JVMTI_ERROR_DUPLICATE)
		return;
	pthread_mutex_lock(&points.lock);
	points.method = method;
	pthread_mutex_unlock(&points.lock);
}

static void JNICALL points_on_breakpoint(jvmtiEnv *jvmti, JNIEnv *env,
					 jthread thread, jmethodID method,
					 jlocation at)
{
	(void)at;
	pthread_mutex_lock(&points.lock);
	if (method == points.method && !points.inside) {
		vm_test_point(env, WIRE_VM_AFTER_SETUP);
		points.inside = !(*jvmti)->NotifyFramePop(jvmti, thread, 0);
		entered = points.tests;
	}
	pthread_mutex_unlock(&points.lock);
}

static void JNICALL points_on_pop(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
				  jmethodID method, jboolean by_exception)
{
	(void)jvmti, (void)thread, (void)by_exception;
	pthread_mutex_lock(&points.lock);
	if (method == points.method && points.inside &&
	    entered == points.tests) {
		points.inside = false;
		vm_test_point(env, WIRE_VM_BEFORE_TEARDOWN);
	}
	pthread_mutex_unlock(&points.lock);
}

static void points_test_starts(JNIEnv *env, uint32_t entry, bool follows)
{
	(void)env, (void)entry, (void)follows;
	points.inside = false;
	points.tests++;
}

static void points_test_ends(JNIEnv *env, uint32_t entry)
{
	(void)env, (void)entry;
	pthread_mutex_lock(&points.lock);
	points.method = NULL;
	pthread_mutex_unlock(&points.lock);
}

static bool points_load(JavaVM *vm, const char *options)
{
	const jvmtiCapabilities wanted = {
		.can_generate_breakpoint_events = 1,
		.can_generate_frame_pop_events = 1,
	};
	const jvmtiEventCallbacks calls = {
		.Breakpoint = points_on_breakpoint,
		.FramePop = points_on_pop,
	};
	if (vm_option(options, "points") <= 0)
		return true;
	points.jvmti = vm_environment(vm, &wanted);
	return points.jvmti &&
	       !(*points.jvmti)
			->SetEventCallbacks(points.jvmti, &calls,
					    sizeof(calls)) &&
	       !(*points.jvmti)
			->SetEventNotificationMode(points.jvmti, JVMTI_ENABLE,
						   JVMTI_EVENT_BREAKPOINT,
						   NULL) &&
	       !(*points.jvmti)
			->SetEventNotificationMode(points.jvmti, JVMTI_ENABLE,
						   JVMTI_EVENT_FRAME_POP, NULL);
}

const struct vm_part vm_points_part = {
	.load = points_load,
	.test_starts = points_test_starts,
	.test_ends = points_test_ends,
};
