#include "base/regexes.h"

struct err *regexes_add(struct regexes *regexes, const char *option,
			const char *const *expressions)
{
	for (size_t i = 0; expressions && expressions[i]; i++) {
		regex_t regex;
		int code = regcomp(&regex, expressions[i],
				   REG_EXTENDED | REG_NOSUB);
		if (code) {
			char text[128];
			regerror(code, &regex, text, sizeof(text));
			return err_create(ERR_USAGE, "%s '%s': %s", option,
					  expressions[i], text);
		}
		struct err *err = vec_push(regexes, regex);
		if (err) {
			regfree(&regex);
			return err;
		}
	}
	return NULL;
}

void regexes_free(struct regexes *regexes)
{
	for (size_t i = 0; i < regexes->n; i++)
		regfree(&regexes->data[i]);
	vec_free(regexes);
}

bool regexes_match(const struct regexes *regexes, const char *text)
{
	for (size_t i = 0; i < regexes->n; i++) {
		if (!regexec(&regexes->data[i], text, 0, NULL, 0))
			return true;
	}
	return false;
}
