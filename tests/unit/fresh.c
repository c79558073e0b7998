/*
 * What the unit tests expect of the process they run in, whoever starts them:
 * no signal is ignored (nohup ignores SIGHUP) or blocked, files are made with
 * the usual permissions, nobody dumps core, and, where that is permitted, the
 * priority is the usual one. Linked into every test program.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

__attribute__((constructor)) static void fresh_start(void)
{
	for (int number = 1; number < SIGRTMIN; number++)
		signal(number, SIG_DFL); /* fails for those that cannot be */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	umask(022);
	struct rlimit core;
	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = 0;
	setrlimit(RLIMIT_CORE, &core);
	setpriority(PRIO_PROCESS, 0, 0);
}
