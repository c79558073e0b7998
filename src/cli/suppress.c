#include "cli/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/str.h"

static void suppression_free(struct suppression *suppression)
{
	free(suppression->id);
	free(suppression->test);
	free(suppression->kind);
	free(suppression->reason);
	free(suppression->expires);
	*suppression = (struct suppression){};
}

void suppressions_free(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->n; i++)
		suppression_free(&suppressions->data[i]);
	vec_free(suppressions);
}

static struct err *suppression_slip(const char *text, const char *what)
{
	return err_hint(
		err_create(ERR_USAGE, "--suppress '%s': %s", text, what),
		"write 'test=GLOB; reason=TEXT; expires=YYYY-MM-DD'; "
		"id= and kind= choose as well");
}

/* A day that there is, as ISO 8601 has it: such texts can be compared. */
static bool is_day(const char *text)
{
	struct tm day = {}, again;
	char shown[16];
	int end = 0;
	if (sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon,
		   &day.tm_mday, &end) != 3 ||
	    text[end])
		return false;
	day.tm_year -= 1900;
	day.tm_mon--;
	day.tm_hour = 12;
	again = day;
	return timegm(&again) != (time_t)-1 &&
	       strftime(shown, sizeof(shown), "%Y-%m-%d", &again) &&
	       !strcmp(shown, text);
}

static struct err *set_part(struct suppression *suppression, const char *text,
			    char *part)
{
	char *value = strchr(part, '=');
	if (!value)
		return suppression_slip(text, "a part is not 'key=value'");
	*value++ = '\0';
	const struct {
		const char *key;
		char **place;
	} keys[] = {
		{ "id", &suppression->id },
		{ "test", &suppression->test },
		{ "kind", &suppression->kind },
		{ "reason", &suppression->reason },
		{ "expires", &suppression->expires },
	};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].key, part) != 0)
			continue;
		if (*keys[i].place || !*value)
			return suppression_slip(text,
						*value ? "a key is given twice"
						       : "a value is empty");
		return str_copy(value, keys[i].place);
	}
	return suppression_slip(text, "there is no such key");
}

static struct err *parse_suppression(const char *text, const char *today,
				     struct suppression *ret)
{
	_cleanup_(suppression_free) struct suppression suppression = {};
	_cleanup_(freep) char *copy = strdup(text);
	char *rest = copy;
	if (!copy)
		return err_nomem();
	for (char *part; (part = strsep(&rest, ";"));) {
		part += strspn(part, " ");
		if (*part)
			TRY(set_part(&suppression, text, part));
	}
	if (!suppression.id && !suppression.test)
		return suppression_slip(text,
					"neither an id nor a test is given");
	if (!suppression.reason)
		return suppression_slip(text, "no reason is given");
	if (!suppression.expires || !is_day(suppression.expires))
		return suppression_slip(text,
					"there is no day on which it expires");
	suppression.expired = strcmp(suppression.expires, today) < 0;
	if (suppression.expired)
		log_warn("a suppression has expired on %s: %s",
			 suppression.expires, suppression.reason);
	*ret = suppression;
	suppression = (struct suppression){};
	return NULL;
}

struct err *suppressions_read(const struct option_list *texts,
			      const char *today, struct suppressions *ret)
{
	char now[16] = "";
	time_t seconds = time(NULL);
	struct tm day;
	if (!today && localtime_r(&seconds, &day))
		strftime(now, sizeof(now), "%Y-%m-%d", &day);
	for (size_t i = 0; i < texts->n; i++) {
		struct suppression suppression = {};
		TRY(parse_suppression(texts->data[i].text, today ? today : now,
				      &suppression));
		struct err *err = vec_push(ret, suppression);
		if (err) {
			suppression_free(&suppression);
			return err;
		}
	}
	return NULL;
}

static bool suppression_fits(const struct suppression *suppression,
			     const struct finding *finding)
{
	return !suppression->expired &&
	       (!suppression->id || !strcmp(suppression->id, finding->id)) &&
	       (!suppression->kind ||
		!strcmp(suppression->kind, finding->kind->name)) &&
	       (!suppression->test ||
		str_glob(suppression->test, finding_test(finding)));
}

void suppressions_mark(const struct suppressions *suppressions,
		       struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		struct finding *finding = &findings->data[i];
		for (size_t j = 0; j < suppressions->n; j++) {
			if (suppression_fits(&suppressions->data[j], finding))
				finding->known = finding->suppressed = true;
		}
	}
}
