#include "jvm/jvm_pool.h"

#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "process/process_run.h"

static void jvm_pool_drop(struct jvm_suite *suite, size_t i, const char *why)
{
	struct jvm_vm *vm = suite->pool.data[i];
	suite->pool.data[i] = suite->pool.data[--suite->pool.n];
	log_debug(LOG_JVM, "VM %d is not used: %s", (int)vm->process.pid, why);
	jvm_vm_destroy(vm);
}

struct err *jvm_pool_take(struct jvm_suite *suite, struct jvm_vm **ret)
{
	_cleanup_(freep) char *words = NULL;
	TRY(jvm_suite_vm_words(suite, &words));
	while (suite->pool.n) {
		/* The one that was started first: it is the nearest to ready. */
		struct jvm_vm *vm = suite->pool.data[0];
		const char *why = strcmp(vm->words, words)	? "other words"
				  : process_ended(&vm->process) ? "it ended"
								: NULL;
		if (why) {
			jvm_pool_drop(suite, 0, why);
			continue;
		}
		memmove(suite->pool.data, suite->pool.data + 1,
			--suite->pool.n * sizeof(*suite->pool.data));
		*ret = vm;
		return NULL;
	}
	return jvm_suite_start_vm(suite, ret);
}

struct err *jvm_pool_fill(struct jvm_suite *suite, size_t n)
{
	n = MIN(n, suite->suite.options.jobs);
	while (suite->pool.n < n) {
		struct jvm_vm *vm = NULL;
		TRY(vec_reserve(&suite->pool, suite->pool.n + 1));
		TRY(jvm_suite_start_vm(suite, &vm));
		suite->pool.data[suite->pool.n++] = vm;
	}
	return NULL;
}

void jvm_pool_free(struct jvm_suite *suite)
{
	for (size_t i = 0; i < suite->pool.n; i++)
		jvm_vm_destroy(suite->pool.data[i]);
	vec_free(&suite->pool);
}
