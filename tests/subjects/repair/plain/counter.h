#pragma once
int counter_next(void);
int counter_value(void);
void counter_set(int value);
void counter_reset(void);
void counter_forever(void);
void counter_break(void);
