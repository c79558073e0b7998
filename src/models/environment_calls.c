/*
 * Models of calls that describe the machine, the user and the day: the same
 * throughout a run. A model is decided once in each epoch (wire/choices.h), at
 * its first call, so that no call contradicts another.
 */
#include "models/choose_internal.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Epoch and pick, of models that are decided so: by their number. */
static struct {
	uint64_t epoch;
	uint64_t pick;
} decided[WIRE_MODELS_N];

uint64_t choose_once(enum wire_model model, uint64_t alternatives)
{
	uint64_t epoch = choose_block->epoch;
	if (__atomic_load_n(&decided[model].epoch, __ATOMIC_ACQUIRE) ==
	    epoch + 1) {
		choose_again();
		return decided[model].pick;
	}
	struct choose_keys keys = {};
	uint64_t pick = choose_pick(model, alternatives, keys);
	decided[model].pick = pick;
	__atomic_store_n(&decided[model].epoch, epoch + 1, __ATOMIC_RELEASE);
	return pick;
}

/* ---- names of the machine ---- */

static const char *const hosts[] = {
	"localhost",
	"h",
	"some-host.example.org",
	"a-name-of-sixty-three-letters-which-is-as-long-as-labels-can-be",
};

/* NULL: what it is. */
static const char *choose_host_name(const char *now)
{
	uint64_t pick = choose_once(WIRE_MODEL_gethostname, COUNT(hosts) + 1);
	if (!pick)
		return NULL;
	choose_argument("%s", now);
	choose_did("it was %s", hosts[pick - 1]);
	return hosts[pick - 1];
}

static void copy_bounded_text(char *to, size_t size, const char *text)
{
	size_t i = 0;
	for (; text[i] && i + 1 < size; i++)
		to[i] = text[i];
	to[i] = '\0';
}

static int put_host(char *name, size_t size, int result, int before)
{
	char now[65] = "a longer one";
	int number = errno;
	/* The other one may fit. */
	if (result && number != ENAMETOOLONG)
		return result;
	if (!result)
		copy_bounded_text(now, sizeof(now), name);
	const char *other = choose_host_name(now);
	errno = number;
	if (!other)
		return result;
	/* As glibc does it: cut off, and an error. */
	if (text_length(other) < size) {
		copy_bounded_text(name, size, other);
		errno = before;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		name[i] = other[i];
	errno = ENAMETOOLONG;
	return -1;
}

_export_ int gethostname(char *name, size_t size)
{
	CHOOSE_NEXT(gethostname, -1)
	int before = errno;
	int result = next(name, size);
	if (!choose_wanted(WIRE_MODEL_gethostname, CHOOSE_CALLER()))
		return result;
	return put_host(name, size, result, before);
}

/* With _FORTIFY_SOURCE. */
int __gethostname_chk(char *name, size_t size, size_t room);
_export_ int __gethostname_chk(char *name, size_t size, size_t room)
{
	CHOOSE_NEXT(__gethostname_chk, -1)
	int before = errno;
	int result = next(name, size, room);
	if (!choose_wanted(WIRE_MODEL_gethostname, CHOOSE_CALLER()))
		return result;
	return put_host(name, size, result, before);
}

_export_ int uname(struct utsname *ret)
{
	static const char *const tails[] = { "-other", "+", ".el9.x86_64",
					     "-0.bpo.2-cloud-amd64" };
	static const char *const versions[] = {
		"#1 SMP PREEMPT_DYNAMIC",
		"#7",
		"#1 SMP PREEMPT Fri Feb 29 23:59:59 UTC 2008",
		"#1 SMP Debian 6.1.1-1 (2022-12-31)",
	};
	CHOOSE_NEXT(uname, -1)
	int result = next(ret);
	if (result)
		return result;
	if (choose_wanted(WIRE_MODEL_gethostname, CHOOSE_CALLER())) {
		const char *other = choose_host_name(ret->nodename);
		if (other)
			copy_bounded_text(ret->nodename, sizeof(ret->nodename),
					  other);
	}
	if (!choose_wanted(WIRE_MODEL_uname, CHOOSE_CALLER()))
		return 0;
	uint64_t pick = choose_once(WIRE_MODEL_uname, COUNT(tails) + 1);
	if (!pick)
		return 0;
	/* The numbers at its beginning stay. */
	size_t at = 0;
	while (at + 32 < sizeof(ret->release) &&
	       ((ret->release[at] >= '0' && ret->release[at] <= '9') ||
		ret->release[at] == '.'))
		at++;
	copy_bounded_text(ret->release + at, sizeof(ret->release) - at,
			  tails[pick - 1]);
	copy_bounded_text(ret->version, sizeof(ret->version),
			  versions[pick - 1]);
	choose_did("release %s", ret->release);
	return 0;
}

/* ---- processors ---- */

static const long counts[] = { 1, 3, 5, 24, 64, 130 };

/* The program said itself where it runs: that is true from then on. */
static bool affinity_set;

/* How many there are instead of @now. */
static long choose_processor_count(long now)
{
	uint64_t pick = choose_once(WIRE_MODEL_processors, COUNT(counts) + 1);
	if (!pick || now < 1)
		return now;
	long n = counts[pick - 1];
	choose_argument("%ld processors", now);
	choose_did("%ld processors", n);
	return n;
}

_export_ int get_nprocs(void)
{
	CHOOSE_NEXT(get_nprocs, 1)
	int now = next();
	if (!choose_wanted(WIRE_MODEL_processors, CHOOSE_CALLER()))
		return now;
	return (int)choose_processor_count(now);
}

/* Those that are configured are at least those that are online. */
_export_ int get_nprocs_conf(void)
{
	CHOOSE_NEXT(get_nprocs_conf, 1)
	int now = next();
	if (!choose_wanted(WIRE_MODEL_processors, CHOOSE_CALLER()))
		return now;
	int other = (int)choose_processor_count(now);
	return other > now ? other : now;
}

/* The first @n of a set. */
static void keep_first(cpu_set_t *set, size_t size)
{
	unsigned char *bytes = (unsigned char *)set;
	long now = 0, left;
	for (size_t i = 0; i < size * 8; i++)
		now += bytes[i / 8] >> i % 8 & 1;
	left = choose_processor_count(now);
	for (size_t i = 0; i < size * 8; i++) {
		if (bytes[i / 8] >> i % 8 & 1 && left-- <= 0)
			bytes[i / 8] &= (unsigned char)~(1U << i % 8);
	}
}

_export_ int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	CHOOSE_NEXT(sched_getaffinity, -1)
	int result = next(pid, size, set);
	if (!result && !pid && !affinity_set &&
	    choose_wanted(WIRE_MODEL_processors, CHOOSE_CALLER()))
		keep_first(set, size);
	return result;
}

