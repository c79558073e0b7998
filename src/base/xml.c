#include "base/xml.h"

#include <string.h>

#include "base/macro.h"
#include "base/str.h"

/* U+FFFE and U+FFFF are not characters of XML 1.0 (section 2.2). */
static bool xml_forbids(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;
	return !n || (c < 0x20 && c != '\n' && c != '\t') ||
	       str_misleads(p, n) ||
	       (n == 3 && !memcmp(p, "\xef\xbf", 2) &&
		(unsigned char)p[2] >= 0xbe);
}

void xml_write(const char *text, size_t n, bool attribute, FILE *out)
{
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(text + i, n - i);
		if (xml_forbids(text + i, length)) {
			for (size_t j = 0; j < MAX(length, (size_t)1); j++)
				fprintf(out, "\\x%02x",
					(unsigned char)text[i + j]);
			i += MAX(length, (size_t)1);
			continue;
		}
		switch (text[i]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs(attribute ? "&quot;" : "\"", out);
			break;
		case '\n':
			fputs(attribute ? "&#10;" : "\n", out);
			break;
		case '\t':
			fputs(attribute ? "&#9;" : "\t", out);
			break;
		default:
			fwrite(text + i, 1, length, out);
		}
		i += length;
	}
}

void xml_write_attribute(const char *key, const char *text, FILE *out)
{
	fprintf(out, " %s=\"", key);
	xml_write(text, strlen(text), true, out);
	fputc('"', out);
}
