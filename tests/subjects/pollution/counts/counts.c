// Numbers that only count, or that a generator draws: whether a test's verdict follows them makes the difference.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,gcc-O2

#include "../runner.h"

#include <stdint.h>
#include <stdlib.h>

// A number for each object: tests read it in order to count on, and none minds which it is.

int next_id;

static NOINLINE int make_id(void)
{
	return next_id++;
}

TEST(test_first_object) //@ pollutes test_first_object next_id next_id effect=accumulates severity=low
{
	volatile int id = make_id();
	assert(id >= 0);
}

TEST(test_second_object) //@ pollutes test_second_object next_id next_id effect=accumulates severity=low
{
	volatile int id = make_id();
	assert(make_id() == id + 1);
}

TEST(test_looks_at_id) //@ clean test_looks_at_id
{
	volatile int id = next_id;
	assert(id >= 0);
}

// The twin: a later test expects a certain number.

int sent;

TEST(test_sends) //@ pollutes test_sends sent sent effect=accumulates severity=high readers=test_expects_one_sent
{
	sent++;
	TOUCH(&sent);
}

TEST(test_expects_one_sent) //@ clean test_expects_one_sent
{
	assert(sent == 1);
}

// An earlier test expects that there is none.

int received;

TEST(test_expects_none_received) //@ clean test_expects_none_received
{
	assert(received == 0);
}

TEST(test_receives) //@ pollutes test_receives received received effect=accumulates severity=high readers=test_expects_none_received
{
	received++;
	TOUCH(&received);
}

// A test that counts and expects a count: it ends differently when it runs again.

int opened;

TEST(test_opens_first) //@ pollutes test_opens_first opened opened severity=medium|high
{
	opened++;
	TOUCH(&opened);
	assert(opened == 1);
}

TEST(test_opens_second) //@ pollutes test_opens_second opened opened severity=high
{
	opened++;
	TOUCH(&opened);
}

// Statistics of several numbers, one of them a fraction.

struct {
	unsigned long calls, bytes;
	double seconds;
	int failed;
} statistics;

static NOINLINE void *allocate(size_t n)
{
	statistics.calls++;
	statistics.bytes += n;
	statistics.seconds += 0.25;
	statistics.failed++;
	return malloc(n);
}

TEST(test_allocates) //@ pollutes test_allocates statistics statistics.calls effect=accumulates severity=low
{
	free(allocate(12));
}

TEST(test_allocates_more) //@ pollutes test_allocates_more statistics statistics.calls effect=accumulates severity=low
{
	free(allocate(100));
}

// The twin: one of them goes down, so it is a level.

struct {
	long reserved, left;
} pool = { 0, 1000 };

static NOINLINE void take(long n)
{
	pool.reserved += n;
	pool.left -= n;
}

TEST(test_takes) //@ pollutes test_takes pool pool.reserved effect=accumulates severity=high readers=test_takes_more
{
	take(5);
}

TEST(test_takes_more) //@ pollutes test_takes_more pool pool.reserved effect=accumulates severity=high
{
	take(7);
}

// A random generator of the project's own.

struct {
	uint64_t a, b, c, d;
} generator = { 0xf1ea5eed, 0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0 };

static NOINLINE uint64_t turn(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static NOINLINE uint64_t draw(void)
{
	uint64_t e = generator.a - turn(generator.b, 7);
	generator.a = generator.b ^ turn(generator.c, 13);
	generator.b = generator.c + turn(generator.d, 37);
	generator.c = generator.d + e;
	generator.d = e + generator.a;
	return generator.d;
}

TEST(test_draws) //@ pollutes test_draws generator generator.a effect=accumulates severity=low
{
	for (int i = 0; i < 20; i++)
		TOUCH((void *)(uintptr_t)draw());
}

TEST(test_draws_again) //@ pollutes test_draws_again generator generator.a effect=accumulates severity=low
{
	for (int i = 0; i < 5; i++)
		TOUCH((void *)(uintptr_t)draw());
}

// The twin: a test that expects the first number of the sequence.

static uint64_t sequence = 0x853c49e6748fea9b;

static NOINLINE uint64_t draw_next(void)
{
	sequence = sequence * 6364136223846793005ULL + 1442695040888963407ULL;
	return sequence;
}

TEST(test_expects_first_number) //@ pollutes test_expects_first_number sequence sequence
{
	assert(draw_next() == 0x853c49e6748fea9bULL * 6364136223846793005ULL + 1442695040888963407ULL);
}

TEST(test_draws_next) //@ pollutes test_draws_next sequence sequence effect=accumulates severity=high readers=test_expects_first_number
{
	TOUCH((void *)(uintptr_t)draw_next());
}

// Nobody else reads it: each test that needs it sets it first.

int chosen;

TEST(test_chooses) //@ pollutes test_chooses chosen chosen effect=settles severity=low
{
	chosen = 12;
	TOUCH(&chosen);
}

// A test that fails right after itself for a reason of its own, and counts, too: its verdict does not follow the count.

int tickets;
int registered;

static NOINLINE void take_ticket(void)
{
	tickets++;
	TOUCH(&tickets);
}

TEST(test_registers_once) //@ pollutes test_registers_once tickets tickets severity=low
{ //@ pollutes test_registers_once registered registered
	take_ticket();
	assert(!registered);
	registered = 1;
	TOUCH(&registered);
}

TEST(test_takes_ticket) //@ pollutes test_takes_ticket tickets tickets effect=accumulates severity=low
{
	take_ticket();
}

// Another that only looks at the count, and fails right after itself.

int looked;

TEST(test_looks_at_tickets_once) //@ pollutes test_looks_at_tickets_once looked looked
{
	volatile int seen = tickets;
	assert(seen >= 0 && !looked);
	looked = 1;
	TOUCH(&looked);
}

// The twin: it fails since too much was counted, and does so after others that count as well.

int seats;

TEST(test_takes_seat) //@ pollutes test_takes_seat seats seats effect=accumulates severity=high readers=test_takes_last_seat
{
	seats++;
	TOUCH(&seats);
}

TEST(test_takes_last_seat) //@ pollutes test_takes_last_seat seats seats severity=medium|high
{
	seats++;
	TOUCH(&seats);
	assert(seats < 3);
}

// Flags that are set one by one grow, but are no count: a test leaves fewer than there were.

unsigned called;

TEST(test_calls_first) //@ pollutes test_calls_first called called severity=high
{
	called |= 1;
	TOUCH(&called);
}

TEST(test_calls_more) //@ pollutes test_calls_more called called effect=accumulates severity=high
{
	called = called & 16 ? called | 32 : called | 16;
	TOUCH(&called);
}

TEST(test_calls_others) //@ pollutes test_calls_others called called severity=high
{
	called = called ? 8 : 4;
	TOUCH(&called);
}

TEST(test_looks_at_calls) //@ clean test_looks_at_calls
{
	volatile unsigned seen = called;
	assert(seen < 1000);
}

RUNNER_MAIN()
