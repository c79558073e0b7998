/* Roots put back as they were before the first test (WIRE_HEAP_PUT_BACK). */
#pragma once

#include "vm/vm_heap_message.h"

void heap_put_message(struct heap_reader *reader);
/* Then all fields are kept, and graphs come from JVMTI. */
bool heap_put_is_wanted(void);
/* A test is about to begin. */
void heap_put_test(JNIEnv *env, uint32_t entry);
