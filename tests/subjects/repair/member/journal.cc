#include "journal.h"

Journal journal;

void Journal::write(const std::string &line)
{
	lines.push_back(line);
}

void Journal::truncate()
{
	lines.clear();
}
