/*
 * Roots: static fields of initialised classes of the program, and what a VM has
 * of its own that tests share, which lies in static fields of the JDK.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_agent.h"
#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_message.h"
#include "vm/vm_heap_raw.h"

#define ACC_STATIC 0x0008
/* As the controller's enum change_weight. */
enum { LOW = 2, MEDIUM, HIGH };

/* How names begin of classes that come with the tests, but are not tested. */
static const struct {
	const char *prefix, *why;
} frameworks[] = {
	{ "polygraph.", "of polygraph" },
	{ "org.junit.", "of JUnit" },
	{ "junit.", "of JUnit" },
	{ "org.opentest4j.", "of JUnit" },
	{ "org.apiguardian.", "of JUnit" },
	{ "org.hamcrest.", "of Hamcrest" },
	{ "org.testng.", "of TestNG" },
	{ "org.assertj.", "of AssertJ" },
	{ "org.mockito.", "of Mockito" },
	{ "net.bytebuddy.", "of Mockito" },
	{ "org.objenesis.", "of Mockito" },
	{ "org.easymock.", "of EasyMock" },
	{ "org.powermock.", "of PowerMock" },
	{ "org.jacoco.", "of JaCoCo" },
};

/* What a VM has of its own: names are those of docs/java.md. */
/* clang-format off */
static const struct vm_attribute {
	const char *class, *field, *type, *label;
	uint32_t weight;
	bool by_key, lazy;
} attributes[] = {
	{ "java/lang/System", "props", "Ljava/util/Properties;", "system-property", MEDIUM, true, false },
	{ "java/util/Locale", "defaultLocale", "Ljava/util/Locale;", "default-locale", HIGH, false, false },
	{ "java/util/Locale", "defaultDisplayLocale", "Ljava/util/Locale;", "default-display-locale", HIGH, false, true },
	{ "java/util/Locale", "defaultFormatLocale", "Ljava/util/Locale;", "default-format-locale", HIGH, false, true },
	{ "java/util/TimeZone", "defaultTimeZone", "Ljava/util/TimeZone;", "default-time-zone", HIGH, false, true },
	{ "java/lang/System", "security", "Ljava/lang/SecurityManager;", "security-manager", HIGH, false, false },
	{ "java/lang/System", "out", "Ljava/io/PrintStream;", "System.out", HIGH, false, false },
	{ "java/lang/System", "err", "Ljava/io/PrintStream;", "System.err", HIGH, false, false },
	{ "java/lang/System", "in", "Ljava/io/InputStream;", "System.in", HIGH, false, false },
	{ "java/lang/Thread", "defaultUncaughtExceptionHandler", "Ljava/lang/Thread$UncaughtExceptionHandler;", "default-uncaught-exception-handler", MEDIUM, false, false },
	{ "java/lang/ApplicationShutdownHooks", "hooks", "Ljava/util/IdentityHashMap;", "shutdown-hooks", LOW, false, false },
	{ "java/net/URL", "factory", "Ljava/net/URLStreamHandlerFactory;", "url-stream-handler-factory", MEDIUM, false, false },
	{ "java/net/ProxySelector", "theProxySelector", "Ljava/net/ProxySelector;", "proxy-selector", MEDIUM, false, false },
	{ "java/net/Authenticator", "theAuthenticator", "Ljava/net/Authenticator;", "authenticator", MEDIUM, false, false },
	{ "java/net/CookieHandler", "cookieHandler", "Ljava/net/CookieHandler;", "cookie-handler", MEDIUM, false, false },
};
/* clang-format on */

/* Classes that were prepared since, on any thread. */
static struct {
	pthread_mutex_t lock;
	jclass *data;
	size_t n, cap;
} prepared = { .lock = PTHREAD_MUTEX_INITIALIZER };

void heap_class_loaded(JNIEnv *env, jclass mirror)
{
	jclass kept = (*env)->NewGlobalRef(env, mirror);
	pthread_mutex_lock(&prepared.lock);
	HEAP_PUSH(&prepared, kept);
	pthread_mutex_unlock(&prepared.lock);
}

/* ---- which classes ---- */

/* Made at run time, with names and numbers that differ: nothing of the program. */
static bool class_is_made_up(const char *name)
{
	const char *simple = strrchr(name, '.');
	simple = simple ? simple + 1 : name;
	return strstr(name, "$$Lambda") || strchr(name, '/') ||
	       (!strncmp(simple, "$Proxy", 6) &&
		strspn(simple + 6, "0123456789") == strlen(simple + 6)) ||
	       strstr(name, "$MockitoMock$") || strstr(name, "$ByteBuddy$");
}

const char *heap_class_framework(const char *name)
{
	for (size_t i = 0; i < sizeof(frameworks) / sizeof(*frameworks); i++) {
		if (!strncmp(name, frameworks[i].prefix,
			     strlen(frameworks[i].prefix)))
			return frameworks[i].why;
	}
	return NULL;
}

static void root_tell_left_out(const char *name, const char *why)
{
	struct heap_message message = {};
	heap_message_text(&message, name);
	heap_message_text(&message, why);
	heap_message_send(&message, WIRE_HEAP_LEFT_OUT);
}

