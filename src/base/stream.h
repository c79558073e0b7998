/*
 * Bytes through a socket, all or nothing: for processes of ours that talk to
 * each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* False: the other end is gone. */
bool stream_write(int fd, const void *data, size_t n);
/* The same, or the user wants to stop. */
bool stream_read(int fd, void *data, size_t n);
