/* Cases of the models of values of which only a property is promised. */
#include <cctype>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <cwchar>
#include <cwctype>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <netdb.h>
#include <new>
#include <random>
#include <regex.h>
#include <stdexcept>
#include <string>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <system_error>
#include <vector>

#include "cases.h"

#include "clocks.h"

/* ---- comparisons ---- */

/* Long, and not known to the compiler: it compares short ones itself. */
static const char *volatile apple = "an apple a day keeps the doctor away";
static const char *volatile apply = "an apple a day keeps the doctor awaz";
static const wchar_t *volatile wide_apple = L"an apple a day";
static const wchar_t *volatile wide_apply = L"an apple a daz";
static volatile size_t length = 36, wide_length = 14;

#define COMPARES(name, call, same, back)                                       \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		int result = call;                                             \
		return result == 1;                                            \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		return (call) > 0 && (back) < 0 && (same) == 0;                \
	}
#define COMPARES_TEXT(name)                                                    \
	COMPARES(name, name(apply, apple), name(apple, apple),                 \
		 name(apple, apply))
#define COMPARES_N(name)                                                       \
	COMPARES(name, name(apply, apple, length),                             \
		 name(apple, apply, length - 1), name(apple, apply, length))
#define COMPARES_WIDE(name)                                                    \
	COMPARES(name, name(wide_apply, wide_apple),                           \
		 name(wide_apple, wide_apple), name(wide_apple, wide_apply))
#define COMPARES_WIDE_N(name)                                                  \
	COMPARES(name, name(wide_apply, wide_apple, wide_length),              \
		 name(wide_apple, wide_apply, wide_length - 1),                \
		 name(wide_apple, wide_apply, wide_length))

COMPARES_TEXT(strcmp)
COMPARES_N(strncmp)
COMPARES_N(memcmp)
COMPARES_TEXT(strcasecmp)
COMPARES_N(strncasecmp)
COMPARES_TEXT(strcoll)
COMPARES_TEXT(strverscmp)
COMPARES_WIDE(wcscmp)
COMPARES_WIDE_N(wcsncmp)
COMPARES_WIDE(wcscasecmp)
COMPARES_WIDE(wcscoll)
COMPARES_WIDE_N(wmemcmp)

static int (*volatile compare_bytes)(const void *, const void *, size_t) = bcmp;

static bool bcmp_fragile(void)
{
	return compare_bytes(apply, apple, length) == 1;
}

static bool bcmp_correct(void)
{
	return compare_bytes(apply, apple, length) != 0 &&
	       compare_bytes(apple, apply, length - 1) == 0;
}

static bool string_compare_fragile(void)
{
	std::string a = apply, b = apple;
	return a.compare(b) == 1;
}

static bool string_compare_correct(void)
{
	std::string a = apply, b = apple;
	return a.compare(b) > 0 && b.compare(a) < 0 && a.compare(a) == 0 &&
	       b < a && !(a < b) && a.compare(0, 10, b, 0, 10) == 0 &&
	       b.compare(apply) < 0;
}

/* ---- kinds of characters ---- */

/* Through a pointer: the compiler knows some of them. */
#define KIND(name, type, yes, no)                                              \
	static int (*volatile name##_pointer)(type) = name;                    \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		static volatile int usual;                                     \
		/* As the C library has it: its own bits. */                   \
		usual = name##_usual;                                          \
		return name##_pointer(yes) == usual;                           \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		return name##_pointer(yes) && !name##_pointer(no);             \
	}
enum {
	isalnum_usual = 8,
	isalpha_usual = 1024,
	isblank_usual = 1,
	iscntrl_usual = 2,
	isdigit_usual = 2048,
	isgraph_usual = 32768,
	islower_usual = 512,
	isprint_usual = 16384,
	ispunct_usual = 4,
	isspace_usual = 8192,
	isupper_usual = 256,
	isxdigit_usual = 4096,
	iswalnum_usual = 8,
	iswalpha_usual = 1024,
	iswdigit_usual = 1,
	iswlower_usual = 512,
	iswprint_usual = 16384,
	iswpunct_usual = 4,
	iswspace_usual = 8192,
	iswupper_usual = 256,
};

