#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int store_put(int value);
int store_count(void);
#ifdef __cplusplus
}
#endif
