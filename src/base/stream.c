#include "base/stream.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/interrupted.h"

bool stream_write(int fd, const void *data, size_t n)
{
	while (n) {
		ssize_t done = send(fd, data, n, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data = (const char *)data + done;
		n -= (size_t)done;
	}
	return true;
}

bool stream_read(int fd, void *data, size_t n)
{
	while (n) {
		ssize_t done = recv(fd, data, n, 0);
		if (done < 0 && errno == EINTR && !interrupted)
			continue;
		if (done <= 0)
			return false;
		data = (char *)data + done;
		n -= (size_t)done;
	}
	return true;
}
