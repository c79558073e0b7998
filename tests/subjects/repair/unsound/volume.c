#include "volume.h"

static int volume = 3;

int volume_is_low(void)
{
	return volume < 10;
}

void volume_shout(void)
{
	volume = 99;
}

// No value of it is the one that was there.
void volume_turn_down(void)
{
	volume = volume > 5 ? 5 : volume;
}
