/*
 * Models of what a process is started with, and of the order in which its
 * static variables are initialised. Decided when libraries are ready and before
 * the program's own initialisers.
 */
#include "models/choose_internal.h"

#include "agent/image.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((uintptr_t)4096)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t startup_pick_of(enum wire_model model, uint64_t alternatives)
{
	struct choose_keys keys = {};
	return choose_pick(model, alternatives, keys);
}

/* ---- what is inherited ---- */

static void choose_umask(void)
{
	static const long masks[] = { 022, 077, 002, 027, 0 };
	long others[COUNT(masks)];
	size_t n = 0;
	if (!choose_startup(WIRE_MODEL_umask))
		return;
	long now = sys_call(SYS_umask, 022, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < COUNT(masks); i++) {
		if (masks[i] != now)
			others[n++] = masks[i];
	}
	uint64_t pick = startup_pick_of(WIRE_MODEL_umask, n + 1);
	long mask = pick ? others[pick - 1] : now;
	sys_call(SYS_umask, mask, 0, 0, 0, 0, 0);
	choose_argument("0%u%u%u at the start", (unsigned)now >> 6 & 7,
			(unsigned)now >> 3 & 7, (unsigned)now & 7);
	choose_did("it was 0%u%u%u", (unsigned)mask >> 6 & 7,
		   (unsigned)mask >> 3 & 7, (unsigned)mask & 7);
}

static void choose_descriptors(void)
{
	if (!choose_startup(WIRE_MODEL_descriptors))
		return;
	for (int fd = 0; fd < 3; fd++) {
		if (sys_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) < 0)
			return;
	}
	uint64_t pick = startup_pick_of(WIRE_MODEL_descriptors, 9);
	for (uint64_t i = 0; i < pick; i++)
		sys_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0,
			 0);
	choose_did("%u more were open", (unsigned)pick);
}

static void choose_limit(void)
{
	static const uint64_t sizes[] = { 1024, 2048, 4096, 65536, 524288 };
	uint64_t others[COUNT(sizes)];
	size_t n = 0;
	struct rlimit limit;
	if (!choose_startup(WIRE_MODEL_descriptor_limit) ||
	    sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0))
		return;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		if (sizes[i] <= limit.rlim_max && sizes[i] != limit.rlim_cur)
			others[n++] = sizes[i];
	}
	if (!n)
		return;
	uint64_t pick = startup_pick_of(WIRE_MODEL_descriptor_limit, n + 1);
	if (!pick)
		return;
	choose_argument("%zu at the start", (size_t)limit.rlim_cur);
	choose_did("it was %zu", (size_t)others[pick - 1]);
	limit.rlim_cur = others[pick - 1];
	sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0, 0, 0);
}

/* As the kernel takes it. */
struct startup_kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static bool is_default(int number)
{
	struct startup_kernel_action now = {};
	return !sys_call(SYS_rt_sigaction, number, 0, (long)&now, 8, 0, 0) &&
	       now.handler == SIG_DFL;
}

static void choose_signals(void)
{
	struct startup_kernel_action ignored = { .handler = SIG_IGN };
	if (!choose_startup(WIRE_MODEL_ignored_signals) ||
	    !is_default(SIGHUP) || !is_default(SIGINT) || !is_default(SIGQUIT))
		return;
	uint64_t pick = startup_pick_of(WIRE_MODEL_ignored_signals, 4);
	choose_did("%s%s%s ignored", pick & 1 ? "SIGHUP" : "",
		   pick == 3 ? ", " : "", pick & 2 ? "SIGINT, SIGQUIT" : "");
	if (pick & 1)
		sys_call(SYS_rt_sigaction, SIGHUP, (long)&ignored, 0, 8, 0, 0);
	if (pick & 2) {
		sys_call(SYS_rt_sigaction, SIGINT, (long)&ignored, 0, 8, 0, 0);
		sys_call(SYS_rt_sigaction, SIGQUIT, (long)&ignored, 0, 8, 0, 0);
	}
}

/* ---- of this process ---- */

/* glibc takes the file's preferred size, usually 4096. */
static void choose_buffer(void)
{
	static const size_t sizes[] = { 64, 256, 100, 512, 65536 };
	struct stat status;
	if (!choose_startup(WIRE_MODEL_stdout_buffer) ||
	    sys_call(SYS_fstat, STDOUT_FILENO, (long)&status, 0, 0, 0, 0) ||
	    S_ISCHR(status.st_mode))
		return;
	uint64_t pick =
		startup_pick_of(WIRE_MODEL_stdout_buffer, COUNT(sizes) + 1);
	if (!pick)
		return;
	size_t size = sizes[pick - 1];
	char *buffer = sys_map(size, "stdout");
	if (!buffer)
		return;
	choose_did("its buffer had %zu bytes", size);
	setvbuf(stdout, buffer, _IOFBF, size);
}

