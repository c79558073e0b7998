#include "native/unwind_thread.h"

void unwind_thread_take(const struct thread *thread,
			struct unwind_thread *walked)
{
	walked->registers[UNWIND_RBX] = thread->regs.r.rbx;
	walked->registers[UNWIND_RBP] = thread->regs.r.rbp;
	walked->registers[UNWIND_R12] = thread->regs.r.r12;
	walked->registers[UNWIND_R13] = thread->regs.r.r13;
	walked->registers[UNWIND_R14] = thread->regs.r.r14;
	walked->registers[UNWIND_R15] = thread->regs.r.r15;
	walked->registers[UNWIND_RSP] = regs_sp(&thread->regs).v;
	walked->registers[UNWIND_RIP] = regs_pc(&thread->regs).v;
}
