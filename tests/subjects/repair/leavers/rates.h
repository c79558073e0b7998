#pragma once

void rates_set(int rate);
void rates_reset(void);
int rates_price(int weight);
