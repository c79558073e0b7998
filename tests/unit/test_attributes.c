/*
 * Process state: each attribute is changed, changed back, and left alone, by a
 * program (subject_attributes.cc) that says at each point what is to be found.
 */
#include "unit.h"

#include <fcntl.h>
#include <gelf.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attributes/attributes.h"
#include "attributes/attributes_internal.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/str.h"
#include "subject_attributes.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "wire/state.h"

/* ---- symbols, as plainly as can be ---- */

struct loaded {
	char path[512];
	uint64_t base;
	int fd;
	Elf *elf;
};

struct hand {
	struct tracer *tracer;
	struct tracee *tracee;
	struct thread *thread;
	struct output *output;
	struct attributes *attributes;
	struct loaded loaded[64];
	size_t n;
	size_t found; /* attributes of which a change was seen */
};

static bool matches(const char *pattern, const char *text)
{
	if (!pattern)
		return true;
	for (; *pattern && *pattern != '*'; pattern++, text++) {
		if (!*text || (*pattern != '?' && *pattern != *text))
			return false;
	}
	if (!*pattern)
		return !*text;
	for (;; text++) {
		if (matches(pattern + 1, text))
			return true;
		if (!*text)
			return false;
	}
}

static void drop_loaded(struct hand *hand)
{
	for (size_t i = 0; i < hand->n; i++) {
		elf_end(hand->loaded[i].elf);
		close(hand->loaded[i].fd);
	}
	hand->n = 0;
}

/* Files of which code is mapped; the program first. */
static void read_loaded(struct hand *hand)
{
	char path[64], line[1024], name[512];
	drop_loaded(hand);
	snprintf(path, sizeof(path), "/proc/%d/maps", tracee_pid(hand->tracee));
	FILE *maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset;
		char rights[8];
		if (sscanf(line, "%llx-%*x %7s %llx %*s %*s %511[^\n]", &start,
			   rights, &offset, name) != 4 ||
		    name[0] != '/' || rights[2] != 'x')
			continue;
		assert_true(hand->n < ARRAY_SIZE(hand->loaded));
		struct loaded *loaded = &hand->loaded[hand->n++];
		strcpy(loaded->path, name);
		loaded->base = start - offset;
		loaded->fd = open(name, O_RDONLY | O_CLOEXEC);
		loaded->elf = elf_begin(loaded->fd, ELF_C_READ_MMAP, NULL);
		GElf_Ehdr header;
		if (!gelf_getehdr(loaded->elf, &header))
			hand->n--;
		else if (header.e_type == ET_EXEC)
			loaded->base = 0;
	}
	fclose(maps);
}

static uint64_t find_in(const struct loaded *loaded, uint32_t type,
			const char *name, uint64_t near, const char **ret)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(loaded->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t n = header.sh_size / header.sh_entsize;
		for (size_t i = 0; i < n; i++) {
			GElf_Sym symbol;
			if (!gelf_getsym(data, (int)i, &symbol) ||
			    symbol.st_shndx == SHN_UNDEF)
				continue;
			const char *own = elf_strptr(
				loaded->elf, header.sh_link, symbol.st_name);
			uint64_t at = symbol.st_value + loaded->base;
			if (name && !strcmp(own, name))
				return at;
			if (!name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
			    near == at) {
				*ret = own;
				return at;
			}
		}
	}
	return 0;
}

static uint64_t symbol_of(void *data, const char *name)
{
	struct hand *hand = data;
	for (size_t i = 0; i < hand->n; i++) {
		uint64_t at =
			find_in(&hand->loaded[i], SHT_SYMTAB, name, 0, NULL);
		if (!at)
			at = find_in(&hand->loaded[i], SHT_DYNSYM, name, 0,
				     NULL);
		if (at)
			return at;
	}
	return 0;
}

static bool function_at(void *data, uint64_t address, char *out, size_t n)
{
	struct hand *hand = data;
	for (size_t i = 0; i < hand->n; i++) {
		const char *name;
		if (find_in(&hand->loaded[i], SHT_SYMTAB, NULL, address,
			    &name) ||
		    find_in(&hand->loaded[i], SHT_DYNSYM, NULL, address,
			    &name)) {
			snprintf(out, n, "%s", name);
			return true;
		}
	}
	return false;
}

