#include "vm/vm_callers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "vm/vm_models.h"
#include "wire/models.h"

#define FRAMES 64
#define KNOWN 16384

/* Kinds of methods. They fit into the low bits of a jmethodID, an address. */
enum vm_caller {
	CALLER_UNKNOWN,
	CALLER_HELPER, /* ours */
	CALLER_THROUGH,
	CALLER_PROGRAM,
	CALLER_OTHER,
	/* CALLER_THROUGH, and what it calls counts as another model. */
	CALLER_HASHSET,
	CALLER_DELAY_QUEUE,
	CALLER_LIST_FILES,
};

static jvmtiEnv *jvmti;
static uintptr_t known[KNOWN];

void vm_callers_begin(jvmtiEnv *environment)
{
	jvmti = environment;
}

/* By how their names begin; the first that fits. */
static const struct {
	const char *start;
	enum vm_caller who;
} packages[] = {
	{ "Lpolygraph/boot/", CALLER_HELPER },
	{ "Lpolygraph/", CALLER_OTHER },
	/* Java's library. */
	{ "Ljava/util/HashSet;", CALLER_HASHSET },
	{ "Ljava/util/concurrent/DelayQueue", CALLER_DELAY_QUEUE },
	{ "Ljava/util/logging/", CALLER_OTHER },
	{ "Ljava/util/jar/", CALLER_OTHER },
	{ "Ljava/util/zip/", CALLER_OTHER },
	{ "Ljava/util/prefs/", CALLER_OTHER },
	{ "Ljava/util/ResourceBundle", CALLER_OTHER },
	{ "Ljava/util/ServiceLoader", CALLER_OTHER },
	{ "Ljava/util/", CALLER_THROUGH },
	{ "Ljava/io/ObjectStreamClass", CALLER_OTHER },
	{ "Ljava/io/", CALLER_THROUGH },
	{ "Ljava/nio/file/", CALLER_THROUGH },
	{ "Ljava/text/", CALLER_THROUGH },
	{ "Lsun/nio/fs/", CALLER_THROUGH },
	{ "Lsun/nio/ch/ChannelInputStream;", CALLER_THROUGH },
	{ "Ljava/net/Socket$", CALLER_THROUGH },
	{ "Ljava/lang/Iterable;", CALLER_THROUGH },
	{ "Ljava/lang/String", CALLER_THROUGH },
	{ "Ljava/lang/AbstractStringBuilder;", CALLER_THROUGH },
	{ "Ljava/lang/ProcessEnvironment", CALLER_THROUGH },
	{ "Ljava/lang/Class;", CALLER_THROUGH },
	{ "Ljava/lang/reflect/AccessibleObject;", CALLER_THROUGH },
	{ "Ljava/lang/reflect/Executable;", CALLER_THROUGH },
	{ "Ljava/lang/reflect/Method;", CALLER_THROUGH },
	{ "Ljava/lang/reflect/Constructor;", CALLER_THROUGH },
	{ "Ljava/lang/reflect/Field;", CALLER_THROUGH },
	{ "Ljava/", CALLER_OTHER },
	{ "Ljavax/", CALLER_OTHER },
	{ "Ljdk/", CALLER_OTHER },
	{ "Lsun/", CALLER_OTHER },
	{ "Lcom/sun/", CALLER_OTHER },
	/* Assertions. */
	{ "Lorg/junit/Assert", CALLER_THROUGH },
	{ "Lorg/junit/internal/ComparisonCriteria", CALLER_THROUGH },
	{ "Lorg/junit/internal/ExactComparison", CALLER_THROUGH },
	{ "Lorg/junit/jupiter/api/Assert", CALLER_THROUGH },
	{ "Lorg/junit/platform/commons/util/StringUtils;", CALLER_THROUGH },
	{ "Ljunit/framework/Assert", CALLER_THROUGH },
	{ "Lorg/hamcrest/", CALLER_THROUGH },
	{ "Lorg/testng/Assert", CALLER_THROUGH },
	{ "Lorg/testng/asserts/", CALLER_THROUGH },
	{ "Lorg/assertj/", CALLER_THROUGH },
	{ "Lorg/fest/", CALLER_THROUGH },
	{ "Lcom/google/common/truth/", CALLER_THROUGH },
	{ "Lorg/opentest4j/", CALLER_THROUGH },
	/* Frameworks, and what runs them. */
	{ "Lorg/junit/", CALLER_OTHER },
	{ "Ljunit/", CALLER_OTHER },
	{ "Lorg/testng/", CALLER_OTHER },
	{ "Lorg/mockito/", CALLER_OTHER },
	{ "Lorg/easymock/", CALLER_OTHER },
	{ "Lorg/powermock/", CALLER_OTHER },
	{ "Lnet/bytebuddy/", CALLER_OTHER },
	{ "Lorg/objenesis/", CALLER_OTHER },
	{ "Lnet/sf/cglib/", CALLER_OTHER },
	{ "Lorg/apache/maven/", CALLER_OTHER },
	{ "Lorg/gradle/", CALLER_OTHER },
	{ "Lorg/jacoco/", CALLER_OTHER },
};