static void choose_name(int argc, char **argv)
{
	static char names[][16] = { "program", "./a.out", "a name", "" };
	/* GLib's tests execute themselves by it (g_test_trap_subprocess()). */
	if (argc < 1 || !choose_startup(WIRE_MODEL_program_name) ||
	    lookup_next("g_test_trap_subprocess"))
		return;
	uint64_t pick =
		startup_pick_of(WIRE_MODEL_program_name, COUNT(names) + 1);
	choose_argument("%s", argv[0]);
	choose_did("it was '%s'", pick ? names[pick - 1] : "");
	if (pick)
		argv[0] = names[pick - 1];
}

/* ---- static initialisers ---- */

#define INITIALISERS 4096
/*
 * Those of a file's variables without a priority: gcc and clang call the function
 * _GLOBAL__sub_I_NAME, and one with a priority _GLOBAL__sub_I.00101_NAME or
 * _GLOBAL__I_000101. Which of @functions they are: a bit each.
 */
static size_t find_initialisers(struct file_image *image, uint64_t bias,
				const uint64_t *functions, size_t n,
				bool *is_one)
{
	size_t symbols_n = 0, found = 0;
	const Elf64_Sym *symbols = image_symbols(image, &symbols_n);
	for (size_t i = 0; symbols && i < symbols_n; i++) {
		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC ||
		    !image_begins(image, symbols[i].st_name, "_GLOBAL__sub_I_"))
			continue;
		for (size_t k = 0; k < n; k++) {
			/* Those of the framework are its own affair. */
			if (functions[k] == bias + symbols[i].st_value &&
			    !is_one[k] &&
			    choose_caller(functions[k] + 1) == CHOOSE_PROGRAM) {
				is_one[k] = true;
				found++;
			}
		}
	}
	return found;
}

/* The program's list of them: relocated, and read-only by now. */
static size_t startup_find_constructors(uint64_t **ret, uint64_t *ret_bias)
{
	const struct link_map *program = _r_debug.r_map;
	uint64_t at = 0, size = 0;
	if (!program || !program->l_ld)
		return 0;
	for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_INIT_ARRAY)
			at = d->d_un.d_ptr;
		else if (d->d_tag == DT_INIT_ARRAYSZ)
			size = d->d_un.d_val;
	}
	if (!at || size / 8 < 2 || size / 8 > INITIALISERS)
		return 0;
	*ret = (uint64_t *)(at + program->l_addr);
	*ret_bias = program->l_addr;
	return size / 8;
}

static void startup_permute_array(uint64_t *array, size_t n, const bool *is_one,
				  uint64_t pick, size_t found)
{
	static uint64_t functions[INITIALISERS];
	size_t k = 0;
	uintptr_t from = (uintptr_t)array & ~(PAGE - 1);
	uintptr_t to = ((uintptr_t)(array + n) + PAGE - 1) & ~(PAGE - 1);
	for (size_t i = 0; i < n; i++) {
		if (is_one[i])
			functions[k++] = array[i];
	}
	choose_permute(pick, functions, found, sizeof(*functions));
	if (sys_call(SYS_mprotect, (long)from, (long)(to - from),
		     PROT_READ | PROT_WRITE, 0, 0, 0))
		return;
	k = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_one[i])
			array[i] = functions[k++];
	}
	/*
	 * It stays writable: the pages may hold variables of the program that
	 * were, and what is read-only after relocation is for safety only.
	 */
}

static void choose_initialisers(void)
{
	static bool is_one[INITIALISERS];
	uint64_t *array = NULL, bias = 0;
	struct file_image image = {};
	if (!choose_startup(WIRE_MODEL_static_initialisers))
		return;
	size_t n = startup_find_constructors(&array, &bias);
	if (n < 2 || !image_map("/proc/self/exe", &image))
		return;
	size_t found = find_initialisers(&image, bias, array, n, is_one);
	image_unmap(&image);
	if (found < 2)
		return;
	uint64_t pick = startup_pick_of(WIRE_MODEL_static_initialisers,
					choose_permutations(found));
	choose_argument("%zu files", found);
	choose_did("their variables were initialised in another order");
	if (pick)
		startup_permute_array(array, n, is_one, pick, found);
}

/* ---- when ---- */

typedef int main_function(int, char **, char **);

int __libc_start_main(main_function *main, int argc, char **argv,
		      void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);

/*
 * The program's first instructions call it, after all libraries are
 * initialised; it calls the program's initialisers, and main().
 */
_export_ int __libc_start_main(main_function *main, int argc, char **argv,
			       void (*init)(void), void (*fini)(void),
			       void (*rtld_fini)(void), void *stack_end)
{
	CHOOSE_NEXT(__libc_start_main, 127)
	if (choose_block) {
		if (choose_first) {
			choose_umask();
			choose_descriptors();
			choose_limit();
			choose_signals();
			/* Its own name is all that the suite does not decide. */
			choose_name(argc, argv);
			place_choose();
		}
		environment_choose();
		choose_buffer();
		choose_initialisers();
	}
	return next(main, argc, argv, init, fini, rtld_fini, stack_end);
}
