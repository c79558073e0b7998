/*
 * What learning the verdict (verdict_learn.c) and using it (verdict.c) share; for
 * these two only.
 */
#pragma once

#include "native/verdict.h"
#include "watch/scalars.h"

#define VERDICT_TRIED (SCALAR_ENUMERATORS + 2)

struct verdict_try {
	uint64_t value;
	bool turns; /* the program ends as if a test had failed */
};

/* Words that tests are called with the address of. */
#define VERDICT_ARGUMENT_WORDS 32

struct verdict_place {
	const struct scalar *scalar;
	/* Its address is how far it is from the test's first argument. */
	bool argument;
	uint64_t good; /* what it measures before the first test */
	struct verdict_try tried[VERDICT_TRIED];
	unsigned n_tried;
	bool printed; /* known from what the program prints, not how it ends */
	/* A rehearsal said so: it is the verdict; or state of the tests. */
	bool confirmed, dropped;
	/* While rehearsing: a test wrote it so that it fails, or undid that. */
	bool failed, undone;
};

struct verdict {
	struct scalars *scalars;
	struct scalar words[VERDICT_ARGUMENT_WORDS]; /* names are theirs */
	size_t n_words;
	struct verdict_place places[VERDICT_PLACES];
	size_t n;
	bool tap;	  /* the program prints TAP */
	bool status_says; /* without tests it ends with exit status 0 */
	uint64_t tail_ns; /* how long that takes */
	bool rehearsing;
	/* While learning: the process is kept where its last test ends. */
	bool keeps_end;
	struct run *end;
	/* By entry of the order that was rehearsed: why it failed; or NULL. */
	char **expected;
	size_t n_expected;
	/*
	 * No test returns a result: a runner that gets that of another test
	 * than it called cannot be misled.
	 */
	bool uniform;
	bool touches;	/* without tests the program changes files */
	bool silent;	/* nothing else might say that some test failed */
	bool surprised; /* the exit status said more than was known */
	bool unknown; /* of some test nothing would have said that it failed */
	bool told;
	struct unwinder *unwinder;
};

/* A test found @before there and left @after: has it failed? */
bool verdict_place_fails(const struct verdict_place *place, uint64_t before,
			 uint64_t after);
/* Where it is in a test that was called with @argument. */
struct scalar verdict_place_scalar(const struct verdict_place *place,
				   uint64_t argument);
/* All tests in the program's own sequence, in a process that nobody sees. */
struct err *verdict_run_own_order(struct session *session,
				  bool *ret_good) _must_check_;
/* verdict_learn.c: fills it; the session's own experiments. */
struct err *verdict_search(struct session *session,
			   struct verdict *verdict) _must_check_;
