#include "vm/vm_heap_locals.h"

#include <string.h>

#include "vm/vm_heap_raw.h"

#define LOCAL "java/lang/ThreadLocal"
#define MAP LOCAL "$ThreadLocalMap"

enum { LOCALS, INHERITABLE, TABLE, VALUE, REFERENT, HASH, N_MEMBERS };

/* Of OpenJDK 17 to 21. */
static const struct {
	const char *class, *name, *type;
} members[] = {
	[LOCALS] = { "java/lang/Thread", "threadLocals", "L" MAP ";" },
	[INHERITABLE] = { "java/lang/Thread", "inheritableThreadLocals",
			  "L" MAP ";" },
	[TABLE] = { MAP, "table", "[L" MAP "$Entry;" },
	[VALUE] = { MAP "$Entry", "value", "Ljava/lang/Object;" },
	[REFERENT] = { "java/lang/ref/Reference", "referent",
		       "Ljava/lang/Object;" },
	[HASH] = { LOCAL, "threadLocalHashCode", "I" },
};

static struct {
	bool asked, known; /* all of the members */
	jfieldID ids[N_MEMBERS];
	uint32_t offsets
		[N_MEMBERS]; /* in memory; 0: graphs are not from there */
	jobject thread;	     /* that runs the tests */
	jclass class;
	jmethodID set, remove;
} locals;

static bool locals_find_member(JNIEnv *env, size_t i)
{
	jclass class = (*env)->FindClass(env, members[i].class);
	jfieldID id = class ? (*env)->GetFieldID(env, class, members[i].name,
						 members[i].type)
			    : NULL;
	struct heap_class *owner = id ? heap_class_of(env, class) : NULL;
	(*env)->ExceptionClear(env);
	(*env)->DeleteLocalRef(env, class);
	const struct heap_field field = { .owner = owner, .id = id };
	locals.ids[i] = id;
	if (owner && heap.raw)
		locals.offsets[i] = heap_raw_offset(env, &field, false);
	return owner && (!heap.raw || locals.offsets[i]);
}

static void locals_find_members(JNIEnv *env)
{
	locals.asked = locals.known = true;
	for (size_t i = 0; i < N_MEMBERS; i++)
		locals.known &= locals_find_member(env, i);
	jclass class = (*env)->FindClass(env, LOCAL);
	if (class) {
		locals.class = (*env)->NewGlobalRef(env, class);
		locals.set = (*env)->GetMethodID(env, class, "set",
						 "(Ljava/lang/Object;)V");
		locals.remove =
			(*env)->GetMethodID(env, class, "remove", "()V");
	}
	(*env)->ExceptionClear(env);
	(*env)->DeleteLocalRef(env, class);
	locals.known &= locals.set && locals.remove;
}

void heap_locals_start(JNIEnv *env)
{
	jthread thread = NULL;
	if (!locals.asked)
		locals_find_members(env);
	if ((*heap.jvmti)->GetCurrentThread(heap.jvmti, &thread) ||
	    (locals.thread && (*env)->IsSameObject(env, thread, locals.thread)))
		return;
	if (locals.thread)
		(*env)->DeleteGlobalRef(env, locals.thread);
	locals.thread = (*env)->NewGlobalRef(env, thread);
	(*env)->DeleteLocalRef(env, thread);
}

bool heap_field_is_local(const struct heap_field *field)
{
	return !field->id && field->owner->local;
}

/* ---- in memory ---- */

static uint64_t local_follow(uint64_t object, size_t member)
{
	return object ? heap_decode((const uint8_t *)object +
				    locals.offsets[member])
		      : 0;
}

static uint32_t local_word(uint64_t address)
{
	uint32_t value;
	memcpy(&value, (const void *)address, sizeof(value));
	return value;
}

void heap_local_read(const struct heap_class *class, uint64_t address,
		     uint8_t *ret)
{
	memset(ret, 0, heap.layout.reference);
	if (!locals.known || !locals.thread)
		return;
	uint64_t thread;
	memcpy(&thread, (const void *)((uint64_t)locals.thread & ~(uint64_t)7),
	       sizeof(thread));
	uint64_t map = local_follow(thread, class->local == HEAP_INHERITABLE
						    ? INHERITABLE
						    : LOCALS);
	uint64_t table = local_follow(map, TABLE);
	uint32_t n = table ? local_word(table + heap.layout.length) : 0;
	uint32_t hash = local_word(address + locals.offsets[HASH]);
	/* Collisions are beside each other, up to an empty place. */
	for (uint32_t i = 0; i < n; i++) {
		uint64_t entry = heap_decode(
			(const uint8_t *)table + heap.layout.array_references +
			(size_t)((hash + i) & (n - 1)) * heap.layout.reference);
		if (!entry)
			return;
		if (local_follow(entry, REFERENT) != address)
			continue;
		memcpy(ret, (const uint8_t *)entry + locals.offsets[VALUE],
		       heap.layout.reference);
		return;
	}
}

/* ---- by the VM ---- */

static jobject local_field(JNIEnv *env, jobject object, size_t member)
{
	return object ? (*env)->GetObjectField(env, object, locals.ids[member])
		      : NULL;
}

/* @ret_found: the entry is that of @local, or there is none. */
static jobject local_of_entry(JNIEnv *env, jobject entry, jobject local,
			      bool *ret_found)
{
	jobject of = local_field(env, entry, REFERENT);
	jobject value = NULL;
	*ret_found = !entry || (*env)->IsSameObject(env, of, local);
	if (*ret_found)
		value = local_field(env, entry, VALUE);
	(*env)->DeleteLocalRef(env, of);
	return value;
}

jobject heap_local_get(JNIEnv *env, jobject local, bool inheritable)
{
	if (!locals.known || !locals.thread)
		return NULL;
	jobject map = local_field(env, locals.thread,
				  inheritable ? INHERITABLE : LOCALS);
	jobjectArray table = local_field(env, map, TABLE);
	jsize n = table ? (*env)->GetArrayLength(env, table) : 0;
	uint32_t hash =
		(uint32_t)(*env)->GetIntField(env, local, locals.ids[HASH]);
	jobject value = NULL;
	bool found = false;
	for (jsize i = 0; i < n && !found; i++) {
		jsize at = (jsize)((hash + (uint32_t)i) & ((uint32_t)n - 1));
		jobject entry = (*env)->GetObjectArrayElement(env, table, at);
		value = local_of_entry(env, entry, local, &found);
		(*env)->DeleteLocalRef(env, entry);
	}
	(*env)->DeleteLocalRef(env, table);
	(*env)->DeleteLocalRef(env, map);
	return value;
}

void heap_local_put(JNIEnv *env, jobject local, jobject value)
{
	if (!locals.known)
		return;
	/* As the library does it, whatever a class that derives from it does. */
	if (value)
		(*env)->CallNonvirtualVoidMethod(env, local, locals.class,
						 locals.set, value);
	else
		(*env)->CallNonvirtualVoidMethod(env, local, locals.class,
						 locals.remove);
	(*env)->ExceptionClear(env);
}
