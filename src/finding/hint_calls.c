#include "finding/hint_calls.h"

#include "base/macro.h"
#include "base/str.h"

/* The first pattern that fits counts. */
static const struct {
	const char *api;
	const char *hint;
} hints[] = {
	{ "std::unordered_*",
	  "sort the elements before comparing them, or keep them in a std::map "
	  "or std::set" },
	{ "std::hash*",
	  "do not rely on hash values: sort the elements before comparing "
	  "them" },
	{ "g_hash_table*", "sort the keys before comparing them" },
	{ "readdir (d_type)",
	  "where d_type is DT_UNKNOWN, ask lstat() for the type" },
	{ "readdir (entry)", "copy the entry before the next readdir()" },
	{ "readdir*", "sort the names before comparing them" },
	{ "getdents*", "sort the names before comparing them" },
	{ "scandir*", "sort the names: scandir(…, alphasort)" },
	{ "glob", "sort the names before comparing them" },
	{ "*ftw", "sort the names before comparing them" },
	{ "fts_*", "give fts_open() a comparison function" },
	{ "listxattr", "sort the names before comparing them" },
	{ "get*ent", "sort the entries before comparing them" },
	{ "getgroup*", "sort the groups before comparing them" },
	{ "getaddrinfo", "compare the addresses as a set" },
	{ "getifaddrs", "compare the interfaces as a set" },
	{ "if_nameindex", "compare the interfaces as a set" },
	{ "epoll_*", "handle events in any order" },
	{ "qsort*",
	  "break ties in the comparison function, so that no two elements "
	  "compare equal" },
	{ "bsearch", "make the keys unique, or accept any equal element" },
	{ "std::sort",
	  "use std::stable_sort, or break ties in the comparison" },
	{ "std::nth_element", "compare only what std::nth_element promises" },
	{ "std::partial_sort", "compare only the sorted part" },
	{ "*str*cmp", "test the sign alone: < 0, == 0 or > 0" },
	{ "*memcmp", "test the sign alone: < 0, == 0 or > 0" },
	{ "wcs*cmp", "test the sign alone: < 0, == 0 or > 0" },
	{ "bcmp", "test for 0 alone" },
	{ "strcoll", "test the sign alone: < 0, == 0 or > 0" },
	{ "std::string::compare", "test the sign alone: < 0, == 0 or > 0" },
	{ "is*", "test for nonzero, not for 1" },
	{ "feof", "test for nonzero, not for 1" },
	{ "ferror", "test for nonzero, not for 1" },
	{ "*puts", "test for a nonnegative result" },
	{ "*-contents",
	  "initialise the memory before it is read: calloc(), memset() or a "
	  "constructor" },
	{ "uninitialised-variables", "initialise the variable" },
	{ "*-address", "do not compare or order addresses" },
	{ "*-spacing", "do not rely on the distance between blocks" },
	{ "*-alignment", "ask for the alignment: aligned_alloc()" },
	{ "*-reuse", "do not expect freed memory back" },
	{ "malloc-zero", "do not ask malloc() for 0 bytes" },
	{ "realloc*", "use the pointer that realloc() returns" },
	{ "mmap", "do not rely on the address" },
	{ "printf-pointer", "compare the pointer, not its text" },
	{ "printf-errno", "look at errno only after a call has failed" },
	{ "fopen", "look at errno only after a call has failed" },
	{ "strto*", "set errno to 0 before, and look at it after a failure" },
	{ "*strerror*", "compare the error number, not its text" },
	{ "strsignal*", "compare the signal number, not its text" },
	{ "regerror", "compare the error number, not its text" },
	{ "std::exception::what", "compare the type, not the text" },
	{ "std::out_of_range", "compare the type, not the text" },
	{ "rand*", "use a generator of your own with a fixed seed" },
	{ "random", "use a generator of your own with a fixed seed" },
	{ "getrandom", "use a generator of your own with a fixed seed" },
	{ "std::random_device", "use std::mt19937 with a fixed seed" },
	{ "sin", "compare floating-point numbers with a tolerance" },
	{ "cos", "compare floating-point numbers with a tolerance" },
	{ "exp", "compare floating-point numbers with a tolerance" },
	{ "log", "compare floating-point numbers with a tolerance" },
	{ "pow", "compare floating-point numbers with a tolerance" },
	{ "clock*", "give the code a clock that the test controls" },
	{ "times", "give the code a clock that the test controls" },
	{ "time, *", "give the code a clock that the test controls" },
	{ "stat-*", "do not compare what the file system chooses" },
	{ "read*", "call it in a loop until all has arrived" },
	{ "recv*", "call it in a loop until all has arrived" },
	{ "write*", "call it in a loop until all is written" },
	{ "send*", "call it in a loop until all is sent" },
	{ "copy_file_range", "call it in a loop until all is copied" },
	{ "splice", "call it in a loop until all is moved" },
	{ "tee", "call it in a loop until all is copied" },
	{ "sig*wait*", "handle signals in any order, and EINTR" },
	{ "sem*op", "call it again after EINTR" },
	{ "accept", "call it again after EINTR" },
	{ "*nanosleep",
	  "wait for what has to happen (join, condition variable), not for a "
	  "time" },
	{ "*sleep",
	  "wait for what has to happen (join, condition variable), not for a "
	  "time" },
	{ "*poll", "do not expect a time-out to be exact" },
	{ "timerfd", "do not expect a time-out to be exact" },
	{ "sem_timedwait", "do not expect a time-out to be exact" },
	{ "pthread_mutex_timedlock", "do not expect a time-out to be exact" },
	{ "pthread_create",
	  "wait until the thread has done it: join it, or use a condition "
	  "variable" },
	{ "thrd_create",
	  "wait until the thread has done it: join it, or use a condition "
	  "variable" },
	{ "fork", "wait until the child has done it" },
	{ "*cond_*wait*", "wait in a loop that checks the condition" },
	{ "cnd_*wait", "wait in a loop that checks the condition" },
	{ "*_signal", "expect more than one thread to wake up" },
	{ "wait*", "handle children in any order" },
	{ "TZ", "set it in the set-up: setenv(\"TZ\", \"UTC\", 1)" },
	{ "LC_ALL*", "set it in the set-up: setlocale(LC_ALL, \"C\")" },
	{ "TMPDIR*", "take the folder from TMPDIR" },
	{ "HOME", "set it in the set-up to a folder of the test" },
	{ "umask*", "set it in the set-up: umask(022)" },
	{ "working-directory",
	  "do not rely on the working directory: build paths from a known "
	  "folder" },
	{ "localtime", "copy the result before the next call: localtime_r()" },
	{ "gmtime", "copy the result before the next call: gmtime_r()" },
	{ "getenv", "copy the result before the next call" },
	{ "getline", "do not rely on the size of the buffer" },
	{ "mk*temp", "do not rely on the name" },
};

const char *hint_of_call(const char *api)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (str_glob(hints[i].api, api))
			return hints[i].hint;
	}
	return "accept every result that the specification allows";
}