static const char *library_at(void *data, size_t index)
{
	struct hand *hand = data;
	return index + 1 < hand->n ? hand->loaded[index + 1].path : NULL;
}

/* ---- the program under control ---- */

enum kind {
	PLAIN = 0,
	FOLLOWED = 1,
	AGENT = 2,
	STATIC = 4,
	FEW = 8,
	WILD = 16,
	REAL = 32,
};

static struct raddr to_point(struct hand *hand)
{
	struct tracee_event event;
	assert_ok(tracee_continue(hand->tracee, tracer_clock() + 20 * NS_PER_S,
				  &event));
	assert_int_equal(event.kind, TRACEE_BREAKPOINT);
	hand->thread = event.thread;
	assert_ok(tracee_stop_all(hand->tracee));
	return RADDR(thread_arg(event.thread, 0));
}

static void hand_open(struct hand *hand, unsigned kind)
{
	const char *program =
		getenv(kind & WILD     ? "POLYGRAPH_SUBJECT_WILD"
		       : kind & STATIC ? "POLYGRAPH_SUBJECT_STATIC"
				       : "POLYGRAPH_SUBJECT_ATTRIBUTES");
	if (!program || access(program, X_OK) < 0) {
		print_message("its program was not built\n");
		skip();
	}
	char *argv[] = { (char *)program, kind & AGENT ? "agent" : "plain",
			 kind & FEW ? "few" : NULL, NULL };
	assert_ok(output_create(false, &hand->output));
	char preload[4096];
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
		 getenv("POLYGRAPH_AGENT") ? getenv("POLYGRAPH_AGENT") : "");
	char *env[] = { preload, "HOME=/", NULL };
	const struct tracee_command command = {
		.argv = argv,
		.env = kind & REAL ? env : NULL,
		.output = hand->output,
	};
	assert_ok(tracer_create(&hand->tracer));
	tracer_tick(true);
	assert_ok(tracee_start(hand->tracer, &command, &hand->tracee));
	read_loaded(hand);
	uint64_t mark = symbol_of(hand, "mark");
	assert_true(mark);
	assert_ok(breakpoint_set(hand->tracee, RADDR(mark), 1));
}

static void hand_attributes(struct hand *hand, unsigned kind)
{
	read_loaded(hand);
	const struct attributes_options options = {
		.symbol = symbol_of,
		.function = function_at,
		.library = library_at,
		.data = hand,
		.agent = kind & REAL	? symbol_of(hand, WIRE_STATE_SYMBOL)
			 : kind & AGENT ? symbol_of(hand, "subject_agent")
					: 0,
		.followed = kind & FOLLOWED,
	};
	assert_ok(attributes_create(&options, &hand->attributes));
}

static void hand_closep(struct hand *hand)
{
	attributes_destroy(hand->attributes);
	tracer_destroy(hand->tracer);
	output_destroy(hand->output);
	drop_loaded(hand);
}

struct expected {
	struct subject_point point;
	char *texts[6];
};

static void expected_freep(struct expected *expected)
{
	for (size_t i = 0; i < ARRAY_SIZE(expected->texts); i++)
		free(expected->texts[i]);
}

static void read_point(struct hand *hand, struct raddr at, struct expected *ret)
{
	struct subject_point *point = &ret->point;
	assert_ok(memory_read(hand->tracee, at, point, sizeof(*point)));
	const char **texts[] = { &point->name,	 &point->root,	&point->path,
				 &point->before, &point->after, &point->also };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ret->texts[i] = NULL;
		if (*texts[i])
			assert_ok(memory_read_text(hand->tracee,
						   RADDR((uintptr_t)*texts[i]),
						   200, &ret->texts[i]));
		*texts[i] = ret->texts[i];
	}
}

static void show(const struct subject_point *point,
		 const struct changes *changes)
{
	print_error("%s: expected %s from %s to %s\n", point->name,
		    point->root ? point->root : "nothing", point->before,
		    point->after);
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->data[i];
		for (size_t k = 0; k < change->n; k++)
			print_error("  %s: %s -> %s\n", change->paths[k].path,
				    change->paths[k].before,
				    change->paths[k].after);
	}
}

