/*
 * An agent that changes every class that is loaded once the VM is ready, in all ways
 * that vm/vm_class.h has, and counts. The VM's own verifier then judges
 * (tests/harness/test_jvm_classes.py).
 */
#include <jvmti.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_class.h"

#define EXPORTED __attribute__((visibility("default")))

static jint ready;
static jlong classes, changed, methods, calls, uses, unreadable;

static int every_field(void *data, const struct vm_field_use *use)
{
	(void)data, (void)use;
	__atomic_fetch_add(&uses, 1, __ATOMIC_RELAXED);
	return 0;
}

static const struct vm_redirected redirected[] = {
	{ NULL, "wait", "()V", "object", "Ljava/lang/Object;" },
	{ NULL, "hashCode", "()I", "number", "Ljava/lang/Object;" },
	{ "java/util/Iterator", "hasNext", "()Z", "truth",
	  "Ljava/util/Iterator;" },
	{ "java/util/List", "size", "()I", "size", "Ljava/util/List;" },
	{ "java/lang/System", "nanoTime", "()J", "time", NULL },
};

static const struct vm_edit edit = {
	.helper_class = "polygraph/boot/Verified",
	.prefix = "polygraph$",
	.all_results = "same",
	.all_before = "nothing",
	.redirected = redirected,
	.n_redirected = sizeof(redirected) / sizeof(redirected[0]),
	.field_number = every_field,
	.field_helper = "nothing",
};

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined,
			     jobject loader, const char *name, jobject domain,
			     jint n, const unsigned char *bytes, jint *ret_n,
			     unsigned char **ret)
{
	(void)env, (void)redefined, (void)loader, (void)domain;
	uint8_t *made = NULL;
	size_t made_n = 0, wrapped = 0, redirects = 0;
	unsigned char *copy = NULL;
	/* Of the test itself, and classes that the VM makes while it runs. */
	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || !name ||
	    !strncmp(name, "Verify", 6) || !strncmp(name, "polygraph/", 10) ||
	    strstr(name, "$$Lambda") || strstr(name, "LambdaForm"))
		return;
	__atomic_fetch_add(&classes, 1, __ATOMIC_RELAXED);
	enum vm_edited edited = vm_class_edit(bytes, (size_t)n, &edit, &made,
					      &made_n, &wrapped, &redirects);
	if (edited == VM_UNREADABLE)
		__atomic_fetch_add(&unreadable, 1, __ATOMIC_RELAXED);
	if (edited != VM_CHANGED)
		return;
	__atomic_fetch_add(&changed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&methods, (jlong)wrapped, __ATOMIC_RELAXED);
	__atomic_fetch_add(&calls, (jlong)redirects, __ATOMIC_RELAXED);
	if (!(*jvmti)->Allocate(jvmti, (jlong)made_n, &copy)) {
		memcpy(copy, made, made_n);
		*ret = copy;
		*ret_n = (jint)made_n;
	}
	free(made);
}

/* Verify.counts(): what was done so far; the first call begins. */
EXPORTED jlongArray JNICALL Java_Verify_counts(JNIEnv *env, jclass class)
{
	(void)class;
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	const jlong all[] = {
		classes, changed, methods, calls, uses, unreadable
	};
	jlongArray array = (*env)->NewLongArray(env, 6);
	if (array)
		(*env)->SetLongArrayRegion(env, array, 0, 6, all);
	return array;
}

EXPORTED jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)options, (void)reserved;
	jvmtiEnv *jvmti;
	const jvmtiCapabilities wanted = {
		.can_generate_all_class_hook_events = 1,
	};
	const jvmtiEventCallbacks events = { .ClassFileLoadHook = on_class };
	return (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) ||
			       (*jvmti)->AddCapabilities(jvmti, &wanted) ||
			       (*jvmti)->SetEventCallbacks(jvmti, &events,
							   sizeof(events)) ||
			       (*jvmti)->SetEventNotificationMode(
				       jvmti, JVMTI_ENABLE,
				       JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL)
		       ? JNI_ERR
		       : JNI_OK;
}
