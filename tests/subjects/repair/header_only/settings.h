#pragma once

#include <map>
#include <string>

class Settings {
public:
	static Settings &instance()
	{
		static Settings settings;
		return settings;
	}
	void put(const std::string &key, int value)
	{
		values_[key] = value;
	}
	bool has(const std::string &key) const
	{
		return values_.count(key) > 0;
	}
	void clear()
	{
		values_.clear();
	}

private:
	Settings() = default;
	std::map<std::string, int> values_;
};
