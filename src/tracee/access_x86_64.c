/*
 * What an instruction did to memory, determined after it was executed; and the
 * debug registers that report it.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#include <capstone/capstone.h>

#include "base/macro.h"
#include "tracee/arch_x86_64.h"

enum { READS = 1 << 0, WRITES = 1 << 1 };

/* Longest instruction (Intel SDM, volume 2, 2.3.11). */
#define INSN_MAX ((size_t)15)
/*
 * Bytes that a repeated instruction has passed before it is reported (fast
 * strings): in most cases, and on processors that look up only after many
 * rounds.
 */
#define STRING_SPAN 64
#define STRING_SPAN_LONG 4096

/* Intel SDM, volume 3, 17.2.4: enabled here, reads and writes, length. */
uint64_t arch_watch_control(unsigned slot, unsigned n)
{
	uint64_t length = n == 8 ? 2 : n - 1;
	return 1ULL << (2 * slot) | (length << 2 | 3) << (16 + 4 * slot);
}

size_t arch_watch_address_at(unsigned slot)
{
	return offsetof(struct user, u_debugreg) + slot * sizeof(uint64_t);
}

size_t arch_watch_status_at(void)
{
	return offsetof(struct user, u_debugreg) + 6 * sizeof(uint64_t);
}

size_t arch_watch_control_at(void)
{
	return offsetof(struct user, u_debugreg) + 7 * sizeof(uint64_t);
}

static bool begins_with_any(const char *name, const char *const *words,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(name, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

/* They have an operand in memory and leave it alone. */
static bool touches_nothing(const cs_insn *insn)
{
	static const char *const words[] = { "lea", "nop", "prefetch", "clfl",
					     "clwb" };
	return begins_with_any(insn->mnemonic, words, ARRAY_SIZE(words));
}

/*
 * capstone knows what is read and written, but is wrong (4.0) about most
 * stores of vector and floating-point registers. Without prefixes in its name.
 */
static unsigned destination_access(const char *name)
{
	static const char *const stores[] = {
		"mov",	     "vmov",	  "pextr",     "vpextr",     "extract",
		"vextract",  "vpmov",	  "vcompress", "vpcompress", "vmaskmov",
		"vpmaskmov", "vcvtps2ph", "fst",       "fist",	     "fbstp",
		"fnst",	     "fnsave",	  "fxsave",    "xsave",	     "stmxcsr",
		"vstmxcsr",  "set",	  "pop",       "stos",	     "sgdt",
		"sidt",	     "sldt",	  "smsw",      "str",	     "vscatter",
		"vpscatter",
	};
	static const char *const loads[] = { "cmps", "test", "push", "call",
					     "jmp" };
	if (!strncmp(name, "cmpxchg", 7))
		return READS | WRITES;
	if (!strcmp(name, "cmp") || !strcmp(name, "bt") ||
	    begins_with_any(name, loads, ARRAY_SIZE(loads)))
		return READS;
	if (begins_with_any(name, stores, ARRAY_SIZE(stores)))
		return WRITES;
	return 0;
}

static unsigned operand_access(const cs_insn *insn, uint8_t index)
{
	const cs_x86_op *op = &insn->detail->x86.operands[index];
	const char *name = strrchr(insn->mnemonic, ' ');
	unsigned access =
		index ? 0
		      : destination_access(name ? name + 1 : insn->mnemonic);
	if (access)
		return access;
	return (op->access & CS_AC_READ ? READS : 0) |
	       (op->access & CS_AC_WRITE ? WRITES : 0);
}

static bool is_string(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_MOVSB:
	case X86_INS_MOVSW:
	case X86_INS_MOVSD: /* also a move of a double */
	case X86_INS_MOVSQ:
	case X86_INS_STOSB:
	case X86_INS_STOSW:
	case X86_INS_STOSD:
	case X86_INS_STOSQ:
	case X86_INS_LODSB:
	case X86_INS_LODSW:
	case X86_INS_LODSD:
	case X86_INS_LODSQ:
	case X86_INS_CMPSB:
	case X86_INS_CMPSW:
	case X86_INS_CMPSD:
	case X86_INS_CMPSQ:
	case X86_INS_SCASB:
	case X86_INS_SCASW:
	case X86_INS_SCASD:
	case X86_INS_SCASQ: {
		/* a4 to a7, aa to af: their opcodes have one byte. */
		uint8_t opcode = insn->detail->x86.opcode[0];
		return opcode >= 0xa4 && opcode <= 0xaf;
	}
	default:
		return false;
	}
}

static bool is_repeated(const cs_insn *insn)
{
	uint8_t prefix = insn->detail->x86.prefix[0];
	return prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE;
}

/* Which of the @n bytes at @place are among the @size bytes at @start? */
static uint8_t bytes_in(uint64_t start, uint64_t size, struct raddr place,
			size_t n)
{
	uint8_t bytes = 0;
	for (size_t i = 0; i < n; i++) {
		if (place.v + i - start < size)
			bytes |= (uint8_t)(1U << i);
	}
	return bytes;
}

/* String instructions have moved their pointers on by the time we look. */
static uint8_t string_bytes(const cs_insn *insn, const cs_x86_op *op,
			    const struct regs *regs, struct raddr place,
			    size_t n, uint64_t span)
{
	int8_t number = x86_register_number(op->mem.base);
	if (number < 0)
		return 0;
	uint64_t pointer = x86_register_value(regs, number);
	span = is_repeated(insn) ? MAX(op->size, span) : op->size;
	bool down = regs->r.eflags & (1 << 10);
	return bytes_in(down ? pointer + op->size : pointer - span, span, place,
			n);
}

/* The whole register that @reg is part of, as a number; -1: none of those. */
static int whole_register(unsigned reg)
{
	static const char *const names[][5] = {
		{ "rax", "eax", "ax", "al", "ah" },
		{ "rbx", "ebx", "bx", "bl", "bh" },
		{ "rcx", "ecx", "cx", "cl", "ch" },
		{ "rdx", "edx", "dx", "dl", "dh" },
		{ "rsi", "esi", "si", "sil", "" },
		{ "rdi", "edi", "di", "dil", "" },
		{ "rbp", "ebp", "bp", "bpl", "" },
		{ "rsp", "esp", "sp", "spl", "" },
	};
	const char *name = cs_reg_name(x86_disassembler(), reg);
	if (!name)
		return -1;
	if (name[0] == 'r' && name[1] >= '1' && name[1] <= '9')
		return atoi(name + 1); /* r8 to r15, r8d, … */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(names[i]); j++) {
			if (!strcmp(name, names[i][j]))
				return (int)i;
		}
	}
	return -1;
}