KIND(isalnum, int, 'a', '#')
KIND(isalpha, int, 'a', '1')
KIND(isblank, int, ' ', 'a')
KIND(iscntrl, int, '\n', 'a')
KIND(isdigit, int, '7', 'a')
KIND(isgraph, int, 'a', ' ')
KIND(islower, int, 'a', 'A')
KIND(isprint, int, 'a', '\n')
KIND(ispunct, int, '.', 'a')
KIND(isspace, int, ' ', 'a')
KIND(isupper, int, 'A', 'a')
KIND(isxdigit, int, 'f', 'g')
KIND(iswalnum, wint_t, L'a', L'#')
KIND(iswalpha, wint_t, L'a', L'1')
KIND(iswdigit, wint_t, L'7', L'a')
KIND(iswlower, wint_t, L'a', L'A')
KIND(iswprint, wint_t, L'a', L'\n')
KIND(iswpunct, wint_t, L'.', L'a')
KIND(iswspace, wint_t, L' ', L'a')
KIND(iswupper, wint_t, L'A', L'a')

/* ---- texts ---- */

static bool printf_p_fragile(void)
{
	char text[64];
	snprintf(text, sizeof(text), "<%p>", (void *)0xabcd);
	return !strcmp(text, "<0xabcd>");
}

static bool printf_p_correct(void)
{
	static int object;
	char text[128], again[128];
	void *read = NULL, *padded = NULL;
	snprintf(text, sizeof(text), "100%% %p %d", (void *)&object, 7);
	sprintf(again, "100%% %p %d", (void *)&object, 7);
	int seven = 0;
	if (strcmp(text, again) ||
	    sscanf(text, "100%% %p %d", &read, &seven) != 2 ||
	    read != &object || seven != 7)
		return false;
	if (snprintf(text, sizeof(text), "%2$s%1$30p|", (void *)&object, "x") !=
		    32 ||
	    text[0] != 'x' || sscanf(text + 1, "%p", &padded) != 1)
		return false;
	return padded == &object;
}

static bool strerror_fragile(void)
{
	return !strcmp(strerror(ENOENT), "No such file or directory");
}

static bool strerror_correct(void)
{
	char text[256], expected[256], buffer[256], copy[200];
	snprintf(copy, sizeof(copy), "%s", strerror(ENOENT));
	errno = ENOENT;
	snprintf(text, sizeof(text), "x: %m!");
	snprintf(expected, sizeof(expected), "x: %s!", copy);
	if (strcmp(text, expected) || !*copy)
		return false;
	std::error_code code(ENOENT, std::generic_category());
	if (code.message() != copy)
		return false;
	return !strcmp(strerror_r(ENOENT, buffer, sizeof(buffer)), copy);
}

static bool strerror_r_fragile(void)
{
	char buffer[256] = "";
	return strerror_r(ENOENT, buffer, sizeof(buffer)) != buffer;
}

static bool strerror_r_correct(void)
{
	char buffer[256] = "", small[4] = "";
	const char *text = strerror_r(EACCES, buffer, sizeof(buffer));
	return *text && *strerror_r(EACCES, small, sizeof(small));
}

static bool strsignal_fragile(void)
{
	return !strcmp(strsignal(SIGSEGV), "Segmentation fault");
}

static bool strsignal_correct(void)
{
	std::string first = strsignal(SIGSEGV), second = strsignal(SIGSEGV);
	return !first.empty() && first == second;
}

static bool gai_strerror_fragile(void)
{
	return !strcmp(gai_strerror(EAI_NONAME), "Name or service not known");
}

static bool gai_strerror_correct(void)
{
	return !strcmp(gai_strerror(EAI_NONAME), gai_strerror(EAI_NONAME)) &&
	       *gai_strerror(EAI_FAIL);
}

static bool hstrerror_fragile(void)
{
	return !strcmp(hstrerror(HOST_NOT_FOUND), "Unknown host");
}

static bool hstrerror_correct(void)
{
	return !strcmp(hstrerror(HOST_NOT_FOUND), hstrerror(HOST_NOT_FOUND));
}

