/* Models of values of which only a property is promised: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_VALUES(X)						\
	X(strcmp, WIRE_RANDOM, WIRE_ONE, 0, "strcmp",			\
	  "C17 7.24.4.2: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(strncmp, WIRE_RANDOM, WIRE_ONE, 0, "strncmp",			\
	  "C17 7.24.4.4: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(memcmp, WIRE_RANDOM, WIRE_ONE, 0, "memcmp",			\
	  "C17 7.24.4.1: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(bcmp, WIRE_RANDOM, WIRE_ONE, 0, "bcmp",			\
	  "POSIX.1-2001 bcmp(): 0 if identical; otherwise non-zero",	\
	  "zero for different bytes, another value for equal ones")	\
	X(strcasecmp, WIRE_RANDOM, WIRE_ONE, 0, "strcasecmp",		\
	  "POSIX strcasecmp(): an integer greater than, equal to, or"	\
	  " less than 0",						\
	  "the sign, or zero where they are equal")			\
	X(strncasecmp, WIRE_RANDOM, WIRE_ONE, 0, "strncasecmp",		\
	  "POSIX strncasecmp(): an integer greater than, equal to, or"	\
	  " less than 0",						\
	  "the sign, or zero where they are equal")			\
	X(strcoll, WIRE_RANDOM, WIRE_ONE, 0, "strcoll",			\
	  "C17 7.24.4.3: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(strverscmp, WIRE_RANDOM, WIRE_ONE, 0, "strverscmp",		\
	  "strverscmp(3): an integer less than, equal to, or greater"	\
	  " than zero",							\
	  "the sign, or zero where they are equal")			\
	X(wcscmp, WIRE_RANDOM, WIRE_ONE, 0, "wcscmp",			\
	  "C17 7.29.4.4.1: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(wcsncmp, WIRE_RANDOM, WIRE_ONE, 0, "wcsncmp",			\
	  "C17 7.29.4.4.3: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(wcscasecmp, WIRE_RANDOM, WIRE_ONE, 0, "wcscasecmp",		\
	  "POSIX wcscasecmp(): an integer greater than, equal to, or"	\
	  " less than 0",						\
	  "the sign, or zero where they are equal")			\
	X(wcscoll, WIRE_RANDOM, WIRE_ONE, 0, "wcscoll",			\
	  "C17 7.29.4.4.2: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(wmemcmp, WIRE_RANDOM, WIRE_ONE, 0, "wmemcmp",			\
	  "C17 7.29.4.4.5: an integer greater than, equal to, or less"	\
	  " than zero, accordingly",					\
	  "the sign, or zero where they are equal")			\
	X(string_compare, WIRE_RANDOM, WIRE_ONE, 0, "std::string::compare", \
	  "C++17 [string.view.ops], [string.compare]: a value < 0, 0,"	\
	  " or > 0",							\
	  "the sign, or zero where they are equal")			\
	X(isalnum, WIRE_RANDOM, WIRE_ONE, 0, "isalnum",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isalpha, WIRE_RANDOM, WIRE_ONE, 0, "isalpha",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isblank, WIRE_RANDOM, WIRE_ONE, 0, "isblank",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iscntrl, WIRE_RANDOM, WIRE_ONE, 0, "iscntrl",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isdigit, WIRE_RANDOM, WIRE_ONE, 0, "isdigit",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isgraph, WIRE_RANDOM, WIRE_ONE, 0, "isgraph",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(islower, WIRE_RANDOM, WIRE_ONE, 0, "islower",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isprint, WIRE_RANDOM, WIRE_ONE, 0, "isprint",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(ispunct, WIRE_RANDOM, WIRE_ONE, 0, "ispunct",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isspace, WIRE_RANDOM, WIRE_ONE, 0, "isspace",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isupper, WIRE_RANDOM, WIRE_ONE, 0, "isupper",			\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(isxdigit, WIRE_RANDOM, WIRE_ONE, 0, "isxdigit",		\
	  "C17 7.4.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswalnum, WIRE_RANDOM, WIRE_ONE, 0, "iswalnum",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswalpha, WIRE_RANDOM, WIRE_ONE, 0, "iswalpha",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswdigit, WIRE_RANDOM, WIRE_ONE, 0, "iswdigit",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswlower, WIRE_RANDOM, WIRE_ONE, 0, "iswlower",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswprint, WIRE_RANDOM, WIRE_ONE, 0, "iswprint",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswpunct, WIRE_RANDOM, WIRE_ONE, 0, "iswpunct",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswspace, WIRE_RANDOM, WIRE_ONE, 0, "iswspace",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(iswupper, WIRE_RANDOM, WIRE_ONE, 0, "iswupper",		\
	  "C17 7.30.2.1: nonzero (true) if and only if the argument"	\
	  " conforms to the description",				\
	  "zero for a character of the kind, another value for others")	\
	X(printf_p, WIRE_RANDOM, WIRE_ONE, WIRE_THROUGH, "printf-pointer",	\
	  "C17 7.21.6.1: %p: a sequence of printing characters, in an"	\
	  " implementation-defined manner",				\
	  "a text that scanf() does not read back with %p; different"	\
	  " ones for the same pointer")					\
	X(strerror, WIRE_RANDOM, WIRE_ONE, WIRE_THROUGH, "strerror",	\
	  "C17 7.24.6.2: the contents of the message are locale-"	\
	  " specific; POSIX does not name any text",			\
	  "different texts for the same number, whichever function"	\
	  " gives them")						\
	X(strerror_r, WIRE_RANDOM, WIRE_FULL, 0, "strerror_r",		\
	  "strerror_r(3), GNU: a string that the function stores in"	\
	  " buf, or a pointer to some (immutable) static string",	\
	  "anything past the array's end")				\
	X(strsignal, WIRE_RANDOM, WIRE_ONE, 0, "strsignal",		\
	  "POSIX strsignal(): an implementation-defined message",	\
	  "different texts for the same number, whichever function"	\
	  " gives them")						\
	X(gai_strerror, WIRE_RANDOM, WIRE_ONE, 0, "gai_strerror",	\
	  "POSIX gai_strerror(): a text string describing an error"	\
	  " value; the text is unspecified",				\
	  "different texts for the same number, whichever function"	\
	  " gives them")						\
	X(hstrerror, WIRE_RANDOM, WIRE_ONE, 0, "hstrerror",		\
	  "gethostbyname(3): the error message associated with the"	\
	  " value; the text is unspecified",				\
	  "different texts for the same number, whichever function"	\
	  " gives them")						\
	X(regerror, WIRE_RANDOM, WIRE_ONE, 0, "regerror",		\
	  "POSIX regerror(): a mapping from error codes to"		\
	  " unspecified printable strings",				\
	  "different texts for the same number, whichever function"	\
	  " gives them")						\
	X(exception_what, WIRE_RANDOM, WIRE_ONE, 0, "std::exception::what", \
	  "C++17 [bad.alloc], [bad.cast], [bad.typeid]: what()"		\
	  " returns an implementation-defined NTBS",			\
	  "the text that the program itself gave an exception")		\
	X(exception_text, WIRE_RANDOM, WIRE_ONE, 0, "std::out_of_range", \
	  "C++17 [sequence.reqmts], [string.conversions]: throws"	\
	  " out_of_range, invalid_argument, length_error; the text is"	\
	  " unspecified",						\
	  "another type of exception, or the program's own text")	\
	X(puts, WIRE_RANDOM, WIRE_ONE, 0, "puts",			\
	  "C17 7.21.7.9: EOF if a write error occurs; otherwise a"	\
	  " nonnegative value",						\
	  "a negative value, or another one for errors")		\
	X(fputs, WIRE_RANDOM, WIRE_ONE, 0, "fputs",			\
	  "C17 7.21.7.4: EOF if a write error occurs; otherwise a"	\
	  " nonnegative value",						\
	  "a negative value, or another one for errors")		\
	X(feof, WIRE_RANDOM, WIRE_ONE, 0, "feof",			\
	  "C17 7.21.10.2: nonzero if and only if the end-of-file"	\
	  " indicator is set",						\
	  "zero where it is set")					\
	X(ferror, WIRE_RANDOM, WIRE_ONE, 0, "ferror",			\
	  "C17 7.21.10.3: nonzero if and only if the error indicator"	\
	  " is set",							\
	  "zero where it is set")					\
	X(printf_errno, WIRE_RANDOM, WIRE_FULL, 0, "printf-errno",		\
	  "POSIX 2.3: the setting of errno after a successful call is"	\
	  " unspecified",						\
	  "errno after a failure, or errno set to 0")			\
	X(fopen_errno, WIRE_RANDOM, WIRE_FULL, 0, "fopen",		\
	  "POSIX 2.3: the setting of errno after a successful call is"	\
	  " unspecified",						\
	  "errno after a failure, or errno set to 0")			\
	X(strtol, WIRE_RANDOM, WIRE_FULL, 0, "strtol",			\
	  "POSIX strtol(): if no conversion could be performed errno"	\
	  " may be set to EINVAL",					\
	  "errno after a conversion")					\
	X(strtoll, WIRE_RANDOM, WIRE_FULL, 0, "strtoll",		\
	  "POSIX strtoll(): if no conversion could be performed errno"	\
	  " may be set to EINVAL",					\
	  "errno after a conversion")					\
	X(strtoul, WIRE_RANDOM, WIRE_FULL, 0, "strtoul",		\
	  "POSIX strtoul(): if no conversion could be performed errno"	\
	  " may be set to EINVAL",					\
	  "errno after a conversion")					\
	X(strtoull, WIRE_RANDOM, WIRE_FULL, 0, "strtoull",		\
	  "POSIX strtoull(): if no conversion could be performed"	\
	  " errno may be set to EINVAL",				\
	  "errno after a conversion")					\
	X(strtod, WIRE_RANDOM, WIRE_FULL, 0, "strtod",			\
	  "POSIX strtod(): if no conversion could be performed errno"	\
	  " may be set to EINVAL",					\
	  "errno after a conversion")					\
	X(rand, WIRE_RANDOM, WIRE_ONE, 0, "rand",			\
	  "C17 7.22.2: a sequence of pseudo-random integers, repeated"	\
	  " after the same srand(); the sequence is unspecified",	\
	  "another sequence after the same seed, or values out of"	\
	  " range")							\
	X(random, WIRE_RANDOM, WIRE_ONE, 0, "random",			\
	  "POSIX random(): a non-linear feedback generator, repeated"	\
	  " after the same srandom(); the sequence is unspecified",	\
	  "another sequence after the same seed, or values out of"	\
	  " range")							\
	X(rand_r, WIRE_RANDOM, WIRE_ONE, 0, "rand_r",			\
	  "POSIX.1-2008 rand_r(): a sequence of pseudo-random integers"	\
	  " that follows from the seed; which one is unspecified",	\
	  "another sequence after the same seed, or values out of"	\
	  " range")							\
	X(getrandom, WIRE_SHORT, WIRE_ID, 0, "getrandom",		\
	  "getrandom(2): up to 256 bytes are always returned as"	\
	  " requested; no such guarantees for larger buffers",		\
	  "fewer than 256 bytes")					\
	X(random_device, WIRE_RANDOM, WIRE_FULL, WIRE_OPTIONAL | WIRE_THROUGH, "std::random_device", \
	  "C++17 [rand.device]: values between min() and max(),"	\
	  " inclusive",							\
	  "values out of range")					\
	X(sin, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "sin",		\
	  "C17 5.2.4.2.2: the accuracy of the library functions in"	\
	  " <math.h> is implementation-defined",			\
	  "exact cases, special values, and more than one unit in the"	\
	  " last place")						\
	X(cos, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "cos",		\
	  "C17 5.2.4.2.2: the accuracy of the library functions in"	\
	  " <math.h> is implementation-defined",			\
	  "exact cases, special values, and more than one unit in the"	\
	  " last place")						\
	X(exp, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "exp",		\
	  "C17 5.2.4.2.2: the accuracy of the library functions in"	\
	  " <math.h> is implementation-defined",			\
	  "exact cases, special values, and more than one unit in the"	\
	  " last place")						\
	X(log, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "log",		\
	  "C17 5.2.4.2.2: the accuracy of the library functions in"	\
	  " <math.h> is implementation-defined",			\
	  "exact cases, special values, and more than one unit in the"	\
	  " last place")						\
	X(pow, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "pow",		\
	  "C17 5.2.4.2.2: the accuracy of the library functions in"	\
	  " <math.h> is implementation-defined",			\
	  "exact cases, special values, and more than one unit in the"	\
	  " last place")						\
	X(clock, WIRE_RANDOM, WIRE_ONE, 0, "clock",			\
	  "C17 7.27.2.1: time since the beginning of an"		\
	  " implementation-defined era",				\
	  "a change of the era while the program runs")			\
	X(times, WIRE_RANDOM, WIRE_ONE, 0, "times",			\
	  "POSIX times(): elapsed real time since an arbitrary point"	\
	  " in the past",						\
	  "a change of that point while the program runs")		\
	X(strftime, WIRE_RANDOM, WIRE_ONE, 0, "strftime",		\
	  "C17 7.27.3.5: if it does not fit zero is returned and the"	\
	  " contents of the array are indeterminate",			\
	  "the array where the text fits")				\
	X(strxfrm, WIRE_RANDOM, WIRE_ONE, 0, "strxfrm",			\
	  "C17 7.24.4.5: if the value returned is n or more, the"	\
	  " contents of the array are indeterminate",			\
	  "the array where the text fits")				\
	X(memfd_create, WIRE_RANDOM, WIRE_ONE, 0, "memfd_create",	\
	  "memfd_create(2): returns a new file descriptor; unlike"	\
	  " open(2) it does not say the lowest",			\
	  "a descriptor that is open, or without its flags")		\
	X(eventfd, WIRE_RANDOM, WIRE_ONE, 0, "eventfd",			\
	  "eventfd(2): returns a new file descriptor; unlike open(2)"	\
	  " it does not say the lowest",				\
	  "a descriptor that is open, or without its flags")		\
	X(timerfd_create, WIRE_RANDOM, WIRE_ONE, 0, "timerfd_create",	\
	  "timerfd_create(2): returns a new file descriptor; unlike"	\
	  " open(2) it does not say the lowest",			\
	  "a descriptor that is open, or without its flags")		\
	X(epoll_create1, WIRE_RANDOM, WIRE_ONE, 0, "epoll_create1",	\
	  "epoll_create(2): returns a file descriptor; unlike open(2)"	\
	  " it does not say the lowest",				\
	  "a descriptor that is open, or without its flags")		\
	X(inotify_init1, WIRE_RANDOM, WIRE_ONE, 0, "inotify_init1",	\
	  "inotify_init(2): returns a new file descriptor; unlike"	\
	  " open(2) it does not say the lowest",			\
	  "a descriptor that is open, or without its flags")		\
	X(stat_directory, WIRE_RANDOM, WIRE_ONE, 0, "stat-directory",		\
	  "POSIX <sys/stat.h>: for other file types than regular"	\
	  " files and links the use of st_size is unspecified;"		\
	  " directories may have one link",				\
	  "files that are no directories")				\
	X(stat_blksize, WIRE_RANDOM, WIRE_ONE, 0, "stat-blksize",		\
	  "POSIX <sys/stat.h>: st_blksize is a file system-specific"	\
	  " preferred I/O block size",					\
	  "zero, or different ones for one file")			\
	X(stat_times, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL, "stat-times",	\
	  "POSIX <sys/stat.h>: the resolution of time stamps is"	\
	  " implementation-defined",					\
	  "a later time, or different ones for one file")		\
	X(stat_inode, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL | WIRE_THROUGH, "stat-inode", \
	  "POSIX <sys/stat.h>: st_ino and st_dev together identify the"	\
	  " file; the numbers are unspecified",				\
	  "one number for two files, or two for one")			\
	X(clock_resolution, WIRE_RANDOM, WIRE_ONE, WIRE_CONSTANT, "clock-resolution", \
	  "POSIX clock_getres(): the resolution of any clock is"	\
	  " implementation-defined; C++17 [time.clock.req]: two calls"	\
	  " of now() may return the same",				\
	  "time that goes backwards, or lags by a microsecond")		\
	X(clock_ticks, WIRE_RANDOM, WIRE_ONE, WIRE_OPTIONAL | WIRE_CONSTANT, "clock-ticks", \
	  "POSIX <limits.h>: _POSIX_CLOCKRES_MIN lets CLOCK_REALTIME"	\
	  " tick every 20 ms",						\
	  "time that goes backwards, waits that are over too early")	\
	X(clock_delay, WIRE_EXTEND, WIRE_FULL, 0, "clock-delay", \
	  "POSIX 2.8.4: when a thread of SCHED_OTHER runs is"		\
	  " implementation-defined, so some time may go by before a"	\
	  " call reads the clock",					\
	  "more than 2 ms, or again and again in a loop")		\
	X(clock_boundary, WIRE_EXTEND, WIRE_FULL, 0, "clock-boundary",	\
	  "C17 7.27.2.4: the current calendar time, at which a second,"	\
	  " a minute or a day may end between any two calls",		\
	  "time that goes backwards, more than 20 ms between two calls")	\
	X(ungetc, WIRE_SHORT, WIRE_FULL, 0, "ungetc",			\
	  "C17 7.21.7.10: one character of pushback is guaranteed; too"	\
	  " many without an intervening read may fail",			\
	  "the first one, or one after a read or a seek")		\
	X(mkstemp, WIRE_RANDOM, WIRE_ONE, 0, "mkstemp",			\
	  "POSIX mkstemp(): each X is replaced with a character from"	\
	  " the portable filename character set",			\
	  "a name that exists, or other characters")			\
	X(mkdtemp, WIRE_RANDOM, WIRE_ONE, 0, "mkdtemp",			\
	  "POSIX mkdtemp(): each X is replaced with a character from"	\
	  " the portable filename character set",			\
	  "a name that exists, or other characters")			\
	X(getline, WIRE_EXTEND, WIRE_ONE, 0, "getline",			\
	  "POSIX getline(): an array of insufficient size is allocated"	\
	  " or reallocated to fit the line; its size is unspecified",	\
	  "an array that is large enough")				\
	X(readlink, WIRE_RANDOM, WIRE_FULL, 0, "readlink",		\
	  "POSIX readlink(): the contents of the remainder of the"	\
	  " array are unspecified",					\
	  "the name itself")						\
	X(getcwd, WIRE_RANDOM, WIRE_ONE, 0, "getcwd",			\
	  "POSIX getcwd(): if it fails the contents of the array are"	\
	  " undefined",							\
	  "the array where it succeeds")				\
	X(realpath, WIRE_RANDOM, WIRE_ONE, 0, "realpath",		\
	  "POSIX realpath(): if it fails the contents of the array"	\
	  " are undefined",						\
	  "the array where it succeeds")
/* clang-format on */
