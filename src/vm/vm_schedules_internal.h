/*
 * Threads of a Java VM under a schedule (struct suite_schedule): who waits, until
 * when, and who is held.
 *
 * Native methods of the library in which a thread can wait or wake another one are
 * replaced by ours (vm_schedules_hooks.c), which call them. So all is known that the
 * rules of suite/schedule.h need: where work begins, who rests, which wait ends
 * first. Waits with a limit are made of short ones as long as the test is steered:
 * the clocks of the program can then run ahead, and the wait ends.
 *
 * One thread of ours looks at all others once in a millisecond (vm_schedules_tick.c).
 * The VM does not know it. It holds and releases, and lets time pass.
 *
 * Invariants:
 *  1. All of struct vm_schedule is under its lock, except what is marked atomic.
 *  2. With the lock taken the VM may be called: whoever waits for the lock is in
 *     native code, and stops no collection. Ours never calls the VM.
 *  3. Threads that were there before the program, and those that frameworks start,
 *     are never held, and see real time: limits of frameworks are not ours to end.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "vm/vm_agent.h"
#include "wire/vm_schedule.h"

#define SCHEDULE_KEY_SIZE 512
#define SCHEDULE_STACK_SIZE 4096
#define SCHEDULE_NS_PER_MS ((uint64_t)1000000)

struct vm_thread {
	struct vm_thread *next;
	unsigned number; /* 0: the test's */
	/* Of a framework: invariant 3. */
	bool foreign;
	bool started; /* it runs; before, it is about to */
	bool begun;   /* its first segment was told, or it has none */
	bool ended;
	char group[SCHEDULE_KEY_SIZE]; /* who started it */
	/* Stack of that, as of vm_callers_frames(). */
	unsigned char stack[SCHEDULE_STACK_SIZE];
	uint64_t stack_n;
	jweak object; /* until it runs */
	int hash;     /* of its java.lang.Thread */
	pid_t tid;
	clockid_t cpu;
	/* What it waits in. */
	bool in_call;
	bool blocked; /* it is about to enter a monitor that another one has */
	bool timed;
	uint64_t began, deadline; /* vm_schedule_now() */
	int monitor;		  /* hash of what it waits for; 0: none */
	bool woken;		  /* its wait is over, or about to be */
	unsigned notified;	  /* or may be: one of those that wait there */
	bool permit;		  /* LockSupport.unpark() was called */
	/* Held, or the test's thread waits for others. */
	bool held;
	uint64_t held_since;
	uint64_t switches;
	unsigned stable; /* looks in which it slept all the time */
	bool fresh;	 /* a pool's, that has just been started */
};

struct vm_schedule {
	pthread_mutex_t lock;
	pthread_cond_t released; /* threads that are held, or wait for them */
	jvmtiEnv *jvmti;
	bool loaded; /* the VM was started for it */
	bool begun;  /* a schedule was given */
	/* Atomic: calls are followed, also of threads that fixtures start. */
	bool follows;
	bool active; /* atomic: the test runs */
	bool steers;
	/* The schedule. */
	char *class_name;
	uint32_t first_line;
	uint32_t flags, nth, until_nth, before_nth;
	uint64_t patience, seed, delay;
	char *event, *until, *before;
	/* Its test. */
	struct vm_thread *threads;
	struct vm_thread *test;
	bool claimed; /* a statement of the test was seen: whose is known */
	unsigned numbers;
	uint64_t test_began;
	uint64_t offset; /* atomic: of the program's clocks */
	bool ticking;
	bool holding, was_released;
	uint64_t hold_began;
	bool pausing, delivering, calming, settling;
	bool restless; /* others do not come to rest: they are not waited for */
	uint64_t pause_began;
	uint64_t paused_ns, held_ns, stood_ns;
	uint64_t counted_until;
	uint64_t cpu_began;
	uint64_t hold_real; /* when it began, in real time */
	uint64_t yields;
	unsigned passes;
	uint64_t activity, seen_activity; /* calls and returns of all threads */
	uint64_t rests_since;
	unsigned steps;
	/* How it went. */
	bool had_threads, reached, hung, stood, after, failed, ended;
	uint32_t why; /* enum wire_schedule_hold_end */
	uint64_t margin;
};
extern struct vm_schedule vm_schedule;

/* The thread that calls; NULL: none of the program's. */
struct vm_thread *vm_schedule_self(void);

/* On the clocks of the program. */
uint64_t vm_schedule_now(void);
uint64_t vm_schedule_real(void);

/* ---- vm_schedules.c ---- */

/* With the lock: the thread that is known by that object, if it runs. */
struct vm_thread *vm_schedule_thread(jobject thread);
/* A thread is about to be started by this one; NULL: it is none of ours. */
struct vm_thread *vm_schedule_starting(JNIEnv *env, jobject thread);
void vm_schedule_start_failed(struct vm_thread *thread);
/* With the lock: how it went is told, once. */
void vm_schedule_end(void);

/* ---- vm_schedules_moment.c ---- */

/* The frames of the thread that calls, the program's first. */
void vm_schedule_frames(unsigned char *out, size_t size, uint64_t *ret_n);
/* "File.java:17" of the first of them, or "?". */
void vm_schedule_frame_key(const unsigned char *frames, uint64_t n, char *out,
			   size_t size);
/* With the lock. How often a key was met, with this time. */
unsigned vm_schedule_count(const char *key);
void vm_schedule_forget_counts(void);

struct vm_moment {
	uint32_t kind, thread, nth, operation, line;
	bool inside;
	const char *key, *file;
	const unsigned char *stack; /* as of vm_callers_frames() */
	uint64_t stack_n;
};
/* With the lock. */
void vm_schedule_tell(const struct vm_moment *moment);
void vm_schedule_mark(uint32_t kind);

/* ---- vm_schedules_hooks.c ---- */

/* Replaces the native methods; false: this VM has others. */
bool vm_schedule_hook(JNIEnv *env, jvmtiEnv *jvmti);
void vm_schedule_bind(JNIEnv *env, jvmtiEnv *jvmti, jmethodID method,
		      void *address, void **ret);
/* A wait of this thread ended because its time was over, or not. */
void vm_schedule_waited(bool timed_out);

/* ---- vm_schedules_places.c ---- */

/* Places in the library where work begins get breakpoints. */
void vm_schedule_break_places(JNIEnv *env);
/* This thread is at one of them; false: it is none. */
bool vm_schedule_at_place(struct vm_thread *self, jmethodID method,
			  jlocation location);
/* A thread of a pool that waits for its next task. */
bool vm_schedule_idles(void);

/* ---- vm_schedules_segment.c ---- */

/* A segment of this thread begins: it may be held here. */
void vm_schedule_segment(struct vm_thread *self,
			 enum wire_schedule_operation operation, bool inside);
/* The test's thread is before a statement. */
void vm_schedule_statement(struct vm_thread *self, unsigned line,
			   jlocation location);
/* With the lock: the thread that calls waits until it may go on. */
void vm_schedule_pause(struct vm_thread *self, bool calming);
/*
 * The test's thread goes on, after a wait or before a statement. The others come as
 * far as they can before what is to be held is handed to them: the same in every
 * run.
 */
void vm_schedule_calm(struct vm_thread *self);
/* With the lock. */
void vm_schedule_release(uint32_t why);
void vm_schedule_fail(void);

/* ---- vm_schedules_tick.c ---- */

bool vm_schedule_start_ticks(void);
uint64_t vm_schedule_cpu(void); /* with the lock */
uint64_t vm_schedule_lateness(void);
