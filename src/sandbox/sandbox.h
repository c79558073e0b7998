/*
 * A private file system for tested programs: what they change, in whatever way,
 * is gone when the last of us is, and the user's files were never touched.
 *
 *	TRY(sandbox_enter(&options, &forbidden));
 *
 * The calling process moves into a mount namespace of its own in which file
 * systems are covered by overlays (overlayfs). Reading goes through to the files
 * of the user; whatever is changed lands in memory that belongs to the namespace
 * alone. All processes that are started afterwards live there as well. Paths
 * stay as they are, so that nothing else in the program knows of it.
 *
 * There are two ways, and both look the same from inside:
 *  - Who may mount gets one overlay for each mounted file system, under a new
 *    root (whole.c).
 *  - An ordinary user gets a user namespace in which the user keeps the same
 *    ids, and overlays on the places that belong to the user: the working
 *    directory, the home, the temporary folders. All other file systems are
 *    read-only there (places.c). The kernel allows no more: what lies below
 *    mounts of others cannot be covered as a whole, and what belongs to other
 *    users cannot be copied into an overlay.
 *
 * Invariants:
 *  1. Either all of it worked or nothing happened. There is no way back, so it
 *     is tried in another process first.
 *  2. Nothing is written to a file system of the user, except below the folders
 *     that are named as going through.
 *  3. Files that were opened before are still the user's. Who has to write
 *     outside keeps a folder open (base/outfile.h).
 *
 * Before Linux 6.6 the layers of ordinary users are on a disk (disk.c). Those of
 * a process that was killed are removed by the next.
 *
 * What goes through: devices, /proc, /sys and other file systems that hold no
 * files; sockets that somebody listens on; the folders in options.through. What
 * does not: named pipes whose other end is held by a process outside.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"

struct sandbox_options {
	/* Folders that tests may write to, besides the usual ones. */
	const char *const *places;
	size_t n_places;
	/*
	 * Folders, or files, in which changes reach the user's. Folders are
	 * made if their parent is there, since nobody inside could do it.
	 */
	const char *const *through;
	size_t n_through;
};

/*
 * Once in a process, which must have one thread. *@ret_forbidden says what
 * forbids it, and nothing has changed; NULL: it is entered. After an error the
 * process is of no use.
 */
struct err *sandbox_enter(const struct sandbox_options *options,
			  struct err **ret_forbidden) _must_check_;
bool sandbox_is_entered(void);
/* What would allow one here, as advice for users. */
const char *sandbox_advice(void);
/*
 * Changes below this folder are meant to stay, with or without a sandbox. Its
 * links are resolved.
 */
struct err *sandbox_let_through(const char *folder) _must_check_;
bool sandbox_goes_through(const char *path);
/*
 * Are there overlays in which folders that were there before cannot be renamed,
 * or writing to a file separates its names? Those of ordinary users are such,
 * and those over another overlay.
 */
bool sandbox_has_weak_overlays(void);
/*
 * Would a change of @path, or making it, be refused because the sandbox of an
 * ordinary user does not cover it, and succeed outside? Any thread may ask.
 */
bool sandbox_refuses(const char *path);
/* Is it mounted only in the sandbox? It can be neither removed nor renamed. */
bool sandbox_pins(const char *path);
/* A change of it fails, or will, for this reason or another one of ours. */
void sandbox_note_refused(const char *path);
/* What was noted since the last call. */
struct err *sandbox_take_refused(struct strv *ret) _must_check_;
/* When the last tested program has ended; nobody may change files afterwards. */
void sandbox_leave(void);
/*
 * In a user namespace of our own we have all capabilities, tests have none. As
 * long as we keep them tests cannot open what we share with them (/proc/PID/fd).
 * To be called when nothing has to be mounted any more, nor any namespace made;
 * it changes nothing for somebody who had them before.
 */
void sandbox_give_up_rights(void);
