/*
 * C++'s operator new and delete. libstdc++'s and libc++'s own end in malloc()
 * and free(), so blocks would be known without this; but the allocating call
 * would always be operator new.
 *
 * A program may replace some of the operators, and the runtime's others then
 * end in the replaced ones. So if anything but the C++ runtime defines one, all
 * of ours step aside.
 */
#include "agent/heap.h"

#include <link.h>
#include <stdlib.h>

#include "agent/hash.h"

/* Mangled as the Itanium C++ ABI says; x86-64's size_t is m. */
#define OPERATORS(X)                                                           \
	X(new, _Znwm)                                                          \
	X(new_array, _Znam)                                                    \
	X(new_nothrow, _ZnwmRKSt9nothrow_t)                                    \
	X(new_array_nothrow, _ZnamRKSt9nothrow_t)                              \
	X(new_aligned, _ZnwmSt11align_val_t)                                   \
	X(new_array_aligned, _ZnamSt11align_val_t)                             \
	X(new_aligned_nothrow, _ZnwmSt11align_val_tRKSt9nothrow_t)             \
	X(new_array_aligned_nothrow, _ZnamSt11align_val_tRKSt9nothrow_t)       \
	X(delete, _ZdlPv)                                                      \
	X(delete_array, _ZdaPv)                                                \
	X(delete_sized, _ZdlPvm)                                               \
	X(delete_array_sized, _ZdaPvm)                                         \
	X(delete_nothrow, _ZdlPvRKSt9nothrow_t)                                \
	X(delete_array_nothrow, _ZdaPvRKSt9nothrow_t)                          \
	X(delete_aligned, _ZdlPvSt11align_val_t)                               \
	X(delete_array_aligned, _ZdaPvSt11align_val_t)                         \
	X(delete_sized_aligned, _ZdlPvmSt11align_val_t)                        \
	X(delete_array_sized_aligned, _ZdaPvmSt11align_val_t)                  \
	X(delete_aligned_nothrow, _ZdlPvSt11align_val_tRKSt9nothrow_t)         \
	X(delete_array_aligned_nothrow, _ZdaPvSt11align_val_tRKSt9nothrow_t)

enum operator{
#define X(name, mangled) OPERATOR_##name,
	OPERATORS(X)
#undef X
		OPERATORS_N,
};

static const char *const symbols[] = {
#define X(name, mangled) #mangled,
	OPERATORS(X)
#undef X
};

/* The other definitions, if they are not ours to answer. */
static void *next[OPERATORS_N];
static bool replaced;

/* Both runtimes define it, and nothing else does. */
static bool is_cxx_runtime(const struct link_map *object)
{
	return lookup_in(object, "_ZSt15get_new_handlerv") != NULL;
}

void operators_begin(void)
{
	for (unsigned i = 0; i < OPERATORS_N; i++) {
		const struct link_map *object = NULL;
		next[i] = lookup_next(symbols[i]);
		if (lookup_other(symbols[i], &object) &&
		    !is_cxx_runtime(object))
			replaced = true;
	}
}

/* A program in C may have loaded the C++ runtime after the beginning. */
static _cold_ void *operator_find(enum operator which)
{
	return next[which] ? next[which] : lookup_next(symbols[which]);
}

static _cold_ void *find_other(enum operator which)
{
	bool ours = agent_begin() == AGENT_NOTE && !replaced;
	return ours ? NULL : operator_find(which);
}

#ifdef AGENT_CHOICES
__thread struct hash_thread hash_thread
	__attribute__((tls_model("initial-exec")));
#endif

/* The definition that answers in our place; NULL: none. */
static inline void *operator_other_definition(enum operator which)
{
	if (likely(agent_mode == AGENT_NOTE && !replaced))
		return NULL;
	return find_other(which);
}

/* Out of memory: the runtime's operator calls the new-handler and throws. */
static _cold_ void *operator_of_runtime(enum operator which)
{
	void *found = operator_find(which);
	if (!found)
		abort();
	return found;
}

static inline void *operator_allocate(enum heap_function function, size_t size,
				      struct note_caller caller)
{
	/* new of nothing is a block of its own, as malloc(0) is. */
	if (likely(agent_mode == AGENT_NOTE))
		return heap_allocate(function, size, caller);
	return agent_next.malloc(size);
}

static inline void *allocate_aligned(enum heap_function function, size_t size,
				     size_t alignment,
				     struct note_caller caller)
{
	if (likely(agent_mode == AGENT_NOTE))
		return heap_aligned(function, __libc_memalign(alignment, size),
				    alignment, size, caller);
	return agent_next.memalign(alignment, size);
}

