/* Values of which only a property is promised: comparisons; see below. */
#include "models/values_internal.h"

#include <limits.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

/* ---- steady values ---- */

#define STEADY 1024 /* remembered a thread */
#define STEADY_NEAR 8

struct steady {
	uint64_t key; /* 0: empty */
	uint64_t pick;
};

static struct steady steadies[VALUE_THREADS][STEADY];
static uint64_t steady_epochs[VALUE_THREADS];
static __thread unsigned thread_number
	__attribute__((tls_model("initial-exec")));

unsigned value_thread(void)
{
	static unsigned last;
	if (unlikely(!thread_number))
		thread_number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return (thread_number - 1) % VALUE_THREADS;
}

uint64_t value_steady(enum wire_model model, uint64_t alternatives,
		      uint64_t key)
{
	struct steady *table = steadies[value_thread()];
	uint64_t *epoch = &steady_epochs[value_thread()];
	uint64_t hash = choose_mix(choose_mix(model, key), alternatives) | 1;
	if (unlikely(*epoch != choose_block->epoch)) {
		for (size_t i = 0; i < STEADY; i++)
			table[i].key = 0;
		*epoch = choose_block->epoch;
	}
	struct steady *empty = &table[hash % STEADY];
	for (size_t i = 0; i < STEADY_NEAR; i++) {
		struct steady *near = &table[(hash + i) % STEADY];
		if (near->key == hash) {
			choose_again();
			return near->pick;
		}
		if (!near->key) {
			empty = near;
			break;
		}
	}
	uint64_t pick = choose_steady(model, alternatives, key);
	empty->pick = pick;
	empty->key = hash;
	return pick;
}

void value_indeterminate(void *room, size_t size)
{
	char *bytes = room;
	for (size_t i = 0; i < size && i < VALUE_SPOILT; i++)
		bytes[i] = '#';
}

/* ---- comparisons: the sign alone ---- */

/*
 * 1 and the difference are what libraries return; 256 and its multiples are lost
 * where they are kept in a character. Not INT_MIN, which cannot be negated.
 */
static const int magnitudes[] = { 0, 1, 2, 77, 256, 1 << 16, INT_MAX };
#define MAGNITUDES (sizeof(magnitudes) / sizeof(magnitudes[0]))

static int value_choose_size(int result, uint64_t pick)
{
	unsigned size = result < 0 ? 0U - (unsigned)result : (unsigned)result;
	if (!pick)
		return result;
	int other = (unsigned)magnitudes[pick] == size ? 3 : magnitudes[pick];
	return result < 0 ? -other : other;
}

/* They differ: up to there. */
static _cold_ uint64_t pair_key(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;
	uint64_t hash = 0xcbf29ce484222325;
	size_t i = 0;
	while (i < n && x[i] == y[i])
		hash = (hash ^ x[i++]) * 0x100000001b3;
	return i < n ? choose_mix(hash, (uint64_t)x[i] << 8 | y[i]) : hash;
}

static _cold_ uint64_t wide_key(const wchar_t *a, const wchar_t *b, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325;
	size_t i = 0;
	while (i < n && a[i] == b[i])
		hash = (hash ^ (uint64_t)a[i++]) * 0x100000001b3;
	return i < n ? choose_mix(hash, (uint64_t)a[i] << 32 ^ (uint64_t)b[i])
		     : hash;
}

static int value_choose_comparison(enum wire_model model, int result,
				   uint64_t key)
{
	uint64_t pick = choose_pick(model, MAGNITUDES, value_keys(key));
	int other = value_choose_size(result, pick);
	choose_did("returned %d where the library returns %d", other, result);
	return other;
}

static int compared_text(enum wire_model model, int result, const char *a,
			 const char *b, size_t n)
{
	uint64_t key = value_keyed() ? pair_key(a, b, n) : 0;
	int other = value_choose_comparison(model, result, key);
	choose_argument(n == SIZE_MAX ? "\"%s\", \"%s\"" : "two texts", a, b);
	return other;
}

#define COMPARE_TEXTS(name)                                                    \
	_export_ int name(const char *a, const char *b)                        \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(a, b);                                       \
		if (!result || likely(!choose_wanted(WIRE_MODEL_##name,        \
						     CHOOSE_CALLER())))        \
			return result;                                         \
		return compared_text(WIRE_MODEL_##name, result, a, b,          \
				     SIZE_MAX);                                \
	}

#define COMPARE_STARTS(name)                                                   \
	_export_ int name(const char *a, const char *b, size_t n)              \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(a, b, n);                                    \
		if (!result || likely(!choose_wanted(WIRE_MODEL_##name,        \
						     CHOOSE_CALLER())))        \
			return result;                                         \
		return compared_text(WIRE_MODEL_##name, result, a, b, n);      \
	}

#define COMPARE_LOCALE(name, share)                                            \
	_export_ int name(const char *a, const char *b, locale_t locale)       \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(a, b, locale);                               \
		if (!result || likely(!choose_wanted(WIRE_MODEL_##share,       \
						     CHOOSE_CALLER())))        \
			return result;                                         \
		return compared_text(WIRE_MODEL_##share, result, a, b,         \
				     SIZE_MAX);                                \
	}

