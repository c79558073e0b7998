#include "bus.h"

#include <algorithm>

namespace app {

Bus &Bus::get()
{
	static Bus bus;
	return bus;
}

void Bus::subscribe(const std::string &topic)
{
	topics_.push_back(topic);
}

bool Bus::unsubscribe(const std::string &topic)
{
	auto found = std::find(topics_.begin(), topics_.end(), topic);
	if (found == topics_.end())
		return false;
	topics_.erase(found);
	return true;
}

std::size_t Bus::subscribers() const
{
	return topics_.size();
}

} // namespace app
