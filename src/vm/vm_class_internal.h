/* What reading and writing of class files share: see vm_class.h. */
#pragma once

#include "vm/vm_class.h"

enum vm_tag {
	VM_UTF8 = 1,
	VM_LONG = 5,
	VM_DOUBLE = 6,
	VM_CLASS = 7,
	VM_FIELD = 9,
	VM_METHOD = 10,
	VM_INTERFACE_METHOD = 11,
	VM_NAME_AND_TYPE = 12,
};

enum vm_access {
	VM_ACC_PUBLIC = 0x0001,
	VM_ACC_PRIVATE = 0x0002,
	VM_ACC_PROTECTED = 0x0004,
	VM_ACC_STATIC = 0x0008,
	VM_ACC_FINAL = 0x0010,
	VM_ACC_NATIVE = 0x0100,
	VM_ACC_INTERFACE = 0x0200,
	VM_ACC_ABSTRACT = 0x0400,
	VM_ACC_SYNTHETIC = 0x1000,
};

/* A method, by offsets in the file. */
struct vm_method {
	size_t at; /* access flags, name, descriptor, attributes */
	size_t end;
	size_t code; /* its first instruction; 0: none */
	uint32_t code_n;
};

/* Where the parts of a class file are. */
struct vm_class {
	const uint8_t *bytes;
	size_t n;
	uint16_t major;
	uint16_t pool_n;
	size_t *pool; /* offsets of the tags, pool_n of them; 0: none */
	size_t pool_end;
	uint16_t access, self, super;
	size_t interfaces;		    /* offset of their number */
	size_t fields, methods, attributes; /* the same */
	struct vm_method *all;
	uint16_t n_all;
};

/* False: it is none. Where it is true vm_class_free() is due. */
bool vm_class_read(const uint8_t *bytes, size_t n, struct vm_class *ret);
void vm_class_free(struct vm_class *class);

static inline uint16_t vm_u2(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t vm_u4(const uint8_t *at)
{
	return (uint32_t)vm_u2(at) << 16 | vm_u2(at + 2);
}

/* The text at @index; NULL: there is none. Not ended by 0. */
const uint8_t *vm_class_text(const struct vm_class *class, uint16_t index,
			     uint16_t *ret_n);
bool vm_class_text_is(const struct vm_class *class, uint16_t index,
		      const char *text);
/* Of a class constant: its name; 0: it is none. */
uint16_t vm_class_name(const struct vm_class *class, uint16_t index);
/* Of a constant for a method: its parts. False: it is none. */
bool vm_class_call(const struct vm_class *class, uint16_t index,
		   uint16_t *ret_class, uint16_t *ret_name,
		   uint16_t *ret_descriptor);

/* The same of a constant for a field. */
bool vm_class_field(const struct vm_class *class, uint16_t index,
		    uint16_t *ret_class, uint16_t *ret_name,
		    uint16_t *ret_descriptor);

/* Length of the instruction there; 0: there is none. @at is in the code. */
uint32_t vm_code_length(const uint8_t *code, uint32_t n, uint32_t at);

/* Does the method, which has code, make what it does not find in that field? */
bool vm_method_fills(const struct vm_class *class,
		     const struct vm_method *method,
		     const struct vm_field_use *use);

/* Slots of the arguments in @descriptor, and what it returns ('V', 'I', …). */
struct vm_descriptor {
	unsigned n;	/* arguments */
	unsigned slots; /* that they take */
	char kinds[255];
	char result;	  /* 'L' also for arrays */
	size_t result_at; /* offset of its type in the text */
	size_t last_at;	  /* of the last argument; where there is one */
	size_t last_n;
};
bool vm_descriptor_read(const uint8_t *text, size_t n,
			struct vm_descriptor *ret);
