/* File operations of a C++ program that the agent logs; see same.h. */
#include "same.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#define FILES polygraph_agent_files
#define RING reinterpret_cast<wire_ring *>(FILES.ring)

namespace {

/* Records since the last call. */
std::uint64_t records()
{
	static std::uint64_t last;
	std::uint64_t now = AGENT ? RING->records : 0, n = now - last;
	last = now;
	return n;
}

void streams()
{
	std::ofstream("new") << "text\n";
	NOTED(records() == 1);
	std::ofstream("new", std::ios::app) << "more\n";
	NOTED(records() == 1);
	std::fstream both("new");
	std::string line;
	both >> line;
	std::cout << line << std::endl;
	NOTED(records() == 1);
	std::ifstream in("new");
	in >> line >> line;
	std::cout << line << std::endl;
	NOTED(records() == 0);
	std::ofstream failed("no/such/folder");
	std::cout << failed.is_open() << std::endl;
}

void folders()
{
	namespace fs = std::filesystem;
	fs::create_directory("d");
	fs::create_directories("d/e/f");
	NOTED(records() == 3);
	std::ofstream("d/x") << "x";
	fs::rename("d/x", "d/y");
	NOTED(records() == 2);
	fs::resize_file("d/y", 0);
	NOTED(records() == 1);
	std::cout << fs::remove("d/y") << fs::remove("d/y") << std::endl;
	NOTED(records() >= 1);
	std::cout << fs::remove_all("d") << fs::exists("d") << std::endl;
	std::error_code error;
	std::cout << fs::remove("nothing/here", error) << error.value()
		  << std::endl;
}

} /* namespace */

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*function)();
	} words[] = { { "streams", streams }, { "folders", folders } };
	if (AGENT)
		FILES.active = 1;
	for (const auto &word : words) {
		if (argc < 2)
			std::puts(word.word);
		else if (!std::strcmp(word.word, argv[1]))
			word.function();
	}
	return 0;
}