static bool regerror_fragile(void)
{
	char text[128];
	regerror(REG_NOMATCH, NULL, text, sizeof(text));
	return !strcmp(text, "No match");
}

static bool regerror_correct(void)
{
	char text[256], small[4];
	size_t n = regerror(REG_NOMATCH, NULL, text, sizeof(text));
	size_t again = regerror(REG_NOMATCH, NULL, small, sizeof(small));
	return n == strlen(text) + 1 && again == n && !memcmp(text, small, 3) &&
	       !small[3];
}

static bool exception_what_fragile(void)
{
	std::bad_alloc error;
	const std::exception *volatile pointer = &error;
	return !strcmp(pointer->what(), "std::bad_alloc");
}

static bool exception_what_correct(void)
{
	std::runtime_error own("my text");
	std::bad_alloc error;
	const std::exception *volatile pointer = &own;
	if (strcmp(pointer->what(), "my text"))
		return false;
	pointer = &error;
	return *pointer->what();
}

static bool exception_text_fragile(void)
{
	try {
		(void)std::stoi("x");
	} catch (const std::invalid_argument &error) {
		return !strcmp(error.what(), "stoi");
	}
	return false;
}

static bool exception_text_correct(void)
{
	try {
		std::vector<int> three(3);
		(void)three.at(7);
		return false;
	} catch (const std::out_of_range &error) {
		if (!*error.what())
			return false;
	}
	try {
		(void)std::stoi("x");
	} catch (const std::invalid_argument &error) {
		return *error.what();
	}
	return false;
}

/* ---- streams ---- */

static void quiet(void)
{
	int fd = open("/dev/null", O_WRONLY);
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

static bool puts_fragile(void)
{
	quiet();
	volatile int result = puts("abc");
	return result == 4;
}

static bool puts_correct(void)
{
	quiet();
	volatile int result = puts("abc");
	return result >= 0;
}

static bool fputs_fragile(void)
{
	quiet();
	volatile int result = fputs("abc", stdout);
	return result == 1;
}

static bool fputs_correct(void)
{
	quiet();
	volatile int result = fputs("abc", stdout);
	FILE *file = fopen("/dev/null", "r");
	return result >= 0 && fputs("abc", file) == EOF;
}

static bool feof_fragile(void)
{
	FILE *file = fopen("/dev/null", "r");
	return fgetc(file) == EOF && feof(file) == 1;
}

static bool feof_correct(void)
{
	FILE *file = fopen("/dev/null", "r");
	return !feof(file) && fgetc(file) == EOF && feof(file) && !ferror(file);
}

static bool ferror_fragile(void)
{
	FILE *file = fopen("/dev/null", "r");
	return fputc('x', file) == EOF && ferror(file) == 1;
}

static bool ferror_correct(void)
{
	FILE *file = fopen("/dev/null", "r");
	return !ferror(file) && fputc('x', file) == EOF && ferror(file);
}

static bool printf_errno_fragile(void)
{
	quiet();
	errno = 0;
	printf("%d\n", 1);
	return errno == 0;
}

static bool printf_errno_correct(void)
{
	quiet();
	errno = 0;
	return printf("%d\n", 1) == 2 && (printf("%d", 1) >= 0 || errno);
}

static bool fopen_errno_fragile(void)
{
	errno = 0;
	FILE *file = fopen("/dev/null", "r");
	return file && errno == 0;
}

static bool fopen_errno_correct(void)
{
	FILE *file = fopen("/dev/null", "r");
	return file && !fopen("/dev/null/x", "r") && errno == ENOTDIR;
}

/* ---- numbers ---- */

#define CONVERTS(name, ...)                                                    \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		char *end;                                                     \
		errno = 0;                                                     \
		return name("none", &end __VA_ARGS__) == 0 && errno == 0;      \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		static const char none[] = "none", some[] = "12";              \
		char *end;                                                     \
		if (name(none, &end __VA_ARGS__) != 0 || end != none)          \
			return false;                                          \
		errno = 0;                                                     \
		return name(some, &end __VA_ARGS__) == 12 && !*end && !errno;  \
	}
