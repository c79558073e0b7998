#include "tables.h"

std::vector<int> squares{ 1, 4, 9 };

const std::vector<int> &cubes()
{
	static const std::vector<int> table{ 1, 8, 27 };
	return table;
}
