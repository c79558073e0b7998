#include "attributes/put_back.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "attributes/attributes_internal.h"
#include "base/clock.h"
#include "base/path.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define KEY_MAX 1024
#define VALUE_MAX ((size_t)128 << 10) /* execve(2): MAX_ARG_STRLEN */
#define CALL_NS NS_PER_S
/* What the kernel knows of a signal: handler, flags, restorer, mask. */
#define ACTION_SIZE 32
#define MASK_SIZE 8

struct putter;

struct attribute_kept {
	const struct putter *putter;
	char key[KEY_MAX];     /* "" where it has none */
	uint64_t functions[4]; /* as of the putter */
	bool absent;
	size_t n;
	uint8_t bytes[]; /* its value */
};

struct putter {
	const char *name;
	const char *functions[4]; /* of the program: all are needed */
	/* Fails with ERR_INTERNAL where it cannot be put back. */
	struct err *(*keep)(struct attribute_kept **kept, struct thread *then);
	struct err *(*put)(const struct attribute_kept *kept,
			   struct thread *thread);
};

/* ---- helpers ---- */

static struct err *put_back_cannot(void)
{
	return err_create(ERR_INTERNAL, "it cannot be restored");
}

static struct err *put_back_set_value(struct attribute_kept **kept,
				      const void *bytes, size_t n)
{
	struct attribute_kept *grown = realloc(*kept, sizeof(**kept) + n);
	if (!grown)
		return err_nomem();
	*kept = grown;
	memcpy(grown->bytes, bytes, n);
	grown->n = n;
	return NULL;
}

/* Memory of the process that has @bytes (NULL: nothing); it is never freed. */
static struct err *put_back_place_bytes(struct thread *thread,
					const void *bytes, size_t n,
					struct raddr *ret)
{
	TRY(remote_map(thread, n, ret));
	return bytes ? memory_write(thread->tracee, *ret, bytes, n) : NULL;
}

static struct err *put_back_call_function(struct thread *thread,
					  uint64_t function, uint64_t a,
					  uint64_t b, uint64_t c, uint64_t *ret)
{
	const uint64_t args[] = { a, b, c };
	return remote_call(thread, RADDR(function), args, ARRAY_SIZE(args),
			   CALL_NS, ret);
}

static struct err *put_back_system_call(struct thread *thread, long number,
					const uint64_t args[6])
{
	int64_t got;
	TRY(remote_syscall(thread, number, args, &got));
	return got < 0 ? err_errno((int)-got, "system call %ld", number) : NULL;
}

/* ---- the kernel's ---- */

static struct err *keep_directory(struct attribute_kept **kept,
				  struct thread *then)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/cwd", tracee_pid(then->tracee));
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return put_back_cannot();
	path[n] = '\0';
	return put_back_set_value(kept, path, (size_t)n + 1);
}

static struct err *put_directory(const struct attribute_kept *kept,
				 struct thread *thread)
{
	struct raddr path;
	TRY(put_back_place_bytes(thread, kept->bytes, kept->n, &path));
	return put_back_system_call(thread, SYS_chdir, (uint64_t[6]){ path.v });
}

static struct err *keep_umask(struct attribute_kept **kept, struct thread *then)
{
	int64_t mask, ignored;
	TRY(remote_syscall(then, SYS_umask, (uint64_t[6]){ 0 }, &mask));
	TRY(remote_syscall(then, SYS_umask, (uint64_t[6]){ (uint64_t)mask },
			   &ignored));
	return put_back_set_value(kept, &mask, sizeof(mask));
}

static struct err *put_umask(const struct attribute_kept *kept,
			     struct thread *thread)
{
	int64_t mask;
	memcpy(&mask, kept->bytes, sizeof(mask));
	return put_back_system_call(thread, SYS_umask,
				    (uint64_t[6]){ (uint64_t)mask });
}

