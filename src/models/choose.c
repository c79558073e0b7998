/* Choices: drawing, numbering, telling. See wire/choices.h. */
#include "models/choose_internal.h"

#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "wire/draw.h"

struct wire_choices *choose_block;
bool choose_first;

__thread struct choose_thread choose_self
	__attribute__((tls_model("initial-exec")));
uint64_t choose_ones[WIRE_MODELS_MAX];
#define self choose_self

/* Written by the controller where a breakpoint at choose_stop() is met. */
static uint64_t next_pick;

/* ---- numbers ---- */

uint64_t choose_mix(uint64_t a, uint64_t b)
{
	return wire_mix(a, b);
}

uint64_t choose_hash(const void *data, size_t n)
{
	const unsigned char *bytes = data;
	uint64_t hash = wire_scramble(n);
	for (; n >= 8; n -= 8, bytes += 8) {
		uint64_t word;
		__builtin_memcpy(&word, bytes, 8);
		hash = choose_mix(hash, word);
	}
	for (; n; n--)
		hash = (hash ^ *bytes++) * 0x100000001b3;
	return wire_scramble(hash);
}

uint64_t choose_hash_text(const char *text)
{
	return choose_hash(text, text_length(text));
}

uint64_t choose_permutations(size_t n)
{
	return wire_permutations(n);
}

void choose_permutation(uint64_t pick, size_t n, uint32_t *order)
{
	wire_permutation(pick, n, order);
}

void choose_permute(uint64_t pick, void *base, size_t n, size_t size)
{
	unsigned char *bytes = base;
	for (size_t i = 0; pick && i + 1 < n; i++) {
		unsigned char *a = bytes + i * size;
		unsigned char *b = bytes + wire_swap_with(&pick, i, n) * size;
		for (size_t k = 0; a != b && k < size; k++) {
			unsigned char other = b[k];
			b[k] = a[k];
			a[k] = other;
		}
	}
}

/* ---- objects ---- */

#define OBJECTS 8192

static struct {
	uintptr_t address;
	uint64_t number;
	uint64_t epoch;
} objects[OBJECTS];

static void choose_begin_epoch(struct wire_choices *block);

/*
 * Numbering starts over with each test, so a test makes the same choices alone
 * and after others; and it is per thread, whichever thread is faster. Two
 * objects that share a place evict each other, and get new numbers.
 */
uint64_t choose_object(const void *object)
{
	uintptr_t address = (uintptr_t)object;
	if (!choose_block || !choose_keyed())
		return 0;
	size_t at = wire_scramble(address) % OBJECTS;
	if (unlikely(self.epoch != choose_block->epoch || !self.key))
		choose_begin_epoch(choose_block);
	if (__atomic_load_n(&objects[at].address, __ATOMIC_ACQUIRE) !=
		    address ||
	    __atomic_load_n(&objects[at].epoch, __ATOMIC_RELAXED) !=
		    self.epoch) {
		__atomic_store_n(&objects[at].number,
				 choose_mix(self.key, ++self.objects),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&objects[at].epoch, self.epoch,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&objects[at].address, address,
				 __ATOMIC_RELEASE);
	}
	return __atomic_load_n(&objects[at].number, __ATOMIC_RELAXED);
}

void choose_object_changed(const void *object)
{
	uintptr_t address = (uintptr_t)object;
	size_t at = wire_scramble(address) % OBJECTS;
	if (__atomic_load_n(&objects[at].address, __ATOMIC_ACQUIRE) == address)
		__atomic_store_n(&objects[at].address, 0, __ATOMIC_RELEASE);
}

/* ---- telling ---- */

static void choose_put_text(char *out, size_t *at, const char *text)
{
	for (; *text && *at + 1 < WIRE_CHOICE_TEXT; text++)
		out[(*at)++] = *text;
}

static void choose_put_number(char *out, size_t *at, uint64_t value,
			      unsigned base)
{
	char digits[24];
	size_t n = sizeof(digits);
	digits[--n] = '\0';
	do
		digits[--n] = "0123456789abcdef"[value % base];
	while (value /= base);
	choose_put_text(out, at, digits + n);
}

