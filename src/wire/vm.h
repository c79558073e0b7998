/*
 * What the agent in a Java VM (vm/) and the controller (jvm/) say to each other,
 * over a pair of connected stream sockets. The VM inherits its end; the number of
 * the descriptor is in the agent's options ("fd=N").
 *
 * Each message is a head and @size bytes. Numbers are little-endian. A text is
 * its length as a uint32_t and that many bytes of UTF-8.
 *
 * The VM speaks first (WIRE_VM_HELLO). Then the controller asks for one thing at
 * a time, and the VM answers until it is done. After each test the VM waits for
 * WIRE_VM_GO, so that what the test printed and left can be told from the next.
 *
 * Kinds from WIRE_VM_HEAP on are for the parts of the agent, and never reach the
 * Java side. What the VM says is the tested program's word: every number is
 * checked before it is used.
 */
#pragma once

#include <stdint.h>

#define WIRE_VM_VERSION 1
/* Of one message. */
#define WIRE_VM_LARGEST (64U << 20)

enum wire_vm_kind {
	/* To the VM: */
	WIRE_VM_LIST = 1, /* see jvm/java: n, folders of test classes */
	WIRE_VM_RUN,	  /* n, then of each entry its number and its id */
	WIRE_VM_GO,	  /* the test that ended was looked at */
	WIRE_VM_END,	  /* leave */
	/* From the VM: */
	WIRE_VM_HELLO = 16, /* version, then the VM's version as a text */
	WIRE_VM_TEST,	/* one that is there: struct of texts, see jvm_list.c */
	WIRE_VM_LISTED, /* those were all */
	WIRE_VM_STARTED, /* entry */
	WIRE_VM_ENDED,	 /* entry, outcome, µs, line, message, file; waits */
	WIRE_VM_DONE,	 /* all that was asked for has run */
	WIRE_VM_SAYS,	 /* a text that is worth a line under "limits" */
	/* Of the parts, both ways. */
	WIRE_VM_HEAP = 64,
	WIRE_VM_CHOICES = 128,
	WIRE_VM_SCHEDULES = 160,
	WIRE_VM_OUTSIDE = 192,
	WIRE_VM_KINDS = 256,
};

struct wire_vm_head {
	uint32_t size; /* of what follows */
	uint16_t kind;
	uint16_t version;
};

/* In WIRE_VM_ENDED. */
enum wire_vm_outcome {
	WIRE_VM_PASSED,
	WIRE_VM_FAILED,
	WIRE_VM_SKIPPED,
};

/* Moments of a test: enum suite_point. */
enum wire_vm_point {
	WIRE_VM_BEFORE_SETUP,
	WIRE_VM_AFTER_SETUP,
	WIRE_VM_BEFORE_TEARDOWN,
	WIRE_VM_AFTER_TEARDOWN,
};
