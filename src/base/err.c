#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct err {
	enum err_kind kind;
	int number;
	char *message;
	char *hint;
};

static struct err nomem = {
	.kind = ERR_INTERNAL,
	.number = ENOMEM,
	.message = (char *)"out of memory",
};

struct err *err_nomem(void)
{
	return &nomem;
}

/*
 * Messages quote what they are about, which may be as long as a file. Beginning
 * and end of a long one are kept: the end says what is wrong.
 */
#define MESSAGE_HEAD 1500
#define MESSAGE_TAIL 500
#define MESSAGE_GAP "[...]"

static void err_shorten(char *text)
{
	size_t n = text ? strlen(text) : 0;
	if (n <= MESSAGE_HEAD + strlen(MESSAGE_GAP) + MESSAGE_TAIL)
		return;
	/* Not within a character of UTF-8. */
	size_t head = MESSAGE_HEAD, tail = n - MESSAGE_TAIL;
	while (head && (text[head] & 0xc0) == 0x80)
		head--;
	while (tail < n && (text[tail] & 0xc0) == 0x80)
		tail++;
	char *to = stpcpy(text + head, MESSAGE_GAP);
	memmove(to, text + tail, n - tail + 1);
}

/* Which of the caller's limits an error number stands for. */
static const char *limit_behind(int number)
{
	return number == EMFILE	 ? " (limited by 'ulimit -n')"
	       : number == EFBIG ? " (limited by 'ulimit -f')"
				 : "";
}

static struct err *err_vcreate(enum err_kind kind, int number, const char *fmt,
			       va_list args)
{
	struct err *err = calloc(1, sizeof(*err));
	if (!err)
		return &nomem;
	err->kind = kind;
	err->number = number;

	_cleanup_(freep) char *text = NULL;
	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		free(err);
		return &nomem;
	}
	err_shorten(text);
	if (!number) {
		err->message = take_ptr(text);
		return err;
	}
	if (asprintf(&err->message, "%s: %s%s", text, strerror(number),
		     limit_behind(number)) < 0) {
		free(err);
		return &nomem;
	}
	return err;
}

struct err *err_create(enum err_kind kind, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct err *err = err_vcreate(kind, 0, fmt, args);
	va_end(args);
	return err;
}

void err_destroy(struct err *err)
{
	if (!err || err == &nomem)
		return;
	free(err->message);
	free(err->hint);
	free(err);
}

struct err *err_errno(int number, const char *fmt, ...)
{
	if (number == ENOMEM)
		return &nomem;
	va_list args;
	va_start(args, fmt);
	struct err *err = err_vcreate(ERR_INTERNAL, number, fmt, args);
	va_end(args);
	return err;
}

struct err *err_prefix(struct err *err, const char *fmt, ...)
{
	if (!err || err == &nomem)
		return err;

	_cleanup_(freep) char *prefix = NULL;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&prefix, fmt, args);
	va_end(args);
	if (n < 0) {
		prefix = NULL;
		return err;
	}
	err_shorten(prefix);
	char *message;
	if (asprintf(&message, "%s: %s", prefix, err->message) < 0)
		return err;
	free(err->message);
	err->message = message;
	return err;
}

struct err *err_hint(struct err *err, const char *fmt, ...)
{
	if (!err || err == &nomem || err->hint)
		return err;
	va_list args;
	va_start(args, fmt);
	if (vasprintf(&err->hint, fmt, args) < 0)
		err->hint = NULL;
	err_shorten(err->hint);
	va_end(args);
	return err;
}

struct err *err_with_kind(struct err *err, enum err_kind kind)
{
	if (err && err != &nomem && err->kind != ERR_INTERRUPTED)
		err->kind = kind;
	return err;
}

enum err_kind err_kind(const struct err *err)
{
	return err->kind;
}

int err_number(const struct err *err)
{
	return err->number;
}

const char *err_message(const struct err *err)
{
	return err->message;
}

const char *err_hint_text(const struct err *err)
{
	return err->hint;
}

void err_ignore(struct err *err)
{
	if (!err)
		return;
	log_debug(LOG_BASE, "ignored: %s", err->message);
	err_destroy(err);
}

void bug_at(const char *file, int line, const char *fmt, ...)
{
	fprintf(stderr, "polygraph: internal error at %s:%d: ", file, line);
	va_list args;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\nThis is a bug in polygraph; please report it.\n", stderr);
	abort();
}
