void safe_close(int code);
void safe_prepare(int code);
void safe_turn(int code, int by);
int safe_is_open(void);
int safe_weight(int n);
