/* Changing of class files: see vm_class.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_class_internal.h"

enum vm_opcode {
	OP_NOP = 0x00,
	OP_ACONST_NULL = 0x01,
	OP_SIPUSH = 0x11,
	OP_ILOAD = 0x15,
	OP_LLOAD = 0x16,
	OP_FLOAD = 0x17,
	OP_DLOAD = 0x18,
	OP_ALOAD = 0x19,
	OP_ASTORE = 0x3a,
	OP_IFEQ = 0x99,
	OP_IRETURN = 0xac,
	OP_LRETURN = 0xad,
	OP_FRETURN = 0xae,
	OP_DRETURN = 0xaf,
	OP_ARETURN = 0xb0,
	OP_RETURN = 0xb1,
	OP_GETSTATIC = 0xb2,
	OP_PUTSTATIC = 0xb3,
	OP_GETFIELD = 0xb4,
	OP_PUTFIELD = 0xb5,
	OP_INVOKEVIRTUAL = 0xb6,
	OP_INVOKESPECIAL = 0xb7,
	OP_INVOKESTATIC = 0xb8,
	OP_INVOKEINTERFACE = 0xb9,
	OP_CHECKCAST = 0xc0,
};

/* ---- bytes ---- */

struct vm_bytes {
	uint8_t *data;
	size_t n, cap;
	bool bad; /* no memory, or a limit of class files was met */
};

static void put_bytes(struct vm_bytes *out, const void *data, size_t n)
{
	if (out->bad || !n)
		return;
	if (out->cap - out->n < n) {
		size_t cap = 2 * (out->n + n) + 256;
		uint8_t *grown = realloc(out->data, cap);
		if (!grown) {
			out->bad = true;
			return;
		}
		out->data = grown;
		out->cap = cap;
	}
	memcpy(out->data + out->n, data, n);
	out->n += n;
}

static void put_u1(struct vm_bytes *out, unsigned value)
{
	uint8_t byte = (uint8_t)value;
	put_bytes(out, &byte, 1);
}

static void put_u2(struct vm_bytes *out, unsigned value)
{
	put_u1(out, value >> 8);
	put_u1(out, value);
}

static void put_u4(struct vm_bytes *out, uint32_t value)
{
	put_u2(out, value >> 16);
	put_u2(out, value);
}