static bool changes_register(const cs_insn *insn, unsigned reg)
{
	cs_regs read, written;
	uint8_t n_read, n_written;
	if (cs_regs_access(x86_disassembler(), insn, read, &n_read, written,
			   &n_written) != CS_ERR_OK)
		return true;
	int whole = whole_register(reg);
	for (uint8_t i = 0; i < n_written; i++) {
		if (whole >= 0 && whole_register(written[i]) == whole)
			return true;
	}
	return false;
}

enum access_match { NO_MATCH, PERHAPS, MATCH };

/* Does that operand overlap the place, as far as the registers still show? */
static enum access_match operand_matches(const cs_insn *insn,
					 const cs_x86_op *op,
					 const struct regs *regs,
					 struct raddr place, size_t n,
					 uint64_t span, uint8_t *ret_bytes)
{
	if (is_string(insn)) {
		*ret_bytes = string_bytes(insn, op, regs, place, n, span);
		return *ret_bytes ? MATCH : NO_MATCH;
	}
	uint64_t address = (uint64_t)op->mem.disp;
	const unsigned used[2] = { op->mem.base, op->mem.index };
	const uint64_t scale[2] = { 1, (uint64_t)op->mem.scale };
	for (int i = 0; i < 2; i++) {
		if (used[i] == X86_REG_INVALID)
			continue;
		if (used[i] == X86_REG_RIP) {
			address += insn->address + insn->size;
			continue;
		}
		int8_t number = x86_register_number(used[i]);
		if (number < 0 || changes_register(insn, used[i])) {
			*ret_bytes = (uint8_t)((1U << n) - 1);
			return PERHAPS;
		}
		address += x86_register_value(regs, number) * scale[i];
	}
	if (op->mem.segment == X86_REG_FS)
		address += regs->r.fs_base;
	else if (op->mem.segment == X86_REG_GS)
		address += regs->r.gs_base;
	/* Sizes of large operands are not always known. */
	*ret_bytes = bytes_in(address, MAX(op->size, 1), place, n);
	return *ret_bytes ? MATCH : NO_MATCH;
}

/*
 * What the instruction did to the place, if it was this instruction. @span: how
 * far back it counts, if it is repeated.
 */
