/*
 * Which methods of Java's library are changed for which model (wire/models_java.h),
 * and how: see vm_class.h. What their helpers do is in jvm/java/polygraph/boot.
 *
 * To add a model: a row in wire/models_java.h, and one here of the class that has
 * the method. Methods are wrapped where they are defined, not where they are
 * called, so that every way to call them counts, and classes that define their own
 * (LinkedHashMap) are never touched.
 */
#pragma once

#include "vm/vm_class.h"

#define VM_HELPER_CLASS "polygraph/boot/Choices"
#define VM_PREFIX "polygraph$"
/* Of java.lang.Thread: what our choices know it by. */
#define VM_THREAD_KEY "polygraph$key"

/* What is changed in a class of the library; false: nothing. */
bool vm_models_edit(const char *class_name, struct vm_edit *ret);
/* The same, of classes of the program. */
void vm_models_edit_program(struct vm_edit *ret);
