/* The same as roots.cc, for process state. */
#include <gtest/gtest.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

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
	feraiseexcept(FE_OVERFLOW);
}
TEST(Exceptions, victim)
{
	EXPECT_EQ(fetestexcept(FE_OVERFLOW), 0);
}

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	setenv("RESTORE_CHANGED", "as it was", 1);
	setenv("RESTORE_REMOVED", "there", 1);
	setenv("TZ", "UTC0", 1);
	tzset();
	signal(SIGUSR1, on_signal);
	return RUN_ALL_TESTS();
}
