/* Values of which only a property is promised: printing. */
#undef _FILE_OFFSET_BITS /* both names of functions are ours */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* none of them is inlined by <stdio.h> */
#endif
#include "models/values_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define FORMAT 512

/* The conversion at @format, which is a '%': its last character. */
static const char *format_conversion_end(const char *format)
{
	do
		format++;
	while ((*format >= '0' && *format <= '9') || *format == '$' ||
	       *format == '-' || *format == '+' || *format == ' ' ||
	       *format == '#' || *format == '.' || *format == '*' ||
	       *format == '\'' || *format == 'l' || *format == 'h' ||
	       *format == 'z' || *format == 'j' || *format == 't' ||
	       *format == 'q' || *format == 'L');
	return format;
}

/*
 * %p, and %m. Not where there is a %n, too: it is refused in formats that can
 * be written to.
 */
static bool is_open(const char *format)
{
	bool open = false;
	for (; *format; format++) {
		if (*format != '%')
			continue;
		format = format_conversion_end(format);
		if (*format == 'n' || !*format)
			return false;
		open |= *format == 'p' || *format == 'm';
	}
	return open;
}

struct format {
	char out[FORMAT];
	size_t n;
};

static void format_put_bytes(struct format *format, const char *from, size_t n)
{
	for (size_t i = 0; i < n && format->n < FORMAT; i++)
		format->out[format->n++] = from[i];
}

/* "%m" is text, and text has no conversions. */
static void put_error(struct format *format, const char *text)
{
	for (; *text; text++) {
		format_put_bytes(format, text, 1);
		if (*text == '%')
			format_put_bytes(format, "%", 1);
	}
}

/*
 * Pointers as numbers, all of which scanf() reads with %p: with upper-case
 * digits, without a prefix, or with a prefix.
 */
static void put_pointer(struct format *format, const char *from, size_t n,
			uint64_t pick)
{
	static const char *const ends[] = { "p", "lX", "lx", "lX" };
	size_t numbered = 1; /* "%2$" stays at the beginning */
	for (size_t i = 1; i < n; i++) {
		if (from[i] == '$')
			numbered = i + 1;
	}
	format_put_bytes(format, from, numbered);
	if (pick == 1)
		format_put_bytes(format, "#", 1);
	format_put_bytes(format, from + numbered, n - numbered);
	format_put_bytes(format, ends[pick], text_length(ends[pick]));
}

static _cold_ const char *format_rewrite(const char *format,
					 struct format *room, uintptr_t caller)
{
	char text[VALUE_TEXT];
	uint64_t pick = 0;
	room->n = 0;
	const char *error = value_error_text(errno, caller, text);
	const char *begin = format;
	for (const char *at = format; *at; at++) {
		if (*at != '%')
			continue;
		const char *end = format_conversion_end(at);
		if (*end == 'p' || (*end == 'm' && end == at + 1 && error)) {
			format_put_bytes(room, begin, (size_t)(at - begin));
			begin = end + 1;
		}
		if (*end == 'p') {
			if (choose_wanted(WIRE_MODEL_printf_p, caller)) {
				pick = value_steady(WIRE_MODEL_printf_p, 4, 0);
				choose_argument("\"%s\"", format);
				choose_did("wrote the pointer differently");
			}
			put_pointer(room, at, (size_t)(end - at), pick);
		} else if (begin == end + 1) {
			put_error(room, error);
		}
		at = end;
	}
	format_put_bytes(room, begin, text_length(begin) + 1);
	return room->n < FORMAT ? room->out : format;
}

static const char *format_open_choice(const char *format, struct format *room,
				      uintptr_t caller)
{
	if (likely(!choose_block || !is_open(format)))
		return format;
	return format_rewrite(format, room, caller);
}

/* It worked: errno may be anything (a stream looks whether it is a terminal). */
static int format_change_errno(int result, uintptr_t caller)
{
	if (result < 0 || !choose_wanted(WIRE_MODEL_printf_errno, caller))
		return result;
	if (choose_pick(WIRE_MODEL_printf_errno, 2, value_keys(0))) {
		choose_did("set errno to ENOTTY, and succeeded");
		errno = ENOTTY;
	}
	return result;
}

/*
 * Each function that takes a list ends in its form that takes a va_list. @before
 * are the parameters in front of the format.
 */
/* clang-format off */
#define PRINT(name, vname, done, before, call)                                 \
	int name(UNPACK before const char *format, ...);                       \
	_export_ int name(UNPACK before const char *format, ...)               \
	{                                                                      \
		struct format room;                                            \
		CHOOSE_NEXT(vname, -1)                                         \
		format = format_open_choice(format, &room, CHOOSE_CALLER());   \
		va_list list;                                                  \
		va_start(list, format);                                        \
		int result = next(UNPACK call format, list);                   \
		va_end(list);                                                  \
		return done;                                                   \
	}                                                                      \
	int vname(UNPACK before const char *format, va_list list);             \
	_export_ int vname(UNPACK before const char *format, va_list list)     \
	{                                                                      \
		struct format room;                                            \
		CHOOSE_NEXT(vname, -1)                                         \
		format = format_open_choice(format, &room, CHOOSE_CALLER());   \
		int result = next(UNPACK call format, list);                   \
		return done;                                                   \
	}
