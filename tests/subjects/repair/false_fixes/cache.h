#pragma once
void cache_init(void);
int cache_insert(const char *key);
int cache_take(const char *key);
int cache_size(void);
void cache_release_all(void);
void cache_pretend_empty(void);
