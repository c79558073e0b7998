/*
 * Native methods of Java 17's library in which threads wait, wake others or read a
 * clock: ours, which call the VM's own. Most of these are exported by the VM (jvm.h);
 * those of Unsafe are learnt when they are registered once more.
 */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "vm/vm_schedules_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* A wait that is steered looks so often whether it is over. */
#define PIECE_MS 1
/* Until a new thread does something. */
#define START_S 2
#define UNSAFE "jdk/internal/misc/Unsafe"
#define MS SCHEDULE_NS_PER_MS

static struct {
	void(JNICALL *sleep)(JNIEnv *, jclass, jlong);
	void(JNICALL *yield)(JNIEnv *, jclass);
	void(JNICALL *start)(JNIEnv *, jobject);
	void(JNICALL *interrupt)(JNIEnv *, jobject);
	void(JNICALL *wait)(JNIEnv *, jobject, jlong);
	void(JNICALL *notify)(JNIEnv *, jobject);
	void(JNICALL *notify_all)(JNIEnv *, jobject);
	jlong(JNICALL *nano_time)(JNIEnv *, jclass);
	jlong(JNICALL *millis)(JNIEnv *, jclass);
	jlong(JNICALL *adjustment)(JNIEnv *, jclass, jlong);
	void(JNICALL *park)(JNIEnv *, jobject, jboolean, jlong);
	void(JNICALL *unpark)(JNIEnv *, jobject, jobject);
	jint(JNICALL *poll)(JNIEnv *, jclass, jobject, jint, jlong);
	jint(JNICALL *epoll)(JNIEnv *, jclass, jint, jlong, jint, jint);
} plain;

static __thread bool wait_timed_out;

void vm_schedule_waited(bool timed_out)
{
	wait_timed_out = timed_out;
}

/* The program's thread that calls, while a test is scheduled; else NULL. */
static struct vm_thread *hooked_thread(void)
{
	if (!__atomic_load_n(&vm_schedule.follows, __ATOMIC_ACQUIRE))
		return NULL;
	struct vm_thread *self = vm_schedule_self();
	return self && !self->foreign ? self : NULL;
}

/* ---- waiting ---- */

static void enter_call(struct vm_thread *self, bool timed, uint64_t ns,
		       int monitor)
{
	pthread_mutex_lock(&vm_schedule.lock);
	self->in_call = true;
	self->timed = timed;
	self->began = vm_schedule_now();
	self->deadline = timed ? self->began + ns : 0;
	self->monitor = monitor;
	self->woken = false;
	self->notified = 0;
	self->stable = 0;
	vm_schedule.activity++;
	pthread_mutex_unlock(&vm_schedule.lock);
}

/* A wait has ended: how long was it, as far as nothing else waited meanwhile? */
static void count_wait(const struct vm_thread *self)
{
	struct vm_schedule *schedule = &vm_schedule;
	uint64_t now = vm_schedule_now();
	uint64_t began = self->began;
	uint64_t end = self->deadline < now ? self->deadline : now;
	uint64_t held = schedule->pausing ? schedule->pause_began
					  : schedule->hold_began;
	began = began > held ? began : held;
	if (began < schedule->counted_until)
		began = schedule->counted_until;
	if (began >= end)
		return;
	if (schedule->pausing)
		schedule->paused_ns += end - began;
	if (schedule->holding)
		schedule->held_ns += end - began;
	schedule->counted_until = end;
}

static void leave_call(struct vm_thread *self,
		       enum wire_schedule_operation operation)
{
	struct vm_schedule *schedule = &vm_schedule;
	pthread_mutex_lock(&schedule->lock);
	if (self->timed)
		count_wait(self);
	/* Who was notified is known now: one less of the others can be. */
	for (struct vm_thread *other = schedule->threads;
	     other && self->monitor && !wait_timed_out; other = other->next) {
		if (other != self && other->monitor == self->monitor &&
		    other->notified)
			other->notified--;
	}
	self->in_call = self->timed = self->woken = self->permit = false;
	self->monitor = 0;
	schedule->activity++;
	bool test = self == schedule->test;
	if (test)
		vm_schedule_calm(self);
	pthread_mutex_unlock(&schedule->lock);
	/* Its tasks are events, whether it had to wait for them or not. */
	if (!test && !vm_schedule_idles())
		vm_schedule_segment(self, operation, false);
}

