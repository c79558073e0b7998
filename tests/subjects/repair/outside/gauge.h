void gauge_raise(void);
void gauge_reset(void);
int gauge_level(void);
