// What only root can do to files: owners, devices, immutable bits of the mode.
//
//@ subject framework=functions lang=c where=file only=root
//@ variant plain quick=gcc-O0

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <sys/sysmacros.h>

TEST(test_owner) //@ pollutes test_owner owned.txt "owned.txt: owner" effect=settles
{
	(void)!chown("owned.txt", 1234, -1);
}

TEST(test_group) //@ pollutes test_group group.txt "group.txt: owner"
{
	(void)!lchown("group.txt", -1, 1234);
}

TEST(test_owner_and_back) //@ clean test_owner_and_back
{
	(void)!chown("kept.txt", 1234, 1234);
	(void)!chown("kept.txt", 0, 0);
}

TEST(test_set_user_id) //@ pollutes test_set_user_id mode.txt "mode.txt: mode" after="...4755..."
{
	chmod("mode.txt", 04755);
}

TEST(test_device) //@ pollutes test_device device device before=absent after=device
{
	mknod("device", S_IFCHR | 0600, makedev(1, 3));
}

TEST(test_device_and_back) //@ clean test_device_and_back
{
	mknod("short-device", S_IFCHR | 0600, makedev(1, 3));
	unlink("short-device");
}

int main(void)
{
	static const char *const names[] = { "owned.txt", "group.txt", "kept.txt", "mode.txt" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		write_file(names[i], "x");
	return runner_main();
}
