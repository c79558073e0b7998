/*
 * Thread-local values: what the thread that runs the tests has in a ThreadLocal.
 *
 * No field of a ThreadLocal leads there: the thread has a map from one to the other.
 * In a graph the value is a field all the same, "get()", as if it lay in the object.
 * Its place in a node's bytes is that of the object's header, which is not compared:
 *
 *  1. No object changes when its value does, so all thread-locals of a graph are
 *     looked up at each point. Each takes a step or two in the map's table.
 *  2. Nothing of Java is called to look: get() would make an initial value.
 *  3. No value and null are the same.
 */
#pragma once

#include "vm/vm_heap_internal.h"

/* A number of a field that JVMTI has not, however many interfaces there are. */
#define LOCAL_NUMBER (UINT32_C(1) << 30)

/* The calling thread is the one that runs the tests. */
void heap_locals_start(JNIEnv *env);
bool heap_field_is_local(const struct heap_field *field);
/* A reference as it lies in memory, zeroes where there is none. The heap is held. */
void heap_local_read(const struct heap_class *class, uint64_t address,
		     uint8_t *ret);
/* A local reference, or NULL. */
jobject heap_local_get(JNIEnv *env, jobject local, bool inheritable);
/* Of the calling thread. @value NULL: it has none any more. */
void heap_local_put(JNIEnv *env, jobject local, jobject value);
