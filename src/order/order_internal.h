/*
 * What the parts of the search share.
 *
 * Everything is determined by asking: how does this test end after these? A
 * question is an order, as the suite allows it (rules.h), cut off after the
 * test that it is about. Many questions are asked at once, so that orders that
 * begin alike share their beginning and processes can run in parallel (asks.c).
 * What was asked before is not asked again, unless that is the point.
 *
 *	suspects	a test went another way than alone: search.c finds them
 *	explanations	why, as short as possible: explain.c
 */
#pragma once

#include "base/map.h"
#include "order/order.h"
#include "order/rules.h"

#define ORDER_NONE ((size_t)-1)

/* ---- questions (asks.c) ---- */

struct order_ask {
	struct order_tests order; /* its last is the test that it is about */
	size_t asked; /* the first of the tests before it that were asked for */
	bool impossible; /* the suite allows no such order */
	size_t node;	 /* while it is being asked; or ORDER_NONE */
	/* The answer; OUTCOME_NONE: there is none (late, or the process died) */
	enum outcome outcome;
	bool fresh; /* from this very call */
	/* Why it is bad: only with ASK_DETAILS. */
	char *message;
	char *file;
	unsigned line;
};

DEFINE_VEC(order_asks, struct order_ask)

enum ask_flags {
	ASK_SERIAL = 1 << 0,  /* one process at a time */
	ASK_ANEW = 1 << 1,    /* also what is known */
	ASK_DETAILS = 1 << 2, /* messages, too */
};

/* A test that went another way than alone, or than in the natural order. */
struct order_suspect {
	size_t test;
	struct order_tests prefix;
	enum outcome outcome; /* how it went */
	bool serial;	      /* seen while no other process ran */
	bool others;	  /* explained; there may be other lists like that */
	size_t confirmed; /* the whole order, and alone, this many times */
};

DEFINE_VEC(order_suspects, struct order_suspect)

/* What is known of one test of the suite. */
struct order_known {
	size_t place;	 /* among the examined tests; ORDER_NONE: not at all */
	uint8_t alone;	 /* outcome; OUTCOME_NONE: not asked yet */
	uint8_t natural; /* the same in the suite's own order */
	bool leaves;	 /* leaves something, as far as pollution knows */
	bool random;	 /* flaky */
	bool misleads;	 /* another test fails right after it, and not alone */
	bool judged;	 /* natural against alone */
	bool declared;	 /* it needs those that are declared to come first */
	uint64_t ns;	 /* it took at most this long; 0: not known */
};

DEFINE_VEC(dependences, struct dependence)

struct order_search {
	struct suite *suite;
	const struct order_options *options;
	const struct pollution *pollution; /* guides the search; NULL: none */
	const struct pollution *leftovers; /* explain findings; NULL: unknown */
	const struct suite_observer *outer;
	struct order_result *result;
	struct dependences found; /* that findings are made of */
	struct flakies flakies;	  /* the same */
	struct rules *rules;
	const size_t *tests; /* those to examine, in natural order */
	size_t n;
	struct order_known *known; /* by test of the suite */
	struct order_tests
		leavers;	/* tests that leave something, worst first */
	struct map_u64 answers; /* digest of an order → outcome */
	struct map_u64 ran;	/* digests of whole orders of this call */
	uint64_t *pairs;	/* bits that stood next to each other; NULL */
	struct order_suspects suspects;
	size_t explained;	     /* how many of them were examined */
	struct order_suspects later; /* of tests that have an explanation */
	struct order_suspects open;  /* there was no time for */
	uint64_t began, natural_ns;
	uint64_t explore_until; /* clock_now(); 0: no limit. Exploring ends … */
	uint64_t explain_until; /* … before explaining does */
	uint64_t gave_up;	/* the limit before which nothing more fitted */
	uint64_t start_ns;	/* of a run, beside its tests; once paced */
	/* The recent ratio of its time to what was expected; 0: not known. */
	double pace[2]; /* side by side, one process at a time */
	bool exploring;
	bool fixed;	/* only parts of the suite's own sequence make sense */
	bool diverted;	/* see suite_fixture() */
	bool processes; /* each test has its own: none takes another's away */
};

static inline bool order_differs(enum outcome a, enum outcome b)
{
	return a && b && outcome_is_good(a) != outcome_is_good(b);
}

