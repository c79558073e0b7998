/* Kinds of characters: any value but zero for those that are of the kind. */
#define __NO_CTYPE /* no macros, no inline functions */
#include "models/values_internal.h"

#include <ctype.h>
#include <limits.h>
#include <wctype.h>

static const int values[] = { 0, 1, 2, 0x100, 1 << 16, -1, INT_MAX };
#define VALUES (sizeof(values) / sizeof(values[0]))

static int value_choose_ctype(enum wire_model model, int result,
			      uint64_t character)
{
	uint64_t pick = choose_pick(model, VALUES, value_keys(character));
	if (!pick)
		return result;
	int other = values[pick] == result ? 5 : values[pick];
	choose_argument("character %u", (unsigned)character);
	choose_did("returned %d where the library returns %d", other, result);
	return other;
}

#define KIND(name)                                                             \
	_export_ int name(int c)                                               \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(c);                                          \
		if (!result ||                                                 \
		    !choose_wanted(WIRE_MODEL_##name, CHOOSE_CALLER()))        \
			return result;                                         \
		return value_choose_ctype(WIRE_MODEL_##name, result,           \
					  (uint64_t)c);                        \
	}

#define WIDE_KIND(name)                                                        \
	_export_ int name(wint_t c)                                            \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(c);                                          \
		if (!result ||                                                 \
		    !choose_wanted(WIRE_MODEL_##name, CHOOSE_CALLER()))        \
			return result;                                         \
		return value_choose_ctype(WIRE_MODEL_##name, result,           \
					  (uint64_t)c);                        \
	}

KIND(isalnum)
KIND(isalpha)
KIND(isblank)
KIND(iscntrl)
KIND(isdigit)
KIND(isgraph)
KIND(islower)
KIND(isprint)
KIND(ispunct)
KIND(isspace)
KIND(isupper)
KIND(isxdigit)
WIDE_KIND(iswalnum)
WIDE_KIND(iswalpha)
WIDE_KIND(iswdigit)
WIDE_KIND(iswlower)
WIDE_KIND(iswprint)
WIDE_KIND(iswpunct)
WIDE_KIND(iswspace)
WIDE_KIND(iswupper)
