/*
 * Which code reads the environment and the time zone, and which sets the
 * environment: noted only if wanted.
 */
#include "recorder/state_internal.h"

#include <stdlib.h>
#include <time.h>

_export_ char *getenv(const char *name)
{
	NEXT(getenv, NULL)
	state_ask(WIRE_ENVIRONMENT, name);
	return next(name);
}

_export_ char *secure_getenv(const char *name)
{
	NEXT(secure_getenv, NULL)
	state_ask(WIRE_ENVIRONMENT, name);
	return next(name);
}

_export_ int setenv(const char *name, const char *value, int replace)
{
	NEXT(setenv, -1)
	/* Where it is not to replace, the old one decides. */
	if (replace)
		state_write(WIRE_ENVIRONMENT, name);
	else
		state_ask(WIRE_ENVIRONMENT, name);
	return next(name, value, replace);
}

_export_ int unsetenv(const char *name)
{
	NEXT(unsetenv, -1)
	state_write(WIRE_ENVIRONMENT, name);
	return next(name);
}

_export_ int putenv(char *text)
{
	NEXT(putenv, -1)
	state_write(WIRE_ENVIRONMENT, text); /* its name ends with '=' */
	return next(text);
}

_export_ struct tm *localtime(const time_t *time)
{
	NEXT(localtime, NULL)
	state_ask(WIRE_TIME_ZONE, NULL);
	struct tm *result = next(time);
	statics_note(result, sizeof(*result));
	return result;
}

_export_ struct tm *localtime_r(const time_t *time, struct tm *ret)
{
	NEXT(localtime_r, NULL)
	state_ask(WIRE_TIME_ZONE, NULL);
	return next(time, ret);
}

_export_ time_t mktime(struct tm *tm)
{
	NEXT(mktime, -1)
	state_ask(WIRE_TIME_ZONE, NULL);
	return next(tm);
}

_export_ char *ctime(const time_t *time)
{
	NEXT(ctime, NULL)
	state_ask(WIRE_TIME_ZONE, NULL);
	char *result = next(time);
	statics_note(result, STATICS_TEXT);
	return result;
}

_export_ char *ctime_r(const time_t *time, char *ret)
{
	NEXT(ctime_r, NULL)
	state_ask(WIRE_TIME_ZONE, NULL);
	return next(time, ret);
}
