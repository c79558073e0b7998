/* The same as roots.cc, for process state and files. */
#include <gtest/gtest.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int innocent;

/* alone: working-directory */
TEST(Directory, pollute)
{
	innocent++;
	ASSERT_EQ(chdir("/"), 0);
}
TEST(Directory, victim)
{
	char here[4096];
	ASSERT_NE(getcwd(here, sizeof(here)), nullptr);
	EXPECT_STRNE(here, "/");
}

/* alone: umask */
TEST(Umask, pollute)
{
	innocent++;
	umask(0777);
}
TEST(Umask, victim)
{
	EXPECT_NE(umask(0), 0777u);
}

/* alone: environment[RESTORE_ADDED] */
TEST(Added, pollute)
{
	innocent++;
	setenv("RESTORE_ADDED", "1", 1);
}
TEST(Added, victim)
{
	EXPECT_EQ(getenv("RESTORE_ADDED"), nullptr);
}

/* alone: environment[RESTORE_CHANGED] */
TEST(Changed, pollute)
{
	innocent++;
	setenv("RESTORE_CHANGED", "something else", 1);
}
TEST(Changed, victim)
{
	EXPECT_STREQ(getenv("RESTORE_CHANGED"), "as it was");
}

/* alone: environment[RESTORE_REMOVED] */
TEST(Removed, pollute)
{
	innocent++;
	unsetenv("RESTORE_REMOVED");
}
TEST(Removed, victim)
{
	EXPECT_STREQ(getenv("RESTORE_REMOVED"), "there");
}

/* alone: signal-handler[SIGUSR1] */
static volatile sig_atomic_t handled;
static void on_signal(int)
{
	handled = 1;
}
TEST(Handler, pollute)
{
	innocent++;
	signal(SIGUSR1, SIG_IGN);
}
TEST(Handler, victim)
{
	handled = 0;
	raise(SIGUSR1);
	EXPECT_EQ(handled, 1);
}

/* alone: signal-mask */
TEST(Mask, pollute)
{
	innocent++;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, nullptr);
}
TEST(Mask, victim)
{
	handled = 0;
	raise(SIGUSR1);
	EXPECT_EQ(handled, 1);
}

/* alone: locale[LC_NUMERIC] */
TEST(Locale, pollute)
{
	innocent++;
	ASSERT_NE(setlocale(LC_NUMERIC, "C.UTF-8"), nullptr);
}
TEST(Locale, victim)
{
	EXPECT_STREQ(setlocale(LC_NUMERIC, nullptr), "C");
}

/* alone: strtok */
static char nothing[1];
static const bool at_the_end = !strtok(nothing, " ");
TEST(Strtok, pollute)
{
	static char text[] = "a b c";
	innocent++;
	strtok(text, " ");
}
TEST(Strtok, victim)
{
	ASSERT_TRUE(at_the_end);
	EXPECT_EQ(strtok(nullptr, " "), nullptr);
}

/* alone: getopt */
static int count_options()
{
	char name[] = "program", one[] = "-a", two[] = "-b";
	char *words[] = { name, one, two, nullptr };
	int n = 0;
	while (getopt(3, words, "ab") != -1)
		n++;
	return n;
}
TEST(Options, pollute)
{
	innocent++;
	EXPECT_EQ(count_options(), 2);
}
TEST(Options, victim)
{
	EXPECT_EQ(count_options(), 2);
}

/* alone: random */
TEST(Random, pollute)
{
	innocent++;
	for (int i = 0; i < 40; i++)
		rand();
}
TEST(Random, victim)
{
	EXPECT_EQ(rand(), 1804289383);
	EXPECT_EQ(rand(), 846930886);
}

/* alone: drand48 */
TEST(Numbers, pollute)
{
	innocent++;
	drand48();
}
TEST(Numbers, victim)
{
	EXPECT_EQ(lrand48(), 0);
	EXPECT_EQ(lrand48(), 2116118);
}

/* The zone is made of the variable, which is put back with it. */
/* alone: time-zone */
TEST(Zone, pollute)
{
	innocent++;
	setenv("TZ", "XYZ-5", 1);
	tzset();
}
TEST(Zone, victim)
{
	EXPECT_EQ(timezone, 0);
}

/* alone: limit[nofile] */
TEST(Limit, pollute)
{
	innocent++;
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 17;
	setrlimit(RLIMIT_NOFILE, &limit);
}
TEST(Limit, victim)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	EXPECT_NE(limit.rlim_cur, 17u);
}

/* alone: rounding-mode */
TEST(Rounding, pollute)
{
	innocent++;
	fesetround(FE_UPWARD);
}
TEST(Rounding, victim)
{
	EXPECT_EQ(fegetround(), FE_TONEAREST);
}

/* alone: floating-point-exceptions */
TEST(Exceptions, pollute)
{
	innocent++;
	feenableexcept(FE_OVERFLOW);
}
TEST(Exceptions, victim)
{
	EXPECT_EQ(fegetexcept(), 0);
}

static void put(const char *path, const char *text)
{
	std::ofstream(path) << text;
}
static std::string get(const char *path)
{
	std::ifstream file(path);
	std::string text;
	std::getline(file, text);
	return text;
}

/* alone: changed.txt */
TEST(FileChanged, pollute)
{
	innocent++;
	put("changed.txt", "another text");
	put("innocent.txt", "another text");
}
TEST(FileChanged, victim)
{
	EXPECT_EQ(get("changed.txt"), "text");
	put("changed.txt", "the victim's");
}

/* alone: created.txt */
TEST(FileCreated, pollute)
{
	innocent++;
	put("created.txt", "new");
	put("innocent.txt", "another text");
}
TEST(FileCreated, victim)
{
	EXPECT_NE(access("created.txt", F_OK), 0);
	put("created.txt", "the victim's");
}

/* alone: removed.txt */
TEST(FileRemoved, pollute)
{
	innocent++;
	unlink("removed.txt");
}
TEST(FileRemoved, victim)
{
	EXPECT_EQ(get("removed.txt"), "text");
	unlink("removed.txt");
}

/* alone: reading */
/* What copies of the process share: how far it has read, and a file without name. */
static int reading, nameless = -1;
TEST(Descriptors, pollute)
{
	innocent++;
	reading = 1;
}
TEST(Descriptors, victim)
{
	char text[8] = {};
	EXPECT_EQ(read(nameless, text, 4), 4);
	EXPECT_STREQ(text, "same");
	EXPECT_EQ(pwrite(nameless, "else", 4, 0), 4);
	EXPECT_EQ(reading, 0);
}

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	setenv("RESTORE_CHANGED", "as it was", 1);
	setenv("RESTORE_REMOVED", "there", 1);
	setenv("TZ", "UTC0", 1);
	tzset();
	signal(SIGUSR1, on_signal);
	put("changed.txt", "text");
	put("removed.txt", "text");
	put("innocent.txt", "text");
	nameless = open(".", O_TMPFILE | O_RDWR, 0600);
	if (write(nameless, "same", 4) == 4)
		lseek(nameless, 0, SEEK_SET);
	return RUN_ALL_TESTS();
}
