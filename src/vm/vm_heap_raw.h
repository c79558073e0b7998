/*
 * HotSpot's heap as memory: where classes and fields lie, found through the
 * tables that libjvm exports for debuggers (vmStructs) and through its own
 * Unsafe, and tried on objects that we know before it is believed.
 */
#pragma once

#include "vm/vm_heap_internal.h"

/* NULL: it is as we know it; else why it is not used, as the end of a sentence. */
const char *heap_raw_start(JNIEnv *env);
/* The address of the VM's own description of a class. */
uint64_t heap_raw_klass(const struct heap_class *class);
/* Where a field lies in its object, or in the class's mirror. */
uint32_t heap_raw_offset(JNIEnv *env, const struct heap_field *field,
			 bool is_static);
/* Of an object at @address. */
uint64_t heap_raw_klass_of(uint64_t address);
/* The mirror of a description, as a reference that is not ours to delete. */
jclass heap_raw_mirror(uint64_t klass);
uint64_t heap_raw_mirror_klass(uint64_t mirror);
/* Where a class's mirror is now. */
uint64_t heap_raw_mirror_address(const struct heap_class *class);

/* Between these two no object moves. False: not now. */
bool heap_raw_hold(JNIEnv *env);
void heap_raw_release(JNIEnv *env);
void heap_raw_collected(void); /* the VM: one more */
/* Collections so far: objects may have moved since. */
uint64_t heap_raw_collections(void);
