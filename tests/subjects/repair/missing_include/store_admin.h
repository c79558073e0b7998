#pragma once
#ifdef __cplusplus
extern "C" {
#endif
void store_wipe(void);
#ifdef __cplusplus
}
#endif
