/* The tests of notes.h, one a process: step NAME. */
#include "notes.h"

#define RUN(name)                                                                                                      \
	if (argc == 2 && !strcmp(argv[1], #name))                                                                      \
		return !name();

int main(int argc, char **argv)
{
	NOTES(RUN)
	return 2;
}
