#pragma once

void retry_set_limit(int attempts);
int retry_attempts(void);
