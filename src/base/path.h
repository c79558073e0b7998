/* Paths and whole files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct err *path_join(const char *folder, const char *name,
		      char **ret) _must_check_;
/*
 * @path as seen from the working directory if it is below it, else absolute.
 * Relative ones are taken from @folder (NULL: working directory). "." and ".."
 * inside are resolved as text; nothing has to exist.
 */
struct err *path_display(const char *folder, const char *path,
			 char **ret) _must_check_;
/*
 * The same for people: as seen from the working directory also if it lies
 * elsewhere ("../src/x.c"), where that is shorter.
 */
struct err *path_display_short(const char *path, char **ret) _must_check_;
/*
 * From now on path_display_short() shows paths as seen from @folder, where the
 * user is; NULL: from the working directory.
 */
struct err *path_show_from(const char *folder) _must_check_;
const char *path_base(const char *path);
/* Both are absolute; @folder has no slash at its end, unless it is "/". */
bool path_is_below(const char *path, const char *folder);
/* Cuts @path to the folder that @other is in as well; both are absolute. */
void path_cut_to_common(char *path, const char *other);
/* '/' sorts first, so that a folder's entries follow it at once. */
int path_compare(const char *a, const char *b);
/* Coverage data, which tools write next to the program when it ends? */
bool path_is_coverage(const char *path);

/*
 * Whole file, NUL-terminated; more than @limit bytes is an error. A pipe will
 * do, as long as something comes through it.
 */
struct err *file_read(const char *path, size_t limit, char **ret,
		      size_t *ret_n) _must_check_;
/* From a descriptor; @path is for messages. */
struct err *file_read_fd(int fd, const char *path, size_t limit, char **ret,
			 size_t *ret_n) _must_check_;
