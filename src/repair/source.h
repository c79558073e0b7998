/*
 * A source file as text: where the body of a test is, its statements and
 * literals, what the file declares, and how it is indented.
 *
 * No compiler is involved. Comments, strings and character literals are known,
 * raw strings included; braces and brackets are matched outside of them. What
 * the preprocessor does is not seen: whoever uses a part compiles it.
 */
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strv.h"
#include "base/vec.h"

/* [from, to) of the text. */
struct source_span {
	size_t from, to;
};
DEFINE_VEC(source_spans, struct source_span)

struct source_file {
	char *path;
	char *text;
	/*
	 * The same length: comments are blanks, strings are '"' and characters
	 * are '\''. Newlines stay.
	 */
	char *plain;
	size_t n;
	bool cxx;
	VEC(size_t) lines; /* where each begins */
};

struct err *source_read(const char *path, struct source_file *ret) _must_check_;
/* Of @n bytes without a NUL, copied; for tests. */
struct err *source_take(const char *path, const char *text, size_t n,
			struct source_file *ret) _must_check_;
void source_free(struct source_file *source);
static inline void source_freep(struct source_file *source)
{
	source_free(source);
}

static inline bool source_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}
/* Behind the bracket that closes the one at @at. */
size_t source_skip_group(const struct source_file *source, size_t at,
			 size_t end);
/* Line of an offset, from 0. */
size_t source_line(const struct source_file *source, size_t at);
/*
 * The body of the function, or of the macro that makes one, which is declared at
 * @line (from 1): from behind its brace to the closing one. false: not found.
 */
bool source_body(const struct source_file *source, unsigned line,
		 struct source_span *ret);
/* Statements directly in it, in their order; blocks are one each. */
struct err *source_statements(const struct source_file *source,
			      struct source_span body,
			      struct source_spans *ret) _must_check_;
/* Is it a declaration, as the beginning of a function in old C? */
bool source_is_declaration(const struct source_file *source,
			   struct source_span statement);
/* Calls in the arguments of a statement that is a macro's: "f(1)". */
struct err *source_inner_calls(const struct source_file *source,
			       struct source_span statement,
			       struct strv *ret) _must_check_;
/* A part of it in one line, without comments; malloc()ed. NULL: no memory. */
char *source_flat(const struct source_file *source, struct source_span span);

/* Literals of a part, each once: strings with their quotes, and numbers. */
struct err *source_literals(const struct source_file *source,
			    struct source_span span, struct strv *texts,
			    struct strv *numbers) _must_check_;

/*
 * What a file needs that is to call the same functions, one line each: its
 * preprocessor lines without the headers of test frameworks, and its
 * declarations; of what it defines itself a declaration.
 */
struct err *source_declarations(const struct source_file *source,
				struct strv *ret) _must_check_;
/*
 * Where the item begins that contains @at: a function, a class, a macro's block;
 * namespaces are looked into. @at where there is none.
 */
size_t source_item_start(const struct source_file *source, size_t at);
/*
 * A declaration of the function whose definition begins there, in *@ret;
 * untouched if it is none that can be declared.
 */
struct err *source_prototype(const struct source_file *source, size_t item,
			     char **ret) _must_check_;
/* Does it include a file of this name, whatever the folder? */
bool source_includes(const struct source_file *source, const char *name);

/* ---- changes ---- */

/* Lines [at, at + removed) become @lines. */
struct source_edit {
	size_t at, removed;
	struct strv lines; /* without newlines */
};
void source_edit_free(struct source_edit *edit);

/* @code (lines) becomes the first statements of @body. */
struct err *source_edit_begin(const struct source_file *source,
			      struct source_span body, bool after_declarations,
			      const struct strv *code,
			      struct source_edit *ret) _must_check_;
/* The same at its end. */
struct err *source_edit_end(const struct source_file *source,
			    struct source_span body, const struct strv *code,
			    struct source_edit *ret) _must_check_;
/* One more line where the file includes others, before @at: '#include "x.h"'. */
struct err *source_edit_include(const struct source_file *source,
				const char *line, size_t at,
				struct source_edit *ret) _must_check_;
/* Declarations in front of an item and the comment above it. */
struct err *source_edit_declare(const struct source_file *source, size_t item,
				const struct strv *code,
				struct source_edit *ret) _must_check_;
/* The file with these edits, which ascend. */
struct err *source_apply(const struct source_file *source,
			 const struct source_edit *edits, size_t n,
			 char **ret) _must_check_;
/* A unified diff of it; @name is the path that it shows. */
struct err *source_diff(const struct source_file *source, const char *name,
			const struct source_edit *edits, size_t n,
			char **ret) _must_check_;
