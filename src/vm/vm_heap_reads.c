#include "vm/vm_heap_reads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_class.h"

/* Longer ways are watched at their end, wherever the object is. */
#define WAY_MAX 16
#define PLACES_MAX 4096
/* Classes and the fields they use. */
#define SITES_MAX (VM_FIELDS_MAX + 1)
#define METHODS_MAX 64
#define TELLER "polygraph/Touched"
#define TELL "touched"

struct read_field {
	char *class, *name, *signature; /* "com.acme.Registry" */
	jclass mirror;			/* NULL: not loaded yet */
	jfieldID id;
};

struct read_place {
	struct read_field way[WAY_MAX];
	size_t n;
	/* Numbers of tests + 1: that used it; that did so other than by filling. */
	atomic_uint done, plain;
};

/* Does a class that uses the field mean the one of the place? */
enum site_fit { FIT_UNKNOWN, FIT_NO, FIT_YES };

struct read_site {
	char *class; /* as code names it: "com/acme/Sub" */
	size_t n;
	struct {
		uint32_t place;
		_Atomic enum site_fit fit;
	} * all; /* places with a field of that name and type */
};

/* Methods of the JDK that read or write a field that programs cannot see. */
static const struct read_accessor {
	const char *class, *field, *reads, *writes;
} accessors[] = {
	{ "java.util.Locale", "defaultLocale", "getDefault", "setDefault" },
	{ "java.util.Locale", "defaultDisplayLocale", "getDefault",
	  "setDefault" },
	{ "java.util.Locale", "defaultFormatLocale", "getDefault",
	  "setDefault" },
	{ "java.util.TimeZone", "defaultTimeZone", "getDefaultRef",
	  "setDefault" },
	{ "java.lang.System", "security", "getSecurityManager",
	  "setSecurityManager" },
	{ "java.lang.System", "out", NULL, "setOut" },
	{ "java.lang.System", "err", NULL, "setErr" },
	{ "java.lang.System", "in", NULL, "setIn" },
	{ "java.lang.Thread", "defaultUncaughtExceptionHandler",
	  "getDefaultUncaughtExceptionHandler",
	  "setDefaultUncaughtExceptionHandler" },
	{ "java.lang.ApplicationShutdownHooks", "hooks", "runHooks", "add" },
	{ "java.net.URL", "factory", "getURLStreamHandler",
	  "setURLStreamHandlerFactory" },
	{ "java.net.ProxySelector", "theProxySelector", "getDefault",
	  "setDefault" },
	{ "java.net.Authenticator", "theAuthenticator", "getDefault",
	  "setDefault" },
	{ "java.net.CookieHandler", "cookieHandler", "getDefault",
	  "setDefault" },
};

struct read_method {
	jmethodID id;
	uint32_t place;
	bool writes;
	atomic_bool armed;
};

static struct {
	struct {
		struct read_place *data;
		size_t n, cap;
	} places;
	struct read_site sites[SITES_MAX];
	size_t n_sites;
	struct read_method methods[METHODS_MAX];
	size_t n_methods;
	pthread_mutex_t lock; /* of all that, while classes are loaded */
	atomic_uint entry;    /* of the test that runs, + 1; 0: none */
} reads = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

/* With dots or slashes between their parts. */
static bool class_names_are_equal(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		bool ends =
			(*a == '.' || *a == '/') && (*b == '.' || *b == '/');
		if (*a != *b && !ends)
			return false;
	}
	return *a == *b;
}

static bool class_is(jclass mirror, const char *name)
{
	char *signature = NULL;
	if ((*heap.jvmti)
		    ->GetClassSignature(heap.jvmti, mirror, &signature, NULL))
		return false;
	size_t n = strlen(signature);
	bool same = n > 2 && signature[0] == 'L';
	if (same) {
		signature[n - 1] = '\0';
		same = class_names_are_equal(signature + 1, name);
	}
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

/* Breakpoints at methods of that name; they are set when a test starts. */
static void read_methods_add(jclass mirror, const char *wanted, uint32_t place,
			     bool writes)
{
	jint n = 0;
	jmethodID *ids = NULL;
	if (!wanted ||
	    (*heap.jvmti)->GetClassMethods(heap.jvmti, mirror, &n, &ids))
		return;
	for (jint i = 0; i < n && reads.n_methods < METHODS_MAX; i++) {
		char *name = NULL;
		if ((*heap.jvmti)
			    ->GetMethodName(heap.jvmti, ids[i], &name, NULL,
					    NULL))
			continue;
		if (!strcmp(name, wanted)) {
			struct read_method *method =
				&reads.methods[reads.n_methods++];
			method->id = ids[i];
			method->place = place;
			method->writes = writes;
		}
		(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)name);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)ids);
}

