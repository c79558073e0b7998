/* Says what is done at this moment, in the file where polygraph says where it stops. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void note(const char *what)
{
	char line[64];
	const char *path = getenv("POINTS_FILE");
	int fd = path ? open(path, O_WRONLY | O_APPEND) : -1;
	int n = snprintf(line, sizeof(line), "note %s\n", what);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
}
