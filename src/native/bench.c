#include "native/bench.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "dwarf/routines.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/tries_internal.h"
#include "program/callers.h"
#include "program/own.h"
#include "program/place.h"
#include "program/writers.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "tracee/remote.h"
#include "wire/heap.h"

/* A call may take this many times as long as the test does … */
#define CALL_SLOWER 10
/* … and at least that: a hanging one must not cost more. */
#define CALL_MIN_NS (50 * NS_PER_MS)
#define CALL_MAX_NS (2 * NS_PER_S)
#define LOAD_NS (20 * NS_PER_S)
#define TABLE_MAX 20000
#define PATH_MAX_ 4096

/*
 * What a function that is only tried must not do, since others would feel it; and
 * what no test should be given a call of: it ends the try.
 */
static const char *const refused[] = {
	"kill",		"killpg",      "sigqueue", "tgkill",  "execve",
	"execv",	"execvp",      "execvpe",  "fexecve", "system",
	"popen",	"posix_spawn", "fork",	   "vfork",   "_Fork",
	"posix_spawnp", "connect",     "sendto",   "sendmsg", "reboot",
	"syscall",
};

struct refusal {
	uint64_t address;
	uint8_t code[ARCH_INSN_MAX];
};

struct bench {
	const struct suite_bench_options *options;
	suite_bench_work *work;
	void *data;
	const char *why_not;
	struct tries *tries;
	struct changes roots;
	VEC(uint64_t) table; /* of the library that is loaded */
	VEC(struct refusal) refusals;
	size_t refusal_size;
	struct raddr page; /* in the process, for texts */
};

/* ---- the library ---- */

static struct thread *bench_thread(const struct bench *bench)
{
	return tracee_thread(bench->tries->run->tracee, 0);
}

static struct err *bench_put_text(struct bench *bench, const char *text)
{
	size_t n = strlen(text) + 1;
	if (!bench->page.v)
		TRY(remote_map(bench_thread(bench), PATH_MAX_, &bench->page));
	if (n > PATH_MAX_)
		return err_create(ERR_INTERNAL, "'%s' is too long", text);
	return memory_write(bench->tries->run->tracee, bench->page, text, n);
}

static struct err *bench_call_symbol(struct bench *bench, const char *symbol,
				     uint64_t first, uint64_t second,
				     uint64_t *ret)
{
	struct raddr address;
	const uint64_t args[] = { first, second };
	*ret = 0;
	if (!program_symbol(bench->tries->session->program, symbol, &address))
		return NULL;
	return remote_call(bench_thread(bench), address, args, 2, LOAD_NS, ret);
}

static struct err *bench_load_into(struct bench *bench, const char *library,
				   bool *ret)
{
	uint64_t handle = 0, table = 0;
	*ret = false;
	bench->table.n = 0;
	TRY(bench_put_text(bench, library));
	TRY(bench_call_symbol(bench, "dlopen", bench->page.v,
			      RTLD_NOW | RTLD_LOCAL, &handle));
	if (!handle)
		return NULL;
	TRY(bench_put_text(bench, SUITE_BENCH_TABLE));
	TRY(bench_call_symbol(bench, "dlsym", handle, bench->page.v, &table));
	for (size_t i = 0; table && i < TABLE_MAX; i++) {
		uint64_t function;
		TRY(memory_read_u64(bench->tries->run->tracee,
				    RADDR(table + i * 8), &function));
		if (!function)
			break;
		TRY(vec_push(&bench->table, function));
	}
	*ret = table != 0;
	return NULL;
}

static struct err *bench_load(void *context, const char *library, bool *ret)
{
	struct bench *bench = context;
	struct err *err = bench_load_into(bench, library, ret);
	if (!err || err_kind(err) == ERR_INTERRUPTED)
		return err;
	/* It does not come back, or died: no library can be loaded here. */
	log_debug(LOG_NATIVE, "%s: %s", library, err_message(err));
	err_destroy(err);
	*ret = false;
	return NULL;
}

/* Of the project's own files; what is static in C++ has another name. */
static bool bench_own_symbol(const struct bench *bench, const char *name,
			     uint64_t *ret)
{
	const struct program *program = bench->tries->session->program;
	const struct module *module = NULL;
	struct raddr address = {};
	char local[1024];
	bool found = program_symbol_in(program, name, &address, &module);
	if (!found && name[0] == '_' && name[1] == 'Z' && name[2] >= '1' &&
	    name[2] <= '9' && strlen(name) + 2 < sizeof(local)) {
		snprintf(local, sizeof(local), "_ZL%s", name + 2);
		found = program_symbol_in(program, local, &address, &module);
	}
	*ret = found && module && !module->system ? address.v : 0;
	return found;
}

