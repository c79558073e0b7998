/* What is said to a Java VM that does not read it. */
#include "unit.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "jvm/jvm_vm.h"

static struct jvm_vm *make_vm(int *ret_theirs)
{
	int ends[2];
	struct jvm_vm *vm = calloc(1, sizeof(*vm));
	assert_non_null(vm);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	vm->process = (struct process)PROCESS_INIT;
	vm->block = (struct choice_block)CHOICE_BLOCK_INIT;
	vm->channel = ends[0];
	*ret_theirs = ends[1];
	return vm;
}

/* More than a socket holds. */
static void fill_message(struct str *ret)
{
	static const char some[4096];
	for (int i = 0; i < 1024; i++)
		assert_ok(str_append_n(ret, some, sizeof(some)));
}

static void test_unread(void **state)
{
	(void)state;
	int theirs;
	struct jvm_vm *vm = make_vm(&theirs);
	_cleanup_(str_freep) struct str message = STR_INIT;
	fill_message(&message);
	/* Without this it would wait for half a minute, and not for ever. */
	interrupted = 1;
	assert_ok(jvm_vm_send(vm, WIRE_VM_RUN, &message));
	interrupted = 0;
	jvm_vm_destroy(vm);
	close(theirs);
}

static void test_gone(void **state)
{
	(void)state;
	int theirs;
	struct jvm_vm *vm = make_vm(&theirs);
	_cleanup_(str_freep) struct str message = STR_INIT;
	fill_message(&message);
	close(theirs);
	assert_ok(jvm_vm_send(vm, WIRE_VM_RUN, &message));
	jvm_vm_destroy(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
