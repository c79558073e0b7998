int cache_read(void);
void cache_write(int value);
void cache_clear(void);
