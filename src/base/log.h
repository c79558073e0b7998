/*
 * Log channels: one for each room, switched on one by one.
 *
 * Three levels. log_warn() always shows (unless --quiet), log_info() with
 * --verbose, log_debug() when the channel is named in POLYGRAPH_LOG, e.g.
 * POLYGRAPH_LOG=tracee,suite or POLYGRAPH_LOG=all. Lines go to standard error
 * and never contain raw bytes of the tested program: they are escaped.
 */
#pragma once

#include <stdbool.h>

#include "base/macro.h"

enum log_channel {
	LOG_BASE,
	LOG_TRACEE,
	LOG_DWARF,
	LOG_SUITE,
	LOG_REPORT,
	LOG_CLI,
	LOG_CHANNELS,
};

enum log_level { LOG_LEVEL_QUIET, LOG_LEVEL_WARN, LOG_LEVEL_INFO };

/* Channels from a comma-separated list; unknown names are ignored. */
void log_channels_set(const char *names);
void log_level_set(enum log_level level);
bool log_enabled(enum log_channel channel);

/*
 * Called before and after a line is written, so that a progress line can step
 * aside; NULL: nothing.
 */
void log_hook_set(void (*hook)(bool before));

void log_warn(const char *fmt, ...) _printf_(1, 2);
void log_info(const char *fmt, ...) _printf_(1, 2);
void log_debug_line(enum log_channel channel, const char *fmt, ...)
	_printf_(2, 3);
#define log_debug(channel, ...)                                                \
	do {                                                                   \
		if (__builtin_expect(log_enabled(channel), 0))                 \
			log_debug_line(channel, __VA_ARGS__);                  \
	} while (0)