#define BASE_TEN , 10
CONVERTS(strtol, BASE_TEN)
CONVERTS(strtoll, BASE_TEN)
CONVERTS(strtoul, BASE_TEN)
CONVERTS(strtoull, BASE_TEN)
CONVERTS(strtod)

static bool rand_fragile(void)
{
	srand(1);
	return rand() == 1804289383;
}

static bool rand_correct(void)
{
	srand(7);
	int first = rand(), second = rand();
	srand(7);
	int again = rand();
	bool other = first != second || rand() != second;
	srand(1);
	int one = rand();
	srand(1);
	return first == again && other && first >= 0 && one == rand();
}

static bool random_fragile(void)
{
	srandom(1);
	return random() == 1804289383;
}

static bool random_correct(void)
{
	srandom(7);
	long first = random(), second = random();
	srandom(7);
	return first == random() && second == random() && first >= 0 &&
	       first < 1L << 31;
}

static bool rand_r_fragile(void)
{
	unsigned seed = 1;
	return rand_r(&seed) == 476707713;
}

static bool rand_r_correct(void)
{
	unsigned seed = 1, again = 1;
	int first = rand_r(&seed);
	return first == rand_r(&again) && seed == again && first >= 0;
}

static bool getrandom_fragile(void)
{
	static char data[1000];
	return getrandom(data, sizeof(data), 0) == sizeof(data);
}

static bool getrandom_correct(void)
{
	static char data[1000];
	size_t n = 0;
	for (int i = 0; n < sizeof(data) && i < 1000; i++) {
		ssize_t got = getrandom(data + n, sizeof(data) - n, 0);
		if (got <= 0)
			return false;
		n += (size_t)got;
	}
	return n == sizeof(data) && getrandom(data, 256, 0) == 256;
}

static bool random_device_fragile(void)
{
	std::random_device device;
	unsigned value = device();
	return value != 0 && value != UINT_MAX;
}

static bool random_device_correct(void)
{
	std::random_device device;
	unsigned value = device();
	return value >= device.min() && value <= device.max();
}

#define NEARLY(name, literal, exact, ...)                                      \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		volatile double x = 0.7, result = name(__VA_ARGS__);           \
		return result == literal;                                      \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		volatile double x = 0.7, result = name(__VA_ARGS__);           \
		return std::fabs(result - literal) < 1e-12 && (exact);         \
	}
static volatile double zero = 0, one = 1, two = 2, three = 3;
NEARLY(sin, 0.644217687237691, sin(zero) == 0, x)
NEARLY(cos, 0.7648421872844885, cos(zero) == 1, x)
NEARLY(exp, 2.0137527074704766, exp(zero) == 1, x)
NEARLY(log, -0.35667494393873245, log(one) == 0, x)
NEARLY(pow, 0.291992284061431, pow(two, three) == 8, x, 3.4514)

static bool clock_fragile(void)
{
	return clock() < 50 * CLOCKS_PER_SEC;
}

static bool clock_correct(void)
{
	clock_t before = clock(), after = clock();
	return after >= before && after - before < 10 * CLOCKS_PER_SEC;
}

static bool times_fragile(void)
{
	struct tms tms;
	return times(&tms) < 1L << 36; /* as if the past began with the machine */
}

static bool times_correct(void)
{
	struct tms tms;
	clock_t before = times(&tms), after = times(&tms);
	return before != -1 && after >= before && after - before < 1000;
}

static bool strftime_fragile(void)
{
	char text[5] = "";
	struct tm tm = {};
	tm.tm_year = 126;
	strftime(text, sizeof(text), "%Y-%m-%d", &tm);
	return text[0] == '2';
}

static bool strftime_correct(void)
{
	char text[5] = "", whole[16], empty[4];
	struct tm tm = {};
	tm.tm_year = 126;
	tm.tm_mday = 1;
	const char *volatile nothing = "";
	return !strftime(text, sizeof(text), "%Y-%m-%d", &tm) &&
	       strftime(whole, sizeof(whole), "%Y-%m-%d", &tm) == 10 &&
	       !strcmp(whole, "2026-01-01") &&
	       !strftime(empty, sizeof(empty), nothing, &tm) && !*empty;
}

