/* Schedules in a Java VM: the part of the agent. See vm_schedules_internal.h. */
#include "vm/vm_schedules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm_callers.h"
#include "vm/vm_schedules_internal.h"

#define STATEMENTS_MAX 2000
/* Times that a statement is seen. */
#define LOOPS_MAX 100
#define SUPERCLASSES_MAX 64

struct vm_schedule vm_schedule = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.released = PTHREAD_COND_INITIALIZER,
};

static __thread struct vm_thread *this_thread;

struct vm_thread *vm_schedule_self(void)
{
	return this_thread;
}

/* ---- threads ---- */

struct vm_thread *vm_schedule_thread(jobject thread)
{
	void *known = NULL;
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	if ((*jvmti)->GetThreadLocalStorage(jvmti, thread, &known))
		return NULL;
	return known;
}

static int object_hash(jobject object)
{
	jint hash = 0;
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	(*jvmti)->GetObjectHashCode(jvmti, object, &hash);
	return hash ? hash : 1;
}

/* With the lock. */
static void add_thread(struct vm_thread *thread)
{
	thread->next = vm_schedule.threads;
	vm_schedule.threads = thread;
	vm_schedule.activity++;
}

/* The thread that calls is @thread from now on. */
static void become_thread(jthread object, struct vm_thread *thread)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	this_thread = thread;
	thread->tid = gettid();
	thread->hash = object_hash(object);
	if (pthread_getcpuclockid(pthread_self(), &thread->cpu))
		thread->cpu = CLOCK_MONOTONIC;
	(*jvmti)->SetThreadLocalStorage(jvmti, object, thread);
	thread->started = true;
}

struct vm_thread *vm_schedule_starting(JNIEnv *env, jobject object)
{
	struct vm_schedule *schedule = &vm_schedule;
	char place[SCHEDULE_KEY_SIZE];
	const struct vm_thread *maker = this_thread;
	struct vm_thread *thread =
		schedule->begun ? calloc(1, sizeof(*thread)) : NULL;
	if (!thread)
		return NULL;
	vm_callers_frames(thread->stack, sizeof(thread->stack),
			  &thread->stack_n);
	/* Before the test's first statement only its own code counts. */
	thread->foreign = !thread->stack_n &&
			  (!maker || maker->foreign || !schedule->claimed);
	if (!thread->stack_n)
		vm_schedule_frames(thread->stack, sizeof(thread->stack),
				   &thread->stack_n);
	vm_schedule_frame_key(thread->stack, thread->stack_n, place,
			      sizeof(place));
	if (maker && maker->number)
		snprintf(thread->group, sizeof(thread->group), "%.240s/%.240s",
			 maker->group, place);
	else
		snprintf(thread->group, sizeof(thread->group), "%s", place);
	thread->object = (*env)->NewWeakGlobalRef(env, object);
	pthread_mutex_lock(&schedule->lock);
	if (!thread->foreign) {
		thread->number = ++schedule->numbers;
		schedule->had_threads = true;
	}
	add_thread(thread);
	pthread_mutex_unlock(&schedule->lock);
	return thread;
}

void vm_schedule_start_failed(struct vm_thread *thread)
{
	pthread_mutex_lock(&vm_schedule.lock);
	thread->ended = true;
	pthread_mutex_unlock(&vm_schedule.lock);
}

static struct vm_thread *find_starting(JNIEnv *env, jthread object)
{
	struct vm_thread *found = NULL;
	pthread_mutex_lock(&vm_schedule.lock);
	for (struct vm_thread *thread = vm_schedule.threads; thread && !found;
	     thread = thread->next) {
		if (thread->object && !thread->started &&
		    (*env)->IsSameObject(env, thread->object, object))
			found = thread;
	}
	pthread_mutex_unlock(&vm_schedule.lock);
	return found;
}

/* Of this thread: is it one of the program's that was counted? */
static __thread bool is_main, is_counted;
static int threads_alive; /* atomic; those that are counted */
static bool threads_seen; /* atomic: in this test */
static bool threads_new;  /* atomic: they began in it */

/*
 * The thread that runs the tests begins after the VM is ready, and so do threads
 * of the VM: those are in the group that has no parent ("Notification Thread").
 */
