/* Values of which only a property is promised: texts. */
#include "models/values_internal.h"

#include <netdb.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- messages ---- */

struct text {
	char *out;
	size_t n, room;
};

static void value_text_put(struct text *text, const char *from)
{
	while (*from && text->n + 1 < text->room)
		text->out[text->n++] = *from++;
	text->out[text->n] = '\0';
}

static void value_text_put_number(struct text *text, int number)
{
	char digits[16];
	size_t n = sizeof(digits);
	unsigned left = number < 0 ? 0U - (unsigned)number : (unsigned)number;
	digits[--n] = '\0';
	do
		digits[--n] = (char)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		digits[--n] = '-';
	value_text_put(text, digits + n);
}

/* Different for different numbers, and the same for the same. */
const char *value_choose_text(enum wire_model model, int number,
			      const char *text, char *room)
{
	struct text other = { .out = room, .room = VALUE_TEXT };
	uint64_t pick = value_steady(model, 4, (uint64_t)number);
	choose_argument("%d", number);
	choose_did("returned another text");
	switch (pick) {
	case 0:
		return text;
	case 1:
		value_text_put(&other, "condition ");
		value_text_put_number(&other, number);
		break;
	case 2:
		value_text_put(&other, text);
		value_text_put(&other, " (");
		value_text_put_number(&other, number);
		value_text_put(&other, ")");
		break;
	default:
		value_text_put(&other, text);
		if (room[0] >= 'A' && room[0] <= 'Z')
			room[0] = (char)(room[0] | 0x20);
		value_text_put(&other, ".");
	}
	return room;
}

/* Texts stay where they are: in one place for each number. */
#define NUMBERS 160

static char *value_text_keep(char (*rooms)[VALUE_TEXT], int number,
			     const char *text, const char *other)
{
	if (other == text || number < 0 || number >= NUMBERS)
		return (char *)text;
	char *room = rooms[number];
	for (size_t i = 0; i < VALUE_TEXT; i++) {
		room[i] = other[i];
		if (!other[i])
			break;
	}
	return room;
}

static bool is_error(int number)
{
	VALUE_FIND(strerrorname_np)
	return number > 0 && number < NUMBERS &&
	       (!strerrorname_np_next || strerrorname_np_next(number));
}

/* The text that all functions show; NULL: the library's. */
const char *value_error_text(int number, uintptr_t caller, char *room)
{
	VALUE_FIND(strerror)
	if (!strerror_next || !is_error(number) ||
	    !choose_wanted(WIRE_MODEL_strerror, caller))
		return NULL;
	const char *text = strerror_next(number);
	const char *other =
		value_choose_text(WIRE_MODEL_strerror, number, text, room);
	return other == text ? NULL : other;
}

/* statics.c has strerror() and strsignal(): where their texts are. */
_export_ char *strerror_r(int number, char *out, size_t n)
{
	char room[VALUE_TEXT];
	CHOOSE_NEXT(strerror_r, out)
	char *result = next(number, out, n);
	const char *other = value_error_text(number, CHOOSE_CALLER(), room);
	bool moved = result != out && n &&
		     choose_wanted(WIRE_MODEL_strerror_r, CHOOSE_CALLER()) &&
		     choose_pick(WIRE_MODEL_strerror_r, 2,
				 value_keys((uint64_t)number));
	if (moved) {
		choose_argument("%d", number);
		choose_did("used the caller's array for the text");
	}
	if (!n || (!moved && !other))
		return result;
	struct text text = { .out = out, .room = n };
	value_text_put(&text, other ? other : result);
	return out;
}

int __xpg_strerror_r(int number, char *out, size_t n);
_export_ int __xpg_strerror_r(int number, char *out, size_t n)
{
	char room[VALUE_TEXT];
	CHOOSE_NEXT(__xpg_strerror_r, EINVAL)
	int result = next(number, out, n);
	const char *other = value_error_text(number, CHOOSE_CALLER(), room);
	if (!other || !n)
		return result;
	struct text text = { .out = out, .room = n };
	value_text_put(&text, other);
	return text_length(other) < n ? 0 : ERANGE;
}

_export_ void perror(const char *what)
{
	char room[VALUE_TEXT];
	int number = errno;
	CHOOSE_NEXT(perror, )
	VALUE_FIND(fputs)
	const char *other = value_error_text(number, CHOOSE_CALLER(), room);
	if (!other || !fputs_next) {
		next(what);
		return;
	}
	if (what && *what) {
		fputs_next(what, stderr);
		fputs_next(": ", stderr);
	}
	fputs_next(other, stderr);
	fputs_next("\n", stderr);
	errno = number;
}

_export_ const char *gai_strerror(int number)
{
	static char rooms[NUMBERS][VALUE_TEXT];
	char room[VALUE_TEXT];
	CHOOSE_NEXT(gai_strerror, "")
	const char *text = next(number);
	if (number >= 0 || number <= -NUMBERS ||
	    !choose_wanted(WIRE_MODEL_gai_strerror, CHOOSE_CALLER()))
		return text;
	const char *other =
		value_choose_text(WIRE_MODEL_gai_strerror, number, text, room);
	return value_text_keep(rooms, -number, text, other);
}

