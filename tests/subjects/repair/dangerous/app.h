#pragma once
int app_level(void);
void app_raise(void);
void app_level_back(void);
void app_reset_all_files(void);
void app_reset_others(void);
void app_clear_by_program(void);
void app_clear_and_wait(void);
