/* Functions to be called later: at the end, and by the C++ runtime. */
#include "recorder/state_internal.h"

#include <stdlib.h>

/* Instructions of x86-64. */
#define CALL 0xe8	 /* near, four bytes of distance */
#define CALL_SLOT 0x15ff /* through a slot, four bytes of distance to it */
#define JUMP_SLOT 0x25ff
#define ENDBR64 0xfa1e0ff3U
#define BND 0xf2

enum { EXIT_ATEXIT, EXIT_ON_EXIT, EXIT_QUICK };

int __cxa_atexit(void (*function)(void *), void *argument, void *object);
int __cxa_at_quick_exit(void (*function)(void *), void *object);
/* Ours, even if others have the name. */
extern int own_atexit(void (*function)(void *), void *argument, void *object)
	__attribute__((alias("__cxa_atexit"), visibility("hidden")));

#define CALLER() ((uintptr_t)__builtin_return_address(0))

static int32_t hooks_read_displacement(const uint8_t *at)
{
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 |
			 (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

/* Does the code at @address only lead on to another file's function? */
static bool is_link(uintptr_t address)
{
	if (!sys_readable(address))
		return false;
	const uint8_t *code = (const uint8_t *)address;
	if ((uint32_t)hooks_read_displacement(code) == ENDBR64)
		code += 4;
	if (*code == BND)
		code++;
	return (code[0] | code[1] << 8) == JUMP_SLOT;
}

/*
 * The destructor of an array that is static has no object as argument either,
 * but code that a compiler made calls __cxa_atexit() itself; atexit() is a
 * function inside the caller's file, which jumps to it.
 */
static bool is_atexit(uintptr_t caller)
{
	if (!sys_readable(caller - 8))
		return true;
	const uint8_t *end = (const uint8_t *)caller;
	if ((end[-6] | end[-5] << 8) == CALL_SLOT) {
		uintptr_t slot =
			caller + (uintptr_t)hooks_read_displacement(end - 4);
		return !sys_readable(slot) ||
		       *(const uintptr_t *)slot != (uintptr_t)own_atexit;
	}
	return end[-5] != CALL ||
	       !is_link(caller + (uintptr_t)hooks_read_displacement(end - 4));
}

static void note_exit(uint32_t kind, uintptr_t function, uintptr_t caller)
{
	uint64_t i =
		__atomic_fetch_add(&agent_state.exits_n, 1, __ATOMIC_RELAXED);
	agent_state.exits[i % WIRE_EXITS] = (struct wire_exit){
		.function = function,
		.kind = kind,
		.caller_known = 1,
		.caller = caller,
	};
	state_changed();
}

_export_ int __cxa_atexit(void (*function)(void *), void *argument,
			  void *object)
{
	NEXT(__cxa_atexit, -1)
	int result = next(function, argument, object);
	if (!result && !argument && is_atexit(CALLER()))
		note_exit(EXIT_ATEXIT, (uintptr_t)function, CALLER());
	return result;
}

_export_ int on_exit(void (*function)(int, void *), void *argument)
{
	NEXT(on_exit, -1)
	int result = next(function, argument);
	if (!result)
		note_exit(EXIT_ON_EXIT, (uintptr_t)function, CALLER());
	return result;
}

_export_ int __cxa_at_quick_exit(void (*function)(void *), void *object)
{
	NEXT(__cxa_at_quick_exit, -1)
	int result = next(function, object);
	if (!result)
		note_exit(EXIT_QUICK, (uintptr_t)function, CALLER());
	return result;
}

/* std::set_terminate and the like: libstdc++ and libc++ have the same names. */
typedef void (*hook)(void);

#define HOOK(mangled, field)                                                   \
	hook mangled(hook function);                                           \
	_export_ hook mangled(hook function)                                   \
	{                                                                      \
		NEXT(mangled, NULL)                                            \
		hook old = next(function);                                     \
		agent_state.field = (uint64_t)(uintptr_t)function;             \
		__atomic_fetch_add(&agent_state.field##_calls, 1,              \
				   __ATOMIC_RELAXED);                          \
		state_changed();                                               \
		return old;                                                    \
	}

HOOK(_ZSt13set_terminatePFvvE, terminate)
HOOK(_ZSt15set_new_handlerPFvvE, new_handler)
HOOK(_ZSt14set_unexpectedPFvvE, unexpected)

/*
 * std::locale::global() returns an object: the caller says where. A locale is a
 * pointer to its implementation, in both runtimes.
 */
#define GLOBAL(mangled)                                                        \
	void *mangled(void *ret, const uint64_t *locale);                      \
	_export_ void *mangled(void *ret, const uint64_t *locale)              \
	{                                                                      \
		NEXT(mangled, NULL)                                            \
		uint64_t implementation = *locale;                             \
		void *result = next(ret, locale);                              \
		agent_state.cxx_locale = implementation;                       \
		__atomic_fetch_add(&agent_state.cxx_locale_calls, 1,           \
				   __ATOMIC_RELAXED);                          \
		state_changed();                                               \
		return result;                                                 \
	}

GLOBAL(_ZNSt6locale6globalERKS_)
GLOBAL(_ZNSt3__16locale6globalERKS0_)
