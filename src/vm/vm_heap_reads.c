#include "vm/vm_heap_reads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Longer ways are watched at their end, wherever the object is. */
#define WAY_MAX 16
#define PLACES_MAX 4096

struct read_field {
	char *class, *name, *signature; /* "com.acme.Registry" */
	jclass mirror;			/* NULL: not loaded yet */
	jfieldID id;
};

struct read_place {
	struct read_field way[WAY_MAX];
	size_t n;
	atomic_uint done; /* number of the test + 1 that read or wrote it */
};

static struct {
	struct {
		struct read_place *data;
		size_t n, cap;
	} places;
	pthread_mutex_t lock; /* of ways, while classes are loaded */
	atomic_uint entry;    /* of the test that runs, + 1; 0: none */
} reads = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* We read fields, too, to see where an object is. */
static _Thread_local bool is_looking;

/* ---- ways ---- */

static char *take_field_word(char **at, char end)
{
	char *word = *at, *stop = strchr(word, end);
	if (stop)
		*stop = '\0';
	*at = stop ? stop + 1 : word + strlen(word);
	return heap_text(word);
}

static void place_parse(char *text, struct read_place *ret)
{
	char *rest = text;
	while (rest && *rest && ret->n < WAY_MAX) {
		char *line = rest, *stop = strchr(rest, '\n');
		rest = stop ? stop + 1 : NULL;
		if (stop)
			*stop = '\0';
		struct read_field *field = &ret->way[ret->n++];
		field->class = take_field_word(&line, ' ');
		field->name = take_field_word(&line, ' ');
		field->signature = take_field_word(&line, ' ');
	}
}

static bool class_is(jclass mirror, const char *name)
{
	char *signature = NULL;
	if ((*heap.jvmti)
		    ->GetClassSignature(heap.jvmti, mirror, &signature, NULL))
		return false;
	size_t n = strlen(name), i = 0;
	bool same = signature[0] == 'L' && strlen(signature) == n + 2;
	for (; same && i < n; i++)
		same = (signature[i + 1] == '/' ? '.' : signature[i + 1]) ==
		       name[i];
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)signature);
	return same;
}

/*
 * JNI's GetFieldID() would initialise the class: earlier than the program does,
 * and while we hold the lock.
 */
static jfieldID read_field_id(jclass mirror, const struct read_field *field)
{
	jint n = 0;
	jfieldID *ids = NULL, id = NULL;
	if ((*heap.jvmti)->GetClassFields(heap.jvmti, mirror, &n, &ids))
		return NULL;
	for (jint i = 0; i < n && !id; i++) {
		char *name = NULL, *signature = NULL;
		if ((*heap.jvmti)
			    ->GetFieldName(heap.jvmti, mirror, ids[i], &name,
					   &signature, NULL))
			continue;
		if (!strcmp(name, field->name) &&
		    !strcmp(signature, field->signature))
			id = ids[i];
		(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)name);
		(*heap.jvmti)
			->Deallocate(heap.jvmti, (unsigned char *)signature);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)ids);
	return id;
}

static void read_place_resolve(JNIEnv *env, struct read_place *place,
			       jclass mirror)
{
	for (size_t i = 0; i < place->n; i++) {
		struct read_field *field = &place->way[i];
		if (field->mirror || !class_is(mirror, field->class))
			continue;
		jfieldID id = read_field_id(mirror, field);
		if (!id)
			continue;
		field->mirror = (*env)->NewGlobalRef(env, mirror);
		field->id = id;
		if (i + 1 < place->n)
			continue;
		/* An error: another place is at the same field. */
		(*heap.jvmti)->SetFieldAccessWatch(heap.jvmti, mirror, id);
		(*heap.jvmti)
			->SetFieldModificationWatch(heap.jvmti, mirror, id);
	}
}

void heap_reads_class(JNIEnv *env, jclass mirror)
{
	pthread_mutex_lock(&reads.lock);
	for (size_t i = 0; i < reads.places.n; i++)
		read_place_resolve(env, &reads.places.data[i], mirror);
	pthread_mutex_unlock(&reads.lock);
}