_export_ int pthread_getaffinity_np(pthread_t thread, size_t size,
				    cpu_set_t *set)
{
	CHOOSE_NEXT(pthread_getaffinity_np, ENOSYS)
	int result = next(thread, size, set);
	if (!result && !affinity_set &&
	    choose_wanted(WIRE_MODEL_processors, CHOOSE_CALLER()))
		keep_first(set, size);
	return result;
}

_export_ int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	CHOOSE_NEXT(sched_setaffinity, -1)
	__atomic_store_n(&affinity_set, true, __ATOMIC_RELAXED);
	return next(pid, size, set);
}

_export_ int pthread_setaffinity_np(pthread_t thread, size_t size,
				    const cpu_set_t *set)
{
	CHOOSE_NEXT(pthread_setaffinity_np, ENOSYS)
	__atomic_store_n(&affinity_set, true, __ATOMIC_RELAXED);
	return next(thread, size, set);
}

/* std::thread::hardware_concurrency() */
unsigned _ZNSt6thread20hardware_concurrencyEv(void);
_export_ unsigned _ZNSt6thread20hardware_concurrencyEv(void)
{
	static const unsigned hints[] = { 0, 1, 3, 128 };
	CHOOSE_NEXT(_ZNSt6thread20hardware_concurrencyEv, 0)
	unsigned now = next();
	if (!choose_wanted(WIRE_MODEL_hardware_concurrency, CHOOSE_CALLER()))
		return now;
	uint64_t pick =
		choose_once(WIRE_MODEL_hardware_concurrency, COUNT(hints) + 1);
	if (!pick)
		return now;
	choose_argument("%u processors", now);
	choose_did("it said %u", hints[pick - 1]);
	return hints[pick - 1];
}

/* ---- memory ---- */

/* Pages: all of them, or those that are available. */
static long choose_page_count(long now, bool available)
{
	/* In quarters of what there is; of those, available. */
	static const long quarters[] = { 2, 8, 64, 1, 4 };
	static const long shares[] = { 4, 2, 64, 8, 1000 };
	uint64_t pick =
		choose_once(WIRE_MODEL_memory_size, COUNT(quarters) + 1);
	if (!pick || now < 4)
		return now;
	/* Never more available ones than there are at all. */
	long n = available ? now / shares[pick - 1] * quarters[pick - 1] / 4
			   : now / 4 * quarters[pick - 1];
	choose_argument("%ld pages", now);
	choose_did("%ld pages", n);
	return n > 0 ? n : 1;
}

_export_ long get_phys_pages(void)
{
	CHOOSE_NEXT(get_phys_pages, -1)
	long now = next();
	if (!choose_wanted(WIRE_MODEL_memory_size, CHOOSE_CALLER()))
		return now;
	return choose_page_count(now, false);
}

_export_ long get_avphys_pages(void)
{
	CHOOSE_NEXT(get_avphys_pages, -1)
	long now = next();
	if (!choose_wanted(WIRE_MODEL_memory_size, CHOOSE_CALLER()))
		return now;
	return choose_page_count(now, true);
}

