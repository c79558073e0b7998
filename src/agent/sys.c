/* System calls that leave errno alone, and memory out of them. */
#include "agent/agent_internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

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

void *sys_map(size_t size, const char *name)
{
	/* A region that is not listed would be taken for the program's. */
	struct wire_region *region = sys_region();
	if (!region)
		return NULL;
	long at = sys_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
