/* Values of which only a property is promised: numbers and times. */
#include "models/values_internal.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/times.h>
#include <time.h>

/* ---- random numbers ---- */

/*
 * Another sequence, and the same after the same seed: each number with the same
 * bits turned over.
 */
static int value_turn_random(enum wire_model model, int result)
{
	uint64_t pick = value_steady(model, 1ULL << 31, 0);
	choose_did("gave another sequence");
	return result ^ (int)pick;
}

_export_ int rand(void)
{
	CHOOSE_NEXT(rand, 0)
	int result = next();
	return choose_wanted(WIRE_MODEL_rand, CHOOSE_CALLER())
		       ? value_turn_random(WIRE_MODEL_rand, result)
		       : result;
}

_export_ int rand_r(unsigned *seed)
{
	CHOOSE_NEXT(rand_r, 0)
	int result = next(seed);
	return choose_wanted(WIRE_MODEL_rand_r, CHOOSE_CALLER())
		       ? value_turn_random(WIRE_MODEL_rand_r, result)
		       : result;
}

_export_ long random(void)
{
	CHOOSE_NEXT(random, 0)
	long result = next();
	return choose_wanted(WIRE_MODEL_random, CHOOSE_CALLER())
		       ? value_turn_random(WIRE_MODEL_random, (int)result)
		       : result;
}

/* Up to 256 bytes it never returns fewer. */
_export_ ssize_t getrandom(void *data, size_t n, unsigned flags)
{
	CHOOSE_NEXT(getrandom, -1)
	if (n <= 256 || !choose_wanted(WIRE_MODEL_getrandom, CHOOSE_CALLER()))
		return next(data, n, flags);
	uint64_t pick = choose_pick(WIRE_MODEL_getrandom, 4, value_keys(n));
	size_t less = pick == 0	  ? n
		      : pick == 1 ? 256
		      : pick == 2 ? n - 1
				  : n / 2;
	choose_argument("%zu bytes", n);
	choose_did("returned %zu bytes", less);
	return next(data, less < 256 ? 256 : less, flags);
}

_export_ unsigned
value_random_device(void *self) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned value_random_device(void *self)
{
	static unsigned (*next)(void *);
	if (!next)
		next = (unsigned (*)(void *))lookup_next(
			"_ZNSt13random_device9_M_getvalEv");
	unsigned result = next ? next(self) : 0;
	if (!choose_wanted(WIRE_MODEL_random_device, CHOOSE_CALLER()))
		return result;
	uint64_t pick = choose_pick(WIRE_MODEL_random_device, 4, value_keys(0));
	static const unsigned bounds[] = { 0, 0, 1, ~0U };
	choose_did("returned %u", bounds[pick]);
	return pick ? bounds[pick] : result;
}

/* ---- conversions ---- */

/* Nothing was converted, and errno was left alone: it may be EINVAL. */
static void value_unconverted_errno(enum wire_model model, const char *text)
{
	uint64_t key = value_keyed() ? choose_hash_text(text) : 0;
	if (!choose_pick(model, 2, value_keys(key)))
		return;
	choose_argument("\"%s\"", text);
	choose_did("set errno to EINVAL: there was nothing to convert");
	errno = EINVAL;
}

/*
 * By symbol: headers since glibc 2.38 give the C names to those of C23, which know
 * "0b"; programs that ask for no more than C17 go on with the others.
 */