static bool is_of_the_program(jvmtiEnv *jvmti, JNIEnv *env, jthread object)
{
	jvmtiThreadInfo info = {};
	jvmtiThreadGroupInfo group = {};
	if (is_main || (*jvmti)->GetThreadInfo(jvmti, object, &info))
		return !is_main;
	bool known =
		info.thread_group &&
		!(*jvmti)->GetThreadGroupInfo(jvmti, info.thread_group, &group);
	bool ours = !known || group.parent;
	(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)group.name);
	(*env)->DeleteLocalRef(env, group.parent);
	(*env)->DeleteLocalRef(env, info.thread_group);
	(*env)->DeleteLocalRef(env, info.context_class_loader);
	return ours;
}

static void JNICALL schedules_on_thread_start(jvmtiEnv *jvmti, JNIEnv *env,
					      jthread object)
{
	is_counted = is_of_the_program(jvmti, env, object);
	if (is_counted) {
		__atomic_fetch_add(&threads_alive, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&threads_seen, true, __ATOMIC_RELAXED);
		__atomic_store_n(&threads_new, true, __ATOMIC_RELAXED);
	}
	struct vm_thread *thread =
		vm_schedule.loaded ? find_starting(env, object) : NULL;
	if (!thread)
		return;
	pthread_mutex_lock(&vm_schedule.lock);
	become_thread(object, thread);
	vm_schedule.activity++;
	thread->begun = thread->foreign || vm_schedule.settling;
	if (thread->begun)
		pthread_cond_broadcast(&vm_schedule.released);
	pthread_mutex_unlock(&vm_schedule.lock);
	vm_schedule_segment(thread, WIRE_OPERATION_START, false);
}

static void JNICALL schedules_on_thread_end(jvmtiEnv *jvmti, JNIEnv *env,
					    jthread object)
{
	(void)jvmti, (void)object;
	if (is_counted)
		__atomic_fetch_sub(&threads_alive, 1, __ATOMIC_RELAXED);
	struct vm_thread *self = this_thread;
	if (!self)
		return;
	if (self->object)
		(*env)->DeleteWeakGlobalRef(env, self->object);
	pthread_mutex_lock(&vm_schedule.lock);
	self->object = NULL;
	self->ended = true;
	/* The VM itself notifies those that wait for its end. */
	for (struct vm_thread *thread = vm_schedule.threads; thread;
	     thread = thread->next) {
		if (thread->in_call && thread->monitor == self->hash)
			thread->woken = true;
	}
	vm_schedule.activity++;
	pthread_mutex_unlock(&vm_schedule.lock);
	this_thread = NULL;
}

/* ---- events ---- */

static void JNICALL schedules_on_bind(jvmtiEnv *jvmti, JNIEnv *env,
				      jthread thread, jmethodID method,
				      void *address, void **ret)
{
	(void)thread;
	vm_schedule_bind(env, jvmti, method, address, ret);
}

static void JNICALL schedules_on_waited(jvmtiEnv *jvmti, JNIEnv *env,
					jthread thread, jobject object,
					jboolean timed_out)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	vm_schedule_waited(timed_out);
}

static void note_blocked(bool blocked)
{
	struct vm_thread *self = this_thread;
	if (!self)
		return;
	pthread_mutex_lock(&vm_schedule.lock);
	self->blocked = blocked;
	self->stable = 0;
	vm_schedule.activity++;
	pthread_mutex_unlock(&vm_schedule.lock);
}

static void JNICALL schedules_on_enter(jvmtiEnv *jvmti, JNIEnv *env,
				       jthread thread, jobject object)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	note_blocked(true);
}

static void JNICALL schedules_on_entered(jvmtiEnv *jvmti, JNIEnv *env,
					 jthread thread, jobject object)
{
	(void)jvmti, (void)env, (void)thread, (void)object;
	note_blocked(false);
}

/* ---- statements ---- */

struct vm_statement {
	jmethodID method;
	jlocation location;
	unsigned line, times;
	bool own; /* of the test's method, not of a lambda in it */
};

static struct vm_statement statements[STATEMENTS_MAX];
static size_t statements_n;
static jmethodID test_method;