static bool strxfrm_fragile(void)
{
	char key[4] = "";
	strxfrm(key, apple, sizeof(key));
	return key[0] == 'a' && key[1] == 'n';
}

static bool strxfrm_correct(void)
{
	char a[512], b[512];
	return strxfrm(a, apple, sizeof(a)) < sizeof(a) &&
	       strxfrm(b, apply, sizeof(b)) < sizeof(b) && strcmp(a, b) < 0;
}

/* ---- descriptors and files ---- */

static int lowest(void)
{
	int fd = dup(STDIN_FILENO);
	close(fd);
	return fd;
}

#define DESCRIBES(name, call)                                                  \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		int low = lowest();                                            \
		return (call) == low;                                          \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		int low = lowest(), fd = call, other = lowest();               \
		return fd >= low && fcntl(fd, F_GETFD) == FD_CLOEXEC &&        \
		       (other == low || fd == low) && !close(fd);              \
	}
DESCRIBES(memfd_create, memfd_create("x", MFD_CLOEXEC))
DESCRIBES(eventfd, eventfd(0, EFD_CLOEXEC))
DESCRIBES(timerfd_create, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC))
DESCRIBES(epoll_create1, epoll_create1(EPOLL_CLOEXEC))
DESCRIBES(inotify_init1, inotify_init1(IN_CLOEXEC))

/* A directory of its own, which goes with it. */
struct folder {
	char path[64];
	folder()
	{
		strcpy(path, "/tmp/models-values-XXXXXX");
		if (!mkdtemp(path))
			abort();
	}
	std::string operator/(const char *name) const
	{
		return std::string(path) + "/" + name;
	}
	~folder()
	{
		for (const char *name : { "file", "link", "sub" })
			::remove((*this / name).c_str());
		rmdir(path);
	}
};

static bool stat_directory_fragile(void)
{
	folder folder;
	struct stat before, after;
	stat(folder.path, &before);
	mkdir((folder / "sub").c_str(), 0700);
	stat(folder.path, &after);
	return after.st_nlink == before.st_nlink + 1;
}

/* All ways to ask agree. */
static bool agree(const char *path)
{
	struct stat a, b, c, d;
	struct statx e;
	int fd = open(path, O_RDONLY);
	bool same = !stat(path, &a) && !lstat(path, &b) && !fstat(fd, &c) &&
		    !fstatat(AT_FDCWD, path, &d, 0) &&
		    !statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &e) &&
		    a.st_ino == b.st_ino && a.st_ino == c.st_ino &&
		    a.st_ino == d.st_ino && a.st_ino == e.stx_ino &&
		    a.st_size == b.st_size && a.st_size == c.st_size &&
		    a.st_size == d.st_size && a.st_size == (off_t)e.stx_size &&
		    a.st_nlink == e.stx_nlink && a.st_nlink == c.st_nlink &&
		    a.st_mtim.tv_nsec == c.st_mtim.tv_nsec &&
		    a.st_mtim.tv_nsec == (long)e.stx_mtime.tv_nsec &&
		    a.st_blksize > 0 && a.st_nlink > 0 && a.st_ino;
	close(fd);
	return same;
}

static bool stat_correct(void)
{
	folder folder;
	std::ofstream(folder / "file") << "12345";
	struct stat file, dir;
	return agree(folder.path) && agree((folder / "file").c_str()) &&
	       !stat((folder / "file").c_str(), &file) && file.st_size == 5 &&
	       file.st_nlink == 1 && !stat(folder.path, &dir) &&
	       S_ISDIR(dir.st_mode) && dir.st_ino != file.st_ino;
}
static bool (*const stat_directory_correct)(void) = stat_correct;
static bool (*const stat_blksize_correct)(void) = stat_correct;
static bool (*const stat_times_correct)(void) = stat_correct;
static bool (*const stat_inode_correct)(void) = stat_correct;

static bool stat_blksize_fragile(void)
{
	struct stat stat;
	return !fstatat(AT_FDCWD, "/", &stat, 0) && stat.st_blksize == 4096;
}