/*
 * What the system's libraries have is left to the loader: it knows which of
 * several versions fits the processor.
 */
static struct err *bench_bind_names(const struct bench *bench,
				    const struct routines *routines,
				    const char *file, struct strv *names,
				    bool weak, struct suite_symbols *ret)
{
	for (size_t i = 0; i < names->n; i++) {
		struct suite_symbol symbol = {};
		bool own = routines_find_static(routines, file, names->data[i],
						&symbol.address);
		bool found = !own && bench_own_symbol(bench, names->data[i],
						      &symbol.address);
		if (!symbol.address && (found || weak))
			continue;
		symbol.name = take_ptr(names->data[i]);
		struct err *err = vec_push(ret, symbol);
		if (err)
			free(symbol.name);
		TRY(err);
	}
	return NULL;
}

static struct err *bench_bind(void *context, const char *path,
			      const struct routines *routines, const char *file,
			      struct suite_symbols *ret)
{
	_cleanup_(strv_freep) struct strv names = {};
	_cleanup_(strv_freep) struct strv weak = {};
	TRY(object_needs(path, &names, &weak));
	TRY(bench_bind_names(context, routines, file, &names, false, ret));
	return bench_bind_names(context, routines, file, &weak, true, ret);
}

/* ---- calls ---- */

/* From now on nobody comes back from these; their code is kept. */
static struct err *bench_refuse(struct bench *bench)
{
	struct tracee *tracee = bench->tries->run->tracee;
	uint8_t code[ARCH_INSN_MAX];
	uint64_t word;
	if (bench->refusal_size)
		return NULL;
	bench->refusal_size = arch_undefined(code);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct refusal refusal = {};
		struct raddr at;
		if (!program_symbol(bench->tries->session->program, refused[i],
				    &at) ||
		    breakpoint_at(tracee, at, &word))
			continue;
		refusal.address = at.v;
		TRY(memory_read(tracee, at, refusal.code, bench->refusal_size));
		TRY(memory_write(tracee, at, code, bench->refusal_size));
		TRY(vec_push(&bench->refusals, refusal));
	}
	return NULL;
}

static struct err *bench_allow(const struct bench *bench, struct tracee *tracee)
{
	for (size_t i = 0; i < bench->refusals.n; i++) {
		const struct refusal *refusal = &bench->refusals.data[i];
		TRY(memory_write(tracee, RADDR(refusal->address), refusal->code,
				 bench->refusal_size));
	}
	return NULL;
}

/* The socket itself, whoever has it open; -1: it cannot be had. */
static int bench_socket(const struct thread *thread, uint64_t number)
{
	_cleanup_(closep) int process =
		(int)syscall(SYS_pidfd_open, tracee_pid(thread->tracee), 0);
	return process < 0
		       ? -1
		       : (int)syscall(SYS_pidfd_getfd, process, (int)number, 0);
}

/* Does connect() of it only note an address? */
static bool bench_sends_nothing(int socket, const struct sockaddr *address)
{
	int type = 0;
	socklen_t n = sizeof(type);
	return socket >= 0 &&
	       (address->sa_family == AF_INET ||
		address->sa_family == AF_INET6) &&
	       !getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &n) &&
	       type == SOCK_DGRAM;
}

/*
 * Of what is refused, connect() of a datagram socket harms nobody: it is done
 * for the process, which then returns from it.
 */
static struct err *bench_excuse(void *data, struct thread *thread, bool *ret)
{
	const struct bench *bench = data;
	struct raddr at;
	union {
		struct sockaddr any;
		struct sockaddr_in6 v6;
	} address = {};
	uint64_t size = regs_arg(&thread->regs, 2), back;
	*ret = false;
	if (!program_symbol(bench->tries->session->program, "connect", &at) ||
	    !raddr_eq(at, regs_pc(&thread->regs)) || size > sizeof(address) ||
	    memory_read_some(thread->tracee, RADDR(regs_arg(&thread->regs, 1)),
			     &address, size) != size)
		return NULL;
	_cleanup_(closep) int socket =
		bench_socket(thread, regs_arg(&thread->regs, 0));
	if (!bench_sends_nothing(socket, &address.any))
		return NULL;
	int failed = connect(socket, &address.any, (socklen_t)size);
	struct raddr sp = regs_sp(&thread->regs);
	TRY(memory_read_u64(thread->tracee, sp, &back));
	regs_set_result(&thread->regs, (uint64_t)(int64_t)failed);
	regs_set_pc(&thread->regs, RADDR(back));
	regs_set_sp(&thread->regs, raddr_add(sp, 8));
	thread_dirty(thread);
	*ret = true;
	return NULL;
}

