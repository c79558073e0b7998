#pragma once
#include <string>
#include <vector>

class Shelf {
public:
	static Shelf &get();
	void put(const std::string &name);
	void take_away(const std::string &name);
	std::size_t size() const;

private:
	std::vector<std::string> names;
};

void meter_count();
void meter_restart();
int meter_value();
