/*
 * Call stacks out of what the agent copied (dwarf/unwind.h, cli/unwind.h): of
 * programs that say themselves what their stack is, and of broken copies.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/unwind.h"
#include "dwarf/unwind.h"

static struct wire_choices *block;
static int block_fd;
static struct unwinder *unwinder;

static int set_up(void **state _unused_)
{
	block_fd = memfd_create("choices", 0);
	if (block_fd < 0 || ftruncate(block_fd, sizeof(*block)))
		return -1;
	block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED,
		     block_fd, 0);
	return block == MAP_FAILED ? -1 : 0;
}

static int tear_down(void **state _unused_)
{
	munmap(block, sizeof(*block));
	close(block_fd);
	return 0;
}

static void set_bit(uint64_t *words, unsigned model)
{
	words[model / 64] |= 1ULL << model % 64;
}

/* What a program under the agent printed; its choices are in the block. */
static void run(const char *variable, char *out, size_t size)
{
	const char *program = getenv(variable);
	const char *agent = getenv("POLYGRAPH_CHOICES_AGENT");
	if (!program || !agent)
		skip();
	memset(block, 0, sizeof(*block));
	block->magic = WIRE_CHOICES_MAGIC;
	block->version = WIRE_CHOICES_VERSION;
	block->active = 1;
	block->level = WIRE_ONE;
	block->seed = 7;
	block->epoch = block->phase = 1;
	block->detail = 1;
	set_bit(block->models, WIRE_MODEL_qsort);
	set_bit(block->on, WIRE_MODEL_qsort);
	int ends[2];
	assert_return_code(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", block_fd);
		setenv("LD_PRELOAD", agent, 1);
		setenv(WIRE_CHOICES_VARIABLE, path, 1);
		dup2(ends[1], STDOUT_FILENO);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	size_t n = 0;
	ssize_t got;
	while ((got = read(ends[0], out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(ends[0]);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void print_stack(const struct assumption_call *call)
{
	for (size_t i = 0; i < call->stack.n; i++) {
		const struct call_frame *frame = &call->stack.data[i];
		print_error("#%zu %s %s:%u\n", i,
			    frame->function ? frame->function : "?",
			    frame->file ? frame->file : "?", frame->line);
	}
}

static void free_stack(struct assumption_call *call)
{
	for (size_t i = 0; i < call->stack.n; i++) {
		free(call->stack.data[i].function);
		free(call->stack.data[i].file);
	}
	vec_free(&call->stack);
}

/* "*NAME": how it ends; debug information says less of inlined lambdas. */
static bool is_named(const char *function, const char *wanted, size_t n)
{
	size_t have = function ? strlen(function) : 0;
	if (n && *wanted == '*')
		return have >= n - 1 &&
		       !strncmp(function + have - (n - 1), wanted + 1, n - 1);
	return have == n && !strncmp(function, wanted, n);
}

/*
 * One expected frame, "FUNCTION LINE", is the one at *@at, or, after one without
 * a name, a later one.
 */
static bool matches(const struct assumption_call *call, size_t *at,
		    const char *line, bool later)
{
	const char *blank = strrchr(line, ' ');
	size_t n = (size_t)(blank - line);
	unsigned number = (unsigned)strtoul(blank, NULL, 10);
	for (; *at < call->stack.n; (*at)++) {
		const struct call_frame *frame = &call->stack.data[*at];
		if (is_named(frame->function, line, n) &&
		    frame->line == number && frame->file &&
		    strstr(frame->file, "subject_unwind.c")) {
			(*at)++;
			return true;
		}
		if (!later)
			return false;
	}
	return false;
}

static void check(const char *variable, size_t stacks)
{
	char out[4096];
	run(variable, out, sizeof(out));
	assert_int_equal(block->records_n, stacks);
	size_t record = 0;
	struct assumption_call call = {};
	size_t at = 0;
	bool later = false;
	for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strcmp(line, "--")) {
			assert_true(at <= UNWIND_FRAMES);
			free_stack(&call);
			at = 0;
			record++;
			continue;
		}
		if (!at && !later)
			assert_ok(unwind_choice(unwinder, block,
						&block->records[record],
						&call));
		if (*line == ' ') {
			later = true;
			continue;
		}
		if (!matches(&call, &at, line, later)) {
			print_error("%s: stack %zu: expected %s\n", variable,
				    record, line);
			print_stack(&call);
			fail();
		}
		later = false;
	}
	assert_int_equal(record, stacks);
}

static int create(void **state _unused_)
{
	assert_ok(unwinder_create(&unwinder));
	return 0;
}

static int destroy(void **state _unused_)
{
	unwinder_destroy(unwinder);
	return 0;
}

static void c_plain(void **state _unused_)
{
	check("POLYGRAPH_SUBJECT_UNWIND_C0", 3);
}

static void c_optimised(void **state _unused_)
{
	check("POLYGRAPH_SUBJECT_UNWIND_C2", 3);
}

static void cc_plain(void **state _unused_)
{
	check("POLYGRAPH_SUBJECT_UNWIND_CC0", 2);
}

static void cc_optimised(void **state _unused_)
{
	check("POLYGRAPH_SUBJECT_UNWIND_CC2", 2);
}

/* Files stay open from program to program, wherever each is loaded. */
static void one_unwinder_for_all(void **state _unused_)
{
	for (int i = 0; i < 2; i++) {
		check("POLYGRAPH_SUBJECT_UNWIND_C2", 3);
		check("POLYGRAPH_SUBJECT_UNWIND_CC0", 2);
	}
}

/* Deep stacks are cut off in the middle, not refused. */
static void deep_stack(void **state _unused_)
{
	char out[4096];
	struct assumption_call call = {};
	run("POLYGRAPH_SUBJECT_UNWIND_C0", out, sizeof(out));
	assert_int_equal(block->records_n, 3);
	assert_ok(unwind_choice(unwinder, block, &block->records[2], &call));
	assert_int_equal(call.stack.n, UNWIND_FRAMES);
	for (size_t i = 2; i < call.stack.n; i++)
		assert_string_equal(call.stack.data[i].function, "recurse");
	free_stack(&call);
}

static uint64_t random_state = 88172645463325252ULL;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void break_something(struct wire_choice *record)
{
	uint64_t what = next_random() % 8;
	uint64_t where = next_random();
	struct wire_choice_module *module =
		&block->modules[where % (block->modules_n | 1) %
				WIRE_CHOICE_MODULES];
	static const char *const paths[] = { "/dev/zero", "/proc/self/mem",
					     "",	  "/etc/passwd",
					     "/",	  "x" };
	switch (what) {
	case 0:
		record->registers[where % WIRE_REGISTERS] = next_random();
		break;
	case 1:
		record->registers[where % WIRE_REGISTERS] += next_random() % 64;
		break;
	case 2:
		module->bias += next_random() % 3 ? 4096 : next_random();
		break;
	case 3:
		strcpy(module->path, paths[next_random() % 6]);
		break;
	case 4:
		record->stack_n = next_random() % 3 ? where % 4096 : where;
		break;
	case 5:
		memset(module->path, 'x', sizeof(module->path));
		break;
	case 6:
		block->modules_n = where;
		break;
	}
	for (int i = 0; i < 16; i++)
		record->stack[next_random() % 1024] = (unsigned char)where;
}

/* Whatever the tested program wrote there: at most so many frames, no fall. */
static void broken_records(void **state _unused_)
{
	char out[4096];
	run("POLYGRAPH_SUBJECT_UNWIND_C2", out, sizeof(out));
	struct wire_choices *whole = malloc(sizeof(*whole));
	assert_non_null(whole);
	memcpy(whole, block, sizeof(*whole));
	size_t found = 0;
	for (int i = 0; i < 400; i++) {
		memcpy(block, whole, sizeof(*whole));
		struct assumption_call call = {};
		break_something(&block->records[0]);
		assert_ok(unwind_choice(unwinder, block, &block->records[0],
					&call));
		assert_true(call.stack.n <= UNWIND_FRAMES);
		found += call.stack.n != 0;
		free_stack(&call);
	}
	assert_true(found > 0); /* most of it was still whole */
	free(whole);
}

static void nothing_at_all(void **state _unused_)
{
	struct unwind_thread thread = {};
	struct unwind_frames frames = {};
	assert_ok(unwinder_callers(unwinder, &thread, &frames));
	assert_int_equal(frames.n, 0);
	const struct unwind_module none[] = { { NULL, 0 }, { "relative", 1 } };
	thread.modules = none;
	thread.n_modules = 2;
	assert_ok(unwinder_callers(unwinder, &thread, &frames));
	assert_int_equal(frames.n, 0);
}

#define UNWIND(test) cmocka_unit_test_setup_teardown(test, create, destroy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNWIND(c_plain),
		UNWIND(c_optimised),
		UNWIND(cc_plain),
		UNWIND(cc_optimised),
		UNWIND(one_unwinder_for_all),
		UNWIND(deep_stack),
		UNWIND(broken_records),
		UNWIND(nothing_at_all),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
