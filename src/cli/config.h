/*
 * polygraph.toml: every long option under its own name, those for one command
 * in a table of its name.
 *
 * The command line wins over the command's table, that over the top of the file.
 * An option at the top that only other commands have is for them; a key that no
 * command knows is an error, with file and line.
 */
#pragma once

#include "base/err.h"
#include "cli/command.h"

#define CONFIG_FILE "polygraph.toml"

/*
 * The file that is read: @path, or (NULL) the nearest one in the working directory
 * or above it. *@ret stays NULL where there is none.
 */
struct err *config_find(const char *path, char **ret) _must_check_;
/*
 * Reads @path; NULL: that one, where it exists. Paths in it are relative to its
 * folder.
 */
struct err *config_read(const char *path, const struct command *command,
			struct options *options) _must_check_;

/* The same from text; @name for messages. */
struct err *config_parse(const char *text, size_t n, const char *name,
			 const struct command *command,
			 struct options *options) _must_check_;
