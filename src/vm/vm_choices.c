/*
 * Choices in a Java VM: the library's classes are changed as they are loaded
 * (vm_models.h), and what their helpers ask for is drawn here and told to the
 * controller, in the block of wire/choices.h.
 *
 * All is as without us where no block was given, and between tests.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/vm_agent.h"
#include "vm/vm_callers.h"
#include "vm/vm_choices.h"
#include "vm/vm_models.h"
#include "wire/draw.h"

/* Objects of a test that are told apart at level ID. */
#define OBJECTS 256
/* Other sequences of identity hash codes that are tried. */
#define HASH_SEQUENCES 64
#define PERMUTED_MAX (1 << 24)

static struct {
	struct wire_choices *block; /* NULL: nothing is chosen */
	jvmtiEnv *jvmti;
	JavaVM *vm;
	jclass helper;
	jfieldID on, thread_key;
	jmethodID advance;
	pthread_mutex_t lock; /* of @objects */
	jweak objects[OBJECTS];
	uint64_t numbers[OBJECTS];
	unsigned n_objects;
	uint64_t objects_epoch;
} choices = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What a thread knows of its choices. */
static __thread struct {
	uint64_t key; /* 0: not known yet */
	uint64_t epoch;
	uint64_t n;	  /* choices so far */
	uint64_t created; /* threads */
	uint64_t objects; /* that it was the first to meet */
	struct wire_choice_thread *slot;
	uint32_t drawn[WIRE_MODELS_MAX];
} self;

/* ---- threads ---- */

static uint64_t name_key(jthread thread)
{
	jvmtiThreadInfo info = {};
	uint64_t key = 5381;
	if ((*choices.jvmti)->GetThreadInfo(choices.jvmti, thread, &info))
		return key;
	/* Threads that were not started by a test: their numbers vary. */
	for (const char *c = info.name; c && *c; c++) {
		if (*c < '0' || *c > '9')
			key = wire_mix(key, (unsigned char)*c);
	}
	(*choices.jvmti)->Deallocate(choices.jvmti, (unsigned char *)info.name);
	return key | 2;
}

static uint64_t thread_key(JNIEnv *env)
{
	jthread thread = NULL;
	uint64_t key = 0;
	if ((*choices.jvmti)->GetCurrentThread(choices.jvmti, &thread))
		return 3;
	if (choices.thread_key)
		key = (uint64_t)(*env)->GetLongField(env, thread,
						     choices.thread_key);
	if (!key)
		key = name_key(thread);
	(*env)->DeleteLocalRef(env, thread);
	return key;
}

static void vm_begin_epoch(JNIEnv *env)
{
	struct wire_choices *block = choices.block;
	if (self.epoch == block->epoch && self.key)
		return;
	if (!self.key)
		self.key = thread_key(env);
	self.epoch = block->epoch;
	self.n = self.created = self.objects = 0;
	memset(self.drawn, 0, sizeof(self.drawn));
	uint64_t at =
		__atomic_fetch_add(&block->threads_n, 1, __ATOMIC_RELAXED);
	self.slot = at < WIRE_CHOICE_THREADS ? &block->threads[at] : NULL;
	if (self.slot)
		*self.slot = (struct wire_choice_thread){
			.key = self.key,
			.phase = block->phase,
		};
}

/* ---- keys ---- */

/*
 * The same object has the same number through a test. Where more of them are met
 * than there is room for, the oldest are forgotten, and get others.
 */
static uint64_t object_number(JNIEnv *env, jobject object)
{
	uint64_t number = 0;
	if (!object)
		return 0;
	pthread_mutex_lock(&choices.lock);
	if (choices.objects_epoch != choices.block->epoch) {
		for (unsigned i = 0; i < OBJECTS; i++) {
			if (choices.objects[i])
				(*env)->DeleteWeakGlobalRef(env,
							    choices.objects[i]);
			choices.objects[i] = NULL;
		}
		choices.n_objects = 0;
		choices.objects_epoch = choices.block->epoch;
	}
	for (unsigned i = 0; i < OBJECTS && choices.objects[i]; i++) {
		if ((*env)->IsSameObject(env, choices.objects[i], object))
			number = choices.numbers[i];
	}
	if (!number) {
		unsigned at = choices.n_objects++ % OBJECTS;
		if (choices.objects[at])
			(*env)->DeleteWeakGlobalRef(env, choices.objects[at]);
		choices.objects[at] = (*env)->NewWeakGlobalRef(env, object);
		number = wire_mix(self.key, ++self.objects) | 1;
		choices.numbers[at] = number;
	}
	pthread_mutex_unlock(&choices.lock);
	return number;
}

