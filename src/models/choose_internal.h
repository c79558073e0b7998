/*
 * Choices: what the models work with. See wire/choices.h for what a
 * choice is and how it is numbered.
 *
 * An interposed function of a model looks like this:
 *
 *	_export_ void qsort(void *base, size_t n, size_t size, compare *compare)
 *	{
 *		CHOOSE_NEXT(qsort, )
 *		if (!choose_wanted(WIRE_MODEL_qsort, CHOOSE_CALLER())) {
 *			next(base, n, size, compare);
 *			return;
 *		}
 *		struct choose_keys keys = { .equal = …, .object = … };
 *		uint64_t pick = choose_pick(WIRE_MODEL_qsort,
 *					    choose_permutations(n), keys);
 *		…
 *		choose_argument("%zu elements of %zu bytes", n, size);
 *		choose_did("elements that are equal in another order");
 *	}
 *
 * Rules for models, besides the agent's laws (agent.h):
 *  1. Pick 0 is exactly what the library does.
 *  2. What the specification forbids is never done, whatever the pick: where
 *     the call at hand leaves nothing open there is no choice, and choose_pick() is
 *     not called. A choice has at least two alternatives.
 *  3. Nothing depends on addresses, ids or time but through the keys.
 *  4. errno is that of the library's function.
 *  5. Calls of libc's functions go to their next definition (CHOOSE_NEXT,
 *     choose_next()), never through the dynamic symbol that is our own.
 */
#pragma once

#include <errno.h>
#include <sys/single_threaded.h>

#include "agent/agent.h"
#include "wire/choices.h"

#define CHOOSE_CALLER() ((uintptr_t)__builtin_return_address(0))

/*
 * Declares next(), where calls go on. Without @failed (void functions) write
 * CHOOSE_NEXT(name, ).
 */
