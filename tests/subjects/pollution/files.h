/*
 * What the subjects that leave files do with them. Nothing here fails a test: a run of the tool runs tests more than once,
 * and finds what they left the last time.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void put(const char *name, int flags, const void *data, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	if (fd < 0)
		return;
	(void)!write(fd, data, n);
	close(fd);
}

static inline void write_file(const char *name, const char *text)
{
	put(name, O_TRUNC, text, strlen(text));
}

static inline void append_file(const char *name, const char *text)
{
	put(name, O_APPEND, text, strlen(text));
}

/* Beginning of a file as text; an empty one where it is not there. */
static inline const char *read_file(const char *name, char *out, size_t n)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, out, n - 1);
	out[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return out;
}