/* ---- drawing ---- */

static uint64_t draw_pick(JNIEnv *env, uint64_t model, uint64_t alternatives,
			  uint64_t equal, jobject object)
{
	const struct wire_choices *block = choices.block;
	uint64_t hash = wire_mix(block->seed, model);
	switch (block->level) {
	case WIRE_ONE:
		return wire_draw_one(block, model, alternatives);
	case WIRE_EQ:
		return wire_mix(hash, equal) % alternatives;
	case WIRE_ID:
		hash = wire_mix(hash, object_number(env, object));
		return wire_mix(hash, equal) % alternatives;
	default:
		hash = wire_mix(wire_mix(hash, self.key), self.drawn[model]);
		return hash % alternatives;
	}
}

static uint64_t take_forced(uint64_t model, uint64_t alternatives)
{
	struct wire_choices *block = choices.block;
	uint64_t at = __atomic_fetch_add(&block->trace_n, 1, __ATOMIC_RELAXED);
	uint64_t pick = 0;
	if (at < block->forced_n && at < WIRE_CHOICE_TRACE)
		pick = block->forced[at];
	if (pick >= alternatives)
		pick = 0;
	if (at < WIRE_CHOICE_TRACE)
		block->trace[at] = (struct wire_choice_step){
			.model = model,
			.alternatives = alternatives,
			.pick = pick,
			.thread = self.key,
		};
	return pick;
}

static const char *describe_choice(uint64_t model)
{
	static const uint8_t kinds[] = {
#define X(name, kind, level, flags, api, clause, never) (uint8_t)(kind),
		WIRE_MODELS(X)
#undef X
	};
	switch (kinds[model]) {
	case WIRE_PERMUTE:
		return "they came in another order";
	case WIRE_EXTEND:
		return "rows had more names than usual";
	case WIRE_SHORT:
		return "less was read than was asked for";
	case WIRE_SPURIOUS:
		return "it woke up without a reason";
	default:
		return "they came from another sequence";
	}
}

/* @n: things that were ordered; 0: it was something else. */
static void record_choice(JNIEnv *env, uint64_t model, uint64_t pick,
			  uint64_t alternatives, uint64_t n, jstring about)
{
	struct wire_choices *block = choices.block;
	uint64_t at =
		__atomic_fetch_add(&block->records_n, 1, __ATOMIC_RELAXED);
	if (at >= WIRE_CHOICE_RECORDS)
		return;
	struct wire_choice *record = &block->records[at];
	const char *text =
		about ? (*env)->GetStringUTFChars(env, about, NULL) : NULL;
	record->thread = self.key;
	record->n = self.n - 1;
	record->phase = block->phase;
	record->model = model;
	record->pick = pick;
	record->alternatives = alternatives;
	record->argument[0] = '\0';
	if (n)
		snprintf(record->argument, sizeof(record->argument),
			 "%llu elements%s%.90s", (unsigned long long)n,
			 text ? " of " : "", text ? text : "");
	snprintf(record->did, sizeof(record->did), "%s",
		 describe_choice(model));
	if (text)
		(*env)->ReleaseStringUTFChars(env, about, text);
	memset(record->registers, 0, sizeof(record->registers));
	record->frames = 1;
	vm_callers_frames(record->stack, sizeof(record->stack),
			  &record->stack_n);
}

static uint64_t vm_choose(JNIEnv *env, uint64_t model, uint64_t alternatives,
			  uint64_t equal, jobject object, uint64_t n,
			  jstring about)
{
	struct wire_choices *block = choices.block;
	if (!block || model >= WIRE_MODELS_N || alternatives < 2 ||
	    !__atomic_load_n(&block->active, __ATOMIC_ACQUIRE))
		return 0;
	vm_begin_epoch(env);
	uint64_t pick = 0;
	bool on = wire_acts(block, model, self.key, block->phase, self.n);
	if (on && block->trace_on)
		pick = take_forced(model, alternatives);
	else if (on)
		pick = draw_pick(env, model, alternatives, equal, object);
	self.drawn[model]++;
	self.n++;
	if (self.slot)
		self.slot->n = self.n;
	__atomic_fetch_add(&block->made[model], 1, __ATOMIC_RELAXED);
	if (pick)
		__atomic_fetch_add(&block->acted[model], 1, __ATOMIC_RELAXED);
	if (pick && block->detail)
		record_choice(env, model, pick, alternatives, n, about);
	return pick;
}

