/*
 * The table of process state: one row per attribute. It is included where ROW is
 * defined: for the table itself (capture.c), and to declare the functions that read.
 *
 * To add an attribute: a row here; its function in the file of its family, which
 * adds the items; what changes it and what is to be found then, in
 * tests/unit/subject_attributes_acts.h. Then tests/lint/check_attributes.py --fix
 * writes the table of docs/pollution.md.
 *
 *	ROW(name, what, how, absent, function, needs, looked, weight, unique,
 *	    once, shared): the members of struct attribute
 */
/* clang-format off */
ROW("working-directory", "the folder that relative paths start from",
    "/proc/PID/cwd, after chdir and fchdir", NULL, read_directory,
    STATE_DIRECTORY, STATE_DIRECTORY, WEIGHT_HIGH, false, false, false)
ROW("root-directory", "the folder that absolute paths start from",
    "/proc/PID/root, after chroot and pivot_root", NULL, read_root,
    STATE_ROOT | STATE_NAMESPACE, STATE_ROOT, WEIGHT_HIGH, false, false, false)
ROW("umask", "the permissions that new files do not get",
    "/proc/PID/status, after umask", NULL, read_umask,
    STATE_UMASK, STATE_UMASK, WEIGHT_HIGH, false, false, false)
ROW("environment", "each variable of the environment",
    "environ and what it points to, in memory", "unset", read_environment,
    SOURCE_ENVIRONMENT, 0, WEIGHT_PLAIN, true, false, false)
ROW("signal-handler", "what each signal does, with flags and mask",
    "noted by the agent; else SigCgt and SigIgn of /proc/PID/status, and asked by rt_sigaction",
    "default", read_handlers,
    SOURCE_HANDLERS, 0, WEIGHT_MEDIUM, false, false, false)
ROW("signal-mask", "the signals that the tests' thread blocks",
    "PTRACE_GETSIGMASK", NULL, read_mask,
    SOURCE_SIGNALS, 0, WEIGHT_HIGH, false, false, false)
ROW("signal-stack", "the alternate stack of signal handlers",
    "asked by sigaltstack, after sigaltstack", NULL, read_stack,
    STATE_STACK, STATE_STACK, WEIGHT_PLAIN, false, false, false)
ROW("pending-signals", "signals that wait to be delivered",
    "PTRACE_PEEKSIGINFO", NULL, read_pending,
    SOURCE_SIGNALS, 0, WEIGHT_MEDIUM, false, false, false)
ROW("stdio", "the C library's standard streams: where they go, how they are buffered",
    "stdin, stdout, stderr and their FILE, in memory", NULL, read_stdio,
    SOURCE_STDIO | SOURCE_DESCRIPTORS, 0, WEIGHT_HIGH, false, false, false)
ROW("descriptor", "each open descriptor: what it refers to, flags, offset",
    "/proc/PID/fdinfo, kept open; what is new by pidfd_getfd, and its name by /proc/PID/fd", NULL, read_descriptors,
    SOURCE_DESCRIPTORS | SOURCE_STDIO, 0, WEIGHT_PLAIN, false, false, false)
ROW("locale", "the C library's locale, each category",
    "noted by the agent; else _nl_global_locale, in memory", NULL, read_locale,
    SOURCE_LOCALE, 0, WEIGHT_HIGH, false, false, false)
ROW("time-zone", "the C library's time zone",
    "tzname and timezone, in memory", NULL, read_zone,
    SOURCE_ZONE, 0, WEIGHT_HIGH, false, false, false)
ROW("limit", "each resource limit",
    "prlimit, after setrlimit and prlimit", NULL, read_limits,
    STATE_LIMITS, STATE_LIMITS, WEIGHT_PLAIN, false, false, false)
ROW("priority", "the nice value",
    "getpriority, after setpriority and nice", NULL, read_priority,
    STATE_PRIORITY, STATE_PRIORITY, WEIGHT_PLAIN, false, false, false)
