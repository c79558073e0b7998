/*
 * What the program that changes its process state does, how it puts it back, and
 * what is to be found (steps, at the end). Part of subject_attributes.cc alone.
 */
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <grp.h>
#include <locale.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <iostream>
#include <locale>
#include <new>

#include "follow/follow.h"
#include "wire/state.h"

extern "C" {
void on_usr1(int);
void at_the_end(void);
void terminate_here(void);
void no_memory_left(void);
extern struct wire_state subject_agent;
}

static int root_folder, here, file = -1, kept_socket = -1;
static char file_path[64];
static struct wire_state *agent = &subject_agent;

#define DO(name) static bool name(void)

DO(none)
{
	return true;
}

DO(to_root)
{
	return chdir("/") == 0;
}
DO(from_root)
{
	return fchdir(here) == 0;
}
DO(new_root)
{
	return chroot("/proc") == 0;
}
DO(old_root)
{
	return fchdir(root_folder) == 0 && chroot(".") == 0 &&
	       fchdir(here) == 0;
}
DO(tight_umask)
{
	umask(077);
	return true;
}
DO(loose_umask)
{
	umask(022);
	return true;
}
DO(set_variable)
{
	return setenv("SUBJECT_NEW", "a b", 1) == 0;
}
DO(unset_variable)
{
	return unsetenv("SUBJECT_NEW") == 0;
}
DO(change_variable)
{
	return setenv("SUBJECT_OLD", "2", 1) == 0;
}
DO(restore_variable)
{
	return setenv("SUBJECT_OLD", "1", 1) == 0;
}
/* In place, where no function knows of it. */
DO(poke_variable)
{
	*strchr(getenv("SUBJECT_POKED"), 'x') = 'y';
	return true;
}
DO(unpoke_variable)
{
	*strchr(getenv("SUBJECT_POKED"), 'y') = 'x';
	return true;
}
static char *no_variables[] = { NULL };
static char **all_variables;
DO(no_environment)
{
	all_variables = environ;
	environ = no_variables;
	return true;
}
DO(old_environment)
{
	environ = all_variables;
	return true;
}
DO(catch_usr1)
{
	return signal(SIGUSR1, on_usr1) != SIG_ERR;
}
DO(default_usr1)
{
	return signal(SIGUSR1, SIG_DFL) != SIG_ERR;
}
/* The same function, otherwise: only asking tells. */
DO(catch_term)
{
	return signal(SIGTERM, on_usr1) != SIG_ERR;
}
static bool term_flags(int flags)
{
	struct sigaction action = {};
	action.sa_handler = on_usr1;
	action.sa_flags = flags;
	return sigaction(SIGTERM, &action, NULL) == 0;
}
DO(term_once)
{
	return term_flags((int)SA_RESETHAND);
}
DO(term_again)
{
	return term_flags(SA_RESTART);
}
DO(default_term)
{
	return signal(SIGTERM, SIG_DFL) != SIG_ERR;
}
DO(ignore_hup)
{
	return signal(SIGHUP, SIG_IGN) != SIG_ERR;
}
DO(default_hup)
{
	return signal(SIGHUP, SIG_DFL) != SIG_ERR;
}
static bool block(int how, int signal)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	return sigprocmask(how, &set, NULL) == 0;
}
DO(block_usr2)
{
	return block(SIG_BLOCK, SIGUSR2);
}
DO(unblock_usr2)
{
	return block(SIG_UNBLOCK, SIGUSR2);
}
DO(raise_blocked)
{
	return kill(getpid(), SIGWINCH) == 0;
}
DO(take_blocked)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	struct timespec soon = {};
	return sigtimedwait(&set, NULL, &soon) == SIGWINCH;
}
static char stack_memory[16384];
DO(set_stack)
{
	stack_t stack = {};
	stack.ss_sp = stack_memory;
	stack.ss_size = sizeof(stack_memory);
	return sigaltstack(&stack, NULL) == 0;
}
DO(unset_stack)
{
	stack_t stack = {};
	stack.ss_flags = SS_DISABLE;
	return sigaltstack(&stack, NULL) == 0;
}
static int opened;
DO(open_file)
{
	opened = open("/dev/null", O_WRONLY);
	return opened >= 0;
}
DO(close_file)
{
	return close(opened) == 0;
}
static int ends[2];
DO(open_pipe)
{
	return pipe(ends) == 0;
}
DO(close_pipe)
{
	close(ends[0]);
	return close(ends[1]) == 0;
}
DO(set_append)
{
	return fcntl(file, F_SETFL, O_APPEND) == 0;
}
DO(unset_append)
{
	return fcntl(file, F_SETFL, 0) == 0;
}
DO(set_cloexec)
{
	return fcntl(file, F_SETFD, FD_CLOEXEC) == 0;
}
DO(unset_cloexec)
{
	return fcntl(file, F_SETFD, 0) == 0;
}
DO(move_offset)
{
	return lseek(file, 12, SEEK_SET) == 12;
}
DO(move_back)
{
	return lseek(file, 0, SEEK_SET) == 0;
}
static int saved_output = -1;
DO(redirect)
{
	return dup2(file, 1) == 1;
}
DO(direct_back)
{
	return dup2(saved_output, 1) == 1;
}
static FILE *old_output;
DO(replace_output)
{
	old_output = stdout;
	stdout = stderr;
	return true;
}
DO(replace_back)
{
	stdout = old_output;
	return true;
}
static char output_buffer[100];
DO(buffer_output)
{
	return setvbuf(stdout, output_buffer, _IOLBF, sizeof(output_buffer)) ==
	       0;
}
DO(set_numeric)
{
	return setlocale(LC_NUMERIC, "C.UTF-8") != NULL;
}
DO(unset_numeric)
{
	return setlocale(LC_NUMERIC, "C") != NULL;
}
DO(set_zone)
{
	setenv("TZ", "XST-3XDT", 1);
	tzset();
	return true;
}
DO(change_zone)
{
	setenv("TZ", "YST2", 1);
	tzset();
	return true;
}
static bool limit(rlim_t soft)
{
	struct rlimit limit;
	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = soft;
	return setrlimit(RLIMIT_CORE, &limit) == 0;
}
DO(limit_core)
{
	return limit(4096);
}
DO(unlimit_core)
{
	return limit(0);
}
DO(be_nice)
{
	return setpriority(PRIO_PROCESS, 0, 5) == 0;
}
DO(be_normal)
{
	return setpriority(PRIO_PROCESS, 0, 0) == 0;
}
static bool schedule(int policy)
{
	struct sched_param param = {};
	return sched_setscheduler(0, policy, &param) == 0;
}
DO(to_batch)
{
	return schedule(SCHED_BATCH);
}
DO(to_other)
{
	return schedule(SCHED_OTHER);
}
/* Those of whoever started it: perhaps not all. */
static cpu_set_t processors_before;
/* The one where it does not run: that it shares is not its own choice. */
DO(run_elsewhere)
{
	static int elsewhere = -1;
	if (elsewhere < 0) {
		int now = sched_getcpu();
		elsewhere = now ? now - 1 : 1;
		sched_getaffinity(0, sizeof(processors_before),
				  &processors_before);
	}
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(elsewhere, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}
DO(run_anywhere)
{
	return sched_setaffinity(0, sizeof(processors_before),
				 &processors_before) == 0;
}
static bool timer(int which, int seconds)
{
	struct itimerval value = {};
	value.it_value.tv_sec = value.it_interval.tv_sec = seconds;
	return setitimer(which, &value, NULL) == 0;
}
DO(set_alarm)
{
	alarm(1000);
	return true;
}
DO(no_alarm)
{
	alarm(0);
	return true;
}
DO(set_virtual)
{
	return timer(ITIMER_VIRTUAL, 1000);
}
DO(no_virtual)
{
	return timer(ITIMER_VIRTUAL, 0);
}
static timer_t posix_timer;
DO(make_timer)
{
	struct sigevent event = {};
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGUSR1;
	return timer_create(CLOCK_MONOTONIC, &event, &posix_timer) == 0;
}
DO(delete_timer)
{
	return timer_delete(posix_timer) == 0;
}
DO(round_up)
{
	return fesetround(FE_UPWARD) == 0;
}
DO(round_near)
{
	return fesetround(FE_TONEAREST) == 0;
}
DO(divide)
{
	return feraiseexcept(FE_DIVBYZERO | FE_INEXACT) == 0;
}
DO(undivide)
{
	return feclearexcept(FE_ALL_EXCEPT) == 0;
}
DO(trap)
{
	return feenableexcept(FE_DIVBYZERO) == 0;
}
DO(untrap)
{
	return fedisableexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO;
}
DO(inexact)
{
	return feraiseexcept(FE_INEXACT) == 0;
}
DO(seed)
{
	srandom(5);
	return true;
}
DO(unseed)
{
	srandom(1);
	return true;
}
static unsigned short old_seed[3];
DO(seed_48)
{
	unsigned short fresh[3] = { 1, 2, 3 };
	memcpy(old_seed, seed48(fresh), sizeof(old_seed));
	return true;
}
DO(unseed_48)
{
	seed48(old_seed);
	return true;
}
static sem_t gate;
static pthread_t worker;
static void *work(void *)
{
	while (sem_wait(&gate) != 0)
		;
	return NULL;
}
DO(start_thread)
{
	if (pthread_create(&worker, NULL, work, NULL) != 0)
		return false;
	return pthread_setname_np(worker, "worker") == 0;
}
DO(end_thread)
{
	sem_post(&gate);
	return pthread_join(worker, NULL) == 0;
}
static pid_t child;
DO(start_child)
{
	int go[2];
	char byte;
	if (pipe(go) < 0)
		return false;
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "child");
		(void)!write(go[1], "", 1);
		for (;;)
			pause();
	}
	bool named = read(go[0], &byte, 1) == 1;
	close(go[0]);
	close(go[1]);
	return named;
}
DO(kill_child)
{
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) == child;
}
DO(start_zombie)
{
	siginfo_t info;
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "zombie");
		_exit(0);
	}
	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0;
}
DO(wait_zombie)
{
	return waitpid(child, NULL, 0) == child;
}
/* Nobody's child any more. */
DO(start_daemon)
{
	int said[2];
	if (pipe(said) < 0)
		return false;
	pid_t between = fork();
	if (!between) {
		if (fork())
			_exit(0);
		prctl(PR_SET_NAME, "daemon");
		pid_t self = getpid();
		(void)!write(said[1], &self, sizeof(self));
		for (;;)
			pause();
	}
	bool named = read(said[0], &child, sizeof(child)) == sizeof(child);
	close(said[0]);
	close(said[1]);
	return waitpid(between, NULL, 0) == between && named;
}
DO(kill_daemon)
{
	char path[64], state = 'R';
	kill(child, SIGKILL);
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	while (state != 'Z') {
		FILE *stat = fopen(path, "re");
		if (!stat)
			break;
		if (fscanf(stat, "%*d (daemon) %c", &state) != 1)
			state = 'Z';
		fclose(stat);
	}
	return true;
}
static void *mapped;
DO(map_file)
{
	mapped = mmap(NULL, 100, PROT_READ, MAP_PRIVATE, file, 0);
	return mapped != MAP_FAILED;
}
DO(map_shared)
{
	mapped = mmap(NULL, 100, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return mapped != MAP_FAILED;
}
DO(map_private)
{
	mapped = mmap(NULL, 100, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mapped != MAP_FAILED;
}
DO(unmap)
{
	return munmap(mapped, 100) == 0;
}
static int ipc_id;
/* Of this process: the same test may run beside. */
#define KEY ((key_t)(0x70670000 | (getpid() & 0xffff)))
static const char *own_name(void)
{
	static char name[64];
	snprintf(name, sizeof(name), "/subject-attributes-%d", getpid());
	return name;
}
DO(make_segment)
{
	ipc_id = shmget(KEY, 5000, IPC_CREAT | IPC_EXCL | 0600);
	return ipc_id >= 0;
}
DO(remove_segment)
{
	return shmctl(ipc_id, IPC_RMID, NULL) == 0;
}
DO(make_semaphores)
{
	ipc_id = semget(KEY, 2, IPC_CREAT | IPC_EXCL | 0600);
	return ipc_id >= 0;
}
DO(remove_semaphores)
{
	return semctl(ipc_id, 0, IPC_RMID) == 0;
}
DO(make_queue)
{
	ipc_id = msgget(KEY, IPC_CREAT | IPC_EXCL | 0600);
	return ipc_id >= 0;
}
DO(remove_queue)
{
	return msgctl(ipc_id, IPC_RMID, NULL) == 0;
}
DO(make_posix_segment)
{
	int fd = shm_open(own_name(), O_CREAT | O_RDWR, 0600);
	return fd >= 0 && close(fd) == 0;
}
DO(remove_posix_segment)
{
	return shm_unlink(own_name()) == 0;
}
static int shm_file;
DO(open_posix_segment)
{
	shm_file = shm_open(own_name(), O_CREAT | O_RDWR, 0600);
	return shm_file >= 0;
}
DO(close_posix_segment)
{
	close(shm_file);
	return shm_unlink(own_name()) == 0;
}
DO(make_posix_semaphore)
{
	sem_t *sem = sem_open(own_name(), O_CREAT, 0600, 1);
	return sem != SEM_FAILED && sem_close(sem) == 0;
}
DO(remove_posix_semaphore)
{
	return sem_unlink(own_name()) == 0;
}
DO(make_posix_queue)
{
	mqd_t queue = mq_open(own_name(), O_CREAT | O_RDWR, 0600, NULL);
	return queue >= 0 && mq_close(queue) == 0;
}
DO(remove_posix_queue)
{
	return mq_unlink(own_name()) == 0;
}
DO(bind_socket)
{
	struct sockaddr_in address = {};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return bind(kept_socket, (struct sockaddr *)&address,
		    sizeof(address)) == 0;
}
DO(listen_socket)
{
	return listen(kept_socket, 1) == 0;
}
static int other_socket;
DO(open_socket)
{
	struct sockaddr_in address = {};
	address.sin_family = AF_INET;
	other_socket = socket(AF_INET, SOCK_DGRAM, 0);
	return other_socket >= 0 &&
	       bind(other_socket, (struct sockaddr *)&address,
		    sizeof(address)) == 0;
}
DO(close_socket)
{
	return close(other_socket) == 0;
}
DO(lock_file)
{
	return flock(file, LOCK_EX) == 0;
}
DO(unlock_file)
{
	return flock(file, LOCK_UN) == 0;
}
static bool record_lock(short type)
{
	struct flock lock = {};
	lock.l_type = type;
	lock.l_len = 10;
	return fcntl(file, F_SETLK, &lock) == 0;
}
DO(lock_record)
{
	return record_lock(F_WRLCK);
}
DO(unlock_record)
{
	return record_lock(F_UNLCK);
}
DO(add_exit)
{
	if (agent->active) {
		agent->exits[agent->exits_n++].function = (uintptr_t)at_the_end;
		agent->changes++;
		return true;
	}
	return atexit(at_the_end) == 0;
}
DO(to_hex)
{
	std::cout.setf(std::ios::hex, std::ios::basefield);
	return true;
}
DO(to_dec)
{
	std::cout.setf(std::ios::dec, std::ios::basefield);
	return true;
}
DO(precise)
{
	std::cerr.precision(3);
	return true;
}
DO(usual)
{
	std::cerr.precision(6);
	return true;
}
DO(wide_field)
{
	std::wcout.width(7);
	return true;
}
DO(no_field)
{
	std::wcout.width(0);
	return true;
}
DO(fill_stars)
{
	std::clog.fill('*');
	return true;
}
DO(fill_blanks)
{
	std::clog.fill(' ');
	return true;
}
DO(break_stream)
{
	std::cin.setstate(std::ios::failbit);
	return true;
}
DO(mend_stream)
{
	std::cin.clear();
	return true;
}
DO(throwing)
{
	std::cout.exceptions(std::ios::badbit);
	return true;
}
DO(not_throwing)
{
	std::cout.exceptions(std::ios::goodbit);
	return true;
}
static std::streambuf *old_buffer;
DO(other_buffer)
{
	old_buffer = std::cout.rdbuf(std::cerr.rdbuf());
	return true;
}
DO(own_buffer)
{
	std::cout.rdbuf(old_buffer);
	return true;
}
DO(untie)
{
	std::cin.tie(nullptr);
	return true;
}
DO(tie)
{
	std::cin.tie(&std::cout);
	return true;
}
DO(hook_terminate)
{
	std::set_terminate(terminate_here);
	return true;
}
static std::terminate_handler old_terminate;
DO(unhook_terminate)
{
	std::set_terminate(old_terminate);
	return true;
}
DO(hook_new)
{
	std::set_new_handler(no_memory_left);
	return true;
}
DO(unhook_new)
{
	std::set_new_handler(nullptr);
	return true;
}
struct comma : std::numpunct<char> {
};
static std::locale *old_locale;
DO(other_locale)
{
	old_locale = new std::locale(
		std::locale::global(std::locale(std::locale(), new comma)));
	return true;
}
DO(former_locale)
{
	std::locale::global(*old_locale);
	return true;
}
static void *library;
DO(load)
{
	/* A static program would load a C library, too. */
	if (!getauxval(AT_BASE))
		return false;
	library = dlopen("libanl.so.1", RTLD_NOW);
	return library != NULL;
}
DO(unload)
{
	return dlclose(library) == 0;
}
DO(be_nobody)
{
	return seteuid(65534) == 0;
}
DO(be_root)
{
	return seteuid(0) == 0;
}
DO(be_nogroup)
{
	return setegid(65534) == 0;
}
DO(be_root_group)
{
	return setegid(0) == 0;
}
static gid_t groups[64];
static int n_groups;
DO(one_group)
{
	const gid_t other = 12345;
	n_groups = getgroups(64, groups);
	return setgroups(1, &other) == 0;
}
DO(old_groups)
{
	return setgroups((size_t)n_groups, groups) == 0;
}
static char old_name[32];
DO(rename_process)
{
	prctl(PR_GET_NAME, old_name);
	return prctl(PR_SET_NAME, "renamed") == 0;
}
DO(former_name)
{
	return prctl(PR_SET_NAME, old_name) == 0;
}
DO(not_dumpable)
{
	return prctl(PR_SET_DUMPABLE, 0) == 0;
}
DO(dumpable)
{
	return prctl(PR_SET_DUMPABLE, 1) == 0;
}
DO(die_with_parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0;
}
DO(do_not_die)
{
	return prctl(PR_SET_PDEATHSIG, 0) == 0;
}
static pid_t first_group;
DO(own_group)
{
	return setpgid(0, 0) == 0;
}
DO(former_group)
{
	return setpgid(0, first_group) == 0;
}
DO(own_session)
{
	return setsid() > 0;
}
DO(other_personality)
{
	return personality((unsigned)personality(0xffffffff) |
			   STICKY_TIMEOUTS) >= 0;
}
DO(former_personality)
{
	return personality((unsigned)personality(0xffffffff) &
			   ~(unsigned)STICKY_TIMEOUTS) >= 0;
}
DO(no_privileges)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* ---- files that take the number of another one ---- */

#define TAKEN 60
static char one_path[64], two_path[64];
static bool take_file(int fd, const char *text)
{
	if (fd < 0 || dup2(fd, TAKEN) < 0)
		return false;
	close(fd);
	return write(TAKEN, text, strlen(text)) == (ssize_t)strlen(text);
}
DO(take_one)
{
	snprintf(one_path, sizeof(one_path), "/tmp/subject-one.%d", getpid());
	snprintf(two_path, sizeof(two_path), "/tmp/subject-two.%d", getpid());
	return take_file(open(one_path, O_WRONLY | O_CREAT, 0600), "one");
}
/* Most file systems use the number of the inode again. */
DO(take_two)
{
	close(TAKEN);
	unlink(one_path);
	return take_file(open(two_path, O_WRONLY | O_CREAT, 0600), "the other");
}
DO(rename_two)
{
	return rename(two_path, one_path) == 0 && write(TAKEN, "!", 1) == 1;
}
DO(unlink_two)
{
	return unlink(one_path) == 0 && write(TAKEN, "?", 1) == 1;
}
static bool take_fresh(void)
{
	char path[] = "/tmp/subject_XXXXXX";
	int fd = mkstemp(path);
	unlink(path);
	return take_file(fd, "fresh");
}
DO(take_unlinked)
{
	return close(TAKEN) == 0 && take_fresh();
}
DO(take_another)
{
	return take_fresh();
}
DO(leave_taken)
{
	return close(TAKEN) == 0;
}

/* What functions keep for their next call. */
static char divided[8];
DO(divide_text)
{
	strcpy(divided, "a b c");
	if (agent->active) {
		strcpy(agent->strtok_rest, "b c");
		agent->changes++;
	}
	return !strcmp(strtok(divided, " "), "a");
}
DO(divide_rest)
{
	if (agent->active) {
		agent->strtok_rest[0] = '\0';
		agent->changes++;
	}
	return strtok(NULL, " ") && strtok(NULL, " ") && !strtok(NULL, " ");
}
DO(take_options)
{
	static char name[] = "subject", letter[] = "-a", word[] = "word";
	char *words[] = { name, letter, word, NULL };
	if (agent->active) {
		agent->getopt_calls++;
		agent->changes++;
	}
	return getopt(3, words, "a") == 'a' && getopt(3, words, "a") == -1;
}
DO(options_anew)
{
	optind = 1;
	return true;
}
DO(make_table)
{
	if (agent->active) {
		agent->hsearch = 1;
		agent->changes++;
	}
	return hcreate(4) != 0;
}
DO(destroy_table)
{
	if (agent->active) {
		agent->hsearch = 0;
		agent->changes++;
	}
	hdestroy();
	return true;
}

struct step {
	bool (*act)(void);
	bool (*back)(void); /* NULL: it stays */
	unsigned states;
	const char *root, *path, *before, *after, *also;
};

static const struct step steps[] = {
	{ none, none, 0, NULL, NULL, NULL, NULL, NULL },
	{ to_root, from_root, STATE_DIRECTORY, "working-directory", NULL, "/?*",
	  "/", NULL },
	{ new_root, old_root, STATE_ROOT | STATE_DIRECTORY, "root-directory",
	  NULL, "/", "/proc", NULL },
	{ tight_umask, loose_umask, STATE_UMASK, "umask", NULL, "0022", "0077",
	  NULL },
	{ set_variable, unset_variable, 0, "environment[SUBJECT_NEW]", NULL,
	  "unset", "\"a b\"", NULL },
	{ change_variable, restore_variable, 0, "environment[SUBJECT_OLD]",
	  NULL, "\"1\"", "\"2\"", NULL },
	{ poke_variable, unpoke_variable, 0, "environment[SUBJECT_POKED]", NULL,
	  "\"x\"", "\"y\"", NULL },
	{ no_environment, old_environment, 0, "environment[SUBJECT_OLD]", NULL,
	  "\"1\"", "unset", "environment*" },
	{ catch_usr1, default_usr1, 0, "signal-handler[SIGUSR1]", NULL,
	  "default", "on_usr1*", NULL },
	{ catch_term, NULL, 0, "signal-handler[SIGTERM]", NULL, "default",
	  "on_usr1*", NULL },
	{ term_once, term_again, 0, "signal-handler[SIGTERM]", "*.flags",
	  "SA_RESTART", "SA_RESETHAND", NULL },
	{ default_term, NULL, 0, "signal-handler[SIGTERM]", NULL, "on_usr1*",
	  "default", NULL },
	{ ignore_hup, default_hup, 0, "signal-handler[SIGHUP]", NULL, "default",
	  "ignored", NULL },
	{ block_usr2, unblock_usr2, 0, "signal-mask", NULL, "SIGWINCH",
	  "SIGUSR2, SIGWINCH", NULL },
	{ raise_blocked, take_blocked, 0, "pending-signals[SIGWINCH]", NULL,
	  "absent", "pending", NULL },
	{ set_stack, unset_stack, STATE_STACK, "signal-stack", NULL, "none",
	  "16384 bytes at 0x*", NULL },
	{ open_file, close_file, 0, "descriptor[*]", NULL, "absent",
	  "/dev/null, write", NULL },
	{ open_pipe, close_pipe, 0, "descriptor[*]", NULL, "absent", "pipe, *",
	  "descriptor*" },
	{ set_append, unset_append, 0, "descriptor[*]", "*].flags", "none",
	  "append", NULL },
	{ set_cloexec, unset_cloexec, 0, "descriptor[*]", "*].flags", "none",
	  "close-on-exec", NULL },
	{ move_offset, move_back, 0, "descriptor[*]", "*].offset", "0", "12",
	  NULL },
	{ take_one, NULL, 0, "descriptor[60]", NULL, "absent",
	  "/tmp/subject-one.*, write", NULL },
	{ take_two, NULL, 0, "descriptor[60]", NULL,
	  "/tmp/subject-one.*, write", "/tmp/subject-two.*, write", NULL },
	{ rename_two, NULL, 0, "descriptor[60]", "*].offset", "9", "10", NULL },
	{ unlink_two, NULL, 0, "descriptor[60]", "*].offset", "10", "11",
	  NULL },
	{ take_unlinked, NULL, 0, "descriptor[60]", NULL,
	  "/tmp/subject-two.*, write",
	  "/tmp/subject_XXXXXX (deleted), read and write", NULL },
	{ take_another, NULL, 0, NULL, NULL, NULL, NULL, NULL },
	{ leave_taken, NULL, 0, "descriptor[60]", NULL,
	  "/tmp/subject_XXXXXX (deleted), read and write", "absent", NULL },
	{ redirect, direct_back, 0, "stdio[stdout]", NULL, "*, to *",
	  "*, to /*, read and write", "descriptor[1]" },
	{ replace_output, replace_back, 0, "stdio[stdout]", NULL,
	  "fully buffered, *", "another FILE, unbuffered, descriptor 2*",
	  NULL },
	{ set_numeric, unset_numeric, 0, "locale[LC_NUMERIC]", NULL, "C",
	  "C.UTF-8", NULL },
	{ set_zone, NULL, 0, "time-zone", NULL, "*", "XST/XDT, +03:00",
	  "environment[TZ]" },
	{ change_zone, set_zone, 0, "time-zone", NULL, "XST/XDT, +03:00",
	  "YST, -02:00", "environment[TZ]" },
	{ limit_core, unlimit_core, STATE_LIMITS, "limit[core]", NULL, "0",
	  "4096", NULL },
	{ be_nice, be_normal, STATE_PRIORITY, "priority", NULL, "nice 0",
	  "nice 5", NULL },
	{ to_batch, to_other, STATE_PRIORITY, "scheduling", NULL, "other",
	  "batch", NULL },
	{ run_elsewhere, run_anywhere, STATE_AFFINITY, "cpu-affinity", NULL,
	  "*", "?", NULL },
	{ set_alarm, no_alarm, STATE_TIMERS, "timer[real]", NULL, "absent",
	  "armed", NULL },
	{ set_virtual, no_virtual, STATE_TIMERS, "timer[virtual]", NULL,
	  "absent", "armed, every *", NULL },
	{ make_timer, delete_timer, STATE_TIMERS, "timer[posix *]", NULL,
	  "absent", "clock 1, by signal SIGUSR1", NULL },
	{ round_up, round_near, 0, "rounding-mode", NULL, "to nearest",
	  "upward", NULL },
	{ trap, untrap, 0, "floating-point-exceptions", NULL, "trapping: none",
	  "trapping: division by zero", NULL },
	{ divide, undivide, 0, NULL, NULL, NULL, NULL, NULL },
	{ inexact, undivide, 0, NULL, NULL, NULL, NULL, NULL },
	{ seed, unseed, 0, "random", NULL, "state *", "state *", NULL },
	{ seed_48, unseed_48, 0, "drand48", NULL, "state *", "state *", NULL },
	{ divide_text, divide_rest, 0, "strtok", NULL, "nothing", "\"b c\"",
	  NULL },
	{ take_options, options_anew, 0, "getopt", NULL, "optind 1", "optind 2",
	  NULL },
	{ make_table, destroy_table, 0, "hsearch", NULL, "none", "a table",
	  NULL },
	{ start_thread, end_thread, 0, "thread[worker]", NULL, "absent",
	  "running", NULL },
	{ start_child, kill_child, STATE_CHILDREN, "child[child]", NULL,
	  "absent", "running", NULL },
	{ start_daemon, kill_daemon, STATE_CHILDREN, "child[daemon]", NULL,
	  "absent", "running", NULL },
	{ start_zombie, wait_zombie, STATE_CHILDREN, "child[zombie]", NULL,
	  "absent", "not waited for", NULL },
	{ map_file, unmap, STATE_MAPPINGS, "mapping[/*subject-attributes*]",
	  NULL, "absent", "4096 bytes, read, private", NULL },
	{ map_shared, unmap, STATE_MAPPINGS, "mapping[shared anonymous memory]",
	  NULL, "absent", "4096 bytes, read and write, shared", NULL },
	{ map_private, unmap, STATE_MAPPINGS, NULL, NULL, NULL, NULL, NULL },
	{ make_segment, remove_segment, STATE_IPC, "shared-memory[0x7067*]",
	  NULL, "absent", "5000 bytes", NULL },
	{ make_semaphores, remove_semaphores, STATE_IPC, "semaphore[0x7067*]",
	  NULL, "absent", "2 semaphores", NULL },
	{ make_queue, remove_queue, STATE_IPC, "message-queue[0x7067*]", NULL,
	  "absent", "0 messages", NULL },
	{ make_posix_segment, remove_posix_segment, STATE_IPC,
	  "shared-memory[/subject-attributes-*]", NULL, "absent", "0 bytes",
	  NULL },
	/* Open: told also where nobody followed (another pattern). */
	{ open_posix_segment, close_posix_segment, 0,
	  "shared-memory[/subject-attribute?-*]", NULL, "absent", "0 bytes",
	  "descriptor*" },
	{ make_posix_semaphore, remove_posix_semaphore, STATE_IPC,
	  "semaphore[/subject-attributes-*]", NULL, "absent", "present", NULL },
	{ make_posix_queue, remove_posix_queue, STATE_IPC,
	  "message-queue[/subject-attributes-*]", NULL, "absent", "present",
	  NULL },
	{ bind_socket, NULL, STATE_PORTS, "port[tcp 127.0.0.1:*]", NULL,
	  "absent", "bound", NULL },
	{ listen_socket, NULL, STATE_PORTS, "port[tcp 127.0.0.1:*]", NULL,
	  "bound", "listening", NULL },
	{ open_socket, close_socket, STATE_PORTS, "port[udp 0.0.0.0:*]", NULL,
	  "absent", "bound", "descriptor*" },
	{ lock_file, unlock_file, STATE_LOCKS, "lock[/*subject-attributes*]",
	  NULL, "absent", "exclusive, flock", NULL },
	{ lock_record, unlock_record, STATE_LOCKS,
	  "lock[/*subject-attributes*]", NULL, "absent",
	  "exclusive, fcntl, bytes 0 to 9", NULL },
	{ add_exit, NULL, 0, "atexit[at_the_end]", NULL, "absent", "registered",
	  NULL },
	{ to_hex, to_dec, 0, "stream[std::cout]", "*.flags", "dec, skipws",
	  "hex, skipws", NULL },
	{ precise, usual, 0, "stream[std::cerr]", "*.precision", "6", "3",
	  NULL },
	{ wide_field, no_field, 0, "stream[std::wcout]", "*.width", "0", "7",
	  NULL },
	{ fill_stars, fill_blanks, 0, "stream[std::clog]", "*.fill", "' '",
	  "'*'", NULL },
	{ break_stream, mend_stream, 0, "stream[std::cin]", "*.state", "good",
	  "fail", NULL },
	{ throwing, not_throwing, 0, "stream[std::cout]", "*.exceptions",
	  "none", "bad", NULL },
	{ other_buffer, own_buffer, 0, "stream[std::cout]", "*.buffer",
	  "its own", "another", NULL },
	{ untie, tie, 0, "stream[std::cin]", "*.tie", "std::cout", "none",
	  NULL },
	{ hook_terminate, unhook_terminate, 0, "terminate-handler", NULL,
	  "default", "terminate_here*", NULL },
	{ hook_new, unhook_new, 0, "new-handler", NULL, "default",
	  "no_memory_left*", NULL },
	{ other_locale, former_locale, 0, "cxx-locale", NULL, "C", "*", NULL },
	{ load, unload, STATE_MAPPINGS, "library[libanl.so.1]", NULL, "absent",
	  "loaded", NULL },
	{ be_nobody, be_root, STATE_IDS, "user-ids", NULL, "0",
	  "real 0, effective 65534, saved 0, file system 65534", "dumpable" },
	{ be_nogroup, be_root_group, STATE_IDS, "group-ids", NULL, "0",
	  "real 0, effective 65534, saved 0, file system 65534", "dumpable" },
	{ one_group, old_groups, STATE_IDS, "groups", NULL, "*", "12345*",
	  NULL },
	{ rename_process, former_name, STATE_PRCTL, "process-name", NULL,
	  "\"subject_*\"", "\"renamed\"", NULL },
	/* What changing ids took away is given back. */
	{ dumpable, NULL, STATE_PRCTL, "dumpable", NULL, "*", "yes", NULL },
	{ not_dumpable, dumpable, STATE_PRCTL, "dumpable", NULL, "yes", "no",
	  NULL },
	{ die_with_parent, do_not_die, STATE_PRCTL, "parent-death-signal", NULL,
	  "none", "SIGUSR1", NULL },
	{ own_group, former_group, STATE_SESSION, "process-group", NULL,
	  "of process *", "its own", NULL },
	{ other_personality, former_personality, STATE_NAMESPACE, "personality",
	  NULL, "Linux*", "Linux*sticky timeouts", NULL },
	{ no_privileges, NULL, STATE_PRCTL, "no-new-privileges", NULL,
	  "not set", "set", NULL },
	{ own_session, NULL, STATE_SESSION, "session", NULL, "of process *",
	  "its own", "process-group" },
	{ buffer_output, NULL, 0, "stdio[stdout]", NULL, "fully buffered, to *",
	  "line buffered, buffer of the program, 100 bytes, to *", NULL },
};
