/* Models of short and interrupted calls: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_SHORT(X)                                                   \
	X(read, WIRE_SHORT, WIRE_ID, 0, "read",                                \
	  "POSIX read: the value returned may be less than nbyte; a"           \
	  " socket gives what has arrived, in any pieces",                     \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; up to PIPE_BUF bytes of a"           \
	  " pipe")                                                             \
	X(read_pipe, WIRE_SHORT, WIRE_ID, WIRE_OPTIONAL, "read_pipe",          \
	  "POSIX read: a pipe that has fewer bytes immediately"                \
	  " available returns those",                                          \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors")                                     \
	X(readv, WIRE_SHORT, WIRE_ID, 0, "readv",                              \
	  "POSIX readv: equivalent to read() except for where the data"        \
	  " goes; the value returned may be less",                             \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors")                                     \
	X(recv, WIRE_SHORT, WIRE_ID, 0, "recv",                                \
	  "POSIX recv: on stream sockets data is returned as soon as it"       \
	  " becomes available, and message boundaries are ignored",            \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; calls with MSG_WAITALL or"           \
	  " MSG_PEEK")                                                         \
	X(recvfrom, WIRE_SHORT, WIRE_ID, 0, "recvfrom",                        \
	  "POSIX recvfrom: on stream sockets data is returned as soon"         \
	  " as it becomes available, and message boundaries are ignored",      \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; calls with MSG_WAITALL or"           \
	  " MSG_PEEK")                                                         \
	X(recvmsg, WIRE_SHORT, WIRE_ID, 0, "recvmsg",                          \
	  "POSIX recvmsg: on stream sockets data is returned as soon as"       \
	  " it becomes available, and message boundaries are ignored",         \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; calls with MSG_WAITALL or"           \
	  " MSG_PEEK")                                                         \
	X(write, WIRE_SHORT, WIRE_ID, 0, "write",                              \
	  "POSIX write: a write to a stream socket is a send(); without"       \
	  " O_NONBLOCK a pipe takes all, with it what it can",                 \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; blocking pipes, streams except at FULL, and up to"           \
	  " PIPE_BUF bytes of others")                                         \
	X(writev, WIRE_SHORT, WIRE_ID, 0, "writev",                            \
	  "POSIX writev: equivalent to write() except for where the data"      \
	  " comes from",                                                       \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; blocking pipes, streams except at FULL, and up to"           \
	  " PIPE_BUF bytes of others")                                         \
	X(send, WIRE_SHORT, WIRE_ID, 0, "send",                                \
	  "POSIX send: on success the number of bytes sent is returned;"       \
	  " Linux returns what was sent when a signal comes in between",       \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; blocking streams, except at FULL")   \
	X(sendto, WIRE_SHORT, WIRE_ID, 0, "sendto",                            \
	  "POSIX sendto: on success the number of bytes sent is"               \
	  " returned; Linux returns what was sent when a signal comes"         \
	  " in between",                                                       \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; blocking streams, except at FULL")   \
	X(sendmsg, WIRE_SHORT, WIRE_ID, 0, "sendmsg",                          \
	  "POSIX sendmsg: on success the number of bytes sent is"              \
	  " returned; Linux returns what was sent when a signal comes"         \
	  " in between",                                                       \
	  "less than one byte, or boundaries: datagrams, files,"               \
	  " terminals, event descriptors; blocking streams, except at FULL")   \
	X(sendfile, WIRE_SHORT, WIRE_ID, 0, "sendfile",                        \
	  "sendfile(2): a successful call may write fewer bytes than"          \
	  " requested; the caller should be prepared to retry",                \
	  "less than one byte where there is one")                             \
	X(copy_file_range, WIRE_SHORT, WIRE_ID, 0, "copy_file_range",          \
	  "copy_file_range(2): returns the number of bytes copied,"            \
	  " which could be less than the length requested",                    \
	  "less than one byte where there is one")                             \
	X(splice, WIRE_SHORT, WIRE_ID, 0, "splice",                            \
	  "splice(2): moves up to len bytes, and returns how many",            \
	  "less than one byte where there is one")                             \
	X(tee, WIRE_SHORT, WIRE_ID, 0, "tee",                                  \
	  "tee(2): duplicates up to len bytes, and returns how many",          \
	  "less than one byte where there is one")                             \
	X(sigtimedwait, WIRE_SPURIOUS, WIRE_FULL, 0, "sigtimedwait",           \
	  "signal(7): even without handlers it can fail with EINTR"            \
	  " after the process was stopped by a signal and resumed",            \
	  "a call that would not wait, or twice in a row")                     \
	X(sigwaitinfo, WIRE_SPURIOUS, WIRE_FULL, 0, "sigwaitinfo",             \
	  "signal(7): even without handlers it can fail with EINTR"            \
	  " after the process was stopped by a signal and resumed",            \
	  "a call that would not wait, or twice in a row")                     \
	X(semop, WIRE_SPURIOUS, WIRE_FULL, 0, "semop",                         \
	  "signal(7): even without handlers it can fail with EINTR"            \
	  " after the process was stopped by a signal and resumed",            \
	  "a call that would not wait, or twice in a row")                     \
	X(semtimedop, WIRE_SPURIOUS, WIRE_FULL, 0, "semtimedop",               \
	  "signal(7): even without handlers it can fail with EINTR"            \
	  " after the process was stopped by a signal and resumed",            \
	  "a call that would not wait, or twice in a row")                     \
	X(accept, WIRE_SPURIOUS, WIRE_FULL, 0, "accept",                       \
	  "signal(7): even without handlers it can fail with EINTR"            \
	  " after the process was stopped by a signal and resumed,"            \
	  " where SO_RCVTIMEO is set",                                         \
	  "a call that would not wait, or twice in a row; sockets"             \
	  " without time-out")                                                 \
	X(recv_timeout, WIRE_SPURIOUS, WIRE_FULL, 0, "recv_timeout",           \
	  "signal(7): even without handlers it can fail with EINTR"            \
	  " after the process was stopped by a signal and resumed,"            \
	  " where SO_RCVTIMEO is set",                                         \
	  "a call that would not wait, or twice in a row; sockets"             \
	  " without time-out")
/* clang-format on */
