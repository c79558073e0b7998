#include "base/strv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void strv_free(struct strv *strv)
{
	for (size_t i = 0; i < strv->n; i++)
		free(strv->data[i]);
	vec_free(strv);
}

struct err *strv_take(struct strv *strv, char *text)
{
	struct err *err = text ? vec_reserve(strv, strv->n + 2) : err_nomem();
	if (err) {
		free(text);
		return err;
	}
	strv->data[strv->n++] = text;
	strv->data[strv->n] = NULL;
	return NULL;
}

struct err *strv_add(struct strv *strv, const char *text)
{
	return strv_take(strv, strdup(text));
}

struct err *strv_addf(struct strv *strv, const char *fmt, ...)
{
	char *word = NULL;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&word, fmt, args);
	va_end(args);
	return strv_take(strv, n < 0 ? NULL : word);
}

struct err *strv_add_all(struct strv *strv, char *const *from)
{
	for (size_t i = 0; from[i]; i++)
		TRY(strv_add(strv, from[i]));
	return NULL;
}
