/* The table of models, for whoever reports on them. */
#include "base/macro.h"
#include "choices/choices.h"

static const struct choices_model models[] = {
#define X(name, kind, level, flags, api, clause, never)                        \
	{ api, clause, never, kind, level, flags },
	WIRE_MODELS(X)
#undef X
};

const struct choices_model *choices_model(uint64_t number)
{
	return number < ARRAY_SIZE(models) ? &models[number] : NULL;
}

bool choices_model_often(uint64_t number)
{
	static const uint16_t often[] = {
#define X(name, kind, level, flags, api, clause, never) WIRE_MODEL_##name,
		WIRE_MODELS_MEMORY(X)
#undef X
		/* Frameworks ask the clock at the end of each test, too. */
		WIRE_MODEL_clock_resolution,
		WIRE_MODEL_clock_delay,
	};
	for (size_t i = 0; i < ARRAY_SIZE(often); i++) {
		if (often[i] == number)
			return true;
	}
	return false;
}

const char *choices_level_name(unsigned level)
{
	static const char *const names[] = { "one", "eq", "id", "full" };
	return level < ARRAY_SIZE(names) ? names[level] : "?";
}

const char *choices_kind_name(unsigned kind)
{
	static const char *const names[] = {
		"permute", "random",   "extend",
		"short",   "spurious", "environment",
	};
	return kind < ARRAY_SIZE(names) ? names[kind] : "?";
}
