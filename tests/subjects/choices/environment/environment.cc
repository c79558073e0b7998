// What surrounds a process: time zone, locale, umask, variables; and static initialisers of two files, of which one
// needs the other.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp
//@ variant plain quick=gcc-O0
//@ run zone --api TZ --level one --tests "local time*" quick=no

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "tables.h"

TEST_CASE("local time of a moment") //@ assumption "local time of a moment" api=TZ line=any before=yes in=default,zone
{
	time_t moment = 1700000000;
	struct tm parts;
	localtime_r(&moment, &parts);
	REQUIRE(parts.tm_hour == 22);
}

TEST_CASE("local time and back")
{
	time_t moment = 1700000000;
	struct tm parts;
	localtime_r(&moment, &parts);
	REQUIRE(mktime(&parts) == moment);
	gmtime_r(&moment, &parts);
	REQUIRE(parts.tm_hour == 22);
}

TEST_CASE("mode of a new file") //@ assumption "mode of a new file" api=umask line=any before=yes in=default
{
	char folder[] = "mode-XXXXXX";
	REQUIRE(mkdtemp(folder));
	std::string path = std::string(folder) + "/file";
	std::ofstream(path) << "text";
	struct stat info;
	REQUIRE(stat(path.c_str(), &info) == 0);
	unlink(path.c_str());
	rmdir(folder);
	CHECK((info.st_mode & 0777) == 0644);
}

TEST_CASE("mode that was asked for")
{
	char folder[] = "mode-XXXXXX";
	REQUIRE(mkdtemp(folder));
	std::string path = std::string(folder) + "/file";
	std::ofstream(path) << "text";
	struct stat info;
	REQUIRE(chmod(path.c_str(), 0644) == 0);
	REQUIRE(stat(path.c_str(), &info) == 0);
	unlink(path.c_str());
	rmdir(folder);
	CHECK((info.st_mode & 0777) == 0644);
}

extern char **environ;

// What the system says that it was started with.
static size_t variables_at_start()
{
	std::ifstream file("/proc/self/environ");
	std::string variable;
	size_t n = 0;
	while (std::getline(file, variable, '\0'))
		n += variable.rfind("LD_", 0) != 0 && variable.rfind("POLYGRAPH_", 0) != 0;
	return n;
}

TEST_CASE("number of variables") //@ assumption "number of variables" api="environ (more variables)" line=any before=yes in=default more=yes
{
	size_t n = 0;
	for (char **variable = environ; *variable; variable++)
		n += strncmp(*variable, "LD_", 3) != 0 && strncmp(*variable, "POLYGRAPH_", 10) != 0;
	CHECK(n == variables_at_start());
}

TEST_CASE("a variable of its own")
{
	setenv("OF_ITS_OWN", "value", 1);
	REQUIRE(getenv("OF_ITS_OWN"));
	CHECK(!strcmp(getenv("OF_ITS_OWN"), "value"));
	unsetenv("OF_ITS_OWN");
	CHECK(!getenv("OF_ITS_OWN"));
}

// The decimal point of the user's locale.
static std::string print_half()
{
	char text[16];
	snprintf(text, sizeof(text), "%.1f", 0.5);
	return text;
}

TEST_CASE("half in the plain locale")
{
	CHECK(print_half() == "0.5");
}

TEST_CASE("half in the user's locale") //@ assumption "half in the user's locale" api=LC_ALL line=any before=yes may=yes in=default
{
	REQUIRE(setlocale(LC_ALL, ""));
	std::string text = print_half();
	setlocale(LC_ALL, "C");
	CHECK(text == "0.5");
}

TEST_CASE("squares are there") //@ assumption "squares are there" api="static initialisers across files" line=any before=yes in=default
{
	CHECK(squares_sum == 1 + 4 + 9);
}

TEST_CASE("cubes are there")
{
	CHECK(cubes()[2] == 27);
}