static inline void operator_release(void *block, struct note_caller caller)
{
	if (likely(agent_mode == AGENT_NOTE)) {
		uint64_t entry = block ? note_gone(block) : 0;
		if (!note_stays(entry))
			heap_release(HEAP_NEW, block, entry, caller);
	} else {
		agent_next.free(block);
	}
}

/* @parameters begin with the size. */
#define NEW(name, mangled, allocation, parameters, arguments)                  \
	void *mangled parameters;                                              \
	_export_ void *mangled parameters                                      \
	{                                                                      \
		void *(*function)parameters =                                  \
			operator_other_definition(OPERATOR_##name);            \
		if (unlikely(function))                                        \
			return function arguments;                             \
		void *block = allocation;                                      \
		if (unlikely(!block)) {                                        \
			function = operator_of_runtime(OPERATOR_##name);       \
			return function arguments;                             \
		}                                                              \
		if (likely(agent_mode == AGENT_NOTE))                          \
			note_block(block, size, NOTE_CALLER());                \
		hash_new(block, size);                                         \
		return block;                                                  \
	}

#define DELETE(name, mangled, parameters, arguments)                           \
	void mangled parameters;                                               \
	_export_ void mangled parameters                                       \
	{                                                                      \
		void(*function) parameters =                                   \
			operator_other_definition(OPERATOR_##name);            \
		hash_delete(block);                                            \
		if (unlikely(function))                                        \
			function arguments;                                    \
		else                                                           \
			operator_release(block, NOTE_CALLER());                \
	}

/* clang-format off */
NEW(new, _Znwm, operator_allocate(HEAP_NEW, size, NOTE_CALLER()),
    (size_t size), (size))
NEW(new_array, _Znam, operator_allocate(HEAP_NEW_ARRAY, size, NOTE_CALLER()),
    (size_t size), (size))
NEW(new_nothrow, _ZnwmRKSt9nothrow_t,
    operator_allocate(HEAP_NEW, size, NOTE_CALLER()),
    (size_t size, const void *nothrow), (size, nothrow))
NEW(new_array_nothrow, _ZnamRKSt9nothrow_t,
    operator_allocate(HEAP_NEW_ARRAY, size, NOTE_CALLER()),
    (size_t size, const void *nothrow), (size, nothrow))
NEW(new_aligned, _ZnwmSt11align_val_t,
    allocate_aligned(HEAP_NEW, size, alignment, NOTE_CALLER()),
    (size_t size, size_t alignment), (size, alignment))
NEW(new_array_aligned, _ZnamSt11align_val_t,
    allocate_aligned(HEAP_NEW_ARRAY, size, alignment, NOTE_CALLER()),
    (size_t size, size_t alignment), (size, alignment))
NEW(new_aligned_nothrow, _ZnwmSt11align_val_tRKSt9nothrow_t,
    allocate_aligned(HEAP_NEW, size, alignment, NOTE_CALLER()),
    (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
NEW(new_array_aligned_nothrow, _ZnamSt11align_val_tRKSt9nothrow_t,
    allocate_aligned(HEAP_NEW_ARRAY, size, alignment, NOTE_CALLER()),
    (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
DELETE(delete, _ZdlPv,
       (void *block), (block))
DELETE(delete_array, _ZdaPv,
       (void *block), (block))
DELETE(delete_sized, _ZdlPvm,
       (void *block, size_t size), (block, size))
DELETE(delete_array_sized, _ZdaPvm,
       (void *block, size_t size), (block, size))
DELETE(delete_nothrow, _ZdlPvRKSt9nothrow_t,
       (void *block, const void *nothrow), (block, nothrow))
DELETE(delete_array_nothrow, _ZdaPvRKSt9nothrow_t,
       (void *block, const void *nothrow), (block, nothrow))
DELETE(delete_aligned, _ZdlPvSt11align_val_t,
       (void *block, size_t alignment), (block, alignment))
DELETE(delete_array_aligned, _ZdaPvSt11align_val_t,
       (void *block, size_t alignment), (block, alignment))
DELETE(delete_sized_aligned, _ZdlPvmSt11align_val_t,
       (void *block, size_t size, size_t alignment), (block, size, alignment))
DELETE(delete_array_sized_aligned, _ZdaPvmSt11align_val_t,
       (void *block, size_t size, size_t alignment), (block, size, alignment))
DELETE(delete_aligned_nothrow, _ZdlPvSt11align_val_tRKSt9nothrow_t,
       (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
DELETE(delete_array_aligned_nothrow, _ZdaPvSt11align_val_tRKSt9nothrow_t,
       (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
/* clang-format on */
