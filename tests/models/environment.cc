/* Cases of the models of what surrounds a process. */
#include "cases.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <clocale>
#include <cwctype>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <langinfo.h>
#include <pwd.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <thread>

/* ---- variables ---- */

static bool is(const char *name, const char *value)
{
	const char *now = getenv(name);
	return now && !strcmp(now, value);
}

/* The value in the environment that the program was started with. */
static const char *started_with(const char *name)
{
	static char text[65536];
	size_t n = strlen(name);
	int fd = open("/proc/self/environ", O_RDONLY);
	ssize_t got = 0, more;
	while (fd >= 0 &&
	       (more = read(fd, text + got, sizeof(text) - 1 - got)) > 0)
		got += more;
	close(fd);
	for (char *at = text; at < text + got; at += strlen(at) + 1) {
		if (!strncmp(at, name, n) && at[n] == '=')
			return at + n + 1;
	}
	return NULL;
}

static bool is_as_started(const char *name)
{
	const char *value = started_with(name);
	return value ? is(name, value) : !getenv(name);
}

/* The hour of a moment, as the machine is set up. */
static int hour(void)
{
	time_t moment = 1700000000;
	struct tm local;
	localtime_r(&moment, &local);
	return local.tm_hour * 60 + local.tm_min;
}

static bool time_zone_fragile(void)
{
	tzset();
	int here = hour();
	unsetenv("TZ");
	tzset();
	return here == hour();
}

static bool time_zone_correct(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	return hour() == 22 * 60 + 13;
}

static bool locale_fragile(void)
{
	setlocale(LC_ALL, "");
	bool wide = MB_CUR_MAX > 1;
	unsetenv("LC_ALL");
	setlocale(LC_ALL, "");
	return wide == (MB_CUR_MAX > 1);
}

static bool locale_correct(void)
{
	return setlocale(LC_ALL, "") && iswalpha(L'q') && !iswalpha(L'7') &&
	       strcoll("ab", "ac") < 0 && setlocale(LC_ALL, "C.UTF-8") &&
	       MB_CUR_MAX > 1 && setlocale(LC_ALL, "C") &&
	       MB_CUR_MAX == 1 && !strcmp(nl_langinfo(RADIXCHAR), ".");
}

/* The place of a variable in both lists. */
static bool environ_order_fragile(void)
{
	static char text[65536];
	int fd = open("/proc/self/environ", O_RDONLY);
	ssize_t got = 0, more;
	while (fd >= 0 &&
	       (more = read(fd, text + got, sizeof(text) - 1 - got)) > 0)
		got += more;
	char *at = text;
	for (int i = 0; i < 3 && environ[i]; i++, at += strlen(at) + 1) {
		if (strcmp(environ[i], at))
			return false;
	}
	return true;
}

static bool environ_order_correct(void)
{
	size_t n = 0;
	bool path = false;
	setenv("POLYGRAPH_ONE", "1", 1);
	for (char **entry = environ; *entry; entry++, n++)
		path |= !strcmp(*entry, "POLYGRAPH_ONE=1");
	return n && path && is("POLYGRAPH_ONE", "1") &&
	       (!started_with("PATH") || is_as_started("PATH"));
}

/* A variable a line. */
static bool environ_extra_fragile(void)
{
	for (char **entry = environ; *entry; entry++) {
		if (strchr(*entry, '\n') && strncmp(*entry, "BASH_FUNC", 9))
			return false;
	}
	return true;
}

static bool environ_extra_correct(void)
{
	for (char **entry = environ; *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		if (!equals)
			continue;
		std::string name(*entry, (size_t)(equals - *entry));
		if (!getenv(name.c_str()))
			return false;
	}
	return !getenv("POLYGRAPH_NOT_THERE");
}

static bool user_name_fragile(void)
{
	return is_as_started("LOGNAME") && is_as_started("USER");
}

static bool user_name_correct(void)
{
	const struct passwd *entry = getpwuid(getuid());
	return !entry || *entry->pw_name;
}

static bool home_fragile(void)
{
	const char *home = getenv("HOME");
	struct stat status;
	return home && strcmp(home, "/") && !stat(home, &status);
}

