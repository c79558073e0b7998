#include "native/framework.h"

#include "base/log.h"
#include "base/str.h"

static bool framework_has_symbol(const struct program *program,
				 const struct framework_sign *sign,
				 const char *symbol)
{
	struct raddr at;
	return sign->used ? program_uses(program, symbol)
			  : program_symbol(program, symbol, &at);
}

static bool framework_has_sign(const struct program *program,
			       const struct framework_sign *sign)
{
	for (size_t i = 0; sign->any[i]; i++) {
		if (framework_has_symbol(program, sign, sign->any[i]))
			return true;
	}
	return false;
}

static void framework_log_missing(const struct framework *framework,
				  const struct framework_sign *sign)
{
	_cleanup_(str_freep) struct str names = STR_INIT;
	struct err *err = NULL;
	for (size_t i = 0; !err && sign->any[i]; i++)
		err = str_appendf(&names, "%s%s", i ? ", " : "", sign->any[i]);
	if (!err)
		log_debug(LOG_NATIVE, "framework is not %s: %s %s",
			  framework->name,
			  sign->used ? "the project's own code does not use"
				     : "the program does not have",
			  names.s);
	err_ignore(err);
}

bool framework_recognises(const struct framework *framework,
			  const struct program *program)
{
	if (framework->recognise)
		return framework->recognise(program);
	for (const struct framework_sign *sign = framework->signs; sign->any;
	     sign++) {
		if (framework_has_sign(program, sign))
			continue;
		if (log_enabled(LOG_NATIVE))
			framework_log_missing(framework, sign);
		return false;
	}
	return true;
}
