// The tests that both hand-written runners call.
#ifndef TESTS_H
#define TESTS_H

void test_passes(void);
void test_addition(void);
void test_uses_helpers(void);
void test_assertion_fails(void);
void test_order_reader(void);
void test_order_writer(void);
void test_segfault(void);
void test_aborts(void);
void test_exits(void);
void test_hangs(void);
void test_comes_afterwards(void);

#endif
