#include "vm/vm_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "vm/vm_choices.h"
#include "vm/vm_heap.h"
#include "vm/vm_outside.h"
#include "vm/vm_points.h"
#include "vm/vm_schedules.h"

#define EXPORTED __attribute__((visibility("default")))
/* Of the process where the controller is gone, or says nonsense. */
#define LOST_STATUS 125

/* Points first: its test_ends() waits for what other parts do at one. */
static const struct vm_part *const parts[] = {
	&vm_points_part,  &vm_choices,	      &vm_heap_part,
	&vm_outside_part, &vm_schedules_part, NULL,
};

static struct {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	int fd;
	pthread_mutex_t sending;
} channel = { .fd = -1, .sending = PTHREAD_MUTEX_INITIALIZER };

/* ---- the channel ---- */

static void channel_lost(void)
{
	_exit(LOST_STATUS);
}

void vm_send(uint16_t kind, const void *data, size_t n)
{
	struct wire_vm_head head = {
		.size = (uint32_t)n,
		.kind = kind,
		.version = WIRE_VM_VERSION,
	};
	struct iovec pieces[] = {
		{ .iov_base = &head, .iov_len = sizeof(head) },
		{ .iov_base = (void *)data, .iov_len = n },
	};
	if (n > WIRE_VM_LARGEST)
		channel_lost();
	pthread_mutex_lock(&channel.sending);
	for (size_t i = 0; i < 2;) {
		ssize_t done = writev(channel.fd, pieces + i, (int)(2 - i));
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			channel_lost();
		for (; i < 2 && (size_t)done >= pieces[i].iov_len; i++)
			done -= (ssize_t)pieces[i].iov_len;
		if (i < 2) {
			pieces[i].iov_base = (char *)pieces[i].iov_base + done;
			pieces[i].iov_len -= (size_t)done;
		}
	}
	pthread_mutex_unlock(&channel.sending);
}

