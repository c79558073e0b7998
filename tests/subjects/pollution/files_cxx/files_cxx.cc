// Files as C++ leaves them: streams and std::filesystem; and a runner that makes a folder for each test and removes it.
//
//@ subject framework=functions lang=c++ where=file
//@ variant plain quick=gcc-O2

#include "../runner.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;

TEST(test_ofstream) //@ pollutes test_ofstream stream.txt stream.txt before=absent after="file of 6 bytes"
{
	std::ofstream("stream.txt") << "stream";
}

TEST(test_ofstream_and_back) //@ clean test_ofstream_and_back
{
	std::ofstream("shortly.txt") << "stream";
	fs::remove("shortly.txt");
}

TEST(test_append) //@ pollutes test_append log.txt log.txt before="\"old\\n\"" after="\"old\\nnew\\n\"" effect=accumulates
{
	std::ofstream("log.txt", std::ios::app) << "new\n";
}

TEST(test_same_content) //@ clean test_same_content
{
	std::ofstream("kept.txt") << "old\n";
}

TEST(test_copies_tree) //@ pollutes test_copies_tree copy|copy/... copy before=absent after=folder... at-most=4
{
	fs::copy("tree", "copy", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

TEST(test_copies_tree_and_removes) //@ clean test_copies_tree_and_removes
{
	fs::copy("tree", "short", fs::copy_options::recursive);
	fs::remove_all("short");
}

TEST(test_resizes) //@ pollutes test_resizes sized.txt sized.txt before="\"old\\n\""
{
	fs::resize_file("sized.txt", 2);
}

TEST(test_permissions) //@ pollutes test_permissions mode.txt "mode.txt: mode" after="...600..."
{
	fs::permissions("mode.txt", fs::perms::owner_read | fs::perms::owner_write);
}

// Of what the runner prepares for each test nothing is left.
TEST(test_in_scratch) //@ clean test_in_scratch
{
	std::ofstream("scratch/one.txt") << "one";
	fs::create_directories("scratch/deep/er");
}

TEST(test_in_scratch_again) //@ clean test_in_scratch_again
{
	std::ofstream("scratch/deep.txt") << "two";
	fs::rename("scratch/given.txt", "scratch/taken.txt");
}

static int run_with_scratch()
{
	long last = 0;
	for (;;) {
		const runner_entry *next = nullptr;
		for (const runner_entry *e = __start_runner_tests; e != __stop_runner_tests; e++) {
			if (e->line > last && (!next || e->line < next->line))
				next = e;
		}
		if (!next)
			return 0;
		last = next->line;
		fs::create_directory("scratch");
		std::ofstream("scratch/given.txt") << last;
		next->run();
		fs::remove_all("scratch");
	}
}

int main()
{
	fs::create_directories("tree/a/b");
	for (const char *name : { "log.txt", "kept.txt", "sized.txt", "mode.txt", "tree/a/leaf.txt" })
		std::ofstream(name) << "old\n";
	fs::permissions("mode.txt", fs::perms(0644));
	return run_with_scratch();
}
