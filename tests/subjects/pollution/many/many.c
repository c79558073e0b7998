// Twenty thousand tests, of which few leave something behind.
//
//@ subject framework=functions lang=c
//@ variant plain builds=gcc-O0 quick=gcc-O0
//@ run default patience=300
//@ clean test_t...
//@ pollutes test_t07777 counts counts[77] before=0 after=1 effect=accumulates
//@ pollutes test_t13131 counts counts[31] before=0 after=1 effect=accumulates
//@ pollutes test_t19999 counts counts[99] before=0 after=1 effect=accumulates

int counts[100];
volatile int scratch;

#define T(n)                                                                                                           \
	void test_t##n(void);                                                                                          \
	void test_t##n(void)                                                                                           \
	{                                                                                                              \
		run_one(#n);                                                                                           \
	}
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define T10(n) TEN(T, n)
#define T100(n) TEN1(T10, n)
#define T1000(n) TEN2(T100, n)
#define T10000(n) TEN3(T1000, n)
#define TEN1(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define TEN2(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define TEN3(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)

static __attribute__((noinline)) void run_one(const char *digits)
{
	int number = 0;
	for (const char *digit = digits; *digit; digit++)
		number = number * 10 + *digit - '0';
	if (number == 7777 || number == 13131 || number == 19999)
		counts[number % 100]++;
	else
		counts[number % 100] = counts[number % 100] + 0 * scratch;
}

T10000(0)
T10000(1)

#undef T
#define T(n) test_t##n,

static void (*const tests[])(void) = { T10000(0) T10000(1) };

int main(void)
{
	for (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tests[i]();
	return 0;
}
