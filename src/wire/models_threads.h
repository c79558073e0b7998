/* Models of time and threads: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_THREADS(X)                                                 \
	X(nanosleep, WIRE_EXTEND, WIRE_ID, WIRE_THROUGH, "nanosleep",          \
	  "POSIX nanosleep: the suspension may be longer than"                 \
	  " requested, because of the scheduling of other activity by"         \
	  " the system",                                                       \
	  "less than was asked for; more than a few milliseconds")             \
	X(usleep, WIRE_EXTEND, WIRE_ID, WIRE_THROUGH, "usleep",                \
	  "usleep(3): the suspension may be longer than requested,"            \
	  " because of the scheduling of other activity by the system",        \
	  "less than was asked for; more than a few milliseconds")             \
	X(sleep, WIRE_EXTEND, WIRE_ID, WIRE_THROUGH, "sleep",                  \
	  "POSIX sleep: the suspension may be longer than requested,"          \
	  " because of the scheduling of other activity by the system",        \
	  "less than was asked for; more than a few milliseconds")             \
	X(clock_nanosleep, WIRE_EXTEND, WIRE_ID, WIRE_THROUGH, "clock_nanosleep", \
	  "POSIX clock_nanosleep: the suspension may be longer than"           \
	  " requested, because of the scheduling of other activity by"         \
	  " the system",                                                       \
	  "less than was asked for; more than a few milliseconds")             \
	X(poll, WIRE_EXTEND, WIRE_ID, 0, "poll",                               \
	  "POSIX poll: it waits at least the time-out; poll(2): kernel"        \
	  " scheduling delays may overrun it by a small amount",               \
	  "hide what is ready; be earlier")                                    \
	X(ppoll, WIRE_EXTEND, WIRE_ID, 0, "ppoll",                             \
	  "ppoll(2): the time-out is a minimum, which scheduling delays"       \
	  " may overrun",                                                      \
	  "hide what is ready; be earlier")                                    \
	X(timerfd, WIRE_EXTEND, WIRE_ID, 0, "timerfd",                         \
	  "timerfd_create(2): read returns the number of expirations"          \
	  " since the last one, which may be more than one",                   \
	  "timers whose interval is longer than a few milliseconds")           \
	X(sem_timedwait, WIRE_EXTEND, WIRE_ID, 0, "sem_timedwait",             \
	  "POSIX sem_timedwait: the time-out expires when the time"            \
	  " passes, and rescheduling takes its time",                          \
	  "be earlier")                                                        \
	X(pthread_mutex_timedlock, WIRE_EXTEND, WIRE_ID, 0, "pthread_mutex_timedlock", \
	  "POSIX pthread_mutex_timedlock: the time-out expires when the"       \
	  " time passes, and rescheduling takes its time",                     \
	  "be earlier")                                                        \
	X(pthread_join, WIRE_EXTEND, WIRE_ID, WIRE_THROUGH, "pthread_join",    \
	  "POSIX pthread_join: it is not specified how soon it returns"        \
	  " after the thread has ended",                                       \
	  "more than a few milliseconds")                                      \
	X(pthread_cond_wait, WIRE_SPURIOUS, WIRE_ID, WIRE_THROUGH, "pthread_cond_wait", \
	  "POSIX pthread_cond_wait: spurious wakeups may occur",               \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row")                                                              \
	X(pthread_cond_timedwait, WIRE_SPURIOUS, WIRE_ID, WIRE_THROUGH, "pthread_cond_timedwait", \
	  "POSIX pthread_cond_timedwait: spurious wakeups may occur,"          \
	  " and the time-out may be noticed late",                             \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row; time out early")                                              \
	X(pthread_cond_clockwait, WIRE_SPURIOUS, WIRE_ID, WIRE_THROUGH, "pthread_cond_clockwait", \
	  "POSIX pthread_cond_clockwait: spurious wakeups may occur,"          \
	  " and the time-out may be noticed late",                             \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row; time out early")                                              \
	X(cnd_wait, WIRE_SPURIOUS, WIRE_ID, 0, "cnd_wait",                     \
	  "C17 7.26.3.6: it blocks until the condition is signaled, or"        \
	  " until it is unblocked due to an unspecified reason",               \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row")                                                              \
	X(cnd_timedwait, WIRE_SPURIOUS, WIRE_ID, 0, "cnd_timedwait",           \
	  "C17 7.26.3.5: it blocks until the condition is signaled, the"       \
	  " time has passed, or until it is unblocked due to an"               \
	  " unspecified reason",                                               \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row; time out early")                                              \
	X(g_cond_wait, WIRE_SPURIOUS, WIRE_ID, 0, "g_cond_wait",               \
	  "GLib g_cond_wait: spurious wakeups may occur; it has to be"         \
	  " called in a loop",                                                 \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row")                                                              \
	X(g_cond_wait_until, WIRE_SPURIOUS, WIRE_ID, 0, "g_cond_wait_until",   \
	  "GLib g_cond_wait_until: spurious wakeups may occur; it has"         \
	  " to be called in a loop",                                           \
	  "return while another thread holds the mutex, or twice in a"         \
	  " row; time out early")                                              \
	X(pthread_cond_signal, WIRE_SPURIOUS, WIRE_ID, WIRE_THROUGH, "pthread_cond_signal", \
	  "POSIX pthread_cond_signal: unblocks at least one of the"            \
	  " threads that are blocked",                                         \
	  "wake none")                                                         \
	X(cnd_signal, WIRE_SPURIOUS, WIRE_ID, 0, "cnd_signal",                 \
	  "C17 7.26.3.4 unblocks one, and 7.26.3.6 lets any other go on"       \
	  " for an unspecified reason",                                        \
	  "wake none")                                                         \
	X(g_cond_signal, WIRE_SPURIOUS, WIRE_ID, 0, "g_cond_signal",           \
	  "GLib g_cond_signal: at least one of the waiting threads is"         \
	  " unblocked",                                                        \
	  "wake none")                                                         \
	X(pthread_create, WIRE_EXTEND, WIRE_ID, WIRE_THROUGH, "pthread_create", \
	  "POSIX pthread_create: it is not specified when the new thread"      \
	  " begins to run, or its creator continues",                          \
	  "more than a few milliseconds")                                      \
	X(thrd_create, WIRE_EXTEND, WIRE_ID, 0, "thrd_create",                 \
	  "C17 7.26.5.1: completion synchronizes with the beginning of"        \
	  " the new thread; when that begins is not said",                     \
	  "more than a few milliseconds")                                      \
	X(thread_stack, WIRE_EXTEND, WIRE_ID, WIRE_OPTIONAL | WIRE_THROUGH, "thread_stack", \
	  "POSIX pthread_attr_init: the default stack size is"                 \
	  " implementation-defined",                                           \
	  "threads whose attributes are given; less than 256 KiB")             \
	X(fork, WIRE_EXTEND, WIRE_FULL, 0, "fork",                             \
	  "POSIX fork: both processes are capable of executing"                \
	  " independently; which runs first is not said",                      \
	  "more than a few milliseconds")                                      \
	X(mtx_trylock, WIRE_SPURIOUS, WIRE_ID, 0, "mtx_trylock",               \
	  "C17 7.26.4.5: it may spuriously fail to lock an unused"             \
	  " resource, and returns thrd_busy",                                  \
	  "pthread_mutex_trylock; twice in a row")                             \
	X(pthread_key_create, WIRE_PERMUTE, WIRE_ID, 0, "pthread_key_create",  \
	  "POSIX pthread_key_create: the order of destructor calls is"         \
	  " unspecified when a thread with several values exits",              \
	  "keys without destructor")                                           \
	X(tss_create, WIRE_PERMUTE, WIRE_ID, 0, "tss_create",                  \
	  "C17 7.26.6.1: no order is given in which the destructors of"        \
	  " several keys are invoked",                                         \
	  "keys without destructor")                                           \
	X(pthread_barrier_wait, WIRE_PERMUTE, WIRE_ID, 0, "pthread_barrier_wait", \
	  "POSIX pthread_barrier_wait: the serial thread is one"               \
	  " (unspecified) thread of those synchronized",                       \
	  "barriers of several processes, or with more threads than it"        \
	  " counts")                                                           \
	X(sigwait, WIRE_PERMUTE, WIRE_ID, 0, "sigwait",                        \
	  "POSIX sigwaitinfo: the selection order between multiple"            \
	  " pending non-realtime signals is unspecified",                      \
	  "real-time signals")                                                 \
	X(pthread_sigmask, WIRE_PERMUTE, WIRE_ID, 0, "pthread_sigmask",        \
	  "POSIX 2.4.2: the selection order between multiple pending"          \
	  " non-realtime signals is unspecified",                              \
	  "real-time signals, and those of faults")                            \
	X(sigprocmask, WIRE_PERMUTE, WIRE_ID, 0, "sigprocmask",                \
	  "POSIX 2.4.2: the selection order between multiple pending"          \
	  " non-realtime signals is unspecified",                              \
	  "real-time signals, and those of faults")
/* clang-format on */
