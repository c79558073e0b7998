// Tests that clash when two copies of the process run them at the same time, over a port and over a file: nothing to do
// with their order.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --jobs 4

#define _GNU_SOURCE
#include "../runner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

static int counter;

static int listen_at(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	assert(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1)) {
		close(fd);
		return -1;
	}
	return fd;
}

// The port is this run's own: several runs of this subject may take place at once.
static int port(void)
{
	char path[4096];
	unsigned hash = 5381;
	assert(getcwd(path, sizeof(path)));
	for (const char *c = path; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	return 20000 + hash % 10000;
}

TEST(test_innocent)
{
	usleep(2000);
}

TEST(test_listens)
{
	int fd = listen_at(port());
	assert(fd >= 0);
	usleep(5000);
	close(fd);
}

TEST(test_listens_too)
{
	int fd = listen_at(port());
	assert(fd >= 0);
	usleep(5000);
	close(fd);
}

TEST(test_has_the_file)
{
	int fd = open("the-file", O_CREAT | O_EXCL | O_RDWR, 0600);
	assert(fd >= 0);
	usleep(5000);
	assert(write(fd, "x", 1) == 1);
	close(fd);
	assert(unlink("the-file") == 0);
}

TEST(test_has_the_file_too)
{
	int fd = open("the-file", O_CREAT | O_EXCL | O_RDWR, 0600);
	assert(fd >= 0);
	usleep(5000);
	close(fd);
	assert(unlink("the-file") == 0);
}

TEST(test_is_zero) //@ victim test_is_zero polluters=test_counts polluted=counter
{
	assert(counter == 0);
}

TEST(test_counts)
{
	usleep(1000);
	counter++;
	TOUCH(&counter);
}

RUNNER_MAIN()
