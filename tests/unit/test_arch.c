/* Instructions under breakpoints: which are moved, which are carried out. */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "tracee/arch.h"

#define PC RADDR(0x401000)
#define SLOT RADDR(0x10000)

static struct arch_insn decode(const uint8_t *bytes, size_t n)
{
	struct arch_insn insn;
	assert_null(arch_decode(bytes, n, PC, &insn));
	return insn;
}
#define DECODE(...)                                                            \
	decode((const uint8_t[16]){ __VA_ARGS__ },                             \
	       sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void test_ordinary_instructions_move(void **state)
{
	(void)state;
	struct arch_insn push = DECODE(0x55); /* push %rbp */
	assert_int_equal(push.kind, ARCH_SLOT);
	assert_int_equal(push.length, 1);
	assert_int_equal(push.relative_at, 0);
	assert_int_equal(DECODE(0xf3, 0x0f, 0x1e, 0xfa).length,
			 4);				/* endbr64 */
	assert_int_equal(DECODE(0xc3).kind, ARCH_SLOT); /* ret */

	uint8_t code[ARCH_SLOT_SIZE];
	arch_slot_write(&push, PC, SLOT, code);
	static const uint8_t expected[] = { 0x55, 0xff, 0x25, 0, 0, 0, 0 };
	assert_memory_equal(code, expected, sizeof(expected));
	uint64_t next;
	memcpy(&next, code + sizeof(expected), sizeof(next));
	assert_int_equal(next, PC.v + 1);
}

static void test_relative_operands_are_corrected(void **state)
{
	(void)state;
	/* lock addl $1,0x1234(%rip): an immediate behind the displacement */
	struct arch_insn insn =
		DECODE(0xf0, 0x83, 0x05, 0x34, 0x12, 0x00, 0x00, 0x01);
	assert_int_equal(insn.kind, ARCH_SLOT);
	assert_int_equal(insn.relative_at, 3);
	uint8_t code[ARCH_SLOT_SIZE];
	arch_slot_write(&insn, PC, SLOT, code);
	int32_t moved;
	memcpy(&moved, code + 3, sizeof(moved));
	/* Both refer to the same place. */
	assert_int_equal(SLOT.v + 8 + (uint64_t)(int64_t)moved,
			 PC.v + 8 + 0x1234);
	assert_true(arch_slot_reaches(&insn, PC, SLOT));
	assert_false(arch_slot_reaches(&insn, PC, RADDR(0x7fff00000000)));
}

static struct raddr target(const struct arch_insn *insn,
			   const struct regs *regs, bool expect_load)
{
	bool load;
	struct raddr to = arch_branch_target(insn, PC, regs, &load);
	assert_int_equal(load, expect_load);
	return to;
}

static void test_branches_are_carried_out(void **state)
{
	(void)state;
	struct regs regs = {};
	struct arch_insn jump = DECODE(0xeb, 0x10); /* jmp +16 */
	assert_int_equal(jump.kind, ARCH_BRANCH);
	assert_int_equal(target(&jump, &regs, false).v, PC.v + 18);

	struct arch_insn call = DECODE(0xe8, 0xfb, 0xff, 0xff, 0xff);
	assert_int_equal(call.kind, ARCH_BRANCH);
	assert_true(call.call);
	assert_int_equal(target(&call, &regs, false).v, PC.v);

	struct arch_insn indirect = DECODE(0xff, 0xd0); /* call *%rax */
	regs.r.rax = 0x1234;
	assert_true(indirect.call);
	assert_int_equal(target(&indirect, &regs, false).v, 0x1234);

	/* jmp *8(%rip): the address is read from memory */
	struct arch_insn got = DECODE(0xff, 0x25, 0x08, 0x00, 0x00, 0x00);
	assert_int_equal(target(&got, &regs, true).v, PC.v + 6 + 8);

	/* call *0x10(%rbx,%rcx,8) */
	struct arch_insn table = DECODE(0xff, 0x54, 0xcb, 0x10);
	regs.r.rbx = 0x1000;
	regs.r.rcx = 3;
	assert_int_equal(target(&table, &regs, true).v, 0x1000 + 24 + 16);
}

/* Every condition with every combination of flags, against the processor. */
static void test_conditions(void **state)
{
	(void)state;
	for (uint8_t condition = 0; condition < 16; condition++) {
		struct arch_insn insn =
			DECODE((uint8_t)(0x70 | condition), 0x10);
		assert_int_equal(insn.kind, ARCH_BRANCH);
		for (unsigned bits = 0; bits < 32; bits++) {
			uint64_t flags = (bits & 1) | (bits & 2) << 1 |
					 (uint64_t)(bits & 4) << 4 |
					 (uint64_t)(bits & 8) << 4 |
					 (uint64_t)(bits & 16) << 7;
			uint8_t taken[16] = {};
			/* Past the red zone; lea leaves the flags alone. */
			__asm__ volatile("sub $128, %%rsp\n\t"
					 "push %1\n\tpopfq\n\t"
					 "lea 128(%%rsp), %%rsp\n\t"
					 "seto (%0)\n\tsetno 1(%0)\n\t"
					 "setb 2(%0)\n\tsetae 3(%0)\n\t"
					 "sete 4(%0)\n\tsetne 5(%0)\n\t"
					 "setbe 6(%0)\n\tseta 7(%0)\n\t"
					 "sets 8(%0)\n\tsetns 9(%0)\n\t"
					 "setp 10(%0)\n\tsetnp 11(%0)\n\t"
					 "setl 12(%0)\n\tsetge 13(%0)\n\t"
					 "setle 14(%0)\n\tsetg 15(%0)"
					 :
					 : "r"(taken), "r"(flags)
					 : "cc", "memory");
			struct regs regs = { .r = { .eflags = flags } };
			assert_int_equal(target(&insn, &regs, false).v,
					 PC.v + (taken[condition] ? 18 : 2));
		}
	}
}

static void test_what_is_stepped(void **state)
{
	(void)state;
	assert_int_equal(DECODE(0xe2, 0xfe).kind, ARCH_STEP); /* loop */
	assert_int_equal(DECODE(0xe3, 0x00).kind, ARCH_STEP); /* jrcxz */
}

static void test_no_instruction(void **state)
{
	(void)state;
	struct arch_insn insn = { .length = 77 };
	static const uint8_t bytes[] = { 0x06, 0x06 }; /* not in 64-bit code */
	struct err *err = arch_decode(bytes, sizeof(bytes), PC, &insn);
	assert_non_null(err);
	err_destroy(err);
	assert_int_equal(insn.length, 77);
}

static void test_arguments_that_are_read(void **state)
{
	(void)state;
	static const struct {
		uint8_t code[16];
		size_t n;
		unsigned wanted;
	} rows[] = {
		/* push rbp; mov rbp, rsp; mov [rbp-8], edi; mov [rbp-16], r9 */
		{ { 0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xf8, 0x4c, 0x89, 0x4d,
		    0xf0 },
		  11,
		  0x21 },
		/* xor edi, edi; mov esi, 1; mov eax, edi; add eax, esi; ret */
		{ { 0x31, 0xff, 0xbe, 1, 0, 0, 0, 0x89, 0xf8, 0x01, 0xf0,
		    0xc3 },
		  12,
		  0 },
		/* mov eax, [rdx+rcx*4]; ret */
		{ { 0x8b, 0x04, 0x8a, 0xc3 }, 4, 0x0c },
		/* call +0; mov eax, edi: that is another's by then */
		{ { 0xe8, 0, 0, 0, 0, 0x89, 0xf8 }, 7, 0 },
		/* cmp sil, 1 */
		{ { 0x40, 0x80, 0xfe, 0x01 }, 4, 0x02 },
		{ {}, 0, 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(
			arch_arguments(rows[i].code, rows[i].n, RADDR(0x1000)),
			rows[i].wanted);
}

static void test_arguments(void **state)
{
	(void)state;
	struct regs regs = {};
	for (unsigned i = 0; i < 6; i++)
		regs_set_arg(&regs, i, 100 + i);
	assert_int_equal(regs.r.rdi, 100);
	assert_int_equal(regs.r.r9, 105);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(regs_arg(&regs, i), 100 + i);
}

static void test_calls_are_counted(void **state)
{
	(void)state;
	static struct arch_count count;
	static uint64_t cleared;
	uint8_t *code = mmap(NULL, ARCH_COUNT_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	arch_count(RADDR((uintptr_t)&count), RADDR((uintptr_t)&cleared), code);
	code[ARCH_COUNT_DUE] = 0xc3; /* ret: with a result that is not 0 */
	assert_int_equal(mprotect(code, ARCH_COUNT_SIZE, PROT_READ | PROT_EXEC),
			 0);
	uint64_t (*function)(void) = NULL;
	memcpy(&function, &code, sizeof(code));

	/* All return to one of those addresses. */
	count = (struct arch_count){ .size = UINT64_MAX, .left = 3 };
	for (int i = 0; i < 3; i++) {
		cleared = 1;
		assert_int_equal(function(), 0);
		assert_int_equal(cleared, 0);
	}
	cleared = 1;
	assert_int_not_equal(function(), 0);
	assert_int_equal(cleared, 1);

	/* One that does not begins the count again. */
	count = (struct arch_count){ .left = 0, .again = 2 };
	assert_int_equal(function(), 0);
	assert_int_equal(count.left, 2);
	count.size = UINT64_MAX;
	assert_int_equal(function(), 0);
	count.size = 0;
	assert_int_equal(function(), 0);
	count.size = UINT64_MAX;
	assert_int_equal(function(), 0);
	assert_int_equal(function(), 0);
	assert_int_not_equal(function(), 0);
	assert_int_equal(munmap(code, ARCH_COUNT_SIZE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary_instructions_move),
		cmocka_unit_test(test_relative_operands_are_corrected),
		cmocka_unit_test(test_branches_are_carried_out),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_what_is_stepped),
		cmocka_unit_test(test_no_instruction),
		cmocka_unit_test(test_arguments_that_are_read),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_calls_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
