// Process state that only root can change: ids, groups, the root directory, a higher priority and its return.
//
//@ subject framework=functions lang=c where=process only=root
//@ variant plain quick=gcc-O0

#define _GNU_SOURCE
#include "../files.h"
#include "../runner.h"

#include <grp.h>
#include <sys/resource.h>

TEST(test_groups) //@ pollutes test_groups groups ... after=...1234...
{
	gid_t groups[] = { 1234, 1235 };
	setgroups(2, groups);
}

TEST(test_groups_back) //@ clean test_groups_back
{
	gid_t old[64];
	int n = getgroups(64, old);
	setgroups(0, NULL);
	if (n >= 0)
		setgroups((size_t)n, old);
}

// Another effective id makes a process undumpable (proc(5)).
TEST(test_group_id) //@ pollutes test_group_id group-ids ... after=...1234... severity=high //@ pollutes test_group_id dumpable may=yes
{
	(void)!setegid(1234);
}

TEST(test_group_id_back) //@ clean test_group_id_back
{
	gid_t old = getegid();
	(void)!setegid(0);
	(void)!setegid(old);
}

TEST(test_nice_back) //@ clean test_nice_back
{
	int old = getpriority(PRIO_PROCESS, 0);
	(void)!nice(3);
	setpriority(PRIO_PROCESS, 0, old);
}

TEST(test_user_id_back) //@ clean test_user_id_back
{
	(void)!seteuid(1234);
	(void)!seteuid(0);
}

// Root in two ways, with the descriptor of the real one kept.
TEST(test_chroot_back) //@ clean test_chroot_back
{
	int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!chroot("jail")) {
		(void)!fchdir(root);
		(void)!chroot(".");
		(void)!fchdir(here);
	}
	close(root);
	close(here);
}

TEST(test_user_id) //@ pollutes test_user_id user-ids ... after=...1234... severity=high //@ pollutes test_user_id dumpable may=yes
{
	(void)!seteuid(1234);
}

TEST(test_between) //@ clean test_between
{
	(void)!seteuid(0);
	(void)!seteuid(1234);
}

// Before it, root's id is wanted back: as it was at first.
TEST(test_chroot) //@ pollutes test_chroot root-directory ... after=...jail... severity=high //@ pollutes test_chroot dumpable may=yes
{
	(void)!seteuid(0);
	(void)!chroot("jail");
}

int main(void)
{
	mkdir("jail", 0755);
	return runner_main();
}
