// What is decided when a program starts has no caller: the place where it was used is shown. Each beside a test that
// uses it and does not mind.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --api TZ --api umask --api LC_ALL --level one --runs 12

#include "../runner.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const time_t moment = 1700000000;

TEST(test_hour)
{
	struct tm parts;
	localtime_r(&moment, &parts); //@ assumption test_hour api=TZ before=yes
	assert(parts.tm_hour == 22);
}

TEST(test_hour_and_back)
{
	struct tm parts;
	localtime_r(&moment, &parts);
	assert(mktime(&parts) == moment);
}

TEST(test_back_from_hour)
{
	struct tm parts = { .tm_year = 123, .tm_mon = 10, .tm_mday = 14, .tm_hour = 22, .tm_min = 13, .tm_sec = 20 };
	time_t back = mktime(&parts); //@ assumption test_back_from_hour api=TZ before=yes
	assert(back == moment);
}

static mode_t mode_of(const char *path)
{
	struct stat status;
	int fd = open(path, O_CREAT | O_RDWR, 0666);
	assert(fd >= 0);
	int failed = fstat(fd, &status); //@ assumption test_mode api=umask before=yes
	close(fd);
	unlink(path);
	assert(!failed);
	return status.st_mode & 0777;
}

TEST(test_mode)
{
	assert(mode_of("used-file") == 0644);
}

TEST(test_owners_mode)
{
	assert((mode_of("used-file") & 0600) == 0600);
}

TEST(test_prints_half)
{
	char text[16];
	setlocale(LC_ALL, ""); //@ assumption test_prints_half api=LC_ALL before=yes
	snprintf(text, sizeof(text), "%.1f", 0.5);
	setlocale(LC_ALL, "C");
	assert(!strcmp(text, "0.5"));
}

TEST(test_prints_one)
{
	char text[16];
	setlocale(LC_ALL, "");
	snprintf(text, sizeof(text), "%.0f", 1.0);
	setlocale(LC_ALL, "C");
	assert(!strcmp(text, "1"));
}

RUNNER_MAIN()
