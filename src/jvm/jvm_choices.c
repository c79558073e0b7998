#include "jvm/jvm_choices.h"

#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "suite/agent_library.h"

struct err *jvm_choose(struct suite *suite, const struct suite_choices *choices)
{
	struct jvm_suite *self = (struct jvm_suite *)suite;
	self->choosing = choices != NULL;
	self->choices = choices ? *choices : (struct suite_choices){};
	return NULL;
}

struct err *jvm_choices_add_words(const struct jvm_suite *suite,
				  struct strv *words)
{
	_cleanup_(freep) char *jar = NULL;
	if (suite->suite.options.agent != SUITE_AGENT_CHOICES)
		return NULL;
	TRY(agent_library_find(AGENT_LIBRARY_BOOT, &jar));
	/* It is called before anything but java.base can be loaded. */
	TRY(strv_addf(words, "--patch-module=java.base=%s", jar));
	TRY(strv_add(words,
		     "--add-exports=java.base/polygraph.boot=ALL-UNNAMED"));
	/* The VM warns of native methods in java.base that are not its own. */
	return strv_add(words, "-Xlog:jni+resolve=error");
}

struct err *jvm_choices_prepare(const struct jvm_suite *suite,
				struct str *options, struct choice_block *ret)
{
	_cleanup_(choice_block_free) struct choice_block block =
		CHOICE_BLOCK_INIT;
	if (suite->suite.options.agent != SUITE_AGENT_CHOICES)
		return NULL;
	TRY(choice_block_create(&suite->suite.options, &block));
	TRY(str_appendf(options, ",controller=%d,block=%d", (int)getpid(),
			block.fd));
	*ret = block;
	block = (struct choice_block)CHOICE_BLOCK_INIT;
	return NULL;
}

void jvm_choices_begin(const struct jvm_suite *suite, struct jvm_vm *vm,
		       size_t test)
{
	struct wire_choices *block = vm->block.shared;
	if (!block || !suite->choosing)
		return;
	choice_block_fill(block, &suite->choices);
	choice_block_test(block, &suite->choices, test);
	memset(block->made, 0, sizeof(block->made));
	memset(block->acted, 0, sizeof(block->acted));
	memset(block->left_alone, 0, sizeof(block->left_alone));
	block->threads_n = block->records_n = block->trace_n = 0;
	block->phase = 1;
	block->epoch++;
	__atomic_store_n(&block->active, 1, __ATOMIC_RELEASE);
}

void jvm_choices_end(const struct jvm_suite *suite, struct jvm_vm *vm,
		     size_t entry, size_t test,
		     const struct suite_observer *observer)
{
	struct wire_choices *block = vm->block.shared;
	if (!block || !suite->choosing)
		return;
	__atomic_store_n(&block->active, 0, __ATOMIC_RELEASE);
	if (observer->chosen)
		observer->chosen(observer->data, entry, test, block);
}
