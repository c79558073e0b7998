#include "tracee/arch_x86_64.h"

#include <string.h>

#include <capstone/capstone.h>

const uint8_t arch_break[ARCH_BREAK_SIZE] = { 0xcc };
const uint8_t arch_syscall_stub[ARCH_SYSCALL_STUB_SIZE] = { 0x0f, 0x05, 0xcc };

#define ALWAYS 0xff
#define NO_REGISTER (-1)
/* Addresses in the code of arch_count(). */
#define COUNT_AT 3
#define CLEARED_AT 47

/* System V ABI, 3.2.3: rdi, rsi, rdx, rcx, r8, r9. */
static unsigned long long *regs_find_argument(struct regs *regs, unsigned index)
{
	switch (index) {
	case 0:
		return &regs->r.rdi;
	case 1:
		return &regs->r.rsi;
	case 2:
		return &regs->r.rdx;
	case 3:
		return &regs->r.rcx;
	case 4:
		return &regs->r.r8;
	case 5:
		return &regs->r.r9;
	default:
		BUG("argument %u is not in a register", index);
	}
}

uint64_t regs_arg(const struct regs *regs, unsigned index)
{
	struct regs copy = *regs;
	return *regs_find_argument(&copy, index);
}

void regs_set_arg(struct regs *regs, unsigned index, uint64_t value)
{
	*regs_find_argument(regs, index) = value;
}

uint64_t arch_unhide_pointer(uint64_t hidden, uint64_t guard)
{
	return (hidden >> 17 | hidden << 47) ^ guard;
}

void regs_preserved(const struct regs *regs, uint64_t out[ARCH_PRESERVED])
{
	const uint64_t values[ARCH_PRESERVED] = {
		regs->r.rbx, regs->r.rbp, regs->r.r12,
		regs->r.r13, regs->r.r14, regs->r.r15,
	};
	memcpy(out, values, sizeof(values));
}

long regs_syscall(const struct regs *regs)
{
	return (long)regs->r.orig_rax;
}

uint64_t regs_syscall_arg(const struct regs *regs, unsigned index)
{
	return index == 3 ? regs->r.r10 : regs_arg(regs, index);
}

void regs_set_syscall(struct regs *regs, long number, const uint64_t args[6])
{
	regs->r.rax = (unsigned long long)number;
	regs->r.orig_rax = (unsigned long long)-1;
	regs->r.rdi = args[0];
	regs->r.rsi = args[1];
	regs->r.rdx = args[2];
	regs->r.r10 = args[3];
	regs->r.r8 = args[4];
	regs->r.r9 = args[5];
}

/* Registers of addresses, in the numbering of struct arch_insn. */
static const struct {
	x86_reg reg;
	size_t offset;
} address_registers[] = {
	/* clang-format off */
	{ X86_REG_RAX, offsetof(struct user_regs_struct, rax) },
	{ X86_REG_RBX, offsetof(struct user_regs_struct, rbx) },
	{ X86_REG_RCX, offsetof(struct user_regs_struct, rcx) },
	{ X86_REG_RDX, offsetof(struct user_regs_struct, rdx) },
	{ X86_REG_RSI, offsetof(struct user_regs_struct, rsi) },
	{ X86_REG_RDI, offsetof(struct user_regs_struct, rdi) },
	{ X86_REG_RBP, offsetof(struct user_regs_struct, rbp) },
	{ X86_REG_RSP, offsetof(struct user_regs_struct, rsp) },
	{ X86_REG_R8,  offsetof(struct user_regs_struct, r8)  },
	{ X86_REG_R9,  offsetof(struct user_regs_struct, r9)  },
	{ X86_REG_R10, offsetof(struct user_regs_struct, r10) },
	{ X86_REG_R11, offsetof(struct user_regs_struct, r11) },
	{ X86_REG_R12, offsetof(struct user_regs_struct, r12) },
	{ X86_REG_R13, offsetof(struct user_regs_struct, r13) },
	{ X86_REG_R14, offsetof(struct user_regs_struct, r14) },
	{ X86_REG_R15, offsetof(struct user_regs_struct, r15) },
	{ X86_REG_RIP, offsetof(struct user_regs_struct, rip) },
	/* clang-format on */
};

int8_t x86_register_number(unsigned reg)
{
	for (size_t i = 0; i < ARRAY_SIZE(address_registers); i++) {
		if (address_registers[i].reg == reg)
			return (int8_t)i;
	}
	return NO_REGISTER;
}