/* ---- native methods of polygraph.boot.Choices ---- */

static jint JNICALL choices_wanted(JNIEnv *env, jclass class, jint model)
{
	(void)env, (void)class;
	struct wire_choices *block = choices.block;
	if (!block || model < 0 || model >= WIRE_MODELS_N ||
	    !__atomic_load_n(&block->active, __ATOMIC_ACQUIRE))
		return -1;
	int as = vm_callers_model(model);
	if (as < 0 && block->log_on)
		__atomic_fetch_add(&block->left_alone[model], 1,
				   __ATOMIC_RELAXED);
	return as >= 0 && block->models[as / 64] >> as % 64 & 1 ? as : -1;
}

static jintArray JNICALL choices_order(JNIEnv *env, jclass class, jint model,
				       jint n, jlong equal, jobject object,
				       jstring about)
{
	(void)class;
	if (n < 2 || n > PERMUTED_MAX)
		return NULL;
	uint64_t pick =
		vm_choose(env, (uint64_t)model, wire_permutations((size_t)n),
			  (uint64_t)equal, object, (uint64_t)n, about);
	if (!pick)
		return NULL;
	uint32_t *order = malloc((size_t)n * sizeof(*order));
	jintArray array = order ? (*env)->NewIntArray(env, n) : NULL;
	if (array) {
		wire_permutation(pick, (size_t)n, order);
		(*env)->SetIntArrayRegion(env, array, 0, n,
					  (const jint *)order);
	}
	free(order);
	return array;
}

static jlong JNICALL choices_pick(JNIEnv *env, jclass class, jint model,
				  jlong alternatives, jlong equal,
				  jobject object, jstring about)
{
	(void)class;
	return (jlong)vm_choose(env, (uint64_t)model, (uint64_t)alternatives,
				(uint64_t)equal, object, 0, about);
}

static void JNICALL choices_name_thread(JNIEnv *env, jclass class,
					jobject thread)
{
	(void)class;
	if (!choices.block || !choices.thread_key)
		return;
	vm_begin_epoch(env);
	uint64_t key = wire_mix(self.key, ++self.created) | 2;
	(*env)->SetLongField(env, thread, choices.thread_key, (jlong)key);
}

static const JNINativeMethod natives[] = {
	{ "wanted", "(I)I", (void *)choices_wanted },
	{ "order", "(IIJLjava/lang/Object;Ljava/lang/String;)[I",
	  (void *)choices_order },
	{ "pick", "(IJJLjava/lang/Object;Ljava/lang/String;)J",
	  (void *)choices_pick },
	{ "nameThread", "(Ljava/lang/Thread;)V", (void *)choices_name_thread },
};

/* ---- classes ---- */

/* Programs are not changed where they have nothing that is redirected. */
static bool choices_edit(JNIEnv *env, jobject loader, const char *name,
			 struct vm_edit *ret)
{
	(void)env;
	if (vm_models_edit(name, ret))
		return true;
	if (!loader || !strncmp(name, "polygraph/", 10))
		return false;
	vm_models_edit_program(ret);
	return true;
}

static void JNICALL choices_on_class(jvmtiEnv *jvmti, JNIEnv *env,
				     jclass redefined, jobject loader,
				     const char *name, jobject domain, jint n,
				     const unsigned char *bytes, jint *ret_n,
				     unsigned char **ret)
{
	(void)domain;
	struct vm_edit edit;
	uint8_t *changed = NULL;
	size_t changed_n = 0;
	if (redefined || !name || n < 0 ||
	    !choices_edit(env, loader, name, &edit) ||
	    vm_class_edit(bytes, (size_t)n, &edit, &changed, &changed_n, NULL,
			  NULL) != VM_CHANGED)
		return;
	unsigned char *copy = NULL;
	if (!(*jvmti)->Allocate(jvmti, (jlong)changed_n, &copy)) {
		memcpy(copy, changed, changed_n);
		*ret = copy;
		*ret_n = (jint)changed_n;
	}
	free(changed);
}