static uint64_t bench_limit(const struct bench *bench)
{
	const struct tries *tries = bench->tries;
	uint64_t took =
		MAX(session_took(tries->session, tries->order[tries->n - 1]),
		    tries->longest);
	return MIN(MAX(took * CALL_SLOWER, CALL_MIN_NS), CALL_MAX_NS);
}

static struct err *bench_call_in(struct bench *bench, struct run *copy,
				 size_t index, struct suite_called *ret)
{
	const struct remote_excuse excuse = { bench_excuse, bench };
	struct tries *tries = bench->tries;
	uint64_t began = clock_now(), limit = bench_limit(bench);
	TRY(tries_settle(copy));
	struct err *err = remote_call_own(tracee_thread(copy->tracee, 0),
					  RADDR(bench->table.data[index]),
					  limit, &excuse);
	if (err && err_kind(err) != ERR_SUITE)
		return err;
	if (err) {
		ret->late = clock_now() - began >= limit;
		err_ignore(err);
		return NULL;
	}
	ret->returned = true;
	TRY(bench_allow(bench, copy->tracee));
	TRY(tries_run_test(tries, copy));
	ret->outcome = tries->outcome;
	return NULL;
}

static struct err *bench_call(void *context, size_t index,
			      struct suite_called *ret)
{
	struct bench *bench = context;
	_cleanup_(run_destroyp) struct run *copy = NULL;
	*ret = (struct suite_called){};
	if (index >= bench->table.n)
		return err_create(ERR_INTERNAL, "no candidate %zu", index);
	TRY(bench_refuse(bench));
	TRY(tries_copy(bench->tries, NULL, &copy));
	BUG_ON(!copy);
	struct err *err = bench_call_in(bench, copy, index, ret);
	output_restart(bench->tries->session->output);
	return err;
}

/* ---- calls without a compiler ---- */

/* Texts and strings of a call, in the page of a process. */
struct raw_texts {
	struct tracee *tracee;
	uint64_t at, end;
};

/* std::string of libstdc++: pointer, length, 16 bytes (basic_string.h). */
#define STRING_WORDS 4

static struct err *raw_put(struct raw_texts *texts, const void *data, size_t n,
			   uint64_t *ret)
{
	if (texts->at + n > texts->end)
		return err_create(ERR_SUITE, "too much for one call");
	*ret = texts->at;
	texts->at += (n + 15) & ~(uint64_t)15;
	return memory_write(texts->tracee, RADDR(*ret), data, n);
}

static struct err *raw_argument(struct raw_texts *texts,
				const struct suite_raw_argument *argument,
				uint64_t *ret)
{
	uint64_t text = 0;
	*ret = argument->value;
	if (!argument->text)
		return NULL;
	size_t n = strlen(argument->text);
	TRY(raw_put(texts, argument->text, n + 1, &text));
	*ret = text;
	if (!argument->string)
		return NULL;
	const uint64_t words[STRING_WORDS] = { text, n, n, 0 };
	return raw_put(texts, words, sizeof(words), ret);
}

static struct err *bench_call_raw_in(const struct bench *bench,
				     struct tracee *tracee,
				     const struct suite_raw_call *call)
{
	struct raw_texts texts = { tracee, bench->page.v,
				   bench->page.v + PATH_MAX_ };
	struct thread *thread = tracee_thread(tracee, 0);
	uint64_t arguments[ROUTINE_PARAMETERS + 1], result;
	size_t n = 0;
	if (call->getter) {
		TRY(remote_call(thread, RADDR(call->getter), NULL, 0,
				bench_limit(bench), &arguments[0]));
		n = 1;
	}
	for (size_t i = 0; i < call->n && n < ROUTINE_PARAMETERS; i++)
		TRY(raw_argument(&texts, &call->arguments[i], &arguments[n++]));
	return remote_call(thread, RADDR(call->function), arguments, n,
			   bench_limit(bench), &result);
}

