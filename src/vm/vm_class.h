/*
 * Class files, changed as bytes (The Java Virtual Machine Specification, chapter
 * 4): no VM is needed.
 *
 * Three changes are made. A method is wrapped: it gets another name, and a new
 * method with its old one calls it and, before or after, a static method of a
 * helper class. A call is redirected: it becomes the call of a static method that
 * takes the object as its first argument. The use of a field is told: it becomes
 * the call of a new static method of the same class, which uses the field and then
 * calls a helper. None moves an instruction, so jumps, tables of lines and stack
 * maps stay as they are. Only the constant pool and the list of methods grow.
 *
 * Invariants:
 *  1. Every number that is read is checked against what is there. A class file
 *     that is not one is refused, never half changed.
 *  2. What was changed can be read again.
 *
 * What it does not do: verify. The VM does, and refuses what is wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a wrapper does. All helpers are static methods of the helper class. */
enum vm_shape {
	/*
	 * result = original(…); return (R)helper(result, this, number), with
	 * (Object, Object, int)Object. Only where R is a class or an array.
	 */
	VM_RESULT,
	/*
	 * The last argument, an int or a long, is helper(it, this, number), with
	 * (int, Object, int)int or the same of long.
	 */
	VM_LENGTH,
	/*
	 * argument = (T)helper(this, argument, number), with (Object, Object,
	 * int)Object; original(argument); after(argument), with (Object)void,
	 * where @after names it. The method has one argument and no result.
	 */
	VM_ACTION,
	/* if (helper(this, number)) return; original(…): with (Object, int)bool.
	 * The method has no result. */
	VM_SKIP,
	/* helper(this, number), with (Object, int)void; return original(…). */
	VM_BEFORE,
};

struct vm_wrapped {
	const char *method;
	const char *descriptor; /* NULL: every method of that name */
	enum vm_shape shape;
	const char *helper;
	const char *after; /* VM_ACTION only */
	uint16_t number;
	/* Instead of this: the object in that field of it. NULL: this. */
	const char *field, *field_class, *field_descriptor;
	/* The original is public, for the sake of vm_edit.interface. */
	bool exposed;
};

/* Calls of this method: of any class, where @class_name is NULL. */
struct vm_redirected {
	const char *class_name, *method, *descriptor;
	const char *helper;   /* its first argument is @receiver */
	const char *receiver; /* descriptor; NULL: the method is static */
};

/* The use of a field, as a class names it. The texts are not ended by 0. */
struct vm_field_use {
	const uint8_t *class_name, *field, *descriptor;
	uint16_t class_n, field_n, descriptor_n;
	bool writes;
};

enum vm_field_how {
	VM_FIELD_WRITES = 1,
	/* Read by a method that makes what it does not find there. */
	VM_FIELD_FILLS = 2,
};
#define VM_FIELD_USES 4
#define VM_FIELDS_MAX (INT16_MAX / VM_FIELD_USES)

struct vm_edit {
	const char *helper_class;
	const char *prefix; /* of names of methods that were wrapped */
	const struct vm_wrapped *wrapped;
	size_t n_wrapped;
	/* Also every other method that has code: VM_RESULT or VM_BEFORE. */
	const char *all_results, *all_before; /* helpers; NULL: no */
	const struct vm_redirected *redirected;
	size_t n_redirected;
	const char *interface; /* that it implements from now on; NULL: none */
	/* A new field, which is public; NULL: none. */
	const char *field, *field_descriptor;
	/*
	 * Uses of fields that have a number here, from 0 to VM_FIELDS_MAX, are
	 * told: helper(object, VM_FIELD_USES times the number plus enum
	 * vm_field_how), with (Object, int)void; the object of a static field
	 * is null. Writes in constructors and initialisers are not,
	 * nor what an initialiser does to static fields of its class. NULL: none.
	 */
	int (*field_number)(void *data, const struct vm_field_use *use);
	void *field_data;
	const char *field_helper;
};

enum vm_edited {
	VM_UNREADABLE, /* not a class file, or one beyond its limits */
	VM_UNCHANGED,
	VM_CHANGED,
};

/*
 * Where it is VM_CHANGED, *@ret are the bytes of the new class, which the caller
 * frees, and *@ret_wrapped, *@ret_calls how much was changed. Both may be NULL.
 */
enum vm_edited vm_class_edit(const uint8_t *bytes, size_t n,
			     const struct vm_edit *edit, uint8_t **ret,
			     size_t *ret_n, size_t *ret_wrapped,
			     size_t *ret_calls);