static bool is_over(const struct vm_thread *self)
{
	return vm_schedule_now() >= self->deadline ||
	       !__atomic_load_n(&vm_schedule.follows, __ATOMIC_ACQUIRE);
}

static uint64_t real_left(const struct vm_thread *self)
{
	uint64_t now = vm_schedule_now();
	return self->deadline > now ? self->deadline - now : 0;
}

static void JNICALL hook_sleep(JNIEnv *env, jclass class, jlong ms)
{
	struct vm_thread *self = ms > 0 ? hooked_thread() : NULL;
	if (!self) {
		plain.sleep(env, class, ms);
		return;
	}
	uint64_t most = UINT64_MAX / 4 / MS;
	uint64_t ns = ((uint64_t)ms < most ? (uint64_t)ms : most) * MS;
	enter_call(self, true, ns, 0);
	if (vm_schedule.steers) {
		while (!is_over(self) && !(*env)->ExceptionCheck(env))
			plain.sleep(env, class, PIECE_MS);
		/* The test is over: the rest of it takes its time. */
		if (!(*env)->ExceptionCheck(env) && real_left(self) >= MS)
			plain.sleep(env, class, (jlong)(real_left(self) / MS));
	} else {
		plain.sleep(env, class, ms);
	}
	leave_call(self, WIRE_OPERATION_SLEEP);
}

static bool was_interrupted(void)
{
	jint state = 0;
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	return !(*jvmti)->GetThreadState(jvmti, NULL, &state) &&
	       state & JVMTI_THREAD_STATE_INTERRUPTED;
}

/* Nanoseconds until what LockSupport.parkUntil() is given. */
static uint64_t until_millis(jlong millis)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	int64_t now =
		(int64_t)time.tv_sec * 1000000000 + time.tv_nsec +
		(int64_t)__atomic_load_n(&vm_schedule.offset, __ATOMIC_ACQUIRE);
	if (millis > INT64_MAX / 4000000)
		return UINT64_MAX / 4;
	int64_t left = millis * (int64_t)MS - now;
	return left > 0 ? (uint64_t)left : 0;
}

static void JNICALL hook_park(JNIEnv *env, jobject unsafe, jboolean absolute,
			      jlong time)
{
	struct vm_thread *self = hooked_thread();
	bool timed = absolute || time > 0;
	uint64_t ns = absolute ? until_millis(time) : (uint64_t)time;
	/* It would not wait. */
	if (!self || time < 0 || (timed && !ns)) {
		plain.park(env, unsafe, absolute, time);
		return;
	}
	if (ns > UINT64_MAX / 4)
		ns = UINT64_MAX / 4;
	bool waits = !__atomic_load_n(&self->permit, __ATOMIC_ACQUIRE);
	enter_call(self, timed, ns, 0);
	if (!timed || !vm_schedule.steers)
		plain.park(env, unsafe, absolute, time);
	while (timed && vm_schedule.steers) {
		plain.park(env, unsafe, JNI_FALSE, (jlong)(PIECE_MS * MS));
		if (__atomic_load_n(&self->permit, __ATOMIC_ACQUIRE) ||
		    is_over(self) || was_interrupted())
			break;
	}
	/* What it wanted to wait for was there already: no event. */
	if (waits) {
		leave_call(self, WIRE_OPERATION_PARK);
		return;
	}
	pthread_mutex_lock(&vm_schedule.lock);
	self->in_call = self->timed = self->woken = self->permit = false;
	pthread_mutex_unlock(&vm_schedule.lock);
}

static int monitor_hash(jobject object)
{
	jint hash = 0;
	jvmtiEnv *jvmti = vm_schedule.jvmti;
	if ((*jvmti)->GetObjectHashCode(jvmti, object, &hash) || !hash)
		return 1;
	return hash;
}

/* A notification came for this object since @self began to wait. */
static bool was_notified(struct vm_thread *self)
{
	pthread_mutex_lock(&vm_schedule.lock);
	bool woken = self->woken || self->notified;
	pthread_mutex_unlock(&vm_schedule.lock);
	return woken;
}

