// State in files: what one test leaves on the disk and another trips over, or looks for. Copies of the process share the
// disk, and still nothing may be mixed up; afterwards all is as it was.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run one-job --jobs 1 quick=no

#define _GNU_SOURCE
#include "../runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert(file);
	fputs(text, file);
	fclose(file);
}

static int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

TEST(test_innocent)
{
	write_file("scratch", "x");
	assert(unlink("scratch") == 0);
}

TEST(test_no_lock) //@ victim test_no_lock polluters=test_leaves_lock polluted=.../lock|lock
//@ cleaned test_no_lock after=test_leaves_lock by=test_removes_lock
{
	assert(!exists("lock"));
}

TEST(test_leaves_lock)
{
	write_file("lock", "1");
}

TEST(test_writes_config)
{
	write_file("config", "answer=42\n");
}

TEST(test_reads_config) //@ brittle test_reads_config setters=test_writes_config
{
	char line[32] = "";
	FILE *file = fopen("config", "r");
	assert(file);
	assert(fgets(line, sizeof(line), file));
	fclose(file);
	assert(!strcmp(line, "answer=42\n"));
}

TEST(test_removes_lock)
{
	unlink("lock");
}

TEST(test_makes_place) //@ non-idempotent test_makes_place
{
	assert(mkdir("a place", 0755) == 0);
	write_file("a place/file", "in it");
}

// As mkdtemp() makes them, and with a name that could be one of its own.
TEST(test_makes_folder) //@ non-idempotent test_makes_folder
{
	assert(mkdir("folder", 0700) == 0);
}

TEST(test_appends)
{
	FILE *file = fopen("log", "a");
	assert(file);
	fputs("line\n", file);
	fclose(file);
}

TEST(test_log_is_short) //@ victim test_log_is_short polluters=test_appends
{
	struct stat info;
	assert(stat("log", &info) != 0 || info.st_size < 5);
}

// Does the same whatever is there.
TEST(test_uses_its_own)
{
	char path[] = "own-XXXXXX";
	int fd = mkstemp(path);
	assert(fd >= 0);
	close(fd);
	assert(unlink(path) == 0);
}

// Files that were there before the first test: changed, removed, their permissions taken away.

TEST(test_data_is_there) //@ victim test_data_is_there polluters=test_changes_data|test_removes_data
//@ cleaned test_data_is_there after=test_changes_data by=test_writes_data
//@ cleaned test_data_is_there after=test_removes_data by=test_writes_data
{
	char line[32] = "";
	FILE *file = fopen("data.txt", "r");
	assert(file);
	assert(fgets(line, sizeof(line), file));
	fclose(file);
	assert(!strcmp(line, "as it was\n"));
}

TEST(test_changes_data)
{
	write_file("data.txt", "changed\n");
}

TEST(test_removes_data)
{
	unlink("data.txt");
}

TEST(test_writes_data)
{
	write_file("data.txt", "as it was\n");
}

TEST(test_data_is_readable) //@ victim test_data_is_readable polluters=test_hides_more
{
	struct stat info;
	assert(stat("more.txt", &info) == 0 && info.st_mode & 0400);
}

TEST(test_hides_more)
{
	assert(chmod("more.txt", 0) == 0);
}

TEST(test_moves_and_moves_back)
{
	assert(rename("more.txt", "moved.txt") == 0);
	assert(rename("moved.txt", "more.txt") == 0);
}

TEST(test_leaves_a_log_of_today)
{
	char name[64];
	time_t now = time(NULL);
	assert(strftime(name, sizeof(name), "log_%Y-%m-%d", localtime(&now)));
	write_file(name, "something\n");
}

RUNNER_MAIN()