static enum access_match judge_access(const cs_insn *insn,
				      const struct regs *regs,
				      struct raddr place, size_t n,
				      uint64_t span, struct arch_access *ret)
{
	enum access_match best = NO_MATCH;
	const cs_x86 *x86 = &insn->detail->x86;
	*ret = (struct arch_access){};
	if (touches_nothing(insn))
		return NO_MATCH;
	for (uint8_t i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM)
			continue;
		uint8_t bytes;
		enum access_match match = operand_matches(
			insn, &x86->operands[i], regs, place, n, span, &bytes);
		if (match == NO_MATCH || match < best)
			continue;
		if (match > best)
			*ret = (struct arch_access){};
		best = match;
		unsigned access = operand_access(insn, i);
		if (access & READS)
			ret->read |= bytes;
		if (access & WRITES)
			ret->written |= bytes;
	}
	return ret->read || ret->written ? best : NO_MATCH;
}

static bool decode_at(const struct arch_code *code, size_t at, cs_insn *insn)
{
	const uint8_t *bytes = code->bytes + at;
	size_t n = code->n - at;
	uint64_t address = code->pc.v - code->before + at;
	return cs_disasm_iter(x86_disassembler(), &bytes, &n, &address, insn);
}

/* How long the instruction at each place in front of the program counter is. */
struct insn_lengths {
	uint8_t at[ARCH_CODE_BEFORE]; /* 0: not known yet */
};
#define NO_INSN 0xff

static uint8_t length_at(const struct arch_code *code, size_t at, cs_insn *insn,
			 struct insn_lengths *lengths)
{
	if (!lengths->at[at])
		lengths->at[at] = decode_at(code, at, insn)
					  ? (uint8_t)insn->size
					  : NO_INSN;
	return lengths->at[at];
}

/*
 * From how many places further up does decoding arrive at an instruction of
 * @length bytes in front of the program counter? Wrong beginnings fall in with
 * the right ones after a few instructions.
 */
static unsigned count_decoding_votes(const struct arch_code *code,
				     size_t length, cs_insn *insn,
				     struct insn_lengths *lengths)
{
	unsigned sum = 0;
	size_t target = code->before - length;
	for (size_t start = 0; start <= INSN_MAX && start < target; start++) {
		size_t at = start;
		while (at < target) {
			uint8_t n = length_at(code, at, insn, lengths);
			at += n;
			if (n == NO_INSN)
				break;
		}
		sum += at == target;
	}
	return sum;
}

struct access_verdict {
	enum access_match match;
	struct arch_access access;
	size_t length;
};

/* The instruction that ends at the program counter. */
static struct access_verdict
judge_instruction_before(const struct arch_code *code, const struct regs *regs,
			 struct raddr place, size_t n, bool calls,
			 cs_insn *insn)
{
	struct access_verdict best = {};
	struct insn_lengths lengths = {};
	size_t longest = MIN(code->before, INSN_MAX);
	BUG_ON(code->before > ARCH_CODE_BEFORE);
	for (size_t length = 1; length <= longest; length++) {
		if ((code->exact && length != code->exact) ||
		    !decode_at(code, code->before - length, insn) ||
		    insn->size != length ||
		    calls != cs_insn_group(x86_disassembler(), insn,
					   CS_GRP_CALL))
			continue;
		struct access_verdict other = { .length = length };
		other.match = judge_access(insn, regs, place, n, STRING_SPAN,
					   &other.access);
		if (other.match == NO_MATCH || other.match < best.match)
			continue;
		/* A prefix more or less makes a load longer, no more. */
		bool same = !other.access.read == !best.access.read &&
			    other.access.written == best.access.written;
		if (other.match == best.match && !same &&
		    count_decoding_votes(code, length, insn, &lengths) <
			    count_decoding_votes(code, best.length, insn,
						 &lengths))
			continue;
		best = other;
	}
	return best;
}

/*
 * Between two rounds the program counter is at the repeated instruction itself.
 */
static enum access_match judge_repeated(const struct arch_code *code,
					const struct regs *regs,
					struct raddr place, size_t n,
					uint64_t span, cs_insn *insn,
					struct arch_access *ret)
{
	if (code->n <= code->before || !decode_at(code, code->before, insn) ||
	    !is_string(insn) || !is_repeated(insn))
		return NO_MATCH;
	return judge_access(insn, regs, place, n, span, ret);
}

bool arch_access(const struct arch_code *code, const struct arch_code *caller,
		 const struct regs *regs, struct raddr place, size_t n,
		 struct arch_access *ret)
{
	cs_insn *insn = cs_malloc(x86_disassembler());
	if (!insn)
		return false;
	struct access_verdict verdict = {};
	verdict.match = judge_repeated(code, regs, place, n, STRING_SPAN, insn,
				       &verdict.access);
	if (verdict.match != MATCH)
		verdict = judge_instruction_before(code, regs, place, n, false,
						   insn);
	if (verdict.match != MATCH && caller) {
		struct access_verdict call = judge_instruction_before(
			caller, regs, place, n, true, insn);
		if (call.match == MATCH)
			verdict = call;
	}
	if (verdict.match == NO_MATCH)
		verdict.match =
			judge_repeated(code, regs, place, n, STRING_SPAN_LONG,
				       insn, &verdict.access);
	cs_free(insn, 1);
	if (verdict.match != NO_MATCH)
		*ret = verdict.access;
	return verdict.match != NO_MATCH;
}

