/*
 * A program that changes each attribute of its process and puts it back. It
 * stops at mark(), with what is to be found.
 */
#include "follow/follow.h"
#include "subject_attributes.h"
#include "subject_attributes_acts.h"
#include "wire/state.h"

extern "C" {
void mark(const struct subject_point *point);
void on_usr1(int);
void at_the_end(void);
void terminate_here(void);
void no_memory_left(void);
struct wire_state subject_agent;
}

void __attribute__((noinline)) mark(const struct subject_point *point)
{
	__asm__ volatile("" ::"r"(point) : "memory");
}

void on_usr1(int)
{
}

void at_the_end(void)
{
}

void terminate_here(void)
{
	_exit(3);
}

void no_memory_left(void)
{
}

/* What the agent would note. */
static char random_table[128];
static void note(void)
{
	struct wire_state now = *agent;
	if (!agent->active)
		return;
	for (int i = 1; i < 65; i++) {
		struct sigaction action = {};
		if (sigaction(i, NULL, &action) == 0) {
			now.signals[i].handler = (uintptr_t)action.sa_handler;
			now.signals[i].flags = (unsigned)action.sa_flags;
			memcpy(&now.signals[i].mask, &action.sa_mask, 8);
		}
	}
	for (int i = 0; i < WIRE_LOCALES; i++)
		snprintf(now.locale[i], sizeof(now.locale[i]), "%s",
			 i == LC_ALL ? "" : setlocale(i, NULL));
	now.terminate = (uintptr_t)std::get_terminate();
	now.new_handler = (uintptr_t)std::get_new_handler();
	now.terminate_calls = now.new_handler_calls = 1;
	if (memcmp(&now, agent, sizeof(now)) != 0)
		now.changes++;
	*agent = now;
}

struct step {
	bool (*act)(void);
	bool (*back)(void); /* NULL: it stays */
	unsigned states;
	const char *root, *path, *before, *after, *also;
};

static const struct step steps[] = {
	{ none, none, 0, NULL, NULL, NULL, NULL, NULL },
	{ to_root, from_root, STATE_DIRECTORY, "working-directory", NULL,
	  "/?*", "/", NULL },
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
	{ open_pipe, close_pipe, 0, "descriptor[*]", NULL, "absent",
	  "pipe, *", "descriptor*" },
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
	  "0-*", "?", NULL },
	{ set_alarm, no_alarm, STATE_TIMERS, "timer[real]", NULL, "absent",
	  "armed", NULL },
	{ set_virtual, no_virtual, STATE_TIMERS, "timer[virtual]", NULL,
	  "absent", "armed, every *", NULL },
	{ make_timer, delete_timer, STATE_TIMERS, "timer[posix *]", NULL,
	  "absent", "clock 1, by signal SIGUSR1", NULL },
	{ round_up, round_near, 0, "rounding-mode", NULL, "to nearest",
	  "upward", NULL },
	{ divide, undivide, 0, "floating-point-exceptions", NULL, "none",
	  "division by zero", NULL },
	{ inexact, undivide, 0, NULL, NULL, NULL, NULL, NULL },
	{ seed, unseed, 0, "random", NULL, "state *", "state *", NULL },
	{ seed_48, unseed_48, 0, "drand48", NULL, "state *", "state *", NULL },
	{ start_thread, end_thread, 0, "thread[worker]", NULL, "absent",
	  "*work*", NULL },
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
	{ make_semaphores, remove_semaphores, STATE_IPC,
	  "semaphore[0x7067*]", NULL, "absent", "2 semaphores", NULL },
	{ make_queue, remove_queue, STATE_IPC, "message-queue[0x7067*]",
	  NULL, "absent", "0 messages", NULL },
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
	{ add_exit, NULL, 0, "atexit[at_the_end]", NULL, "absent",
	  "registered", NULL },
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

static void tell(uint32_t phase, const struct step *step, unsigned number)
{
	static char name[32];
	snprintf(name, sizeof(name), "step %u", number);
	struct subject_point point = {};
	point.phase = phase;
	point.name = name;
	point.states = step ? step->states : 0;
	if (step && phase != SUBJECT_NOTHING && phase != SUBJECT_BEGIN) {
		point.root = step->root;
		point.path = step->path;
		point.before = phase == SUBJECT_BACK ? step->after
						     : step->before;
		point.after = phase == SUBJECT_BACK ? step->before
						    : step->after;
	}
	/* What a change and its undoing may leave. */
	if (step && step->also &&
	    (point.root || !strcmp(step->also, "dumpable")))
		point.also = step->also;
	note();
	mark(&point);
}

static void prepare(void)
{
	root_folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(file_path, sizeof(file_path), "/tmp/subject-attributes.%d",
		 getpid());
	file = open(file_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink(file_path);
	(void)!write(file, "some words of text", 18);
	lseek(file, 0, SEEK_SET);
	kept_socket = socket(AF_INET, SOCK_STREAM, 0);
	saved_output = dup(1);
	setenv("SUBJECT_OLD", "1", 1);
	setenv("SUBJECT_POKED", "x", 1);
	umask(022);
	block(SIG_BLOCK, SIGWINCH);
	limit(0);
	sem_init(&gate, 0, 0);
	srandom(1);
	srand48(1);
	feclearexcept(FE_ALL_EXCEPT);
	old_terminate = std::get_terminate();
	first_group = getpgid(getppid());
	setpgid(0, first_group);
	first_group = getpgid(0);
	/* Whatever the library sets up at the first use. */
	printf("beginning\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	prepare();
	if (argc > 1 && !strcmp(argv[1], "agent")) {
		agent->magic = WIRE_STATE_MAGIC;
		agent->version = WIRE_STATE_VERSION;
		agent->active = 1;
		initstate(1, random_table, sizeof(random_table));
		agent->random = (uintptr_t)random_table;
		agent->random_size = sizeof(random_table);
		note();
	}
	if (argc > 2) {
		/* As few descriptors as most programs have. */
		for (int i = 3; i < 16; i++)
			close(i);
	}
	tell(SUBJECT_BEGIN, NULL, 0);
	for (int i = 0; i < 3; i++)
		tell(SUBJECT_NOTHING, NULL, 0);
	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct step *step = &steps[i];
		if (!step->act()) /* not allowed here */
			continue;
		if (step->back) {
			step->back();
			tell(SUBJECT_NOTHING, step, i);
			step->act();
		}
		tell(step->root ? SUBJECT_CHANGED : SUBJECT_NOTHING, step, i);
		tell(SUBJECT_NOTHING, NULL, i);
		if (step->back) {
			step->back();
			tell(step->root ? SUBJECT_BACK : SUBJECT_NOTHING, step,
			     i);
		}
	}
	tell(SUBJECT_END, NULL, 0);
	_exit(0);
}
