/*
 * Evidence of an order-dependent test: the shortest orders in which it passes
 * and fails, the tests that make the difference, and through which state.
 */
#pragma once

#include "base/str.h"
#include "base/strv.h"
#include "finding/finding.h"
#include "suite/change.h"

enum order_class {
	ORDER_VICTIM,
	ORDER_BRITTLE,
	ORDER_NON_IDEMPOTENT,
	ORDER_UNEXPLAINED, /* it was seen, and there was no time to explain it */
	ORDER_CLASSES,
};

DEFINE_VEC(order_tests, size_t)
DEFINE_VEC(order_lists, struct order_tests)

struct dependence {
	size_t test;
	enum order_class class;
	/*
	 * Minimal lists of tests. Victims: run before it, in this sequence,
	 * each makes it fail; the first of them are single tests. None is the
	 * test itself, for which there is @twice.
	 */
	struct order_lists polluters;
	/* Brittle: run before it, each makes it pass. */
	struct order_lists setters;
	/* Run between the first of the polluters and the victim: it passes. */
	struct order_lists cleaners;
	/* The same for each of the polluters, by place; may be fewer. */
	VEC(struct order_lists) cleaned;
	bool polluters_complete; /* all single tests were tried */
	bool cleaners_complete;
	struct order_tests passing, failing; /* minimal; the test stands last */
	/* Unexplained: which of the two is the beginning of the suite's own. */
	bool passing_own, failing_own;
	struct finding_failure failure; /* of the failing one */
	struct strv polluted;		/* roots; see roots_known */
	size_t polluted_together; /* how many of them, only together; 0: each */
	bool polluted_outside;	  /* some of them outlive the process */
	bool roots_known;	  /* looked for; and restoring works here */
	bool roots_in_vain;	  /* none of what is compared turns it */
	size_t repeats; /* how many times both orders were confirmed */
	bool natural;	/* it fails in the suite's own order, too */
	bool twice;	/* it fails when it runs a second time */

	/*
	 * Ids of the pollution that explains it: what its culprits leave in
	 * @polluted.
	 */
	struct strv because;
	/*
	 * What one of the tests before it leaves in them; path NULL: unknown.
	 * @change: all that differs under the root, in the order shown.
	 */
	struct {
		struct change change;
		size_t test;
		char *path, *before, *after;
		char *call; /* that may put it back, "f(…)"; NULL: unknown */
	} left;
};

extern const struct finding_kind dependence_kind;
/* NULL: of another kind. */
static inline const struct dependence *
dependence_of(const struct finding *finding)
{
	return finding->kind == &dependence_kind ? finding->evidence : NULL;
}

void dependence_free(struct dependence *dependence);
void order_lists_free(struct order_lists *lists);
const char *order_class_name(enum order_class class);
/* The tests that turn it: polluters or setters; NULL: it turns itself. */
const struct order_lists *
dependence_culprits(const struct dependence *dependence);

/* "alone", "after A, B", "when run a second time" */
struct err *
dependence_append_order(struct str *line, const struct roster *roster,
			const struct order_tests *order) _must_check_;
/* The same of its passing or failing order; or "in the suite's own order" */
struct err *dependence_append_way(struct str *line, const struct roster *roster,
				  const struct dependence *dependence,
				  bool passing) _must_check_;
/* "polluted: a, b", "polluted: [a, b] together", "relies on: a" */
struct err *dependence_append_polluted(struct str *line,
				       const struct dependence *dependence,
				       size_t max) _must_check_;

/* Tests or roots that a line names. */
#define DEPENDENCE_NAMES_MAX 4
