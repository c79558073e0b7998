//@ points shared count=5 flags="-lcriterion"
#include <criterion/criterion.h>

#include "note.h"

static void set_up(void) { note("setup"); }
static void tear_down(void) { note("teardown"); }

Test(s, with_one, .init = set_up, .fini = tear_down) { note("body"); }
Test(s, with_fails, .init = set_up, .fini = tear_down)
{
	note("body");
	cr_assert(0);
}
Test(s, setup_only_one, .init = set_up) { note("body"); }
Test(s, plain_one) { note("body"); }
Test(s, teardown_only_one, .fini = tear_down) { note("body"); }
