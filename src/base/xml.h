/* Text that becomes part of a document in XML. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Whatever XML cannot hold is written as \xNN; @attribute: between quotation
 * marks, on one line.
 */
void xml_write(const char *text, size_t n, bool attribute, FILE *out);
void xml_write_attribute(const char *key, const char *text, FILE *out);
