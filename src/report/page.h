/* What pages for the browser share: how they begin, and texts in them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/*
 * Until <body>. A page without a script is @still: it is dark where the browser
 * asks for that, and has no button for it.
 */
void page_begin(const char *title, bool still, FILE *out);
/* Nothing in @text can be taken for markup; what misleads becomes U+FFFD. */
void page_write_text(const char *text, FILE *out);
