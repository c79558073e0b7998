/*
 * Following system calls. The subject is this very program, started again: it
 * makes calls between two marks, and what was told of them is compared as text,
 * one line an event.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/str.h"
#include "base/vec.h"
#include "follow/follow.h"
#include "tracee/breakpoint.h"
#include "tracee/tracee.h"

#include "subject_follow.h"

/* ---- what is told ---- */

struct story {
	pthread_mutex_t lock;
	struct str text;
	const char *folder;
	unsigned skip; /* kinds that are left out, as bits */
	bool between;
	bool all; /* marks or not */
	size_t n;
};

static const char *const kinds[] = {
	[FOLLOW_OPEN] = "open",	    [FOLLOW_CREATE] = "create",
	[FOLLOW_LINK] = "link",	    [FOLLOW_REMOVE] = "remove",
	[FOLLOW_RENAME] = "rename", [FOLLOW_CHANGE] = "change",
	[FOLLOW_MODE] = "mode",	    [FOLLOW_OWNER] = "owner",
	[FOLLOW_TIMES] = "times",   [FOLLOW_XATTR] = "xattr",
	[FOLLOW_READ] = "read",	    [FOLLOW_LOOK] = "look",
	[FOLLOW_LIST] = "list",	    [FOLLOW_LOOKED] = "looked",
	[FOLLOW_STATE] = "state",
};

static const char *inside(const struct story *story, const char *path)
{
	size_t n = strlen(story->folder);
	if (!path)
		return "?";
	if (strncmp(path, story->folder, n) != 0)
		return path;
	if (path[n] == '/')
		return path + n + 1;
	return path[n] ? path : ".";
}

/* "KIND PATH [> PATH2] [~ if relative] [FLAGS [MODE]]" or "KIND STATES". */
static struct err *write_line(struct story *story,
			      const struct follow_event *event)
{
	struct str *text = &story->text;
	TRY(str_append(text, kinds[event->kind]));
	if (event->kind == FOLLOW_STATE || event->kind == FOLLOW_LOOKED)
		return str_appendf(text, " %x\n", event->states);
	TRY(str_appendf(text, " %s", inside(story, event->path)));
	if (event->kind == FOLLOW_LINK || event->kind == FOLLOW_RENAME)
		TRY(str_appendf(text, " > %s", inside(story, event->path2)));
	if (event->relative)
		TRY(str_append(text, " ~"));
	if (event->flags || event->mode)
		TRY(str_appendf(text, " %llo",
				(unsigned long long)event->flags));
	if (event->mode)
		TRY(str_appendf(text, " %o", event->mode));
	return str_append(text, "\n");
}

static void story_sink(void *data, const struct follow_event *event)
{
	struct story *story = data;
	pthread_mutex_lock(&story->lock);
	if (event->path && !strcmp(event->path, "/begin")) {
		story->between = true;
	} else if (event->path && !strcmp(event->path, "/end")) {
		story->between = false;
	} else if ((story->between || story->all) &&
		   !(story->skip & (1U << event->kind))) {
		story->n++;
		err_ignore(write_line(story, event));
	}
	pthread_mutex_unlock(&story->lock);
}

/* ---- a folder to work in ---- */

struct place {
	char folder[64];
	struct story story;
};

/* mkdir("static-made", 0755) and nothing else, without any library. */
static void write_static(const char *path)
{
	/* clang-format off */
	static const uint8_t code[] = {
		/* ELF header, then one program header */
		0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 62, 0, 1, 0, 0, 0, 0x78, 0, 0x40, 0, 0, 0, 0, 0,
		64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0,
		0xa6, 0, 0, 0, 0, 0, 0, 0, 0xa6, 0, 0, 0, 0, 0, 0, 0,
		0, 0x10, 0, 0, 0, 0, 0, 0,
		/* mov $83,%eax; lea path(%rip),%rdi; mov $0755,%esi; syscall */
		0xb8, 83, 0, 0, 0, 0x48, 0x8d, 0x3d, 0x10, 0, 0, 0,
		0xbe, 0xed, 1, 0, 0, 0x0f, 0x05,
		/* mov $60,%eax; xor %edi,%edi; syscall; path: */
		0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05,
		's', 't', 'a', 't', 'i', 'c', '-', 'm', 'a', 'd', 'e', 0,
	};
	/* clang-format on */
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, code, sizeof(code)), sizeof(code));
	close(fd);
}

