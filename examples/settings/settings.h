// Named settings of a program, and the retry policy that reads one of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace settings {

// Names are compared without regard to case. A later value wins.
void set(const std::string &name, const std::string &value);
std::optional<std::string> get(const std::string &name);
// The fallback where the setting is missing or not a number.
int number(const std::string &name, int fallback);
std::vector<std::string> names();
void clear();

} // namespace settings

// Calls @attempt until it succeeds, at most "retry.limit" times (default 3).
// Returns how often it was called.
int retry(const std::function<bool()> &attempt);
// Milliseconds to wait before the given attempt; doubles each time.
int retry_wait(int attempt);
