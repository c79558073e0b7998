/* What code refers to, read without running it. */
#include "tracee/arch_x86_64.h"

static void x86_operand_reference(const cs_insn *insn, const cs_x86_op *op,
				  struct raddr thread_pointer,
				  arch_visit *visit, void *data)
{
	const x86_op_mem *mem = &op->mem;
	uint64_t disp = (uint64_t)mem->disp;
	bool writes = op->access & CS_AC_WRITE;
	if (op->type == X86_OP_IMM) {
		visit(data, RADDR(op->imm), false);
		return;
	}
	if (op->type != X86_OP_MEM)
		return;
	if (mem->segment == X86_REG_FS && mem->base == X86_REG_INVALID)
		visit(data, raddr_add(thread_pointer, disp), writes);
	else if (mem->base == X86_REG_RIP)
		visit(data, RADDR(insn->address + insn->size + disp), writes);
	else if (disp) /* a table of a program at a fixed place */
		visit(data, RADDR(disp), writes);
}

void arch_references(const uint8_t *bytes, size_t n, struct raddr address,
		     struct raddr thread_pointer, arch_visit *visit, void *data)
{
	csh disassembler = x86_disassembler();
	cs_insn *insn = cs_malloc(disassembler);
	uint64_t at = address.v;
	while (insn && n) {
		if (!cs_disasm_iter(disassembler, &bytes, &n, &at, insn)) {
			bytes++;
			n--;
			at++;
			continue;
		}
		const cs_x86 *x86 = &insn->detail->x86;
		for (uint8_t i = 0; i < x86->op_count; i++)
			x86_operand_reference(insn, &x86->operands[i],
					      thread_pointer, visit, data);
	}
	if (insn)
		cs_free(insn, 1);
}