/* Does nothing run after it in the same process? */
static inline bool order_ends(const struct order_search *search,
			      enum outcome outcome)
{
	return !search->processes &&
	       (outcome == OUTCOME_CRASH || outcome == OUTCOME_TIMEOUT);
}

/*
 * Logs "TEST after FIRST … LAST (N tests): @what": what was decided about @test
 * after the @n tests of @prefix.
 */
void search_log_order(const struct order_search *search, size_t test,
		      const size_t *prefix, size_t n, const char *what);
/* Is it time to stop? Notes why. */
bool search_late(struct order_search *search);
/*
 * What is known of how long things take: search_cost() of tests, with start_ns for
 * each run, is what search_fits() checks and search_took() records. What no longer
 * fits is left out: exploring continues with what is shorter, explaining ends.
 */
uint64_t search_cost(const struct order_search *search, size_t test);
/* Of a run of these. */
uint64_t search_cost_of(const struct order_search *search, const size_t *tests,
			size_t n);
uint64_t search_expect(const struct order_search *search, uint64_t cost,
		       bool serial);
/* Is it more than a guess? */
static inline bool search_paced(const struct order_search *search, bool serial)
{
	return search->pace[serial] > 0;
}
bool search_fits(struct order_search *search, uint64_t cost, bool serial);
void search_took(struct order_search *search, uint64_t began, uint64_t cost,
		 size_t runs, bool serial);
void search_note_ns(struct order_search *search,
		    const struct suite_result *result);
/* A limit, for the caller of the search. */
void search_say(const struct order_search *search, const char *text);
/* After the suite's own order: its files are restored from now on. */
struct err *search_keep_files(struct order_search *search) _must_check_;
/* How the test ends alone: asked where that is not known. */
struct err *search_alone(struct order_search *search, size_t test,
			 enum outcome *ret) _must_check_;
struct err *search_suspect(struct order_search *search, size_t test,
			   const size_t *prefix, size_t n, enum outcome outcome,
			   bool serial) _must_check_;
void search_pair(struct order_search *search, size_t first, size_t second);
bool search_pair_tried(const struct order_search *search, size_t first,
		       size_t second);
/*
 * Is it of no use before others? It ends its process even alone, or costs as much
 * as it may take, or goes this way and that.
 */
bool search_useless(const struct order_search *search, size_t test);
/* The outermost group of a test that has to stay together; SUITE_NO_GROUP. */
size_t search_unit(const struct order_search *search, size_t test);

/* Adds the question how @test ends after @prefix. */
struct err *asks_add(struct order_search *search, struct order_asks *asks,
		     const size_t *prefix, size_t n, size_t test) _must_check_;
struct err *asks_run(struct order_search *search, struct order_asks *asks,
		     unsigned flags) _must_check_;
/*
 * Asks, and makes suspects of those whose outcome differs from alone; empties
 * @asks. *@ret_all (may be NULL): every question has an answer.
 */
struct err *asks_judge(struct order_search *search, struct order_asks *asks,
		       bool *ret_all) _must_check_;
/* One question; *@ret OUTCOME_NONE: no answer. */
struct err *asks_one(struct order_search *search, const size_t *prefix,
		     size_t n, size_t test, unsigned flags,
		     enum outcome *ret) _must_check_;
/* The same of what is known; *@ret OUTCOME_NONE: it was not asked. */
struct err *asks_recall(struct order_search *search, const size_t *prefix,
			size_t n, size_t test, enum outcome *ret) _must_check_;
void asks_freep_deep(struct order_asks *asks);

/*
 * Runs whole orders and makes suspects of tests with another outcome.
 * *@ret_done (may be NULL): how many of them were run.
 */
struct err *orders_run(struct order_search *search,
		       const struct order_lists *orders, unsigned flags,
		       size_t *ret_done) _must_check_;

bool tests_have(const struct order_tests *tests, size_t test);
struct err *tests_copy(const size_t *tests, size_t n,
		       struct order_tests *ret) _must_check_;

/* ---- explanations ---- */

/* How a test went in repetitions of one order. */
struct order_repeats {
	size_t runs;
	size_t bad;
	size_t missing; /* no answer: late, or the process was gone before */
	struct finding_failure failure; /* of the first that was bad */
};
static inline void order_repeats_freep(struct order_repeats *repeats)
{
	finding_failure_free(&repeats->failure);
}
static inline bool order_repeats_mixed(const struct order_repeats *repeats)
{
	return repeats->bad && repeats->bad < repeats->runs;
}
/* Counts one more; takes the ask's texts. */
void order_repeats_count(struct order_repeats *repeats, struct order_ask *ask);

