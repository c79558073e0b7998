/*
 * Tests that change code while they run, for test_runners.py: their own, that of
 * other tests, and code that they make themselves. All of them pass.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL

static void expect(int good)
{
	if (!good)
		abort();
}

static void open_code(const void *at)
{
	uintptr_t page = (uintptr_t)at & ~(PAGE - 1);
	expect(!mprotect((void *)page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
}

/* Code whose bytes are known: returns the number that follows its first byte. */
#define NUMBER_CODE(name, number)                \
	int name(void);                          \
	__asm__(".text\n.p2align 4\n"            \
		".globl " #name "\n"             \
		".type " #name ", @function\n"   \
		#name ":\n"                      \
		"	movl $" #number ", %eax\n" \
		"	ret\n"                   \
		".size " #name ", . - " #name "\n")

NUMBER_CODE(test_number, 1);
NUMBER_CODE(test_replaced, 1);
NUMBER_CODE(test_replaces_itself_next, 0);
NUMBER_CODE(test_often, 1);
NUMBER_CODE(test_copied, 7);

static void set_number(int (*function)(void), int number)
{
	open_code((void *)function);
	memcpy((char *)function + 1, &number, sizeof(number));
}

/* The instruction behind a function's first byte. */
__attribute__((noinline)) void test_patches_operand(void)
{
	expect(test_number() == 1);
	set_number(test_number, 5);
	expect(test_number() == 5);
	set_number(test_number, 6);
	expect(test_number() == 6);
}

/* A function's first byte and all else, there and back. */
__attribute__((noinline)) void test_replaces_function(void)
{
	static const unsigned char other[] = { 0x31, 0xc0, 0xff, 0xc0, 0xff, 0xc0, 0xc3 }; /* 2 */
	unsigned char before[sizeof(other)];
	open_code((void *)test_replaced);
	expect(test_replaced() == 1);
	memcpy(before, (void *)test_replaced, sizeof(before));
	memcpy((void *)test_replaced, other, sizeof(other));
	expect(test_replaced() == 2);
	memcpy((void *)test_replaced, before, sizeof(before));
	expect(test_replaced() == 1);
}

/* The same after so many calls that its breakpoint rests. */
__attribute__((noinline)) void test_replaces_function_later(void)
{
	static const unsigned char other[] = { 0x31, 0xc0, 0xff, 0xc0, 0xff, 0xc0, 0xc3 };
	unsigned char before[sizeof(other)];
	open_code((void *)test_often);
	memcpy(before, (void *)test_often, sizeof(before));
	for (int i = 0; i < 100; i++)
		expect(test_often() == 1);
	memcpy((void *)test_often, other, sizeof(other));
	for (int i = 0; i < 100; i++)
		expect(test_often() == 2);
	memcpy((void *)test_often, before, sizeof(before));
	for (int i = 0; i < 100; i++)
		expect(test_often() == 1);
}

/* Changes the test that comes next. */
__attribute__((noinline)) void test_changes_next(void)
{
	static const unsigned char other[] = { 0x31, 0xc0, 0xc3 }; /* 0 */
	open_code((void *)test_replaces_itself_next);
	memcpy((void *)test_replaces_itself_next, other, sizeof(other));
}

/* Its own body, between two runs of it. */
__attribute__((noinline, noclone)) static int number_in_code(unsigned char **ret_code)
{
	int number;
	__asm__ volatile("	leaq 1f(%%rip), %0\n"
			 "1:	movl $3, %%eax\n"
			 : "=&r"(*ret_code), "=&a"(number));
	return number;
}

__attribute__((noinline)) void test_patches_body(void)
{
	for (int round = 0; round < 50; round++) {
		unsigned char *code;
		expect(number_in_code(&code) == 3 + round);
		open_code(code);
		code[1]++;
	}
}

/* A copy of a function elsewhere. */
__attribute__((noinline)) void test_copies_function(void)
{
	unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*copy)(void) = (int (*)(void))code;
	expect(code != MAP_FAILED);
	memset(code, 0x90, 64);
	memcpy(code, (void *)test_copied, 6);
	for (int i = 0; i < 3; i++)
		expect(copy() == 7);
	munmap(code, PAGE);
}

/* Code made at run time, often at the same place, that calls helpers and the next round. */
__attribute__((noinline)) int test_helper(int n)
{
	return n + 1;
}

__attribute__((noinline)) void test_makes_code(void)
{
	for (int i = 0; i < 200; i++) {
		unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
					   -1, 0);
		expect(code != MAP_FAILED);
		unsigned char *at = code;
		for (int pad = 0; pad < i % 5; pad++)
			*at++ = 0x90;
		*at++ = 0xbf; /* mov $i, %edi */
		memcpy(at, &i, 4);
		at += 4;
		*at++ = 0x48; /* mov $test_helper, %rax */
		*at++ = 0xb8;
		uint64_t target = (uintptr_t)test_helper;
		memcpy(at, &target, 8);
		at += 8;
		*at++ = 0xff; /* jmp *%rax */
		*at++ = 0xe0;
		expect(((int (*)(void))code)() == i + 1);
		munmap(code, PAGE);
	}
}

/* Called by code that is made for each call, at the same place, and gone afterwards. */
__attribute__((noinline)) void test_called_by_made_code(void)
{
	expect(getpid() > 0);
}

static void call_by_made_code(int pad)
{
	static unsigned char *code;
	code = mmap(code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | (code ? MAP_FIXED : 0), -1, 0);
	expect(code != MAP_FAILED);
	unsigned char *at = code;
	uint64_t target = (uintptr_t)test_called_by_made_code;
	memset(at, 0x90, (size_t)pad);
	at += pad;
	memcpy(at, "\x48\x83\xec\x08\x48\xb8", 6); /* sub $8, %rsp; mov $…, %rax */
	memcpy(at + 6, &target, 8);
	memcpy(at + 14, "\xff\xd0\x48\x83\xc4\x08\xc3", 7); /* call *%rax; add $8, %rsp; ret */
	((void (*)(void))code)();
	munmap(code, PAGE);
}

int main(void)
{
	int bad = 0;
	test_patches_operand();
	test_replaces_function();
	test_replaces_function_later();
	test_changes_next();
	bad += test_replaces_itself_next();
	test_patches_body();
	test_copies_function();
	test_makes_code();
	call_by_made_code(0);
	call_by_made_code(0);
	call_by_made_code(3);
	return bad;
}
