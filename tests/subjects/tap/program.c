// A program that prints TAP with a library of the kind of libtap and has no test functions: its points are its tests.
// They stay in their sequence.
//
//@ subject framework=tap lang=c
//@ variant libtap sources="program.c libtap.c"

#include "libtap.h"

#include <unistd.h>

static volatile int kept;

int main(void)
{
	plan(6);
	ok(getpid() > 0, "passes"); //@ test passes pass
	kept = 5;
	ok(kept == 5, "keeps-%d", 5); //@ test keeps-5 pass
	ok(kept == 4, "fails"); /* both: */ //@ test fails fail //@ fails fails
	ok(0, "later # TODO not yet"); //@ test later pass
	ok(1, "elsewhere # SKIP not here"); //@ test elsewhere skip
	ok(kept == 5, "last"); //@ test last pass
	return 0;
}