static bool is_expected(const struct subject_point *point,
			const struct change *change)
{
	const struct change_path *path = &change->paths[0];
	/* Of another handler or file, neither flags nor offset are told. */
	if ((matches("signal-handler[*", change->root) ||
	     matches("descriptor[*", change->root)) &&
	    !strcmp(path->path, change->root) && change->n > 1)
		return false;
	return change->where == CHANGE_PROCESS && change->n >= 1 &&
	       matches(point->root, change->root) &&
	       matches(point->path ? point->path : point->root, path->path) &&
	       matches(point->before, path->before) &&
	       matches(point->after, path->after) &&
	       change->digest != change->digest_before;
}

/* Exactly what the point says; returns it. */
static const struct change *check(const struct subject_point *point,
				  const struct changes *changes)
{
	const struct change *found = NULL;
	bool good = true;
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->data[i];
		if (point->root && !found && is_expected(point, change))
			found = change;
		else if (!point->also || !matches(point->also, change->root))
			good = false;
	}
	if (!good || (point->root && !found)) {
		show(point, changes);
		fail();
	}
	return found;
}

static bool is_known(unsigned kind, const char *root)
{
	/* What only the agent, or names of local symbols, can tell. */
	static const char *const hidden[] = {
		"locale[*",	     "random",	    "drand48",	  "atexit[*",
		"terminate-handler", "new-handler", "cxx-locale",
	};
	/* Closed again, and nobody followed who made it. */
	if (root && !(kind & FOLLOWED) &&
	    matches("*[/subject-attributes-*]", root) &&
	    !matches("mapping*", root) && !matches("lock*", root))
		return false;
	if (root && !(kind & FOLLOWED) &&
	    (matches("semaphore*", root) || matches("message-queue*", root)))
		return false;
	if (root && (matches("strtok", root) || matches("hsearch", root)))
		return kind & (REAL | AGENT);
	if (kind & STATIC)
		return true;
	for (size_t i = 0; root && i < ARRAY_SIZE(hidden); i++) {
		if (!matches(hidden[i], root))
			continue;
		return kind & REAL ||
		       (kind & AGENT && strcmp(root, "drand48") != 0 &&
			strcmp(root, "cxx-locale") != 0);
	}
	return true;
}

static void tell_followed(struct hand *hand, const struct subject_point *point)
{
	attributes_dirty(hand->attributes, point->states);
	if (point->states & STATE_IPC) {
		attributes_touched(hand->attributes, NULL);
		attributes_touched(hand->attributes, "/tmp/other");
		char path[64];
		snprintf(path, sizeof(path), "/dev/shm/subject-attributes-%d",
			 tracee_pid(hand->tracee));
		attributes_touched(hand->attributes, path);
		snprintf(path, sizeof(path),
			 "/dev/shm/sem.subject-attributes-%d",
			 tracee_pid(hand->tracee));
		attributes_touched(hand->attributes, path);
	}
}

static void check_steps(unsigned kind)
{
	_cleanup_(hand_closep) struct hand hand = {};
	_cleanup_(changes_freep_deep) struct changes last = {};
	hand_open(&hand, kind);
	unsigned changed = 0;
	for (;;) {
		_cleanup_(expected_freep) struct expected expected = {};
		_cleanup_(changes_freep_deep) struct changes changes = {};
		read_point(&hand, to_point(&hand), &expected);
		struct subject_point *point = &expected.point;
		if (point->phase == SUBJECT_END)
			break;
		if (point->phase == SUBJECT_BEGIN) {
			/* It will choose processors, as session.c notices. */
			tracee_leave_processors(hand.tracee);
			hand_attributes(&hand, kind);
			if (kind & REAL &&
			    !symbol_of(&hand, WIRE_STATE_SYMBOL)) {
				print_message("the agent was not loaded\n");
				skip();
			}
		}
		if (point->root && !strncmp(point->root, "library", 7))
			read_loaded(&hand);
		if (kind & FOLLOWED)
			tell_followed(&hand, point);
		assert_ok(attributes_capture(hand.attributes, hand.thread,
					     &changes));
		if (!is_known(kind, point->root))
			point->root = NULL;
		const struct change *found = check(point, &changes);
		/* Until it is put back it is not undone. */
		for (size_t i = 0; i < last.n; i++) {
			bool undone = attributes_undone(hand.attributes,
							&last.data[i]);
			assert_int_equal(undone, point->phase == SUBJECT_BACK);
		}
		if (point->phase == SUBJECT_CHANGED && found) {
			changed++;
			changes_clear(&last);
			struct change copy;
			assert_ok(change_copy(found, &copy));
			assert_ok(vec_push(&last, copy));
		}
		if (point->phase == SUBJECT_BACK)
			changes_clear(&last);
		if (point->phase != SUBJECT_NOTHING && !point->root)
			changes_clear(&last);
		if (point->phase == SUBJECT_NOTHING && point->states)
			changes_clear(&last);
	}
	assert_true(changed > 50);
}

