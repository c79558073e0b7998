#include "settings.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace settings {

static std::map<std::string, std::string> registry;

static std::string key(std::string name)
{
	std::transform(name.begin(), name.end(), name.begin(),
		       [](unsigned char c) { return std::tolower(c); });
	return name;
}

void set(const std::string &name, const std::string &value)
{
	registry[key(name)] = value;
}

std::optional<std::string> get(const std::string &name)
{
	auto found = registry.find(key(name));
	if (found == registry.end())
		return std::nullopt;
	return found->second;
}

int number(const std::string &name, int fallback)
{
	auto text = get(name);
	if (!text || text->empty() ||
	    !std::all_of(text->begin(), text->end(),
			 [](unsigned char c) { return std::isdigit(c); }))
		return fallback;
	return std::stoi(*text);
}

std::vector<std::string> names()
{
	std::vector<std::string> result;
	for (const auto &entry : registry)
		result.push_back(entry.first);
	return result;
}

void clear()
{
	registry.clear();
}

} // namespace settings

int retry(const std::function<bool()> &attempt)
{
	int limit = settings::number("retry.limit", 3);
	int calls = 0;
	while (calls < limit) {
		calls++;
		if (attempt())
			break;
	}
	return calls;
}

int retry_wait(int attempt)
{
	return attempt <= 1 ? 0 : 50 << (attempt - 2);
}
