#pragma once

#include <string>
#include <vector>

struct Journal {
	std::vector<std::string> lines;
	void write(const std::string &line);
	void truncate();
};

extern Journal journal;
