#include "report/page.h"

#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "report/page_data.h"

void page_write_text(const char *text, FILE *out)
{
	size_t n = strlen(text);
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(text + i, n - i);
		unsigned char c = (unsigned char)text[i];
		if (!length || c < ' ' || c == 0x7f ||
		    str_misleads(text + i, length))
			fputs("\xef\xbf\xbd", out); /* U+FFFD */
		else if (strchr("<>&\"'", c))
			fprintf(out, "&#%u;", c);
		else
			fwrite(text + i, 1, length, out);
		i += MAX(length, (size_t)1);
	}
}

void page_begin(const char *title, bool still, FILE *out)
{
	fprintf(out,
		"<!doctype html>\n<html lang=\"en\"%s>\n<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
		still ? " class=\"still\"" : "", page_policy);
	page_write_text(title, out);
	fputs(" – polygraph</title>\n<style>", out);
	fputs(page_style, out);
	fputs("</style>\n</head>\n<body>\n", out);
}
