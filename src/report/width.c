#include "report/width.h"

#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include "base/str.h"

static size_t char_width(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;
	wchar_t wide = c;
	if (n == 2)
		wide = c & 0x1f;
	else if (n == 3)
		wide = c & 0x0f;
	else if (n == 4)
		wide = c & 0x07;
	for (size_t i = 1; i < n; i++)
		wide = wide << 6 | (p[i] & 0x3f);
	int width = n > 1 ? wcwidth(wide) : 1;
	return width < 0 ? 1 : (size_t)width;
}

size_t width_of(const char *text)
{
	size_t n = strlen(text), width = 0;
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(text + i, n - i);
		if (!length)
			length = 1;
		width += char_width(text + i, length);
		i += length;
	}
	return width;
}

size_t width_fit(const char *text, size_t columns)
{
	size_t n = strlen(text), width = 0, i = 0;
	while (i < n) {
		size_t length = str_utf8_length(text + i, n - i);
		if (!length)
			length = 1;
		width += char_width(text + i, length);
		if (width > columns)
			return i;
		i += length;
	}
	return n;
}

size_t width_terminal(int fd)
{
	struct winsize size;
	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