#define COMPARE_WIDE(name)                                                     \
	_export_ int name(const wchar_t *a, const wchar_t *b)                  \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(a, b);                                       \
		if (!result || likely(!choose_wanted(WIRE_MODEL_##name,        \
						     CHOOSE_CALLER())))        \
			return result;                                         \
		return value_choose_comparison(                                \
			WIRE_MODEL_##name, result,                             \
			value_keyed() ? wide_key(a, b, SIZE_MAX) : 0);         \
	}

#define COMPARE_WIDE_STARTS(name)                                              \
	_export_ int name(const wchar_t *a, const wchar_t *b, size_t n)        \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		int result = next(a, b, n);                                    \
		if (!result || likely(!choose_wanted(WIRE_MODEL_##name,        \
						     CHOOSE_CALLER())))        \
			return result;                                         \
		return value_choose_comparison(                                \
			WIRE_MODEL_##name, result,                             \
			value_keyed() ? wide_key(a, b, n) : 0);                \
	}

COMPARE_TEXTS(strcmp)
COMPARE_STARTS(strncmp)
COMPARE_TEXTS(strcasecmp)
COMPARE_STARTS(strncasecmp)
COMPARE_LOCALE(strcasecmp_l, strcasecmp)
COMPARE_TEXTS(strcoll)
COMPARE_LOCALE(strcoll_l, strcoll)
COMPARE_TEXTS(strverscmp)
COMPARE_WIDE(wcscmp)
COMPARE_WIDE_STARTS(wcsncmp)
COMPARE_WIDE(wcscasecmp)
COMPARE_WIDE(wcscoll)
COMPARE_WIDE_STARTS(wmemcmp)

_export_ int memcmp(const void *a, const void *b, size_t n)
{
	CHOOSE_NEXT(memcmp, 0)
	int result = next(a, b, n);
	if (!result ||
	    likely(!choose_wanted(WIRE_MODEL_memcmp, CHOOSE_CALLER())))
		return result;
	result = value_choose_comparison(WIRE_MODEL_memcmp, result,
					 value_keyed() ? pair_key(a, b, n) : 0);
	choose_argument("%zu bytes", n);
	return result;
}

/* Not even the sign: positive ones stay, or turn negative. */
_export_ int bcmp(const void *a, const void *b, size_t n)
{
	CHOOSE_NEXT(bcmp, 0)
	int result = next(a, b, n);
	if (!result || likely(!choose_wanted(WIRE_MODEL_bcmp, CHOOSE_CALLER())))
		return result;
	uint64_t key = value_keyed() ? pair_key(a, b, n) : 0;
	uint64_t pick = choose_pick(WIRE_MODEL_bcmp, 2 * MAGNITUDES - 1,
				    value_keys(key));
	int other = pick < MAGNITUDES
			    ? value_choose_size(result, pick)
			    : -value_choose_size(result, pick - MAGNITUDES + 1);
	choose_argument("%zu bytes", n);
	choose_did("returned %d where the library returns %d", other, result);
	return other;
}

/*
 * std::string::compare() is compiled into the C++ library, and calls memcmp()
 * there; where it is inlined, that is the program's call. Operators use it for
 * the sign.
 */
#define STRING "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareE"
#define COMPARE_STRING(name, suffix, parameters, arguments)                    \
	_export_ int name parameters __asm__(STRING suffix);                   \
	int name parameters                                                    \
	{                                                                      \
		static __typeof__(&(name)) found;                              \
		__typeof__(&(name)) next =                                     \
			__atomic_load_n(&found, __ATOMIC_RELAXED);             \
		if (unlikely(!next)) {                                         \
			next = (__typeof__(&(name)))lookup_next(               \
				STRING suffix);                                \
			__atomic_store_n(&found, next, __ATOMIC_RELAXED);      \
			if (!next)                                             \
				return 0;                                      \
		}                                                              \
		int result = next arguments;                                   \
		if (!result || !choose_wanted(WIRE_MODEL_string_compare,       \
					      CHOOSE_CALLER()))                \
			return result;                                         \
		return value_choose_comparison(                                \
			WIRE_MODEL_string_compare, result,                     \
			value_keyed() ? string_key(self, result) : 0);         \
	}

/* Begins so: where its text is, and its length. */
struct string {
	const char *text;
	size_t n;
};

static uint64_t string_key(const struct string *self, int result)
{
	return choose_mix(choose_hash(self->text, self->n), (uint64_t)result);
}

/* clang-format off */
COMPARE_STRING(string_compare, "RKS4_",
	       (const struct string *self, const struct string *other),
	       (self, other))
COMPARE_STRING(string_compare_text, "PKc",
	       (const struct string *self, const char *text), (self, text))
COMPARE_STRING(string_compare_part, "mmRKS4_",
	       (const struct string *self, size_t at, size_t n,
		const struct string *other),
	       (self, at, n, other))
COMPARE_STRING(string_compare_parts, "mmRKS4_mm",
	       (const struct string *self, size_t at, size_t n,
		const struct string *other, size_t other_at, size_t other_n),
	       (self, at, n, other, other_at, other_n))
COMPARE_STRING(string_compare_part_text, "mmPKc",
	       (const struct string *self, size_t at, size_t n,
		const char *text),
	       (self, at, n, text))
COMPARE_STRING(string_compare_part_bytes, "mmPKcm",
	       (const struct string *self, size_t at, size_t n,
		const char *text, size_t text_n),
	       (self, at, n, text, text_n))
/* clang-format on */