_export_ long sysconf(int name)
{
	CHOOSE_NEXT(sysconf, -1)
	long now = next(name);
	uintptr_t caller = CHOOSE_CALLER();
	long other;
	switch (name) {
	case _SC_NPROCESSORS_ONLN:
		return choose_wanted(WIRE_MODEL_processors, caller)
			       ? choose_processor_count(now)
			       : now;
	case _SC_NPROCESSORS_CONF:
		other = choose_wanted(WIRE_MODEL_processors, caller)
				? choose_processor_count(now)
				: now;
		return other > now ? other : now;
	case _SC_PHYS_PAGES:
	case _SC_AVPHYS_PAGES:
		return choose_wanted(WIRE_MODEL_memory_size, caller)
			       ? choose_page_count(now,
						   name == _SC_AVPHYS_PAGES)
			       : now;
	default:
		return now;
	}
}

_export_ int getloadavg(double averages[], int n)
{
	CHOOSE_NEXT(getloadavg, -1)
	int result = next(averages, n);
	if (n < 1 || result < 1 ||
	    !choose_wanted(WIRE_MODEL_getloadavg, CHOOSE_CALLER()))
		return result;
	uint64_t pick = choose_once(WIRE_MODEL_getloadavg, 5);
	switch (pick) {
	case 0:
		break;
	case 1: /* a busy machine */
	case 2:
		for (int i = 0; i < result && i < 3; i++)
			averages[i] = pick == 1 ? 97.5 - i : 4096.25 + i;
		choose_did("the machine was busy");
		break;
	case 3: /* an idle one */
		for (int i = 0; i < result && i < 3; i++)
			averages[i] = 0;
		choose_did("the machine was idle");
		break;
	default:
		choose_did("it failed");
		return -1;
	}
	return result;
}

/* ---- terminal and user ---- */

static bool terminal_set;

_export_ int ioctl(int fd, unsigned long request, ...)
{
	static const unsigned short sizes[][2] = {
		{ 24, 80 }, { 50, 132 }, { 5, 20 }, { 43, 211 }, { 0, 0 },
	};
	__builtin_va_list list;
	__builtin_va_start(list, request);
	void *argument = __builtin_va_arg(list, void *);
	__builtin_va_end(list);
	CHOOSE_NEXT(ioctl, -1)
	int result = next(fd, request, argument);
	if (unlikely(request == TIOCSWINSZ))
		__atomic_store_n(&terminal_set, true, __ATOMIC_RELAXED);
	if (request != TIOCGWINSZ || result || terminal_set ||
	    !choose_wanted(WIRE_MODEL_terminal_size, CHOOSE_CALLER()))
		return result;
	uint64_t pick = choose_once(WIRE_MODEL_terminal_size, COUNT(sizes) + 1);
	if (!pick)
		return result;
	struct winsize *size = argument;
	choose_argument("descriptor %d, %u columns", fd,
			(unsigned)size->ws_col);
	choose_did("it had %u columns, %u lines", (unsigned)sizes[pick - 1][1],
		   (unsigned)sizes[pick - 1][0]);
	size->ws_row = sizes[pick - 1][0];
	size->ws_col = sizes[pick - 1][1];
	return result;
}

/* Another name, "" for a failure; NULL: as it is. */
static const char *choose_login_name(const char *now)
{
	static const char *const names[] = { "", "root", "daemon" };
	uint64_t pick = choose_once(WIRE_MODEL_getlogin, COUNT(names) + 1);
	if (!pick)
		return NULL;
	const char *other = names[pick - 1];
	/* It failed already. */
	if (!*other && !now)
		other = "daemon";
	choose_argument("%s", now ? now : "nobody logged in");
	choose_did("it was %s", *other ? other : "not known");
	return other;
}

_export_ char *getlogin(void)
{
	static char name[16];
	CHOOSE_NEXT(getlogin, NULL)
	char *now = next();
	if (!choose_wanted(WIRE_MODEL_getlogin, CHOOSE_CALLER()))
		return now;
	int number = errno;
	const char *other = choose_login_name(now);
	errno = number;
	if (!other)
		return now;
	if (!*other) {
		errno = ENXIO;
		return NULL;
	}
	copy_bounded_text(name, sizeof(name), other);
	return name;
}

static int put_login(char *name, size_t size, int result)
{
	const char *other = choose_login_name(result ? NULL : name);
	if (!other)
		return result;
	if (!*other)
		return ENXIO;
	if (text_length(other) >= size)
		return ERANGE;
	copy_bounded_text(name, size, other);
	return 0;
}

_export_ int getlogin_r(char *name, size_t size)
{
	CHOOSE_NEXT(getlogin_r, ENOSYS)
	int result = next(name, size);
	if (!choose_wanted(WIRE_MODEL_getlogin, CHOOSE_CALLER()))
		return result;
	return put_login(name, size, result);
}

int __getlogin_r_chk(char *name, size_t size, size_t room);
_export_ int __getlogin_r_chk(char *name, size_t size, size_t room)
{
	CHOOSE_NEXT(__getlogin_r_chk, ENOSYS)
	int result = next(name, size, room);
	if (!choose_wanted(WIRE_MODEL_getlogin, CHOOSE_CALLER()))
		return result;
	return put_login(name, size, result);
}