static bool home_correct(void)
{
	setenv("HOME", "/tmp", 1);
	return is("HOME", "/tmp");
}

static bool temporary_folder_fragile(void)
{
	const char *folder = getenv("TMPDIR");
	char path[64];
	snprintf(path, sizeof(path), "%s/x", folder ? folder : "/tmp");
	return !strcmp(path, "/tmp/x");
}

static bool temporary_folder_correct(void)
{
	const char *folder = getenv("TMPDIR");
	char path[128];
	snprintf(path, sizeof(path), "%s/polygraph-case-XXXXXX",
		 folder ? folder : "/tmp");
	int fd = mkstemp(path);
	bool made = fd >= 0 && write(fd, "x", 1) == 1;
	close(fd);
	unlink(path);
	return made;
}

static bool working_folder_fragile(void)
{
	return is_as_started("PWD");
}

static bool working_folder_correct(void)
{
	char path[PATH_MAX];
	return getcwd(path, sizeof(path)) && *path == '/';
}

static bool terminal_type_fragile(void)
{
	return is_as_started("TERM");
}

static bool terminal_type_correct(void)
{
	const char *type = getenv("TERM");
	return !type || *type;
}

/* Lines of a help text. */
static bool columns_fragile(void)
{
	const char *width = getenv("COLUMNS");
	return !width && !getenv("LINES");
}

static bool columns_correct(void)
{
	const char *width = getenv("COLUMNS");
	return (width ? atoi(width) : 80) > 0;
}

/* ---- what is inherited ---- */

static bool makes_mode(mode_t mode, mode_t expected)
{
	char path[] = "/tmp/polygraph-case-XXXXXX";
	struct stat status;
	if (!mkdtemp(path))
		return false;
	std::string file = std::string(path) + "/file";
	int fd = open(file.c_str(), O_CREAT | O_WRONLY, mode);
	bool same = !fstat(fd, &status) && (status.st_mode & 0777) == expected;
	close(fd);
	unlink(file.c_str());
	rmdir(path);
	return same;
}

/* The mask of whoever started us; read without changing it. */
static mode_t starters_mask(void)
{
	char path[64], line[256];
	unsigned mask = 0;
	snprintf(path, sizeof(path), "/proc/self/stat");
	FILE *file = fopen(path, "r");
	int parent = 0, grand = 0;
	if (file && fscanf(file, "%*d %*s %*c %d", &parent) == 1) {
		fclose(file);
		snprintf(path, sizeof(path), "/proc/%d/stat", parent);
		file = fopen(path, "r");
		if (file && fscanf(file, "%*d %*s %*c %d", &grand) == 1) {
			fclose(file);
			snprintf(path, sizeof(path), "/proc/%d/status", grand);
			file = fopen(path, "r");
			while (file && fgets(line, sizeof(line), file))
				sscanf(line, "Umask: %o", &mask);
		}
	}
	if (file)
		fclose(file);
	return (mode_t)mask;
}

static bool umask_fragile(void)
{
	return makes_mode(0666, 0666 & ~starters_mask());
}

static bool umask_correct(void)
{
	umask(022);
	return makes_mode(0666, 0644);
}

/* Which numbers are free is not known, but that the lowest comes first. */
static bool descriptors_fragile(void)
{
	int free_before = 3;
	for (char path[64]; free_before < 64; free_before++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", free_before);
		char target[64] = "";
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		if (n > 0 && !strcmp(target, "/dev/null"))
			return false;
		if (n < 0)
			break;
	}
	return true;
}

static bool descriptors_correct(void)
{
	int one = open("/dev/null", O_RDONLY);
	int two = open("/dev/null", O_RDONLY);
	bool apart = one > 2 && two > one;
	close(one);
	int again = open("/dev/null", O_RDONLY);
	apart &= again == one;
	close(again);
	close(two);
	return apart;
}

/* Every descriptor has a place in a table. */
static bool descriptor_limit_fragile(void)
{
	struct rlimit own, others;
	char path[64];
	int parent = 0;
	FILE *file = fopen("/proc/self/stat", "r");
	if (!file || fscanf(file, "%*d %*s %*c %d", &parent) != 1)
		return false;
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/stat", parent);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*s %*c %d", &parent) != 1)
		return false;
	fclose(file);
	return !getrlimit(RLIMIT_NOFILE, &own) &&
	       !prlimit(parent, RLIMIT_NOFILE, NULL, &others) &&
	       own.rlim_cur == others.rlim_cur;
}