static void JNICALL schedules_on_statement(jvmtiEnv *jvmti, JNIEnv *env,
					   jthread thread, jmethodID method,
					   jlocation location)
{
	struct vm_schedule *schedule = &vm_schedule;
	struct vm_statement *at = NULL;
	struct vm_thread *self = this_thread;
	(void)env, (void)thread;
	if (vm_schedule_at_place(self, method, location))
		return;
	for (size_t i = 0; i < statements_n && !at; i++) {
		if (statements[i].method == method &&
		    statements[i].location == location)
			at = &statements[i];
	}
	if (!at || !self || !schedule->active)
		return;
	pthread_mutex_lock(&schedule->lock);
	if (!schedule->claimed && at->own) {
		/* With a limit of time frameworks use a thread of their own. */
		if (self != schedule->test) {
			schedule->test->foreign = true;
			self->foreign = false;
			self->number = 0;
			schedule->test = self;
		}
		schedule->claimed = true;
	}
	bool often = ++at->times > LOOPS_MAX;
	bool test = self == schedule->test;
	pthread_mutex_unlock(&schedule->lock);
	/* A loop that waits is to run as fast as it does. */
	if (often)
		(*jvmti)->ClearBreakpoint(jvmti, method, location);
	else if (test)
		vm_schedule_statement(self, at->line, location);
}

static void break_lines(jmethodID method, unsigned from, unsigned to,
			unsigned *ret_first, unsigned *ret_last)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	jvmtiLineNumberEntry *lines = NULL;
	jint n = 0;
	*ret_first = *ret_last = 0;
	if ((*jvmti)->GetLineNumberTable(jvmti, method, &n, &lines))
		return;
	for (jint i = 0; i < n; i++) {
		unsigned line = (unsigned)lines[i].line_number;
		*ret_first =
			!*ret_first || line < *ret_first ? line : *ret_first;
		*ret_last = line > *ret_last ? line : *ret_last;
		if (line < from || line > to || statements_n >= STATEMENTS_MAX)
			continue;
		statements[statements_n++] = (struct vm_statement){
			.method = method,
			.location = lines[i].start_location,
			.line = line,
			.own = method == test_method,
		};
		(*jvmti)->SetBreakpoint(jvmti, method, lines[i].start_location);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
}

/* Methods of @class: that which begins at the test's line, and lambdas in it. */
static bool break_methods(jclass class)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	jmethodID *methods = NULL;
	jint n = 0;
	unsigned first, last = 0, line = vm_schedule.first_line, end;
	if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods))
		return false;
	for (jint i = 0; i < n && !test_method; i++) {
		break_lines(methods[i], UINT32_MAX, 0, &first, &last);
		if (first == line && line)
			test_method = methods[i];
	}
	for (jint i = 0; i < n && test_method; i++) {
		char *name = NULL;
		if ((*jvmti)->GetMethodName(jvmti, methods[i], &name, NULL,
					    NULL))
			continue;
		if (methods[i] == test_method || !strncmp(name, "lambda$", 7))
			break_lines(methods[i], line, last, &first, &end);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
	return test_method;
}

static void break_test(JNIEnv *env)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	jclass *classes = NULL;
	jint n = 0;
	if ((*jvmti)->GetLoadedClasses(jvmti, &n, &classes))
		return;
	for (jint i = 0; i < n && !test_method; i++) {
		char *name = NULL;
		if ((*jvmti)->GetClassSignature(jvmti, classes[i], &name, NULL))
			continue;
		bool wanted = !strcmp(name, vm_schedule.class_name);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
		jclass class = wanted ? classes[i] : NULL;
		for (int up = 0; class && up < SUPERCLASSES_MAX; up++) {
			if (break_methods(class))
				break;
			class = (*env)->GetSuperclass(env, class);
		}
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* ---- failures ---- */

/* Something was thrown: if nobody inside of the test catches it, it failed. */
static void JNICALL schedules_on_exception(jvmtiEnv *jvmti, JNIEnv *env,
					   jthread thread, jmethodID method,
					   jlocation location,
					   jobject exception, jmethodID catcher,
					   jlocation catch_at)
{
	jvmtiFrameInfo frames[64];
	jint n = 0;
	(void)env, (void)thread, (void)method, (void)location;
	(void)exception, (void)catch_at;
	if (!vm_schedule.active || this_thread != vm_schedule.test ||
	    !test_method ||
	    (*jvmti)->GetStackTrace(jvmti, NULL, 0, 64, frames, &n))
		return;
	for (jint i = 0; i < n; i++) {
		if (catcher && frames[i].method == catcher)
			return;
		if (frames[i].method != test_method)
			continue;
		pthread_mutex_lock(&vm_schedule.lock);
		vm_schedule_fail();
		pthread_mutex_unlock(&vm_schedule.lock);
		return;
	}
}

/* ---- the part ---- */

static bool enable_events(jvmtiEnv *jvmti, const jvmtiEvent *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
						       events[i], NULL))
			return false;
	}
	return true;
}

