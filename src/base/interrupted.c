#include "base/interrupted.h"

volatile int interrupted;
