/*
 * Models of polygraph.toml: functions that only their users know. The
 * controller stops where one returns and calls this, in the thread that
 * returns.
 */
#include "models/choose_internal.h"

#include <sys/types.h>

/* The controller asks for no more (native/user_models.c). */
#define ELEMENTS_MAX ((uint64_t)1 << 16)
#define SIZE_LIMIT ((uint64_t)4096)

static void user_permute_array(enum wire_model model, void *base, uint64_t n,
			       uint64_t size)
{
	if (n < 2 || n > ELEMENTS_MAX || !size || size > SIZE_LIMIT)
		return;
	uint64_t equal = choose_hash(base, n * size);
	struct choose_keys keys = {
		.equal = equal,
		.object = choose_mix(equal, choose_object(base)),
	};
	uint64_t pick = choose_pick(model, choose_permutations(n), keys);
	choose_argument("%zu elements of %zu bytes", (size_t)n, (size_t)size);
	choose_did("its elements came in another order");
	choose_permute(pick, base, n, size);
}

/* Another of the @n values from @low on; the first alternative is @value. */
static uint64_t user_pick_another(enum wire_model model, uint64_t low,
				  uint64_t n, uint64_t value)
{
	bool inside = value - low < n;
	uint64_t equal = choose_mix(low, value);
	struct choose_keys keys = { .equal = equal, .object = equal };
	if (n > WIRE_MANY || n + !inside < 2)
		return value;
	uint64_t pick = choose_pick(model, inside ? n : n + 1, keys);
	if (!pick)
		return value;
	/* Those inside without @value itself, else all of them. */
	uint64_t other = low + pick - 1;
	if (inside && other >= value)
		other++;
	choose_argument("%zd", (ssize_t)value);
	choose_did("returned %zd instead of %zd", (ssize_t)other,
		   (ssize_t)value);
	return other;
}

/*
 * @kind WIRE_PERMUTE: the @n elements of @size bytes at @base; WIRE_RANDOM and
 * WIRE_SHORT: one of the @n values from @base on instead of @value. Returns what
 * the function is to return.
 */
uint64_t choose_by_user(uint64_t model, uint64_t kind, uint64_t base,
			uint64_t n, uint64_t size, uint64_t value)
{
	const struct wire_choices *block = choose_block;
	int saved = errno;
	if (!block || !block->active || model < WIRE_MODEL_USER ||
	    model >= WIRE_MODELS_ALL ||
	    !choose_bit(block->models, (unsigned)model))
		return value;
	if (kind == WIRE_PERMUTE)
		user_permute_array((enum wire_model)model, (void *)base, n,
				   size);
	else
		value = user_pick_another((enum wire_model)model, base, n,
					  value);
	errno = saved;
	return value;
}
