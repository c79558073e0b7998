/* The agent's log of files, read by files/log.h while a program runs. */
#include "../unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "files/log.h"

struct box {
	char dir[64];
	pid_t pid, twin;
	FILE *in, *out;
	uint64_t object;
	struct files *files;
	struct files_log *log;
	struct changes changes;
};

static long answer(struct box *box)
{
	char line[64];
	assert_non_null(fgets(line, sizeof(line), box->out));
	return (long)strtoul(line, NULL, 10);
}

static void box_open(struct box *box)
{
	*box = (struct box){};
	strcpy(box->dir, "/tmp/polygraph-log-XXXXXX");
	assert_non_null(mkdtemp(box->dir));
	char program[4096];
	snprintf(program, sizeof(program), "%s/log_ops", getenv("PROGRAMS"));
	int in[2], out[2];
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	box->pid = fork();
	if (box->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		setenv("LD_PRELOAD", getenv("AGENT"), 1);
		if (chdir(box->dir) == 0)
			execl(program, program, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	box->in = fdopen(in[1], "w");
	box->out = fdopen(out[0], "r");
	box->object = (uint64_t)answer(box);
}

static void box_begin(struct box *box)
{
	const char *dirs[] = { box->dir, NULL };
	struct files_options options = {
		.dirs = dirs,
		.directory = box->dir,
		.paths = 8,
	};
	assert_ok(files_create(&options, &box->files));
	assert_ok(files_log_create(box->pid, box->twin, box->object, &box->log));
	assert_int_not_equal(files_log_exempt(box->log), 0);
	assert_ok(files_log_begin(box->log, box->files));
}

static void box_close(struct box *box)
{
	char command[128];
	files_log_destroy(box->log);
	files_destroy(box->files);
	changes_freep_deep(&box->changes);
	fclose(box->in);
	fclose(box->out);
	int status;
	assert_int_equal(waitpid(box->pid, &status, 0), box->pid);
	snprintf(command, sizeof(command), "rm -rf %s", box->dir);
	assert_int_equal(system(command), 0);
}

static void tell(struct box *box, const char *line)
{
	fprintf(box->in, "%s\n", line);
	fflush(box->in);
	if (answer(box) != 0)
		fail_msg("%s", line);
}

static const char *shown(struct box *box)
{
	static char text[65536];
	size_t n = 0;
	text[0] = '\0';
	changes_clear(&box->changes);
	files_log_read(box->log);
	assert_ok(files_capture(box->files, box->pid, NULL, 0, &box->changes));
	for (size_t i = 0; i < box->changes.n; i++) {
		const struct change *change = &box->changes.data[i];
		for (size_t k = 0; k < change->n; k++)
			n += (size_t)snprintf(
				text + n, sizeof(text) - n, "%s%s|%s|%s\n",
				change->weight == WEIGHT_LOW ? "low " : "",
				change->paths[k].path, change->paths[k].before,
				change->paths[k].after);
	}
	return text;
}
#define assert_shown(box, expected) assert_string_equal(shown(box), expected)

static void test_changes(void **state)
{
	(void)state;
	struct box box;
	box_open(&box);
	tell(&box, "write old a=1");
	tell(&box, "write same text");
	tell(&box, "write gone text");
	box_begin(&box);
	assert_shown(&box, "");
	tell(&box, "write new twelve-bytes");
	tell(&box, "write old a=2");
	tell(&box, "write same other");
	tell(&box, "write same text");
	tell(&box, "remove gone");
	tell(&box, "write passing x");
	tell(&box, "remove passing");
	assert_shown(&box, "gone|file of 4 bytes|absent\n"
			   "new|absent|file of 12 bytes\n"
			   "old|\"a=1\"|\"a=2\"\n");
	assert_shown(&box, "");
	tell(&box, "append old more");
	tell(&box, "truncate new 3");
	assert_shown(&box, "new|\"twelve-bytes\"|\"twe\"\n"
			   "old|\"a=2\"|\"a=2more\"\n");
	tell(&box, "rename old moved");
	assert_shown(&box, "old: name|old|moved\n");
	tell(&box, "write moved.new a=2more");
	tell(&box, "rename moved.new moved");
	assert_shown(&box, "");
	tell(&box, "fresh tmp.aB3dE6");
	assert_shown(&box, "low tmp.XXXXXX|absent|empty file\n");
	assert_int_equal(files_log_counts(box.log).lost, 0);
	assert_true(files_log_counts(box.log).records >= 12);
	box_close(&box);
}

static void test_folders(void **state)
{
	(void)state;
	struct box box;
	char path[256];
	box_open(&box);
	tell(&box, "mkdir kept");
	snprintf(path, sizeof(path), "%s/link", box.dir);
	assert_int_equal(symlink("kept", path), 0);
	box_begin(&box);
	/* Through a link, with dots, from inside. */
	tell(&box, "write link/a 1");
	tell(&box, "write kept/../kept/./b 2");
	tell(&box, "chdir kept");
	tell(&box, "write c 3");
	tell(&box, "write ../d 4");
	assert_shown(&box, "d|absent|file of 1 byte\n"
			   "kept/a|absent|file of 1 byte\n"
			   "kept/b|absent|file of 1 byte\n"
			   "kept/c|absent|file of 1 byte\n");
	tell(&box, "chdir ..");
	tell(&box, "mkdir new");
	tell(&box, "write new/x 1");
	assert_shown(&box, "new|absent|folder with 1 entry\n");
	/* Made and gone again before anybody looked. */
	tell(&box, "mkdir short");
	tell(&box, "write short/x 1");
	tell(&box, "remove short/x");
	tell(&box, "remove short");
	assert_shown(&box, "");
	box_close(&box);
}

static void test_children(void **state)
{
	(void)state;
	struct box box;
	box_open(&box);
	box_begin(&box);
	tell(&box, "child write a 1");
	tell(&box, "child child write b 2");
	assert_shown(&box, "a|absent|file of 1 byte\n"
			   "b|absent|file of 1 byte\n");
	box_close(&box);
}

/* Round and round, and more than fits between two looks. */
static void test_many(void **state)
{
	(void)state;
	struct box box;
	box_open(&box);
	tell(&box, "write a first");
	box_begin(&box);
	for (int i = 0; i < 10; i++) {
		tell(&box, "again b 1500");
		tell(&box, i % 2 ? "write a first" : "write a second");
		assert_shown(&box, i == 0 ? "a|\"first\"|\"second\"\n"
					    "b|absent|file of 5 bytes\n" :
			     i % 2	  ? "a|\"second\"|\"first\"\n" :
					    "a|\"first\"|\"second\"\n");
	}
	struct files_log_counts counts = files_log_counts(box.log);
	assert_int_equal(counts.records, 10 * 1501);
	assert_int_equal(counts.refused, 0);
	tell(&box, "again b 20000");
	assert_shown(&box, "");
	assert_true(files_log_counts(box.log).refused > 10000);
	tell(&box, "write a third");
	assert_shown(&box, "a|\"first\"|\"third\"\n");
	box_close(&box);
}

/* Begun anew, as in another run: what happened between is forgotten. */
static void test_again(void **state)
{
	(void)state;
	struct box box;
	box_open(&box);
	box_begin(&box);
	tell(&box, "write a 1");
	files_log_destroy(box.log);
	files_destroy(box.files);
	tell(&box, "write b 2");
	box_begin(&box);
	assert_shown(&box, "");
	tell(&box, "write b 3");
	assert_shown(&box, "b|\"2\"|\"3\"\n");
	box_close(&box);
}

/* The process is gone, or was never there. */
static void test_gone(void **state)
{
	(void)state;
	struct box box;
	struct files_log *log = NULL;
	box_open(&box);
	box_begin(&box);
	assert_err(files_log_create(box.pid, 0, 0, &log), ERR_INTERNAL,
		   "no log of files");
	assert_err(files_log_create(box.pid, 0, box.object + 8, &log),
		   ERR_INTERNAL, "no log of files");
	assert_null(log);
	tell(&box, "write a 1");
	kill(box.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)box.pid, NULL, WEXITED | WNOWAIT),
			 0);
	assert_shown(&box, "");
	box_close(&box);
}

/* The process is gone, but not the one that it was forked from. */
static void test_twin(void **state)
{
	(void)state;
	struct box box;
	box_open(&box);
	tell(&box, "write a 1");
	tell(&box, "fork");
	box.twin = box.pid;
	box.pid = (pid_t)answer(&box);
	box_begin(&box);
	tell(&box, "write a 2");
	tell(&box, "write b 3");
	kill(box.pid, SIGKILL);
	/* It reaps its child before it ends. */
	assert_int_equal(answer(&box), 9);
	assert_shown(&box, "a|\"1\"|\"2\"\n"
			   "b|absent|file of 1 byte\n");
	box.pid = box.twin;
	box_close(&box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),	 cmocka_unit_test(test_folders),
		cmocka_unit_test(test_children), cmocka_unit_test(test_many),
		cmocka_unit_test(test_again),	 cmocka_unit_test(test_gone),
		cmocka_unit_test(test_twin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
