/*
 * What a VM has of its own that lies in no static field to compare. polygraph.State
 * compares it, except for security providers: to ask the library for these would
 * load them all.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_message.h"
#include "wire/vm_heap.h"

/* As the controller's enum change_where and change_weight. */
enum { WHERE_PROCESS = 2 };
enum { MEDIUM = 3, HIGH };

static struct {
	jclass class; /* polygraph.State */
	jmethodID changes;
	bool lost;	  /* it cannot be asked */
	bool eager;	  /* what is not in use yet is initialised */
	size_t seen;	  /* classes, of heap.classes */
	jclass providers; /* sun.security.jca.Providers; NULL: not used yet */
	jclass logging;
	jobject list;		   /* of providers, as it was */
	char *names;		   /* in it */
	bool said;		   /* that something is not known */
	unsigned long long looked; /* when; as the start of tasks is counted */
} state;

void heap_state_eager(void)
{
	state.eager = true;
}

/* ---- tasks of the kernel: a thread that was woken may not show it yet ---- */

static unsigned long long state_now(void)
{
	struct timespec now = {};
	clock_gettime(CLOCK_BOOTTIME, &now);
	unsigned long long rate = (unsigned long long)sysconf(_SC_CLK_TCK);
	return (unsigned long long)now.tv_sec * rate +
	       (unsigned long long)now.tv_nsec * rate / 1000000000U;
}

/* Did it begin since State was last asked? Also says how it is. */
static bool task_is_new(int tasks, const char *name, char *ret_run)
{
	/* After the name and the state 18 numbers, then the start. */
	static const char format[] =
		" %c%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%llu";
	char path[300], buffer[1024];
	unsigned long long start = 0;
	snprintf(path, sizeof(path), "%s/stat", name);
	int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, buffer, sizeof(buffer) - 1);
	close(fd);
	buffer[got > 0 ? got : 0] = '\0';
	const char *end = strrchr(buffer, ')');
	if (got <= 0)
		return false;
	*ret_run = 'R';
	return !end || sscanf(end + 1, format, ret_run, &start) != 2 ||
	       start >= state.looked;
}

/* Processor time of a thread of this process: see clock_getcpuclockid(3). */
static jlong task_worked(const char *name)
{
	struct timespec used = {};
	unsigned id = (unsigned)strtoul(name, NULL, 10);
	if (clock_gettime((clockid_t)(~id << 3 | 6), &used))
		return 0;
	return (jlong)used.tv_sec * 1000000000 + (jlong)used.tv_nsec;
}

/* long newTasksWorked() */
static jlong JNICALL state_new_tasks_worked(JNIEnv *env, jclass self)
{
	(void)env, (void)self;
	DIR *tasks = opendir("/proc/self/task");
	char own[32], run;
	bool sleep = tasks;
	jlong worked = 0;
	snprintf(own, sizeof(own), "%d", (int)gettid());
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		if (*task->d_name == '.' || !strcmp(task->d_name, own) ||
		    !task_is_new(dirfd(tasks), task->d_name, &run))
			continue;
		sleep &= run == 'S';
		worked += task_worked(task->d_name);
	}
	if (tasks)
		closedir(tasks);
	return sleep ? -1 : worked;
}

/* ---- polygraph.State ---- */

/* What fails is the user's doing: a security manager, say. */
static void state_is_told(JNIEnv *env, bool found)
{
	bool fails = !found || (*env)->ExceptionCheck(env);
	(*env)->ExceptionClear(env);
	if (fails && !state.said)
		heap_says("pollution: what a test does to threads, loggers and "
			  "the environment is not known: the VM does not tell");
	state.said |= fails;
}

static bool state_find(JNIEnv *env)
{
	static const JNINativeMethod tasks = {
		"newTasksWorked",
		"()J",
		(void *)state_new_tasks_worked,
	};
	if (state.changes || state.lost)
		return state.changes;
	jclass class = (*env)->FindClass(env, "polygraph/State");
	if (class && !(*env)->RegisterNatives(env, class, &tasks, 1)) {
		state.class = (*env)->NewGlobalRef(env, class);
		state.changes = (*env)->GetStaticMethodID(
			env, class, "changes", "(Z)[Ljava/lang/String;");
	}
	state.lost = !state.changes;
	state_is_told(env, state.changes);
	return state.changes;
}

static void state_look_at_classes(void)
{
	for (; state.seen < heap.classes.n; state.seen++) {
		const struct heap_class *class = heap.classes.data[state.seen];
		if (class &&
		    !strcmp(class->name, "java.util.logging.LogManager"))
			state.logging = class->mirror;
		else if (class &&
			 !strcmp(class->name, "sun.security.jca.Providers"))
			state.providers = class->mirror;
	}
}

static bool state_is_used(jclass class)
{
	jint status = 0;
	return class &&
	       !(*heap.jvmti)->GetClassStatus(heap.jvmti, class, &status) &&
	       status & JVMTI_CLASS_STATUS_INITIALIZED;
}

/* ---- changes ---- */