#define CHOOSE_NEXT(name, failed)                                              \
	static __typeof__(&(name)) choose_found_##name;                        \
	__typeof__(&(name)) next =                                             \
		__atomic_load_n(&choose_found_##name, __ATOMIC_RELAXED);       \
	if (unlikely(!next)) {                                                 \
		next = (__typeof__(&(name)))lookup_next(#name);                \
		__atomic_store_n(&choose_found_##name, next,                   \
				 __ATOMIC_RELAXED);                            \
		if (!next) {                                                   \
			errno = ENOSYS;                                        \
			return failed;                                         \
		}                                                              \
	}

/* The keys of the levels EQ and ID; of no use, they are what FULL has. */
struct choose_keys {
	uint64_t equal;	 /* equal inputs: equal numbers */
	uint64_t object; /* the same unchanged object: see choose_object() */
};

static inline bool choose_bit(const uint64_t *words, unsigned model)
{
	return words[model / 64] >> model % 64 & 1;
}

#pragma GCC visibility push(hidden)

extern struct wire_choices *choose_block; /* NULL: no choices are made */
/* The first process of a test: the others inherit from it what it was given. */
extern bool choose_first;

/* choose.c */
void choose_begin(int argc, char **argv, char **envp);
/* One that must stay the same: FULL, too, goes by its key. */
uint64_t choose_steady(enum wire_model model, uint64_t alternatives,
		       uint64_t key);
/*
 * An earlier pick was taken again: what follows is not reported for a choice.
 */
void choose_again(void);

/* n!, or WIRE_MANY; 1 for fewer than two: then there is nothing to choose. */
uint64_t choose_permutations(size_t n);
/* The permutation that @pick stands for: @order[i] is what comes i-th. */
void choose_permutation(uint64_t pick, size_t n, uint32_t *order);
/* Moves the elements of an array so. @n at most CHOOSE_ELEMENTS. */
void choose_permute(uint64_t pick, void *base, size_t n, size_t size);
#define CHOOSE_ELEMENTS ((size_t)1 << 24)

/* At level ONE keys are not used, so they need not be computed. */
static inline bool choose_keyed(void)
{
	const struct wire_choices *block = choose_block;
	return block->level != WIRE_ONE || unlikely(block->trace_on);
}

/* A number for the object at this address, the same as long as it is not … */
uint64_t choose_object(const void *object);
/* … forgotten: it is destroyed, or changed, and is another from now on. */
void choose_object_changed(const void *object);

/* Keys: hashes of bytes, of a text, of two numbers. */
uint64_t choose_hash(const void *data, size_t n);
uint64_t choose_hash_text(const char *text);
uint64_t choose_mix(uint64_t a, uint64_t b);

/* environment.c: variables, before the program's own initialisers run. */
void environment_choose(void);
/* memory.c: allocations are chosen from now on. */
void memory_begin(void);
/* place.c: the path of the working directory, before those. */
void place_choose(void);
/*
 * environment_calls.c: one that is decided once in an epoch and not
 * numbered again. After choose_wanted(); two threads at once decide alike.
 */
uint64_t choose_once(enum wire_model model, uint64_t alternatives);
/*
 * clocks.c: the point in time that the program means by @time, which it
 * computed from the clock that it saw: @time itself, or @real.
 */
struct timespec;
const struct timespec *clocks_deadline(const struct timespec *time,
				       struct timespec *real);
/* Some time was waited for: it is over when the clock says so. */
void clocks_waited(void);
/* For models that are decided at the start: is it in use? */
static inline bool choose_startup(enum wire_model model)
{
	const struct wire_choices *block = choose_block;
	return block && __atomic_load_n(&block->active, __ATOMIC_RELAXED) &&
	       choose_bit(block->models, model);
}
/* choose_user.c: for the controller; see wire_choices.permute_address. */
uint64_t choose_by_user(uint64_t model, uint64_t kind, uint64_t base,
			uint64_t n, uint64_t size, uint64_t value);
/* sorting_std.c: for the controller; see wire_choices.sort_address. */
void choose_by_sort(uint64_t model, uint64_t base, uint64_t n, uint64_t size,
		    uint64_t flags, uint64_t caller);

/* A thread that this one creates; the key it will have. */
uint64_t choose_child_key(void);
void choose_set_key(uint64_t key);

/* choose_caller.c: which code calls? */
enum choose_caller {
	CHOOSE_UNKNOWN,
	CHOOSE_PROGRAM, /* the tested program and its libraries */
	CHOOSE_RUNTIME, /* C++ library, GLib: see WIRE_THROUGH */
	CHOOSE_OTHER,	/* framework, C library, loader, other libraries */
};
void choose_caller_begin(void);
_cold_ enum choose_caller choose_caller_find(uintptr_t address);
#define CHOOSE_CALLERS 4096
extern uint64_t choose_callers[CHOOSE_CALLERS]; /* verdict << 62 | address */

/* What a thread knows of its choices. */
struct choose_thread {
	uint64_t key; /* 0: not known yet */
	uint64_t epoch, phase;
	uint64_t n;	  /* choices so far */
	uint64_t created; /* threads */
	uint64_t objects; /* that it was the first to meet */
	struct wire_choice_thread *slot;
	struct wire_choice *record; /* of the last choice; or NULL */
	bool steady; /* the choice being made: see choose_steady() */
};
extern __thread struct choose_thread choose_self
	__attribute__((tls_model("initial-exec")));

/*
 * Level ONE: what models picked last, of few alternatives. In one word, so that
 * threads need not agree: seed (its lower half), alternatives, pick.
 */
extern uint64_t choose_ones[WIRE_MODELS_MAX];
#define CHOOSE_ONE(seed, alternatives)                                         \
	(((seed) << 16 & UINT64_MAX >> 16) | (alternatives))

uint64_t choose_pick_slow(enum wire_model model, uint64_t alternatives,
			  struct choose_keys keys);
_cold_ void choose_record_use(enum wire_model model, uintptr_t caller);
_cold_ void choose_tell(char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

/* With one thread what is atomic need not be so; see <sys/single_threaded.h>. */
static inline void choose_increment(const struct wire_choices *block,
				    uint64_t *counter)
{
	if (likely(__libc_single_threaded && !block->children))
		++*counter;
	else
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static inline void choose_count(struct wire_choices *block,
				enum wire_model model, uint64_t pick)
{
	struct choose_thread *self = &choose_self;
	choose_increment(block, &block->made[model]);
	if (pick)
		choose_increment(block, &block->acted[model]);
	self->record = NULL;
	self->n++;
	if (likely(self->slot))
		self->slot->n = self->n;
}

/*
 * One choice of @alternatives (at least 2, at most WIRE_MANY): the pick, less
 * than that. Only after choose_wanted(). The common case of level ONE is
 * inline: it runs for every block that is allocated and every text that is
 * compared.
 */
static inline uint64_t choose_pick(enum wire_model model, uint64_t alternatives,
				   struct choose_keys keys)
{
	struct wire_choices *block = choose_block;
	uint64_t one = __atomic_load_n(&choose_ones[model], __ATOMIC_RELAXED);
	if (unlikely(alternatives > UINT16_MAX || block->level != WIRE_ONE ||
		     choose_self.epoch != block->epoch ||
		     block->only_ranges | block->detail | block->trace_on ||
		     !choose_bit(block->on, model) ||
		     one >> 16 != CHOOSE_ONE(block->seed, alternatives)))
		return choose_pick_slow(model, alternatives, keys);
	choose_count(block, model, 1);
	return one & UINT16_MAX;
}

/*
 * What the last choice of this thread was about and did, for the report; if no
 * report is wanted, or the pick was 0, nothing happens. Conversions: %s (cut
 * off, escaped by the reader), %d, %u, %zu, %zd, %x, %p, %%.
 */
#define choose_argument(...)                                                   \
	(unlikely(choose_self.record)                                          \
		 ? choose_tell(choose_self.record->argument, __VA_ARGS__)      \
		 : (void)0)
#define choose_did(...)                                                        \
	(unlikely(choose_self.record)                                          \
		 ? choose_tell(choose_self.record->did, __VA_ARGS__)           \
		 : (void)0)

/*
 * What was decided at the start (WIRE_STARTUP) is used here: the report shows
 * the last such place, since the decision itself has no caller.
 */
static inline void choose_used(enum wire_model model, uintptr_t caller)
{
	if (unlikely(choose_block && choose_block->detail))
		choose_record_use(model, caller);
}

static inline enum choose_caller choose_caller(uintptr_t address)
{
	uint64_t known = __atomic_load_n(
		&choose_callers[(address ^ address >> 12) % CHOOSE_CALLERS],
		__ATOMIC_RELAXED);
	if (likely((known & (~0ULL >> 2)) == address))
		return (enum choose_caller)(known >> 62);
	return choose_caller_find(address);
}

static inline unsigned choose_flags(enum wire_model model)
{
	static const uint8_t flags[] = {
#define X(name, kind, level, flags, api, clause, never) (uint8_t)(flags),
		WIRE_MODELS(X)
#undef X
	};
	return flags[model];
}

/* Is this model in use, and is the call from @caller the program's? */
static inline bool choose_wanted(enum wire_model model, uintptr_t caller)
{
	const struct wire_choices *block = choose_block;
	if (likely(!block) ||
	    !__atomic_load_n(&block->active, __ATOMIC_RELAXED) ||
	    !choose_bit(block->models, model))
		return false;
	enum choose_caller who = choose_caller(caller);
	bool wanted =
		who == CHOOSE_PROGRAM ||
		(who == CHOOSE_RUNTIME && choose_flags(model) & WIRE_THROUGH);
	if (unlikely(!wanted && block->log_on))
		choose_increment(block, &choose_block->left_alone[model]);
	return wanted;
}
