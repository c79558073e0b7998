#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace app {

class Bus {
public:
	static Bus &get();
	void subscribe(const std::string &topic);
	bool unsubscribe(const std::string &topic);
	std::size_t subscribers() const;

private:
	std::vector<std::string> topics_;
};

} // namespace app
