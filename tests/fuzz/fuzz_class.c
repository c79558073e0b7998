/*
 * Any bytes as a class file: it is changed in every way there is, and what comes out
 * can be changed again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "vm/vm_class.h"
#include "vm/vm_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct vm_wrapped wrapped[] = {
	{ .method = "iterator",
	  .shape = VM_RESULT,
	  .helper = "a",
	  .exposed = true },
	{ .method = "run", .shape = VM_SKIP, .helper = "b" },
	{ .method = "read", .shape = VM_LENGTH, .helper = "c" },
	{ .method = "forEach",
	  .shape = VM_ACTION,
	  .helper = "d",
	  .after = "e" },
};
static const struct vm_redirected redirected[] = {
	{ NULL, "wait", "()V", "f", "Ljava/lang/Object;" },
	{ "java/lang/System", "nanoTime", "()J", "g", NULL },
};

static int number_of_field(void *data, const struct vm_field_use *use)
{
	(void)data;
	return use->field_n % 2 ? -1 : use->field_n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct vm_edit edit = {
		.helper_class = VM_HELPER_CLASS,
		.prefix = VM_PREFIX,
		.wrapped = wrapped,
		.n_wrapped = sizeof(wrapped) / sizeof(wrapped[0]),
		.all_results = "same",
		.all_before = "nothing",
		.redirected = redirected,
		.n_redirected = sizeof(redirected) / sizeof(redirected[0]),
		.interface = "polygraph/boot/Original",
		.field = VM_THREAD_KEY,
		.field_descriptor = "J",
		.field_number = number_of_field,
		.field_helper = "h",
	};
	uint8_t *changed = NULL, *again = NULL;
	size_t changed_n = 0, again_n = 0;
	if (vm_class_edit(data, n, &edit, &changed, &changed_n, NULL, NULL) !=
	    VM_CHANGED)
		return 0;
	/* A second time it may have grown beyond what a class file can be. */
	if (vm_class_edit(changed, changed_n, &edit, &again, &again_n, NULL,
			  NULL) == VM_UNCHANGED)
		abort();
	const struct vm_edit none = { .helper_class = VM_HELPER_CLASS,
				      .prefix = VM_PREFIX,
				      .redirected = redirected,
				      .n_redirected = 2 };
	uint8_t *same = NULL;
	if (vm_class_edit(changed, changed_n, &none, &same, &again_n, NULL,
			  NULL) == VM_UNREADABLE)
		abort();
	free(changed);
	free(again);
	free(same);
	return 0;
}