static void channel_read(void *data, size_t n)
{
	char *at = data;
	while (n) {
		ssize_t got = read(channel.fd, at, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			channel_lost();
		at += got;
		n -= (size_t)got;
	}
}

static void channel_hand_to_part(JNIEnv *env, const struct wire_vm_head *head,
				 const uint8_t *data)
{
	for (const struct vm_part *const *part = parts; *part; part++) {
		if ((*part)->message && head->kind >= (*part)->first &&
		    head->kind < (*part)->end)
			(*part)->message(env, head->kind, data, head->size);
	}
}

/* The next message that is not for a part; its content is the caller's. */
static uint8_t *channel_receive(JNIEnv *env, struct wire_vm_head *ret)
{
	for (;;) {
		channel_read(ret, sizeof(*ret));
		if (ret->version != WIRE_VM_VERSION ||
		    ret->size > WIRE_VM_LARGEST)
			channel_lost();
		uint8_t *data = malloc(ret->size + 1);
		if (!data)
			channel_lost();
		channel_read(data, ret->size);
		if (ret->kind < WIRE_VM_HEAP)
			return data;
		channel_hand_to_part(env, ret, data);
		free(data);
	}
}

void vm_wait(JNIEnv *env)
{
	struct wire_vm_head head;
	free(channel_receive(env, &head));
	if (head.kind != WIRE_VM_GO)
		channel_lost();
}

/* ---- native methods of polygraph.Agent ---- */

/* void send(int kind, byte[] data, int n) */
static void JNICALL agent_send(JNIEnv *env, jclass self, jint kind,
			       jbyteArray data, jint n)
{
	(void)self;
	jbyte *bytes = (*env)->GetByteArrayElements(env, data, NULL);
	if (!bytes)
		return;
	vm_send((uint16_t)kind, bytes, (size_t)n);
	(*env)->ReleaseByteArrayElements(env, data, bytes, JNI_ABORT);
}

/* byte[] receive(): two bytes of its kind, then the content. */
static jbyteArray JNICALL agent_receive(JNIEnv *env, jclass self)
{
	(void)self;
	struct wire_vm_head head;
	uint8_t *data = channel_receive(env, &head);
	jbyte kind[2] = { (jbyte)(head.kind & 0xff), (jbyte)(head.kind >> 8) };
	jbyteArray array = (*env)->NewByteArray(env, (jsize)head.size + 2);
	if (array) {
		(*env)->SetByteArrayRegion(env, array, 0, 2, kind);
		(*env)->SetByteArrayRegion(env, array, 2, (jsize)head.size,
					   (const jbyte *)data);
	}
	free(data);
	return array;
}

/* void starts(int entry, boolean follows) */
static void JNICALL agent_test_starts(JNIEnv *env, jclass self, jint entry,
				      jboolean follows)
{
	(void)self;
	uint32_t number = (uint32_t)entry;
	for (const struct vm_part *const *part = parts; *part; part++) {
		if ((*part)->test_starts)
			(*part)->test_starts(env, number, follows);
	}
	vm_send(WIRE_VM_STARTED, &number, sizeof(number));
}

void vm_test_point(JNIEnv *env, enum wire_vm_point point)
{
	for (const struct vm_part *const *part = parts; *part; part++) {
		if ((*part)->test_point)
			(*part)->test_point(env, point);
	}
}

/* boolean wantsPoints() */
static jboolean JNICALL agent_wants_points(JNIEnv *env, jclass self)
{
	(void)env, (void)self;
	return vm_points_are_wanted();
}

static bool agent_method_is(jmethodID method, const char *name,
			    const char *descriptor)
{
	char *its_name = NULL, *its_descriptor = NULL;
	if ((*channel.jvmti)
		    ->GetMethodName(channel.jvmti, method, &its_name,
				    &its_descriptor, NULL) != JVMTI_ERROR_NONE)
		return false;
	bool is =
		!strcmp(its_name, name) && !strcmp(its_descriptor, descriptor);
	(*channel.jvmti)->Deallocate(channel.jvmti, (unsigned char *)its_name);
	(*channel.jvmti)
		->Deallocate(channel.jvmti, (unsigned char *)its_descriptor);
	return is;
}

/* One of the class's own; NULL: it has none like that. Initialises nothing. */
static jmethodID agent_method(JNIEnv *env, jclass of, jstring name,
			      jstring descriptor)
{
	const char *texts[2] = { (*env)->GetStringUTFChars(env, name, NULL) };
	if (texts[0])
		texts[1] = (*env)->GetStringUTFChars(env, descriptor, NULL);
	jint n = 0;
	jmethodID *methods = NULL, found = NULL;
	if (texts[1] &&
	    (*channel.jvmti)
			    ->GetClassMethods(channel.jvmti, of, &n,
					      &methods) != JVMTI_ERROR_NONE)
		n = 0;
	for (jint i = 0; i < n && !found; i++) {
		if (agent_method_is(methods[i], texts[0], texts[1]))
			found = methods[i];
	}
	(*channel.jvmti)->Deallocate(channel.jvmti, (unsigned char *)methods);
	if (texts[0])
		(*env)->ReleaseStringUTFChars(env, name, texts[0]);
	if (texts[1])
		(*env)->ReleaseStringUTFChars(env, descriptor, texts[1]);
	(*env)->ExceptionClear(env);
	return found;
}

/* void runs(Class, String name, String descriptor) */
static void JNICALL agent_test_runs(JNIEnv *env, jclass self, jclass of,
				    jstring name, jstring descriptor)
{
	(void)self;
	if (!vm_points_are_wanted())
		return;
	jmethodID method = agent_method(env, of, name, descriptor);
	if (method)
		vm_points_expect(method);
}

/* void ends(int entry, byte[] data, int n): returns when all was looked at. */
static void JNICALL agent_test_ends(JNIEnv *env, jclass self, jint entry,
				    jbyteArray data, jint n)
{
	for (const struct vm_part *const *part = parts; *part; part++) {
		if ((*part)->test_ends)
			(*part)->test_ends(env, (uint32_t)entry);
	}
	agent_send(env, self, WIRE_VM_ENDED, data, n);
	vm_wait(env);
}

/* The method's first line; 0: not known. */
static jint agent_first_line(jmethodID method)
{
	jint n = 0, first = 0;
	jvmtiLineNumberEntry *lines = NULL;
	if ((*channel.jvmti)
		    ->GetLineNumberTable(channel.jvmti, method, &n, &lines) !=
	    JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < n; i++) {
		if (!first || lines[i].line_number < first)
			first = lines[i].line_number;
	}
	(*channel.jvmti)->Deallocate(channel.jvmti, (unsigned char *)lines);
	return first;
}

/* int line(Class, String name, String descriptor) */
static jint JNICALL agent_line(JNIEnv *env, jclass self, jclass of,
			       jstring name, jstring descriptor)
{
	(void)self;
	jmethodID method = agent_method(env, of, name, descriptor);
	return method ? agent_first_line(method) : 0;
}

/* String source(Class): the file's name as the compiler wrote it, or null. */
static jstring JNICALL agent_source(JNIEnv *env, jclass self, jclass of)
{
	(void)self;
	char *name = NULL;
	if ((*channel.jvmti)->GetSourceFileName(channel.jvmti, of, &name) !=
	    JVMTI_ERROR_NONE)
		return NULL;
	jstring text = (*env)->NewStringUTF(env, name);
	(*channel.jvmti)->Deallocate(channel.jvmti, (unsigned char *)name);
	return text;
}

static const JNINativeMethod natives[] = {
	{ "send", "(I[BI)V", (void *)agent_send },
	{ "receive", "()[B", (void *)agent_receive },
	{ "starts", "(IZ)V", (void *)agent_test_starts },
	{ "wantsPoints", "()Z", (void *)agent_wants_points },
	{ "runs", "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;)V",
	  (void *)agent_test_runs },
	{ "ends", "(I[BI)V", (void *)agent_test_ends },
	{ "line", "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;)I",
	  (void *)agent_line },
	{ "source", "(Ljava/lang/Class;)Ljava/lang/String;",
	  (void *)agent_source },
};

/* ---- the VM ---- */

static void JNICALL agent_on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	(void)jvmti, (void)thread;
	jclass agent = (*env)->FindClass(env, "polygraph/Agent");
	if (!agent ||
	    (*env)->RegisterNatives(env, agent, natives,
				    sizeof(natives) / sizeof(*natives))) {
		(*env)->ExceptionDescribe(env);
		channel_lost();
	}
	for (const struct vm_part *const *part = parts; *part; part++) {
		if ((*part)->ready)
			(*part)->ready(env);
	}
}