static void test_every_attribute(void **state)
{
	(void)state;
	check_steps(PLAIN);
}

static void test_followed(void **state)
{
	(void)state;
	check_steps(FOLLOWED);
}

static void test_agent(void **state)
{
	(void)state;
	check_steps(FOLLOWED | AGENT);
}

/* With the agent itself, not the program playing its part. */
static void test_real_agent(void **state)
{
	(void)state;
	check_steps(FOLLOWED | REAL);
}

static void test_static(void **state)
{
	(void)state;
	check_steps(STATIC);
}

/* Nothing done, nothing told; and how long that takes. */
static void test_nothing(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind <= (FOLLOWED | AGENT); kind++) {
		_cleanup_(hand_closep) struct hand hand = {};
		_cleanup_(changes_freep_deep) struct changes changes = {};
		hand_open(&hand, kind | FEW);
		to_point(&hand);
		hand_attributes(&hand, kind);
		assert_ok(
			attributes_capture(hand.attributes, hand.thread, NULL));
		uint64_t best = UINT64_MAX;
		for (int i = 0; i < 100; i++) {
			uint64_t before = clock_now();
			assert_ok(attributes_capture(hand.attributes,
						     hand.thread, &changes));
			best = MIN(best, clock_now() - before);
			if (changes.n) {
				const struct subject_point none = {
					.name = "nothing"
				};
				show(&none, &changes);
				fail();
			}
		}
		print_message("%s%s: %.1f µs\n",
			      kind & FOLLOWED ? "followed" : "not followed",
			      kind & AGENT ? ", agent" : "",
			      (double)best / 1000);
	}
}

/* Whatever a process does to itself, a point is short and tells little. */
static void test_wild(void **state)
{
	(void)state;
	_cleanup_(hand_closep) struct hand hand = {};
	hand_open(&hand, WILD);
	for (;;) {
		_cleanup_(expected_freep) struct expected expected = {};
		_cleanup_(changes_freep_deep) struct changes changes = {};
		read_point(&hand, to_point(&hand), &expected);
		const struct subject_point *point = &expected.point;
		if (point->phase == SUBJECT_END)
			break;
		if (point->phase == SUBJECT_BEGIN)
			hand_attributes(&hand, AGENT);
		uint64_t before = clock_now();
		assert_ok(attributes_capture(hand.attributes, hand.thread,
					     &changes));
		assert_true(clock_now() - before < 20 * NS_PER_S);
		if (point->phase == SUBJECT_BEGIN)
			continue;
		assert_true(changes.n <= 150);
		bool found = false;
		for (size_t i = 0; i < changes.n; i++) {
			const struct change *change = &changes.data[i];
			found |= matches(point->root, change->root);
			assert_true(change->n >= 1);
			for (size_t k = 0; k < change->n; k++) {
				assert_true(strlen(change->paths[k].before) <
					    1200);
				assert_true(strlen(change->paths[k].after) <
					    1200);
			}
		}
		if (!found && strcmp(point->root, "*") != 0) {
			show(point, &changes);
			fail();
		}
	}
}

static bool has_change(const struct changes *changes, const char *root,
		       const char *before, const char *after)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->data[i];
		if (change->n && matches(root, change->root) &&
		    matches(before, change->paths[0].before) &&
		    matches(after, change->paths[0].after))
			return true;
	}
	return false;
}

#define SYSTEM_KEY 0x70676179

static void leave_things(int ready)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	prctl(PR_SET_NAME, "left-over");
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 1) < 0 ||
	    shmget(SYSTEM_KEY, 100, IPC_CREAT | 0600) < 0 ||
	    write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* What a whole process leaves behind. */