static void put_signed(char *out, size_t *at, int64_t value)
{
	if (value < 0)
		choose_put_text(out, at, "-");
	choose_put_number(
		out, at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

static void choose_put_format(char *out, const char *format, va_list list)
{
	size_t at = 0;
	for (; *format; format++) {
		bool is_long = false;
		if (*format != '%') {
			choose_put_text(out, &at, (char[]){ *format, '\0' });
			continue;
		}
		format++;
		while (*format == 'z' || *format == 'l') {
			is_long = true;
			format++;
		}
		switch (*format) {
		case 's':
			choose_put_text(out, &at, va_arg(list, const char *));
			break;
		case 'd':
			put_signed(out, &at,
				   is_long ? va_arg(list, int64_t)
					   : va_arg(list, int));
			break;
		case 'u':
		case 'x':
			choose_put_number(out, &at,
					  is_long ? va_arg(list, uint64_t)
						  : va_arg(list, unsigned),
					  *format == 'x' ? 16 : 10);
			break;
		case 'p':
			choose_put_text(out, &at, "0x");
			choose_put_number(
				out, &at,
				(uint64_t)(uintptr_t)va_arg(list, void *), 16);
			break;
		case '\0':
			return;
		default:
			choose_put_text(out, &at, "%");
		}
	}
	out[at] = '\0';
}

void choose_tell(char *text, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	choose_put_format(text, format, list);
	va_end(list);
}

void choose_again(void)
{
	self.record = NULL;
}

static void list_modules(struct wire_choices *block)
{
	uint64_t n = 0;
	for (const struct link_map *object = _r_debug.r_map;
	     object && n < WIRE_CHOICE_MODULES; object = object->l_next, n++) {
		struct wire_choice_module *module = &block->modules[n];
		const char *name = object->l_name ? object->l_name : "";
		size_t i = 0;
		for (; name[i] && i + 1 < WIRE_CHOICE_PATH; i++)
			module->path[i] = name[i];
		module->path[i] = '\0';
		module->bias = object->l_addr;
		if (!n) { /* the program itself has no name */
			long got = sys_call(SYS_readlinkat, AT_FDCWD,
					    (long)"/proc/self/exe",
					    (long)module->path,
					    WIRE_CHOICE_PATH - 1, 0, 0);
			module->path[got > 0 ? got : 0] = '\0';
		}
	}
	block->modules_n = n;
}

/* The stack is copied for the controller to unwind. */
static _cold_ __attribute__((noinline)) void
choose_record_stack(struct wire_choices *block, struct wire_choice *record)
{
	list_modules(block);
	record->stack_n = 0;
	record->frames = 0;
	uint64_t *registers = record->registers;
	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, 0(%0)\n\t"
			 "movq %%rsp, 8(%0)\n\t"
			 "movq %%rbp, 16(%0)\n\t"
			 "movq %%rbx, 24(%0)\n\t"
			 "movq %%r12, 32(%0)\n\t"
			 "movq %%r13, 40(%0)\n\t"
			 "movq %%r14, 48(%0)\n\t"
			 "movq %%r15, 56(%0)"
			 :
			 : "r"(registers)
			 : "rax", "memory");
	uintptr_t low = registers[WIRE_RSP];
	const struct stack_bounds *bounds = &stack_bounds;
	if ((low < bounds->low || low >= bounds->high) && !stack_extend(low))
		return;
	size_t size = bounds->high - low;
	if (size > WIRE_CHOICE_STACK)
		size = WIRE_CHOICE_STACK;
	/* The stack grows no further down than this function's frame. */
	const unsigned char *from = (const unsigned char *)low;
	for (size_t i = 0; i < size; i++)
		record->stack[i] = from[i];
	record->stack_n = size;
}

static _cold_ void choose_record_call(struct wire_choices *block,
				      enum wire_model model, uint64_t pick,
				      uint64_t alternatives)
{
	uint64_t n = __atomic_fetch_add(&block->records_n, 1, __ATOMIC_RELAXED);
	if (n >= WIRE_CHOICE_RECORDS)
		return;
	struct wire_choice *record = &block->records[n];
	record->thread = self.key;
	record->n = self.n - 1; /* counted already */
	record->phase = self.phase;
	record->model = model;
	record->pick = pick;
	record->alternatives = alternatives;
	record->argument[0] = record->did[0] = '\0';
	self.record = record;
	choose_record_stack(block, record);
}

void choose_record_use(enum wire_model model, uintptr_t caller)
{
	struct wire_choices *block = choose_block;
	uint64_t n = block->records_n;
	if (!__atomic_load_n(&block->active, __ATOMIC_RELAXED) ||
	    choose_caller(caller) == CHOOSE_OTHER)
		return;
	for (uint64_t i = 0; i < n && i < WIRE_CHOICE_RECORDS; i++) {
		if (block->records[i].model == model)
			choose_record_stack(block, &block->records[i]);
	}
}

/* ---- drawing ---- */

/*
 * Of each model in this thread, for level FULL: where other models are switched
 * off the program may call them more or less often, and that must not change what
 * this one picks.
 */
static __thread uint32_t drawn[WIRE_MODELS_MAX]
	__attribute__((tls_model("initial-exec")));

/* For a breakpoint: see wire/choices.h, stop. */
static __attribute__((noinline)) void choose_stop(uint64_t model,
						  uint64_t alternatives,
						  uint64_t equal,
						  uint64_t object)
{
	__asm__ volatile(""
			 :
			 : "r"(model), "r"(alternatives), "r"(equal),
			   "r"(object)
			 : "memory");
}

static _cold_ void choose_begin_epoch(struct wire_choices *block)
{
	if (!self.key)
		self.key = WIRE_MAIN;
	self.epoch = block->epoch;
	self.phase = block->phase;
	self.n = 0;
	self.created = 0;
	self.objects = 0;
	for (size_t i = 0; i < WIRE_MODELS_MAX; i++)
		drawn[i] = 0;
	uint64_t at =
		__atomic_fetch_add(&block->threads_n, 1, __ATOMIC_RELAXED);
	self.slot = at < WIRE_CHOICE_THREADS ? &block->threads[at] : NULL;
	if (self.slot) {
		self.slot->key = self.key;
		self.slot->phase = self.phase;
		self.slot->n = 0;
	}
}

static uint64_t draw_one(const struct wire_choices *block,
			 enum wire_model model, uint64_t alternatives)
{
	uint64_t pick = wire_draw_one(block, model, alternatives);
	if (alternatives <= UINT16_MAX)
		__atomic_store_n(&choose_ones[model],
				 CHOOSE_ONE(block->seed, alternatives) << 16 |
					 pick,
				 __ATOMIC_RELAXED);
	return pick;
}

static uint64_t choose_draw_pick(const struct wire_choices *block,
				 enum wire_model model, uint64_t alternatives,
				 struct choose_keys keys)
{
	uint64_t hash = choose_mix(block->seed, model);
	switch (block->level) {
	case WIRE_EQ:
		hash = choose_mix(hash, keys.equal);
		break;
	case WIRE_ID:
		hash = choose_mix(hash, keys.object);
		break;
	default:
		if (self.steady || (model < WIRE_MODELS_N &&
				    choose_flags(model) & WIRE_CONSTANT))
			hash = choose_mix(hash, keys.object);
		else
			hash = choose_mix(choose_mix(hash, self.key),
					  drawn[model]);
	}
	return hash % alternatives;
}

/* All choices in one sequence: what is forced, or asked for at a breakpoint. */
static _cold_ uint64_t choose_trace_call(struct wire_choices *block,
					 enum wire_model model,
					 uint64_t alternatives,
					 struct choose_keys keys)
{
	uint64_t at = __atomic_fetch_add(&block->trace_n, 1, __ATOMIC_RELAXED);
	uint64_t pick = 0;
	if (at < block->forced_n && at < WIRE_CHOICE_TRACE)
		pick = block->forced[at];
	if (block->stop) {
		__atomic_store_n(&next_pick, pick, __ATOMIC_RELAXED);
		choose_stop(model, alternatives, keys.equal, keys.object);
		pick = __atomic_load_n(&next_pick, __ATOMIC_RELAXED);
	}
	if (pick >= alternatives)
		pick = 0;
	if (at < WIRE_CHOICE_TRACE)
		block->trace[at] = (struct wire_choice_step){
			.model = model,
			.alternatives = alternatives,
			.pick = pick,
			.thread = self.key,
		};
	return pick;
}

uint64_t choose_pick_slow(enum wire_model model, uint64_t alternatives,
			  struct choose_keys keys)
{
	struct wire_choices *block = choose_block;
	if (unlikely(self.epoch != block->epoch || !self.key))
		choose_begin_epoch(block);
	uint64_t pick = 0;
	bool on = wire_acts(block, model, self.key, self.phase, self.n);
	if (unlikely(block->trace_on))
		pick = on ? choose_trace_call(block, model, alternatives, keys)
			  : 0;
	else if (on && block->level == WIRE_ONE)
		pick = draw_one(block, model, alternatives);
	else if (on)
		pick = choose_draw_pick(block, model, alternatives, keys);
	drawn[model]++;
	choose_count(block, model, pick);
	if (pick && unlikely(block->detail))
		choose_record_call(block, model, pick, alternatives);
	return pick;
}

uint64_t choose_steady(enum wire_model model, uint64_t alternatives,
		       uint64_t key)
{
	struct choose_keys keys = { .equal = key, .object = key };
	self.steady = true;
	uint64_t pick = choose_pick(model, alternatives, keys);
	self.steady = false;
	return pick;
}

/* ---- threads ---- */

uint64_t choose_child_key(void)
{
	if (!choose_block)
		return 0;
	if (self.epoch != choose_block->epoch || !self.key)
		choose_begin_epoch(choose_block);
	return choose_mix(self.key, ++self.created) | 2;
}

void choose_set_key(uint64_t key)
{
	self = (struct choose_thread){ .key = key, .epoch = ~0ULL };
}

/* ---- the beginning ---- */

/* Where the controller's file is, and takes that out of the environment. */
static char *choose_take_path(char **envp)
{
	for (char **entry = envp; *entry; entry++) {
		char *value = text_after(*entry, WIRE_CHOICES_VARIABLE "=");
		if (value)
			return value;
	}
	return NULL;
}

static void forget_path(char **envp)
{
	for (char **entry = envp; *entry; entry++) {
		if (!text_after(*entry, WIRE_CHOICES_VARIABLE "="))
			continue;
		for (char **to = entry; *to; to++)
			to[0] = to[1];
		return;
	}
}

/*
 * An argument as it is likely to be the next time, too: numbers (of processes,
 * ports) and names of temporary files count as nothing.
 */
static uint64_t argument_key(const char *text)
{
	uint64_t hash = 0;
	bool number = false;
	for (; *text; text++) {
		char c = *text;
		bool digit = c >= '0' && c <= '9';
		if (c == 't' && text[1] == 'm' && text[2] == 'p') {
			while (*text && *text != '=' && *text != ' ')
				text++;
			if (!*text)
				break;
			c = *text;
		}
		if (!digit || !number)
			hash = (hash ^ (unsigned char)(digit ? '0' : c)) *
			       0x100000001b3;
		number = digit;
	}
	return hash;
}

/* How many had this key before; the table is never full but by a flood. */
static uint64_t count_equal(struct wire_choices *block, uint64_t key)
{
	for (uint64_t i = 0; i < WIRE_CHOICE_PROCESSES; i++) {
		struct wire_choice_process *slot =
			&block->processes[(key + i) % WIRE_CHOICE_PROCESSES];
		uint64_t empty = 0;
		if (__atomic_compare_exchange_n(&slot->key, &empty, key, false,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    empty == key)
			return __atomic_fetch_add(&slot->n, 1,
						  __ATOMIC_RELAXED);
	}
	return 0;
}

/*
 * A process that another started: its key follows from its command line, so
 * that parallel processes keep their keys, and from how many had the same one.
 */
static uint64_t process_key(int argc, char **argv)
{
	uint64_t key = WIRE_MAIN;
	for (int i = 0; i < argc; i++)
		key = choose_mix(key, argument_key(argv[i]));
	key |= 2;
	return choose_mix(key, count_equal(choose_block, key)) | 2;
}

/* A copy of its parent continues on its own; it has one thread, this one. */
static void after_fork(void)
{
	uint64_t key = choose_mix(choose_mix(self.key, self.n), ~0ULL) | 2;
	if (!choose_block)
		return;
	choose_set_key(choose_mix(key, count_equal(choose_block, key)) | 2);
}

/*
 * pthread_atfork() of libc_nonshared.a is this with one more argument. Only if
 * other processes are included: a controller that copies the program to
 * continue from there wants the same choices in each copy.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
			     void (*child)(void), void *object);

static bool map_block(const char *path)
{
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC,
			   0, 0, 0);
	if (fd < 0)
		return false;
	long at = sys_call(SYS_mmap, 0, sizeof(struct wire_choices),
			   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (at < 0 && at > -4096)
		return false;
	struct wire_choices *block = (struct wire_choices *)at;
	if (block->magic != WIRE_CHOICES_MAGIC ||
	    block->version != WIRE_CHOICES_VERSION) {
		sys_call(SYS_munmap, at, sizeof(*block), 0, 0, 0, 0);
		return false;
	}
	struct wire_region *region = sys_region();
	if (region) {
		region->address = (uint64_t)at;
		region->size = sizeof(*block);
	}
	block->stop_address = (uint64_t)(uintptr_t)choose_stop;
	block->next_address = (uint64_t)(uintptr_t)&next_pick;
	block->permute_address = (uint64_t)(uintptr_t)choose_by_user;
	block->sort_address = (uint64_t)(uintptr_t)choose_by_sort;
	choose_block = block;
	memory_begin();
	return true;
}

void choose_begin(int argc, char **argv, char **envp)
{
	const char *path = choose_take_path(envp);
	if (!path || !map_block(path))
		return;
	uint64_t others = __atomic_fetch_add(&choose_block->attached, 1,
					     __ATOMIC_RELAXED);
	code_list_own_tls();
	choose_caller_begin();
	choose_first = !others || !choose_block->children;
	choose_set_key(others && choose_block->children
			       ? process_key(argc, argv)
			       : WIRE_MAIN);
	if (choose_block->children) {
		__register_atfork(NULL, NULL, after_fork, NULL);
	} else {
		forget_path(envp);
		environment_restore(envp);
	}
}

/* Linked with -z initfirst: before every other constructor, see start.c. */
__attribute__((constructor)) static void
choose_start_library(int argc, char **argv, char **envp)
{
	agent_begin();
	choose_begin(argc, argv, envp);
	if (!choose_block)
		environment_restore(envp);
}
