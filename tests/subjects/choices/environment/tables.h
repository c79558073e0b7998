#pragma once

#include <vector>

extern std::vector<int> squares; // of squares.cc
extern int squares_sum;		 // of sums.cc, which has it from there
const std::vector<int> &cubes(); // made when first asked for
