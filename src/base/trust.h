/*
 * Whose files are obeyed. What is found in a folder without being named by the
 * user (configuration, results, the cache) can have been put there by others,
 * and says what is run. It is obeyed where nobody else can have written it:
 *
 *  1. Its owner is the effective user, or root, or, for root, the user who
 *     called sudo(8). The same rule as for safe.directory in git-config(1).
 *  2. Others cannot write to it.
 *  3. A link to it has such an owner, too.
 *
 * Not looked at: the group's right to write (many systems give each user a
 * group of their own), access control lists, and the folders above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"

/* Rule 1. */
bool trust_owner(uid_t owner);
/* Rules 1 and 2: ERR_USAGE where they do not hold; the hint is the caller's. */
struct err *trust_check(const char *path,
			const struct stat *status) _must_check_;
/* A folder by all three; *@ret_fd is the caller's. */
struct err *trust_open_folder(const char *path, int *ret_fd) _must_check_;
/* As file_read(), by all three; only a regular file. */
struct err *trust_read_file(const char *path, size_t limit, char **ret,
			    size_t *ret_n) _must_check_;