static void state_message_add(struct heap_message *message, const char *root,
			      const char *before, const char *after)
{
	bool high = !strncmp(root, "test-thread", 11);
	heap_message_u32(message, WHERE_PROCESS);
	heap_message_u32(message, 0);
	heap_message_u32(message, high ? HIGH : MEDIUM);
	heap_message_u32(message, 0);
	heap_message_u32(message, 0);
	heap_message_u64(message, heap_hash(1, before, strlen(before)));
	heap_message_u64(message, heap_hash(1, after, strlen(after)));
	heap_message_text(message, root);
	heap_message_text(message, "");
	heap_message_u32(message, 1);
	heap_message_u32(message, 0);
	heap_message_u32(message, 0);
	heap_message_text(message, root);
	heap_message_text(message, before);
	heap_message_text(message, after);
	heap_message_text(message, "");
	heap_message_text(message, "");
}

static void state_add_texts(JNIEnv *env, jobjectArray triples, jsize n,
			    struct heap_message *message)
{
	for (jsize i = 0; i + 2 < n; i += 3) {
		jstring texts[3];
		const char *chars[3];
		for (jsize k = 0; k < 3; k++) {
			texts[k] = (*env)->GetObjectArrayElement(env, triples,
								 i + k);
			chars[k] =
				(*env)->GetStringUTFChars(env, texts[k], NULL);
		}
		state_message_add(message, chars[0], chars[1], chars[2]);
		for (jsize k = 0; k < 3; k++) {
			(*env)->ReleaseStringUTFChars(env, texts[k], chars[k]);
			(*env)->DeleteLocalRef(env, texts[k]);
		}
	}
}

/* ---- security providers ---- */

static jobject state_field(JNIEnv *env, jobject of, const char *name,
			   const char *type)
{
	jclass class = of ? (*env)->GetObjectClass(env, of) : NULL;
	jfieldID id = class ? (*env)->GetFieldID(env, class, name, type) : NULL;
	(*env)->ExceptionClear(env);
	return id ? (*env)->GetObjectField(env, of, id) : NULL;
}

/* "SUN, SunRsaSign, …": in their order. */
static char *state_provider_names(JNIEnv *env, jobject list)
{
	struct heap_string text = {};
	jobjectArray configs = state_field(
		env, list, "configs", "[Lsun/security/jca/ProviderConfig;");
	jsize n = configs ? (*env)->GetArrayLength(env, configs) : 0;
	heap_append(&text, "", 0);
	for (jsize i = 0; i < n; i++) {
		jobject config = (*env)->GetObjectArrayElement(env, configs, i);
		jstring name = state_field(env, config, "provName",
					   "Ljava/lang/String;");
		const char *chars =
			name ? (*env)->GetStringUTFChars(env, name, NULL)
			     : NULL;
		heap_appendf(&text, "%s%s", i ? ", " : "", chars ? chars : "?");
		if (chars)
			(*env)->ReleaseStringUTFChars(env, name, chars);
		(*env)->DeleteLocalRef(env, name);
		(*env)->DeleteLocalRef(env, config);
	}
	return text.data;
}

/* The names that they had at the last point, if that is another list; or NULL. */
static char *state_update_providers(JNIEnv *env)
{
	if (state.eager && !state.providers)
		state.providers = (*env)->NewGlobalRef(
			env,
			(*env)->FindClass(env, "sun/security/jca/Providers"));
	(*env)->ExceptionClear(env);
	if (!state.providers ||
	    (!state.eager && !state_is_used(state.providers)))
		return NULL;
	jfieldID id =
		(*env)->GetStaticFieldID(env, state.providers, "providerList",
					 "Lsun/security/jca/ProviderList;");
	(*env)->ExceptionClear(env);
	jobject list =
		id ? (*env)->GetStaticObjectField(env, state.providers, id)
		   : NULL;
	if (!list ||
	    (state.list && (*env)->IsSameObject(env, list, state.list)))
		return NULL;
	char *before = state.names;
	if (state.list)
		(*env)->DeleteGlobalRef(env, state.list);
	state.list = (*env)->NewGlobalRef(env, list);
	state.names = state_provider_names(env, list);
	return before;
}

void heap_state_update(JNIEnv *env, bool tells, uint32_t entry)
{
	struct heap_message body = {};
	if (!state_find(env))
		return;
	state_look_at_classes();
	jobjectArray triples = (*env)->CallStaticObjectMethod(
		env, state.class, state.changes,
		state.eager || state_is_used(state.logging));
	state_is_told(env, true);
	state.looked = state_now();
	jsize n = triples ? (*env)->GetArrayLength(env, triples) : 0;
	char *providers = state_update_providers(env);
	bool moved = providers && strcmp(providers, state.names) != 0;
	if (tells && (n || moved)) {
		heap_message_u32(&body, entry);
		heap_message_u32(&body, (uint32_t)n / 3 + moved);
		state_add_texts(env, triples, n, &body);
		if (moved)
			state_message_add(&body, "security-providers",
					  providers, state.names);
		heap_message_send(&body, WIRE_HEAP_CHANGES);
	}
	free(providers);
}
