/*
 * How far up the stack of this thread may be read.
 *
 * Code without frame pointers keeps anything in the register; only what is
 * between the stack pointer and the end of the thread's stack is therefore
 * followed, and every page of that was once seen to be readable. The end is
 * where the dynamic linker found it for the first thread, and the thread's
 * descriptor for all others: glibc puts it at the top of their stacks.
 *
 * pthread_getattr_np() would say it, but allocates, takes a lock, and may
 * itself be the allocating call.
 */
#include "agent/agent.h"

/* Further than this from the end: some other stack. */
#define FAR (64UL << 20)
/* Pages that are tried in one go, each at about 0.1 µs. */
#define PAGES 2048
/* Stacks of the program's own making cost a few calls, not one each time. */
#define REFUSALS 16

#define PAGE 4096UL

/* Of the dynamic linker; glibc/elf/dl-support.c. */
extern void *__libc_stack_end;

__thread struct stack_bounds stack_bounds
	__attribute__((tls_model("initial-exec")));

static uintptr_t end_of_stack(uintptr_t pointer)
{
	uintptr_t descriptor = (uintptr_t)__builtin_thread_pointer();
	uintptr_t end = (uintptr_t)__libc_stack_end;
	if (pointer < descriptor && descriptor - pointer < FAR)
		return descriptor;
	if (pointer < end && end - pointer < FAR)
		return end;
	return 0;
}

/* Is @pointer, which is not within the bounds yet, now within them? */
bool stack_extend(uintptr_t pointer)
{
	struct stack_bounds *bounds = &stack_bounds;
	uintptr_t low = pointer & ~(PAGE - 1);
	if (bounds->refused >= REFUSALS)
		return false;
	uintptr_t high = bounds->high ? bounds->high : end_of_stack(pointer);
	uintptr_t known =
		bounds->high ? bounds->low : (high + PAGE - 1) & ~(PAGE - 1);
	if (!high || pointer >= high || known - low > PAGES * PAGE) {
		bounds->refused++;
		return false;
	}
	for (uintptr_t page = low; page < known; page += PAGE) {
		if (!sys_readable(page)) {
			bounds->refused++;
			return false;
		}
	}
	bounds->high = high;
	bounds->low = low;
	return true;
}
