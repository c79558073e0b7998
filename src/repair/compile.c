#include "repair/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "repair/tool.h"

#define PROLOGUE "polygraph-declarations"
#define CANDIDATES "polygraph-candidates"
#define ROUNDS_MAX 12
#define COMPILE_NS (120 * NS_PER_S)

void compiler_free(struct compiler *compiler)
{
	strv_free(&compiler->command);
	strv_free(&compiler->folders);
	free(compiler->folder);
	free(compiler->work);
	*compiler = (struct compiler){};
}

void batch_free(struct trial_batch *batch)
{
	free(batch->object);
	free(batch->library);
	vec_free(&batch->places);
	*batch = (struct trial_batch){};
}

/* ---- writing ---- */

/* Several statements in a line of their own. */
static void write_flat(FILE *out, const char *code)
{
	for (; *code; code++)
		fputc(*code == '\n' ? ' ' : *code, out);
}

static void write_candidates(FILE *out, const struct strv *code,
			     const bool *dropped)
{
	fprintf(out, "\n#line 1 \"" CANDIDATES "\"\n");
	fprintf(out, "static void polygraph_0(void) { }\n");
	for (size_t i = 0; i < code->n; i++) {
		if (dropped[i]) {
			fputc('\n', out);
			continue;
		}
		fprintf(out, "static void polygraph_%zu(void) { ", i + 1);
		write_flat(out, code->data[i]);
		fputs(" }\n", out);
	}
}

/* Each of its lines goes by its number. */
static void write_declaration(FILE *out, const char *text, size_t number)
{
	while (text) {
		size_t n = strcspn(text, "\n");
		fprintf(out, "#line %zu \"" PROLOGUE "\"\n%.*s\n", number,
			(int)n, text);
		text = text[n] ? text + n + 1 : NULL;
	}
}

static struct err *write_snippet(const struct compiler *compiler,
				 const char *path,
				 const struct strv *declarations,
				 const struct strv *code, const bool *dropped)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return err_errno(errno, "%s", path);
	for (size_t i = 0; i < declarations->n; i++)
		write_declaration(out, declarations->data[i], i + 1);
	write_candidates(out, code, dropped);
	fprintf(out, "%sextern void (*const " SUITE_BENCH_TABLE "[])(void);\n",
		compiler->cxx ? "extern \"C\" {\n" : "");
	fprintf(out, "void (*const " SUITE_BENCH_TABLE "[])(void) = {\n");
	fprintf(out, "polygraph_0,\n");
	for (size_t i = 0; i < code->n; i++) {
		if (!dropped[i])
			fprintf(out, "polygraph_%zu,\n", i + 1);
	}
	fprintf(out, "0 };\n%s", compiler->cxx ? "}\n" : "");
	return fclose(out) ? err_errno(errno, "%s", path) : NULL;
}

/* ---- what the compiler says ---- */

/* The line after "NAME:" in @text; 0: there is none. */
static size_t line_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	if (!at)
		return 0;
	at += strlen(name);
	return *at == ':' ? strtoul(at + 1, NULL, 10) : 0;
}

struct complaint {
	const struct strv *code;
	struct strv *declarations;
	bool *dropped;
	bool any;
	size_t including; /* the declaration that included what is wrong */
	bool included;	  /* what is wrong in there counts */
};

static void drop_declaration(struct complaint *complaint, size_t line)
{
	if (!line || line > complaint->declarations->n ||
	    !complaint->declarations->data[line - 1])
		return;
	log_debug(LOG_REPAIR, "does not compile here: %s",
		  complaint->declarations->data[line - 1]);
	free(complaint->declarations->data[line - 1]);
	complaint->declarations->data[line - 1] = NULL;
	complaint->any = true;
}

static void drop_candidate(struct complaint *complaint, size_t line)
{
	/* Line 1 is the control. */
	if (line < 2 || line - 2 >= complaint->code->n ||
	    complaint->dropped[line - 2])
		return;
	complaint->dropped[line - 2] = true;
	complaint->any = true;
}

static void read_complaint(struct complaint *complaint, const char *line)
{
	if (strstr(line, "error:"))
		log_debug(LOG_REPAIR, "%s", line);
	size_t candidate = line_after(line, CANDIDATES);
	size_t declaration = line_after(line, PROLOGUE);
	if (strstr(line, "In file included from") || strstr(line, " from ")) {
		if (declaration)
			complaint->including = declaration;
	}
	bool wrong = strstr(line, "error:") || strstr(line, "required from") ||
		     strstr(line, "instantiation of");
	if (!wrong || strstr(line, "warning:"))
		return;
	if (candidate)
		drop_candidate(complaint, candidate);
	else if (declaration)
		drop_declaration(complaint, declaration);
	else if (strstr(line, "error:") && complaint->including &&
		 complaint->included)
		drop_declaration(complaint, complaint->including);
}

