/* The table of models, for reports. */
#include "base/macro.h"
#include "base/str.h"
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

const struct choices_model *
choices_find_model(const struct choices_options *options, uint64_t number)
{
	if (number >= WIRE_MODEL_USER &&
	    number - WIRE_MODEL_USER < options->n_user)
		return &options->user[number - WIRE_MODEL_USER];
	return choices_model(number);
}

struct err *choices_append_model_key(struct str *str,
				     const struct choices_model *model)
{
	return str_appendf(str, "%s: %s", model->api,
			   model->clause ? model->clause : "");
}

bool choices_has_model(const uint64_t *words, uint64_t number)
{
	return number < WIRE_MODELS_MAX &&
	       words[number / 64] >> number % 64 & 1;
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
		WIRE_MODEL_clock_boundary,
	};
	for (size_t i = 0; i < ARRAY_SIZE(often); i++) {
		if (often[i] == number)
			return true;
	}
	return false;
}

const char *choices_level_name(unsigned level)
{
	return level < WIRE_LEVELS ? assumption_levels[level] : "?";
}

const char *choices_kind_name(unsigned kind)
{
	static const char *const names[] = {
		"permute", "random",   "extend",
		"short",   "spurious", "environment",
	};
	return kind < ARRAY_SIZE(names) ? names[kind] : "?";
}
