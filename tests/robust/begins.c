/*
 * A program that makes a folder before its first test and removes it at its own
 * end, for test_begins.py. Its argument is a list of words that say how:
 *
 *	atexit, end	who removes it: an exit handler, or main(); neither: nobody
 *	fixed		the folder always has the same name
 *	chdir		it is the working directory
 *	folder		it is open while the tests run
 *	file		a file in it is open for writing while the tests run
 *	exits		a test in the middle ends the program
 *	breaks		a test in the middle removes a file, which the next needs,
 *			and one beside the folder
 *
 * Every test but those two passes alone and in any order.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__,    \
				__LINE__, #cond, errno);                       \
			abort();                                               \
		}                                                              \
	} while (0)

#define TEST __attribute__((noinline)) void

static char folder[PATH_MAX];
static int at = -1; /* the folder */
static int file = -1;
static int has_chdir, has_exits, has_breaks;

static void name_in_folder(char *path, size_t n, const char *name)
{
	CHECK(snprintf(path, n, "%s/%s", folder, name) < (int)n);
}

static void write_file(const char *name, const char *text)
{
	char path[2 * PATH_MAX];
	name_in_folder(path, sizeof(path), name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void check_file(const char *name, const char *text)
{
	char path[2 * PATH_MAX], found[64];
	name_in_folder(path, sizeof(path), name);
	int fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, found, sizeof(found)) == (ssize_t)strlen(text));
	CHECK(!memcmp(found, text, strlen(text)));
	close(fd);
}

static void remove_file(const char *name)
{
	char path[2 * PATH_MAX];
	name_in_folder(path, sizeof(path), name);
	CHECK(unlink(path) == 0);
}

TEST test_reads(void)
{
	check_file("data", "data");
}

TEST test_writes(void)
{
	write_file("made", "by test_writes");
	check_file("made", "by test_writes");
	remove_file("made");
}

TEST test_is_there(void)
{
	char here[PATH_MAX];
	if (!has_chdir)
		return;
	CHECK(getcwd(here, sizeof(here)) && !strcmp(here, folder));
	int fd = open("here", O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0 && close(fd) == 0 && unlink("here") == 0);
}

TEST test_has_folder(void)
{
	if (at < 0)
		return;
	CHECK(fcntl(at, F_GETFD) & FD_CLOEXEC);
	CHECK(faccessat(at, "data", R_OK, 0) == 0);
	CHECK(mkdirat(at, "inner", 0700) == 0);
	CHECK(unlinkat(at, "inner", AT_REMOVEDIR) == 0);
}

TEST test_has_file(void)
{
	char found[8], path[2 * PATH_MAX];
	struct stat mine, named;
	if (file < 0)
		return;
	name_in_folder(path, sizeof(path), "data");
	CHECK(pread(file, found, 4, 0) == 4 && !memcmp(found, "data", 4));
	CHECK(fstat(file, &mine) == 0 && stat(path, &named) == 0);
	CHECK(mine.st_ino == named.st_ino && mine.st_dev == named.st_dev);
}

TEST test_exits(void)
{
	if (has_exits)
		exit(1);
}

TEST test_breaks(void)
{
	char before[PATH_MAX];
	if (!has_breaks)
		return;
	remove_file("data");
	snprintf(before, sizeof(before), "%s/before", getenv("TMPDIR"));
	unlink(before);
}

TEST test_reads_again(void)
{
	check_file("data", "data");
}

static void clean_up(void)
{
	char path[2 * PATH_MAX];
	name_in_folder(path, sizeof(path), "data");
	CHECK(chdir("/") == 0);
	unlink(path);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	const char *words = argc > 1 ? argv[1] : "";
	const char *place = getenv("TMPDIR");
	CHECK(place);
	has_chdir = strstr(words, "chdir") != NULL;
	has_exits = strstr(words, "exits") != NULL;
	has_breaks = strstr(words, "breaks") != NULL;
	if (strstr(words, "fixed")) {
		snprintf(folder, sizeof(folder), "%s/begins", place);
		clean_up();
		CHECK(mkdir(folder, 0700) == 0);
	} else {
		snprintf(folder, sizeof(folder), "%s/begins-XXXXXX", place);
		CHECK(mkdtemp(folder));
	}
	write_file("data", "data");
	if (has_chdir)
		CHECK(chdir(folder) == 0);
	if (strstr(words, "folder"))
		at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (strstr(words, "file")) {
		char path[2 * PATH_MAX];
		name_in_folder(path, sizeof(path), "data");
		file = open(path, O_RDWR);
	}
	if (strstr(words, "atexit"))
		CHECK(atexit(clean_up) == 0);
	test_reads();
	test_writes();
	test_is_there();
	test_has_folder();
	test_has_file();
	test_exits();
	test_breaks();
	test_reads_again();
	if (strstr(words, "end"))
		clean_up();
	return 0;
}
