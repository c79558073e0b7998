/*
 * Where a process is in the files that it has open. Copies of a process share
 * that with it: what one of them reads or writes moves it for all. Of files that
 * have no name any more (tmpfile()) they share the content, too: nobody else
 * can have kept it.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct positions;

struct err *positions_take(pid_t pid, struct positions **ret) _must_check_;
void positions_destroy(struct positions *positions); /* NULL is fine */
void positions_put_back(const struct positions *positions);
