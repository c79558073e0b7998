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
