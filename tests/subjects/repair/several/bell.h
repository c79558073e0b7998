void bell_ring(void);
void bell_reset(void);
int bell_count(void);
