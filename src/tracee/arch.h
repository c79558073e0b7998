/*
 * All that depends on the processor: registers by their role, and one machine
 * instruction at a breakpoint. Another processor is another arch_*.c.
 *
 * An instruction under a breakpoint is never stepped over in place where that
 * can be avoided: another thread could run past the breakpoint in the meantime,
 * and a step costs a second stop. Instead it is
 *
 *   - executed elsewhere (ARCH_SLOT): copied into a slot of memory of our own
 *     in the tested process, followed by a jump to what comes after it; or
 *   - carried out by the controller (ARCH_BRANCH): jumps and calls, whose
 *     meaning depends on where they are; or
 *   - stepped with all other threads stopped (ARCH_STEP): the few that are
 *     neither, such as loop and jrcxz.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/err.h"
#include "tracee/raddr.h"

struct regs {
	struct user_regs_struct r;
};

static inline struct raddr regs_pc(const struct regs *regs)
{
	return RADDR(regs->r.rip);
}
static inline void regs_set_pc(struct regs *regs, struct raddr pc)
{
	regs->r.rip = pc.v;
	regs->r.orig_rax =
		(unsigned long long)-1; /* no system call to restart */
}
static inline struct raddr regs_sp(const struct regs *regs)
{
	return RADDR(regs->r.rsp);
}
static inline void regs_set_sp(struct regs *regs, struct raddr sp)
{
	regs->r.rsp = sp.v;
}
static inline uint64_t regs_result(const struct regs *regs)
{
	return regs->r.rax;
}
static inline void regs_set_result(struct regs *regs, uint64_t value)
{
	regs->r.rax = value;
}
/* The second half of a struct. */
static inline uint64_t regs_second_result(const struct regs *regs)
{
	return regs->r.rdx;
}
/* What a function returns, in so many registers; the others stay. */
struct arch_result {
	unsigned registers; /* 0, 1 or, of a struct, 2 */
	uint32_t values[2];
};
static inline void regs_set_results(struct regs *regs,
				    const struct arch_result *result)
{
	if (result->registers)
		regs->r.rax = result->values[0];
	if (result->registers > 1)
		regs->r.rdx = result->values[1];
}
static inline struct raddr regs_thread_pointer(const struct regs *regs)
{
	return RADDR(regs->r.fs_base);
}

/* Integer and pointer arguments of a function at its entry, the first six. */
uint64_t regs_arg(const struct regs *regs, unsigned index);
void regs_set_arg(struct regs *regs, unsigned index, uint64_t value);

/*
 * Where longjmp() sets the stack pointer: the word of its buffer, and how glibc
 * hides it (sysdeps/unix/sysv/linux/x86_64/pointer_guard.h) with the guard in
 * the thread's control block.
 */
#define ARCH_JUMP_SP_AT 48
#define ARCH_POINTER_GUARD_AT 0x30
uint64_t arch_unhide_pointer(uint64_t hidden, uint64_t guard);

/* Registers that a called function gives back as they were. */
#define ARCH_PRESERVED 6
void regs_preserved(const struct regs *regs, uint64_t out[ARCH_PRESERVED]);

/* At the return from a system call: its number and arguments. */
long regs_syscall(const struct regs *regs);
uint64_t regs_syscall_arg(const struct regs *regs, unsigned index);
void regs_set_syscall(struct regs *regs, long number, const uint64_t args[6]);

enum arch_kind { ARCH_SLOT, ARCH_BRANCH, ARCH_STEP };

#define ARCH_INSN_MAX 16
#define ARCH_SLOT_SIZE 32
#define ARCH_BREAK_SIZE 1
extern const uint8_t arch_break[ARCH_BREAK_SIZE];

/* Code at the beginning of our memory: "system call; break". */
#define ARCH_SYSCALL_STUB_SIZE 3
extern const uint8_t arch_syscall_stub[ARCH_SYSCALL_STUB_SIZE];
#define ARCH_SYSCALL_INSN_SIZE 2

struct arch_insn {
	enum arch_kind kind;
	uint8_t length;
	uint8_t bytes[ARCH_INSN_MAX];
	/* ARCH_SLOT: displacement to correct when it is moved; 0: none */
	uint8_t relative_at;
	/* ARCH_BRANCH */
	uint8_t condition; /* as in the opcode; 0xff: always */
	bool call;
	bool indirect;
	bool memory; /* target read from memory */
	int8_t base, index;
	uint8_t scale;
	int64_t value; /* displacement, or the target itself */
};

/*
 * Understands the instruction at @pc, of which @n bytes are at hand. Fails
 * where the bytes are no instruction.
 */
struct err *arch_decode(const uint8_t *bytes, size_t n, struct raddr pc,
			struct arch_insn *ret) _must_check_;

/* Is the slot within reach of what the instruction refers to? */
bool arch_slot_reaches(const struct arch_insn *insn, struct raddr pc,
		       struct raddr slot);
/* Fills in the slot: the instruction, then a jump past @pc. */
void arch_slot_write(const struct arch_insn *insn, struct raddr pc,
		     struct raddr slot, uint8_t out[ARCH_SLOT_SIZE]);

/*
 * ARCH_BRANCH: where it goes from @pc. Conditions are looked up in @regs;
 * *@ret_load is set where the target has to be read from memory first.
 */
struct raddr arch_branch_target(const struct arch_insn *insn, struct raddr pc,
				const struct regs *regs, bool *ret_load);

/*
 * Calls @visit with each address that an instruction of the @n bytes at @address
 * names by itself: functions that it calls or whose address it takes, variables,
 * also thread-local ones of the thread with that pointer. @writes: it is
 * something in memory that the instruction writes.
 */
