// Criterion in C++: exceptions that leave a test or its set-up.
//
//@ subject framework=criterion lang=c++ header=criterion/criterion.h packages="libcriterion-dev"
//@ variant shared libs="-lcriterion"

#include <criterion/criterion.h>

#include <stdexcept>

Test(plain, passes) //@ test plain::passes pass
{
	cr_assert_eq(2 + 2, 4);
}

Test(plain, fails) //@ test plain::fails fail
{
	cr_assert_eq(2 + 2, 5); //@ fails plain::fails
}

Test(plain, throws) //@ test plain::throws fail
{
	throw std::runtime_error("nobody catches this");
}

Test(plain, throws_a_number) //@ test plain::throws_a_number fail
{
	throw 7;
}

Test(plain, expects_a_throw) //@ test plain::expects_a_throw pass
{
	cr_assert_throw(throw std::runtime_error("somebody catches this"), std::runtime_error);
}

static int written;

Test(order, reader) //@ test order::reader pass after=order::writer:fail
{
	cr_assert_eq(written, 0); //@ fails order::reader
}

Test(order, writer) //@ test order::writer pass
{
	written = 1;
}