ROW("scheduling", "the scheduling policy",
    "sched_getscheduler, after sched_setscheduler and the like", NULL, read_scheduling,
    STATE_PRIORITY, STATE_PRIORITY, WEIGHT_PLAIN, false, false, false)
ROW("cpu-affinity", "the processors it may run on",
    "sched_getaffinity, after sched_setaffinity", NULL, read_affinity,
    STATE_AFFINITY, STATE_AFFINITY, WEIGHT_PLAIN, false, false, false)
ROW("timer", "interval timers, alarms and POSIX timers that are armed",
    "asked by getitimer, /proc/PID/timers, after setitimer and timer_create", NULL, read_timers,
    STATE_TIMERS, STATE_TIMERS, WEIGHT_MEDIUM, false, false, false)
ROW("rounding-mode", "how floating-point results are rounded",
    "PTRACE_GETFPREGS", NULL, read_rounding,
    SOURCE_FLOATS, 0, WEIGHT_HIGH, false, false, false)
ROW("floating-point-exceptions", "exceptions that trap; not those that calculations raised",
    "PTRACE_GETFPREGS", NULL, read_exceptions,
    SOURCE_FLOATS, 0, WEIGHT_HIGH, false, false, false)
ROW("random", "the state of rand and random",
    "the table that the agent found, or unsafe_state, in memory", NULL, read_random,
    SOURCE_RANDOM, 0, WEIGHT_LOW, false, false, false)
ROW("drand48", "the state of drand48 and its family",
    "the data that the agent found, or __libc_drand48_data, in memory", NULL, read_drand48,
    SOURCE_DRAND48, 0, WEIGHT_LOW, false, false, false)
ROW("thread", "threads that still run, by their names",
    "the tracer's list, /proc/PID/task/TID/comm", NULL, read_threads,
    SOURCE_TASKS, 0, WEIGHT_MEDIUM, false, false, false)
ROW("child", "child processes that are alive or not waited for",
    "/proc/PID/task/TID/children, after fork and clone", NULL, read_children,
    STATE_CHILDREN, STATE_CHILDREN, WEIGHT_MEDIUM, false, false, false)
ROW("mapping", "files and shared memory that are mapped",
    "/proc/PID/maps, after mmap", NULL, read_mappings,
    STATE_MAPPINGS, 0, WEIGHT_PLAIN, false, false, false)
ROW("shared-memory", "System V and POSIX shared memory",
    "/proc/sysvipc/shm, /dev/shm", NULL, read_shared_memory,
    STATE_IPC | SOURCE_FILES, STATE_IPC, WEIGHT_MEDIUM, false, false, true)
ROW("semaphore", "System V and POSIX semaphores",
    "/proc/sysvipc/sem, /dev/shm", NULL, read_semaphores,
    STATE_IPC | SOURCE_FILES, STATE_IPC, WEIGHT_MEDIUM, false, false, true)
ROW("message-queue", "System V and POSIX message queues",
    "/proc/sysvipc/msg, the file system of POSIX queues", NULL, read_queues,
    STATE_IPC | SOURCE_FILES | SOURCE_DESCRIPTORS, STATE_IPC, WEIGHT_MEDIUM, false, false, true)
ROW("port", "sockets that listen or are bound",
    "getsockname of its sockets, after bind and listen", NULL, read_ports,
    STATE_PORTS | SOURCE_DESCRIPTORS, STATE_PORTS, WEIGHT_MEDIUM, false, false, false)
ROW("lock", "files that it has locked",
    "/proc/locks, after flock and fcntl", NULL, read_locks,
    STATE_LOCKS, STATE_LOCKS, WEIGHT_MEDIUM, false, false, false)
ROW("atexit", "functions to be called at the end",
    "noted by the agent; else __exit_funcs, in memory", NULL, read_exits,
    SOURCE_EXITS, 0, WEIGHT_LOW, false, false, false)