static void read_place_resolve(JNIEnv *env, uint32_t number, jclass mirror)
{
	struct read_place *place = &reads.places.data[number];
	for (size_t i = 0; i < place->n; i++) {
		struct read_field *field = &place->way[i];
		if (field->mirror || !class_is(mirror, field->class))
			continue;
		jfieldID id = read_field_id(mirror, field);
		if (!id)
			continue;
		field->mirror = (*env)->NewGlobalRef(env, mirror);
		field->id = id;
		for (size_t k = 0; place->n == 1 &&
				   k < sizeof(accessors) / sizeof(*accessors);
		     k++) {
			const struct read_accessor *row = &accessors[k];
			if (strcmp(row->class, field->class) != 0 ||
			    strcmp(row->field, field->name) != 0)
				continue;
			read_methods_add(mirror, row->reads, number, false);
			read_methods_add(mirror, row->writes, number, true);
		}
	}
}

void heap_reads_class(JNIEnv *env, jclass mirror)
{
	pthread_mutex_lock(&reads.lock);
	for (size_t i = 0; i < reads.places.n; i++)
		read_place_resolve(env, (uint32_t)i, mirror);
	pthread_mutex_unlock(&reads.lock);
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

/*
 * A test may be told of twice: first that its code fills the place, and then that
 * other code of it reads what is there.
 */
static void read_place_touched(uint32_t number, uint32_t entry, unsigned how)
{
	struct read_place *place = &reads.places.data[number];
	bool fills = how & VM_FIELD_FILLS;
	bool told = atomic_exchange(&place->done, entry) == entry && fills;
	told |= !fills && atomic_exchange(&place->plain, entry) == entry;
	if (told || how & VM_FIELD_WRITES)
		return;
	struct heap_message message = {};
	heap_message_u32(&message, entry - 1);
	heap_message_u32(&message, number);
	heap_message_u32(&message, fills);
	heap_message_send(&message, WIRE_HEAP_READ);
}

/* A static field that was named by another class than the one that has it. */
static enum site_fit site_find_fit(JNIEnv *env, const struct read_site *site,
				   const struct read_place *place)
{
	jclass owner = place->way[0].mirror;
	jint n = 0;
	jclass *list = NULL;
	enum site_fit fit = FIT_UNKNOWN;
	if (class_names_are_equal(place->way[0].class, site->class))
		return FIT_YES;
	if (!owner || (*heap.jvmti)->GetLoadedClasses(heap.jvmti, &n, &list))
		return FIT_UNKNOWN;
	for (jint i = 0; i < n; i++) {
		if (fit == FIT_UNKNOWN && class_is(list[i], site->class))
			fit = (*env)->IsAssignableFrom(env, list[i], owner)
				      ? FIT_YES
				      : FIT_NO;
		(*env)->DeleteLocalRef(env, list[i]);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)list);
	return fit;
}

/* Called by the methods that vm_class_edit() adds: the number is a site's. */
static void JNICALL on_touched(JNIEnv *env, jclass teller, jobject object,
			       jint number)
{
	struct read_site *site = &reads.sites[(uint32_t)number / VM_FIELD_USES];
	unsigned how = (uint32_t)number % VM_FIELD_USES;
	uint32_t entry = atomic_load(&reads.entry);
	(void)teller;
	for (size_t i = 0; entry && i < site->n; i++) {
		uint32_t at = site->all[i].place;
		struct read_place *place = &reads.places.data[at];
		if (atomic_load(&place->plain) == entry ||
		    (how & VM_FIELD_FILLS &&
		     atomic_load(&place->done) == entry) ||
		    (place->n > 1) != (object != NULL))
			continue;
		if (!object && atomic_load(&site->all[i].fit) == FIT_UNKNOWN)
			atomic_store(&site->all[i].fit,
				     site_find_fit(env, site, place));
		if (object ? is_on_way(env, place, object)
			   : atomic_load(&site->all[i].fit) == FIT_YES)
			read_place_touched(at, entry, how);
	}
}

static void JNICALL on_accessor(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
				jmethodID id, jlocation location)
{
	uint32_t entry = atomic_load(&reads.entry);
	(void)env, (void)thread, (void)location;
	for (size_t i = 0; i < reads.n_methods; i++) {
		struct read_method *method = &reads.methods[i];
		if (method->id != id)
			continue;
		if (entry)
			read_place_touched(method->place, entry,
					   method->writes ? VM_FIELD_WRITES
							  : 0);
		if (atomic_exchange(&method->armed, false))
			(*jvmti)->ClearBreakpoint(jvmti, id, 0);
	}
}

/* ---- classes that use them ---- */

static bool use_text_is(const char *text, const uint8_t *bytes, size_t n)
{
	return strlen(text) == n && !memcmp(text, bytes, n);
}

