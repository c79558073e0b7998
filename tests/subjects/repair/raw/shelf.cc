#include "shelf.h"

#include <algorithm>

Shelf &Shelf::get()
{
	static Shelf shelf;
	return shelf;
}

void Shelf::put(const std::string &name)
{
	names.push_back(name);
}

void Shelf::take_away(const std::string &name)
{
	names.erase(std::remove(names.begin(), names.end(), name), names.end());
}

std::size_t Shelf::size() const
{
	return names.size();
}

static int counted = 3;

void meter_count()
{
	counted++;
}

void meter_restart()
{
	counted = 3;
}

int meter_value()
{
	return counted;
}
