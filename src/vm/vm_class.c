/* Reading of class files: see vm_class.h. */
#include "vm/vm_class_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0xcafebabeU
/* Of an array type (JVMS 4.9.1). */
#define DIMENSIONS 255
/* Slots of a method's arguments (JVMS 4.3.3). */
#define SLOTS 255

/* ---- the constant pool ---- */

/* Bytes after the tag; 0: no such tag. Texts have more. */
static size_t constant_size(uint8_t tag)
{
	static const uint8_t sizes[] = {
		[VM_UTF8] = 2,	 [3] = 4,	 [4] = 4,  [VM_LONG] = 8,
		[VM_DOUBLE] = 8, [VM_CLASS] = 2, [8] = 2,  [VM_FIELD] = 4,
		[VM_METHOD] = 4, [11] = 4,	 [12] = 4, [15] = 3,
		[16] = 2,	 [17] = 4,	 [18] = 4, [19] = 2,
		[20] = 2,
	};
	return tag < sizeof(sizes) ? sizes[tag] : 0;
}

static bool read_pool(struct vm_class *class, size_t at)
{
	for (unsigned i = 1; i < class->pool_n; i++) {
		if (at >= class->n)
			return false;
		uint8_t tag = class->bytes[at];
		size_t size = constant_size(tag);
		if (!size || class->n - at - 1 < size)
			return false;
		if (tag == VM_UTF8) {
			size += vm_u2(class->bytes + at + 1);
			if (class->n - at - 1 < size)
				return false;
		}
		class->pool[i] = at;
		at += 1 + size;
		/* JVMS 4.4.5: these take two places, of which one is unusable. */
		if (tag == VM_LONG || tag == VM_DOUBLE)
			i++;
	}
	class->pool_end = at;
	return true;
}

static const uint8_t *find_constant(const struct vm_class *class,
				    uint16_t index, uint8_t tag)
{
	if (!index || index >= class->pool_n || !class->pool[index] ||
	    class->bytes[class->pool[index]] != tag)
		return NULL;
	return class->bytes + class->pool[index] + 1;
}

const uint8_t *vm_class_text(const struct vm_class *class, uint16_t index,
			     uint16_t *ret_n)
{
	const uint8_t *at = find_constant(class, index, VM_UTF8);
	if (!at)
		return NULL;
	*ret_n = vm_u2(at);
	return at + 2;
}

bool vm_class_text_is(const struct vm_class *class, uint16_t index,
		      const char *text)
{
	uint16_t n;
	const uint8_t *at = vm_class_text(class, index, &n);
	return at && strlen(text) == n && !memcmp(at, text, n);
}

uint16_t vm_class_name(const struct vm_class *class, uint16_t index)
{
	const uint8_t *at = find_constant(class, index, VM_CLASS);
	return at ? vm_u2(at) : 0;
}

/* @at: of the constant for a member, or NULL. */
static bool read_member(const struct vm_class *class, const uint8_t *at,
			uint16_t *ret_class, uint16_t *ret_name,
			uint16_t *ret_descriptor)
{
	if (!at)
		return false;
	const uint8_t *pair =
		find_constant(class, vm_u2(at + 2), VM_NAME_AND_TYPE);
	if (!pair)
		return false;
	*ret_class = vm_class_name(class, vm_u2(at));
	*ret_name = vm_u2(pair);
	*ret_descriptor = vm_u2(pair + 2);
	return *ret_class != 0;
}

bool vm_class_call(const struct vm_class *class, uint16_t index,
		   uint16_t *ret_class, uint16_t *ret_name,
		   uint16_t *ret_descriptor)
{
	const uint8_t *at = find_constant(class, index, VM_METHOD);
	if (!at)
		at = find_constant(class, index, VM_INTERFACE_METHOD);
	return read_member(class, at, ret_class, ret_name, ret_descriptor);
}

bool vm_class_field(const struct vm_class *class, uint16_t index,
		    uint16_t *ret_class, uint16_t *ret_name,
		    uint16_t *ret_descriptor)
{
	return read_member(class, find_constant(class, index, VM_FIELD),
			   ret_class, ret_name, ret_descriptor);
}