/* ---- adding ---- */

static char *make_root_name(const struct heap_class *class, const char *field)
{
	struct heap_string name = {};
	heap_class_shown(class, &name);
	heap_appendf(&name, ".%s", field);
	return name.data;
}

static void root_add(JNIEnv *env, struct heap_class *class,
		     const struct heap_field *field,
		     const struct vm_attribute *attribute)
{
	const char *label = attribute ? attribute->label : NULL;
	struct heap_root root = {
		.class = class,
		.field = *field,
		.name = make_root_name(class, field->name),
		.label = label ? heap_text(label) : NULL,
		.by_key = attribute && attribute->by_key,
		.lazy = attribute && attribute->lazy,
		.weight = attribute ? attribute->weight : 0,
	};
	const char *why = label ? NULL : heap_class_framework(class->name);
	bool asked =
		heap.include.n && heap_patterns_match(&heap.include, root.name);
	if (!label &&
	    ((why && !asked && !(heap.flags & WIRE_HEAP_EVERYTHING)) ||
	     (heap.include.n && !asked) ||
	     heap_patterns_match(&heap.exclude, root.name))) {
		if (why)
			root_tell_left_out(root.name, why);
		free(root.name);
		return;
	}
	if (heap.raw)
		root.field.offset = heap_raw_offset(env, field, true);
	if (heap.raw && !root.field.offset) {
		free(root.name);
		return;
	}
	HEAP_PUSH(&heap.roots, root);
}

static void class_add_roots(JNIEnv *env, struct heap_class *class)
{
	jint n = 0;
	jfieldID *ids = NULL;
	if ((*heap.jvmti)->GetClassFields(heap.jvmti, class->mirror, &n, &ids))
		return;
	heap_class_prepare(env, class);
	for (jint i = 0; i < n; i++) {
		struct heap_field field;
		jint modifiers = 0;
		if (!heap_field_read(class, ids[i], &field, &modifiers))
			continue;
		/* A number or text that is final, and what compilers add. */
		bool constant =
			field.is_final &&
			(field.type != 'L' ||
			 !strcmp(field.signature, "Ljava/lang/String;"));
		if (modifiers & ACC_STATIC && !constant &&
		    !strchr(field.name, '$')) {
			root_add(env, class, &field, NULL);
			continue;
		}
		free(field.name);
		free(field.signature);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)ids);
}

static bool class_is_initialised(const struct heap_class *class)
{
	jint status = 0;
	return !(*heap.jvmti)
			->GetClassStatus(heap.jvmti, class->mirror, &status) &&
	       status & JVMTI_CLASS_STATUS_INITIALIZED;
}

static void class_note(JNIEnv *env, jclass mirror)
{
	struct heap_class *class = heap_class_of(env, mirror);
	if (!class || class->seen)
		return;
	class->seen = true;
	if (!class->jdk && !class->element && !class_is_made_up(class->name))
		HEAP_PUSH(&heap.waiting, class);
}

void heap_classes_scan(JNIEnv *env)
{
	jint n = 0;
	jclass *list = NULL;
	if ((*heap.jvmti)->GetLoadedClasses(heap.jvmti, &n, &list))
		return;
	for (jint i = 0; i < n; i++) {
		class_note(env, list[i]);
		(*env)->DeleteLocalRef(env, list[i]);
	}
	(*heap.jvmti)->Deallocate(heap.jvmti, (unsigned char *)list);
}

static void roots_take_prepared(JNIEnv *env)
{
	pthread_mutex_lock(&prepared.lock);
	jclass *list = prepared.data;
	size_t n = prepared.n;
	prepared.data = NULL;
	prepared.n = prepared.cap = 0;
	pthread_mutex_unlock(&prepared.lock);
	for (size_t i = 0; i < n; i++) {
		class_note(env, list[i]);
		(*env)->DeleteGlobalRef(env, list[i]);
	}
	free(list);
}

void heap_roots_update(JNIEnv *env)
{
	roots_take_prepared(env);
	if (!(heap.flags & WIRE_HEAP_MEMORY))
		heap.waiting.n = 0;
	size_t kept = 0;
	for (size_t i = 0; i < heap.waiting.n; i++) {
		struct heap_class *class = heap.waiting.data[i];
		if (class_is_initialised(class))
			class_add_roots(env, class);
		else
			heap.waiting.data[kept++] = class;
	}
	heap.waiting.n = kept;
}

void heap_roots_add_attributes(JNIEnv *env)
{
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		jclass mirror = (*env)->FindClass(env, attributes[i].class);
		jfieldID id = mirror ? (*env)->GetStaticFieldID(
					       env, mirror, attributes[i].field,
					       attributes[i].type)
				     : NULL;
		(*env)->ExceptionClear(env);
		struct heap_class *class =
			id ? heap_class_of(env, mirror) : NULL;
		struct heap_field field;
		jint modifiers;
		(*env)->DeleteLocalRef(env, mirror);
		if (class && heap_field_read(class, id, &field, &modifiers))
			root_add(env, class, &field, &attributes[i]);
	}
}
