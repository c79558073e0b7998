int volume_is_low(void);
void volume_shout(void);
void volume_turn_down(void);
