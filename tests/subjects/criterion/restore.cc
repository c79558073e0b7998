//@ restore header=criterion/criterion.h flags="-lcriterion"
#include "stock.h"

#include <criterion/criterion.h>
Test(small, victim) { cr_assert(passes()); }
Test(small, pollute) { cr_assert(pollutes()); }