/*
 * The segment after a wait begins before the monitor is entered again: a thread
 * that is held is not to have what the test needs.
 */
static void leave_wait(JNIEnv *env, struct vm_thread *self, jobject object)
{
	jthrowable thrown = (*env)->ExceptionOccurred(env);
	unsigned times = 0;
	if (thrown)
		(*env)->ExceptionClear(env);
	if (self != vm_schedule.test && vm_schedule.event) {
		while ((*env)->MonitorExit(env, object) == JNI_OK)
			times++;
		(*env)->ExceptionClear(env);
	}
	leave_call(self, WIRE_OPERATION_WAIT);
	while (times--)
		(*env)->MonitorEnter(env, object);
	if (thrown)
		(*env)->Throw(env, thrown);
}

static void JNICALL hook_wait(JNIEnv *env, jobject object, jlong ms)
{
	struct vm_thread *self = ms >= 0 ? hooked_thread() : NULL;
	if (!self) {
		plain.wait(env, object, ms);
		return;
	}
	uint64_t most = UINT64_MAX / 4 / MS;
	uint64_t ns = ((uint64_t)ms < most ? (uint64_t)ms : most) * MS;
	enter_call(self, ms > 0, ns, monitor_hash(object));
	wait_timed_out = false;
	if (!ms || !vm_schedule.steers)
		plain.wait(env, object, ms);
	/*
	 * Between two pieces it does not wait, and could miss what it waits for.
	 * Who notifies has the monitor, as we have it here; so all of that is
	 * known.
	 */
	while (ms && vm_schedule.steers) {
		wait_timed_out = false;
		plain.wait(env, object, PIECE_MS);
		if ((*env)->ExceptionCheck(env) || !wait_timed_out ||
		    was_notified(self))
			break;
		if (is_over(self)) {
			if (real_left(self) >= MS)
				plain.wait(env, object,
					   (jlong)(real_left(self) / MS));
			break;
		}
	}
	leave_wait(env, self, object);
}

static jint JNICALL hook_poll(JNIEnv *env, jclass class, jobject fd,
			      jint events, jlong ms)
{
	struct vm_thread *self = ms ? hooked_thread() : NULL;
	if (!self)
		return plain.poll(env, class, fd, events, ms);
	enter_call(self, ms > 0, ms > 0 ? (uint64_t)ms * MS : 0, 0);
	jint result = 0;
	if (ms < 0 || !vm_schedule.steers)
		result = plain.poll(env, class, fd, events, ms);
	while (ms > 0 && vm_schedule.steers && !result && !is_over(self) &&
	       !(*env)->ExceptionCheck(env))
		result = plain.poll(env, class, fd, events, PIECE_MS);
	leave_call(self, WIRE_OPERATION_POLL);
	return result;
}

static jint JNICALL hook_epoll(JNIEnv *env, jclass class, jint fd, jlong events,
			       jint n, jint ms)
{
	struct vm_thread *self = ms ? hooked_thread() : NULL;
	if (!self)
		return plain.epoll(env, class, fd, events, n, ms);
	enter_call(self, ms > 0, ms > 0 ? (uint64_t)ms * MS : 0, 0);
	jint result = 0;
	if (ms < 0 || !vm_schedule.steers)
		result = plain.epoll(env, class, fd, events, n, ms);
	while (ms > 0 && vm_schedule.steers && !result && !is_over(self) &&
	       !(*env)->ExceptionCheck(env))
		result = plain.epoll(env, class, fd, events, n, PIECE_MS);
	leave_call(self, WIRE_OPERATION_POLL);
	return result;
}

/* ---- waking others ---- */

static void JNICALL hook_yield(JNIEnv *env, jclass class)
{
	if (hooked_thread())
		__atomic_fetch_add(&vm_schedule.yields, 1, __ATOMIC_RELAXED);
	plain.yield(env, class);
}

static void JNICALL hook_unpark(JNIEnv *env, jobject unsafe, jobject thread)
{
	struct vm_thread *self = hooked_thread();
	if (thread && __atomic_load_n(&vm_schedule.loaded, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&vm_schedule.lock);
		struct vm_thread *other = vm_schedule_thread(thread);
		if (other)
			__atomic_store_n(&other->permit, true,
					 __ATOMIC_RELEASE);
		vm_schedule.activity++;
		pthread_mutex_unlock(&vm_schedule.lock);
	}
	plain.unpark(env, unsafe, thread);
	if (self && self != vm_schedule.test)
		vm_schedule_segment(self, WIRE_OPERATION_UNPARK, true);
}

