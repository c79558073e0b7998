#pragma once

#include <string>

namespace app {

void names_add(const std::string &name);
void names_remove(const std::string &name);
int names_count();

} // namespace app
