/*
 * Which tests read a field.
 *
 * A place is fields from a static one on, each of the object that the one before
 * refers to; uses of the last of them are told. Where objects other than the one on
 * that way have the field, too, their reads do not count. Nor do those of a test
 * that wrote the field before. Reads of code that makes what it does not find there
 * are told as such (vm_class_fills.c). Reflection, Unsafe and the VM itself are not seen.
 *
 * JVMTI's field watches would tell the same, but with any of them all code of the
 * VM is interpreted. So classes are changed when they are loaded (vm_class.h): only
 * code that uses such a field becomes slower. Fields of the JDK that have methods to
 * read and write them are seen by breakpoints there, once a test.
 */
#pragma once

#include "vm/vm_heap_message.h"

/* In Agent_OnLoad, before there is an environment. */
void heap_reads_want(jvmtiCapabilities *wanted, jvmtiEventCallbacks *calls);
/* Events may come. False: this VM has none. */
bool heap_reads_load(jvmtiEnv *jvmti);
/* WIRE_HEAP_PLACES: before classes of the program are loaded. */
void heap_reads_message(JNIEnv *env, struct heap_reader *reader);
void heap_reads_class(JNIEnv *env, jclass mirror); /* was prepared */
void heap_reads_test(bool runs, uint32_t entry);