size_t arch_call_before(const struct arch_code *code)
{
	cs_insn *insn = cs_malloc(x86_disassembler());
	if (!insn)
		return 0;
	struct insn_lengths lengths = {};
	size_t best = 0, longest = MIN(code->before, INSN_MAX);
	unsigned best_votes = 0;
	BUG_ON(code->before > ARCH_CODE_BEFORE);
	for (size_t length = 2; length <= longest; length++) {
		if (!decode_at(code, code->before - length, insn) ||
		    insn->size != length ||
		    !cs_insn_group(x86_disassembler(), insn, CS_GRP_CALL))
			continue;
		unsigned votes =
			count_decoding_votes(code, length, insn, &lengths);
		if (votes > best_votes) {
			best = length;
			best_votes = votes;
		}
	}
	cs_free(insn, 1);
	return best;
}

/*
 * Does it always jump out of the @n bytes at @at? A conditional jump leads to a
 * part of the same function that lies elsewhere.
 */
static bool jumps_out(const cs_insn *insn, size_t n, struct raddr at)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];
	if (insn->id != X86_INS_JMP)
		return false;
	return op->type != X86_OP_IMM || (uint64_t)op->imm < at.v ||
	       (uint64_t)op->imm >= at.v + n;
}

bool arch_returns(const uint8_t *bytes, size_t n, struct raddr at)
{
	/* Most end with the usual return instruction. */
	if (n && bytes[n - 1] == 0xc3)
		return true;
	cs_insn *insn = cs_malloc(x86_disassembler());
	uint64_t address = at.v;
	size_t left = n;
	bool returns = !insn;
	while (!returns && left) {
		if (!cs_disasm_iter(x86_disassembler(), &bytes, &left, &address,
				    insn)) {
			returns = true; /* not understood */
			break;
		}
		returns = cs_insn_group(x86_disassembler(), insn, CS_GRP_RET) ||
			  jumps_out(insn, n, at);
	}
	if (insn)
		cs_free(insn, 1);
	return returns;
}

#define ARGUMENT_REGISTERS 6
#define ALL_ARGUMENTS ((1U << ARGUMENT_REGISTERS) - 1)

/* Which of them, as bits, are among these registers. */
static unsigned argument_bits(const uint16_t *list, size_t n)
{
	static const unsigned registers[ARGUMENT_REGISTERS] = {
		X86_REG_RDI, X86_REG_RSI, X86_REG_RDX,
		X86_REG_RCX, X86_REG_R8,  X86_REG_R9,
	};
	unsigned bits = 0;
	for (size_t i = 0; i < n; i++) {
		int whole = whole_register(list[i]);
		for (unsigned j = 0; whole >= 0 && j < ARGUMENT_REGISTERS; j++)
			bits |= (unsigned)(whole_register(registers[j]) ==
					   whole)
				<< j;
	}
	return bits;
}

/* "xor edi, edi" depends on nothing. */
static bool clears_register(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	return (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB) &&
	       x86->op_count == 2 && x86->operands[0].type == X86_OP_REG &&
	       x86->operands[1].type == X86_OP_REG &&
	       x86->operands[0].reg == x86->operands[1].reg;
}

unsigned arch_arguments(const uint8_t *bytes, size_t n, struct raddr at)
{
	cs_insn *insn = cs_malloc(x86_disassembler());
	uint64_t address = at.v;
	unsigned arguments = 0, written = 0;
	while (insn && n && written != ALL_ARGUMENTS &&
	       cs_disasm_iter(x86_disassembler(), &bytes, &n, &address, insn)) {
		cs_regs from, to;
		uint8_t n_from = 0, n_to = 0;
		if (cs_insn_group(x86_disassembler(), insn, CS_GRP_CALL))
			break; /* they hold others' by then */
		if (cs_regs_access(x86_disassembler(), insn, from, &n_from, to,
				   &n_to) != CS_ERR_OK)
			continue;
		if (!clears_register(insn))
			arguments |= argument_bits(from, n_from) & ~written;
		written |= argument_bits(to, n_to);
	}
	if (insn)
		cs_free(insn, 1);
	return arguments;
}
