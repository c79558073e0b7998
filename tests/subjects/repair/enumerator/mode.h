#pragma once
enum mode { MODE_PLAIN, MODE_FAST, MODE_SAFE };
void mode_set(enum mode mode);
enum mode mode_get(void);
