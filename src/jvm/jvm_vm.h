/*
 * One Java VM with our agent in it: started in a nest as commands are
 * (process/process.h), with a channel over which it is asked to list or to run
 * tests (wire/vm.h).
 *
 * Invariants:
 *  1. Nothing of the user's runs in it before it is asked to.
 *  2. It ends with everything that it started when it is destroyed.
 */
#pragma once

#include "base/str.h"
#include "base/strv.h"
#include "jvm/jvm_message.h"
#include "process/process.h"
#include "suite/choice_block.h"

struct jvm_seen;

struct jvm_vm {
	struct process process;
	int channel;	  /* our end; -1: closed */
	struct str input; /* not taken yet */
	size_t taken;	  /* of it */
	bool ready;	  /* it said hello */
	bool out_open;
	char *words;   /* all that it was started with */
	char *version; /* of Java */
	struct strv adapters;
	bool threads; /* of the program, besides the test's, in this test */
	bool threads_began;	   /* they began in it */
	bool hangs;		   /* all of them wait for good */
	struct choice_block block; /* jvm_choices.h; may be empty */
	struct jvm_seen *seen;	   /* jvm_outside.h; or NULL */
};

/* @options: for the agent, after "fd=N", each with its comma; "" is fine. */
struct jvm_command {
	const char *java;
	const char *agent;
	const char *options;
	const struct strv *words; /* of the VM, the main class included */
	struct follow *follow;	  /* NULL: its calls are not followed */
};

struct err *jvm_vm_start(const struct jvm_command *command,
			 struct jvm_vm **ret) _must_check_;
void jvm_vm_destroy(struct jvm_vm *vm); /* NULL is fine */
static inline void jvm_vm_destroyp(struct jvm_vm **vm)
{
	jvm_vm_destroy(*vm);
}

/* A VM that is gone is none of the errors: that is seen when it is waited for. */
struct err *jvm_vm_send(struct jvm_vm *vm, enum wire_vm_kind kind,
			const struct str *content) _must_check_;
/* Reads what is there, without waiting. */
struct err *jvm_vm_fill(struct jvm_vm *vm) _must_check_;
/*
 * The next whole message, if there is one; its content is there until the next
 * call of jvm_vm_fill(). An error where it is none of a version that we know.
 */
struct err *jvm_vm_next(struct jvm_vm *vm, struct wire_vm_head *ret_head,
			struct message_reader *ret, bool *ret_any) _must_check_;
/* Takes WIRE_VM_HELLO. */
struct err *jvm_vm_hello(struct jvm_vm *vm,
			 struct message_reader *reader) _must_check_;
