/*
 * The part of the agent that waits at the points of a test until the controller
 * has looked at the VM from outside: at files, descriptors, child processes.
 */
#include "vm/vm_outside.h"

#include "wire/vm_outside.h"

/* enum wire_outside_option; not positive: it does not wait. */
static long wanted;

static bool outside_load(JavaVM *vm, const char *options)
{
	(void)vm;
	wanted = vm_option(options, "outside");
	return true;
}

static void outside_point(JNIEnv *env, enum wire_vm_point point)
{
	const uint32_t number = point;
	if (wanted <= 0)
		return;
	vm_send(WIRE_OUTSIDE_POINT, &number, sizeof(number));
	vm_wait(env);
}

static void outside_starts(JNIEnv *env, uint32_t entry, bool follows)
{
	(void)entry;
	if (!follows || wanted != WIRE_OUTSIDE_KNOWN)
		outside_point(env, WIRE_VM_BEFORE_SETUP);
}

const struct vm_part vm_outside_part = {
	.load = outside_load,
	.test_starts = outside_starts,
	.test_point = outside_point,
};
