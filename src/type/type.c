#include "type/type.h"
