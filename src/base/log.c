#include "base/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const char *const channel_names[LOG_CHANNELS] = {
	[LOG_BASE] = "base",   [LOG_TRACEE] = "tracee", [LOG_DWARF] = "dwarf",
	[LOG_SUITE] = "suite", [LOG_REPORT] = "report", [LOG_CLI] = "cli",
};

static uint32_t enabled;
static enum log_level level = LOG_LEVEL_WARN;
static void (*line_hook)(bool before);

void log_channels_set(const char *names)
{
	enabled = 0;
	while (names && *names) {
		size_t n = strcspn(names, ",");
		for (int i = 0; i < LOG_CHANNELS; i++) {
			if ((n == 3 && !strncmp(names, "all", 3)) ||
			    (strlen(channel_names[i]) == n &&
			     !strncmp(names, channel_names[i], n)))
				enabled |= 1U << i;
		}
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
	return enabled & (1U << channel);
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
	if (level < LOG_LEVEL_INFO)
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