static void place_open(struct place *place)
{
	char path[128];
	*place = (struct place){
		.story = { .lock = PTHREAD_MUTEX_INITIALIZER },
	};
	strcpy(place->folder, "/tmp/follow-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	assert_int_equal(chmod(place->folder, 0777), 0);
	place->story.folder = place->folder;
	snprintf(path, sizeof(path), "%s/real", place->folder);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/real/file", place->folder);
	touch(path);
	static const char *const links[][2] = {
		{ "real", "linked" },
		{ "linked/file", "to-linked" },
		{ "nowhere", "dangling" },
		{ "loop", "loop" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		snprintf(path, sizeof(path), "%s/%s", place->folder,
			 links[i][1]);
		assert_int_equal(symlink(links[i][0], path), 0);
	}
	snprintf(path, sizeof(path), "%s/static", place->folder);
	write_static(path);
}

static void place_closep(struct place *place)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", place->folder);
	if (system(command) != 0)
		print_error("%s is left\n", place->folder);
	str_free(&place->story.text);
}

/* ---- both ways to follow ---- */

enum way { ATTACH, CHILD };

static uint64_t base_of(pid_t pid)
{
	char path[64], own[4096], line[4400];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	assert_true(n > 0);
	own[n] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	assert_non_null(maps);
	unsigned long long base = 0;
	while (!base && fgets(line, sizeof(line), maps)) {
		if (strstr(line, own))
			sscanf(line, "%llx-", &base);
	}
	fclose(maps);
	assert_true(base);
	return base;
}

struct hand {
	struct tracer *tracer;
	struct tracee *tracee;
	struct thread *thread;
	struct follow *follow;
};

static void hand_closep(struct hand *hand)
{
	tracer_destroy(hand->tracer);
	tracer_tick(false);
	follow_destroy(hand->follow);
}

/* Stopped at here(), with all its threads. */
static void hand_open(struct hand *hand, struct place *place, char **argv)
{
	const struct tracee_command command = { .argv = argv,
						.cwd = place->folder };
	struct tracee_event event;
	*hand = (struct hand){};
	assert_ok(tracer_create(&hand->tracer));
	tracer_tick(true);
	assert_ok(tracee_start(hand->tracer, &command, &hand->tracee));
	int64_t bias = (int64_t)(base_of(tracee_pid(hand->tracee)) -
				 base_of(getpid()));
	assert_ok(breakpoint_set(hand->tracee,
				 raddr_add(RADDR((uintptr_t)here), bias), 1));
	assert_ok(tracee_continue(hand->tracee, 0, &event));
	assert_int_equal(event.kind, TRACEE_BREAKPOINT);
	hand->thread = event.thread;
	assert_ok(tracee_stop_all(hand->tracee));
}

static int hand_finish(struct hand *hand)
{
	struct tracee_event event;
	assert_ok(tracee_continue(hand->tracee, tracer_clock() + 60000000000ULL,
				  &event));
	assert_int_equal(event.kind, TRACEE_EXITED);
	return event.status;
}

static struct follow_options options_of(struct place *place, unsigned flags)
{
	return (struct follow_options){ .flags = flags,
					.sink = story_sink,
					.data = &place->story };
}

/* The exit status. */
static int run_attached(struct place *place, unsigned flags, char **argv)
{
	_cleanup_(hand_closep) struct hand hand;
	const struct follow_options options = options_of(place, flags);
	hand_open(&hand, place, argv);
	assert_ok(follow_attach(hand.thread, &options, &hand.follow));
	int status = hand_finish(&hand);
	assert_true(follow_counts(hand.follow).told > 0);
	return status;
}

static pid_t start_child(const struct place *place, struct follow *follow,
			 char **argv)
{
	pid_t pid = fork();
	if (!pid) {
		if (chdir(place->folder) < 0)
			_exit(126);
		follow_child(follow);
		execv(argv[0], argv);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static int run_child_way(struct place *place, unsigned flags, char **argv)
{
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	const struct follow_options options = options_of(place, flags);
	assert_ok(follow_prepare(&options, &follow));
	pid_t pid = start_child(place, follow, argv);
	assert_ok(follow_begin(follow));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int run(enum way way, struct place *place, unsigned flags, char *what)
{
	char *argv[] = { "/proc/self/exe", "subject", what, NULL };
	return (way == ATTACH ? run_attached : run_child_way)(place, flags,
							      argv);
}

static void check(enum way way, char *what, unsigned flags, unsigned skip,
		  const char *told)
{
	_cleanup_(place_closep) struct place place;
	place_open(&place);
	place.story.skip = skip;
	assert_int_equal(run(way, &place, flags, what), 0);
	assert_string_equal(place.story.text.s ? place.story.text.s : "", told);
}

#define SKIP_LOOKED (1U << FOLLOW_LOOKED)
#define SKIP_FILES (~((1U << FOLLOW_LOOKED) | (1U << FOLLOW_STATE)))

static void check_all(enum way way)
{
	const unsigned all = FOLLOW_FILES | FOLLOW_STATES;
	check(way, "files", FOLLOW_FILES, 0, FILES_TOLD);
	check(way, "names", FOLLOW_FILES, 0, NAMES_TOLD);
	check(way, "sockets", all | FOLLOW_READS, 0, SOCKETS_TOLD);
	check(way, "reads", FOLLOW_FILES | FOLLOW_READS, 0, READS_TOLD);
	check(way, "reads", FOLLOW_FILES, 0, "");
	check(way, "states", all, SKIP_FILES, STATES_TOLD);
	check(way, "states", all | FOLLOW_READS, SKIP_FILES, LOOKS_TOLD);
	check(way, "children", FOLLOW_FILES, 0, CHILDREN_TOLD);
	check(way, "moves", FOLLOW_FILES, 0, MOVES_TOLD);
}

static void test_attached(void **state)
{
	(void)state;
	check_all(ATTACH);
}

static void test_child(void **state)
{
	(void)state;
	check_all(CHILD);
}

static void test_threads(void **state)
{
	(void)state;
	for (enum way way = ATTACH; way <= CHILD; way++) {
		_cleanup_(place_closep) struct place place;
		place_open(&place);
		place.story.all = true;
		assert_int_equal(run(way, &place, FOLLOW_FILES, "threads"), 0);
		assert_int_equal(place.story.n, THREADS * PER_THREAD);
		for (int i = 0; i < THREADS; i++) {
			char line[64];
			snprintf(line, sizeof(line), "open t%d-%d ~", i,
				 PER_THREAD - 1);
			assert_non_null(strstr(place.story.text.s, line));
		}
	}
}

static void test_signals(void **state)
{
	(void)state;
	for (enum way way = ATTACH; way <= CHILD; way++) {
		for (int plain = 0; plain < (way == ATTACH ? 2 : 1); plain++) {
			_cleanup_(place_closep) struct place place;
			place_open(&place);
			place.story.all = true;
			assert_int_equal(run(way, &place, FOLLOW_FILES,
					     plain ? "storm-plain" : "storm"),
					 0);
			/* A signal may make the kernel tell a call again. */
			assert_true(place.story.n >= (size_t)2 * STORM);
			for (int i = 0; i < STORM; i++) {
				char line[64];
				snprintf(line, sizeof(line), "remove s%d ~\n",
					 i);
				assert_non_null(
					strstr(place.story.text.s, line));
			}
		}
	}
}

static void test_waiting_is_interrupted(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	place_open(&place);
	assert_int_equal(run(ATTACH, &place, FOLLOW_FILES, "fifo"), 0);
}

static void test_roots(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("only root may change its root\n");
		skip();
	}
	check(ATTACH, "roots", FOLLOW_FILES, 0, ROOTS_TOLD);
	check(CHILD, "roots", FOLLOW_FILES, 0, ROOTS_TOLD);
}

static void test_many_processes(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	place_open(&place);
	place.story.all = true;
	assert_int_equal(run(CHILD, &place, FOLLOW_FILES, "many"), 0);
	assert_int_equal(place.story.n, MANY);
	for (int i = 0; i < MANY; i++) {
		char line[64];
		snprintf(line, sizeof(line), "open m%d ~ 2000101 640\n", i);
		assert_non_null(strstr(place.story.text.s, line));
	}
}

static size_t count_entries(const char *format, pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), format, pid);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	size_t n = 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Attaching leaves nothing behind in the process, nor ending it in us. */
static void test_leaves_nothing(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	place_open(&place);
	size_t own = count_entries("/proc/%d/fd", getpid());
	size_t tasks = count_entries("/proc/%d/task", getpid());
	{
		_cleanup_(hand_closep) struct hand hand;
		char *argv[] = { "/proc/self/exe", "subject", "files", NULL };
		hand_open(&hand, &place, argv);
		pid_t pid = tracee_pid(hand.tracee);
		size_t there = count_entries("/proc/%d/fd", pid);
		const struct follow_options options =
			options_of(&place, FOLLOW_FILES);
		assert_ok(follow_attach(hand.thread, &options, &hand.follow));
		assert_int_equal(count_entries("/proc/%d/fd", pid), there);
		/* One listener is all that the kernel allows. */
		struct follow *second;
		_cleanup_(err_destroyp) struct err *err =
			follow_attach(hand.thread, &options, &second);
		assert_non_null(err);
		assert_int_equal(err_number(err), EBUSY);
		assert_int_equal(count_entries("/proc/%d/fd", pid), there);
		assert_int_equal(hand_finish(&hand), 0);
		assert_string_equal(place.story.text.s, FILES_TOLD);
	}
	assert_int_equal(count_entries("/proc/%d/fd", getpid()), own);
	assert_int_equal(count_entries("/proc/%d/task", getpid()), tasks);
}

static void test_refused(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	_cleanup_(hand_closep) struct hand hand;
	place_open(&place);
	char *argv[] = { "/proc/self/exe", "subject", "refused", NULL };
	hand_open(&hand, &place, argv);
	const struct follow_options options = options_of(&place, FOLLOW_FILES);
	_cleanup_(err_destroyp) struct err *err =
		follow_attach(hand.thread, &options, &hand.follow);
	assert_non_null(err);
	assert_int_equal(err_kind(err), ERR_INTERNAL);
	assert_int_equal(err_number(err), EPERM);
	assert_null(hand.follow);
	/* It goes on as if nothing had been. */
	assert_int_equal(hand_finish(&hand), 0);
	assert_int_equal(place.story.n, 0);
}

static void test_child_refused(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	place_open(&place);
	const struct follow_options options = options_of(&place, FOLLOW_FILES);
	assert_ok(follow_prepare(&options, &follow));
	pid_t pid = fork();
	if (!pid) {
		refuse_filters();
		follow_child(follow);
		_exit(chdir(place.folder) == 0 && mkdir("made", 0700) == 0 ? 0
									   : 1);
	}
	_cleanup_(err_destroyp) struct err *err = follow_begin(follow);
	assert_non_null(err);
	assert_int_equal(err_number(err), EPERM);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The child dies before it comes to follow_child(). */
static void test_child_dies(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	place_open(&place);
	const struct follow_options options = options_of(&place, FOLLOW_FILES);
	assert_ok(follow_prepare(&options, &follow));
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	assert_err(follow_begin(follow), ERR_INTERNAL, "ended before");
	waitpid(pid, NULL, 0);
}

static void test_destroyed_early(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	_cleanup_(follow_destroyp) struct follow *follow = NULL;
	int to[2], from[2], number = -1;
	place_open(&place);
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	const struct follow_options options = options_of(&place, FOLLOW_FILES);
	assert_ok(follow_prepare(&options, &follow));
	pid_t pid = fork();
	if (!pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		follow_child(follow);
		if (chdir(place.folder) == 0)
			execl("/proc/self/exe", "subject", "subject", "daemon",
			      NULL);
		_exit(127);
	}
	assert_ok(follow_begin(follow));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* What it left running is neither held up nor disturbed. */
	follow_destroy(take_ptr(follow));
	assert_int_equal(write(to[1], "x", 1), 1);
	assert_int_equal(read(from[0], &number, sizeof(number)),
			 sizeof(number));
	assert_int_equal(number, 0);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}

/* Killed while its calls are held back, and ended from both sides. */
static void test_ended_in_the_middle(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		_cleanup_(place_closep) struct place place;
		place_open(&place);
		_cleanup_(follow_destroyp) struct follow *follow = NULL;
		const struct follow_options options =
			options_of(&place, FOLLOW_FILES);
		assert_ok(follow_prepare(&options, &follow));
		char *argv[] = { "/proc/self/exe", "subject", "busy", "-1",
				 NULL };
		pid_t pid = start_child(&place, follow, argv);
		assert_ok(follow_begin(follow));
		while (follow_counts(follow).told < 10)
			usleep(100);
		if (i % 2)
			follow_destroy(take_ptr(follow));
		kill(pid, SIGKILL);
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
	}
}

/* ---- an ordinary user ---- */

static bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setgid(65534) == 0 &&
	       setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
}

static void user_part(void)
{
	check(CHILD, "names", FOLLOW_FILES, 0, NAMES_TOLD);
	check(ATTACH, "names", FOLLOW_FILES, 0, NAMES_TOLD);
}

static void test_ordinary_user(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("we are one: the other tests say it all\n");
		skip();
	}
	pid_t pid = fork();
	if (!pid) {
		if (!become_nobody())
			_exit(77);
		/* A fresh program, so that a failed check ends it. */
		execl("/proc/self/exe", "test_follow", "user", NULL);
		_exit(77);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("cannot become an ordinary user here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void test_user_part(void **state)
{
	(void)state;
	user_part();
}

/* ---- figures ---- */

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Says what a told call costs; no machine is too slow. */
static void test_cost(void **state)
{
	(void)state;
	_cleanup_(place_closep) struct place place;
	_cleanup_(hand_closep) struct hand hand;
	place_open(&place);
	char *argv[] = { "/proc/self/exe", "subject", "busy", "2000", NULL };
	hand_open(&hand, &place, argv);
	const struct follow_options options = options_of(&place, FOLLOW_FILES);
	assert_ok(follow_attach(hand.thread, &options, &hand.follow));
	double start = seconds();
	assert_int_equal(hand_finish(&hand), 0);
	double each = (seconds() - start) * 1e6 / 2000;
	struct follow_counts counts = follow_counts(hand.follow);
	assert_int_equal(counts.told, 2000);
	print_message("a told call takes %.1f us, %.1f us of it ours\n", each,
		      (double)counts.ns / 1e3 / 2000);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "subject"))
		return subject(argv);
	const struct CMUnitTest user_tests[] = {
		cmocka_unit_test(test_user_part),
	};
	if (argc > 1 && !strcmp(argv[1], "user"))
		return cmocka_run_group_tests(user_tests, NULL, NULL);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attached),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_waiting_is_interrupted),
		cmocka_unit_test(test_leaves_nothing),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_child_refused),
		cmocka_unit_test(test_child_dies),
		cmocka_unit_test(test_destroyed_early),
		cmocka_unit_test(test_ended_in_the_middle),
		cmocka_unit_test(test_ordinary_user),
		cmocka_unit_test(test_cost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
