// GoogleTest: tests that leave memory, files and process state whose values differ in every run: names that mkstemp made
// up, pids, ports, times, addresses and random numbers. And tests that depend on what others leave.

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

static char name[64];
static std::string text;
static std::map<std::string, long> registry;
static std::vector<int> numbers;
static uint64_t noise;
static double fraction;
static time_t moment;
static int port;
static int settings;
static int uses;

static std::string make_file(const char *pattern)
{
	snprintf(name, sizeof(name), "%s", pattern);
	int fd = mkstemp(name);
	if (fd >= 0)
		close(fd);
	return name;
}

TEST(Names, Temporary)
{
	std::string file = make_file("temporary.XXXXXX");
	text = "see " + file;
	setenv("TEMPORARY", file.c_str(), 1);
	EXPECT_FALSE(file.empty());
}

TEST(Names, Removed)
{
	EXPECT_EQ(unlink(make_file("removed-XXXXXX").c_str()), 0);
}

TEST(Names, Process)
{
	registry["process"] = getpid();
	/* Padded: how many bytes a file has is told, and numbers grow. */
	char file[64];
	snprintf(file, sizeof(file), "process %07d\n", (int)getpid());
	std::ofstream("pid.txt") << file;
	snprintf(file, sizeof(file), "log.%d", (int)getpid());
	std::ofstream(file) << "log\n";
}

TEST(Values, Random)
{
	std::random_device device;
	noise = (uint64_t)device() << 32 | device() | 1;
	fraction = 1.0 / (double)noise;
	text = "token=" + std::to_string(noise) + ";";
}

TEST(Values, Time)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	moment = now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

TEST(Values, Port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = {};
	socklen_t size = sizeof(address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ASSERT_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ASSERT_EQ(listen(fd, 1), 0);
	ASSERT_EQ(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	port = ntohs(address.sin_port);
}

TEST(Values, Address)
{
	char *block = (char *)malloc(16);
	char shown[32];
	snprintf(shown, sizeof(shown), "%p", (void *)block);
	text = shown;
	free(block);
}

TEST(Orders, Default)
{
	EXPECT_EQ(settings, 0) << "settings of process " << getpid();
}

TEST(Orders, Changes)
{
	settings = 1;
}

TEST(Orders, NeedsChange)
{
	EXPECT_EQ(settings, 1);
}

TEST(Orders, Once)
{
	EXPECT_EQ(uses++, 0);
}

TEST(Orders, Grows)
{
	numbers.push_back((int)numbers.size());
}

TEST(Orders, ReadsPid)
{
	std::ifstream file("pid.txt");
	std::string line;
	std::getline(file, line);
	EXPECT_EQ(line.rfind("process ", 0), 0U) << "in " << getpid();
}
