// Who reads files that another test left: the ones that open, look at or list them before they write to them.
//
//@ subject framework=functions lang=c where=file
//@ variant plain quick=gcc-O2
//@ variant static libs=-static builds=gcc-O0

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/mman.h>

//@ pollutes test_creates created.txt created.txt before=absent severity=high readers=test_reads,test_shell_reads not-readers=test_overwrites,test_reads_other,test_lists
TEST(test_creates)
{
	write_file("created.txt", "text\n");
}

//@ pollutes test_changes config.txt config.txt severity=high readers=test_maps not-readers=test_reads,test_overwrites,test_lists
TEST(test_changes)
{
	write_file("config.txt", "other\n");
}

//@ pollutes test_deletes deleted.txt deleted.txt after=absent severity=high readers=test_looks not-readers=test_reads
TEST(test_deletes)
{
	unlink("deleted.txt");
}

//@ pollutes test_fills_folder listed/new.txt listed/new.txt severity=high readers=test_lists not-readers=test_reads
TEST(test_fills_folder)
{
	write_file("listed/new.txt", "x");
}

//@ pollutes test_unread unread.txt unread.txt severity=medium not-readers=test_reads,test_looks,test_lists,test_overwrites
TEST(test_unread)
{
	write_file("unread.txt", "x");
}

// Only ever written to after it: nobody depends on it.
//@ pollutes test_log log.txt log.txt not-readers=test_overwrites severity=medium
TEST(test_log)
{
	write_file("log.txt", "one\n");
}

//@ pollutes test_temporary fresh-XXXXXX fresh-XXXXXX severity=low not-readers=test_reads,test_looks
TEST(test_temporary)
{
	char name[] = "fresh-XXXXXX";
	close(mkstemp(name));
}

TEST(test_reads) //@ clean test_reads
{
	char text[64];
	read_file("created.txt", text, sizeof(text));
}

TEST(test_shell_reads) //@ clean test_shell_reads
{
	(void)!system("cat created.txt >/dev/null");
}

TEST(test_looks) //@ clean test_looks
{
	(void)!access("deleted.txt", F_OK);
}

TEST(test_maps) //@ clean test_maps
{
	int fd = open("config.txt", O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 6, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		munmap(at, 6);
}

TEST(test_lists) //@ clean test_lists
{
	DIR *folder = opendir("listed");
	if (!folder)
		return;
	while (readdir(folder))
		continue;
	closedir(folder);
}

TEST(test_reads_other) //@ clean test_reads_other
{
	char text[64];
	read_file("own.txt", text, sizeof(text));
}

TEST(test_overwrites) //@ clean test_overwrites
{
	write_file("created.txt", "text\n");
	write_file("config.txt", "other\n");
	write_file("log.txt", "one\n");
	char text[64];
	read_file("log.txt", text, sizeof(text));
	read_file("created.txt", text, sizeof(text));
}

int main(void)
{
	umask(022);
	mkdir("listed", 0755);
	write_file("config.txt", "first\n");
	write_file("deleted.txt", "x");
	write_file("own.txt", "x");
	return runner_main();
}