/* ---- the part ---- */

static bool vm_map_block(long controller, long number)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", controller, number);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	struct wire_choices *block =
		mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	close(fd);
	if (block == MAP_FAILED || block->magic != WIRE_CHOICES_MAGIC ||
	    block->version != WIRE_CHOICES_VERSION)
		return false;
	__atomic_fetch_add(&block->attached, 1, __ATOMIC_RELAXED);
	choices.block = block;
	return true;
}

static bool choices_load(JavaVM *vm, const char *options)
{
	const jvmtiCapabilities wanted = {
		.can_generate_all_class_hook_events = 1,
		.can_generate_early_class_hook_events = 1,
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
	};
	const jvmtiEventCallbacks calls = {
		.ClassFileLoadHook = choices_on_class,
	};
	long controller = vm_option(options, "controller");
	long number = vm_option(options, "block");
	if (number < 0)
		return true;
	choices.vm = vm;
	choices.jvmti = vm_environment(vm, &wanted);
	if (!choices.jvmti || !vm_map_block(controller, number))
		return false;
	vm_callers_begin(choices.jvmti);
	return !(*choices.jvmti)
			->SetEventCallbacks(choices.jvmti, &calls,
					    sizeof(calls)) &&
	       !(*choices.jvmti)
			->SetEventNotificationMode(
				choices.jvmti, JVMTI_ENABLE,
				JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
}

static void set_model(JNIEnv *env, const char *name, int model)
{
	jfieldID field =
		(*env)->GetStaticFieldID(env, choices.helper, name, "I");
	if (field)
		(*env)->SetStaticIntField(env, choices.helper, field, model);
}

static void choices_ready(JNIEnv *env)
{
	if (!choices.block)
		return;
	jclass helper = (*env)->FindClass(env, VM_HELPER_CLASS);
	jclass thread = (*env)->FindClass(env, "java/lang/Thread");
	if (!helper ||
	    (*env)->RegisterNatives(env, helper, natives,
				    sizeof(natives) / sizeof(natives[0]))) {
		(*env)->ExceptionClear(env);
		choices.block = NULL;
		return;
	}
	choices.helper = (*env)->NewGlobalRef(env, helper);
	choices.on = (*env)->GetStaticFieldID(env, helper, "on", "Z");
	choices.advance =
		(*env)->GetStaticMethodID(env, helper, "advance", "(I)V");
	choices.thread_key =
		thread ? (*env)->GetFieldID(env, thread, VM_THREAD_KEY, "J")
		       : NULL;
	set_model(env, "waitModel", WIRE_MODEL_java_wait);
	set_model(env, "awaitModel", WIRE_MODEL_java_await);
	(*env)->ExceptionClear(env);
}

static void choices_test_starts(JNIEnv *env, uint32_t entry, bool follows)
{
	(void)entry, (void)follows;
	const struct wire_choices *block = choices.block;
	const uint64_t model = WIRE_MODEL_java_hash_code;
	if (!block || !choices.on || !choices.advance ||
	    !__atomic_load_n(&block->active, __ATOMIC_ACQUIRE))
		return;
	self.key = WIRE_MAIN;
	vm_begin_epoch(env);
	if (block->models[model / 64] >> model % 64 & 1) {
		uint64_t pick =
			vm_choose(env, model, HASH_SEQUENCES, 0, NULL, 0, NULL);
		(*env)->CallStaticVoidMethod(env, choices.helper,
					     choices.advance, (jint)pick);
	}
	(*env)->SetStaticBooleanField(env, choices.helper, choices.on,
				      JNI_TRUE);
}

static void choices_test_ends(JNIEnv *env, uint32_t entry)
{
	(void)entry;
	if (choices.block && choices.on)
		(*env)->SetStaticBooleanField(env, choices.helper, choices.on,
					      JNI_FALSE);
}

const struct vm_part vm_choices = {
	.load = choices_load,
	.ready = choices_ready,
	.test_starts = choices_test_starts,
	.test_ends = choices_test_ends,
};