static enum vm_caller judge_name(const char *class_name, const char *method)
{
	/* The VM's own class for a lambda expression calls what is in it. */
	if (!strncmp(method, VM_PREFIX, strlen(VM_PREFIX)) ||
	    strstr(class_name, "$$Lambda$"))
		return CALLER_HELPER;
	if (!strcmp(class_name, "Ljava/io/File;") &&
	    !strcmp(method, "listFiles"))
		return CALLER_LIST_FILES;
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		if (!strncmp(class_name, packages[i].start,
			     strlen(packages[i].start)))
			return packages[i].who;
	}
	return CALLER_PROGRAM;
}

/* Both are the caller's, of the VM's memory. */
static bool callers_name_method(jmethodID id, char **ret_class,
				char **ret_method)
{
	jclass class;
	*ret_class = *ret_method = NULL;
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) ||
	    (*jvmti)->GetClassSignature(jvmti, class, ret_class, NULL))
		return false;
	return !(*jvmti)->GetMethodName(jvmti, id, ret_method, NULL, NULL);
}

static void give_back(char *text)
{
	if (text)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

static enum vm_caller judge_method(jmethodID id)
{
	uintptr_t address = (uintptr_t)id;
	uintptr_t *place = &known[(address >> 3 ^ address >> 17) % KNOWN];
	uintptr_t there = __atomic_load_n(place, __ATOMIC_RELAXED);
	char *class_name, *method;
	if ((there & ~(uintptr_t)7) == address)
		return (enum vm_caller)(there & 7);
	enum vm_caller who = CALLER_OTHER;
	if (callers_name_method(id, &class_name, &method))
		who = judge_name(class_name, method);
	give_back(class_name);
	give_back(method);
	if (!(address & 7))
		__atomic_store_n(place, address | who, __ATOMIC_RELAXED);
	return who;
}

static bool is_through(enum vm_caller who)
{
	return who == CALLER_THROUGH || who > CALLER_OTHER;
}

static int count_as(int model, enum vm_caller who)
{
	if (who == CALLER_HASHSET && model == WIRE_MODEL_java_hashmap_keys)
		return WIRE_MODEL_java_hashset;
	if (who == CALLER_DELAY_QUEUE &&
	    (model == WIRE_MODEL_java_priority_array ||
	     model == WIRE_MODEL_java_priority_queue))
		return WIRE_MODEL_java_delay_queue;
	if (who == CALLER_LIST_FILES && model == WIRE_MODEL_java_file_list)
		return WIRE_MODEL_java_file_list_files;
	return model;
}

int vm_callers_model(int model)
{
	jvmtiFrameInfo frames[FRAMES];
	jint n = 0;
	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES, frames, &n))
		return -1;
	for (jint i = 0; i < n; i++) {
		enum vm_caller who = judge_method(frames[i].method);
		if (who == CALLER_PROGRAM)
			return model;
		if (who != CALLER_HELPER && !is_through(who))
			return -1;
		model = count_as(model, who);
	}
	return -1;
}

