/*
 * Tests that GoogleTest lists without a run, for test_begins.py. The word in
 * BEGINS says what they do; each of them passes alone:
 *
 *	shares		each writes its name to the same file, waits, and reads it
 *	starts		main() makes the file anew, slowly, and each only reads it
 *	late		the last test alone writes the file; the others want none
 *	opens		main() has a file open in a new folder, and removes both
 *	nothing		they touch no file
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#define TESTS 12
/* Long enough for a neighbour to come between. */
#define PAUSE_US 20000

static std::string word()
{
	const char *text = getenv("BEGINS");
	return text ? text : "";
}

static std::string path()
{
	return std::string(getenv("TMPDIR")) + "/begins-shared";
}

static void write_file(const std::string &text)
{
	int fd = open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(write(fd, text.data(), text.size()), (ssize_t)text.size());
	close(fd);
}

static std::string read_file()
{
	char text[64];
	int fd = open(path().c_str(), O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return std::string(text, n < 0 ? 0 : n);
}

class Begins : public testing::TestWithParam<int>
{
};

TEST_P(Begins, Test)
{
	std::string name = "test " + std::to_string(GetParam());
	bool last = GetParam() == TESTS - 1;
	if (word() == "shares" || (word() == "late" && last)) {
		write_file(name);
		usleep(PAUSE_US);
		ASSERT_EQ(read_file(), name);
	} else if (word() == "starts") {
		for (int i = 0; i < 10; i++) {
			ASSERT_EQ(read_file(), "main");
			usleep(PAUSE_US / 10);
		}
	} else {
		usleep(PAUSE_US);
		ASSERT_NE(access(path().c_str(), F_OK), 0);
	}
}

INSTANTIATE_TEST_SUITE_P(All, Begins, testing::Range(0, TESTS));

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	if (word() == "starts") {
		unlink(path().c_str());
		usleep(10 * PAUSE_US);
		write_file("main");
	}
	if (word() != "opens")
		return RUN_ALL_TESTS();

	std::string folder = std::string(getenv("TMPDIR")) + "/begins-XXXXXX";
	if (!mkdtemp(&folder[0]))
		return 1;
	std::string file = folder + "/data";
	int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
	int status = RUN_ALL_TESTS();
	close(fd);
	unlink(file.c_str());
	rmdir(folder.c_str());
	return status;
}
