#include "native/agent_call.h"

#include "base/err.h"
#include "native/chooser.h"
#include "native/session.h"
#include "tracee/memory.h"
#include "wire/choices.h"

#define KEPT_MAGIC UINT64_C(0x7065656b73726573)
#define RED_ZONE 128

struct call_kept {
	uint64_t magic;
	struct agent_call call;
	uint64_t records; /* before the choice */
	struct user_regs_struct regs;
};

pid_t agent_call_thread(const struct thread *thread)
{
	return thread->tid == tracee_pid(thread->tracee) ? 0 : thread->tid;
}

struct err *agent_call_begin(struct run *run, struct thread *thread,
			     uint64_t function,
			     const uint64_t arguments[AGENT_CALL_ARGUMENTS],
			     const struct agent_call *call)
{
	const struct call_kept kept = {
		.magic = KEPT_MAGIC,
		.call = *call,
		.records = chooser_block(run->session->chooser)->records_n,
		.regs = thread->regs.r,
	};
	uint64_t sp = regs_sp(&thread->regs).v - RED_ZONE - sizeof(kept);
	uint64_t back = regs_pc(&thread->regs).v;
	sp &= ~(uint64_t)63;
	TRY(memory_write(thread->tracee, RADDR(sp), &kept, sizeof(kept)));
	TRY(memory_write(thread->tracee, RADDR(sp - 8), &back, sizeof(back)));
	regs_set_sp(&thread->regs, RADDR(sp - 8));
	regs_set_pc(&thread->regs, RADDR(function));
	regs_set_result(&thread->regs, 0);
	for (unsigned i = 0; i < AGENT_CALL_ARGUMENTS; i++)
		regs_set_arg(&thread->regs, i, arguments[i]);
	thread_dirty(thread);
	return NULL;
}

/* Hostile programs only hurt themselves. */
static bool find_kept(const struct thread *thread, struct call_kept *ret)
{
	return memory_read_some(thread->tracee, regs_sp(&thread->regs), ret,
				sizeof(*ret)) == sizeof(*ret) &&
	       ret->magic == KEPT_MAGIC &&
	       ret->regs.rip == regs_pc(&thread->regs).v;
}

/*
 * The agent's record of this choice has the stack of our call of it. The real one
 * is that of the program's caller, within the call.
 */
static void correct_record(const struct thread *thread,
			   struct wire_choices *block, uint64_t before,
			   bool caller)
{
	uint64_t after = block->records_n;
	if (!block->detail || after == before || before >= WIRE_CHOICE_RECORDS)
		return;
	struct wire_choice *record = &block->records[before];
	const struct user_regs_struct *from = &thread->regs.r;
	uint64_t *to = record->registers, pc = from->rip, sp = from->rsp;
	if (caller) {
		if (memory_read_some(thread->tracee, RADDR(sp), &pc,
				     sizeof(pc)) != sizeof(pc))
			return;
		sp += sizeof(pc);
	}
	to[WIRE_RIP] = pc - 1;
	to[WIRE_RSP] = sp;
	to[WIRE_RBP] = from->rbp;
	to[WIRE_RBX] = from->rbx;
	to[WIRE_R12] = from->r12;
	to[WIRE_R13] = from->r13;
	to[WIRE_R14] = from->r14;
	to[WIRE_R15] = from->r15;
	record->stack_n =
		memory_read_some(thread->tracee, RADDR(sp), record->stack,
				 sizeof(record->stack));
}

bool agent_call_end(struct run *run, struct thread *thread, bool caller,
		    struct agent_call *ret)
{
	struct call_kept kept;
	uint64_t none = 0;
	if (!find_kept(thread, &kept))
		return false;
	*ret = kept.call;
	ret->result = regs_result(&thread->regs);
	err_ignore(memory_write(thread->tracee, regs_sp(&thread->regs), &none,
				sizeof(none)));
	thread->regs.r = kept.regs;
	thread_dirty(thread);
	correct_record(thread, chooser_block(run->session->chooser),
		       kept.records, caller);
	return true;
}
