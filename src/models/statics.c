/*
 * Results in memory that the library uses again.
 *
 * The pick of a call decides where its result is: 0: where the library has it;
 * 1: in memory of ours, which the next call that the clause names overwrites.
 * So a result is spoilt by a choice of the call that gave it. What is there
 * afterwards is still readable, like the library's own: texts become '#',
 * numbers others. Each thread has its own memory, which is never given back.
 */
#include "models/locale_internal.h"
#include "models/values_internal.h"

#include <arpa/inet.h>
#include <grp.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Calls that spoil one another's results. */
enum statics_group {
	TIME_FIELDS,
	TIME_TEXT,
	ADDRESS,
	ENVIRONMENT,
	BASENAME,
	DIRNAME,
	USER,
	GROUP,
	ERROR,
	SIGNAL,
	LOCALE,
	LANGUAGE,
	CONVENTIONS,
	SERVICE,
	PROTOCOL,
	TERMINAL,
	BASE64,
	DIGITS,
	ETHERNET,
	GROUPS,
};

#define ROOM 1024
#define STRINGS 24 /* an entry's texts, with those of its lists */

/* Numbers first, then texts: what is spoilt, and how. */
struct statics_area {
	_Alignas(16) unsigned char room[ROOM];
	size_t used;
	struct {
		uint16_t at, n;
	} texts[STRINGS];
	unsigned texts_n;
};

struct statics_areas {
	struct statics_area two[2];
	unsigned last; /* of the two */
	bool given;    /* the program has it */
};

static struct statics_areas areas[VALUE_THREADS][GROUPS];

static void statics_spoil_group(enum statics_group group)
{
	struct statics_areas *pair = &areas[value_thread()][group];
	if (!pair->given)
		return;
	pair->given = false;
	struct statics_area *area = &pair->two[pair->last];
	for (unsigned i = 0; i < area->texts_n; i++) {
		char *text = (char *)area->room + area->texts[i].at;
		for (size_t k = 0; k < area->texts[i].n; k++)
			text[k] = '#';
	}
	if (group == TIME_FIELDS) {
		*(struct tm *)area->room = (struct tm){
			.tm_sec = 1,
			.tm_min = 2,
			.tm_hour = 3,
			.tm_mday = 4,
		};
	} else if (group == USER) {
		((struct passwd *)area->room)->pw_uid ^= 0x5a5a;
		((struct passwd *)area->room)->pw_gid ^= 0x5a5a;
	} else if (group == GROUP) {
		((struct group *)area->room)->gr_gid ^= 0x5a5a;
	} else if (group == SERVICE) {
		((struct servent *)area->room)->s_port ^= 0x5a5a;
	} else if (group == PROTOCOL) {
		((struct protoent *)area->room)->p_proto ^= 0x5a;
	} else if (group == CONVENTIONS) {
		struct lconv *lconv = (struct lconv *)area->room;
		lconv->decimal_point = lconv->thousands_sep = (char *)"#";
		lconv->frac_digits = lconv->int_frac_digits = 99;
	}
}

/* The other room than last time. */
static struct statics_area *statics_take_area(enum statics_group group)
{
	struct statics_areas *pair = &areas[value_thread()][group];
	pair->last ^= 1;
	pair->given = true;
	struct statics_area *area = &pair->two[pair->last];
	area->used = area->texts_n = 0;
	return area;
}

/*
 * Is the model in use in this call? If not, results of other calls are still
 * spoilt: the choice was theirs.
 */
static bool statics_model_is_wanted(enum wire_model model,
				    enum statics_group group, uintptr_t caller)
{
	if (likely(!choose_block))
		return false;
	if (choose_wanted(model, caller))
		return true;
	if (choose_caller(caller) == CHOOSE_PROGRAM)
		statics_spoil_group(group);
	return false;
}

/* It is the library's: there is nothing to spoil. */
static void *statics_leave_result(enum statics_group group, const void *result)
{
	areas[value_thread()][group].given = false;
	return (void *)result;
}

static void *statics_put_data(struct statics_area *area, const void *data,
			      size_t n)
{
	size_t at = (area->used + 7) & ~(size_t)7;
	if (n > ROOM || at > ROOM - n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		area->room[at + i] = ((const unsigned char *)data)[i];
	area->used = at + n;
	return area->room + at;
}

static char *statics_put_text(struct statics_area *area, const char *text)
{
	size_t n = 0;
	while (n < ROOM && text[n])
		n++;
	if (n >= ROOM || area->texts_n >= STRINGS)
		return NULL;
	char *copy = statics_put_data(area, text, n + 1);
	if (copy) {
		area->texts[area->texts_n].at =
			(uint16_t)((unsigned char *)copy - area->room);
		area->texts[area->texts_n++].n = (uint16_t)n;
	}
	return copy;
}

/* A list that ends with NULL. */
static char **put_list(struct statics_area *area, char **list)
{
	size_t n = 0;
	while (list[n] && n < STRINGS)
		n++;
	char **copy = n < STRINGS ? statics_put_data(area, list,
						     (n + 1) * sizeof(*list))
				  : NULL;
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = statics_put_text(area, list[i]);
		if (!copy[i])
			return NULL;
	}
	return copy;
}

