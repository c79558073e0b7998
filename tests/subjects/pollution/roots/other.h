#pragma once

extern int other_value;
extern const int other_constant;
void other_change_same_name(void);
