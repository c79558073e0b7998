#include "framework/function_calls.h"

#include "native/calls.h"
#include "native/session.h"
#include "tracee/memory.h"

bool function_signature_of(const struct run *run, uint64_t address,
			   struct object_signature *ret)
{
	const struct module *module =
		program_module(run->program, RADDR(address));
	return module && module->object &&
	       object_function_signature(module->object, address - module->bias,
					 ret);
}

bool function_returns_void(const struct run *run, uint64_t address)
{
	struct object_signature signature;
	return function_signature_of(run, address, &signature) &&
	       signature.returns_void;
}

/*
 * Of a function that never returns, as it ends with exit(), the compiler may know
 * that: then the caller's code ends with the call.
 */
static bool function_call_is_final(struct run *run, const struct thread *thread)
{
	struct object_symbol caller;
	uint64_t return_to;
	struct err *err = memory_read_u64(run->tracee, regs_sp(&thread->regs),
					  &return_to);
	if (err) {
		err_ignore(err);
		return false;
	}
	const struct module *module =
		program_module(run->program, RADDR(return_to - 1));
	return module && module->object &&
	       object_symbol_at(module->object, return_to - 1 - module->bias,
				&caller) &&
	       caller.size &&
	       return_to - module->bias >= caller.value + caller.size;
}

/* At -O2 a runner may use the result register of a void function. */
struct err *function_skip_call(struct run *run, struct thread *thread,
			       uint64_t address)
{
	if (function_call_is_final(run, thread))
		return run_leaves(run, 0);
	if (function_returns_void(run, address))
		return calls_skip_void(run, thread);
	return calls_skip(run, thread, (uint64_t)run->session->discovery);
}