static bool statics_model_picked(enum wire_model model)
{
	if (!choose_pick(model, 2, value_keys(0)))
		return false;
	choose_did("the result was in memory that the next call overwrites");
	return true;
}

static char *text_result(enum wire_model model, enum statics_group group,
			 const char *result)
{
	statics_spoil_group(group);
	if (!result || !statics_model_picked(model))
		return statics_leave_result(group, result);
	char *copy = statics_put_text(statics_take_area(group), result);
	return copy ? copy : statics_leave_result(group, result);
}

/* ---- time ---- */

static bool time_wanted(enum wire_model model, uintptr_t caller)
{
	return statics_model_is_wanted(model, TIME_TEXT, caller) ||
	       statics_model_is_wanted(model, TIME_FIELDS, caller);
}

/* Each overwrites what any of them returned, fields and text. */
static struct tm *time_fields(enum wire_model model, struct tm *result)
{
	struct tm fields;
	if (!result)
		return NULL;
	fields = *result; /* it may be inside what is spoilt */
	statics_spoil_group(TIME_FIELDS);
	statics_spoil_group(TIME_TEXT);
	if (!statics_model_picked(model))
		return statics_leave_result(TIME_FIELDS, result);
	return statics_put_data(statics_take_area(TIME_FIELDS), &fields,
				sizeof(fields));
}

_export_ struct tm *localtime(const time_t *when)
{
	CHOOSE_NEXT(localtime, NULL)
	choose_used(WIRE_MODEL_time_zone, CHOOSE_CALLER());
	struct tm *result = next(when);
	return time_wanted(WIRE_MODEL_localtime, CHOOSE_CALLER())
		       ? time_fields(WIRE_MODEL_localtime, result)
		       : result;
}

_export_ struct tm *localtime_r(const time_t *when, struct tm *ret)
{
	CHOOSE_NEXT(localtime_r, NULL)
	choose_used(WIRE_MODEL_time_zone, CHOOSE_CALLER());
	return next(when, ret);
}

_export_ time_t mktime(struct tm *fields)
{
	CHOOSE_NEXT(mktime, -1)
	choose_used(WIRE_MODEL_time_zone, CHOOSE_CALLER());
	return next(fields);
}

_export_ struct tm *gmtime(const time_t *when)
{
	CHOOSE_NEXT(gmtime, NULL)
	struct tm *result = next(when);
	return time_wanted(WIRE_MODEL_gmtime, CHOOSE_CALLER())
		       ? time_fields(WIRE_MODEL_gmtime, result)
		       : result;
}

static char *time_text(enum wire_model model, char *result)
{
	statics_spoil_group(TIME_FIELDS);
	return text_result(model, TIME_TEXT, result);
}

_export_ char *asctime(const struct tm *fields)
{
	CHOOSE_NEXT(asctime, NULL)
	char *result = next(fields);
	return time_wanted(WIRE_MODEL_asctime, CHOOSE_CALLER())
		       ? time_text(WIRE_MODEL_asctime, result)
		       : result;
}

_export_ char *ctime(const time_t *when)
{
	CHOOSE_NEXT(ctime, NULL)
	choose_used(WIRE_MODEL_time_zone, CHOOSE_CALLER());
	char *result = next(when);
	return time_wanted(WIRE_MODEL_ctime, CHOOSE_CALLER())
		       ? time_text(WIRE_MODEL_ctime, result)
		       : result;
}

/* ---- texts ---- */

