/* What the programs of suites of processes do, by their arguments: one step with a file or two. Status 1: it failed. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	if (fd < 0 || write(fd, "x\n", 2) != 2)
		return 1;
	close(fd);
	return 0;
}

static int there(const char *path)
{
	return access(path, F_OK) == 0;
}

static int by_chance(void)
{
	unsigned char byte = 0;
	int fd = open("/dev/urandom", O_RDONLY);
	if (fd < 0 || read(fd, &byte, 1) != 1)
		return 1;
	close(fd);
	return byte % 2;
}

static int steps(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "", *b = argc > 3 ? argv[3] : "";
	if (!strcmp(what, "write")) // a
		return write_file(a);
	if (!strcmp(what, "remove")) // a, if it is there
		return unlink(a) && there(a);
	if (!strcmp(what, "absent")) // fails where a is there
		return there(a);
	if (!strcmp(what, "present")) // fails where it is not
		return !there(a);
	if (!strcmp(what, "build")) // b from a, which has to be there
		return !there(a) || write_file(b);
	if (!strcmp(what, "copy")) // a to b, if it is there
		return there(a) && write_file(b);
	if (!strcmp(what, "make")) // a folder that must not be there
		return mkdir(a, 0755) != 0;
	if (!strcmp(what, "scratch")) // leaves nothing
		return write_file(a) || unlink(a);
	if (!strcmp(what, "random"))
		return by_chance();
	return 2;
}
