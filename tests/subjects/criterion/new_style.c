// The assertions that Criterion has since 2.4.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(plain, new_style) //@ test plain::new_style fail
{
	cr_expect(eq(int, 1, 1));
	cr_assert(eq(int, 1, 2)); //@ fails plain::new_style
}