/*
 * A header that has a template complains of what a candidate does with it: only
 * where no candidate is wrong it may be the header.
 */
static struct err *read_complaints(struct complaint *complaint,
				   const char *said)
{
	for (int round = 0; round < 2 && !complaint->any; round++) {
		_cleanup_(freep) char *text = strdup(said);
		char *rest = text;
		if (!text)
			return err_nomem();
		complaint->included = round;
		for (char *line; (line = strsep(&rest, "\n"));)
			read_complaint(complaint, line);
	}
	return NULL;
}

/* ---- compiling ---- */

static uint64_t compile_limit(const struct compiler *compiler)
{
	uint64_t now = clock_now();
	if (!compiler->deadline)
		return COMPILE_NS;
	return compiler->deadline > now
		       ? MIN(compiler->deadline - now, COMPILE_NS)
		       : 1;
}

static struct err *compile_once(const struct compiler *compiler,
				const char *input, const char *output,
				struct str *said, bool *ret)
{
	_cleanup_(strv_freep) struct strv words = {};
	TRY(strv_add_all(&words, compiler->command.data));
	for (size_t i = 0; i < compiler->folders.n; i++)
		TRY(strv_addf(&words, "-idirafter%s",
			      compiler->folders.data[i]));
	static const char *const more[] = {
		"-fPIC",
		"-O0",
		"-g0",
		"-Werror=unused-result",
		"-Werror=return-type",
	};
	static const char *const for_c[] = {
		"-Werror=implicit-function-declaration",
		"-Werror=int-conversion",
		"-Werror=incompatible-pointer-types",
		"-Werror=implicit-int",
	};
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		TRY(strv_add(&words, more[i]));
	for (size_t i = 0; !compiler->cxx && i < ARRAY_SIZE(for_c); i++)
		TRY(strv_add(&words, for_c[i]));
	if (!strstr(compiler->command.data[0], "clang"))
		TRY(strv_add(&words, "-fno-gnu-unique"));
	else
		TRY(strv_add(&words, "-ferror-limit=0"));
	TRY(strv_add(&words, "-c"));
	TRY(strv_add(&words, input));
	TRY(strv_add(&words, "-o"));
	TRY(strv_add(&words, output));
	return tool_call(words.data, compiler->folder, compile_limit(compiler),
			 said, ret);
}

static struct err *check_text(struct compiler *compiler, const char *path,
			      const char *content, bool *ret)
{
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(str_freep) struct str said = STR_INIT;
	_cleanup_(freep) char *input = NULL;
	TRY(str_format(&input, "%s/patched.%s", compiler->work,
		       compiler->cxx ? "cc" : "c"));
	FILE *out = fopen(input, "we");
	if (!out)
		return err_errno(errno, "%s", input);
	fprintf(out, "#line 1 \"%s\"\n%s", path, content);
	if (fclose(out))
		return err_errno(errno, "%s", input);
	TRY(strv_add_all(&words, compiler->command.data));
	for (size_t i = 0; i < compiler->folders.n; i++)
		TRY(strv_addf(&words, "-idirafter%s",
			      compiler->folders.data[i]));
	if (!compiler->cxx)
		TRY(strv_add(&words, "-Werror=implicit-function-declaration"));
	TRY(strv_add(&words, "-fsyntax-only"));
	TRY(strv_add(&words, input));
	TRY(tool_call(words.data, compiler->folder, compile_limit(compiler),
		      &said, ret));
	if (!*ret)
		log_debug(LOG_REPAIR, "%s: %.400s", path, said.n ? said.s : "");
	return NULL;
}

struct err *compiler_check(struct compiler *compiler, const char *path,
			   const char *original, const char *content, bool *ret)
{
	bool before = false, now = false;
	TRY(check_text(compiler, path, content, &now));
	if (!now)
		TRY(check_text(compiler, path, original, &before));
	*ret = now || !before;
	return NULL;
}

static struct err *note_places(const bool *dropped, size_t n,
			       struct trial_batch *batch)
{
	size_t place = 1;
	for (size_t i = 0; i < n; i++)
		TRY(vec_push(&batch->places,
			     dropped[i] ? BATCH_NONE : place++));
	batch->compiled = place - 1;
	return NULL;
}