ROW("stream", "the C++ standard streams: flags, precision, width, fill, state, exceptions, buffer, tie, locale",
    "std::cout and the others, in memory", NULL, read_streams,
    SOURCE_STREAMS, 0, WEIGHT_MEDIUM, false, false, false)
ROW("terminate-handler", "what std::set_terminate set",
    "noted by the agent; else __terminate_handler, in memory", NULL, read_terminate,
    SOURCE_HOOKS, 0, WEIGHT_MEDIUM, false, false, false)
ROW("new-handler", "what std::set_new_handler set",
    "noted by the agent; else __new_handler, in memory", NULL, read_new_handler,
    SOURCE_HOOKS, 0, WEIGHT_MEDIUM, false, false, false)
ROW("cxx-locale", "what std::locale::global set",
    "noted by the agent; else std::locale::_S_global, in memory", NULL, read_cxx_locale,
    SOURCE_HOOKS, 0, WEIGHT_HIGH, false, false, false)
ROW("strtok", "what is left of the string that strtok divides",
    "noted by the agent", "nothing", read_strtok,
    SOURCE_HOOKS, 0, WEIGHT_POSITION, false, false, false)
ROW("getopt", "where getopt is in the arguments, and whether it reports errors",
    "optind and opterr, in memory; the rest is noted by the agent", NULL, read_getopt,
    SOURCE_HOOKS, 0, WEIGHT_POSITION, false, false, false)
ROW("hsearch", "the hash table that hcreate made",
    "noted by the agent", "none", read_hsearch,
    SOURCE_HOOKS, 0, WEIGHT_POSITION, false, false, false)
ROW("library", "shared libraries that are loaded",
    "the list of loaded files", NULL, read_libraries,
    SOURCE_FILES, 0, WEIGHT_LOW, false, true, false)
ROW("user-ids", "real, effective, saved and file system user",
    "/proc/PID/status, after setuid and the like", NULL, read_user_ids,
    STATE_IDS, STATE_IDS, WEIGHT_HIGH, false, false, false)
ROW("group-ids", "real, effective, saved and file system group",
    "/proc/PID/status, after setgid and the like", NULL, read_group_ids,
    STATE_IDS, STATE_IDS, WEIGHT_HIGH, false, false, false)
ROW("groups", "supplementary groups",
    "/proc/PID/status, after setgroups", NULL, read_groups,
    STATE_IDS, STATE_IDS, WEIGHT_PLAIN, false, false, false)
ROW("process-name", "the name as prctl sets it",
    "/proc/PID/comm, after prctl", NULL, read_name,
    STATE_PRCTL, STATE_PRCTL, WEIGHT_LOW, false, false, false)
ROW("dumpable", "whether it may dump core and be traced",
    "asked by prctl, after prctl and changes of ids", NULL, read_dumpable,
    STATE_PRCTL | STATE_IDS, STATE_PRCTL, WEIGHT_PLAIN, false, false, false)
ROW("parent-death-signal", "the signal it gets when its parent ends",
    "asked by prctl, after prctl", NULL, read_parent_death,
    STATE_PRCTL, STATE_PRCTL, WEIGHT_PLAIN, false, false, false)
ROW("no-new-privileges", "whether executing a program may give privileges",
    "/proc/PID/status, after prctl", NULL, read_no_new_privileges,
    STATE_PRCTL, STATE_PRCTL, WEIGHT_PLAIN, false, false, false)
ROW("process-group", "the process group it is in",
    "getpgid, after setpgid and setsid", NULL, read_process_group,
    STATE_SESSION, STATE_SESSION, WEIGHT_PLAIN, false, false, false)
ROW("session", "the session it is in",
    "getsid, after setsid", NULL, read_session,
    STATE_SESSION, STATE_SESSION, WEIGHT_PLAIN, false, false, false)
ROW("personality", "the execution domain and its flags",
    "/proc/PID/personality, after personality", NULL, read_personality,
    STATE_NAMESPACE, STATE_NAMESPACE, WEIGHT_PLAIN, false, false, false)
/* clang-format on */