static void test_system(void **state)
{
	(void)state;
	_cleanup_(changes_freep_deep) struct changes changes = {};
	struct system_state *system;
	int ends[2];
	char byte;
	assert_ok(system_state_create(&system));
	assert_ok(system_state_capture(system, NULL, 0, &changes));
	assert_int_equal(changes.n, 0);
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (!child)
		leave_things(ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	assert_ok(system_state_capture(system, &child, 1, &changes));
	assert_true(
		has_change(&changes, "child[left-over]", "absent", "running"));
	assert_true(has_change(&changes, "port[tcp 127.0.0.1:*]", "absent",
			       "listening"));
	assert_true(has_change(&changes, "shared-memory[0x70676179]", "absent",
			       "100 bytes"));
	changes_clear(&changes);
	assert_ok(system_state_capture(system, &child, 1, &changes));
	assert_false(has_change(&changes, "child[*", NULL, NULL));
	assert_false(has_change(&changes, "port[*", NULL, NULL));
	assert_false(
		has_change(&changes, "shared-memory[0x70676179]", NULL, NULL));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	shmctl(shmget(SYSTEM_KEY, 0, 0), IPC_RMID, NULL);
	changes_clear(&changes);
	assert_ok(system_state_capture(system, NULL, 0, &changes));
	assert_true(
		has_change(&changes, "child[left-over]", "running", "absent"));
	assert_true(has_change(&changes, "port[tcp 127.0.0.1:*]", "listening",
			       "absent"));
	assert_true(has_change(&changes, "shared-memory[0x70676179]",
			       "100 bytes", "absent"));
	/* A name in the folder of all processes: only where it was touched. */
	int fd = shm_open("/system-state-test", O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	close(fd);
	changes_clear(&changes);
	system_state_touched(system, "/dev/shm/system-state-test");
	assert_ok(system_state_capture(system, NULL, 0, &changes));
	assert_true(has_change(&changes, "shared-memory[/system-state-test]",
			       "absent", "0 bytes"));
	shm_unlink("/system-state-test");
	changes_clear(&changes);
	assert_ok(system_state_capture(system, NULL, 0, &changes));
	assert_false(has_change(&changes, "shared-memory[/system-state-test]",
				NULL, NULL));
	system_state_destroy(system);
}

/* Each row has a name of its own and says how it is read. */
static void test_table(void **state)
{
	(void)state;
	struct attribute_row row, other;
	size_t n = 0;
	for (; attributes_row(n, &row); n++) {
		assert_true(*row.name && *row.what && *row.how);
		for (size_t i = 0; i < n; i++) {
			assert_true(attributes_row(i, &other));
			assert_string_not_equal(row.name, other.name);
		}
	}
	assert_true(n >= 40);
	assert_int_equal(attribute_states("working-directory"),
			 STATE_DIRECTORY);
	assert_int_equal(attribute_states("limit[nofile]"), STATE_LIMITS);
	assert_int_equal(attribute_states("environment[HOME]"), 0);
	assert_int_equal(attribute_states("no-such-thing"), 0);
	assert_int_equal(attribute_states("limit[nofile"), 0);
}

/* A segment without a key that was there before keeps its number, wherever a new one is listed. */
static void test_older_first(void **state _unused_)
{
	static const struct {
		int64_t changed;
		const char *text;
	} listed[] = { { 200, "new" }, { 100, "old" }, { 150, "middle" } };
	_cleanup_(items_freep) struct items items = {};
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++) {
		struct item *item;
		assert_ok(items_add(&items, "private", &item));
		assert_ok(item_text(item, NULL, listed[i].text));
		item->changed = listed[i].changed;
	}
	assert_ok(items_finish(&items, false));
	const struct item *found = items_find(&items, "private");
	assert_non_null(found);
	assert_string_equal(found->fields[0].text, "old");
	found = items_find(&items, "private #3");
	assert_non_null(found);
	assert_string_equal(found->fields[0].text, "new");
}

int main(void)
{
	elf_version(EV_CURRENT);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_older_first),
		cmocka_unit_test(test_every_attribute),
		cmocka_unit_test(test_followed),
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_real_agent),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_wild),
		cmocka_unit_test(test_system),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
