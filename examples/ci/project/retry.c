#include "retry.h"

static int limit = 3;

void retry_set_limit(int attempts) { limit = attempts; }

int retry_attempts(void) { return limit; }