/* ---- the rest ---- */

/* Past the attributes whose number is at *@at. */
static bool skip_attributes(const struct vm_class *class, size_t *at)
{
	if (class->n - *at < 2)
		return false;
	unsigned n = vm_u2(class->bytes + *at);
	*at += 2;
	for (unsigned i = 0; i < n; i++) {
		if (class->n - *at < 6)
			return false;
		size_t size = vm_u4(class->bytes + *at + 2);
		*at += 6;
		if (class->n - *at < size)
			return false;
		*at += size;
	}
	return true;
}

/* The instructions of a method whose attributes were found to be whole. */
static bool find_code(const struct vm_class *class, struct vm_method *method)
{
	size_t at = method->at + 8;
	unsigned n = vm_u2(class->bytes + method->at + 6);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *attribute = class->bytes + at;
		size_t size = vm_u4(attribute + 2);
		at += 6 + size;
		if (!vm_class_text_is(class, vm_u2(attribute), "Code"))
			continue;
		if (method->code || size < 8 ||
		    vm_u4(attribute + 10) > size - 8)
			return false;
		method->code_n = vm_u4(attribute + 10);
		method->code = (size_t)(attribute + 14 - class->bytes);
	}
	return true;
}

static bool read_methods(struct vm_class *class, size_t *at)
{
	if (class->n - *at < 2)
		return false;
	class->n_all = vm_u2(class->bytes + *at);
	*at += 2;
	class->all = calloc((size_t) class->n_all + 1, sizeof(*class->all));
	if (!class->all)
		return false;
	for (unsigned i = 0; i < class->n_all; i++) {
		struct vm_method *method = &class->all[i];
		if (class->n - *at < 8)
			return false;
		method->at = *at;
		*at += 6;
		if (!skip_attributes(class, at) || !find_code(class, method))
			return false;
		method->end = *at;
	}
	return true;
}

static bool skip_fields(const struct vm_class *class, size_t *at)
{
	if (class->n - *at < 2)
		return false;
	unsigned n = vm_u2(class->bytes + *at);
	*at += 2;
	for (unsigned i = 0; i < n; i++) {
		if (class->n - *at < 8)
			return false;
		*at += 6;
		if (!skip_attributes(class, at))
			return false;
	}
	return true;
}

static bool vm_class_read_parts(struct vm_class *class)
{
	size_t at = class->pool_end;
	if (class->n - at < 8)
		return false;
	class->access = vm_u2(class->bytes + at);
	class->self = vm_u2(class->bytes + at + 2);
	class->super = vm_u2(class->bytes + at + 4);
	class->interfaces = at + 6;
	size_t list = 2 * (size_t)vm_u2(class->bytes + at + 6);
	at += 8;
	if (!vm_class_name(class, class->self) || class->n - at < list)
		return false;
	at += list;
	class->fields = at;
	if (!skip_fields(class, &at))
		return false;
	class->methods = at;
	if (!read_methods(class, &at))
		return false;
	class->attributes = at;
	return skip_attributes(class, &at) && at == class->n;
}

bool vm_class_read(const uint8_t *bytes, size_t n, struct vm_class *ret)
{
	struct vm_class class = { .bytes = bytes, .n = n };
	if (n < 10 || vm_u4(bytes) != MAGIC)
		return false;
	class.major = vm_u2(bytes + 6);
	class.pool_n = vm_u2(bytes + 8);
	class.pool = calloc((size_t) class.pool_n + 1, sizeof(*class.pool));
	if (!class.pool || !read_pool(&class, 10) ||
	    !vm_class_read_parts(&class)) {
		vm_class_free(&class);
		return false;
	}
	*ret = class;
	return true;
}

void vm_class_free(struct vm_class *class)
{
	free(class->pool);
	free(class->all);
	*class = (struct vm_class){};
}

/* ---- instructions ---- */

