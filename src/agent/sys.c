/* System calls that leave errno alone, and memory out of them. */
#include "agent/agent.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* The number comes first, and the last argument is on the stack. */
__asm__(".text\n"
	".globl sys_call\n"
	".hidden sys_call\n"
	".type sys_call, @function\n"
	"sys_call:\n"
	"	.cfi_startproc\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	movq %rdx, %rsi\n"
	"	movq %rcx, %rdx\n"
	"	movq %r8, %r10\n"
	"	movq %r9, %r8\n"
	"	movq 8(%rsp), %r9\n"
	"	syscall\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size sys_call, . - sys_call\n");

/*
 * rt_sigprocmask(2) reads the new set before it looks at what to do with it: a
 * wrong "how" gives EINVAL where memory can be read and EFAULT where not. It
 * changes nothing, and every sandbox allows it.
 */
bool sys_readable(uintptr_t address)
{
	return sys_call(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) ==
	       -EINVAL;
}

struct wire_region *sys_region(void)
{
	uint64_t i =
		__atomic_fetch_add(&agent_heap.regions_n, 1, __ATOMIC_RELAXED);
	if (i < WIRE_REGIONS)
		return &agent_heap.regions[i];
	__atomic_fetch_sub(&agent_heap.regions_n, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *sys_map_named(size_t size, int sharing, const char *name)
{
	/* A region that is not listed would be taken for the program's. */
	struct wire_region *region = sys_region();
	if (!region)
		return NULL;
	long at = sys_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			   sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096)
		return NULL; /* the region's size stays 0 */
	/*
	 * The tables are sparse: huge pages would make a whole one of each
	 * touched place. The rest is courtesy; old kernels refuse the name
	 * (Linux 5.17, CONFIG_ANON_VMA_NAME).
	 */
	sys_call(SYS_madvise, at, (long)size, MADV_NOHUGEPAGE, 0, 0, 0);
	sys_call(SYS_madvise, at, (long)size, MADV_DONTDUMP, 0, 0, 0);
	sys_call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, (long)size,
		 (long)name, 0);
	region->address = (uint64_t)at;
	__atomic_store_n(&region->size, size, __ATOMIC_RELEASE);
	return (void *)at;
}

void *sys_map(size_t size, const char *name)
{
	return sys_map_named(size, MAP_PRIVATE, name);
}

void *sys_map_shared(size_t size, const char *name)
{
	return sys_map_named(size, MAP_SHARED, name);
}

void sys_unmap_all(void)
{
	for (uint64_t i = 0; i < agent_heap.regions_n; i++) {
		struct wire_region *region = &agent_heap.regions[i];
		if (region->size)
			sys_call(SYS_munmap, (long)region->address,
				 (long)region->size, 0, 0, 0, 0);
	}
	agent_heap.regions_n = 0;
}
