/*
 * GoogleTest by data, for programs in which link-time optimisation has left neither
 * TestSuite::Run() nor TestInfo::Run(); for gtest.c, whose state is here.
 *
 * What stays is what is virtual: the framework tells its listeners through one
 * object, TestEventRepeater, that a suite or a test begins or has ended. Its loops
 * over suites and over a suite's tests ask at each round how long the list is and
 * which element of it has its turn, by a second list of numbers (which --shuffle
 * changes). Between the end of one and the beginning of the next, both lists are
 * made to lead to the wanted one: that of numbers begins where round i finds its
 * number, and the other one has i + 1 elements, or none if the loop is to end. While
 * a test runs the lists are as they were.
 */
#pragma once

#include "framework/fixture.h"
#include "native/calls.h"

#define GTEST_SUITES_MAX 1000000
#define GTEST_TESTS_MAX 10000000

#define GTEST_REPEATER "_ZN7testing8internal17TestEventRepeater"
#define GTEST_ON_TEST_START GTEST_REPEATER "11OnTestStartERKNS_8TestInfoE"
#define GTEST_ON_TEST_END GTEST_REPEATER "9OnTestEndERKNS_8TestInfoE"
#define GTEST_ON_PART GTEST_REPEATER "16OnTestPartResultERKNS_14TestPartResultE"
#define GTEST_ON_TEAR_DOWN                                                     \
	GTEST_REPEATER "27OnEnvironmentsTearDownStartERKNS_8UnitTestE"

/* testing::TestPartResult, the same from 1.7 on; a std::string has 32 bytes. */
struct gtest_part {
	uint32_t type;
	uint64_t file[4];
	int32_t line;
	uint64_t summary[4];
	uint64_t message[4];
};
_Static_assert(sizeof(struct gtest_part) == 112, "not a TestPartResult");
/* testing::TestPartResult::Type */
enum { PART_NON_FATAL = 1, PART_FATAL = 2, PART_SKIP = 3 };

/* What Environment::SetUp() said, as plain memory. */
struct gtest_verdict {
	uint32_t type;
	unsigned line;
	char file[512];
	char message[512];
};

struct gtest_layout {
	uint64_t suite_tests;	   /* TestSuite::test_info_list_ */
	uint64_t suite_indices;	   /* TestSuite::test_indices_ */
	uint64_t suite_should_run; /* TestSuite::should_run_ */
	uint64_t suite_name;	   /* TestInfo::test_suite_name_ */
	uint64_t name;		   /* TestInfo::name_ */
	uint64_t file;		   /* TestInfo::location_.file */
	uint64_t line;		   /* TestInfo::location_.line */
	uint64_t should_run;	   /* TestInfo::should_run_ */
	uint64_t disabled;	   /* TestInfo::is_disabled_ */
	uint64_t matches;	   /* TestInfo::matches_filter_ */
	uint64_t parts;		   /* TestInfo::result_.test_part_results_ */
	uint64_t death_tests;	   /* TestInfo::result_.death_test_count_ */
	uint64_t impl;		   /* UnitTest::impl_ */
	uint64_t suites;	   /* UnitTestImpl::test_suites_ */
	uint64_t indices;	   /* UnitTestImpl::test_suite_indices_ */
};

/* A loop of the framework over one of its lists. */
struct gtest_loop {
	uint64_t list_at, indices_at; /* std::vector<T *>, std::vector<int> */
	uint64_t list[2], indices[2]; /* their beginnings and ends */
	uint64_t round;		      /* the next one */
	bool aimed;		      /* they are not as they were */
};

struct gtest {
	struct gtest_layout at;
	/* The functions or their parts, whichever are really called. */
	struct raddr suite_run, test_run;
	struct calls suite, test;
	uint64_t group; /* the suite being run; 0: none */
	bool done;
	/* By events. */
	bool by_events;
	uint64_t unit_test;
	struct gtest_loop suites, tests;
	size_t next_at_suite; /* of the run, when the suite began */
	/* Global set-up kept all tests from running. */
	bool none_runs;
	struct raddr stub;
	struct gtest_verdict set_up;
	/* Points of a test, where they are wanted. */
	uint64_t setup_slot; /* of Test's vtable */
	struct fixture fixture;
};

/* gtest.c: the wanted test, if it is of the suite that is running. */
size_t gtest_next_in_group(struct run *run);
struct err *gtest_enable_suite(struct run *run, uint64_t suite) _must_check_;
struct err *gtest_enable_test(struct run *run, size_t test) _must_check_;
struct err *gtest_begin_test(struct run *run, size_t test) _must_check_;
struct err *gtest_end_test(struct run *run) _must_check_;

/* Before anything runs. *@ret_found: the events are there. */
struct err *gtest_events_attach(struct run *run, bool *ret_found) _must_check_;
/* The suites that there are, for gtest.unit_test. */
struct err *gtest_events_suites(struct run *run, uint64_t **ret,
				size_t *ret_n) _must_check_;
struct err *gtest_events_start(struct run *run) _must_check_;
/* At OnEnvironmentsTearDownStart(): all suites are behind us. */
struct err *gtest_events_end(struct run *run) _must_check_;