#define CONVERT(symbol, model, type)                                           \
	_export_ type value_##symbol(const char *text, char **ret_end,         \
				     int base) __asm__(#symbol);               \
	type value_##symbol(const char *text, char **ret_end, int base)        \
	{                                                                      \
		static __typeof__(&value_##symbol) next;                       \
		if (unlikely(!next))                                           \
			next = (__typeof__(next))lookup_next(#symbol);         \
		if (unlikely(!next)) {                                         \
			errno = ENOSYS;                                        \
			return 0;                                              \
		}                                                              \
		char *end = (char *)text + 1;                                  \
		type value = next(text, &end, base);                           \
		if (ret_end)                                                   \
			*ret_end = end;                                        \
		if (unlikely(end == text) &&                                   \
		    choose_wanted(WIRE_MODEL_##model, CHOOSE_CALLER()))        \
			value_unconverted_errno(WIRE_MODEL_##model, text);     \
		return value;                                                  \
	}

CONVERT(strtol, strtol, long)
CONVERT(strtoll, strtoll, long long)
CONVERT(strtoul, strtoul, unsigned long)
CONVERT(strtoull, strtoull, unsigned long long)
CONVERT(__isoc23_strtol, strtol, long)
CONVERT(__isoc23_strtoll, strtoll, long long)
CONVERT(__isoc23_strtoul, strtoul, unsigned long)
CONVERT(__isoc23_strtoull, strtoull, unsigned long long)

_export_ double strtod(const char *text, char **ret_end)
{
	CHOOSE_NEXT(strtod, 0)
	char *end = (char *)text + 1;
	double value = next(text, &end);
	if (ret_end)
		*ret_end = end;
	if (unlikely(end == text) &&
	    choose_wanted(WIRE_MODEL_strtod, CHOOSE_CALLER()))
		value_unconverted_errno(WIRE_MODEL_strtod, text);
	return value;
}

/* ---- mathematics ---- */

/*
 * One unit in the last place more or less. Results with many zeros at their end
 * may be exact, and stay; so do 0, infinities, what is not a number, and what
 * would leave the function's range.
 */
static double value_nearly_exact(enum wire_model model, double result, double x,
				 double y)
{
	uint64_t bits, keys[2];
	__builtin_memcpy(&bits, &result, sizeof(bits));
	uint64_t exponent = bits >> 52 & 0x7ff;
	if (!(bits & 0xfffff) || !exponent || exponent == 0x7ff)
		return result;
	__builtin_memcpy(&keys[0], &x, sizeof(x));
	__builtin_memcpy(&keys[1], &y, sizeof(y));
	uint64_t pick =
		choose_pick(model, 3, value_keys(choose_hash(keys, 16)));
	bits += pick == 1 ? 1 : pick == 2 ? ~0ULL : 0;
	__builtin_memcpy(&result, &bits, sizeof(bits));
	choose_did("differed by one unit in the last place");
	return result;
}

#define NEARLY(name)                                                           \
	_export_ double name(double x)                                         \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		double result = next(x);                                       \
		if (likely(!choose_wanted(WIRE_MODEL_##name,                   \
					  CHOOSE_CALLER())))                   \
			return result;                                         \
		return value_nearly_exact(WIRE_MODEL_##name, result, x, 0);    \
	}

NEARLY(sin)
NEARLY(cos)
NEARLY(exp)
NEARLY(log)

_export_ double pow(double x, double y)
{
	CHOOSE_NEXT(pow, 0)
	double result = next(x, y);
	if (likely(!choose_wanted(WIRE_MODEL_pow, CHOOSE_CALLER())))
		return result;
	return value_nearly_exact(WIRE_MODEL_pow, result, x, y);
}

/* ---- times ---- */

/* Only differences mean something: both begin anywhere. */
_export_ clock_t clock(void)
{
	CHOOSE_NEXT(clock, -1)
	clock_t result = next();
	if (result < 0 || !choose_wanted(WIRE_MODEL_clock, CHOOSE_CALLER()))
		return result;
	uint64_t pick = value_steady(WIRE_MODEL_clock, 16, 0);
	choose_did("began at %u seconds", 100U * (unsigned)pick);
	return result + (clock_t)pick * 100 * CLOCKS_PER_SEC;
}

_export_ clock_t times(struct tms *ret)
{
	CHOOSE_NEXT(times, -1)
	clock_t result = next(ret);
	if (result < 0 || !choose_wanted(WIRE_MODEL_times, CHOOSE_CALLER()))
		return result;
	uint64_t pick = value_steady(WIRE_MODEL_times, 16, 0);
	choose_did("counted from another point in the past");
	return pick ? result + (clock_t)(pick << 40) : result;
}

/* ---- what does not fit ---- */

_export_ size_t strftime(char *out, size_t max, const char *format,
			 const struct tm *tm)
{
	CHOOSE_NEXT(strftime, 0)
	size_t n = next(out, max, format, tm);
	if (n || !max || !choose_wanted(WIRE_MODEL_strftime, CHOOSE_CALLER()))
		return n;
	char whole[1024]; /* empty, or longer than there was room? */
	if (next(whole, sizeof(whole), format, tm) < max)
		return n;
	if (choose_pick(WIRE_MODEL_strftime, 2, value_keys(max))) {
		choose_argument("\"%s\" into %zu bytes", format, max);
		choose_did("left something else in the array");
		value_indeterminate(out, max);
	}
	return n;
}

size_t strxfrm(char *out, const char *text, size_t room);
_export_ size_t strxfrm(char *out, const char *text, size_t room)
{
	CHOOSE_NEXT(strxfrm, 0)
	size_t n = next(out, text, room);
	if (n < room || !room ||
	    !choose_wanted(WIRE_MODEL_strxfrm, CHOOSE_CALLER()))
		return n;
	if (choose_pick(WIRE_MODEL_strxfrm, 2, value_keys(n))) {
		choose_argument("\"%s\" into %zu bytes", text, room);
		choose_did("left something else in the array");
		value_indeterminate(out, room);
	}
	return n;
}