static bool descriptor_limit_correct(void)
{
	struct rlimit limit;
	int fd = open("/dev/null", O_RDONLY);
	bool fits = fd >= 0 && !getrlimit(RLIMIT_NOFILE, &limit) &&
		    (rlim_t)fd < limit.rlim_cur &&
		    sysconf(_SC_OPEN_MAX) == (long)limit.rlim_cur;
	close(fd);
	return fits;
}

static bool dies_of(int number, bool set)
{
	int status = 0;
	pid_t pid = fork();
	if (!pid) {
		if (set)
			signal(number, SIG_DFL);
		raise(number);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) != pid)
		;
	return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static bool ignored_signals_fragile(void)
{
	return dies_of(SIGHUP, false) && dies_of(SIGINT, false);
}

static bool ignored_signals_correct(void)
{
	return dies_of(SIGHUP, true) && dies_of(SIGINT, true) &&
	       dies_of(SIGTERM, false);
}

/* ---- of the process ---- */

/* What of 300 characters was written; stdout is a pipe to the harness. */
static size_t arrived(bool flush)
{
	int ends[2];
	char text[1024];
	if (pipe(ends))
		return 0;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	dup2(ends[1], STDOUT_FILENO);
	for (int i = 0; i < 30; i++)
		printf("%s", "0123456789");
	if (flush)
		fflush(stdout);
	ssize_t got = read(ends[0], text, sizeof(text));
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(ends[0]);
	close(ends[1]);
	return got > 0 ? (size_t)got : 0;
}

static bool stdout_buffer_fragile(void)
{
	return arrived(false) == 0;
}

static bool stdout_buffer_correct(void)
{
	return arrived(true) == 300;
}

/*
 * What a compiler makes of two more files with variables that are initialised at
 * run time.
 */
static int base_value, derived_value;
static bool base_ready;

static int &base_on_demand(void)
{
	static int value = 42;
	return value;
}

extern "C" {
__attribute__((used)) void _GLOBAL__sub_I_base(void)
{
	base_value = 42;
	base_ready = true;
}

__attribute__((used)) void _GLOBAL__sub_I_derived(void)
{
	derived_value = base_value + 1;
}
}

/* In this order, without a gap: compilers move variables about. */
asm(".pushsection .init_array,\"aw\",@init_array\n"
    ".balign 8\n"
    ".quad _GLOBAL__sub_I_base, _GLOBAL__sub_I_derived\n"
    ".popsection");

static bool static_initialisers_fragile(void)
{
	return derived_value == 43;
}

static bool static_initialisers_correct(void)
{
	return base_ready && base_value == 42 && base_on_demand() + 1 == 43;
}

extern "C" char *program_invocation_name;
static const char *argument_0;
__attribute__((constructor)) static void keep_argument(int, char **argv,
						       char **)
{
	argument_0 = argv[0];
}

static bool program_name_fragile(void)
{
	const char *slash = strrchr(argument_0, '/');
	return slash && !strncmp(slash, "/environment", 12);
}

static bool program_name_correct(void)
{
	char path[PATH_MAX] = "";
	return readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 &&
	       strstr(path, "/environment");
}

/* ---- the machine ---- */