static bool stat_times_fragile(void)
{
	folder folder;
	std::ofstream(folder / "file") << "1";
	struct timespec times[2] = { { 1000, 123456789 }, { 1000, 123456789 } };
	struct stat stat;
	return !utimensat(AT_FDCWD, (folder / "file").c_str(), times, 0) &&
	       !::stat((folder / "file").c_str(), &stat) &&
	       stat.st_mtim.tv_nsec == 123456789;
}

static bool stat_inode_fragile(void)
{
	struct stat stat;
	return !::stat("/", &stat) && stat.st_ino < 1ULL << 44;
}

static bool usual(const char *name)
{
	for (; *name; name++) {
		if (!isalnum((unsigned char)*name))
			return false;
	}
	return true;
}

static bool mkstemp_fragile(void)
{
	char name[] = "/tmp/models-values-XXXXXX";
	int fd = mkstemp(name);
	unlink(name);
	return fd >= 0 && usual(name + sizeof(name) - 7);
}

static bool mkstemp_correct(void)
{
	char name[] = "/tmp/models-values-XXXXXX";
	char other[] = "/tmp/models-values-XXXXXX.c", wrong[] = "/tmp/XXX";
	int fd = mkstemp(name), second = mkstemps(other, 2);
	struct stat a, b;
	bool good = fd >= 0 && second >= 0 && fd != second &&
		    strcmp(name, other) != 0 && !fstat(fd, &a) &&
		    !stat(name, &b) && a.st_ino == b.st_ino &&
		    (a.st_mode & 0777) == 0600 && write(fd, "x", 1) == 1 &&
		    !strcmp(other + sizeof(other) - 3, ".c") &&
		    mkstemp(wrong) < 0 && errno == EINVAL;
	unlink(name);
	unlink(other);
	return good;
}

static bool mkdtemp_fragile(void)
{
	folder folder;
	return usual(folder.path + strlen(folder.path) - 6);
}

static bool mkdtemp_correct(void)
{
	folder a, b;
	struct stat stat;
	return strcmp(a.path, b.path) != 0 && !::stat(a.path, &stat) &&
	       (stat.st_mode & 0777) == 0700 && !strstr(a.path, "XXXXXX");
}

static FILE *lines(void)
{
	FILE *file = tmpfile();
	fputs("one\nanother\n", file);
	rewind(file);
	return file;
}

static bool getline_fragile(void)
{
	char *line = NULL;
	size_t n = 0;
	return getline(&line, &n, lines()) == 4 && n == 120;
}

static bool getline_correct(void)
{
	FILE *file = lines();
	char *line = NULL, *own = (char *)malloc(100);
	size_t n = 0, own_n = 100;
	bool good = getline(&line, &n, file) == 4 && n >= 5 &&
		    !strcmp(line, "one\n") && getline(&line, &n, file) == 8 &&
		    n >= 9 && !strcmp(line, "another\n") &&
		    getline(&line, &n, file) == -1;
	rewind(file);
	char *before = own;
	good = good && getline(&own, &own_n, file) == 4 && own == before &&
	       own_n == 100;
	free(line);
	free(own);
	return good;
}

static bool readlink_fragile(void)
{
	folder folder;
	char name[64] = "";
	symlink("target", (folder / "link").c_str());
	readlink((folder / "link").c_str(), name, sizeof(name) - 1);
	return !strcmp(name, "target");
}

static bool readlink_correct(void)
{
	folder folder;
	char name[65], small[4] = { 0, 0, 0, 'x' };
	symlink("target", (folder / "link").c_str());
	ssize_t n = readlink((folder / "link").c_str(), name, 64);
	if (n != 6)
		return false;
	name[n] = '\0';
	return !strcmp(name, "target") &&
	       readlink((folder / "link").c_str(), small, 3) == 3 &&
	       small[3] == 'x';
}

static bool getcwd_fragile(void)
{
	char name[2] = "x";
	chdir("/tmp");
	return !getcwd(name, sizeof(name)) && name[0] == 'x';
}

static bool getcwd_correct(void)
{
	char name[3] = { 0, 0, 'x' }, whole[PATH_MAX];
	chdir("/tmp");
	return !getcwd(name, 2) && errno == ERANGE && name[2] == 'x' &&
	       getcwd(whole, sizeof(whole)) && !strcmp(whole, "/tmp");
}

