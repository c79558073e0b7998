/*
 * What overlays of ordinary users cannot do (sandbox/sandbox.h): rename folders
 * that were there before, and write to one name of a file so that the others
 * show it. Just before such a call, the folder or the file becomes one that lies
 * in the upper layer alone, where both work.
 *
 * Nothing happens outside of such an overlay.
 */
#pragma once

#include "base/err.h"

/*
 * Before any change: an error says that only the sandbox refuses it. What
 * another sandbox may allow is noted there. @moves: it is removed or renamed.
 */
struct err *overlaid_check_refused(const char *path, bool moves) _must_check_;
/* Before @path is renamed. */
struct err *overlaid_free_folder(const char *path) _must_check_;
/*
 * Before the file @path is changed. Other names of it are searched for in its
 * own folder. An error says that the change fails, or that some were not found.
 */
struct err *overlaid_prepare_file(const char *path) _must_check_;
