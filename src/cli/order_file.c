#include "cli/order_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/vec.h"

#define FILE_LIMIT ((size_t)256 << 20)

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * The byte after the backslash at @p; @ret_used: how many characters it took. 0
 * where that is none.
 */
static char escape_byte(const char *p, size_t n, size_t *ret_used)
{
	*ret_used = 2;
	if (n < 2)
		return 0;
	switch (p[1]) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case '\\':
		return '\\';
	case 'x':
		*ret_used = 4;
		if (n < 4 || hex_digit(p[2]) < 0 || hex_digit(p[3]) < 0)
			return 0;
		return (char)(hex_digit(p[2]) << 4 | hex_digit(p[3]));
	default:
		return 0;
	}
}

/* NULL in @ret: an escape that is none. */
static struct err *order_file_unescape(const char *line, size_t n, char **ret)
{
	_cleanup_(freep) char *name = malloc(n + 1);
	if (!name)
		return err_nomem();
	size_t m = 0;
	for (size_t i = 0; i < n;) {
		size_t used = 1;
		char c = line[i];
		if (c == '\\')
			c = escape_byte(line + i, n - i, &used);
		if (!c) {
			*ret = NULL;
			return NULL;
		}
		name[m++] = c;
		i += used;
	}
	name[m] = '\0';
	*ret = take_ptr(name);
	return NULL;
}

static struct err *add_line(struct order_file *order, const char *text,
			    size_t n, size_t number)
{
	if (n && text[n - 1] == '\r')
		n--;
	size_t blank = 0;
	while (blank < n && (text[blank] == ' ' || text[blank] == '\t'))
		blank++;
	if (blank == n)
		return NULL;
	if (memchr(text, '\0', n))
		return err_create(ERR_USAGE, "line %zu has a NUL byte in it",
				  number);
	_cleanup_(freep) char *raw = strndup(text, n);
	_cleanup_(freep) char *name = NULL;
	if (!raw)
		return err_nomem();
	TRY(order_file_unescape(text, n, &name));
	TRY(vec_push(order, (struct order_line){ name, raw, number }));
	name = raw = NULL;
	return NULL;
}

struct err *order_file_parse(const char *text, size_t n, struct order_file *ret)
{
	_cleanup_(order_file_freep) struct order_file order = {};
	size_t number = 1;
	for (size_t i = 0; i < n; number++) {
		const char *end = memchr(text + i, '\n', n - i);
		size_t length = end ? (size_t)(end - text) - i : n - i;
		TRY(add_line(&order, text + i, length, number));
		i += length + 1;
	}
	*ret = order;
	order = (struct order_file){};
	return NULL;
}

struct err *order_file_read(const char *path, struct order_file *ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	TRY(err_with_kind(file_read(path, FILE_LIMIT, &text, &n), ERR_USAGE));
	return err_prefix(order_file_parse(text, n, ret), "order file '%s'",
			  path);
}

void order_file_free(struct order_file *order)
{
	for (size_t i = 0; i < order->n; i++) {
		free(order->data[i].name);
		free(order->data[i].raw);
	}
	vec_free(order);
}