/* clang-format off */
#define TEXT(name, group, parameters, arguments)                               \
	_export_ char *name parameters                                         \
	{                                                                      \
		CHOOSE_NEXT(name, NULL)                                        \
		char *result = next arguments;                                 \
		return statics_model_is_wanted(WIRE_MODEL_##name, group,       \
					       CHOOSE_CALLER()) ?              \
			       text_result(WIRE_MODEL_##name, group, result) : \
			       result;                                         \
	}

TEXT(inet_ntoa, ADDRESS, (struct in_addr address), (address))
TEXT(getenv, ENVIRONMENT, (const char *name), (name))
TEXT(ptsname, TERMINAL, (int fd), (fd))
TEXT(l64a, BASE64, (long value), (value))
TEXT(ecvt, DIGITS, (double value, int n, int *point, int *sign),
     (value, n, point, sign))
TEXT(fcvt, DIGITS, (double value, int n, int *point, int *sign),
     (value, n, point, sign))
TEXT(ether_ntoa, ETHERNET, (const struct ether_addr *address), (address))
TEXT(nl_langinfo, LANGUAGE, (nl_item item), (item))
/* clang-format on */

/*
 * These change the environment, and what getenv() returned before. They may be
 * given that: spoilt afterwards.
 */
/* clang-format off */
#define CHANGE(name, parameters, arguments)                                    \
	_export_ int name parameters                                           \
	{                                                                      \
		CHOOSE_NEXT(name, -1)                                          \
		int failed = next arguments;                                   \
		if (unlikely(choose_block) &&                                  \
		    choose_caller(CHOOSE_CALLER()) == CHOOSE_PROGRAM)          \
			statics_spoil_group(ENVIRONMENT);                      \
		return failed;                                                 \
	}

CHANGE(setenv, (const char *name, const char *value, int replace),
       (name, value, replace))
CHANGE(unsetenv, (const char *name), (name))
CHANGE(putenv, (char *text), (text))
/* clang-format on */

/* It may be given what it returned itself: spoilt afterwards. */
_export_ char *setlocale(int category, const char *locale)
{
	CHOOSE_NEXT(setlocale, NULL)
	if (locale && !*locale)
		choose_used(WIRE_MODEL_locale, CHOOSE_CALLER());
	char *result = locale_set(category, locale, next);
	if (!statics_model_is_wanted(WIRE_MODEL_setlocale, LANGUAGE,
				     CHOOSE_CALLER()))
		return result;
	result = text_result(WIRE_MODEL_setlocale, LOCALE, result);
	statics_spoil_group(LANGUAGE);
	return result;
}

/* May modify the path, may return storage of its own. */
_export_ char *__xpg_basename(char *path)
{
	CHOOSE_NEXT(__xpg_basename, NULL)
	char *result = next(path);
	return statics_model_is_wanted(WIRE_MODEL_basename, BASENAME,
				       CHOOSE_CALLER())
		       ? text_result(WIRE_MODEL_basename, BASENAME, result)
		       : result;
}

_export_ char *dirname(char *path)
{
	CHOOSE_NEXT(dirname, NULL)
	char *result = next(path);
	return statics_model_is_wanted(WIRE_MODEL_dirname, DIRNAME,
				       CHOOSE_CALLER())
		       ? text_result(WIRE_MODEL_dirname, DIRNAME, result)
		       : result;
}

/*
 * Here two models meet: another text (values_text.c), which has one place for
 * each number, and a text that the next call overwrites.
 */
#define NUMBERS 160

static char *statics_keep_text(char *room, const char *text)
{
	size_t i = 0;
	for (; text[i] && i < VALUE_TEXT - 1; i++)
		room[i] = text[i];
	room[i] = '\0';
	return room;
}

_export_ char *strerror(int number)
{
	static char rooms[NUMBERS][VALUE_TEXT];
	char room[VALUE_TEXT];
	CHOOSE_NEXT(strerror, NULL)
	char *result = next(number);
	if (likely(!choose_block))
		return result;
	const char *other = value_error_text(number, CHOOSE_CALLER(), room);
	if (other && number >= 0 && number < NUMBERS)
		result = statics_keep_text(rooms[number], other);
	return statics_model_is_wanted(WIRE_MODEL_strerror_buffer, ERROR,
				       CHOOSE_CALLER())
		       ? text_result(WIRE_MODEL_strerror_buffer, ERROR, result)
		       : result;
}

_export_ char *strsignal(int number)
{
	static char rooms[NUMBERS][VALUE_TEXT];
	char room[VALUE_TEXT];
	CHOOSE_NEXT(strsignal, NULL)
	char *result = next(number);
	if (likely(!choose_block) || !result)
		return result;
	if (number > 0 && number < 32 &&
	    choose_wanted(WIRE_MODEL_strsignal, CHOOSE_CALLER())) {
		const char *other = value_choose_text(WIRE_MODEL_strsignal,
						      number, result, room);
		if (other != result)
			result = statics_keep_text(rooms[number], other);
	}
	return statics_model_is_wanted(WIRE_MODEL_strsignal_buffer, SIGNAL,
				       CHOOSE_CALLER())
		       ? text_result(WIRE_MODEL_strsignal_buffer, SIGNAL,
				     result)
		       : result;
}

/* ---- entries ---- */

static bool put_field(struct statics_area *area, char **field)
{
	if (*field)
		*field = statics_put_text(area, *field);
	return *field;
}

static struct passwd *statics_put_user(enum wire_model model,
				       struct passwd *result)
{
	statics_spoil_group(USER);
	if (!result || !statics_model_picked(model))
		return statics_leave_result(USER, result);
	struct statics_area *area = statics_take_area(USER);
	struct passwd *copy = statics_put_data(area, result, sizeof(*result));
	if (copy && put_field(area, &copy->pw_name) &&
	    put_field(area, &copy->pw_passwd) &&
	    put_field(area, &copy->pw_gecos) &&
	    put_field(area, &copy->pw_dir) && put_field(area, &copy->pw_shell))
		return copy;
	return statics_leave_result(USER, result);
}

static struct group *group_of(enum wire_model model, struct group *result)
{
	statics_spoil_group(GROUP);
	if (!result || !statics_model_picked(model))
		return statics_leave_result(GROUP, result);
	struct statics_area *area = statics_take_area(GROUP);
	struct group *copy = statics_put_data(area, result, sizeof(*result));
	if (copy && put_field(area, &copy->gr_name) &&
	    put_field(area, &copy->gr_passwd) &&
	    (copy->gr_mem = put_list(area, result->gr_mem)))
		return copy;
	return statics_leave_result(GROUP, result);
}

static struct servent *statics_put_service(enum wire_model model,
					   struct servent *result)
{
	statics_spoil_group(SERVICE);
	if (!result || !statics_model_picked(model))
		return statics_leave_result(SERVICE, result);
	struct statics_area *area = statics_take_area(SERVICE);
	struct servent *copy = statics_put_data(area, result, sizeof(*result));
	if (copy && put_field(area, &copy->s_name) &&
	    put_field(area, &copy->s_proto) &&
	    (copy->s_aliases = put_list(area, result->s_aliases)))
		return copy;
	return statics_leave_result(SERVICE, result);
}

static struct protoent *statics_put_protocol(enum wire_model model,
					     struct protoent *result)
{
	statics_spoil_group(PROTOCOL);
	if (!result || !statics_model_picked(model))
		return statics_leave_result(PROTOCOL, result);
	struct statics_area *area = statics_take_area(PROTOCOL);
	struct protoent *copy = statics_put_data(area, result, sizeof(*result));
	if (copy && put_field(area, &copy->p_name) &&
	    (copy->p_aliases = put_list(area, result->p_aliases)))
		return copy;
	return statics_leave_result(PROTOCOL, result);
}

/* clang-format off */
#define ENTRY(type, name, finish, group, parameters, arguments)                \
	_export_ struct type *name parameters                                  \
	{                                                                      \
		CHOOSE_NEXT(name, NULL)                                        \
		struct type *result = next arguments;                          \
		return statics_model_is_wanted(WIRE_MODEL_##name, group,       \
					       CHOOSE_CALLER()) ?              \
			       finish(WIRE_MODEL_##name, result) :             \
			       result;                                         \
	}

ENTRY(passwd, getpwnam, statics_put_user, USER, (const char *name), (name))
ENTRY(passwd, getpwuid, statics_put_user, USER, (uid_t id), (id))
ENTRY(group, getgrnam, group_of, GROUP, (const char *name), (name))
ENTRY(group, getgrgid, group_of, GROUP, (gid_t id), (id))
ENTRY(servent, getservbyname, statics_put_service, SERVICE,
      (const char *name, const char *proto), (name, proto))
ENTRY(servent, getservbyport, statics_put_service, SERVICE,
      (int port, const char *proto), (port, proto))
ENTRY(protoent, getprotobyname, statics_put_protocol, PROTOCOL,
      (const char *name), (name))
ENTRY(protoent, getprotobynumber, statics_put_protocol, PROTOCOL,
      (int number), (number))
/* clang-format on */

/* The texts are the locale's; only the structure is copied. */
_export_ struct lconv *localeconv(void)
{
	CHOOSE_NEXT(localeconv, NULL)
	struct lconv *result = next();
	if (!choose_wanted(WIRE_MODEL_localeconv, CHOOSE_CALLER()))
		return result;
	statics_spoil_group(CONVENTIONS);
	if (!statics_model_picked(WIRE_MODEL_localeconv))
		return statics_leave_result(CONVENTIONS, result);
	return statics_put_data(statics_take_area(CONVENTIONS), result,
				sizeof(*result));
}
