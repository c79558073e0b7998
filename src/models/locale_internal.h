/*
 * A locale of our own, which lies beside this library (make_locale.py): no
 * other has to be installed. Programs find it through LOCPATH.
 */
#pragma once

#include "models/choose_internal.h"

#define LOCALE_OWN "xx_XX.UTF-8"
#define LOCALE_PATH 1024

#pragma GCC visibility push(hidden)

/* The folder that it is in; false: there is none. */
bool locale_find_own(char folder[LOCALE_PATH]);
/*
 * It is in use: @variable is "LOCPATH=…" in the environment. Others, which are
 * in the system's archive, are then searched for there, too.
 */
void locale_use_own(char *variable);
/* setlocale(), which @next is, with that in mind. */
char *locale_set(int category, const char *name,
		 char *(*next)(int, const char *));

#pragma GCC visibility pop