static void wake_waiters(int hash, bool all)
{
	pthread_mutex_lock(&vm_schedule.lock);
	for (struct vm_thread *thread = vm_schedule.threads; thread;
	     thread = thread->next) {
		if (thread->in_call && thread->monitor == hash) {
			thread->woken |= all;
			thread->notified += !all;
			thread->stable = 0;
		}
	}
	vm_schedule.activity++;
	pthread_mutex_unlock(&vm_schedule.lock);
}

static void JNICALL hook_notify(JNIEnv *env, jobject object)
{
	struct vm_thread *self = hooked_thread();
	if (__atomic_load_n(&vm_schedule.follows, __ATOMIC_ACQUIRE))
		wake_waiters(monitor_hash(object), false);
	plain.notify(env, object);
	if (self && self != vm_schedule.test)
		vm_schedule_segment(self, WIRE_OPERATION_NOTIFY, true);
}

static void JNICALL hook_notify_all(JNIEnv *env, jobject object)
{
	struct vm_thread *self = hooked_thread();
	if (__atomic_load_n(&vm_schedule.follows, __ATOMIC_ACQUIRE))
		wake_waiters(monitor_hash(object), true);
	plain.notify_all(env, object);
	if (self && self != vm_schedule.test)
		vm_schedule_segment(self, WIRE_OPERATION_NOTIFY_ALL, true);
}

static void JNICALL hook_interrupt(JNIEnv *env, jobject thread)
{
	pthread_mutex_lock(&vm_schedule.lock);
	struct vm_thread *other = vm_schedule_thread(thread);
	if (other)
		other->woken = other->in_call;
	vm_schedule.activity++;
	pthread_mutex_unlock(&vm_schedule.lock);
	plain.interrupt(env, thread);
}

/* The first of what it does comes now, not by chance: the same in every run. */
static void await_start(const struct vm_thread *other)
{
	struct timespec limit;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += START_S;
	pthread_mutex_lock(&vm_schedule.lock);
	while (!other->begun && vm_schedule.active &&
	       !pthread_cond_timedwait(&vm_schedule.released, &vm_schedule.lock,
				       &limit))
		continue;
	pthread_mutex_unlock(&vm_schedule.lock);
}

static void JNICALL hook_start(JNIEnv *env, jobject thread)
{
	struct vm_thread *other = vm_schedule_starting(env, thread);
	plain.start(env, thread);
	if (other && (*env)->ExceptionCheck(env))
		vm_schedule_start_failed(other);
	else if (other && hooked_thread())
		await_start(other);
}

/* ---- clocks ---- */

/* By how much the clocks of the thread that calls are ahead. */
static uint64_t hooked_offset(void)
{
	const struct vm_thread *self = vm_schedule_self();
	return !self || self->foreign
		       ? 0
		       : __atomic_load_n(&vm_schedule.offset, __ATOMIC_ACQUIRE);
}

static jlong JNICALL hook_nano_time(JNIEnv *env, jclass class)
{
	return plain.nano_time(env, class) + (jlong)hooked_offset();
}

static jlong JNICALL hook_millis(JNIEnv *env, jclass class)
{
	return plain.millis(env, class) + (jlong)(hooked_offset() / MS);
}

static jlong JNICALL hook_adjustment(JNIEnv *env, jclass class, jlong seconds)
{
	jlong result = plain.adjustment(env, class, seconds);
	return result == -1 ? -1 : result + (jlong)hooked_offset();
}

/* ---- replacing ---- */

