/*
 * The agent inside of a Java VM: the channel to the controller (wire/vm.h), the
 * native methods that our Java classes call, and the parts that look into the VM
 * or change what it does.
 *
 * Laws, as far as they make sense in a VM:
 *  1. No header of ours but wire/, and no symbol is exported but Agent_OnLoad.
 *  2. Nothing is written to the VM's descriptors but the channel.
 *  3. Where the controller is gone the VM ends at once, without its hooks.
 *  4. A Java exception that is pending when we are called is left alone, and we
 *     leave none behind.
 *
 * Tests run on one thread, the VM's main thread; the functions of a part are
 * called there. What else a part asks the VM for (JVMTI events) comes on any
 * thread.
 */
#pragma once

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/vm.h"

/*
 * To add one: define it in a file of its own and list it in vm_agent.c. A part has
 * a JVMTI environment of its own, so that capabilities, events and tags are its
 * business alone (vm_environment()). Functions may be NULL.
 */
struct vm_part {
	/* In Agent_OnLoad; @options is all that was given. False: give up. */
	bool (*load)(JavaVM *vm, const char *options);
	/* The VM is ready, nothing of the user's ran. */
	void (*ready)(JNIEnv *env);
	/* Kinds from @first up to (not including) @end come here. */
	uint16_t first, end;
	void (*message)(JNIEnv *env, uint16_t kind, const uint8_t *data,
			uint32_t size);
	/*
	 * Before the controller is told; after the last line of a test. A test
	 * that @follows starts as the one before it ended: only the framework's
	 * own code ran since.
	 */
	void (*test_starts)(JNIEnv *env, uint32_t entry, bool follows);
	void (*test_point)(JNIEnv *env, enum wire_vm_point point);
	void (*test_ends)(JNIEnv *env, uint32_t entry);
};

/* A new one with these capabilities, as far as the VM has them; NULL: none. */
jvmtiEnv *vm_environment(JavaVM *vm, const jvmtiCapabilities *wanted);
/* Value of "name=value" in the comma-separated @options; -1: not given. */
long vm_option(const char *options, const char *name);
/* The test that runs is there: all parts are told. */
void vm_test_point(JNIEnv *env, enum wire_vm_point point);
/* Until the controller says WIRE_VM_GO. */
void vm_wait(JNIEnv *env);
/* One message as a whole, from any thread. */
void vm_send(uint16_t kind, const void *data, size_t n);
