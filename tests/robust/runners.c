/*
 * Passing tests in every shape that compilers give to functions and to calls,
 * for test_runners.py. RUNNER says how they are called; the program ends with 0
 * if all of them were and none found anything wrong.
 *
 * What matters here is where a function's first instruction is reached from
 * besides its call: the head of a loop, a tail call, recursion.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRAIGHT 1
#define LAST 2
#define TABLE 3
#define WRAPPER 4
#define LEFT 5
#define HANGS 6
#define RESULTS 7
#define EXITS 8
#define NEEDS 9
#define PAIRS 10

#define TEST __attribute__((noinline)) void

static volatile unsigned ran;
static volatile unsigned left, many, number = 7;
static jmp_buf out;

static void expect(bool good)
{
	if (!good)
		abort();
}

/* The loop's head is the first instruction, at -O1 and up. */
TEST test_loop_first(void)
{
	do
		left -= left != 0;
	while (left);
}

/* So often that a stop for each round would be a time-out. */
TEST test_loop_long(void)
{
	do
		many -= many != 0;
	while (many);
}

/* The same whatever the compiler does. */
unsigned asm_left = 3000000;
void test_loop_asm(void);
__asm__(".text\n"
	".globl test_loop_asm\n"
	".type test_loop_asm, @function\n"
	"test_loop_asm:\n"
	"	decl asm_left(%rip)\n"
	"	jnz test_loop_asm\n"
	"	ret\n"
	".size test_loop_asm, . - test_loop_asm\n");

__attribute__((noinline)) void test_recurses(unsigned n)
{
	if (n < 2)
		return;
	test_recurses(n - 1);
	ran++;
	test_recurses(n - 2);
	ran++;
}

__attribute__((noinline)) unsigned test_tail_recurses(unsigned n, unsigned sum)
{
	return n ? test_tail_recurses(n - 1, sum + number) : 0;
}

__attribute__((noinline)) void helper(void)
{
	number = 7;
}

TEST test_ends_with_helper(void)
{
	ran++;
	helper();
}

TEST test_after_it(void)
{
	ran++;
}

/* The last statement is the very test that the runner calls next. */
TEST test_ends_with_next(void)
{
	test_after_it();
}

TEST test_ends_with_earlier(void)
{
	left = 3;
	test_loop_first();
}

void test_pong(unsigned n);
__attribute__((noinline)) void test_ping(unsigned n)
{
	ran++;
	if (n)
		test_pong(n - 1);
}
__attribute__((noinline)) void test_pong(unsigned n)
{
	ran++;
	if (n)
		test_ping(n - 1);
}

/* A helper that the pattern matches. */
__attribute__((noinline)) bool test_equal(unsigned a, unsigned b)
{
	return a == b;
}

TEST test_uses_helper_often(void)
{
	bool good = true;
	for (unsigned i = 0; i < 300000; i++)
		good &= test_equal(i, i);
	expect(good);
}

/* Made one function by the compiler or the linker. */
TEST test_same_one(void)
{
	for (unsigned i = 0; i < number; i++)
		expect(strlen("same") == 4 && getpid() > 0);
}
TEST test_same_two(void)
{
	for (unsigned i = 0; i < number; i++)
		expect(strlen("same") == 4 && getpid() > 0);
}

/* Its failing half goes to another section. */
TEST test_has_cold_part(void)
{
	if (__builtin_expect(number != 7, 0)) {
		fprintf(stderr, "number is %u\n", number);
		abort();
	}
	ran++;
}

TEST test_jumps_by_table(void)
{
	switch (number) {
	case 1:
		number = 3;
		break;
	case 2:
		expect(false);
		break;
	case 3:
		helper();
		break;
	case 5:
		abort();
	case 7:
		ran++;
		break;
	default:
		ran = 0;
	}
}

/* Jumps back into itself, over setjmp. */
TEST test_jumps_inside(void)
{
	jmp_buf here;
	volatile int rounds = 0;
	if (setjmp(here) < 100) {
		rounds++;
		longjmp(here, rounds);
	}
	expect(rounds == 100);
}

/* Runs its helper on a deeper stack, with much of it overwritten. */
TEST test_uses_stack(void)
{
	volatile char room[1 << 16];
	memset((char *)room, 0x5a, sizeof(room));
	expect(test_equal((unsigned char)room[number], 0x5a));
}

#define PLAIN_TESTS(X)            \
	X(test_loop_first)        \
	X(test_loop_long)         \
	X(test_loop_asm)          \
	X(test_ends_with_helper)  \
	X(test_ends_with_next)    \
	X(test_after_it)          \
	X(test_ends_with_earlier) \
	X(test_uses_helper_often) \
	X(test_same_one)          \
	X(test_same_two)          \
	X(test_has_cold_part)     \
	X(test_jumps_by_table)    \
	X(test_jumps_inside)      \
	X(test_uses_stack)

static void prepare(void)
{
	left = 1000;
	many = 3000000;
}

#define CALL(name) name();
#define ENTRY(name) name,

#if RUNNER == STRAIGHT || RUNNER == LAST
__attribute__((noinline)) int test_comes_last(void)
{
	return number != 7;
}

int main(void)
{
	prepare();
	PLAIN_TESTS(CALL)
	test_recurses(20);
	test_tail_recurses(100000, 0);
	test_ping(100000);
#if RUNNER == LAST
	return test_comes_last(); /* nothing is left to do: a tail call */
#else
	int result = test_comes_last();
	return result || ran < 5;
#endif
}

