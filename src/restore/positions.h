/*
 * Where a process is in the files that it has open. Copies of a process share
 * that with it: what one of them reads or writes moves it for all. They also
 * share the content of files that no longer have a name (tmpfile()): it cannot
 * be kept in another way.
 *
 * A folder that was removed and is there again is another one: the working
 * directory and the folders that a process has open are made to be those of that
 * name again.
 *
 * Standard input, output and error are left out: they are ours.
 */
#pragma once

#include "base/err.h"
#include "tracee/tracee.h"

struct positions;

struct err *positions_take(const struct tracee *tracee,
			   struct positions **ret) _must_check_;
void positions_destroy(struct positions *positions); /* NULL is fine */
/*
 * @thread: a stopped one of that process or of a copy. Files have their names
 * again by now.
 */
struct err *positions_put_back(const struct positions *positions,
			       struct thread *thread) _must_check_;
