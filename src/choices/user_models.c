#include "choices/user_models.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define LENGTH_MAX (1 << 16)
#define SIZE_LIMIT 4096
#define ARGUMENTS 6

enum key {
	KEY_FUNCTION,
	KEY_KIND,
	KEY_ARRAY,
	KEY_LENGTH,
	KEY_ELEMENT_SIZE,
	KEY_MIN,
	KEY_MAX,
	KEY_RETURNS,
	KEY_CLAUSE,
	KEYS,
};

static const char *const keys[KEYS] = {
	"function", "kind", "array",   "length", "element-size",
	"min",	    "max",  "returns", "clause",
};

void user_model_texts_freep(struct user_model_texts *texts)
{
	for (size_t i = 0; i < texts->texts.n; i++)
		free(texts->texts.data[i]);
	vec_free(&texts->texts);
	vec_free(&texts->shown);
	vec_free(&texts->models);
}

static struct err *user_model_bad_value(const char *key, const char *value,
					const char *wanted)
{
	if (!value)
		return err_create(ERR_USAGE, "%s is missing: %s", key, wanted);
	return err_create(ERR_USAGE, "%s '%s' must be %s", key, value, wanted);
}

/* "KEY=…" where @text begins; *@ret_value after the sign. KEYS: none. */
static enum key key_at(char *text, char **ret_value)
{
	for (unsigned i = 0; i < KEYS; i++) {
		size_t n = strlen(keys[i]);
		if (!strncmp(text, keys[i], n) && text[n] == '=') {
			*ret_value = text + n + 1;
			return (enum key)i;
		}
	}
	return KEYS;
}

/* Cuts @text at each "; KEY=": a value may have "; " in it. */
static struct err *user_model_split_text(char *text, const char *values[KEYS])
{
	while (text && *text) {
		char *value, *ignored;
		enum key key = key_at(text, &value);
		if (key == KEYS)
			return err_create(ERR_USAGE,
					  "'%s' is not "
					  "\"key=value\"",
					  text);
		char *end = value;
		do {
			end = strstr(end, "; ");
			if (end)
				end += 2;
		} while (end && key_at(end, &ignored) == KEYS);
		if (end)
			end[-2] = '\0';
		values[key] = value;
		text = end;
	}
	return NULL;
}

static bool parse_value(const char *text, bool length, struct suite_value *ret)
{
	struct suite_value value = {};
	if (!text)
		return false;
	const char *name = text + (*text == '*');
	value.pointed = name != text;
	if (!strcmp(name, "return")) {
		value.kind = SUITE_VALUE_RESULT;
	} else if (str_starts(name, "arg") && name[3] >= '1' &&
		   name[3] < '1' + ARGUMENTS && !name[4]) {
		value.kind = SUITE_VALUE_ARGUMENT;
		value.argument = (unsigned)(name[3] - '1');
	} else if (length && !strcmp(text, "null")) {
		value.kind = SUITE_VALUE_NULL;
	} else if (length && str_to_u64(text, 10, &value.number) &&
		   value.number <= LENGTH_MAX) {
		value.kind = SUITE_VALUE_NUMBER;
	} else {
		return false;
	}
	*ret = value;
	return true;
}

static bool parse_number(const char *text, int64_t *ret)
{
	char *end;
	errno = 0;
	long long value = text ? strtoll(text, &end, 10) : 0;
	if (!text || end == text || *end || errno)
		return false;
	*ret = value;
	return true;
}

static struct err *parse_array(const char *const values[KEYS],
			       struct suite_user_model *model)
{
	uint64_t size = 0;
	if (!parse_value(values[KEY_ARRAY], false, &model->array))
		return user_model_bad_value(
			"array", values[KEY_ARRAY],
			"\"return\", \"arg1\" to \"arg6\", or \"*arg1\" …");
	if (!parse_value(values[KEY_LENGTH], true, &model->length))
		return user_model_bad_value(
			"length", values[KEY_LENGTH],
			"\"return\", \"arg1\" to \"arg6\", \"*arg1\" …, a "
			"number up to 65536, or \"null\"");
	if (!values[KEY_ELEMENT_SIZE] ||
	    !str_to_u64(values[KEY_ELEMENT_SIZE], 10, &size) || !size ||
	    size > SIZE_LIMIT)
		return user_model_bad_value("element-size",
					    values[KEY_ELEMENT_SIZE],
					    "bytes of one element, 1 to 4096");
	model->element_size = size;
	return NULL;
}

static struct err *parse_result(const char *const values[KEYS],
				struct suite_user_model *model)
{
	bool random = model->kind == WIRE_RANDOM;
	const char *returns = values[KEY_RETURNS];
	if ((random || values[KEY_MIN]) &&
	    !parse_number(values[KEY_MIN], &model->min))
		return user_model_bad_value("min", values[KEY_MIN], "a number");
	if (random && (!parse_number(values[KEY_MAX], &model->max) ||
		       model->max <= model->min))
		return user_model_bad_value("max", values[KEY_MAX],
					    "a number greater than min");
	model->wide = returns && !strcmp(returns, "long");
	if (returns && !model->wide && strcmp(returns, "int") != 0)
		return user_model_bad_value("returns", returns,
					    "\"int\" or \"long\"");
	return NULL;
}

static struct err *parse_model(char *text, struct user_model_texts *ret)
{
	const char *values[KEYS] = {};
	TRY(user_model_split_text(text, values));
	struct suite_user_model model = { .function = values[KEY_FUNCTION] };
	if (!model.function || !*model.function)
		return user_model_bad_value("function", model.function,
					    "the name of a function");
	const char *kind = values[KEY_KIND];
	if (kind && !strcmp(kind, "permute"))
		model.kind = WIRE_PERMUTE;
	else if (kind && !strcmp(kind, "random"))
		model.kind = WIRE_RANDOM;
	else if (kind && !strcmp(kind, "short"))
		model.kind = WIRE_SHORT;
	else
		return user_model_bad_value(
			"kind", kind, "\"permute\", \"random\" or \"short\"");
	TRY(model.kind == WIRE_PERMUTE ? parse_array(values, &model)
				       : parse_result(values, &model));
	struct choices_model shown = {
		.api = model.function,
		.clause = values[KEY_CLAUSE] ? values[KEY_CLAUSE]
					     : "as polygraph.toml says",
		.never = "anything other than its model says",
		.kind = (enum wire_kind)model.kind,
		.level = WIRE_ONE,
	};
	TRY(vec_push(&ret->models, model));
	return vec_push(&ret->shown, shown);
}

struct err *user_models_parse(const char *const *texts, size_t n,
			      struct user_model_texts *ret)
{
	if (n > WIRE_USER_MODELS)
		return err_create(ERR_USAGE,
				  "%zu models of functions are more than %d", n,
				  WIRE_USER_MODELS);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *copy = strdup(texts[i]);
		if (!copy)
			return err_nomem();
		TRY(vec_push(&ret->texts, copy));
		struct err *err = parse_model(take_ptr(copy), ret);
		if (err)
			return err_prefix(err, "model %zu", i + 1);
	}
	return NULL;
}
