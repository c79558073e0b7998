/*
 * Tests of a Java VM under a schedule (suite/schedule.h). Each run has a fresh VM,
 * started for it; the other half, which holds threads and lets time pass, is
 * vm/vm_schedules_internal.h.
 */
#pragma once

#include "jvm/jvm_suite.h"
#include "suite/schedule.h"

extern const struct jvm_part jvm_schedules_part;

/* As suite_ops has it. */
struct err *jvm_run_schedule(struct suite *suite, size_t test,
			     const struct suite_schedule *schedule,
			     const struct suite_observer *observer,
			     struct suite_trace *ret) _must_check_;