static bool schedules_load(JavaVM *vm, const char *options)
{
	const jvmtiCapabilities wanted = {
		.can_generate_native_method_bind_events = 1,
		.can_generate_monitor_events = 1,
		.can_generate_breakpoint_events = 1,
		.can_generate_exception_events = 1,
		.can_get_line_numbers = 1,
		.can_get_source_file_name = 1,
	};
	static const jvmtiCapabilities none;
	const jvmtiEventCallbacks calls = {
		.ThreadStart = schedules_on_thread_start,
		.ThreadEnd = schedules_on_thread_end,
		.NativeMethodBind = schedules_on_bind,
		.MonitorWaited = schedules_on_waited,
		.MonitorContendedEnter = schedules_on_enter,
		.MonitorContendedEntered = schedules_on_entered,
		.Breakpoint = schedules_on_statement,
		.Exception = schedules_on_exception,
	};
	vm_schedule.loaded = vm_option(options, "schedules") == 1;
	vm_schedule.jvmti =
		vm_environment(vm, vm_schedule.loaded ? &wanted : &none);
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	if (!jvmti)
		return false;
	if (vm_schedule.loaded)
		vm_callers_begin(jvmti);
	return !(*jvmti)->SetEventCallbacks(jvmti, &calls, sizeof(calls));
}

static void schedules_ready(JNIEnv *env)
{
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	static const jvmtiEvent always[] = { JVMTI_EVENT_THREAD_START,
					     JVMTI_EVENT_THREAD_END };
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_MONITOR_WAITED,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
		JVMTI_EVENT_BREAKPOINT,
		JVMTI_EVENT_EXCEPTION,
	};
	is_main = true;
	enable_events(jvmti, always, sizeof(always) / sizeof(always[0]));
	if (!vm_schedule.loaded)
		return;
	if (!enable_events(jvmti, events, sizeof(events) / sizeof(events[0])) ||
	    !vm_schedule_hook(env, jvmti) || !vm_schedule_start_ticks())
		vm_schedule.loaded = false;
}

static uint32_t schedule_take_number(const uint8_t **at, const uint8_t *end)
{
	uint32_t number = 0;
	if (end - *at >= 4) {
		memcpy(&number, *at, 4);
		*at += 4;
	}
	return number;
}

static uint64_t schedule_take_time(const uint8_t **at, const uint8_t *end)
{
	uint64_t low = schedule_take_number(at, end);
	return low | (uint64_t)schedule_take_number(at, end) << 32;
}

/* NULL: an empty one. */
static char *schedule_take_text(const uint8_t **at, const uint8_t *end)
{
	uint32_t n = schedule_take_number(at, end);
	if (!n || n > (size_t)(end - *at))
		return NULL;
	char *text = strndup((const char *)*at, n);
	*at += n;
	return text;
}

