#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t clock_ticks(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	long rate = sysconf(_SC_CLK_TCK);
	return (uint64_t)now.tv_sec * (uint64_t)rate +
	       (uint64_t)now.tv_nsec * (uint64_t)rate / NS_PER_S;
}

struct err *duration_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {
		{ "", NS_PER_S },	  { "us", NS_PER_US },
		{ "ms", NS_PER_MS },	  { "s", NS_PER_S },
		{ "m", 60 * NS_PER_S },	  { "min", 60 * NS_PER_S },
		{ "h", 3600 * NS_PER_S },
	};
	if (*text >= '0' && *text <= '9') {
		char *end;
		errno = 0;
		double number = strtod(text, &end);
		for (size_t i = 0; !errno && i < ARRAY_SIZE(units); i++) {
			double ns = number * (double)units[i].ns;
			if (strcmp(end, units[i].unit) != 0 || ns < 1 ||
			    ns > 1e18)
				continue;
			*ret_ns = (uint64_t)ns;
			return NULL;
		}
	}
	return err_hint(err_create(ERR_USAGE, "'%s' is not a duration", text),
			"write for example 500ms, 30s, 10m or 2h");
}

void duration_format(uint64_t ns, char out[16])
{
	if (ns < 1000 * NS_PER_US)
		snprintf(out, 16, "%u µs", (unsigned)(ns / NS_PER_US));
	else if (ns < NS_PER_S)
		snprintf(out, 16, "%.1f ms", (double)ns / 1e6);
	else if (ns < 100 * NS_PER_S)
		snprintf(out, 16, "%.2f s", (double)ns / 1e9);
	else
		snprintf(out, 16, "%.0f s", (double)ns / 1e9);
}
