/*
 * Log channels: one for each room, switched on by name.
 *
 * Three levels. log_warn() always shows (unless --quiet), log_info() with
 * --verbose or POLYGRAPH_LOG=all, log_debug() when the channel is named in
 * POLYGRAPH_LOG, e.g. POLYGRAPH_LOG=tracee,suite. Lines go to standard error
 * and never contain raw bytes of the tested program: they are escaped.
 *
 * A debug line says what was decided and why: what was left out, given up or
 * done the slow way. It must be possible to understand a user's report from
 * these lines alone. A room logs on its own channel; the libraries inside the
 * tested program cannot log, so the controller does it on their channels
 * (agent, models, recorder). tests/lint/check_log.py checks both.
 */
#pragma once

#include <stdbool.h>

#include "base/macro.h"

/* clang-format off */
#define LOG_CHANNELS(X)                                                        \
	X(AGENT, "agent")                                                      \
	X(ATTRIBUTES, "attributes")                                            \
	X(BASE, "base")                                                        \
	X(CHOICES, "choices")                                                  \
	X(CLI, "cli")                                                          \
	X(DWARF, "dwarf")                                                      \
	X(FILES, "files")                                                      \
	X(FINDING, "finding")                                                  \
	X(FOLLOW, "follow")                                                    \
	X(FRAMEWORK, "framework")                                              \
	X(HISTORY, "history")                                                  \
	X(IMAGE, "image")                                                      \
	X(JVM, "jvm")                                                          \
	X(KEEP, "keep")                                                        \
	X(MODELS, "models")                                                    \
	X(NATIVE, "native")                                                    \
	X(NEST, "nest")                                                        \
	X(ORDER, "order")                                                      \
	X(POLLUTION, "pollution")                                              \
	X(PROCESS, "process")                                                  \
	X(PROGRAM, "program")                                                  \
	X(RECORDER, "recorder")                                                \
	X(REPAIR, "repair")                                                    \
	X(REPLAY, "replay")                                                    \
	X(REPORT, "report")                                                    \
	X(RESTORE, "restore")                                                  \
	X(RESULTS, "results")                                                  \
	X(SANDBOX, "sandbox")                                                  \
	X(SCHEDULES, "schedules")                                              \
	X(STATE, "state")                                                      \
	X(STORE, "store")                                                      \
	X(SUITE, "suite")                                                      \
	X(TRACEE, "tracee")                                                    \
	X(TYPE, "type")                                                        \
	X(VM, "vm")                                                            \
	X(WATCH, "watch")                                                      \
	X(WHOLE, "whole")
/* clang-format on */

enum log_channel {
#define X(channel, name) LOG_##channel,
	LOG_CHANNELS(X)
#undef X
		LOG_CHANNELS_N,
};

enum log_level { LOG_LEVEL_QUIET, LOG_LEVEL_WARN, LOG_LEVEL_INFO };

/* Channels from a comma-separated list; warns of a name that is none. */
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
