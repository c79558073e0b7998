/*
 * Which methods make what they do not find: caches, and values that are made when
 * they are first needed. They come in few forms, which compilers leave as they are:
 *
 *     if (field == null) field = make();
 *     if (field[i] == null) field[i] = make();
 *     if (field.get(key) == null) field.put(key, make());
 *     field.computeIfAbsent(key, …);
 *
 * What such a method returns does not depend on what was there, unless what is made
 * does. Code that only reads, as one that looks a key up in a registry or counts its
 * entries, is none of these forms. Nor is one that stores numbers: it counts.
 */
#include <string.h>

#include "vm/vm_class_internal.h"

enum {
	OP_AALOAD = 50,
	OP_AASTORE = 83,
	OP_PUTSTATIC = 179,
	OP_PUTFIELD = 181,
	OP_INVOKEVIRTUAL = 182,
	OP_INVOKEINTERFACE = 185,
	OP_IFNULL = 198,
	OP_IFNONNULL = 199,
};

/* What a method does, as far as it matters here. */
enum {
	DOES_TEST_NULL = 1 << 0,
	DOES_WRITE_FIELD = 1 << 1,
	DOES_LOAD_ELEMENT = 1 << 2,
	DOES_STORE_ELEMENT = 1 << 3,
	DOES_LOOK_UP = 1 << 4, /* in a collection */
	DOES_ADD = 1 << 5,     /* to one */
	DOES_TEST_KEY = 1 << 6,
	DOES_COMPUTE = 1 << 7,
};

/* Methods of classes of java.util. */
static const struct {
	const char *method;
	unsigned does;
} collection_calls[] = {
	{ "get", DOES_LOOK_UP },
	{ "contains", DOES_LOOK_UP | DOES_TEST_KEY },
	{ "containsKey", DOES_LOOK_UP | DOES_TEST_KEY },
	{ "add", DOES_ADD },
	{ "put", DOES_ADD },
	{ "putIfAbsent", DOES_ADD },
	{ "set", DOES_ADD },
	{ "computeIfAbsent", DOES_COMPUTE },
};

static bool text_begins(const uint8_t *text, size_t n, const char *with)
{
	size_t m = strlen(with);
	return text && n >= m && !memcmp(text, with, m);
}

static unsigned call_does(const struct vm_class *class, uint16_t index)
{
	uint16_t owner, name, descriptor, n = 0;
	if (!vm_class_call(class, index, &owner, &name, &descriptor))
		return 0;
	const uint8_t *text = vm_class_text(class, owner, &n);
	if (!text_begins(text, n, "java/util/"))
		return 0;
	for (size_t i = 0;
	     i < sizeof(collection_calls) / sizeof(*collection_calls); i++)
		if (vm_class_text_is(class, name, collection_calls[i].method))
			return collection_calls[i].does;
	return 0;
}

static bool field_text_is(const uint8_t *a, size_t n, const uint8_t *b,
			  size_t m)
{
	return a && b && n == m && !memcmp(a, b, n);
}

/* Is it the constant of that field? */
static bool is_field(const struct vm_class *class, uint16_t index,
		     const struct vm_field_use *use)
{
	uint16_t owner, name, descriptor, owner_n = 0, name_n = 0;
	if (!vm_class_field(class, index, &owner, &name, &descriptor))
		return false;
	const uint8_t *owner_text = vm_class_text(class, owner, &owner_n);
	const uint8_t *name_text = vm_class_text(class, name, &name_n);
	return field_text_is(owner_text, owner_n, use->class_name,
			     use->class_n) &&
	       field_text_is(name_text, name_n, use->field, use->field_n);
}

static unsigned instruction_does(const struct vm_class *class,
				 const uint8_t *code,
				 const struct vm_field_use *use)
{
	switch (code[0]) {
	case OP_IFNULL:
	case OP_IFNONNULL:
		return DOES_TEST_NULL;
	case OP_AALOAD:
		return DOES_LOAD_ELEMENT;
	case OP_AASTORE:
		return DOES_STORE_ELEMENT;
	case OP_PUTSTATIC:
	case OP_PUTFIELD:
		return is_field(class, vm_u2(code + 1), use) ? DOES_WRITE_FIELD
							     : 0;
	case OP_INVOKEVIRTUAL:
	case OP_INVOKEINTERFACE:
		return call_does(class, vm_u2(code + 1));
	default:
		return 0;
	}
}

static bool does_all(unsigned does, unsigned wanted)
{
	return (does & wanted) == wanted;
}

bool vm_method_fills(const struct vm_class *class,
		     const struct vm_method *method,
		     const struct vm_field_use *use)
{
	/* The class's own bytes: those that are changed call added methods. */
	const uint8_t *code = class->bytes + method->code;
	char kind = (char)*use->descriptor;
	unsigned does = 0;
	uint32_t length;
	if (use->writes || (kind != 'L' && kind != '['))
		return false;
	for (uint32_t at = 0; at < method->code_n; at += length) {
		length = vm_code_length(code, method->code_n, at);
		if (!length)
			return false;
		does |= instruction_does(class, code + at, use);
	}
	if (does_all(does, DOES_TEST_NULL | DOES_WRITE_FIELD) ||
	    does & DOES_COMPUTE)
		return true;
	if (kind == '[')
		return does_all(does, DOES_TEST_NULL | DOES_LOAD_ELEMENT |
					      DOES_STORE_ELEMENT);
	return does_all(does, DOES_LOOK_UP | DOES_ADD) &&
	       does & (DOES_TEST_NULL | DOES_TEST_KEY);
}
