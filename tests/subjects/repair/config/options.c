#include "options.h"

struct options options = { 1, 2, 3, 0.5, "plain" };
