/* Models of the surroundings of a process: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_ENVIRONMENT(X)                                             \
	X(time_zone, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP, "TZ",           \
	  "POSIX XBD 8.3 TZ: if it is not set, the time zone is that of the"   \
	  " system, whichever that is",                                        \
	  "a time zone that was set")                                          \
	X(locale, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP, "LC_ALL",          \
	  "POSIX XBD 8.2: the locale that setlocale(LC_ALL, \"\") takes is"    \
	  " that of the user's variables, implementation-defined without them",\
	  "a locale that cannot be found, or where LC_ALL is set")             \
	X(environ_order, WIRE_PERMUTE, WIRE_ONE, WIRE_STARTUP, "environ",      \
	  "POSIX XBD 8.1: there is no meaning associated with the order of"    \
	  " strings in the environment",                                       \
	  "variables that are there twice: the first counts")                  \
	X(environ_extra, WIRE_EXTEND, WIRE_ONE, WIRE_STARTUP,                  \
	  "environ (more variables)",                                          \
	  "POSIX XBD 8.1: applications shall tolerate the presence of"         \
	  " variables they do not know",                                       \
	  "variables that mean something to programs")                         \
	X(user_name, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP,                 \
	  "USER, LOGNAME",                                                     \
	  "POSIX XBD 8.3 LOGNAME: set at the time of login; whoever starts"    \
	  " a process sets what he likes, or nothing",                         \
	  "what getuid() and getpwuid() say")                                  \
	X(home, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP | WIRE_OPTIONAL,      \
	  "HOME",                                                              \
	  "POSIX XBD 8.3 HOME: set at the time of login; services are"         \
	  " started without it, or with a folder that does not exist",         \
	  "a folder that the program could fill for good")                     \
	X(temporary_folder, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP,          \
	  "TMPDIR",                                                            \
	  "POSIX XBD 8.3 TMPDIR: a pathname of a directory made available for" \
	  " programs that need a place to create temporary files",             \
	  "a folder that cannot be written to, or where TMPDIR is set")        \
	X(working_folder, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP, "PWD",     \
	  "POSIX XCU 2.5.3 PWD: set by the shell; processes that it did not"   \
	  " start need not have it",                                           \
	  "the working directory itself")                                      \
	X(working_directory, WIRE_ENVIRONMENT, WIRE_ONE,                       \
	  WIRE_STARTUP | WIRE_OPTIONAL, "working-directory",                   \
	  "POSIX getcwd: a path of the current working directory, of any"      \
	  " length; whoever starts a process decides where",                   \
	  "another directory; what relative and absolute paths mean")          \
	X(terminal_type, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP, "TERM",     \
	  "POSIX XBD 8.3 TERM: the terminal type for which output is to be"    \
	  " prepared; unset or null means an unspecified default type",        \
	  "a type that no terminal has")                                       \
	X(columns, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP, "COLUMNS, LINES", \
	  "POSIX XBD 8.3 COLUMNS: the user's preferred width; unset, it is"    \
	  " unspecified",                                                      \
	  "sizes that are no positive decimal numbers, or where they are set") \
	X(umask, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP, "umask",            \
	  "POSIX exec: the file mode creation mask is that of whoever starts"  \
	  " the process",                                                      \
	  "a mask that takes rights from the owner")                           \
	X(descriptors, WIRE_EXTEND, WIRE_ONE, WIRE_STARTUP,                    \
	  "file descriptors at the start",                                     \
	  "POSIX exec: file descriptors that are open stay open in the new"    \
	  " process image, so the first free one is any",                      \
	  "a number other than the lowest free one; 0, 1 or 2")                \
	X(descriptor_limit, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP,          \
	  "getrlimit(RLIMIT_NOFILE)",                                          \
	  "POSIX getrlimit: limits are inherited; sysconf OPEN_MAX may"        \
	  " change whenever setrlimit() is called",                            \
	  "fewer than 1024 where there were as many")                          \
	X(ignored_signals, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP,           \
	  "signals ignored at the start",                                      \
	  "POSIX exec: signals set to be ignored by whoever starts the"        \
	  " process stay ignored (nohup: SIGHUP; the shell's &: SIGINT,"       \
	  " SIGQUIT)",                                                         \
	  "signals that are not inherited as ignored")                         \
	X(stdout_buffer, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_STARTUP,             \
	  "stdout (buffer size)",                                              \
	  "C17 7.21.3: how characters are transmitted from a fully buffered"   \
	  " stream is implementation-defined; POSIX names no size",            \
	  "terminals, which are line buffered; characters lost or doubled")    \
	X(static_initialisers, WIRE_PERMUTE, WIRE_ONE, WIRE_STARTUP,           \
	  "static initialisers across files",                                  \
	  "C++17 [basic.start.dynamic]: initialisations of variables of"       \
	  " different translation units are indeterminately sequenced",        \
	  "the order within a file, and of those with a priority")             \
	X(program_name, WIRE_ENVIRONMENT, WIRE_ONE,                            \
	  WIRE_STARTUP | WIRE_OPTIONAL, "argv[0]",                             \
	  "POSIX exec: argv[0] should be a filename string associated with"    \
	  " the process; C17 5.1.2.2.1: or empty",                             \
	  "the other arguments")                                               \
	X(gethostname, WIRE_ENVIRONMENT, WIRE_ONE,                             \
	  WIRE_THROUGH | WIRE_CONSTANT, "gethostname, uname (nodename)",       \
	  "POSIX gethostname: the standard host name for the current machine," \
	  " at most HOST_NAME_MAX bytes",                                      \
	  "different names for both; longer ones than a buffer has room for")  \
	X(uname, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_CONSTANT,                    \
	  "uname (release, version)",                                          \
	  "POSIX uname: the format of each member is implementation-defined",  \
	  "another version number of the kernel")                              \
	X(processors, WIRE_ENVIRONMENT, WIRE_ONE,                              \
	  WIRE_THROUGH | WIRE_CONSTANT,                                        \
	  "sysconf(_SC_NPROCESSORS_ONLN), get_nprocs, sched_getaffinity",      \
	  "sysconf(3): the number of processors currently online; of the"      \
	  " machine, not of the program",                                      \
	  "none; fewer than the program may run on; what it set itself")       \
	X(hardware_concurrency, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_CONSTANT,     \
	  "std::thread::hardware_concurrency",                                 \
	  "C++17 [thread.thread.static]: this value should only be considered" \
	  " to be a hint; 0 if it is not computable",                          \
	  "a negative number")                                                 \
	X(memory_size, WIRE_ENVIRONMENT, WIRE_ONE,                             \
	  WIRE_THROUGH | WIRE_CONSTANT,                                        \
	  "sysconf(_SC_PHYS_PAGES), get_phys_pages",                           \
	  "sysconf(3): the number of pages of physical memory; of the"         \
	  " machine, not of the program",                                      \
	  "more available pages than there are")                               \
	X(getloadavg, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_CONSTANT, "getloadavg", \
	  "getloadavg(3): the number of samples actually retrieved, averages"  \
	  " of what the whole machine does",                                   \
	  "negative averages, more samples than asked for")                    \
	X(terminal_size, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_CONSTANT,            \
	  "ioctl(TIOCGWINSZ)",                                                 \
	  "ioctl_tty(2) TIOCGWINSZ: the user's window has any size, 0 where"   \
	  " it is unknown",                                                    \
	  "sizes that the program set itself")                                 \
	X(getlogin, WIRE_ENVIRONMENT, WIRE_ONE, WIRE_CONSTANT,                 \
	  "getlogin, getlogin_r",                                              \
	  "POSIX getlogin: the name of the user's login activity, which need"  \
	  " not be that of the user id; fails without a terminal",             \
	  "different names for both")                                          \
	X(calendar, WIRE_ENVIRONMENT, WIRE_ONE,                                \
	  WIRE_THROUGH | WIRE_OPTIONAL | WIRE_CONSTANT,                        \
	  "time, clock_gettime(CLOCK_REALTIME), gettimeofday, timespec_get",   \
	  "C17 7.27.2.4: the current calendar time, which is any day: end of"  \
	  " month, leap day, switch to daylight saving",                       \
	  "differences between two calls; other clocks")
/* clang-format on */
