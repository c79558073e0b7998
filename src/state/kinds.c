/* What changed numbers are like: counts, random numbers, time stamps. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/str.h"
#include "state/compare_internal.h"

#define SECONDS_PER_DAY ((int64_t)24 * 60 * 60)
/* Clocks that begin with the machine: how long ago it may have been asked. */
#define UPTIME_WINDOW ((int64_t)10)
/* Such clocks are not recognised while their numbers are small. */
#define UPTIME_MIN ((int64_t)60)
/* Of a random number of that many bits, at least one in so many differs. */
#define MIXED_BITS_MIN 32
#define MIXED_PART 5
#define NS_PER_SECOND INT64_C(1000000000)

/* ---- time ---- */

static int64_t seconds_of(clockid_t clock)
{
	struct timespec now = {};
	clock_gettime(clock, &now);
	return now.tv_sec;
}

static bool is_near(int64_t seconds, clockid_t clock, int64_t window)
{
	int64_t now = seconds_of(clock);
	return seconds >= now - window && seconds <= now + window;
}

/* Seconds, or a thousandth of them, …, since 1970. */
static bool is_date(int64_t value)
{
	for (int64_t unit = 1; unit <= NS_PER_SECOND; unit *= 1000) {
		if (is_near(value / unit, CLOCK_REALTIME, SECONDS_PER_DAY))
			return true;
	}
	return false;
}

/* Micro- or nanoseconds since the machine started: only if just now. */
static bool is_uptime(int64_t value)
{
	return seconds_of(CLOCK_MONOTONIC) >= UPTIME_MIN &&
	       (is_near(value / (int64_t)NS_PER_S, CLOCK_MONOTONIC,
			UPTIME_WINDOW) ||
		is_near(value / (int64_t)NS_PER_MS, CLOCK_MONOTONIC,
			UPTIME_WINDOW));
}

/* A struct timespec or timeval begins with its seconds. */
static bool holds_seconds_of_now(const struct view *view, uint64_t address)
{
	int64_t seconds = (int64_t)walk_word(view, address);
	return is_near(seconds, CLOCK_REALTIME, SECONDS_PER_DAY) ||
	       (seconds >= UPTIME_MIN &&
		is_near(seconds, CLOCK_MONOTONIC, UPTIME_WINDOW));
}

static bool holds_date_of_now(const struct view *view, uint64_t address)
{
	struct tm broken = {};
	if (!view_read(view, address, &broken, sizeof(broken)))
		return false;
	broken.tm_zone = NULL;
	return is_near(timegm(&broken), CLOCK_REALTIME, 2 * SECONDS_PER_DAY);
}

/* Does the object tell when something happened? */
static bool kinds_is_time(const struct view *view, const struct type *type,
			  uint64_t address)
{
	if (!strcmp(type->name, "timespec") || !strcmp(type->name, "timeval") ||
	    !strcmp(type->name, "_GTimeVal"))
		return holds_seconds_of_now(view, address);
	if (!strcmp(type->name, "tm"))
		return holds_date_of_now(view, address);
	return str_starts(type->name, "std::chrono::time_point<") ||
	       str_starts(type->name, "std::__1::chrono::time_point<");
}

/* Is what is at @offset of an object part of one that tells a time? */
static bool is_in_time(const struct compare *compare, const struct node *shape,
		       uint64_t offset)
{
	const struct state *state = compare->state;
	type_id id = shape->type;
	uint64_t size = type_get(state->pool, id)->size;
	if (id == TYPE_UNKNOWN || !size || offset < shape->typed)
		return false;
	offset -= shape->typed;
	uint64_t address = shape->start + shape->typed + offset;
	offset %= size;
	for (unsigned depth = 0; depth < 2 * TYPE_DEPTH_MAX; depth++) {
		const struct type *type = type_get(state->pool, id);
		if (type->kind == TYPE_STRUCT &&
		    kinds_is_time(compare->after, type, address - offset))
			return true;
		if (!path_descend(state->pool, &id, &offset))
			return false;
	}
	return false;
}

/* ---- numbers ---- */

static int64_t read_integer(const struct type *type, const uint8_t *bytes,
			    size_t n)
{
	uint64_t value = 0;
	memcpy(&value, bytes, n);
	if (type->kind == TYPE_SIGNED && n < sizeof(value) &&
	    value >> (8 * n - 1))
		value |= UINT64_MAX << (8 * n);
	return (int64_t)value;
}

/* Are so many of its bits others that it did not just count? */
static bool is_mixed(const struct type *type, int64_t before, int64_t after,
		     unsigned bits)
{
	uint64_t was = (uint64_t)before, is = (uint64_t)after;
	if (type->kind == TYPE_SIGNED && before < 0)
		was = -was;
	if (type->kind == TYPE_SIGNED && after < 0)
		is = -is;
	return bits >= MIXED_BITS_MIN && (was | is) >> (bits / 2) &&
	       (unsigned)__builtin_popcountll(was ^ is) >= bits / MIXED_PART;
}

static unsigned kind_of_integer(const struct type *type, const uint8_t *was,
				const uint8_t *is, size_t n)
{
	int64_t before = read_integer(type, was, n);
	int64_t after = read_integer(type, is, n);
	if (n >= 4 && is_date(after))
		return VALUE_TIME;
	if (n == sizeof(int64_t) && is_uptime(after))
		return VALUE_TIME;
	if (is_mixed(type, before, after, (unsigned)(8 * n)))
		return VALUE_MIXED;
	if (type->kind == TYPE_UNSIGNED && n == sizeof(int64_t))
		return (uint64_t)after > (uint64_t)before ? VALUE_GREW
							  : VALUE_SHRANK;
	return after > before ? VALUE_GREW : VALUE_SHRANK;
}

static unsigned kind_of_float(const uint8_t *was, const uint8_t *is, size_t n)
{
	double before, after;
	if (n == sizeof(float)) {
		float small_before, small_after;
		memcpy(&small_before, was, n);
		memcpy(&small_after, is, n);
		before = (double)small_before;
		after = (double)small_after;
	} else if (n == sizeof(double)) {
		memcpy(&before, was, n);
		memcpy(&after, is, n);
	} else {
		return VALUE_OTHER;
	}
	if (after > 0 && after < (double)INT32_MAX && is_date((int64_t)after))
		return VALUE_TIME;
	if (after > before)
		return VALUE_GREW;
	return after < before ? VALUE_SHRANK : VALUE_OTHER;
}

unsigned kinds_of_number(const struct compare *compare,
			 const struct compare_place *place,
			 const struct leaf *leaf, const uint8_t *was,
			 const uint8_t *is, size_t n)
{
	const struct type *type = type_get(compare->state->pool, leaf->type);
	if (is_in_time(compare, &place->shape, leaf->offset))
		return VALUE_TIME;
	if (leaf->bit_size)
		return VALUE_OTHER;
	if (leaf->kind == LEAF_FLOAT && type->kind == TYPE_FLOAT)
		return kind_of_float(was, is, n);
	bool integer = type->kind == TYPE_SIGNED || type->kind == TYPE_UNSIGNED;
	return leaf->kind == LEAF_NUMBER && integer && n <= sizeof(int64_t)
		       ? kind_of_integer(type, was, is, n)
		       : VALUE_OTHER;
}
