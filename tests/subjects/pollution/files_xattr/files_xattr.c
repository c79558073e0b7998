// Extended attributes of files.
//
//@ subject framework=functions lang=c where=file only=xattr
//@ variant plain quick=gcc-O0

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <sys/xattr.h>

TEST(test_adds) //@ pollutes test_adds plain.txt "plain.txt: xattr user.note"
{
	setxattr("plain.txt", "user.note", "1", 1, 0);
}

TEST(test_changes) //@ pollutes test_changes marked.txt "marked.txt: xattr user.note" effect=settles
{
	setxattr("marked.txt", "user.note", "2", 1, 0);
}

TEST(test_removes) //@ pollutes test_removes removed.txt "removed.txt: xattr user.note"
{
	removexattr("removed.txt", "user.note");
}

TEST(test_adds_and_removes) //@ clean test_adds_and_removes
{
	setxattr("kept.txt", "user.other", "2", 1, 0);
	removexattr("kept.txt", "user.other");
}

TEST(test_sets_the_same) //@ clean test_sets_the_same
{
	int fd = open("kept.txt", O_RDONLY | O_CLOEXEC);
	fsetxattr(fd, "user.note", "1", 1, 0);
	close(fd);
}

int main(void)
{
	static const char *const names[] = { "plain.txt", "marked.txt", "removed.txt", "kept.txt" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		write_file(names[i], "x");
		if (i)
			setxattr(names[i], "user.note", "1", 1, 0);
	}
	return runner_main();
}