typedef void arch_visit(void *data, struct raddr to, bool writes);
void arch_references(const uint8_t *bytes, size_t n, struct raddr address,
		     struct raddr thread_pointer, arch_visit *visit,
		     void *data);

/*
 * A number that stands in an instruction and may be an address, with the bytes of
 * the instruction that say so: without them code is the same wherever it lies.
 */
enum arch_number_kind {
	ARCH_NUMBER_ADDRESS, /* relative to the instruction: of code or data */
	ARCH_NUMBER_THREAD,  /* relative to the thread pointer */
	ARCH_NUMBER_PLAIN,   /* a value, or an address in a program that is
				at a fixed place */
};
struct arch_number {
	enum arch_number_kind kind;
	uint64_t value; /* the address, if it is one */
	uint64_t pc;	/* of the instruction */
	size_t at;	/* first of its bytes, in the code */
	uint8_t size;	/* how many; 0: they are not known */
	bool branch;	/* it is called or jumped to */
	uint8_t extent; /* bytes that are read or written there; 0: unknown */
};
/* Those of the @n bytes at @address. */
void arch_each_number(const uint8_t *bytes, size_t n, uint64_t address,
		      void (*visit)(void *data,
				    const struct arch_number *number),
		      void *data);

/*
 * What the instruction that was just executed did to the @n bytes at @place, at
 * most 8; false where it cannot be determined. Instructions cannot be decoded
 * backwards reliably: of those that could end right before the program counter,
 * the one that refers to @place counts. @caller has the code before the return
 * address on top of the stack, for calls through @place; it may be NULL.
 */
struct arch_access {
	uint8_t read, written; /* a bit a byte of the place */
};
#define ARCH_CODE_BEFORE 64
struct arch_code {
	const uint8_t *bytes;
	size_t n;
	size_t before; /* how many of them are before @pc */
	struct raddr pc;
	uint8_t exact; /* how long the instruction was; 0: not known */
};
bool arch_access(const struct arch_code *code, const struct arch_code *caller,
		 const struct regs *regs, struct raddr place, size_t n,
		 struct arch_access *ret);
/*
 * How long the call instruction is that ends at @code->pc, a return address; 0:
 * there is none, or it cannot be determined. Decoding from places further up
 * decides between several.
 */
size_t arch_call_before(const struct arch_code *code);
/*
 * Can a function return whose code these @n bytes at @at are? Not if no
 * instruction returns, or jumps elsewhere, where another function may.
 */
bool arch_returns(const uint8_t *bytes, size_t n, struct raddr at);

/*
 * Which registers for arguments the function reads whose code these are, before
 * it writes them: a bit each, the first in the lowest. Code is looked at from its
 * beginning to its end, jumps apart.
 */
unsigned arch_arguments(const uint8_t *bytes, size_t n, struct raddr at);

/*
 * The debug registers of a thread: @slot watches @n bytes; control words of
 * several are combined by or.
 */
#define ARCH_WATCHES 4
uint64_t arch_watch_control(unsigned slot, unsigned n);
/* Offsets for PTRACE_POKEUSER. */
size_t arch_watch_address_at(unsigned slot);
size_t arch_watch_control_at(void);
size_t arch_watch_status_at(void);

/*
 * Code that notes each call in a buffer and returns to the caller, with all
 * registers unchanged except for a result. It is itself called, from the first
 * instruction of the function to be noted (arch_call()). The buffer begins with
 * two words, the address of the next free entry and that of its end; an entry
 * is the address after the calling instruction, and the first argument.
 */
#define ARCH_NOTE_SIZE 96
#define ARCH_CALL_SIZE 5
void arch_note(struct raddr buffer, const struct arch_result *result,
	       uint8_t out[ARCH_NOTE_SIZE]);
/* False where @target is out of reach of a call at @at. */
bool arch_call(struct raddr at, struct raddr target,
	       uint8_t out[ARCH_CALL_SIZE]);
/* The same that goes there for good. */
bool arch_jump(struct raddr at, struct raddr target,
	       uint8_t out[ARCH_CALL_SIZE]);
/* The same at any distance, at a function's entry: the result is lost. */
#define ARCH_FAR_JUMP_SIZE 12
void arch_jump_far(struct raddr target, uint8_t out[ARCH_FAR_JUMP_SIZE]);

/*
 * Code that a function jumps to from its first instruction (arch_jump()) and that
 * counts its calls: it returns 0 with the word at @cleared set to 0, and all other
 * registers unchanged, until one call is due. That one goes to ARCH_COUNT_DUE in
 * the code, with all registers but that of the result as they were. A call is due
 * where it returns to one of @size addresses from @from on and @left others did
 * so before it; any other call sets @left to @again.
 */
struct arch_count {
	uint64_t from, size, left, again;
};
#define ARCH_COUNT_SIZE 64
#define ARCH_COUNT_DUE 33
void arch_count(struct raddr count, struct raddr cleared,
		uint8_t out[ARCH_COUNT_SIZE]);

/*
 * Code that makes a function return at once with 0; at most
 * ARCH_INSN_MAX bytes. Returns the length.
 */
size_t arch_return_zero(uint8_t out[ARCH_INSN_MAX]);
/* Code that no processor runs: whoever gets there dies. */
size_t arch_undefined(uint8_t out[ARCH_INSN_MAX]);
/*
 * As arch_return_zero() with any result, or with none: that register stays as it is. It ends
 * with an instruction of ARCH_RETURN_SIZE that does nothing else but return.
 */
#define ARCH_RETURN_SIZE 1
size_t arch_return(const struct arch_result *result,
		   uint8_t out[ARCH_INSN_MAX]);
/* The same for one that returns a struct: @n bytes of zeroes in its place. */
size_t arch_return_cleared(uint8_t n, uint8_t out[ARCH_INSN_MAX]);
