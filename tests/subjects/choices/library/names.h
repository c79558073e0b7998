#pragma once

#include <string>

std::string sorted_names();
std::string sorted_ages();