static std::string content(const char *path)
{
	char text[512] = "";
	FILE *file = fopen(path, "r");
	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool gethostname_fragile(void)
{
	char name[256];
	return !gethostname(name, sizeof(name)) &&
	       content("/proc/sys/kernel/hostname") == name;
}

static bool gethostname_correct(void)
{
	char name[256], again[256], small[2];
	struct utsname all;
	if (gethostname(name, sizeof(name)) || uname(&all) ||
	    gethostname(again, sizeof(again)))
		return false;
	errno = 0;
	bool fits = !gethostname(small, sizeof(small));
	return *name && strlen(name) <= 64 && !strcmp(name, again) &&
	       !strcmp(name, all.nodename) &&
	       fits == (strlen(name) < sizeof(small)) &&
	       (fits || errno == ENAMETOOLONG);
}

static bool uname_fragile(void)
{
	struct utsname all;
	return !uname(&all) &&
	       content("/proc/sys/kernel/osrelease") == all.release;
}

static bool uname_correct(void)
{
	struct utsname all;
	unsigned major = 0, minor = 0, major_true = 0, minor_true = 0;
	std::string real = content("/proc/sys/kernel/osrelease");
	return !uname(&all) &&
	       sscanf(all.release, "%u.%u", &major, &minor) == 2 &&
	       sscanf(real.c_str(), "%u.%u", &major_true, &minor_true) == 2 &&
	       major == major_true && minor == minor_true &&
	       !strcmp(all.sysname, "Linux") && !strcmp(all.machine, "x86_64");
}

static bool processors_fragile(void)
{
	cpu_set_t set;
	long count = 0;
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[4096];
	while (file && fgets(line, sizeof(line), file))
		count += !strncmp(line, "processor", 9);
	if (file)
		fclose(file);
	CPU_ZERO(&set);
	return sysconf(_SC_NPROCESSORS_ONLN) == count && get_nprocs() == count;
}

static bool processors_correct(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	bool agree = online >= 1 && online == get_nprocs() &&
		     online == sysconf(_SC_NPROCESSORS_ONLN) &&
		     sysconf(_SC_NPROCESSORS_CONF) >= online &&
		     get_nprocs_conf() >= online &&
		     !sched_getaffinity(0, sizeof(set), &set) &&
		     CPU_COUNT(&set) >= 1 && CPU_COUNT(&set) <= online;
	/* What one sets is so. */
	int first = 0;
	while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &set))
		first++;
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	return agree && !sched_setaffinity(0, sizeof(set), &set) &&
	       !sched_getaffinity(0, sizeof(set), &set) &&
	       CPU_COUNT(&set) == 1 && CPU_ISSET(first, &set);
}

static bool hardware_concurrency_fragile(void)
{
	return std::thread::hardware_concurrency() ==
	       (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool hardware_concurrency_correct(void)
{
	unsigned hint = std::thread::hardware_concurrency();
	unsigned workers = hint ? hint : 1;
	return workers >= 1 && hint == std::thread::hardware_concurrency();
}

static bool memory_size_fragile(void)
{
	long kilobytes = 0;
	std::string line = content("/proc/meminfo");
	sscanf(line.c_str(), "MemTotal: %ld", &kilobytes);
	long pages = kilobytes / (sysconf(_SC_PAGESIZE) / 1024);
	/* Half of it is to be free, as a rule of thumb. */
	return sysconf(_SC_PHYS_PAGES) >= pages - 16 &&
	       sysconf(_SC_PHYS_PAGES) <= pages + 16;
}

static bool memory_size_correct(void)
{
	long all = sysconf(_SC_PHYS_PAGES);
	return all > 0 && all == get_phys_pages() &&
	       sysconf(_SC_AVPHYS_PAGES) > 0 &&
	       sysconf(_SC_AVPHYS_PAGES) <= all && get_avphys_pages() <= all;
}

static bool getloadavg_fragile(void)
{
	double load[3];
	return getloadavg(load, 3) == 3 && load[0] < 90 && load[1] < 4096;
}

static bool getloadavg_correct(void)
{
	double load[3];
	int n = getloadavg(load, 3);
	for (int i = 0; i < n; i++) {
		if (!(load[i] >= 0))
			return false;
	}
	return n >= -1 && n <= 3;
}

static int open_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	return fd >= 0 && !grantpt(fd) && !unlockpt(fd) ? fd : -1;
}

static bool terminal_size_fragile(void)
{
	int fd = open_terminal();
	struct winsize size = {};
	bool unknown = !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col == 0;
	close(fd);
	return unknown;
}

static bool terminal_size_correct(void)
{
	int fd = open_terminal();
	struct winsize size = {}, wanted = { 11, 33, 0, 0 };
	bool known = !ioctl(fd, TIOCGWINSZ, &size);
	known &= !ioctl(fd, TIOCSWINSZ, &wanted) &&
		 !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col == 33 &&
		 size.ws_row == 11;
	close(fd);
	return known && ioctl(-1, TIOCGWINSZ, &size) == -1 && errno == EBADF;
}

/* That of the audit session, where there is one. */
static bool getlogin_fragile(void)
{
	const char *name = getlogin();
	std::string id = content("/proc/self/loginuid");
	const struct passwd *entry =
		id.empty() ? NULL
			   : getpwuid((uid_t)strtoul(id.c_str(), NULL, 10));
	return entry ? name && !strcmp(name, entry->pw_name) : !name;
}

static bool getlogin_correct(void)
{
	char again[256];
	const char *name = getlogin();
	int result = getlogin_r(again, sizeof(again));
	return name ? !result && !strcmp(name, again) : result != 0;
}

static bool calendar_fragile(void)
{
	struct stat status;
	char path[] = "/tmp/polygraph-case-XXXXXX";
	int fd = mkstemp(path);
	time_t now = time(NULL);
	bool close_by = !fstat(fd, &status) && status.st_mtime <= now + 1;
	close(fd);
	unlink(path);
	return close_by;
}

/* Points in time that are reckoned from the clock are waited for. */
static bool waits_until(void)
{
	sem_t semaphore;
	struct timespec until, begin, end;
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	const long ms = 1000000;
	if (sem_init(&semaphore, 0, 0))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < 2; i++) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 2 * ms;
		if (until.tv_nsec >= 1000 * ms) {
			until.tv_nsec -= 1000 * ms;
			until.tv_sec++;
		}
		int failed = 0;
		if (i) {
			failed = sem_timedwait(&semaphore, &until) ? errno : 0;
		} else {
			pthread_mutex_lock(&mutex);
			while (!failed)
				failed = pthread_cond_timedwait(&condition, &mutex, &until);
			pthread_mutex_unlock(&mutex);
		}
		if (failed != ETIMEDOUT)
			return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin.tv_sec) * 1000 * ms + end.tv_nsec - begin.tv_nsec >= 4 * ms;
}