void heap_reads_message(JNIEnv *env, struct heap_reader *reader)
{
	uint32_t n = heap_reader_u32(reader);
	for (uint32_t i = 0; i < n && i < PLACES_MAX; i++) {
		struct read_place place = {};
		char *text = heap_reader_text(reader);
		place_parse(text, &place);
		free(text);
		HEAP_PUSH(&reads.places, place);
	}
	jint count = 0;
	jclass *list = NULL;
	if ((*heap.jvmti)->GetLoadedClasses(heap.jvmti, &count, &list))
		return;
	for (jint i = 0; i < count; i++) {
		jint status = 0;
		(*heap.jvmti)->GetClassStatus(heap.jvmti, list[i], &status);
		if (status & JVMTI_CLASS_STATUS_PREPARED)
			heap_reads_class(env, list[i]);
		(*env)->DeleteLocalRef(env, list[i]);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)list);
}

/* ---- events ---- */

/* Is it the object on the way to the place? */
static bool is_on_way(JNIEnv *env, const struct read_place *place,
		      jobject object)
{
	if (place->n < 2)
		return true;
	for (size_t i = 0; i < place->n; i++) {
		if (!place->way[i].mirror)
			return false;
	}
	jobject at = (*env)->GetStaticObjectField(env, place->way[0].mirror,
						  place->way[0].id);
	for (size_t i = 1; at && i + 1 < place->n; i++) {
		jobject next =
			(*env)->GetObjectField(env, at, place->way[i].id);
		(*env)->DeleteLocalRef(env, at);
		at = next;
	}
	bool same = at && (*env)->IsSameObject(env, at, object);
	(*env)->DeleteLocalRef(env, at);
	return same;
}

static void field_touched(JNIEnv *env, jclass class, jobject object,
			  jfieldID field, bool read)
{
	uint32_t entry = atomic_load(&reads.entry);
	if (!entry || is_looking)
		return;
	is_looking = true;
	for (size_t i = 0; i < reads.places.n; i++) {
		struct read_place *place = &reads.places.data[i];
		const struct read_field *last = &place->way[place->n - 1];
		if (!place->n || last->id != field ||
		    atomic_load(&place->done) == entry || !last->mirror ||
		    !(*env)->IsSameObject(env, last->mirror, class) ||
		    !is_on_way(env, place, object))
			continue;
		atomic_store(&place->done, entry);
		if (!read)
			continue;
		struct heap_message message = {};
		heap_message_u32(&message, entry - 1);
		heap_message_u32(&message, (uint32_t)i);
		heap_message_send(&message, WIRE_HEAP_READ);
	}
	is_looking = false;
}

static void JNICALL on_field_access(jvmtiEnv *jvmti, JNIEnv *env,
				    jthread thread, jmethodID method,
				    jlocation location, jclass class,
				    jobject object, jfieldID field)
{
	(void)jvmti, (void)thread, (void)method, (void)location;
	field_touched(env, class, object, field, true);
}

static void JNICALL on_field_change(jvmtiEnv *jvmti, JNIEnv *env,
				    jthread thread, jmethodID method,
				    jlocation location, jclass class,
				    jobject object, jfieldID field, char type,
				    jvalue value)
{
	(void)jvmti, (void)thread, (void)method, (void)location, (void)type;
	(void)value;
	field_touched(env, class, object, field, false);
}

void heap_reads_want(jvmtiCapabilities *wanted, jvmtiEventCallbacks *calls)
{
	wanted->can_generate_field_access_events = 1;
	wanted->can_generate_field_modification_events = 1;
	calls->FieldAccess = on_field_access;
	calls->FieldModification = on_field_change;
}

bool heap_reads_load(jvmtiEnv *jvmti)
{
	return !(*jvmti)->SetEventNotificationMode(
		       jvmti, JVMTI_ENABLE, JVMTI_EVENT_FIELD_ACCESS, NULL) &&
	       !(*jvmti)->SetEventNotificationMode(
		       jvmti, JVMTI_ENABLE, JVMTI_EVENT_FIELD_MODIFICATION,
		       NULL);
}

void heap_reads_test(bool runs, uint32_t entry)
{
	atomic_store(&reads.entry, runs ? entry + 1 : 0);
}
