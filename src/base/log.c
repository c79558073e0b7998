#include "base/log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const char *const channel_names[LOG_CHANNELS_N] = {
#define X(channel, name) [LOG_##channel] = name,
	LOG_CHANNELS(X)
#undef X
};
static_assert(LOG_CHANNELS_N <= 64, "a bit for each channel");

static uint64_t enabled;
static enum log_level level = LOG_LEVEL_WARN;
static void (*line_hook)(bool before);

/* The channels of the @n bytes at @name; 0: there is no such channel. */
static uint64_t log_channels_named(const char *name, size_t n)
{
	if (n == 3 && !strncmp(name, "all", n))
		return UINT64_MAX;
	for (int i = 0; i < LOG_CHANNELS_N; i++) {
		if (strlen(channel_names[i]) == n &&
		    !strncmp(name, channel_names[i], n))
			return UINT64_C(1) << i;
	}
	return 0;
}

void log_channels_set(const char *names)
{
	enabled = 0;
	while (names && *names) {
		size_t n = strcspn(names, ",");
		uint64_t named = log_channels_named(names, n);
		if (n && !named)
			log_warn("POLYGRAPH_LOG: there is no channel '%.*s'",
				 (int)n, names);
		enabled |= named;
		names += n;
		names += *names == ',';
	}
}

void log_level_set(enum log_level new_level)
{
	level = new_level;
}

bool log_enabled(enum log_channel channel)
{
	return enabled & (UINT64_C(1) << channel);
}

void log_hook_set(void (*hook)(bool before))
{
	line_hook = hook;
}

static void log_line(const char *tag, const char *fmt, va_list args)
{
	char raw[2048];
	vsnprintf(raw, sizeof(raw), fmt, args);

	_cleanup_(str_freep) struct str line = STR_INIT;
	err_destroy(str_append_escaped(&line, raw, strlen(raw)));
	if (line_hook)
		line_hook(true);
	fprintf(stderr, "polygraph: %s%s\n", tag, line.s ? line.s : raw);
	fflush(stderr);
	if (line_hook)
		line_hook(false);
}

void log_warn(const char *fmt, ...)
{
	if (level < LOG_LEVEL_WARN)
		return;
	va_list args;
	va_start(args, fmt);
	log_line("warning: ", fmt, args);
	va_end(args);
}

void log_info(const char *fmt, ...)
{
	if (level < LOG_LEVEL_INFO && enabled != UINT64_MAX)
		return;
	va_list args;
	va_start(args, fmt);
	log_line("", fmt, args);
	va_end(args);
}

void log_debug_line(enum log_channel channel, const char *fmt, ...)
{
	char tag[32];
	snprintf(tag, sizeof(tag), "[%s] ", channel_names[channel]);
	va_list args;
	va_start(args, fmt);
	log_line(tag, fmt, args);
	va_end(args);
}