jvmtiEnv *vm_environment(JavaVM *vm, const jvmtiCapabilities *wanted)
{
	jvmtiEnv *jvmti = NULL;
	jvmtiCapabilities possible;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return NULL;
	(*jvmti)->GetPotentialCapabilities(jvmti, &possible);
	unsigned char *bits = (unsigned char *)&possible;
	for (size_t i = 0; i < sizeof(possible); i++)
		bits[i] &= ((const unsigned char *)wanted)[i];
	if ((*jvmti)->AddCapabilities(jvmti, &possible) == JVMTI_ERROR_NONE)
		return jvmti;
	(*jvmti)->DisposeEnvironment(jvmti);
	return NULL;
}

long vm_option(const char *options, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, n) && at[n] == '=')
			return strtol(at + n + 1, NULL, 10);
	}
	return -1;
}

EXPORTED jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	const jvmtiCapabilities wanted = {
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
	};
	const jvmtiEventCallbacks calls = { .VMInit = agent_on_init };
	channel.vm = vm;
	channel.fd = (int)vm_option(options, "fd");
	channel.jvmti = vm_environment(vm, &wanted);
	if (channel.fd < 0 || !channel.jvmti ||
	    fcntl(channel.fd, F_SETFD, FD_CLOEXEC) < 0)
		return JNI_ERR;
	jvmtiEnv *jvmti = channel.jvmti;
	if ((*jvmti)->SetEventCallbacks(jvmti, &calls, sizeof(calls)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
					       JVMTI_EVENT_VM_INIT, NULL))
		return JNI_ERR;
	for (const struct vm_part *const *part = parts; *part; part++) {
		if ((*part)->load && !(*part)->load(vm, options))
			return JNI_ERR;
	}
	return JNI_OK;
}