static struct err *bench_call_raw(void *context,
				  const struct suite_raw_call *call,
				  struct suite_called *ret)
{
	struct bench *bench = context;
	_cleanup_(run_destroyp) struct run *copy = NULL;
	*ret = (struct suite_called){};
	TRY(bench_refuse(bench));
	TRY(bench_put_text(bench, ""));
	TRY(tries_copy(bench->tries, NULL, &copy));
	BUG_ON(!copy);
	TRY(tries_settle(copy));
	struct err *err = call->function
				  ? bench_call_raw_in(bench, copy->tracee, call)
				  : NULL;
	if (err && err_kind(err) == ERR_SUITE) {
		err_ignore(err);
		output_restart(bench->tries->session->output);
		return NULL;
	}
	if (!err)
		err = bench_allow(bench, copy->tracee);
	if (!err)
		err = tries_run_test(bench->tries, copy);
	ret->returned = !err;
	ret->outcome = bench->tries->outcome;
	output_restart(bench->tries->session->output);
	return err;
}

/* ---- what there is to know ---- */

static bool bench_is_frameworks(const struct bench *bench, const char *symbol)
{
	const struct program *program = bench->tries->session->program;
	return program->own && callers_is_framework(program->own, symbol);
}

static struct err *bench_rank(void *context, const bool *chosen,
			      const struct routines *routines, unsigned *ret)
{
	const struct bench *bench = context;
	VEC(struct program_span) spans = VEC_INIT;
	struct writers *writers = NULL;
	struct err *err = NULL;
	for (size_t i = 0; !err && i < bench->roots.n; i++) {
		const struct change *root = &bench->roots.data[i];
		struct program_span span = {
			root->root_address,
			root->root_address + MAX(root->root_size, (uint64_t)1),
		};
		if (chosen[i] && root->where == CHANGE_MEMORY &&
		    root->root_address)
			err = vec_push(&spans, span);
	}
	if (!err)
		err = writers_find(bench->tries->session->program,
				   bench_thread(bench), spans.data, spans.n,
				   &writers);
	for (size_t i = 0; !err && i < routines->functions.n; i++) {
		const struct routine *routine = &routines->functions.data[i];
		ret[i] = WRITERS_FAR;
		if (routine->address &&
		    !bench_is_frameworks(bench, routine->symbol))
			ret[i] = writers_distance(writers, routine->address);
	}
	writers_destroy(writers);
	vec_free(&spans);
	return err;
}

static struct err *count_leaf(struct tracee *tracee, uint64_t leaf,
			      uint64_t *entries, size_t *count)
{
	size_t n = memory_read_some(tracee, RADDR(leaf), entries,
				    WIRE_LEAF_ENTRIES * 8);
	for (size_t i = 0; i < n / 8; i++)
		*count += entries[i] != 0;
	return NULL;
}

/* Live blocks, by the agent's table; 0 where there is none. */
static struct err *bench_count_blocks(const struct bench *bench, size_t *ret)
{
	struct tracee *tracee = bench->tries->run->tracee;
	uint64_t agent = program_agent_heap(bench->tries->session->program);
	struct wire_heap heap;
	*ret = 0;
	if (!agent ||
	    memory_read_some(tracee, RADDR(agent), &heap, sizeof(heap)) !=
		    sizeof(heap) ||
	    heap.magic != WIRE_HEAP_MAGIC ||
	    heap.version != WIRE_HEAP_VERSION || !heap.active)
		return NULL;
	_cleanup_(freep) uint64_t *entries = malloc(WIRE_LEAF_ENTRIES * 8);
	if (!entries)
		return err_nomem();
	for (uint32_t i = 0; i < MIN(heap.leaves_n, (uint32_t)WIRE_SLOTS);
	     i++) {
		uint32_t place;
		struct wire_slot slot;
		if (memory_read_some(tracee, RADDR(heap.leaves + i * 4), &place,
				     4) != 4 ||
		    !place || place > WIRE_SLOTS ||
		    memory_read_some(
			    tracee,
			    RADDR(heap.directory + (place - 1) * sizeof(slot)),
			    &slot, sizeof(slot)) != sizeof(slot) ||
		    !slot.leaf)
			continue;
		TRY(count_leaf(tracee, slot.leaf, entries, ret));
	}
	return NULL;
}

/* ---- all of it ---- */

static struct err *bench_spoil(struct bench *bench, struct err *err)
{
	if (!err || err_kind(err) != ERR_SUITE)
		return err;
	bench->why_not = "the call does not come back";
	err_ignore(err);
	return NULL;
}