static bool realpath_fragile(void)
{
	char name[PATH_MAX] = "";
	return !realpath("/tmp/./none/such", name) &&
	       !strcmp(name, "/tmp/none");
}

static bool realpath_correct(void)
{
	char name[PATH_MAX] = "";
	return !realpath("/tmp/./none/such", name) && errno == ENOENT &&
	       realpath("/tmp/.", name) && !strcmp(name, "/tmp");
}

/* ---- streams ---- */

static char characters[] = "abcdefgh";

static bool ungetc_fragile(void)
{
	FILE *file = fmemopen(characters, 8, "r");
	char read[4] = "";
	return file && fread(read, 1, 3, file) == 3 && ungetc('y', file) == 'y' &&
	       ungetc('x', file) == 'x' && getc(file) == 'x';
}

static bool ungetc_correct(void)
{
	FILE *file = tmpfile();
	if (!file)
		return false;
	for (int i = 0; i < 10000; i++)
		putc('a' + i % 26, file);
	rewind(file);
	/* One, again and again, with reads or seeks in between. */
	for (int i = 0; i < 10000; i++) {
		int c = getc(file);
		if (c != 'a' + i % 26 || ungetc(i % 3 ? c : '#', file) == EOF ||
		    (i % 5 == 0 && fgetc(file) != (i % 3 ? c : '#')) ||
		    (i % 5 && (fseek(file, i, SEEK_SET) ||
			       ungetc('!', file) == EOF || getc(file) != '!' ||
			       getc(file) != c)))
			return false;
	}
	if (getc(file) != EOF)
		return false;
	/* A whole buffer further it lies where it lay. */
	char block[4096];
	rewind(file);
	if (getc(file) != 'a' || ungetc('z', file) != 'z' ||
	    getc(file) != 'z' || fread(block, 1, 4095, file) != 4095 ||
	    getc(file) == EOF || ungetc('y', file) != 'y' || fclose(file))
		return false;
	return true;
}

CASES(CASE(strcmp), CASE(strncmp), CASE(memcmp), CASE(bcmp), CASE(strcasecmp),
      CASE(strncasecmp), CASE(strcoll), CASE(strverscmp), CASE(wcscmp),
      CASE(wcsncmp), CASE(wcscasecmp), CASE(wcscoll), CASE(wmemcmp),
      CASE_INLINED(string_compare), CASE(isalnum), CASE(isalpha), CASE(isblank),
      CASE(iscntrl), CASE(isdigit), CASE(isgraph), CASE(islower), CASE(isprint),
      CASE(ispunct), CASE(isspace), CASE(isupper), CASE(isxdigit),
      CASE(iswalnum), CASE(iswalpha), CASE(iswdigit), CASE(iswlower),
      CASE(iswprint), CASE(iswpunct), CASE(iswspace), CASE(iswupper),
      CASE(printf_p), CASE(strerror), CASE(strerror_r), CASE(strsignal),
      CASE(gai_strerror), CASE(hstrerror), CASE(regerror), CASE(exception_what),
      CASE(exception_text), CASE(puts), CASE(fputs), CASE(feof), CASE(ferror),
      CASE(printf_errno), CASE(fopen_errno), CASE(strtol), CASE(strtoll),
      CASE(strtoul), CASE(strtoull), CASE(strtod), CASE(rand), CASE(random),
      CASE(rand_r), CASE(getrandom), CASE(random_device), CASE(sin), CASE(cos),
      CASE(exp), CASE(log), CASE(pow), CASE(clock), CASE(times),
      CASE(clock_resolution), CASE(clock_ticks), CASE(clock_delay), CASE(clock_boundary),
      CASE(ungetc), CASE(strftime),
      CASE(strxfrm), CASE(memfd_create), CASE(eventfd), CASE(timerfd_create),
      CASE(epoll_create1), CASE(inotify_init1), CASE(stat_directory),
      CASE(stat_blksize), CASE(stat_times), CASE(stat_inode), CASE(mkstemp),
      CASE(mkdtemp), CASE(getline), CASE(readlink), CASE(getcwd),
      CASE(realpath))
