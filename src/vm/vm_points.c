/*
 * The points in the middle of a test: its set-up ended when its method is
 * entered, and its tear-down begins when it is left, whichever framework and
 * runner calls it.
 *
 * A breakpoint at the method's beginning, and the event that its frame is popped.
 * That makes code slow, so it is done only where these points are asked for.
 */
#include "vm/vm_points.h"

static struct {
	jvmtiEnv *jvmti;  /* NULL: not asked for */
	jmethodID method; /* of the test that runs; NULL: none */
	bool inside;	  /* it was entered and not left */
} points;

bool vm_points_are_wanted(void)
{
	return points.jvmti;
}

void vm_points_expect(jmethodID method)
{
	jvmtiError error =
		(*points.jvmti)->SetBreakpoint(points.jvmti, method, 0);
	if (error == JVMTI_ERROR_NONE || error == JVMTI_ERROR_DUPLICATE)
		points.method = method;
}

static void JNICALL points_on_breakpoint(jvmtiEnv *jvmti, JNIEnv *env,
					 jthread thread, jmethodID method,
					 jlocation at)
{
	(void)at;
	if (method != points.method || points.inside)
		return;
	vm_test_point(env, WIRE_VM_AFTER_SETUP);
	points.inside = !(*jvmti)->NotifyFramePop(jvmti, thread, 0);
}

static void JNICALL points_on_pop(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
				  jmethodID method, jboolean by_exception)
{
	(void)jvmti, (void)thread, (void)by_exception;
	if (method != points.method || !points.inside)
		return;
	points.inside = false;
	vm_test_point(env, WIRE_VM_BEFORE_TEARDOWN);
}

static void points_test_starts(JNIEnv *env, uint32_t entry, bool follows)
{
	(void)env, (void)entry, (void)follows;
	points.method = NULL;
	points.inside = false;
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
};
