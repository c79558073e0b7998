/* One operation as a process: step NAME. */
#include "operations.h"

#define RUN(name, group, who)                                                                                          \
	if (!strcmp(argv[1], #name)) {                                                                                 \
		note(#name);                                                                                           \
		do_##name();                                                                                           \
		return 0;                                                                                              \
	}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "files_are_there"))
		return !files_are_there();
	if (argc == 2)
		OPERATIONS(RUN)
	return 2;
}
