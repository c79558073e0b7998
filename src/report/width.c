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

/* Where the word at @text, and the blanks before it, end. */
static size_t width_word_end(const char *text)
{
	size_t blanks = strspn(text, " ");
	return blanks + strcspn(text + blanks, " ");
}

struct err *width_append_wrapped(struct str *str, const char *text, size_t at,
				 size_t indent, size_t columns)
{
	TRY(str_append(str, ""));
	for (bool first = true; *text; first = false) {
		size_t n = width_word_end(text);
		_cleanup_(freep) char *word = strndup(text, n);
		if (!word)
			return err_nomem();
		const char *shown = word;
		if (columns && !first && at + width_of(word) > columns) {
			TRY(str_appendf(str, "\n%*s", (int)indent, ""));
			shown += strspn(word, " ");
			at = indent;
		}
		TRY(str_append(str, shown));
		at += width_of(shown);
		text += n;
	}
	return NULL;
}

size_t width_terminal(int fd)
{
	struct winsize size;
	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}
