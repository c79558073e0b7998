/* --container: recipes of users, as texts. */
#pragma once

#include "base/vec.h"
#include "cli/option.h"
#include "state/containers.h"

/* Rows for containers.c out of their texts, which are cut up. */
struct recipes {
	VEC(struct container_user) rows;
	VEC(char *) texts;
};

struct err *recipes_parse(const struct option_list *list,
			  struct recipes *ret) _must_check_;
void recipes_freep(struct recipes *recipes);