struct err *batch_compile(struct compiler *compiler, struct strv *declarations,
			  const struct strv *code, struct trial_batch *ret)
{
	_cleanup_(batch_freep) struct trial_batch batch = {};
	_cleanup_(freep) bool *dropped = calloc(code->n + 1, 1);
	_cleanup_(freep) char *input = NULL;
	_cleanup_(str_freep) struct str said = STR_INIT;
	bool done = false;
	size_t number = ++compiler->made;
	if (!dropped)
		return err_nomem();
	TRY(str_format(&input, "%s/batch%zu.%s", compiler->work, number,
		       compiler->cxx ? "cc" : "c"));
	TRY(str_format(&batch.object, "%s/batch%zu.o", compiler->work, number));
	for (int round = 0; round < ROUNDS_MAX && !done; round++) {
		if (compiler->deadline && clock_now() > compiler->deadline)
			break;
		struct complaint complaint = {
			.code = code,
			.declarations = declarations,
			.dropped = dropped,
		};
		said.n = 0;
		TRY(write_snippet(compiler, input, declarations, code,
				  dropped));
		TRY(compile_once(compiler, input, batch.object, &said, &done));
		if (!done && said.n)
			TRY(read_complaints(&complaint, said.s));
		if (!done && !complaint.any)
			break;
	}
	if (!done)
		return err_create(ERR_SUITE, "'%s' does not compile: %.300s",
				  input, said.n ? said.s : "without a message");
	TRY(note_places(dropped, code->n, &batch));
	log_debug(LOG_REPAIR, "%zu of %zu candidates compile", batch.compiled,
		  code->n);
	*ret = batch;
	batch = (struct trial_batch){};
	return NULL;
}

/* ---- linking ---- */

/* Names that belong to each library itself. */
static bool is_own_name(const char *name)
{
	return !strcmp(name, "_GLOBAL_OFFSET_TABLE_") ||
	       !strcmp(name, "__dso_handle") || !strcmp(name, "_init") ||
	       !strcmp(name, "_fini") || str_starts(name, "DW.ref.") ||
	       !strcmp(name, SUITE_BENCH_TABLE);
}

static struct err *write_symbols(const char *path,
				 const struct suite_symbols *symbols)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return err_errno(errno, "%s", path);
	for (size_t i = 0; i < symbols->n; i++) {
		const struct suite_symbol *symbol = &symbols->data[i];
		if (is_own_name(symbol->name) ||
		    strpbrk(symbol->name, "\"\\\n"))
			continue;
		fprintf(out, ".globl \"%s\"\n.set \"%s\", 0x%llx\n",
			symbol->name, symbol->name,
			(unsigned long long)symbol->address);
	}
	/* What exit handlers are registered for; the C start-up files have it. */
	fputs(".globl __dso_handle\n.hidden __dso_handle\n.data\n"
	      "__dso_handle:\n.quad 0\n",
	      out);
	fputs(".section .note.GNU-stack,\"\",@progbits\n", out);
	return fclose(out) ? err_errno(errno, "%s", path) : NULL;
}

static struct err *batch_link(struct compiler *compiler,
			      struct trial_batch *batch,
			      const struct suite_bench *bench,
			      const struct suite_code *code, const char *file)
{
	_cleanup_(suite_symbols_freep_deep) struct suite_symbols symbols = {};
	_cleanup_(freep) char *assembly = NULL;
	_cleanup_(freep) char *library = NULL;
	_cleanup_(strv_freep) struct strv words = {};
	_cleanup_(str_freep) struct str said = STR_INIT;
	bool done;
	TRY(bench->bind(bench->context, batch->object, &code->routines, file,
			&symbols));
	TRY(str_format(&assembly, "%s.s", batch->object));
	TRY(str_format(&library, "%s.so", batch->object));
	TRY(write_symbols(assembly, &symbols));
	const char *const parts[] = { compiler->command.data[0],
				      "-shared",
				      "-nostdlib",
				      "-o",
				      library,
				      batch->object,
				      assembly };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		TRY(strv_add(&words, parts[i]));
	TRY(tool_call(words.data, compiler->folder, compile_limit(compiler),
		      &said, &done));
	if (!done)
		return err_create(ERR_SUITE, "cannot link '%s': %.300s",
				  batch->object, said.n ? said.s : "");
	batch->library = take_ptr(library);
	return NULL;
}

struct err *batch_load(struct compiler *compiler, struct trial_batch *batch,
		       const struct suite_bench *bench,
		       const struct suite_code *code, const char *file,
		       bool *ret)
{
	if (!batch->library)
		TRY(batch_link(compiler, batch, bench, code, file));
	return bench->load(bench->context, batch->library, ret);
}