#elif RUNNER == TABLE || RUNNER == WRAPPER
typedef void test_function(void);
static test_function *const table[] = { PLAIN_TESTS(ENTRY) };

/* Itself nothing but a jump to the test. */
__attribute__((noinline)) static void run_one(test_function *function)
{
	function();
}

int main(void)
{
	prepare();
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		test_function *volatile function = table[i];
#if RUNNER == WRAPPER
		run_one(function);
#else
		function();
#endif
	}
	return ran < 5;
}

#elif RUNNER == LEFT
/* The twins: these are left by longjmp, and have failed. */
TEST test_leaves(void)
{
	longjmp(out, 1);
}
__attribute__((noinline)) void test_leaves_if(unsigned n)
{
	do
		left -= left != 0;
	while (left);
	if (n)
		longjmp(out, 1);
}
/* Left from deeper down, after its entry was reached from inside. */
__attribute__((noinline)) void test_leaves_deep(unsigned n)
{
	volatile char room[64] = { 0 };
	if (!n)
		longjmp(out, 1);
	room[n % 64] = 1;
	test_leaves_deep(n - 1);
	expect(room[n % 64]);
}
TEST test_returns(void)
{
	ran += 2;
}

typedef void test_function(unsigned n);
static const struct {
	test_function *function;
	unsigned n;
} table[] = {
	{ (test_function *)test_leaves, 0 },
	{ (test_function *)test_leaves, 0 },
	{ test_leaves_if, 1 },
	{ test_leaves_if, 0 },
	{ test_leaves_if, 1 },
	{ test_leaves_deep, 100 },
	{ (test_function *)test_returns, 0 },
	{ (test_function *)test_loop_first, 0 },
};

int main(void)
{
	prepare();
	volatile unsigned failed = 0;
	for (volatile size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		test_function *volatile function = table[i].function;
		left = 5;
		if (setjmp(out))
			failed++;
		else
			function(table[i].n);
	}
	return failed != 5 ? 99 : 1;
}

#elif RUNNER == HANGS
TEST test_spins(void)
{
	for (;;)
		;
}
TEST test_spins_on_variable(void)
{
	while (number)
		;
}
/* Of which the compiler must not know that it never comes back. */
static void (*volatile const table[])(void) = { test_loop_first, test_spins, test_after_it,
						test_spins_on_variable, test_has_cold_part };

int main(void)
{
	prepare();
	for (size_t i = 0; i < 5; i++)
		table[i]();
	return 0;
}

#elif RUNNER == RESULTS
/* Only as many bits count as the type has: the rest is whatever was there. */
static volatile unsigned wide = 0x70000;

__attribute__((noinline)) short test_short_result(void)
{
	return (short)wide;
}
__attribute__((noinline)) short test_short_result_fails(void)
{
	return (short)(wide + 1);
}
__attribute__((noinline)) signed char test_char_result(void)
{
	return (signed char)wide;
}
__attribute__((noinline)) long test_long_result(void)
{
	return number == 7 ? 0 : 1;
}
__attribute__((noinline)) long test_long_result_fails(void)
{
	return (long)number << 32;
}
__attribute__((noinline)) bool test_bool_result(void)
{
	return number != 7;
}

int main(void)
{
	int failed = 0;
	failed += test_short_result() != 0;
	failed += test_short_result_fails() != 0;
	failed += test_char_result() != 0;
	failed += test_long_result() != 0;
	failed += test_long_result_fails() != 0;
	failed += test_bool_result();
	return failed;
}

#elif RUNNER == EXITS
/* As good an end of the program as any, for the last test. */
TEST test_leaves_the_program(void)
{
	expect(number == 7);
	exit(0);
}

int main(void)
{
	prepare();
	test_loop_first();
	test_after_it();
	test_leaves_the_program();
}

#elif RUNNER == NEEDS
/* The code between the tests needs what one of them leaves. */
static volatile unsigned *volatile shared;

TEST test_makes_it(void)
{
	shared = &number;
}
TEST test_uses_it(void)
{
	expect(shared);
}
__attribute__((noinline)) static void work_between(void)
{
	expect(*shared == 7);
}

int main(void)
{
	prepare();
	test_loop_first();
	test_makes_it();
	work_between();
	test_after_it();
	test_uses_it();
	return 0;
}

#elif RUNNER == PAIRS
/* A message and a number, in two registers; 1 means success. */
struct pair {
	const char *message;
	int status;
};

__attribute__((noinline)) struct pair test_pair_passes(void)
{
	return (struct pair){ number == 7 ? NULL : "no", number == 7 };
}
__attribute__((noinline)) struct pair test_pair_fails(void)
{
	return (struct pair){ number == 7 ? "it is 7" : NULL, number != 7 };
}
__attribute__((noinline)) struct pair test_pair_too(void)
{
	return (struct pair){ NULL, number == 7 };
}
static struct pair (*const volatile pairs[])(void) = { test_pair_passes, test_pair_fails, test_pair_too };

int main(void)
{
	int failed = 0;
	for (size_t i = 0; i < 3; i++) {
		struct pair pair = pairs[i]();
		if (!pair.status) {
			failed++;
			if (pair.message)
				many = (unsigned)strlen(pair.message);
		}
	}
	return failed;
}
#endif