_export_ const char *hstrerror(int number)
{
	static char rooms[NUMBERS][VALUE_TEXT];
	char room[VALUE_TEXT];
	CHOOSE_NEXT(hstrerror, "")
	const char *text = next(number);
	if (number < 0 || number >= NUMBERS ||
	    !choose_wanted(WIRE_MODEL_hstrerror, CHOOSE_CALLER()))
		return text;
	return value_text_keep(
		rooms, number, text,
		value_choose_text(WIRE_MODEL_hstrerror, number, text, room));
}

_export_ size_t regerror(int number, const regex_t *compiled, char *out,
			 size_t n)
{
	char text[VALUE_TEXT], room[VALUE_TEXT];
	CHOOSE_NEXT(regerror, 0)
	if (!choose_wanted(WIRE_MODEL_regerror, CHOOSE_CALLER()) ||
	    next(number, compiled, text, sizeof(text)) > sizeof(text))
		return next(number, compiled, out, n);
	const char *other =
		value_choose_text(WIRE_MODEL_regerror, number, text, room);
	if (n) {
		struct text to = { .out = out, .room = n };
		value_text_put(&to, other);
	}
	return text_length(other) + 1;
}

/* ---- exceptions of the C++ library ---- */

static const char *const whats[] = { NULL, "failed", "an exception", "error" };

#define WHAT(name, symbol)                                                     \
	_export_ const char *name(const void *self) __asm__(symbol);           \
	const char *name(const void *self)                                     \
	{                                                                      \
		static const char *(*next)(const void *);                      \
		if (!next)                                                     \
			next = (const char *(*)(const void *))lookup_next(     \
				symbol);                                       \
		const char *text = next ? next(self) : "";                     \
		if (!choose_wanted(WIRE_MODEL_exception_what,                  \
				   CHOOSE_CALLER()))                           \
			return text;                                           \
		uint64_t pick = value_steady(WIRE_MODEL_exception_what, 4, 0); \
		choose_did("returned another text");                           \
		return pick ? whats[pick] : text;                              \
	}

WHAT(what_bad_alloc, "_ZNKSt9bad_alloc4whatEv")
WHAT(what_bad_cast, "_ZNKSt8bad_cast4whatEv")
WHAT(what_bad_typeid, "_ZNKSt10bad_typeid4whatEv")
WHAT(what_bad_exception, "_ZNKSt13bad_exception4whatEv")
WHAT(what_bad_function_call, "_ZNKSt17bad_function_call4whatEv")
WHAT(what_bad_weak_ptr, "_ZNKSt12bad_weak_ptr4whatEv")

/* Thrown by containers and conversions. @text may have conversions (%zu). */
#define THROW(name, symbol)                                                    \
	_export_ _Noreturn void name(const char *text) __asm__(symbol);        \
	void name(const char *text)                                            \
	{                                                                      \
		static void (*next)(const char *);                             \
		if (!next)                                                     \
			next = (void (*)(const char *))lookup_next(symbol);    \
		if (choose_wanted(WIRE_MODEL_exception_text,                   \
				  CHOOSE_CALLER())) {                          \
			uint64_t pick =                                        \
				value_steady(WIRE_MODEL_exception_text, 4, 0); \
			choose_argument("%s", text);                           \
			choose_did("returned another text");                   \
			text = pick ? whats[pick] : text;                      \
		}                                                              \
		if (next)                                                      \
			next(text);                                            \
		__builtin_trap();                                              \
	}

THROW(throw_out_of_range, "_ZSt20__throw_out_of_rangePKc")
THROW(throw_invalid_argument, "_ZSt24__throw_invalid_argumentPKc")
THROW(throw_length_error, "_ZSt20__throw_length_errorPKc")

/*
 * With conversions (%s, %zu): all are passed like whole numbers, and there are
 * at most four in the library's texts.
 */
#define OUT_OF_RANGE "_ZSt24__throw_out_of_range_fmtPKcz"
_export_ _Noreturn void throw_out_of_range_format(const char *text,
						  ...) __asm__(OUT_OF_RANGE);
void throw_out_of_range_format(const char *text, ...)
{
	static void (*next)(const char *, ...);
	size_t values[4];
	va_list list;
	va_start(list, text);
	for (size_t i = 0; i < 4; i++)
		values[i] = va_arg(list, size_t);
	va_end(list);
	if (!next)
		next = (void (*)(const char *, ...))lookup_next(OUT_OF_RANGE);
	if (choose_wanted(WIRE_MODEL_exception_text, CHOOSE_CALLER())) {
		uint64_t pick = value_steady(WIRE_MODEL_exception_text, 4, 0);
		choose_argument("%s", text);
		choose_did("returned another text");
		text = pick ? whats[pick] : text;
	}
	if (next)
		next(text, values[0], values[1], values[2], values[3]);
	__builtin_trap();
}