uint64_t x86_register_value(const struct regs *regs, int8_t number)
{
	uint64_t value;
	memcpy(&value,
	       (const char *)&regs->r + address_registers[number].offset,
	       sizeof(value));
	return value;
}

csh x86_disassembler(void)
{
	static csh handle;
	if (!handle) {
		if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
			BUG("capstone does not know x86-64");
		cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	}
	return handle;
}

static bool in_group(const cs_insn *insn, unsigned group)
{
	return cs_insn_group(x86_disassembler(), insn, group);
}

/* The condition is the low half of the opcode: 7x, or 0f 8x. */
static bool condition_of(const cs_insn *insn, uint8_t *ret)
{
	const uint8_t *opcode = insn->detail->x86.opcode;
	if (opcode[0] == 0xe9 || opcode[0] == 0xeb) {
		*ret = ALWAYS;
		return true;
	}
	if ((opcode[0] & 0xf0) == 0x70) {
		*ret = opcode[0] & 0x0f;
		return true;
	}
	if (opcode[0] == 0x0f && (opcode[1] & 0xf0) == 0x80) {
		*ret = opcode[1] & 0x0f;
		return true;
	}
	return false;
}

static void decode_branch(const cs_insn *insn, struct arch_insn *ret)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *op = &x86->operands[0];

	ret->kind = ARCH_STEP;
	ret->call = in_group(insn, CS_GRP_CALL);
	ret->base = ret->index = NO_REGISTER;
	ret->condition = ALWAYS;
	if (x86->op_count != 1)
		return;
	if (op->type == X86_OP_IMM) {
		if (!ret->call && !condition_of(insn, &ret->condition))
			return;
		ret->value = op->imm;
		ret->kind = ARCH_BRANCH;
		return;
	}
	ret->indirect = true;
	if (op->type == X86_OP_REG) {
		ret->base = x86_register_number(op->reg);
		ret->kind = ret->base == NO_REGISTER ? ARCH_STEP : ARCH_BRANCH;
		return;
	}
	if (op->type != X86_OP_MEM || op->size != 8 ||
	    op->mem.segment != X86_REG_INVALID)
		return;
	ret->memory = true;
	ret->value = op->mem.disp;
	ret->scale = (uint8_t)op->mem.scale;
	ret->base = x86_register_number(op->mem.base);
	ret->index = x86_register_number(op->mem.index);
	if ((op->mem.base != X86_REG_INVALID && ret->base == NO_REGISTER) ||
	    (op->mem.index != X86_REG_INVALID && ret->index == NO_REGISTER))
		return;
	ret->kind = ARCH_BRANCH;
}

struct err *arch_decode(const uint8_t *bytes, size_t n, struct raddr pc,
			struct arch_insn *ret)
{
	struct arch_insn insn = { .kind = ARCH_SLOT };
	cs_insn *decoded = NULL;
	if (cs_disasm(x86_disassembler(), bytes, n, pc.v, 1, &decoded) != 1)
		return err_create(ERR_INTERNAL,
				  "no machine instruction at 0x%llx",
				  (unsigned long long)pc.v);

	insn.length = (uint8_t)decoded->size;
	memcpy(insn.bytes, decoded->bytes, insn.length);
	const cs_x86 *x86 = &decoded->detail->x86;
	if (in_group(decoded, CS_GRP_JUMP) || in_group(decoded, CS_GRP_CALL)) {
		decode_branch(decoded, &insn);
	} else if (in_group(decoded, CS_GRP_BRANCH_RELATIVE) ||
		   decoded->id == X86_INS_LOOP ||
		   decoded->id == X86_INS_LOOPE ||
		   decoded->id == X86_INS_LOOPNE ||
		   decoded->id == X86_INS_XBEGIN) {
		/* Not jumps to capstone, but they are. */
		insn.kind = ARCH_STEP;
	} else {
		for (uint8_t i = 0; i < x86->op_count; i++) {
			const cs_x86_op *op = &x86->operands[i];
			if (op->type != X86_OP_MEM ||
			    op->mem.base != X86_REG_RIP)
				continue;
			insn.relative_at = x86->encoding.disp_offset;
			if (!insn.relative_at || x86->encoding.disp_size != 4)
				insn.kind = ARCH_STEP;
		}
	}
	cs_free(decoded, 1);
	*ret = insn;
	return NULL;
}

static int64_t moved_displacement(const struct arch_insn *insn, struct raddr pc,
				  struct raddr slot)
{
	int32_t old;
	memcpy(&old, insn->bytes + insn->relative_at, sizeof(old));
	return (int64_t)(pc.v - slot.v) + old;
}

