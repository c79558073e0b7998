/*
 * Where a process is in the files that it has open. Copies of a process share
 * that with it: what one of them reads or writes moves it for all.
 */
#pragma once

#include <sys/types.h>

#include "base/err.h"

struct offsets;

struct err *offsets_take(pid_t pid, struct offsets **ret) _must_check_;
void offsets_destroy(struct offsets *offsets); /* NULL is fine */
void offsets_put_back(const struct offsets *offsets);
