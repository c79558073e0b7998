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

void function_result(const struct run *run, uint64_t address,
		     struct arch_result *ret)
{
	uint32_t value = (uint32_t)run->session->discovery;
	struct object_signature signature = {};
	function_signature_of(run, address, &signature);
	*ret = (struct arch_result){
		.registers = signature.returns_void ? 0 : 1,
		.values = { value },
	};
	if (!signature.returns_pair)
		return;
	ret->registers = 2;
	for (unsigned i = 0; i < 2; i++)
		ret->values[i] = signature.pair_pointers[i] ? 0 : value;
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
	struct arch_result result;
	function_result(run, address, &result);
	TRY(calls_skip_void(run, thread));
	regs_set_results(&thread->regs, &result);
	return NULL;
}
