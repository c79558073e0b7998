// Process state as what tests share: working directory, environment, umask, locale, descriptors, signal handlers,
// getopt, random numbers.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2

#define _GNU_SOURCE
#include "../runner.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int reached;

TEST(test_innocent)
{
	assert(getpid() > 1);
}

// Where it is, nobody knows: but not at the root of everything.
TEST(test_works_here) //@ victim test_works_here polluters=test_goes_away
{
	char path[4096];
	assert(getcwd(path, sizeof(path)));
	assert(strcmp(path, "/tmp"));
}

TEST(test_goes_away)
{
	assert(chdir("/tmp") == 0); // where everybody can make files
}

TEST(test_sets_variable)
{
	setenv("SUBJECT_MODE", "odd", 1);
}

TEST(test_no_variable) //@ victim test_no_variable polluters=test_sets_variable
//@ cleaned test_no_variable after=test_sets_variable by=test_unsets_variable
{
	assert(!getenv("SUBJECT_MODE"));
}

TEST(test_unsets_variable)
{
	unsetenv("SUBJECT_MODE");
}

TEST(test_makes_readable) //@ victim test_makes_readable polluters=test_masks
{
	int fd = open("readable", O_CREAT | O_RDWR, 0644);
	struct stat info;
	assert(fd >= 0 && fstat(fd, &info) == 0);
	close(fd);
	unlink("readable");
	assert(info.st_mode & 0400);
}

TEST(test_masks)
{
	umask(0777);
}

TEST(test_point_is_point) //@ victim test_point_is_point polluters=test_changes_locale
{
	assert(!strcmp(setlocale(LC_NUMERIC, NULL), "C"));
}

TEST(test_changes_locale)
{
	assert(setlocale(LC_ALL, "C.UTF-8"));
}

TEST(test_ignores_signal)
{
	signal(SIGUSR1, SIG_IGN);
}

static void handler(int number)
{
	(void)number;
	reached = 1;
}

// Puts back what was there.
TEST(test_handles_signal)
{
	sighandler_t before = signal(SIGUSR2, handler);
	raise(SIGUSR2);
	signal(SIGUSR2, before);
	assert(reached);
	reached = 0;
}

TEST(test_signal_is_default) //@ victim test_signal_is_default polluters=test_ignores_signal
{
	struct sigaction action;
	sigaction(SIGUSR1, NULL, &action);
	assert(action.sa_handler == SIG_DFL);
}

static int count_options(void)
{
	char *words[] = { "program", "-a", "-b", NULL };
	int n = 0;
	while (getopt(3, words, "ab") != -1)
		n++;
	return n;
}

TEST(test_takes_options)
{
	optind = 1;
	count_options();
}

TEST(test_counts_options) //@ victim test_counts_options polluters=test_takes_options polluted=getopt
//@ cleaned test_counts_options after=test_takes_options by=test_takes_options_anew
{
	assert(count_options() == 2);
	optind = 1;
}

TEST(test_takes_options_anew)
{
	optind = 1;
	assert(count_options() == 2);
	optind = 1;
}

TEST(test_draws_number) //@ victim test_draws_number polluters=test_draws_numbers polluted=random
//@ cleaned test_draws_number after=test_draws_numbers by=test_seeds_anew
{
	assert(rand() == 1804289383);
	srand(1);
}

TEST(test_draws_numbers)
{
	rand();
}

TEST(test_seeds_anew)
{
	srand(1);
}

int main(void)
{
	umask(022);
	return runner_main();
}
