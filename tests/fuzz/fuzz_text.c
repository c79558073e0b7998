/*
 * Text of the tested program on its way to a terminal and to JSON: whatever
 * goes in, what comes out is valid UTF-8, and for a terminal it has no control
 * characters.
 */
#include <stdint.h>
#include <string.h>

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct str *str, bool controls)
{
	for (size_t i = 0; i < str->n;) {
		size_t n = str_utf8_length(str->s + i, str->n - i);
		BUG_ON(!n);
		unsigned char c = (unsigned char)str->s[i];
		BUG_ON(!controls && n == 1 && (c < 0x20 || c == 0x7f));
		BUG_ON(!controls && n == 2 && c == 0xc2 &&
		       (unsigned char)str->s[i + 1] < 0xa0);
		i += n;
	}
	BUG_ON(str->s && str->s[str->n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(str_freep) struct str terminal = STR_INIT;
	_cleanup_(str_freep) struct str json = STR_INIT;
	err_destroy(str_append_escaped(&terminal, (const char *)data, size));
	err_destroy(str_append_utf8(&json, (const char *)data, size));
	check(&terminal, false);
	check(&json, true);
	BUG_ON(terminal.n < size || json.n < size);
	return 0;
}