static void schedules_message(JNIEnv *env, uint16_t kind, const uint8_t *data,
			      uint32_t size)
{
	struct vm_schedule *schedule = &vm_schedule;
	const uint8_t *end = data + size;
	(void)env;
	if (kind != WIRE_SCHEDULE_BEGIN || !schedule->loaded)
		return;
	schedule->class_name = schedule_take_text(&data, end);
	schedule->first_line = schedule_take_number(&data, end);
	schedule->flags = schedule_take_number(&data, end);
	schedule->nth = schedule_take_number(&data, end);
	schedule->until_nth = schedule_take_number(&data, end);
	schedule->before_nth = schedule_take_number(&data, end);
	schedule->patience = schedule_take_time(&data, end);
	schedule->seed = schedule_take_time(&data, end);
	schedule->delay = schedule_take_time(&data, end);
	schedule->event = schedule_take_text(&data, end);
	schedule->until = schedule_take_text(&data, end);
	schedule->before = schedule_take_text(&data, end);
	schedule->steers =
		schedule->event || schedule->flags & WIRE_SCHEDULE_EARLY;
	schedule->begun = schedule->class_name;
	__atomic_store_n(&schedule->follows, schedule->begun, __ATOMIC_RELEASE);
}

void vm_schedule_end(void)
{
	struct vm_schedule *schedule = &vm_schedule;
	const uint32_t told[] = {
		(schedule->had_threads ? WIRE_SCHEDULE_HAD_THREADS : 0) |
			(schedule->reached ? WIRE_SCHEDULE_REACHED : 0) |
			(schedule->hung ? WIRE_SCHEDULE_HUNG : 0) |
			(schedule->stood ? WIRE_SCHEDULE_STOOD : 0) |
			(schedule->after ? WIRE_SCHEDULE_AFTER : 0),
		schedule->why,
		(uint32_t)schedule->margin,
		(uint32_t)(schedule->margin >> 32),
	};
	schedule->ended = true;
	vm_send(WIRE_SCHEDULE_END, told, sizeof(told));
}

static void schedules_test_starts(JNIEnv *env, uint32_t entry, bool follows)
{
	struct vm_schedule *schedule = &vm_schedule;
	jvmtiEnv *jvmti = schedule->jvmti;
	jthread object = NULL;
	(void)entry, (void)follows;
	threads_seen = __atomic_load_n(&threads_alive, __ATOMIC_RELAXED) > 0;
	__atomic_store_n(&threads_new, false, __ATOMIC_RELAXED);
	if (!schedule->begun || schedule->ended)
		return;
	struct vm_thread *self = calloc(1, sizeof(*self));
	if (!self || (*jvmti)->GetCurrentThread(jvmti, &object)) {
		free(self);
		return;
	}
	break_test(env);
	vm_schedule_break_places(env);
	pthread_mutex_lock(&schedule->lock);
	become_thread(object, self);
	add_thread(self);
	schedule->test = self;
	schedule->had_threads = schedule->numbers;
	schedule->test_began = vm_schedule_now();
	__atomic_store_n(&schedule->active, true, __ATOMIC_RELEASE);
	if (schedule->numbers) {
		/* A pool that stands before the test comes to rest. */
		schedule->settling = true;
		vm_schedule_pause(self, true);
		schedule->settling = false;
		schedule->paused_ns = 0;
	}
	pthread_mutex_unlock(&schedule->lock);
}

static void schedules_test_ends(JNIEnv *env, uint32_t entry)
{
	struct vm_schedule *schedule = &vm_schedule;
	(void)env;
	(void)entry;
	uint32_t began = __atomic_load_n(&threads_new, __ATOMIC_RELAXED);
	if (__atomic_load_n(&threads_seen, __ATOMIC_RELAXED))
		vm_send(WIRE_SCHEDULE_THREADS, &began, sizeof(began));
	if (!schedule->begun || schedule->ended)
		return;
	pthread_mutex_lock(&schedule->lock);
	if (schedule->holding && !schedule->failed)
		schedule->margin = vm_schedule_lateness();
	if (!schedule->failed)
		schedule->after = !schedule->holding;
	vm_schedule_end();
	__atomic_store_n(&schedule->active, false, __ATOMIC_RELEASE);
	__atomic_store_n(&schedule->follows, false, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&schedule->released);
	pthread_mutex_unlock(&schedule->lock);
}

const struct vm_part vm_schedules_part = {
	.load = schedules_load,
	.ready = schedules_ready,
	.first = WIRE_VM_SCHEDULES,
	.end = WIRE_VM_OUTSIDE,
	.message = schedules_message,
	.test_starts = schedules_test_starts,
	.test_ends = schedules_test_ends,
};
