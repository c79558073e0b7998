/*
 * Models of streams: how many characters can be pushed back.
 *
 * A second one, without a read between them, need not fit. That nothing was
 * read is seen from where the stream is: in its buffer, which may be refilled,
 * and in its file. Streams without a position (pipes, terminals) are left
 * alone.
 */
/* Both names of what has two: without this they are one. */
#undef _FILE_OFFSET_BITS
#include "models/values_internal.h"

#include <stdio.h>

#define STREAMS 64

/* Where a stream was when a character had been pushed back. */
static struct pushed {
	FILE *stream;
	const char *at;
	off_t position;
} pushed[STREAMS];

static struct pushed *stream_pushed_slot(const FILE *stream)
{
	return &pushed[choose_mix((uintptr_t)stream, 0) % STREAMS];
}

static off_t position_of(FILE *stream)
{
	VALUE_FIND(ftello)
	int number = errno;
	off_t position = ftello_next ? ftello_next(stream) : -1;
	errno = number;
	return position;
}

static void stream_remember_pushed(FILE *stream)
{
	off_t position = position_of(stream);
	struct pushed *one = stream_pushed_slot(stream);
	__atomic_store_n(&one->stream, NULL, __ATOMIC_RELAXED);
	if (position < 0)
		return;
	one->at = stream->_IO_read_ptr;
	one->position = position;
	__atomic_store_n(&one->stream, stream, __ATOMIC_RELEASE);
}

/* Files are positioned, and what was pushed back is gone. */
static void stream_forget_pushed(const FILE *stream)
{
	struct pushed *one = stream_pushed_slot(stream);
	if (__atomic_load_n(&one->stream, __ATOMIC_RELAXED) == stream)
		__atomic_store_n(&one->stream, NULL, __ATOMIC_RELAXED);
}

static bool is_second(FILE *stream)
{
	const struct pushed *one = stream_pushed_slot(stream);
	return __atomic_load_n(&one->stream, __ATOMIC_ACQUIRE) == stream &&
	       one->at == stream->_IO_read_ptr &&
	       one->position == position_of(stream);
}

_export_ int ungetc(int c, FILE *stream)
{
	CHOOSE_NEXT(ungetc, EOF)
	if (c == EOF || !choose_wanted(WIRE_MODEL_ungetc, CHOOSE_CALLER()))
		return next(c, stream);
	if (is_second(stream) &&
	    choose_pick(WIRE_MODEL_ungetc, 2, value_keys(0))) {
		choose_argument("character %d", c);
		choose_did("it failed: one had been pushed back already");
		return EOF;
	}
	int result = next(c, stream);
	if (result != EOF)
		stream_remember_pushed(stream);
	return result;
}

/* clang-format off */
#define FORGET(type, name, failed, parameters, ...)                            \
	_export_ type name parameters                                          \
	{                                                                      \
		CHOOSE_NEXT(name, failed)                                      \
		stream_forget_pushed(stream);                                  \
		return next(__VA_ARGS__);                                      \
	}

FORGET(int, fclose, EOF, (FILE *stream), stream)
FORGET(int, fseek, -1, (FILE *stream, long to, int from), stream, to, from)
FORGET(int, fseeko, -1, (FILE *stream, off_t to, int from), stream, to, from)
FORGET(int, fseeko64, -1, (FILE *stream, off64_t to, int from), stream, to, from)
FORGET(int, fsetpos, -1, (FILE *stream, const fpos_t *to), stream, to)
FORGET(int, fsetpos64, -1, (FILE *stream, const fpos64_t *to), stream, to)
FORGET(FILE *, freopen, NULL, (const char *path, const char *mode, FILE *stream),
       path, mode, stream)
FORGET(FILE *, freopen64, NULL, (const char *path, const char *mode, FILE *stream),
       path, mode, stream)
/* clang-format on */

_export_ void rewind(FILE *stream)
{
	CHOOSE_NEXT(rewind, )
	stream_forget_pushed(stream);
	next(stream);
}
