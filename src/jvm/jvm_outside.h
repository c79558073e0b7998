/*
 * What tests in a VM leave outside of its heap: files, and the state of its
 * process as far as it is seen without stopping it; or, in a run that looks for
 * readers, who reads those files.
 *
 * The system calls of a VM and of all that it starts are followed
 * (follow/follow.h). At the points of a test that are compared the VM waits until
 * we have looked (wire/vm_outside.h).
 *
 * What belongs to the VM itself does not count: jars that it opened for classes,
 * its sources of random numbers, sockets that it never shows.
 */
#pragma once

#include "jvm/jvm_suite.h"

struct jvm_seen;

extern const struct jvm_part jvm_outside_part;

/* From now on, as @watch says; NULL: no more. */
struct err *jvm_outside_watch(struct jvm_suite *suite,
			      const struct suite_watch *watch) _must_check_;
/* The same for readers; until the next call of one of these two. */
struct err *jvm_outside_watch_places(struct jvm_suite *suite,
				     const struct suite_place *places,
				     size_t n) _must_check_;
/* Before a run: says what cannot be seen. */
struct err *
jvm_outside_begin_run(struct jvm_suite *suite,
		      const struct suite_observer *observer) _must_check_;
/* After all its VMs are gone; NULL is fine. */
void jvm_outside_destroy(struct jvm_outside *outside);

/* For a VM that is about to be started; its follower is for process_spec. */
struct err *jvm_seen_create(struct jvm_suite *suite,
			    struct jvm_seen **ret) _must_check_;
struct follow *jvm_seen_follow(const struct jvm_seen *seen);
/* After the VM was ended; NULL is fine. */
void jvm_seen_destroy(struct jvm_seen *seen);
static inline void jvm_seen_destroyp(struct jvm_seen **seen)
{
	jvm_seen_destroy(*seen);
}
