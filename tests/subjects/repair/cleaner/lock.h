#pragma once
void lock_close(int code);
bool lock_open(int code, int salt);
bool lock_is_open();