static const struct native_hook {
	const char *class_name, *method, *descriptor;
	const char *symbol; /* of the VM; NULL: learnt, if there is one */
	void *ours;
	void **plain;
} hooks[] = {
#define HOOK(class_name, name, type, symbol, member)                           \
	{                                                                      \
		class_name, name, type, symbol, (void *)hook_##member,         \
			(void **)&plain.member                                 \
	}
	HOOK("java/lang/Thread", "sleep", "(J)V", "JVM_Sleep", sleep),
	HOOK("java/lang/Thread", "yield", "()V", "JVM_Yield", yield),
	HOOK("java/lang/Thread", "start0", "()V", "JVM_StartThread", start),
	HOOK("java/lang/Thread", "interrupt0", "()V", "JVM_Interrupt",
	     interrupt),
	HOOK("java/lang/Object", "wait", "(J)V", "JVM_MonitorWait", wait),
	HOOK("java/lang/Object", "notify", "()V", "JVM_MonitorNotify", notify),
	HOOK("java/lang/Object", "notifyAll", "()V", "JVM_MonitorNotifyAll",
	     notify_all),
	HOOK("java/lang/System", "nanoTime", "()J", "JVM_NanoTime", nano_time),
	HOOK("java/lang/System", "currentTimeMillis", "()J",
	     "JVM_CurrentTimeMillis", millis),
	HOOK("jdk/internal/misc/VM", "getNanoTimeAdjustment", "(J)J",
	     "JVM_GetNanoTimeAdjustment", adjustment),
	HOOK(UNSAFE, "park", "(ZJ)V", NULL, park),
	HOOK(UNSAFE, "unpark", "(Ljava/lang/Object;)V", NULL, unpark),
	/* Bound when they are first called. */
	HOOK("sun/nio/ch/Net", "poll", "(Ljava/io/FileDescriptor;IJ)I", NULL,
	     poll),
	HOOK("sun/nio/ch/EPoll", "wait", "(IJII)I", NULL, epoll),
#undef HOOK
};

void vm_schedule_bind(JNIEnv *env, jvmtiEnv *jvmti, jmethodID method,
		      void *address, void **ret)
{
	char *name = NULL, *type = NULL, *class_name = NULL;
	jclass class;
	if ((*jvmti)->GetMethodName(jvmti, method, &name, &type, NULL))
		return;
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) ||
	    (*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL))
		class_name = NULL;
	for (size_t i = 0; class_name && i < COUNT(hooks); i++) {
		const struct native_hook *hook = &hooks[i];
		size_t n = strlen(hook->class_name);
		if (hook->symbol || address == hook->ours ||
		    strcmp(name, hook->method) != 0 ||
		    strcmp(type, hook->descriptor) != 0 ||
		    strncmp(class_name + 1, hook->class_name, n) != 0 ||
		    class_name[n + 1] != ';')
			continue;
		*hook->plain = address;
		*ret = hook->ours;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)type);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
	(void)env;
}

static bool hook_one(JNIEnv *env, const struct native_hook *hook)
{
	const JNINativeMethod method = { (char *)hook->method,
					 (char *)hook->descriptor, hook->ours };
	*hook->plain = dlsym(RTLD_DEFAULT, hook->symbol);
	jclass class =
		*hook->plain ? (*env)->FindClass(env, hook->class_name) : NULL;
	return class && !(*env)->RegisterNatives(env, class, &method, 1);
}

/* A wait may end at any time, and nobody of the program waits yet. */
static void JNICALL hook_not_yet(void)
{
}

bool vm_schedule_hook(JNIEnv *env, jvmtiEnv *jvmti)
{
	bool all = true;
	jclass unsafe = (*env)->FindClass(env, UNSAFE);
	if (!unsafe)
		return false;
	for (size_t i = 0; i < COUNT(hooks); i++)
		all &= !hooks[i].symbol || hook_one(env, &hooks[i]);
	if ((*jvmti)->SetEventNotificationMode(
		    jvmti, JVMTI_ENABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL))
		return false;
	/* The VM tells of functions only that are not those that it has. */
	for (size_t i = 0; i < COUNT(hooks); i++) {
		const JNINativeMethod method = { (char *)hooks[i].method,
						 (char *)hooks[i].descriptor,
						 (void *)hook_not_yet };
		if (!strcmp(hooks[i].class_name, UNSAFE))
			(*env)->RegisterNatives(env, unsafe, &method, 1);
	}
	jmethodID again = (*env)->GetStaticMethodID(env, unsafe,
						    "registerNatives", "()V");
	if (again)
		(*env)->CallStaticVoidMethod(env, unsafe, again);
	(*env)->ExceptionClear(env);
	return all && plain.park && plain.unpark;
}