static void site_fill(struct read_site *site, const struct vm_field_use *use)
{
	site->all = calloc(reads.places.n, sizeof(*site->all));
	for (size_t i = 0; site->all && i < reads.places.n; i++) {
		const struct read_place *place = &reads.places.data[i];
		const struct read_field *last = &place->way[place->n - 1];
		if (place->n &&
		    use_text_is(last->name, use->field, use->field_n) &&
		    use_text_is(last->signature, use->descriptor,
				use->descriptor_n))
			site->all[site->n++].place = (uint32_t)i;
	}
}

/* Each use of a class has its own site: few classes use any. */
static int find_site(void *data, const struct vm_field_use *use)
{
	struct read_site site = {};
	(void)data;
	if (reads.n_sites == SITES_MAX)
		return -1;
	site_fill(&site, use);
	if (!site.n) {
		free(site.all);
		return -1;
	}
	site.class = strndup((const char *)use->class_name, use->class_n);
	if (!site.class) {
		free(site.all);
		return -1;
	}
	reads.sites[reads.n_sites] = site;
	return (int)reads.n_sites++;
}

static void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *env,
				  jclass redefined, jobject loader,
				  const char *name, jobject domain, jint n,
				  const unsigned char *bytes, jint *ret_n,
				  unsigned char **ret)
{
	const struct vm_edit edit = {
		.helper_class = TELLER,
		.prefix = "",
		.field_number = find_site,
		.field_helper = TELL,
	};
	uint8_t *changed = NULL;
	size_t changed_n = 0;
	(void)env, (void)redefined, (void)name, (void)domain;
	if (!loader || n <= 0 || !reads.places.n)
		return;
	pthread_mutex_lock(&reads.lock);
	enum vm_edited edited = vm_class_edit(bytes, (size_t)n, &edit, &changed,
					      &changed_n, NULL, NULL);
	pthread_mutex_unlock(&reads.lock);
	if (edited != VM_CHANGED)
		return;
	unsigned char *room = NULL;
	if (!(*jvmti)->Allocate(jvmti, (jlong)changed_n, &room)) {
		memcpy(room, changed, changed_n);
		*ret = room;
		*ret_n = (jint)changed_n;
	}
	free(changed);
}

/*
 * public final class polygraph.Touched { public static native void touched(Object
 * object, int number); }, for all class loaders: of version 52, with 7 constants.
 */
static bool teller_define(JNIEnv *env)
{
	static const char class[] =
		"\xca\xfe\xba\xbe\0\0\0\x34\0\x07"
		"\x01\0\x11" TELLER "\x07\0\x01"
		"\x01\0\x10java/lang/Object\x07\0\x03"
		"\x01\0\x07" TELL "\x01\0\x16(Ljava/lang/Object;I)V"
		"\x10\x31\0\x02\0\x04\0\0\0\0"
		"\0\x01\x01\x09\0\x05\0\x06\0\0"
		"\0";
	static char name[] = TELL, type[] = "(Ljava/lang/Object;I)V";
	const JNINativeMethod method = { name, type, (void *)on_touched };
	jclass mirror = (*env)->DefineClass(
		env, TELLER, NULL, (const jbyte *)class, (jsize)sizeof(class));
	return mirror && !(*env)->RegisterNatives(env, mirror, &method, 1);
}

void heap_reads_message(JNIEnv *env, struct heap_reader *reader)
{
	uint32_t n = heap_reader_u32(reader);
	bool told = n && teller_define(env);
	for (uint32_t i = 0; told && i < n && i < PLACES_MAX; i++) {
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

void heap_reads_want(jvmtiCapabilities *wanted, jvmtiEventCallbacks *calls)
{
	wanted->can_generate_breakpoint_events = 1;
	calls->Breakpoint = on_accessor;
	calls->ClassFileLoadHook = on_class_file;
}

bool heap_reads_load(jvmtiEnv *jvmti)
{
	return !(*jvmti)->SetEventNotificationMode(
		       jvmti, JVMTI_ENABLE, JVMTI_EVENT_BREAKPOINT, NULL) &&
	       !(*jvmti)->SetEventNotificationMode(
		       jvmti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
		       NULL);
}

static void read_methods_arm(void)
{
	for (size_t i = 0; i < reads.n_methods; i++) {
		struct read_method *method = &reads.methods[i];
		if (!atomic_exchange(&method->armed, true))
			(*heap.jvmti)->SetBreakpoint(heap.jvmti, method->id, 0);
	}
}

void heap_reads_test(bool runs, uint32_t entry)
{
	if (runs)
		read_methods_arm();
	atomic_store(&reads.entry, runs ? entry + 1 : 0);
}