/*
 * flaky.c: the test ended both ways after @prefix. Takes the failure out of
 * @repeats.
 */
struct err *flaky_note(struct order_search *search, size_t test,
		       const size_t *prefix, size_t n,
		       struct order_repeats *repeats) _must_check_;
/* Each test alone, a few times more: does it always end the same way? */
struct err *flaky_ask_again(struct order_search *search) _must_check_;
/* In which order they go both ways, as short as possible, and how often. */
struct err *flaky_settle(struct order_search *search) _must_check_;

/* *@ret: it went both ways after @prefix, and is flaky. */
struct err *flaky_again(struct order_search *search, size_t test,
			const size_t *prefix, size_t n, bool *ret) _must_check_;
/* What earlier runs found (explain.c). */
struct err *explain_earlier(struct order_search *search) _must_check_;
/* How explaining one suspect ended. */
enum explain_end {
	EXPLAIN_DONE,
	EXPLAIN_LATER, /* there may be other lists: explain_others() */
	EXPLAIN_OPEN,  /* no time, or no smaller order shows it */
};
/*
 * The shortest explanation (explain.c); may replace the order by the natural.
 * Unless @deep, only by one test that is likely to do it.
 */
struct err *explain_one(struct order_search *search,
			struct order_suspect *suspect, bool deep,
			enum explain_end *ret) _must_check_;
/* Other lists of several tests than the one that explains it. */
struct err *explain_others(struct order_search *search,
			   const struct order_suspect *suspect) _must_check_;
/* Do lists that are known say it all? */
bool explain_known(const struct order_search *search,
		   const struct order_suspect *suspect);
/* What ran before it in the same process, in the suite's own order. */
void explain_natural(const struct order_search *search, size_t test,
		     struct order_tests *ret);
/* Findings that turned out to be chance go. */
void explain_drop_chance(struct dependences *found);
/* All single tests that do it, of findings that do not have them yet. */
struct err *explain_singles(struct order_search *search) _must_check_;
/* Roots and cleaners of findings that have none yet (roots.c, clean.c). */
struct err *explain_roots(struct order_search *search) _must_check_;
struct err *explain_cleaners(struct order_search *search) _must_check_;

/* suspects.c: the shortest explanation of each test that has none yet. */
struct err *explain_suspects(struct order_search *search) _must_check_;
/* Other explanations of those that have one. */
struct err *explain_rest(struct order_search *search) _must_check_;
/* Once more those that there was no time for. */
struct err *explain_open(struct order_search *search) _must_check_;
/* Those that remain become findings without an explanation. */
struct err *suspects_give_up(struct order_search *search) _must_check_;
void suspects_free(struct order_search *search);
struct err *find_cleaners(struct order_search *search,
			  struct dependence *dependence) _must_check_;
struct err *order_find_roots(struct order_search *search,
			     struct dependence *dependence) _must_check_;
/* They are those of an order that is no longer shown. */
void order_forget_roots(struct dependence *dependence);

/* ---- strategies (search.c, cover.c) ---- */

struct err *search_systematic(struct order_search *search) _must_check_;
struct err *search_random(struct order_search *search) _must_check_;
/* Only what proof_note() needs. */
struct err *search_proof(struct order_search *search) _must_check_;
/* Orders in which all pairs stand next to each other, as far as there is time. */
struct err *cover_pairs(struct order_search *search) _must_check_;

/*
 * proof.c: of which leftovers all readers pass right after the test that leaves it.
 * The pairs are asked by the search.
 */
struct err *proof_note(struct order_search *search) _must_check_;

/*
 * order_finding.c: takes @dependence over where it succeeds. @pollution: NULL
 * where it is not known.
 */
struct err *order_finding_make(const struct finding_run *run,
			       const struct pollution *pollution,
			       struct dependence *dependence,
			       struct finding *ret) _must_check_;
/* Of low severity where the user's own runs keep the tests before it apart. */
struct err *order_isolate_flaky(const struct finding_run *run,
				const struct pollution *pollution,
				struct finding *finding) _must_check_;
