#include "tracee/vector.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

struct err *vector_read(const struct thread *thread, uint8_t out[VECTOR_ALL])
{
	struct user_fpregs_struct all;
	_Static_assert(sizeof(all.xmm_space) == VECTOR_ALL,
		       "other vector registers");
	if (ptrace(PTRACE_GETFPREGS, thread->tid, 0, &all) < 0)
		return err_errno(errno, "cannot read vector registers");
	memcpy(out, all.xmm_space, VECTOR_ALL);
	return NULL;
}

struct err *vector_write(const struct thread *thread, const uint8_t *bytes,
			 size_t n)
{
	struct user_fpregs_struct all;
	if (ptrace(PTRACE_GETFPREGS, thread->tid, 0, &all) < 0)
		return err_errno(errno, "cannot read vector registers");
	memcpy(all.xmm_space, bytes, n);
	if (ptrace(PTRACE_SETFPREGS, thread->tid, 0, &all) < 0)
		return err_errno(errno, "cannot write vector registers");
	return NULL;
}
