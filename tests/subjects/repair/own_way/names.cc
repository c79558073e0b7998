#include "names.h"

#include <set>

namespace app {

static std::set<std::string> all;

void names_add(const std::string &name)
{
	all.insert(name);
}

void names_remove(const std::string &name)
{
	all.erase(name);
}

int names_count()
{
	return static_cast<int>(all.size());
}

} // namespace app