static bool calendar_correct(void)
{
	struct timespec fine, also;
	struct timeval of_day;
	time_t now = time(NULL), stored;
	if (clock_gettime(CLOCK_REALTIME, &fine) ||
	    gettimeofday(&of_day, NULL) ||
	    timespec_get(&also, TIME_UTC) != TIME_UTC)
		return false;
	auto chrono = std::chrono::system_clock::to_time_t(
		std::chrono::system_clock::now());
	time_t later = time(&stored);
	return stored == later && waits_until() && fine.tv_sec - now >= 0 &&
	       fine.tv_sec - now < 10 && of_day.tv_sec >= fine.tv_sec &&
	       also.tv_sec >= of_day.tv_sec && chrono >= also.tv_sec &&
	       chrono - now < 10 && later - now < 10;
}

/* Long enough for where this is built. */
static bool working_directory_fragile(void)
{
	/* Without the right to mount there is no other path. */
	if (unshare(CLONE_NEWNS))
		exit(CASE_NOT_HERE);
	char path[200];
	return getcwd(path, sizeof(path)) && !strchr(path, ' ');
}

/* However long: the same directory, with the same parents. */
static bool working_directory_correct(void)
{
	char *path = getcwd(nullptr, 0);
	struct stat here, there, up, above;
	if (!path || stat(".", &here) || stat(path, &there) || stat("..", &up))
		return false;
	char *slash = strrchr(path, '/');
	slash[slash == path] = '\0';
	return here.st_ino == there.st_ino && here.st_dev == there.st_dev &&
	       !stat(path, &above) && above.st_ino == up.st_ino &&
	       above.st_dev == up.st_dev;
}

CASES(CASE(time_zone), CASE(locale), CASE(environ_order), CASE(environ_extra),
      CASE(user_name), CASE(home), CASE(temporary_folder), CASE(working_folder),
      CASE(working_directory),
      CASE(terminal_type), CASE(columns), CASE(umask), CASE(descriptors),
      CASE(descriptor_limit), CASE(ignored_signals), CASE(stdout_buffer),
      CASE(static_initialisers), CASE(program_name), CASE(gethostname),
      CASE(uname), CASE(processors), CASE(hardware_concurrency),
      CASE(memory_size), CASE(getloadavg), CASE(terminal_size), CASE(getlogin),
      CASE(calendar))
