#include "jvm/jvm_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* Of one list: nobody has more, and each takes four bytes at least. */
#define TEXTS_MAX (1U << 20)

struct err *message_add_number(struct str *message, uint32_t number)
{
	const char bytes[] = {
		(char)number,
		(char)(number >> 8),
		(char)(number >> 16),
		(char)(number >> 24),
	};
	return str_append_n(message, bytes, sizeof(bytes));
}

struct err *message_add_text(struct str *message, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	TRY(message_add_number(message, (uint32_t)n));
	return n ? str_append_n(message, text, n) : NULL;
}

struct err *message_add_texts(struct str *message, const struct strv *texts)
{
	TRY(message_add_number(message, (uint32_t)texts->n));
	for (size_t i = 0; i < texts->n; i++)
		TRY(message_add_text(message, texts->data[i]));
	return NULL;
}

uint32_t message_number(struct message_reader *reader)
{
	if (reader->broken || reader->end - reader->at < 4) {
		reader->broken = true;
		return 0;
	}
	const uint8_t *at = reader->at;
	reader->at += 4;
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

struct err *message_text(struct message_reader *reader, char **ret)
{
	uint32_t n = message_number(reader);
	*ret = NULL;
	if (reader->broken || n > (size_t)(reader->end - reader->at)) {
		reader->broken = true;
		return NULL;
	}
	if (!n)
		return NULL;
	*ret = strndup((const char *)reader->at, n);
	reader->at += n;
	return *ret ? NULL : err_nomem();
}

struct err *message_texts(struct message_reader *reader, struct strv *ret)
{
	uint32_t n = message_number(reader);
	reader->broken |= n > TEXTS_MAX;
	for (uint32_t i = 0; i < n && !reader->broken; i++) {
		char *text = NULL;
		TRY(message_text(reader, &text));
		if (text)
			TRY(strv_take(ret, text));
	}
	return NULL;
}