/* ---- frames, for the report ---- */

static unsigned line_at(jmethodID id, jlocation where)
{
	jint n = 0;
	unsigned line = 0;
	jvmtiLineNumberEntry *lines = NULL;
	if ((*jvmti)->GetLineNumberTable(jvmti, id, &n, &lines))
		return 0;
	jlocation best = -1;
	for (jint i = 0; i < n; i++) {
		if (lines[i].start_location <= where &&
		    lines[i].start_location > best) {
			best = lines[i].start_location;
			line = (unsigned)lines[i].line_number;
		}
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
	return line;
}

/*
 * "Lorg/example/Foo$Bar;" as "org.example.Foo$Bar"; @package gets "org/example/",
 * if there is room: files are named below the folder of sources.
 */
static void show_class(char *signature, char *package, size_t size)
{
	size_t n = strlen(signature);
	package[0] = '\0';
	if (n < 2)
		return;
	memmove(signature, signature + 1, n - 2);
	signature[n - 2] = '\0';
	const char *slash = strrchr(signature, '/');
	if (slash && (size_t)(slash - signature) + 1 < size) {
		memcpy(package, signature, (size_t)(slash - signature) + 1);
		package[slash - signature + 1] = '\0';
	}
	for (char *c = signature; *c; c++) {
		if (*c == '/')
			*c = '.';
	}
}

/* Bytes; 0: there is no room. */
static size_t put_frame(const jvmtiFrameInfo *frame, char *out, size_t size)
{
	char *class_name, *method, *file = NULL;
	char package[512];
	jclass class;
	int n = 0;
	if (!callers_name_method(frame->method, &class_name, &method)) {
		give_back(class_name);
		return 0;
	}
	show_class(class_name, package, sizeof(package));
	if (!(*jvmti)->GetMethodDeclaringClass(jvmti, frame->method, &class) &&
	    (*jvmti)->GetSourceFileName(jvmti, class, &file))
		file = NULL;
	n = snprintf(out, size, "%s.%s%c%s%s%c%u", class_name, method, '\0',
		     file ? package : "", file ? file : "", '\0',
		     line_at(frame->method, frame->location));
	give_back(class_name);
	give_back(method);
	give_back(file);
	return n > 0 && (size_t)n < size ? (size_t)n + 1 : 0;
}

void vm_callers_frames(unsigned char *out, size_t size, uint64_t *ret_n)
{
	jvmtiFrameInfo frames[FRAMES];
	jint n = 0;
	size_t at = 0, one = 1;
	bool met = false;
	*ret_n = 0;
	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES, frames, &n))
		return;
	for (jint i = 0; i < n && one; i++) {
		enum vm_caller who = judge_method(frames[i].method);
		met |= who == CALLER_PROGRAM;
		/* Behind the program there is what runs its tests. */
		if (met && who == CALLER_OTHER)
			break;
		if (!met || who == CALLER_HELPER)
			continue;
		one = put_frame(&frames[i], (char *)out + at, size - at);
		at += one;
	}
	*ret_n = at;
}

/* Ways to wait that everything else in the library is made of. */
static bool is_plain_waiting(const char *class_name)
{
	static const char *const names[] = {
		"Ljdk/internal/misc/Unsafe;",
		"Ljava/util/concurrent/locks/",
		"Ljava/lang/Object;",
		"Ljava/lang/Thread;",
		/* managedBlock(), and tasks that are no thread's own. */
		"Ljava/util/concurrent/ForkJoinPool;",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(class_name, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

void vm_callers_library_frame(unsigned char *out, size_t size, uint64_t *ret_n)
{
	jvmtiFrameInfo frames[FRAMES];
	jint n = 0;
	*ret_n = 0;
	if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, FRAMES, frames, &n))
		return;
	for (jint i = 0; i < n && !*ret_n; i++) {
		char *class_name, *method;
		bool named = callers_name_method(frames[i].method, &class_name,
						 &method);
		if (named && !is_plain_waiting(class_name))
			*ret_n = put_frame(&frames[i], (char *)out, size);
		give_back(class_name);
		give_back(method);
	}
}
