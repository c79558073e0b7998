/* Numbers in instructions, read without running them. */
#include "tracee/arch_x86_64.h"

static void x86_operand_number(const cs_insn *insn, const cs_x86_op *op,
			       struct arch_number *ret, bool *ret_any)
{
	const cs_x86 *x86 = &insn->detail->x86;
	*ret_any = true;
	if (op->type == X86_OP_IMM) {
		bool branch =
			cs_insn_group(x86_disassembler(), insn,
				      CS_GRP_BRANCH_RELATIVE) ||
			cs_insn_group(x86_disassembler(), insn, CS_GRP_CALL);
		ret->kind = branch ? ARCH_NUMBER_ADDRESS : ARCH_NUMBER_PLAIN;
		ret->branch = branch;
		ret->value = (uint64_t)op->imm;
		ret->at = x86->encoding.imm_offset;
		ret->size = ret->at ? x86->encoding.imm_size : 0;
		return;
	}
	ret->value = (uint64_t)op->mem.disp;
	ret->at = x86->encoding.disp_offset;
	ret->size = ret->at ? x86->encoding.disp_size : 0;
	if (op->type != X86_OP_MEM || !ret->size)
		*ret_any = false;
	else if (op->mem.base == X86_REG_RIP) {
		ret->kind = ARCH_NUMBER_ADDRESS;
		ret->value += insn->address + insn->size;
		ret->extent = insn->id == X86_INS_LEA ? 0 : op->size;
	} else if (op->mem.segment == X86_REG_FS)
		ret->kind = ARCH_NUMBER_THREAD;
	else
		ret->kind = ARCH_NUMBER_PLAIN;
}

void arch_each_number(const uint8_t *bytes, size_t n, uint64_t address,
		      void (*visit)(void *data,
				    const struct arch_number *number),
		      void *data)
{
	csh disassembler = x86_disassembler();
	cs_insn *insn = cs_malloc(disassembler);
	uint64_t at = address;
	while (insn && n) {
		if (!cs_disasm_iter(disassembler, &bytes, &n, &at, insn)) {
			bytes++;
			n--;
			at++;
			continue;
		}
		const cs_x86 *x86 = &insn->detail->x86;
		for (uint8_t i = 0; i < x86->op_count; i++) {
			struct arch_number number = { .pc = insn->address };
			bool any;
			x86_operand_number(insn, &x86->operands[i], &number,
					   &any);
			number.at += insn->address - address;
			if (any)
				visit(data, &number);
		}
	}
	if (insn)
		cs_free(insn, 1);
}
