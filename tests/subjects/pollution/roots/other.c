#include "other.h"

int other_value;
const int other_constant = 4;
static int same_name;

void other_change_same_name(void)
{
	same_name++;
	__asm__ volatile("" : : "r"(&same_name) : "memory");
}
