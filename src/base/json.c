#include "base/json.h"

#include <stdint.h>

#include "base/str.h"

static void write_code_point(const char *text, size_t length, FILE *out)
{
	uint32_t c = str_code_point(text, length);
	if (c > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
			0xdc00 + (c & 0x3ff));
	else
		fprintf(out, "\\u%04x", c);
}

/* jansson gives whole characters; they stand in strings alone. */
static int json_put(const char *bytes, size_t n, void *data)
{
	FILE *out = data;
	size_t from = 0;
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(bytes + i, n - i);
		if (str_misleads(bytes + i, length)) {
			fwrite(bytes + from, 1, i - from, out);
			write_code_point(bytes + i, length, out);
			from = i + length;
		}
		i += length ? length : 1;
	}
	fwrite(bytes + from, 1, n - from, out);
	return ferror(out) ? -1 : 0;
}

struct err *json_write_to(const json_t *json, size_t flags, FILE *out)
{
	if (json_dump_callback(json, json_put, out, flags) && !ferror(out))
		return err_create(ERR_INTERNAL, "cannot write JSON");
	return NULL;
}