static bool signal_by_name(const char *name, int *ret)
{
	for (int i = 1; i < NSIG; i++) {
		char known[16];
		signal_name(i, known);
		if (!strcmp(known, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static struct err *keep_handler(struct attribute_kept **kept,
				struct thread *then)
{
	int number;
	struct raddr at;
	uint8_t action[ACTION_SIZE];
	if (!signal_by_name((*kept)->key, &number))
		return put_back_cannot();
	TRY(put_back_place_bytes(then, NULL, sizeof(action), &at));
	TRY(put_back_system_call(
		then, SYS_rt_sigaction,
		(uint64_t[6]){ (uint64_t)number, 0, at.v, MASK_SIZE }));
	TRY(memory_read(then->tracee, at, action, sizeof(action)));
	return put_back_set_value(kept, action, sizeof(action));
}

static struct err *put_handler(const struct attribute_kept *kept,
			       struct thread *thread)
{
	int number;
	struct raddr at;
	if (!signal_by_name(kept->key, &number))
		return put_back_cannot();
	TRY(put_back_place_bytes(thread, kept->bytes, kept->n, &at));
	return put_back_system_call(
		thread, SYS_rt_sigaction,
		(uint64_t[6]){ (uint64_t)number, at.v, 0, MASK_SIZE });
}

static struct err *keep_mask(struct attribute_kept **kept, struct thread *then)
{
	uint64_t mask;
	if (ptrace(PTRACE_GETSIGMASK, then->tid, sizeof(mask), &mask) < 0)
		return put_back_cannot();
	return put_back_set_value(kept, &mask, sizeof(mask));
}

static struct err *put_mask(const struct attribute_kept *kept,
			    struct thread *thread)
{
	uint64_t mask;
	memcpy(&mask, kept->bytes, sizeof(mask));
	if (ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask) < 0)
		return err_errno(errno, "cannot set the signal mask");
	return NULL;
}

static bool limit_by_name(const char *name, int *ret)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (limit_names[i] && !strcmp(limit_names[i], name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static struct err *keep_limit(struct attribute_kept **kept, struct thread *then)
{
	int which;
	struct rlimit limit;
	if (!limit_by_name((*kept)->key, &which) ||
	    prlimit(tracee_pid(then->tracee), which, NULL, &limit) < 0)
		return put_back_cannot();
	return put_back_set_value(kept, &limit, sizeof(limit));
}

static struct err *put_limit(const struct attribute_kept *kept,
			     struct thread *thread)
{
	int which;
	struct rlimit limit;
	memcpy(&limit, kept->bytes, sizeof(limit));
	if (!limit_by_name(kept->key, &which) ||
	    prlimit(tracee_pid(thread->tracee), which, &limit, NULL) < 0)
		return err_errno(errno, "cannot set a limit");
	return NULL;
}

/* ---- the processor's ---- */

static struct err *keep_floats(struct attribute_kept **kept,
			       struct thread *then)
{
	struct user_fpregs_struct regs;
	if (ptrace(PTRACE_GETFPREGS, then->tid, 0, &regs) < 0)
		return put_back_cannot();
	return put_back_set_value(kept, &regs, sizeof(regs));
}

static struct err *put_floats(const struct attribute_kept *kept,
			      struct thread *thread, uint32_t control,
			      uint32_t status, uint32_t mxcsr)
{
	struct user_fpregs_struct then, now;
	memcpy(&then, kept->bytes, sizeof(then));
	if (ptrace(PTRACE_GETFPREGS, thread->tid, 0, &now) < 0)
		return err_errno(errno, "cannot read registers");
	now.cwd = (uint16_t)((now.cwd & ~control) | (then.cwd & control));
	now.swd = (uint16_t)((now.swd & ~status) | (then.swd & status));
	now.mxcsr = (now.mxcsr & ~mxcsr) | (then.mxcsr & mxcsr);
	if (ptrace(PTRACE_SETFPREGS, thread->tid, 0, &now) < 0)
		return err_errno(errno, "cannot write registers");
	return NULL;
}

static struct err *put_rounding(const struct attribute_kept *kept,
				struct thread *thread)
{
	return put_floats(kept, thread, X87_ROUNDING | X87_PRECISION, 0,
			  MXCSR_ROUNDING | MXCSR_FLUSH | MXCSR_DENORMALS);
}

static struct err *put_exceptions(const struct attribute_kept *kept,
				  struct thread *thread)
{
	const uint32_t raised = FLOAT_EXCEPTIONS | FLOAT_INEXACT;
	return put_floats(kept, thread, FLOAT_EXCEPTIONS, raised,
			  raised | FLOAT_EXCEPTIONS << 7);
}

/* ---- the C library's ---- */

/* A text that a function of the program returned; 0: none. */
static struct err *keep_text(struct attribute_kept **kept, struct thread *then,
			     uint64_t address)
{
	_cleanup_(freep) char *text = NULL;
	(*kept)->absent = !address;
	if (!address)
		return NULL;
	TRY(memory_read_text(then->tracee, RADDR(address), VALUE_MAX, &text));
	return put_back_set_value(kept, text, strlen(text) + 1);
}

/* functions: setenv, unsetenv, getenv */
static struct err *keep_named(struct attribute_kept **kept, const char *name,
			      struct thread *then)
{
	struct raddr at;
	uint64_t value;
	TRY(put_back_place_bytes(then, name, strlen(name) + 1, &at));
	TRY(put_back_call_function(then, (*kept)->functions[2], at.v, 0, 0,
				   &value));
	return keep_text(kept, then, value);
}

static struct err *put_named(const struct attribute_kept *kept,
			     const char *name, struct thread *thread)
{
	struct raddr at, value;
	uint64_t got;
	TRY(put_back_place_bytes(thread, name, strlen(name) + 1, &at));
	if (kept->absent)
		return put_back_call_function(thread, kept->functions[1], at.v,
					      0, 0, &got);
	TRY(put_back_place_bytes(thread, kept->bytes, kept->n, &value));
	return put_back_call_function(thread, kept->functions[0], at.v, value.v,
				      1, &got);
}

static struct err *keep_variable(struct attribute_kept **kept,
				 struct thread *then)
{
	char name[KEY_MAX];
	memcpy(name, (*kept)->key, sizeof(name));
	return keep_named(kept, name, then);
}

static struct err *put_variable(const struct attribute_kept *kept,
				struct thread *thread)
{
	return put_named(kept, kept->key, thread);
}

static bool category_by_name(const char *name, int *ret)
{
	static const struct {
		const char *name;
		int number;
	} all[] = {
		{ "LC_CTYPE", LC_CTYPE },
		{ "LC_NUMERIC", LC_NUMERIC },
		{ "LC_TIME", LC_TIME },
		{ "LC_COLLATE", LC_COLLATE },
		{ "LC_MONETARY", LC_MONETARY },
		{ "LC_MESSAGES", LC_MESSAGES },
		{ "LC_PAPER", LC_PAPER },
		{ "LC_NAME", LC_NAME },
		{ "LC_ADDRESS", LC_ADDRESS },
		{ "LC_TELEPHONE", LC_TELEPHONE },
		{ "LC_MEASUREMENT", LC_MEASUREMENT },
		{ "LC_IDENTIFICATION", LC_IDENTIFICATION },
	};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!strcmp(all[i].name, name)) {
			*ret = all[i].number;
			return true;
		}
	}
	return false;
}

static struct err *keep_locale(struct attribute_kept **kept,
			       struct thread *then)
{
	int category;
	uint64_t name;
	if (!category_by_name((*kept)->key, &category))
		return put_back_cannot();
	TRY(put_back_call_function(then, (*kept)->functions[0],
				   (uint64_t)category, 0, 0, &name));
	return name ? keep_text(kept, then, name) : put_back_cannot();
}

static struct err *put_locale(const struct attribute_kept *kept,
			      struct thread *thread)
{
	int category;
	struct raddr name;
	uint64_t got;
	if (!category_by_name(kept->key, &category))
		return put_back_cannot();
	TRY(put_back_place_bytes(thread, kept->bytes, kept->n, &name));
	TRY(put_back_call_function(thread, kept->functions[0],
				   (uint64_t)category, name.v, 0, &got));
	return got ? NULL : put_back_cannot();
}

/* Made of the variable TZ; functions: the same, and tzset. */
static struct err *keep_zone(struct attribute_kept **kept, struct thread *then)
{
	return keep_named(kept, "TZ", then);
}

static struct err *put_zone(const struct attribute_kept *kept,
			    struct thread *thread)
{
	uint64_t got;
	TRY(put_named(kept, "TZ", thread));
	return put_back_call_function(thread, kept->functions[3], 0, 0, 0,
				      &got);
}

/* ---- what the C library's functions keep ---- */

#define STATE_MAX 512

static struct err *keep_memory(struct attribute_kept **kept,
			       struct thread *then, uint64_t address, size_t n)
{
	uint8_t bytes[STATE_MAX];
	if (!address || !n || n > sizeof(bytes))
		return put_back_cannot();
	TRY(memory_read(then->tracee, RADDR(address), bytes, n));
	return put_back_set_value(kept, bytes, n);
}

/* functions: the agent's state, which both are in. */
static uint64_t strtok_place(const struct attribute_kept *kept)
{
	return kept->functions[0] + offsetof(struct wire_state, strtok_at);
}

static struct err *keep_strtok(struct attribute_kept **kept,
			       struct thread *then)
{
	return keep_memory(kept, then, strtok_place(*kept),
			   offsetof(struct wire_state, getopt_calls) -
				   offsetof(struct wire_state, strtok_at));
}

static struct err *put_strtok(const struct attribute_kept *kept,
			      struct thread *thread)
{
	return memory_write(thread->tracee, RADDR(strtok_place(kept)),
			    kept->bytes, kept->n);
}

/* functions: optind and opterr. */
static struct err *keep_options(struct attribute_kept **kept,
				struct thread *then)
{
	int32_t both[2];
	for (int i = 0; i < 2; i++)
		TRY(memory_read(then->tracee, RADDR((*kept)->functions[i]),
				&both[i], sizeof(both[i])));
	return put_back_set_value(kept, both, sizeof(both));
}

static struct err *put_options(const struct attribute_kept *kept,
			       struct thread *thread)
{
	for (size_t i = 0; i < 2; i++)
		TRY(memory_write(thread->tracee, RADDR(kept->functions[i]),
				 kept->bytes + i * sizeof(int32_t),
				 sizeof(int32_t)));
	return NULL;
}

/* Where the agent found numbers: functions: its state. */
static struct err *agent_words(const struct attribute_kept *kept,
			       struct thread *thread, size_t at,
			       uint64_t words[2])
{
	return memory_read(thread->tracee, RADDR(kept->functions[0] + at),
			   words, 2 * sizeof(*words));
}

/* struct drand48_data, of which the agent knows the address. */
#define DRAND48_SIZE 24

static struct err *keep_drand48(struct attribute_kept **kept,
				struct thread *then)
{
	uint64_t words[2];
	TRY(agent_words(*kept, then, offsetof(struct wire_state, drand48),
			words));
	return keep_memory(kept, then, words[0], DRAND48_SIZE);
}

static struct err *put_drand48(const struct attribute_kept *kept,
			       struct thread *thread)
{
	uint64_t words[2];
	TRY(agent_words(kept, thread, offsetof(struct wire_state, drand48),
			words));
	return memory_write(thread->tracee, RADDR(words[0]), kept->bytes,
			    kept->n);
}

/* Where in the table the generator is, is written into it as it is set anew. */
static struct err *keep_random(struct attribute_kept **kept,
			       struct thread *then)
{
	uint64_t words[2], got;
	TRY(agent_words(*kept, then, offsetof(struct wire_state, random),
			words));
	TRY(put_back_call_function(then, (*kept)->functions[1], words[0], 0, 0,
				   &got));
	return got ? keep_memory(kept, then, words[0], words[1])
		   : put_back_cannot();
}

/* With another table meanwhile: else its old position would be noted in it. */
static struct err *put_random(const struct attribute_kept *kept,
			      struct thread *thread)
{
	uint64_t words[2], got;
	struct raddr other;
	TRY(agent_words(kept, thread, offsetof(struct wire_state, random),
			words));
	TRY(put_back_place_bytes(thread, NULL, STATE_MAX, &other));
	TRY(put_back_call_function(thread, kept->functions[2], 1, other.v, 8,
				   &got));
	TRY(memory_write(thread->tracee, RADDR(words[0]), kept->bytes,
			 kept->n));
	TRY(put_back_call_function(thread, kept->functions[1], words[0], 0, 0,
				   &got));
	return got ? NULL : put_back_cannot();
}

static const struct putter putters[] = {
	{ "working-directory", {}, keep_directory, put_directory },
	{ "umask", {}, keep_umask, put_umask },
	{ "environment",
	  { "setenv", "unsetenv", "getenv" },
	  keep_variable,
	  put_variable },
	{ "signal-handler", {}, keep_handler, put_handler },
	{ "signal-mask", {}, keep_mask, put_mask },
	{ "locale", { "setlocale" }, keep_locale, put_locale },
	{ "time-zone",
	  { "setenv", "unsetenv", "getenv", "tzset" },
	  keep_zone,
	  put_zone },
	{ "limit", {}, keep_limit, put_limit },
	{ "rounding-mode", {}, keep_floats, put_rounding },
	{ "floating-point-exceptions", {}, keep_floats, put_exceptions },
	{ "strtok", { WIRE_STATE_SYMBOL }, keep_strtok, put_strtok },
	{ "getopt", { "optind", "opterr" }, keep_options, put_options },
	{ "random",
	  { WIRE_STATE_SYMBOL, "setstate", "initstate" },
	  keep_random,
	  put_random },
	{ "drand48", { WIRE_STATE_SYMBOL }, keep_drand48, put_drand48 },
};

/* "name" or "name[key]" */
static const struct putter *find_putter(const char *root, char key[KEY_MAX])
{
	size_t n = strcspn(root, "[");
	for (size_t i = 0; i < ARRAY_SIZE(putters); i++) {
		if (strlen(putters[i].name) != n ||
		    strncmp(putters[i].name, root, n) != 0)
			continue;
		const char *start = root[n] ? root + n + 1 : root + n;
		size_t length = strlen(start);
		length -= length && start[length - 1] == ']';
		if (length >= KEY_MAX)
			return NULL;
		memcpy(key, start, length);
		key[length] = '\0';
		return &putters[i];
	}
	return NULL;
}

struct err *attribute_keep(const char *root, struct thread *then,
			   attribute_symbol *symbol, void *data,
			   struct attribute_kept **ret)
{
	*ret = NULL;
	_cleanup_(attribute_kept_destroyp) struct attribute_kept *kept =
		calloc(1, sizeof(*kept));
	if (!kept)
		return err_nomem();
	kept->putter = find_putter(root, kept->key);
	if (!kept->putter)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kept->functions); i++) {
		const char *name = kept->putter->functions[i];
		kept->functions[i] = name ? symbol(data, name) : 0;
		if (name && !kept->functions[i])
			return NULL;
	}
	struct err *err = kept->putter->keep(&kept, then);
	if (err && err_kind(err) == ERR_INTERNAL) {
		err_ignore(err);
		return NULL;
	}
	TRY(err);
	*ret = take_ptr(kept);
	return NULL;
}

void attribute_kept_destroy(struct attribute_kept *kept)
{
	free(kept);
}

struct err *attribute_put_back(const struct attribute_kept *kept,
			       struct thread *thread)
{
	return kept->putter->put(kept, thread);
}