static void patch_u2(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* ---- a class that is being changed ---- */

struct vm_editor {
	const struct vm_class *class;
	const struct vm_edit *edit;
	uint8_t *old;		 /* a copy of the class, changed in place */
	struct vm_bytes pool;	 /* what is added to it … */
	uint32_t pool_n;	 /* … and how many it has then */
	struct vm_bytes methods; /* added */
	unsigned n_methods;
	uint16_t code_name, map_name, helper; /* constants; 0: not yet */
	size_t wrapped, calls, uses;
};

/* ---- constants ---- */

static uint16_t new_constant(struct vm_editor *x, enum vm_tag tag)
{
	if (x->pool_n >= UINT16_MAX) {
		x->pool.bad = true;
		return 0;
	}
	put_u1(&x->pool, tag);
	return (uint16_t)x->pool_n++;
}

static uint16_t add_bytes(struct vm_editor *x, const void *text, size_t n)
{
	if (n > UINT16_MAX) {
		x->pool.bad = true;
		return 0;
	}
	uint16_t index = new_constant(x, VM_UTF8);
	put_u2(&x->pool, (unsigned)n);
	put_bytes(&x->pool, text, n);
	return index;
}

static uint16_t pool_add_text(struct vm_editor *x, const char *text)
{
	return add_bytes(x, text, strlen(text));
}

static uint16_t add_class(struct vm_editor *x, uint16_t name)
{
	uint16_t index = new_constant(x, VM_CLASS);
	put_u2(&x->pool, name);
	return index;
}

static uint16_t pool_add_member(struct vm_editor *x, enum vm_tag tag,
				uint16_t owner, uint16_t name,
				uint16_t descriptor)
{
	uint16_t pair = new_constant(x, VM_NAME_AND_TYPE);
	put_u2(&x->pool, name);
	put_u2(&x->pool, descriptor);
	uint16_t index = new_constant(x, tag);
	put_u2(&x->pool, owner);
	put_u2(&x->pool, pair);
	return index;
}

static uint16_t add_helper(struct vm_editor *x, const char *name,
			   uint16_t descriptor)
{
	if (!x->helper)
		x->helper =
			add_class(x, pool_add_text(x, x->edit->helper_class));
	return pool_add_member(x, VM_METHOD, x->helper, pool_add_text(x, name),
			       descriptor);
}

/* ---- wrappers ---- */

struct vm_wrapper {
	struct vm_editor *x;
	const struct vm_method *method;
	const struct vm_wrapped *how;
	uint16_t access;
	uint16_t descriptor; /* constant */
	const uint8_t *text; /* of it */
	uint16_t text_n;
	struct vm_descriptor types;
	uint16_t original; /* constant: the method under its new name */
	struct vm_bytes code;
	size_t frame; /* where a jump leads to; 0: nowhere */
};

static bool is_static(const struct vm_wrapper *w)
{
	return w->access & VM_ACC_STATIC;
}

static void put_load(struct vm_bytes *code, char kind, unsigned slot)
{
	unsigned opcode = kind == 'J'	? OP_LLOAD
			  : kind == 'F' ? OP_FLOAD
			  : kind == 'D' ? OP_DLOAD
			  : kind == 'L' ? OP_ALOAD
					: OP_ILOAD;
	put_u1(code, opcode);
	put_u1(code, slot);
}

/* The object that helpers are told of, and the number. */
static void put_self(struct vm_wrapper *w)
{
	struct vm_editor *x = w->x;
	if (is_static(w)) {
		put_u1(&w->code, OP_ACONST_NULL);
		return;
	}
	put_load(&w->code, 'L', 0);
	if (!w->how->field)
		return;
	uint16_t owner = add_class(x, pool_add_text(x, w->how->field_class));
	uint16_t name = pool_add_text(x, w->how->field);
	uint16_t type = pool_add_text(x, w->how->field_descriptor);
	put_u1(&w->code, OP_GETFIELD);
	put_u2(&w->code, pool_add_member(x, VM_FIELD, owner, name, type));
}

static void put_number(struct vm_wrapper *w)
{
	put_u1(&w->code, OP_SIPUSH);
	put_u2(&w->code, w->how->number);
}

static void put_helper(struct vm_wrapper *w, const char *name,
		       const char *descriptor)
{
	struct vm_editor *x = w->x;
	put_u1(&w->code, OP_INVOKESTATIC);
	put_u2(&w->code, add_helper(x, name, pool_add_text(x, descriptor)));
}

/* To a class or an array, as a descriptor writes it. */
static void put_cast(struct vm_wrapper *w, const uint8_t *type, size_t n)
{
	bool class = *type == 'L';
	uint16_t name = add_bytes(w->x, type + class, n - (class ? 2 : 0));
	put_u1(&w->code, OP_CHECKCAST);
	put_u2(&w->code, add_class(w->x, name));
}

/* Calls the original; VM_LENGTH changes its last argument on the way. */
static void put_original(struct vm_wrapper *w)
{
	unsigned slot = 0;
	if (!is_static(w))
		put_load(&w->code, 'L', slot++);
	for (unsigned i = 0; i < w->types.n; i++) {
		char kind = w->types.kinds[i];
		put_load(&w->code, kind, slot);
		slot += kind == 'J' || kind == 'D' ? 2 : 1;
	}
	if (w->how->shape == VM_LENGTH) {
		bool wide = w->types.kinds[w->types.n - 1] == 'J';
		put_self(w);
		put_number(w);
		put_helper(w, w->how->helper,
			   wide ? "(JLjava/lang/Object;I)J"
				: "(ILjava/lang/Object;I)I");
	}
	put_u1(&w->code, is_static(w) ? OP_INVOKESTATIC : OP_INVOKESPECIAL);
	put_u2(&w->code, w->original);
}

static void put_return(struct vm_bytes *code, char kind)
{
	put_u1(code, kind == 'V'   ? OP_RETURN
		     : kind == 'J' ? OP_LRETURN
		     : kind == 'F' ? OP_FRETURN
		     : kind == 'D' ? OP_DRETURN
		     : kind == 'L' ? OP_ARETURN
				   : OP_IRETURN);
}

static void put_action(struct vm_wrapper *w)
{
	put_self(w);
	put_load(&w->code, 'L', 1);
	put_number(w);
	put_helper(w, w->how->helper,
		   "(Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/Object;");
	put_cast(w, w->text + w->types.last_at, w->types.last_n);
	put_u1(&w->code, OP_ASTORE);
	put_u1(&w->code, 1);
	put_original(w);
	put_load(&w->code, 'L', 1);
	put_helper(w, w->how->after, "(Ljava/lang/Object;)V");
}

static void put_skip(struct vm_wrapper *w)
{
	put_self(w);
	put_number(w);
	put_helper(w, w->how->helper, "(Ljava/lang/Object;I)Z");
	put_u1(&w->code, OP_IFEQ);
	put_u2(&w->code, 4);
	put_u1(&w->code, OP_RETURN);
	w->frame = w->code.n;
	put_original(w);
}

static void put_body(struct vm_wrapper *w)
{
	switch (w->how->shape) {
	case VM_RESULT:
		put_original(w);
		put_self(w);
		put_number(w);
		put_helper(w, w->how->helper,
			   "(Ljava/lang/Object;Ljava/lang/Object;I)"
			   "Ljava/lang/Object;");
		put_cast(w, w->text + w->types.result_at,
			 w->text_n - w->types.result_at);
		break;
	case VM_LENGTH:
		put_original(w);
		break;
	case VM_ACTION:
		put_action(w);
		break;
	case VM_SKIP:
		put_skip(w);
		break;
	case VM_BEFORE:
		put_self(w);
		put_number(w);
		put_helper(w, w->how->helper, "(Ljava/lang/Object;I)V");
		put_original(w);
		break;
	}
	put_return(&w->code, w->types.result);
}

/* Can it be wrapped in that way? */
static bool shape_fits(const struct vm_wrapper *w)
{
	const struct vm_descriptor *types = &w->types;
	char last = types->n ? types->kinds[types->n - 1] : '\0';
	switch (w->how->shape) {
	case VM_RESULT:
		return types->result == 'L';
	case VM_LENGTH:
		return last == 'I' || last == 'J';
	case VM_ACTION:
		return types->n == 1 && last == 'L' && types->result == 'V' &&
		       !is_static(w);
	case VM_SKIP:
		return types->result == 'V';
	case VM_BEFORE:
		return true;
	}
	return false;
}

/* Its own, and after it those that the original has besides its code. */
static void wrapper_put_attributes(struct vm_wrapper *w, struct vm_bytes *out)
{
	struct vm_editor *x = w->x;
	const uint8_t *bytes = x->class->bytes;
	size_t at = w->method->at + 8;
	unsigned n = vm_u2(bytes + w->method->at + 6);
	if (!x->code_name)
		x->code_name = pool_add_text(x, "Code");
	if (w->frame && !x->map_name)
		x->map_name = pool_add_text(x, "StackMapTable");
	put_u2(out, n); /* the original has code, too */
	put_u2(out, x->code_name);
	put_u4(out, (uint32_t)(12 + w->code.n + (w->frame ? 9 : 0)));
	/* Arguments and result of the original; three more for a helper. */
	put_u2(out, w->types.slots + 6);
	put_u2(out, w->types.slots + 1);
	put_u4(out, (uint32_t)w->code.n);
	put_bytes(out, w->code.data, w->code.n);
	put_u2(out, 0); /* exceptions */
	put_u2(out, w->frame ? 1 : 0);
	if (w->frame) {
		/* JVMS 4.7.4: the same locals as at the start, an empty stack. */
		put_u2(out, x->map_name);
		put_u4(out, 3);
		put_u2(out, 1);
		put_u1(out, (unsigned)w->frame);
	}
	for (unsigned i = 0; i < n; i++) {
		size_t size = 6 + (size_t)vm_u4(bytes + at + 2);
		if (!vm_class_text_is(x->class, vm_u2(bytes + at), "Code"))
			put_bytes(out, bytes + at, size);
		at += size;
	}
}

/* The original is seen by nobody else, or by those that have its interface. */
static unsigned original_access(const struct vm_wrapper *w)
{
	unsigned kept = w->access & ~(VM_ACC_PUBLIC | VM_ACC_PROTECTED |
				      VM_ACC_PRIVATE | VM_ACC_FINAL);
	return kept | VM_ACC_SYNTHETIC |
	       (w->how->exposed ? VM_ACC_PUBLIC : VM_ACC_PRIVATE);
}

static void add_wrapper(struct vm_wrapper *w, uint16_t name)
{
	struct vm_editor *x = w->x;
	char renamed[256];
	uint16_t n;
	const uint8_t *text = vm_class_text(x->class, name, &n);
	size_t before = strlen(x->edit->prefix);
	if (!text || before + n > sizeof(renamed))
		return;
	memcpy(renamed, x->edit->prefix, before);
	memcpy(renamed + before, text, n);
	uint16_t other = add_bytes(x, renamed, before + n);
	bool interface = x->class->access & VM_ACC_INTERFACE;
	w->original =
		pool_add_member(x, interface ? VM_INTERFACE_METHOD : VM_METHOD,
				x->class->self, other, w->descriptor);
	put_body(w);
	put_u2(&x->methods, w->access);
	put_u2(&x->methods, name);
	put_u2(&x->methods, w->descriptor);
	wrapper_put_attributes(w, &x->methods);
	x->methods.bad |= w->code.bad || w->frame > 63;
	patch_u2(x->old + w->method->at, original_access(w));
	patch_u2(x->old + w->method->at + 2, other);
	x->n_methods++;
	x->wrapped++;
}

static const struct vm_wrapped *find_wrapped(const struct vm_editor *x,
					     uint16_t name, uint16_t descriptor)
{
	const struct vm_edit *edit = x->edit;
	for (size_t i = 0; i < edit->n_wrapped; i++) {
		const struct vm_wrapped *how = &edit->wrapped[i];
		if (vm_class_text_is(x->class, name, how->method) &&
		    (!how->descriptor ||
		     vm_class_text_is(x->class, descriptor, how->descriptor)))
			return how;
	}
	return NULL;
}

/* Constructors and their kind are no methods that could have another name. */
static bool can_be_renamed(const struct vm_class *class, uint16_t access,
			   uint16_t name)
{
	uint16_t n;
	const uint8_t *text = vm_class_text(class, name, &n);
	return text && n && *text != '<' &&
	       !(access & (VM_ACC_NATIVE | VM_ACC_ABSTRACT)) &&
	       (!(class->access & VM_ACC_INTERFACE) || class->major >= 52);
}

static void wrap_method(struct vm_editor *x, const struct vm_method *method)
{
	const uint8_t *at = x->class->bytes + method->at;
	struct vm_wrapper w = {
		.x = x,
		.method = method,
		.access = vm_u2(at),
		.descriptor = vm_u2(at + 4),
	};
	uint16_t name = vm_u2(at + 2);
	struct vm_wrapped any = { .helper = x->edit->all_before,
				  .shape = VM_BEFORE };
	w.text = vm_class_text(x->class, w.descriptor, &w.text_n);
	if (!method->code || !w.text ||
	    !can_be_renamed(x->class, w.access, name) ||
	    !vm_descriptor_read(w.text, w.text_n, &w.types) ||
	    w.types.slots + 6 > 255)
		return;
	w.how = find_wrapped(x, name, w.descriptor);
	if (!w.how && !x->edit->all_before)
		return;
	if (!w.how && w.types.result == 'L') {
		any.shape = VM_RESULT;
		any.helper = x->edit->all_results;
	}
	if (!w.how)
		w.how = &any;
	if (shape_fits(&w))
		add_wrapper(&w, name);
	free(w.code.data);
}

/* ---- calls ---- */

static const struct vm_redirected *find_redirected(const struct vm_editor *x,
						   uint16_t index)
{
	uint16_t class, name, descriptor;
	if (!vm_class_call(x->class, index, &class, &name, &descriptor))
		return NULL;
	for (size_t i = 0; i < x->edit->n_redirected; i++) {
		const struct vm_redirected *how = &x->edit->redirected[i];
		if (vm_class_text_is(x->class, name, how->method) &&
		    vm_class_text_is(x->class, descriptor, how->descriptor) &&
		    (!how->class_name ||
		     vm_class_text_is(x->class, class, how->class_name)))
			return how;
	}
	return NULL;
}

/* The constant of its helper; each is added once a class. */
static uint16_t redirected_to(struct vm_editor *x,
			      const struct vm_redirected *how, uint16_t *known)
{
	char text[512];
	size_t at = (size_t)(how - x->edit->redirected);
	const char *receiver = how->receiver ? how->receiver : "";
	if (known[at])
		return known[at];
	int n = snprintf(text, sizeof(text), "(%s%s", receiver,
			 how->descriptor + 1);
	if (n < 0 || (size_t)n >= sizeof(text)) {
		x->pool.bad = true;
		return 0;
	}
	known[at] = add_helper(x, how->helper, pool_add_text(x, text));
	return known[at];
}

/* False: the code of a method is not whole. */
static bool redirect_calls(struct vm_editor *x, const struct vm_method *method,
			   uint16_t *known)
{
	uint8_t *code = x->old + method->code;
	uint32_t length;
	for (uint32_t at = 0; at < method->code_n; at += length) {
		length = vm_code_length(code, method->code_n, at);
		if (!length)
			return false;
		uint8_t opcode = code[at];
		if (opcode != OP_INVOKEVIRTUAL && opcode != OP_INVOKESTATIC &&
		    opcode != OP_INVOKEINTERFACE)
			continue;
		const struct vm_redirected *how =
			find_redirected(x, vm_u2(code + at + 1));
		if (!how || (opcode == OP_INVOKESTATIC) != !how->receiver)
			continue;
		code[at] = OP_INVOKESTATIC;
		patch_u2(code + at + 1, redirected_to(x, how, known));
		if (opcode == OP_INVOKEINTERFACE)
			code[at + 3] = code[at + 4] = OP_NOP;
		x->calls++;
	}
	return true;
}

static bool redirect_all_calls(struct vm_editor *x)
{
	bool whole = true;
	uint16_t *known;
	if (!x->edit->n_redirected)
		return true;
	known = calloc(x->edit->n_redirected, sizeof(*known));
	for (unsigned i = 0; known && whole && i < x->class->n_all; i++) {
		const struct vm_method *method = &x->class->all[i];
		if (method->code)
			whole = redirect_calls(x, method, known);
	}
	whole &= known != NULL;
	free(known);
	return whole;
}

/* ---- uses of fields ---- */

static bool opcode_writes(uint8_t opcode)
{
	return opcode == OP_PUTSTATIC || opcode == OP_PUTFIELD;
}

static bool opcode_is_static(uint8_t opcode)
{
	return opcode == OP_GETSTATIC || opcode == OP_PUTSTATIC;
}

static bool find_field_use(const struct vm_editor *x, uint8_t opcode,
			   uint16_t index, struct vm_field_use *ret)
{
	const struct vm_class *class = x->class;
	uint16_t owner, name, descriptor;
	if (!vm_class_field(class, index, &owner, &name, &descriptor))
		return false;
	ret->class_name = vm_class_text(class, owner, &ret->class_n);
	ret->field = vm_class_text(class, name, &ret->field_n);
	ret->descriptor = vm_class_text(class, descriptor, &ret->descriptor_n);
	ret->writes = opcode_writes(opcode);
	return ret->class_name && ret->field && ret->descriptor &&
	       ret->descriptor_n;
}

/* Of the new method: the object, and what is written or read. */
static uint16_t add_use_descriptor(struct vm_editor *x, uint8_t opcode,
				   const struct vm_field_use *use)
{
	struct vm_bytes text = {};
	put_u1(&text, '(');
	if (!opcode_is_static(opcode)) {
		put_u1(&text, 'L');
		put_bytes(&text, use->class_name, use->class_n);
		put_u1(&text, ';');
	}
	if (use->writes)
		put_bytes(&text, use->descriptor, use->descriptor_n);
	put_u1(&text, ')');
	if (use->writes)
		put_u1(&text, 'V');
	else
		put_bytes(&text, use->descriptor, use->descriptor_n);
	x->pool.bad |= text.bad;
	uint16_t index = add_bytes(x, text.data, text.bad ? 0 : text.n);
	free(text.data);
	return index;
}

/* Uses the field, tells of it, and returns what was read. */
static void put_use_code(struct vm_editor *x, uint8_t opcode, uint16_t index,
			 const struct vm_field_use *use, unsigned number,
			 struct vm_bytes *code)
{
	bool is_class = opcode_is_static(opcode);
	char kind = *use->descriptor == '[' ? 'L' : (char)*use->descriptor;
	if (!is_class)
		put_load(code, 'L', 0);
	if (use->writes)
		put_load(code, kind, is_class ? 0 : 1);
	put_u1(code, opcode);
	put_u2(code, index);
	if (is_class)
		put_u1(code, OP_ACONST_NULL);
	else
		put_load(code, 'L', 0);
	put_u1(code, OP_SIPUSH);
	put_u2(code, number);
	put_u1(code, OP_INVOKESTATIC);
	put_u2(code, add_helper(x, x->edit->field_helper,
				pool_add_text(x, "(Ljava/lang/Object;I)V")));
	put_return(code, use->writes ? 'V' : kind);
}

/*
 * super.field: where a class in another package declares it, it may be protected,
 * and then only an object of this class may be used so, which the new method cannot
 * show to the verifier. Who declares it is not known here.
 */
static bool use_is_of_super(const struct vm_editor *x,
			    const struct vm_field_use *use)
{
	uint16_t n = 0;
	const struct vm_class *class = x->class;
	const uint8_t *super =
		vm_class_text(class, vm_class_name(class, class->super), &n);
	return super && n == use->class_n && !memcmp(super, use->class_name, n);
}

/* The constant of the new method; 0: the use stays as it is. */
static uint16_t add_use(struct vm_editor *x, uint8_t opcode, uint16_t index,
			bool fills)
{
	struct vm_bytes code = {};
	struct vm_field_use use;
	char text[32];
	if (!find_field_use(x, opcode, index, &use) ||
	    (!opcode_is_static(opcode) && use_is_of_super(x, &use)))
		return 0;
	int number = x->edit->field_number(x->edit->field_data, &use);
	if (number < 0 || number > VM_FIELDS_MAX)
		return 0;
	number = number * VM_FIELD_USES + (use.writes ? VM_FIELD_WRITES : 0) +
		 (fills ? VM_FIELD_FILLS : 0);
	if (!x->code_name)
		x->code_name = pool_add_text(x, "Code");
	snprintf(text, sizeof(text), "polygraph$use%u", x->n_methods);
	uint16_t name = pool_add_text(x, text);
	uint16_t descriptor = add_use_descriptor(x, opcode, &use);
	put_use_code(x, opcode, index, &use, (unsigned)number, &code);
	put_u2(&x->methods, VM_ACC_PRIVATE | VM_ACC_STATIC | VM_ACC_SYNTHETIC);
	put_u2(&x->methods, name);
	put_u2(&x->methods, descriptor);
	put_u2(&x->methods, 1);
	put_u2(&x->methods, x->code_name);
	put_u4(&x->methods, (uint32_t)(12 + code.n));
	/* A wide value, the object, the number; the object, a wide value. */
	put_u2(&x->methods, 4);
	put_u2(&x->methods, 3);
	put_u4(&x->methods, (uint32_t)code.n);
	put_bytes(&x->methods, code.data, code.n);
	put_u2(&x->methods, 0); /* exceptions */
	put_u2(&x->methods, 0); /* attributes */
	x->methods.bad |= code.bad;
	free(code.data);
	x->n_methods++;
	bool interface = x->class->access & VM_ACC_INTERFACE;
	return pool_add_member(x, interface ? VM_INTERFACE_METHOD : VM_METHOD,
			       x->class->self, name, descriptor);
}

/* Is it a field of the class itself, as it names it? */
static bool use_is_own(const struct vm_editor *x, uint16_t index)
{
	uint16_t owner, name, descriptor, n = 0, own_n = 0;
	const struct vm_class *class = x->class;
	if (!vm_class_field(class, index, &owner, &name, &descriptor))
		return false;
	const uint8_t *text = vm_class_text(class, owner, &n);
	const uint8_t *own =
		vm_class_text(class, vm_class_name(class, class->self), &own_n);
	return text && own && n == own_n && !memcmp(text, own, n);
}

static bool use_fills(const struct vm_editor *x, const struct vm_method *method,
		      uint8_t opcode, uint16_t index)
{
	struct vm_field_use use;
	return find_field_use(x, opcode, index, &use) &&
	       vm_method_fills(x->class, method, &use);
}

/*
 * @known: by constant, opcode and whether the method fills the field, the new
 * method + 1; 0: not asked yet. False: the code of a method is not whole.
 */
static bool replace_uses(struct vm_editor *x, const struct vm_method *method,
			 uint32_t *known)
{
	uint8_t *code = x->old + method->code;
	uint16_t n;
	const uint8_t *name = vm_class_text(
		x->class, vm_u2(x->class->bytes + method->at + 2), &n);
	bool makes = name && n && *name == '<'; /* finals may be written */
	bool first = name && n > 1 && name[1] == 'c';
	uint32_t length;
	for (uint32_t at = 0; at < method->code_n; at += length) {
		length = vm_code_length(code, method->code_n, at);
		if (!length)
			return false;
		uint8_t opcode = code[at];
		uint16_t index = opcode >= OP_GETSTATIC && opcode <= OP_PUTFIELD
					 ? vm_u2(code + at + 1)
					 : 0;
		if (!index || index >= x->class->pool_n ||
		    (makes && opcode_writes(opcode)) ||
		    (first && opcode_is_static(opcode) && use_is_own(x, index)))
			continue;
		uint32_t *use = &known[(size_t)index * 8 +
				       (size_t)(opcode - OP_GETSTATIC) * 2];
		if (use[0] == 1 || use[1] == 1)
			continue;
		bool fills = use_fills(x, method, opcode, index);
		use += fills;
		if (!*use)
			*use = 1 + (uint32_t)add_use(x, opcode, index, fills);
		if (*use == 1)
			continue;
		code[at] = OP_INVOKESTATIC;
		patch_u2(code + at + 1, *use - 1);
		x->uses++;
	}
	return true;
}

static bool replace_all_uses(struct vm_editor *x)
{
	const struct vm_class *class = x->class;
	bool whole = true;
	/* Before 1.4 compilers named a field by the class that declares it. */
	if (!x->edit->field_number || class->major < 48 ||
	    (class->access & VM_ACC_INTERFACE && class->major < 52))
		return true;
	uint32_t *known = calloc((size_t) class->pool_n * 8, sizeof(*known));
	for (unsigned i = 0; known && whole && i < class->n_all; i++) {
		if (class->all[i].code)
			whole = replace_uses(x, &class->all[i], known);
	}
	whole &= known != NULL;
	free(known);
	return whole;
}

/* ---- the whole ---- */

static bool write_class(struct vm_editor *x, struct vm_bytes *out)
{
	const struct vm_class *class = x->class;
	const struct vm_edit *edit = x->edit;
	uint16_t interface = 0, field_name = 0, field_type = 0;
	unsigned methods = class->n_all + x->n_methods;
	unsigned interfaces = vm_u2(class->bytes + class->interfaces);
	unsigned fields = vm_u2(class->bytes + class->fields);
	if (edit->interface)
		interface = add_class(x, pool_add_text(x, edit->interface));
	if (edit->field) {
		field_name = pool_add_text(x, edit->field);
		field_type = pool_add_text(x, edit->field_descriptor);
	}
	if (x->pool.bad || x->methods.bad || methods > UINT16_MAX ||
	    interfaces + (interface != 0) > UINT16_MAX ||
	    fields + (field_name != 0) > UINT16_MAX)
		return false;
	put_bytes(out, x->old, 8);
	put_u2(out, x->pool_n);
	put_bytes(out, x->old + 10, class->pool_end - 10);
	put_bytes(out, x->pool.data, x->pool.n);
	put_bytes(out, x->old + class->pool_end,
		  class->interfaces - class->pool_end);
	put_u2(out, interfaces + (interface != 0));
	put_bytes(out, x->old + class->interfaces + 2,
		  class->fields - class->interfaces - 2);
	if (interface)
		put_u2(out, interface);
	put_u2(out, fields + (field_name != 0));
	put_bytes(out, x->old + class->fields + 2,
		  class->methods - class->fields - 2);
	if (field_name) {
		put_u2(out, VM_ACC_PUBLIC | VM_ACC_SYNTHETIC);
		put_u2(out, field_name);
		put_u2(out, field_type);
		put_u2(out, 0);
	}
	put_u2(out, methods);
	put_bytes(out, x->old + class->methods + 2,
		  class->attributes - class->methods - 2);
	put_bytes(out, x->methods.data, x->methods.n);
	put_bytes(out, x->old + class->attributes,
		  class->n - class->attributes);
	return !out->bad;
}

static enum vm_edited edit_class(struct vm_editor *x, struct vm_bytes *out)
{
	for (unsigned i = 0; i < x->class->n_all; i++)
		wrap_method(x, &x->class->all[i]);
	if (!redirect_all_calls(x) || !replace_all_uses(x))
		return VM_UNREADABLE;
	if (!x->wrapped && !x->calls && !x->uses && !x->edit->field)
		return VM_UNCHANGED;
	return write_class(x, out) ? VM_CHANGED : VM_UNREADABLE;
}

enum vm_edited vm_class_edit(const uint8_t *bytes, size_t n,
			     const struct vm_edit *edit, uint8_t **ret,
			     size_t *ret_n, size_t *ret_wrapped,
			     size_t *ret_calls)
{
	struct vm_class class;
	enum vm_edited edited = VM_UNREADABLE;
	struct vm_bytes out = {};
	if (!vm_class_read(bytes, n, &class))
		return VM_UNREADABLE;
	struct vm_editor x = {
		.class = &class,
		.edit = edit,
		.old = malloc(n),
		.pool_n = class.pool_n,
	};
	if (x.old) {
		memcpy(x.old, bytes, n);
		edited = edit_class(&x, &out);
	}
	if (edited == VM_CHANGED) {
		*ret = out.data;
		*ret_n = out.n;
		if (ret_wrapped)
			*ret_wrapped = x.wrapped;
		if (ret_calls)
			*ret_calls = x.calls;
	} else {
		free(out.data);
	}
	free(x.old);
	free(x.pool.data);
	free(x.methods.data);
	vm_class_free(&class);
	return edited;
}