bool arch_slot_reaches(const struct arch_insn *insn, struct raddr pc,
		       struct raddr slot)
{
	if (insn->kind != ARCH_SLOT || !insn->relative_at)
		return true;
	int64_t moved = moved_displacement(insn, pc, slot);
	return moved >= INT32_MIN && moved <= INT32_MAX;
}

void arch_slot_write(const struct arch_insn *insn, struct raddr pc,
		     struct raddr slot, uint8_t out[ARCH_SLOT_SIZE])
{
	/* jmp *0(%rip), then the target: needs no register. */
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	uint64_t next = pc.v + insn->length;

	memset(out, arch_break[0], ARCH_SLOT_SIZE);
	memcpy(out, insn->bytes, insn->length);
	if (insn->relative_at) {
		int32_t moved = (int32_t)moved_displacement(insn, pc, slot);
		memcpy(out + insn->relative_at, &moved, sizeof(moved));
	}
	memcpy(out + insn->length, jump, sizeof(jump));
	memcpy(out + insn->length + sizeof(jump), &next, sizeof(next));
}

/* Intel SDM, volume 2, appendix B.1.4.7: tttn condition codes. */
static bool condition_holds(uint8_t condition, uint64_t flags)
{
	bool cf = flags & (1 << 0), pf = flags & (1 << 2),
	     zf = flags & (1 << 6);
	bool sf = flags & (1 << 7), of = flags & (1 << 11);
	bool holds;
	switch (condition >> 1) {
	case 0:
		holds = of;
		break;
	case 1:
		holds = cf;
		break;
	case 2:
		holds = zf;
		break;
	case 3:
		holds = cf || zf;
		break;
	case 4:
		holds = sf;
		break;
	case 5:
		holds = pf;
		break;
	case 6:
		holds = sf != of;
		break;
	default:
		holds = zf || sf != of;
		break;
	}
	return holds != (condition & 1);
}

struct raddr arch_branch_target(const struct arch_insn *insn, struct raddr pc,
				const struct regs *regs, bool *ret_load)
{
	*ret_load = false;
	if (insn->condition != ALWAYS &&
	    !condition_holds(insn->condition, regs->r.eflags))
		return raddr_add(pc, insn->length);
	if (!insn->indirect)
		return RADDR(insn->value);

	struct regs here = *regs;
	here.r.rip = pc.v + insn->length;
	uint64_t target = (uint64_t)insn->value;
	if (insn->base != NO_REGISTER)
		target += x86_register_value(&here, insn->base);
	if (insn->index != NO_REGISTER)
		target += x86_register_value(&here, insn->index) * insn->scale;
	*ret_load = insn->memory;
	return RADDR(target);
}

size_t arch_return(const struct arch_result *result, uint8_t out[ARCH_INSN_MAX])
{
	static const uint8_t moves[] = { 0xb8, 0xba }; /* mov $…,%eax, %edx */
	static const uint8_t clears[] = { 0xc0, 0xd2 }; /* of xor, likewise */
	size_t n = 0;
	for (unsigned i = 0; i < result->registers; i++) {
		if (result->values[i]) {
			out[n++] = moves[i];
			memcpy(out + n, &result->values[i], sizeof(uint32_t));
			n += sizeof(uint32_t);
		} else {
			out[n++] = 0x31; /* xor */
			out[n++] = clears[i];
		}
	}
	out[n++] = 0xc3; /* ret */
	return n;
}

/* ud2 (Intel SDM, volume 2B) */
size_t arch_undefined(uint8_t out[ARCH_INSN_MAX])
{
	out[0] = 0x0f;
	out[1] = 0x0b;
	return 2;
}

size_t arch_return_zero(uint8_t out[ARCH_INSN_MAX])
{
	return arch_return(&(struct arch_result){ .registers = 1 }, out);
}

size_t arch_return_cleared(uint8_t n, uint8_t out[ARCH_INSN_MAX])
{
	/* The caller gives the place in %rdi and gets it back in %rax. */
	const uint8_t code[] = {
		0x57,			      /* push %rdi */
		0x31, 0xc0,		      /* xor %eax,%eax */
		0xb9, n,    0x00, 0x00, 0x00, /* mov $n,%ecx */
		0xf3, 0xaa,		      /* rep stos %al,(%rdi) */
		0x58,			      /* pop %rax */
		0xc3,			      /* ret */
	};
	memcpy(out, code, sizeof(code));
	return sizeof(code);
}