/* Of those of which it does not depend on what follows (JVMS 6.5). */
static uint32_t fixed_length(uint8_t opcode)
{
	static const struct {
		uint8_t from, to, length;
	} longer[] = {
		{ 0x10, 0x10, 2 }, /* bipush */
		{ 0x11, 0x11, 3 }, /* sipush */
		{ 0x12, 0x12, 2 }, /* ldc */
		{ 0x13, 0x14, 3 }, /* ldc_w, ldc2_w */
		{ 0x15, 0x19, 2 }, /* loads */
		{ 0x36, 0x3a, 2 }, /* stores */
		{ 0x84, 0x84, 3 }, /* iinc */
		{ 0x99, 0xa8, 3 }, /* jumps */
		{ 0xa9, 0xa9, 2 }, /* ret */
		{ 0xb2, 0xb8, 3 }, /* fields, calls */
		{ 0xb9, 0xba, 5 }, /* invokeinterface, invokedynamic */
		{ 0xbb, 0xbb, 3 }, /* new */
		{ 0xbc, 0xbc, 2 }, /* newarray */
		{ 0xbd, 0xbd, 3 }, /* anewarray */
		{ 0xc0, 0xc1, 3 }, /* checkcast, instanceof */
		{ 0xc5, 0xc5, 4 }, /* multianewarray */
		{ 0xc6, 0xc7, 3 }, /* ifnull, ifnonnull */
		{ 0xc8, 0xc9, 5 }, /* goto_w, jsr_w */
	};
	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++) {
		if (opcode >= longer[i].from && opcode <= longer[i].to)
			return longer[i].length;
	}
	return opcode <= 0xc9 ? 1 : 0;
}

uint32_t vm_code_length(const uint8_t *code, uint32_t n, uint32_t at)
{
	const uint8_t *from = code + at;
	uint32_t left = n - at;
	uint64_t length;
	/* Operands of switches begin at a multiple of four. */
	uint64_t padded = 4 - at % 4;
	switch (*from) {
	case 0xaa: { /* tableswitch */
		if (left < padded + 12)
			return 0;
		int64_t low = (int32_t)vm_u4(from + padded + 4);
		int64_t high = (int32_t)vm_u4(from + padded + 8);
		if (low > high)
			return 0;
		length = padded + 12 + 4 * (uint64_t)(high - low + 1);
		break;
	}
	case 0xab: /* lookupswitch */
		if (left < padded + 8)
			return 0;
		length = padded + 8 + 8 * (uint64_t)vm_u4(from + padded + 4);
		break;
	case 0xc4: /* wide */
		if (left < 2)
			return 0;
		length = from[1] == 0x84 ? 6 : 4;
		break;
	default:
		length = fixed_length(*from);
	}
	return length <= left ? (uint32_t)length : 0;
}

/* ---- descriptors ---- */

/* Length of the type there; 0: it is none. */
static size_t type_length(const uint8_t *text, size_t n)
{
	size_t at = 0;
	while (at < n && at < DIMENSIONS && text[at] == '[')
		at++;
	if (at == n)
		return 0;
	if (text[at] == 'L') {
		const uint8_t *end = memchr(text + at, ';', n - at);
		return end ? (size_t)(end - text) + 1 : 0;
	}
	return strchr("BCDFIJSZ", text[at]) && text[at] ? at + 1 : 0;
}

static char type_kind(const uint8_t *text)
{
	return *text == '[' ? 'L' : (char)*text;
}

bool vm_descriptor_read(const uint8_t *text, size_t n,
			struct vm_descriptor *ret)
{
	struct vm_descriptor read = {};
	size_t at = 1, length;
	if (n < 3 || text[0] != '(')
		return false;
	for (; at < n && text[at] != ')'; at += length) {
		length = type_length(text + at, n - at);
		if (!length || read.n == sizeof(read.kinds))
			return false;
		char kind = type_kind(text + at);
		read.last_at = at;
		read.last_n = length;
		read.kinds[read.n++] = kind;
		read.slots += kind == 'J' || kind == 'D' ? 2 : 1;
	}
	if (at + 1 >= n || read.slots > SLOTS)
		return false;
	read.result_at = at + 1;
	if (n - at == 2 && text[at + 1] == 'V') {
		read.result = 'V';
	} else if (type_length(text + at + 1, n - at - 1) == n - at - 1) {
		read.result = type_kind(text + at + 1);
	} else {
		return false;
	}
	*ret = read;
	return true;
}
