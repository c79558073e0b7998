/* What the kinds of suites (native/, process/) share. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "suite/suite.h"

struct suite_bench;
struct suite_bench_options;
struct suite_code;
struct suite_explore_options;
struct suite_graph;
struct suite_schedule;
struct suite_trace;

struct suite_ops {
	struct err *(*run)(struct suite *suite, const size_t *order, size_t n,
			   unsigned flags,
			   const struct suite_observer *observer);
	unsigned watched; /* enum suite_watched: what that kind can do */
	/* Both NULL where it can do nothing: see suite_watch(). */
	struct err *(*watch)(struct suite *suite,
			     const struct suite_watch *watch);
	/* NULL: there is nothing to initialise. See suite_initialise(). */
	void (*initialise)(struct suite *suite, bool early);
	struct err *(*run_places)(struct suite *suite, const size_t *order,
				  size_t n, const struct suite_place *places,
				  size_t n_places,
				  const struct suite_observer *observer);
	size_t places_max;
	/* Both or none: see suite_run_adding(). */
	struct err *(*run_adding)(struct suite *suite, const size_t *order,
				  size_t n,
				  const struct suite_observer *observer);
	bool (*add_place)(struct suite *suite, const struct suite_place *place,
			  size_t test);
	/* All or none: see suite_keep_middle(). */
	struct err *(*keep_middle)(struct suite *suite, bool keeps);
	size_t (*middle)(struct suite *suite, const size_t *order, size_t n);
	struct err *(*run_rest)(struct suite *suite, const size_t *order,
				size_t n, const struct suite_place *places,
				size_t n_places,
				const struct suite_observer *observer);
	/* All or none: see suite_beside_start(). */
	struct err *(*beside_start)(struct suite *suite, suite_work *work,
				    void *data, struct suite_beside **ret);
	int (*beside_socket)(const struct suite_beside *beside);
	void (*beside_end)(struct suite_beside *beside);
	/* NULL: order by order, each from its beginning, through run(). */
	struct err *(*run_tree)(struct suite *suite,
				const struct suite_node *nodes, size_t n,
				unsigned flags,
				const struct suite_observer *observer);
	/* Both or none: see suite_keep_files(). put_back() is for run_tree NULL. */
	struct err *(*keep_files)(struct suite *suite, const char *const *paths,
				  size_t n);
	struct err *(*put_back)(struct suite *suite);
	/* NULL: it does not know. See suite_touched_file(). */
	const char *(*touched_file)(const struct suite *suite, size_t i);
	/* NULL: nothing is kept. See suite_unrestored(). */
	const char *(*unrestored)(const struct suite *suite, size_t i);
	/* NULL: there are never roots. */
	struct err *(*try_roots)(struct suite *suite,
				 const struct suite_watch *watch,
				 const size_t *prefix, size_t n, size_t test,
				 suite_judge *judge, void *data,
				 const struct suite_observer *observer);
	/* Both NULL: never possible. See suite/bench.h. */
	struct err *(*work_bench)(
		struct suite *suite, const struct suite_bench_options *options,
		struct err *(*work)(void *data,
				    const struct suite_bench *bench),
		void *data, const struct suite_observer *observer,
		const char **ret_why_not);
	struct err *(*read_code)(struct suite *suite, const char *file,
				 struct suite_code *ret);
	/* Before other orders are tried. NULL: all was said. See suite_declare(). */
	struct err *(*declare)(struct suite *suite, const size_t *tests,
			       size_t n);
	/* Its models are those of Java's library; else all others. */
	bool java_models;
	/* NULL: it cannot. See suite_choose(). */
	struct err *(*choose)(struct suite *suite,
			      const struct suite_choices *choices);
	/* NULL: never possible. See suite_explore(). */
	struct err *(*explore)(struct suite *suite, size_t test,
			       const struct suite_choices *choices,
			       const struct suite_explore_options *options,
			       struct suite_graph *ret);
	/* NULL: it cannot. See suite_run_schedule(). */
	struct err *(*run_schedule)(struct suite *suite, size_t test,
				    const struct suite_schedule *schedule,
				    const struct suite_observer *observer,
				    struct suite_trace *ret);
	void (*close)(struct suite *suite); /* frees what it added and itself */
};

struct suite {
	const struct suite_ops *ops;
	const char *framework;
	struct suite_options options; /* strings stay the caller's */
	VEC(struct suite_test) tests;
	VEC(size_t) groups;	/* their parents; SUITE_NO_GROUP: outermost */
	char *fixture;		/* see suite_fixture() */
	bool fixed;		/* see suite_fixed() */
	suite_taker *hand_over; /* see suite_hand_over() */
	void *hand_over_data;
	uint64_t executions;   /* tests begun: counted where one begins */
	struct map_text names; /* taken; the value is the last number given */
};

/* Takes copies; makes the name unique. */
struct err *suite_add_test(struct suite *suite, const char *name,
			   const char *file, unsigned line,
			   bool disabled) _must_check_;
void suite_free_tests(struct suite *suite);
