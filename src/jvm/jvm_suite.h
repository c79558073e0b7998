/*
 * A suite whose tests run in a Java VM: JUnit 3 to 5 and TestNG.
 *
 * A VM is started for each order, with our agent (vm/) and the runner that is
 * compiled from jvm/java. Tests are known by the id that the runner gave them
 * when they were listed: framework, class, and the framework's own name.
 *
 * What is looked at and changed in a VM beyond that belongs to parts, each with
 * its other half in the agent.
 *
 * Invariants:
 *  1. Tests of an order run in one VM, one after the other, until one ends it:
 *     the rest goes on in a new VM.
 *  2. A VM is used for one order only.
 */
#pragma once

#include "base/map.h"
#include "jvm/jvm_build.h"
#include "jvm/jvm_vm.h"
#include "suite/kind.h"

struct jvm_outside;
struct jvm_suite;

/* To add one: define it in a file of its own and list it in jvm_suite.c. */
struct jvm_part {
	/* Adds to the agent's options (",name=value") and the VM's words. */
	struct err *(*prepare)(struct jvm_suite *suite, struct str *options,
			       struct strv *words);
	/* The VM is about to get its first order; no test ran in it. */
	struct err *(*begin)(struct jvm_suite *suite, struct jvm_vm *vm);
	/* Kinds from @first up to (not including) @end come here. */
	uint16_t first, end;
	/*
	 * @entry and @test: of the test that runs or ran last. Also while a
	 * test's end is looked at, until ended() was called.
	 */
	struct err *(*message)(struct jvm_suite *suite, struct jvm_vm *vm,
			       uint16_t kind, struct message_reader *content,
			       size_t entry, size_t test,
			       const struct suite_observer *observer);
	/* A test ended and its VM waits; after the observer's finished(). */
	struct err *(*ended)(struct jvm_suite *suite, struct jvm_vm *vm,
			     size_t entry, size_t test,
			     const struct suite_observer *observer);
	/* The VM ended in this test; after the observer's finished(). */
	struct err *(*gone)(struct jvm_suite *suite, struct jvm_vm *vm,
			    size_t entry, size_t test,
			    const struct suite_observer *observer);
};

extern const struct jvm_part *const jvm_parts[]; /* ends with NULL */

/* Of jvm_heap.h. */
struct jvm_heap {
	const struct suite_watch *watch; /* NULL: nothing is looked at */
	bool eager;
	struct map_text numbers;    /* places: fields on the way → number */
	struct strv places;	    /* by number - 1 */
	struct map_text attributes; /* their roots → number of their place */
	/* Of a run that looks for readers: what is watched, by the VM's number. */
	VEC(size_t) watched; /* number - 1 in @places */
	VEC(size_t) asked;   /* and what it was asked as */
	/* While roots are tried: see jvm_roots.c. */
	size_t span; /* entries up to whose last one's start all is one; 0: none */
	const struct strv *first;    /* classes to initialise before */
	const struct strv *put_back; /* roots restored before … */
	size_t put_entry;	     /* … this entry */
	/*
	 * The test that ended last, where one did in this VM: consecutive tests
	 * are compared.
	 */
	bool any_ended;
	size_t last_entry, last_test;
};

struct suite_schedule;
struct suite_trace;

/* Of jvm_schedules.h: while a test runs under a schedule. */
struct jvm_schedules {
	const struct suite_schedule *schedule; /* NULL: it does not */
	struct suite_trace *trace;
	size_t test;
};

struct jvm_suite {
	struct suite suite;
	struct jvm_heap heap;
	struct jvm_outside *outside; /* jvm_outside.h; NULL: nothing */
	struct strv ids;	     /* by test */
	struct jvm_schedules schedules;
	struct strv folders;
	struct saver *saver;	       /* of files; NULL: none are kept */
	struct process_saving *saving; /* their calls; NULL as above */
	bool shares_files;	       /* its orders do: one at a time */
	VEC(struct jvm_vm *) pool;     /* see jvm_pool.h */
	size_t runs;		       /* so far */
	char *java, *agent, *jar;
	struct jvm_project project; /* empty where no build tool was asked */
	char *class_path;	    /* with the folders and our jar */
	/* jvm_choices.h */
	bool choosing;
	struct suite_choices choices; /* where it does */
};

/* Starts one, as the parts want it; it says hello when it is ready. */
struct err *jvm_suite_start_vm(struct jvm_suite *suite,
			       struct jvm_vm **ret) _must_check_;
/* All that it would be started with, as one text. */
struct err *jvm_suite_vm_words(struct jvm_suite *suite,
			       char **ret) _must_check_;
/* The folders of test classes, as messages begin. */
struct err *jvm_suite_add_folders(const struct jvm_suite *suite,
				  struct str *message) _must_check_;
/* Fills in the tests. */
struct err *jvm_suite_list(struct jvm_suite *suite) _must_check_;
