/*
 * Models of polygraph.toml: functions that leave something open, described
 * without writing code. One is a table
 *
 *	[[choices.model]]
 *	function = "list_names"   # symbol, or as C++ writes it
 *	kind = "permute"          # or "random", "short"
 *	array = "return"          # or "arg1" … "arg6", "*arg1" …
 *	length = "*arg1"          # the same, or a number, or "null"
 *	element-size = 8
 *	clause = "README: in any order"
 *
 * or, on the command line, the same in one text: "function=list_names;
 * kind=permute; …". "random" takes min and max, "short" may take min (0); both
 * returns = "int" or "long", for what the function gives.
 */
#pragma once

#include "choices/choices.h"
#include "suite/suite.h"

struct user_model_texts {
	/* For suite_options and choices_options; the same numbers. */
	VEC(struct suite_user_model) models;
	VEC(struct choices_model) shown;
	VEC(char *) texts; /* what both point to */
};

struct err *user_models_parse(const char *const *texts, size_t n,
			      struct user_model_texts *ret) _must_check_;
void user_model_texts_freep(struct user_model_texts *texts);
