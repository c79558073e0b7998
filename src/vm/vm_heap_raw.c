#include "vm/vm_heap_raw.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of gHotSpotVMStructs, whose layout libjvm tells by these symbols. */
struct vm_struct {
	const char *type, *field, *field_type;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

static struct {
	jobject unsafe;
	jmethodID object_offset, static_offset;
	jbyteArray held; /* that is held, so that nothing moves */
	void *holds;
	uint64_t klass_base;
	unsigned klass_shift;
	bool narrow_klass;
	uint64_t
		mirror_offset; /* of a class's description: its mirror's handle */
	int32_t mirror_klass; /* and back */
	atomic_uint_fast64_t collections;
} raw;

/* ---- what libjvm tells ---- */

static const void *libjvm_value(const char *symbol)
{
	return dlsym(RTLD_DEFAULT, symbol);
}

static bool libjvm_find(const char *type, const char *field,
			struct vm_struct *ret)
{
	const char *const *const *table = libjvm_value("gHotSpotVMStructs");
	const uint64_t *stride =
		libjvm_value("gHotSpotVMStructEntryArrayStride");
	if (!table || !*table || !stride || *stride != sizeof(struct vm_struct))
		return false;
	const struct vm_struct *rows = (const void *)*table;
	for (; rows->type; rows++) {
		if (rows->field && !strcmp(rows->type, type) &&
		    !strcmp(rows->field, field)) {
			*ret = *rows;
			return true;
		}
	}
	return false;
}

static bool libjvm_read(const char *type, const char *field, void *ret,
			size_t n)
{
	struct vm_struct row;
	if (!libjvm_find(type, field, &row) || !row.is_static || !row.address)
		return false;
	memcpy(ret, row.address, n);
	return true;
}

/* ---- Java's own Unsafe ---- */

static jint unsafe_number(JNIEnv *env, const char *method, const char *array)
{
	jclass of = (*env)->FindClass(env, array);
	jmethodID id = (*env)->GetMethodID(
		env, (*env)->GetObjectClass(env, raw.unsafe), method,
		"(Ljava/lang/Class;)I");
	jint value =
		of && id ? (*env)->CallIntMethod(env, raw.unsafe, id, of) : -1;
	(*env)->ExceptionClear(env);
	return value;
}

static bool unsafe_start(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "jdk/internal/misc/Unsafe");
	if (!class)
		return false;
	jmethodID get = (*env)->GetStaticMethodID(
		env, class, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
	jobject found =
		get ? (*env)->CallStaticObjectMethod(env, class, get) : NULL;
	raw.unsafe = found ? (*env)->NewGlobalRef(env, found) : NULL;
	raw.object_offset = (*env)->GetMethodID(env, class, "objectFieldOffset",
						"(Ljava/lang/reflect/Field;)J");
	raw.static_offset = (*env)->GetMethodID(env, class, "staticFieldOffset",
						"(Ljava/lang/reflect/Field;)J");
	return raw.unsafe && raw.object_offset && raw.static_offset;
}

uint32_t heap_raw_offset(JNIEnv *env, const struct heap_field *field,
			 bool is_static)
{
	jobject reflected = (*env)->ToReflectedField(env, field->owner->mirror,
						     field->id, is_static);
	jlong offset = -1;
	if (reflected)
		offset = (*env)->CallLongMethod(env, raw.unsafe,
						is_static ? raw.static_offset
							  : raw.object_offset,
						reflected);
	(*env)->ExceptionClear(env);
	(*env)->DeleteLocalRef(env, reflected);
	return offset > 0 && offset < (jlong)UINT32_MAX ? (uint32_t)offset : 0;
}

/* ---- objects and classes ---- */

static uint64_t heap_word_at(uint64_t address)
{
	uint64_t value;
	memcpy(&value, (const void *)address, sizeof(value));
	return value;
}

uint64_t heap_raw_klass_of(uint64_t address)
{
	if (!raw.narrow_klass)
		return heap_word_at(address + 8);
	uint32_t narrow;
	memcpy(&narrow, (const void *)(address + 8), sizeof(narrow));
	return raw.klass_base + ((uint64_t)narrow << raw.klass_shift);
}

/* A reference of JNI is the address of a slot that has the object's. */
uint64_t heap_raw_mirror_address(const struct heap_class *class)
{
	/* Of global ones the lowest bits are a tag. */
	return heap_word_at((uint64_t) class->mirror & ~(uint64_t)7);
}

uint64_t heap_raw_mirror_klass(uint64_t mirror)
{
	return heap_word_at(mirror + (uint64_t)raw.mirror_klass);
}

uint64_t heap_raw_klass(const struct heap_class *class)
{
	return heap_raw_mirror_klass(heap_raw_mirror_address(class));
}

jclass heap_raw_mirror(uint64_t klass)
{
	return (jclass)heap_word_at(klass + raw.mirror_offset);
}

/* ---- holding the heap ---- */

bool heap_raw_hold(JNIEnv *env)
{
	raw.holds = (*env)->GetPrimitiveArrayCritical(env, raw.held, NULL);
	return raw.holds != NULL;
}

void heap_raw_release(JNIEnv *env)
{
	(*env)->ReleasePrimitiveArrayCritical(env, raw.held, raw.holds,
					      JNI_ABORT);
}

uint64_t heap_raw_collections(void)
{
	return atomic_load(&raw.collections);
}

void heap_raw_collected(void)
{
	atomic_fetch_add(&raw.collections, 1);
}

/* ---- is it as we know it? ---- */

/* Which collector it is: one that moves objects while tests run is not for us. */
static bool flag_is_set(const char *name)
{
	struct vm_struct flags, number, field_name, field_address;
	if (!libjvm_find("JVMFlag", "flags", &flags) ||
	    !libjvm_find("JVMFlag", "numFlags", &number) ||
	    !libjvm_find("JVMFlag", "_name", &field_name) ||
	    !libjvm_find("JVMFlag", "_addr", &field_address))
		return true;
	uint64_t row = heap_word_at((uint64_t)flags.address);
	uint64_t n = heap_word_at((uint64_t)number.address);
	/* The size of a row: from the table of types. */
	const char *const *const *types = libjvm_value("gHotSpotVMTypes");
	const uint64_t *stride = libjvm_value("gHotSpotVMTypeEntryArrayStride");
	const uint64_t *at = libjvm_value("gHotSpotVMTypeEntrySizeOffset");
	uint64_t size = 0;
	if (!types || !stride || !at || *stride > 256)
		return true;
	const char *type = (const char *)*types;
	for (; *(const char *const *)type; type += *stride) {
		if (!strcmp(*(const char *const *)type, "JVMFlag"))
			memcpy(&size, type + *at, sizeof(size));
	}
	for (uint64_t i = 0; size && i < n && i < 10000; i++, row += size) {
		const char *its =
			(const char *)heap_word_at(row + field_name.offset);
		if (its && !strcmp(its, name))
			return *(const uint8_t *)heap_word_at(
				       row + field_address.offset) != 0;
	}
	return false;
}

/* From 22 on, holding an array holds only its own region (JEP 423). */
#define NEWEST 21

static const char *raw_read_layout(JNIEnv *env)
{
	struct vm_struct mirror;
	int32_t version = 0;
	if (!libjvm_read("Abstract_VM_Version", "_vm_major_version", &version,
			 sizeof(version)) ||
	    version > NEWEST ||
	    getenv("POLYGRAPH_FAULT_VM_VERSION")) /* for tests */
		return "this is not HotSpot of Java 17 to 21";
	if (!libjvm_find("Klass", "_java_mirror", &mirror) ||
	    !libjvm_read("java_lang_Class", "_klass_offset", &raw.mirror_klass,
			 sizeof(raw.mirror_klass)))
		return "this VM does not describe its heap";
	raw.mirror_offset = mirror.offset;
	if (flag_is_set("UseZGC") || flag_is_set("UseShenandoahGC") ||
	    flag_is_set("UseEpsilonGC"))
		return "its collector is not Serial, Parallel or G1";
	if (!unsafe_start(env)) {
		(*env)->ExceptionClear(env);
		return "this VM has no Unsafe of the kind that is known";
	}
	jint base = unsafe_number(env, "arrayBaseOffset", "[B");
	jint references =
		unsafe_number(env, "arrayBaseOffset", "[Ljava/lang/Object;");
	jint scale =
		unsafe_number(env, "arrayIndexScale", "[Ljava/lang/Object;");
	if ((base != 16 && base != 24) || references < 16 ||
	    (scale != 4 && scale != 8))
		return "its objects are laid out in another way";
	raw.narrow_klass = base == 16;
	int32_t shift = 0;
	if (scale == 4 &&
	    (!libjvm_read("CompressedOops", "_narrow_oop._base",
			  &heap.layout.base, sizeof(heap.layout.base)) ||
	     !libjvm_read("CompressedOops", "_narrow_oop._shift", &shift,
			  sizeof(shift))))
		return "its references are written in another way";
	heap.layout.shift = (unsigned)shift;
	heap.layout.reference = (unsigned)scale;
	heap.layout.array = (uint32_t)base;
	/* Between it and what follows a class pointer there may be a gap. */
	heap.layout.length = base == 16 ? 12 : 16;
	heap.layout.array_references = (uint32_t)references;
	shift = 0;
	if (raw.narrow_klass &&
	    (!libjvm_read("CompressedKlassPointers", "_narrow_klass._base",
			  &raw.klass_base, sizeof(raw.klass_base)) ||
	     !libjvm_read("CompressedKlassPointers", "_narrow_klass._shift",
			  &shift, sizeof(shift))))
		return "its classes are written in another way";
	raw.klass_shift = (unsigned)shift;
	return NULL;
}

static uint32_t raw_length(const uint8_t *array)
{
	uint32_t length;
	memcpy(&length, array + heap.layout.length, sizeof(length));
	return length;
}

static bool raw_array_is(const uint8_t *array, const char *text)
{
	return raw_length(array) == strlen(text) &&
	       !memcmp(array + heap.layout.array, text, strlen(text));
}

/* Does it show what we know of a String, and of an array with it? */
static bool raw_proves_right(JNIEnv *env)
{
	jstring text = (*env)->NewStringUTF(env, "polygraph");
	jclass class = text ? (*env)->FindClass(env, "java/lang/String") : NULL;
	jobjectArray array =
		class ? (*env)->NewObjectArray(env, 2, class, text) : NULL;
	jobject kept = array ? (*env)->NewGlobalRef(env, array) : NULL;
	if (!kept)
		return false;
	struct heap_class *string = heap_class_of(env, class);
	struct heap_class *strings =
		heap_class_of(env, (*env)->GetObjectClass(env, array));
	heap_class_prepare(env, string);
	const struct heap_field *value = heap_field_named(string, "value");
	bool right = false;
	if (value && heap_raw_hold(env)) {
		uint64_t at = heap_word_at((uint64_t)kept & ~(uint64_t)7);
		const uint8_t *bytes = (const uint8_t *)at;
		uint64_t first =
			heap_decode(bytes + heap.layout.array_references);
		uint64_t second =
			heap_decode(bytes + heap.layout.array_references +
				    heap.layout.reference);
		right = heap_raw_klass_of(at) == strings->klass && first &&
			first == second &&
			heap_raw_klass_of(first) == string->klass &&
			raw_array_is(
				(const uint8_t *)heap_decode(
					(const uint8_t *)first + value->offset),
				"polygraph") &&
			raw_length(bytes) == 2 &&
			(uint64_t)heap_raw_mirror(string->klass) % 8 == 0 &&
			heap_raw_mirror_klass(heap_word_at(
				(uint64_t)heap_raw_mirror(string->klass))) ==
				string->klass;
		heap_raw_release(env);
	}
	(*env)->DeleteGlobalRef(env, kept);
	return right;
}

const char *heap_raw_start(JNIEnv *env)
{
	const char *why = raw_read_layout(env);
	if (why)
		return why;
	jbyteArray held = (*env)->NewByteArray(env, 8);
	raw.held = held ? (*env)->NewGlobalRef(env, held) : NULL;
	if (!raw.held)
		return "it has no memory";
	heap.raw = true;
	heap.raw = raw_proves_right(env);
	return heap.raw ? NULL : "its heap is not as it is known";
}