/* What was asked to be called first; a call that fails leaves no bench. */
static struct err *bench_call_first(struct bench *bench)
{
	const struct remote_excuse excuse = { bench_excuse, bench };
	bool loaded = false;
	if (bench->options->raw || bench->options->library)
		TRY(bench_refuse(bench));
	if (bench->options->raw) {
		TRY(bench_put_text(bench, ""));
		return bench_spoil(bench,
				   bench_call_raw_in(bench,
						     bench->tries->run->tracee,
						     bench->options->raw));
	}
	if (!bench->options->library)
		return NULL;
	TRY(bench_load(bench, bench->options->library, &loaded));
	if (!loaded || bench->options->first >= bench->table.n) {
		bench->why_not = "what was compiled for it cannot be loaded";
		return NULL;
	}
	struct err *err = NULL;
	for (int i = 0; !err && i <= (int)bench->options->twice; i++)
		err = remote_call_own(
			bench_thread(bench),
			RADDR(bench->table.data[bench->options->first]),
			bench_limit(bench), &excuse);
	return bench_spoil(bench, err);
}

/* Files that differ are roots, too. */
static struct err *bench_add_files(struct bench *bench)
{
	struct tries *tries = bench->tries;
	struct changes *files = &tries->remedies.roots;
	if (!tries->files || !(tries->watch->what & SUITE_FILES))
		return NULL;
	TRY(remedies_find_files(&tries->remedies, tries->session->saver,
				tries->files));
	for (size_t i = 0; i < files->n; i++) {
		TRY(vec_push(&bench->roots, files->data[i]));
		files->data[i] = (struct change){};
	}
	return NULL;
}

static struct err *bench_use(struct tries *tries, void *data)
{
	struct bench *bench = data;
	struct raddr address;
	struct suite_bench face = {
		.context = bench,
		.bind = bench_bind,
		.load = bench_load,
		.call = bench_call,
		.call_raw = bench_call_raw,
		.rank = bench_rank,
	};
	bench->tries = tries;
	bench->why_not = tries->why_not;
	if (!bench->why_not &&
	    !program_symbol(tries->session->program, "dlopen", &address))
		bench->why_not = "the program cannot load libraries";
	if (bench->why_not)
		return NULL;
	TRY(bench_call_first(bench));
	if (bench->why_not)
		return NULL;
	TRY(bench_allow(bench, tries->run->tracee));
	bench->refusals.n = bench->refusal_size = 0;
	TRY(saving_take(tries->session, &tries->files));
	if (tries->n > 1) {
		TRY(tries_look_at_changes(tries, &bench->roots));
		TRY(bench_add_files(bench));
	}
	TRY(bench_count_blocks(bench, &face.blocks));
	TRY(positions_take(tries->run->tracee, &tries->positions));
	face.roots = bench->roots.data;
	face.n = bench->roots.n;
	return bench->work(bench->data, &face);
}

struct err *bench_work(struct session *session,
		       const struct suite_bench_options *options,
		       suite_bench_work *work, void *data,
		       const struct suite_observer *observer,
		       const char **ret_why_not)
{
	struct bench bench = {
		.options = options,
		.work = work,
		.data = data,
	};
	struct err *err = tries_enter(session, options->watch, options->prefix,
				      options->n, options->test, &bench,
				      bench_use, &bench, observer);
	*ret_why_not = bench.why_not;
	changes_freep_deep(&bench.roots);
	vec_free(&bench.table);
	vec_free(&bench.refusals);
	return err;
}

/* clang names system headers from its own folder: /usr/bin/../include/… */
static bool bench_is_system(const char *file)
{
	return place_is_system(file) || str_starts(file, "/usr/bin/../") ||
	       str_starts(file, "/usr/lib64/");
}

struct err *bench_read_code(struct suite *suite, const char *file,
			    struct suite_code *ret)
{
	/* The suite is the session's first member. */
	struct program *program = ((struct session *)suite)->program;
	bool found = false;
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		_cleanup_(object_compiled_freep) struct object_compiled
			compiled = {};
		if (module->system || !module->object)
			continue;
		TRY(object_routines(module->object, module->bias,
				    bench_is_system, &ret->routines));
		if (found)
			continue;
		TRY(object_compiled(module->object, file, &compiled, &found));
		if (!found)
			continue;
		ret->folder = take_ptr(compiled.folder);
		ret->producer = take_ptr(compiled.producer);
		ret->folders = compiled.folders;
		compiled.folders = (struct strv){};
	}
	return NULL;
}
