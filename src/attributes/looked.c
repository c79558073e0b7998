/* Which calls read or set which attribute, where a kind of state has several. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "attributes/attributes_internal.h"

/* A call, or one with this argument: those of one call stand together. */
static const struct {
	long number;
	const char *root;
	bool by_argument;
	uint64_t argument; /* the first one's value */
} calls[] = {
	{ SYS_prctl, "process-name", true, PR_GET_NAME },
	{ SYS_prctl, "process-name", true, PR_SET_NAME },
	{ SYS_prctl, "dumpable", true, PR_GET_DUMPABLE },
	{ SYS_prctl, "dumpable", true, PR_SET_DUMPABLE },
	{ SYS_prctl, "parent-death-signal", true, PR_GET_PDEATHSIG },
	{ SYS_prctl, "parent-death-signal", true, PR_SET_PDEATHSIG },
	{ SYS_prctl, "no-new-privileges", true, PR_GET_NO_NEW_PRIVS },
	{ SYS_prctl, "no-new-privileges", true, PR_SET_NO_NEW_PRIVS },
	{ SYS_getitimer, "timer[real]", true, ITIMER_REAL },
	{ SYS_getitimer, "timer[virtual]", true, ITIMER_VIRTUAL },
	{ SYS_getitimer, "timer[profiling]", true, ITIMER_PROF },
	{ SYS_setitimer, "timer[real]", true, ITIMER_REAL },
	{ SYS_setitimer, "timer[virtual]", true, ITIMER_VIRTUAL },
	{ SYS_setitimer, "timer[profiling]", true, ITIMER_PROF },
	{ SYS_alarm, "timer[real]", false, 0 },
	{ SYS_timer_gettime, "timer[posix", false, 0 },
	{ SYS_timer_settime, "timer[posix", false, 0 },
	{ SYS_timer_create, "timer[posix", false, 0 },
	{ SYS_timer_delete, "timer[posix", false, 0 },
	{ SYS_getpriority, "priority", false, 0 },
	{ SYS_setpriority, "priority", false, 0 },
	{ SYS_sched_getscheduler, "scheduling", false, 0 },
	{ SYS_sched_setscheduler, "scheduling", false, 0 },
	{ SYS_sched_getparam, "scheduling", false, 0 },
	{ SYS_sched_setparam, "scheduling", false, 0 },
	{ SYS_getuid, "user-ids", false, 0 },
	{ SYS_geteuid, "user-ids", false, 0 },
	{ SYS_getresuid, "user-ids", false, 0 },
	{ SYS_setuid, "user-ids", false, 0 },
	{ SYS_setreuid, "user-ids", false, 0 },
	{ SYS_setresuid, "user-ids", false, 0 },
	{ SYS_getgid, "group-ids", false, 0 },
	{ SYS_getegid, "group-ids", false, 0 },
	{ SYS_getresgid, "group-ids", false, 0 },
	{ SYS_setgid, "group-ids", false, 0 },
	{ SYS_setregid, "group-ids", false, 0 },
	{ SYS_setresgid, "group-ids", false, 0 },
	{ SYS_getgroups, "groups", false, 0 },
	{ SYS_setgroups, "groups", false, 0 },
	{ SYS_getpgrp, "process-group", false, 0 },
	{ SYS_getpgid, "process-group", false, 0 },
	{ SYS_setpgid, "process-group", false, 0 },
	{ SYS_getsid, "session", false, 0 },
	{ SYS_setsid, "session", false, 0 },
	{ SYS_personality, "personality", false, 0 },
};

/* "limit[NAME]" of a resource's number. */
static bool is_limit(const char *root, uint64_t resource)
{
	char name[32];
	if (resource >= RLIM_NLIMITS || !limit_names[resource])
		return false;
	snprintf(name, sizeof(name), "limit[%s]", limit_names[resource]);
	return !strcmp(root, name);
}

bool attribute_concerns(const char *root, const struct follow_event *event)
{
	if (!(attribute_states(root) & event->states))
		return false;
	if (event->number == SYS_getrlimit || event->number == SYS_setrlimit)
		return is_limit(root, event->args[0]);
	if (event->number == SYS_prlimit64)
		return is_limit(root, event->args[1]);
	bool listed = false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].number != event->number)
			continue;
		listed = true;
		if ((!calls[i].by_argument ||
		     calls[i].argument == event->args[0]) &&
		    !strncmp(root, calls[i].root, strlen(calls[i].root)))
			return true;
	}
	return !listed;
}