#define UNPACK(...) __VA_ARGS__
#define STREAM format_change_errno(result, CHOOSE_CALLER())

int __vprintf_chk(int flag, const char *format, va_list list);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list);
int __vsprintf_chk(char *out, int flag, size_t size, const char *format,
		   va_list list);
int __vsnprintf_chk(char *out, size_t n, int flag, size_t size,
		    const char *format, va_list list);
int __vdprintf_chk(int fd, int flag, const char *format, va_list list);
int __vasprintf_chk(char **ret, int flag, const char *format, va_list list);

PRINT(printf, vprintf, STREAM, (), ())
PRINT(fprintf, vfprintf, STREAM, (FILE *file,), (file,))
PRINT(sprintf, vsprintf, result, (char *out,), (out,))
PRINT(snprintf, vsnprintf, result, (char *out, size_t n,), (out, n,))
PRINT(dprintf, vdprintf, result, (int fd,), (fd,))
PRINT(asprintf, vasprintf, result, (char **ret,), (ret,))
PRINT(__printf_chk, __vprintf_chk, STREAM, (int flag,), (flag,))
PRINT(__fprintf_chk, __vfprintf_chk, STREAM, (FILE *file, int flag,),
      (file, flag,))
PRINT(__sprintf_chk, __vsprintf_chk, result,
      (char *out, int flag, size_t size,), (out, flag, size,))
PRINT(__snprintf_chk, __vsnprintf_chk, result,
      (char *out, size_t n, int flag, size_t size,), (out, n, flag, size,))
PRINT(__dprintf_chk, __vdprintf_chk, result, (int fd, int flag,), (fd, flag,))
PRINT(__asprintf_chk, __vasprintf_chk, result, (char **ret, int flag,),
      (ret, flag,))
/* clang-format on */

/* ---- streams ---- */

/* Any value that is not negative. */
static int not_negative(enum wire_model model, int result)
{
	static const int values[] = { 0, 0, 10, 1 << 16 };
	uint64_t pick = choose_pick(model, 4, value_keys((uint64_t)result));
	if (!pick)
		return result;
	int other = values[pick] == result ? 77 : values[pick];
	choose_did("returned %d where the library returns %d", other, result);
	return other;
}

_export_ int puts(const char *text)
{
	CHOOSE_NEXT(puts, EOF)
	int result = next(text);
	if (result < 0 || !choose_wanted(WIRE_MODEL_puts, CHOOSE_CALLER()))
		return result;
	return not_negative(WIRE_MODEL_puts, result);
}

_export_ int fputs(const char *text, FILE *file)
{
	CHOOSE_NEXT(fputs, EOF)
	int result = next(text, file);
	if (result < 0 || !choose_wanted(WIRE_MODEL_fputs, CHOOSE_CALLER()))
		return result;
	return not_negative(WIRE_MODEL_fputs, result);
}

/* Any value but zero. */
static int not_zero(enum wire_model model, int result)
{
	static const int values[] = { 0, 2, 0x10, 0x100, -1 };
	uint64_t pick = choose_pick(model, 5, value_keys(0));
	choose_did("returned %d where the library returns %d", values[pick],
		   result);
	return pick ? values[pick] : result;
}

_export_ int(feof)(FILE *file)
{
	CHOOSE_NEXT(feof, 0)
	int result = next(file);
	if (!result || !choose_wanted(WIRE_MODEL_feof, CHOOSE_CALLER()))
		return result;
	return not_zero(WIRE_MODEL_feof, result);
}

_export_ int(ferror)(FILE *file)
{
	CHOOSE_NEXT(ferror, 0)
	int result = next(file);
	if (!result || !choose_wanted(WIRE_MODEL_ferror, CHOOSE_CALLER()))
		return result;
	return not_zero(WIRE_MODEL_ferror, result);
}

static FILE *opened_file(FILE *file, const char *path, uintptr_t caller)
{
	if (file && choose_wanted(WIRE_MODEL_fopen_errno, caller) &&
	    choose_pick(WIRE_MODEL_fopen_errno, 2, value_keys(0))) {
		choose_argument("\"%s\"", path);
		choose_did("set errno to ENOTTY, and succeeded");
		errno = ENOTTY;
	}
	return file;
}

_export_ FILE *fopen(const char *path, const char *mode)
{
	CHOOSE_NEXT(fopen, NULL)
	return opened_file(next(path, mode), path, CHOOSE_CALLER());
}

_export_ FILE *fopen64(const char *path, const char *mode)
{
	CHOOSE_NEXT(fopen64, NULL)
	return opened_file(next(path, mode), path, CHOOSE_CALLER());
}
