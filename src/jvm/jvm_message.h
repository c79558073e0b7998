/*
 * Messages between us and a VM (wire/vm.h): writing those to it, reading the
 * content of those from it. What comes from there is hostile: a reader that
 * finds too little is @broken from then on and gives zeroes and empty texts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strv.h"
#include "wire/vm.h"

struct err *message_add_number(struct str *message,
			       uint32_t number) _must_check_;
struct err *message_add_text(struct str *message,
			     const char *text) _must_check_;
/* How many there are, then each. */
struct err *message_add_texts(struct str *message,
			      const struct strv *texts) _must_check_;

struct message_reader {
	const uint8_t *at, *end;
	bool broken;
};

uint32_t message_number(struct message_reader *reader);
/* A copy, the caller's; NULL for an empty one. */
struct err *message_text(struct message_reader *reader,
			 char **ret) _must_check_;
struct err *message_texts(struct message_reader *reader,
			  struct strv *ret) _must_check_;