void arch_note(struct raddr buffer, const struct arch_result *result,
	       uint8_t out[ARCH_NOTE_SIZE])
{
	static const uint8_t head[] = {
		0x50,	    /* push %rax */
		0x51,	    /* push %rcx */
		0x48, 0xb8, /* movabs $buffer,%rax */
	};
	static const uint8_t tail[] = {
		0x48, 0x8b, 0x08,	/* mov (%rax),%rcx */
		0x48, 0x3b, 0x48, 0x08, /* cmp 8(%rax),%rcx */
		0x73, 0x10,		/* jae past the entry: it is full */
		0x48, 0x83, 0x00, 0x10, /* addq $16,(%rax) */
		0x48, 0x8b, 0x44, 0x24, 0x10, /* mov 16(%rsp),%rax */
		0x48, 0x89, 0x01,	      /* mov %rax,(%rcx) */
		0x48, 0x89, 0x79, 0x08,	      /* mov %rdi,8(%rcx) */
		0x59,			      /* pop %rcx */
		0x58,			      /* pop %rax */
		0x48, 0x8d, 0x64, 0x24, 0x08, /* lea 8(%rsp),%rsp */
	};
	size_t n = 0;
	memset(out, arch_break[0], ARCH_NOTE_SIZE);
	memcpy(out, head, sizeof(head));
	n += sizeof(head);
	memcpy(out + n, &buffer.v, sizeof(buffer.v));
	n += sizeof(buffer.v);
	memcpy(out + n, tail, sizeof(tail));
	n += sizeof(tail);
	uint8_t code[ARCH_INSN_MAX];
	size_t size = arch_return(result, code);
	memcpy(out + n, code, size);
}

void arch_count(struct raddr count, struct raddr cleared,
		uint8_t out[ARCH_COUNT_SIZE])
{
	static const uint8_t code[] = {
		0x51, /* push %rcx */
		0x48, 0xb9, 0,	  0,	0,
		0,    0,    0,	  0,	0,    /* movabs $count,%rcx */
		0x48, 0x8b, 0x44, 0x24, 0x08, /* mov 8(%rsp),%rax */
		0x48, 0x2b, 0x01,	      /* sub (%rcx),%rax: from */
		0x48, 0x3b, 0x41, 0x08,	      /* cmp 8(%rcx),%rax: size */
		0x73, 0x09,		      /* jae to what sets @left */
		0x48, 0x83, 0x69, 0x10, 0x01, /* subq $1,16(%rcx): left */
		0x73, 0x0a,		      /* jae past what sets it */
		0x59,			      /* pop %rcx */
		0x90,			      /* nop: ARCH_COUNT_DUE */
		0x48, 0x8b, 0x41, 0x18,	      /* mov 24(%rcx),%rax: again */
		0x48, 0x89, 0x41, 0x10,	      /* mov %rax,16(%rcx): left */
		0x59,			      /* pop %rcx */
		0x31, 0xc0,		      /* xor %eax,%eax */
		0x48, 0xa3, 0,	  0,	0,
		0,    0,    0,	  0,	0, /* movabs %rax,cleared */
		0xc3,			   /* ret */
	};
	memset(out, arch_break[0], ARCH_COUNT_SIZE);
	memcpy(out, code, sizeof(code));
	memcpy(out + COUNT_AT, &count.v, sizeof(count.v));
	memcpy(out + CLEARED_AT, &cleared.v, sizeof(cleared.v));
}

bool arch_call(struct raddr at, struct raddr target,
	       uint8_t out[ARCH_CALL_SIZE])
{
	int64_t distance = (int64_t)(target.v - (at.v + ARCH_CALL_SIZE));
	int32_t relative = (int32_t)distance;
	if (relative != distance)
		return false;
	out[0] = 0xe8;
	memcpy(out + 1, &relative, sizeof(relative));
	return true;
}

bool arch_jump(struct raddr at, struct raddr target,
	       uint8_t out[ARCH_CALL_SIZE])
{
	if (!arch_call(at, target, out))
		return false;
	out[0] = 0xe9;
	return true;
}

void arch_jump_far(struct raddr target, uint8_t out[ARCH_FAR_JUMP_SIZE])
{
	/* movabs $target, %rax; jmp *%rax */
	static const uint8_t load[] = { 0x48, 0xb8 }, jump[] = { 0xff, 0xe0 };
	memcpy(out, load, sizeof(load));
	memcpy(out + sizeof(load), &target.v, sizeof(target.v));
	memcpy(out + sizeof(load) + sizeof(target.v), jump, sizeof(jump));
}
