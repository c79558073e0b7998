/*
 * Exploring what a test may do under choices (suite_explore()): its process
 * stops before each choice, is copied for each alternative, and each copy
 * continues to the next choice or to the end. A copy that reaches a choice in a
 * known state (native/fingerprint.h) goes no further.
 *
 * A process can be copied in mid-course only while it has one thread and shares
 * nothing with others that a copy would use up: pipes, sockets, timers. Where
 * it cannot, exploring ends there and says so.
 */
#pragma once

#include "native/session.h"

struct err *explore_run(struct suite *suite, size_t test,
			const struct suite_choices *choices,
			const struct suite_explore_options *options,
			struct suite_graph *ret) _must_check_;
