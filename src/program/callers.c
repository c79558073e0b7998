#include "program/callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/str.h"
#include "program/own.h"

/* Names of mangled symbols that are followed; longer ones are the program's. */
#define NAMES_MAX 64
#define NESTED_MAX 8
/*
 * Local functions between two of the framework's; more are not the framework's.
 */
#define BETWEEN_MAX 256
/* Code after a symbol without a size. */
#define UNSIZED 64
#define SIZE_MAX_ ((uint64_t)1 << 30)

/*
 * Linked into every program, or by the compiler where it is asked to; libraries
 * for mocks, which no adapter drives. As framework.own.functions.
 */
static const char *const everywhere[] = {
	"_start$",
	"_init$",
	"_fini$",
	"_dl_relocate_static_pie$",
	"deregister_tm_clones$",
	"register_tm_clones$",
	"__do_global_dtors_aux$",
	"frame_dummy$",
	"__libc_csu_",
	"__gcov_",
	"__llvm_",
	"__asan_",
	"__ubsan_",
	"__tsan_",
	"__lsan_",
	"__sanitizer_",
	"__interceptor_",
	"__interception::",
	"__asan::",
	"__ubsan::",
	"__tsan::",
	"__lsan::",
	"__sanitizer::",
	"trompeloeil::",
	"fakeit::",
	NULL,
};

/* ---- mangled names (Itanium C++ ABI, 5.1) ---- */

/* "4name": its length, and where it begins; 0: there is none. */
static size_t source_name(const char *at, const char **ret)
{
	size_t n = 0;
	const char *digit = at;
	for (; *digit >= '0' && *digit <= '9' && n < 100000; digit++)
		n = n * 10 + (size_t)(*digit - '0');
	if (digit == at || strnlen(digit, n) < n)
		return 0;
	*ret = digit;
	return n;
}

/*
 * Tests may be written in the framework's namespace, as its own often are:
 * TEST(Suite, Name) makes a class Suite_Name_Test.
 */
static bool is_test(const char *at)
{
	for (int i = 0; i < NAMES_MAX; i++) {
		const char *name = NULL;
		size_t n = source_name(at, &name);
		if (!n)
			return false;
		if (n > 5 && !strncmp(name + n - 5, "_Test", 5))
			return true;
		at = name + n;
	}
	return false;
}

/* Where a nested name's names begin, without its qualifiers. */
static const char *skip_qualifiers(const char *at)
{
	return at + strspn(at, "rVKRO");
}

/* A nested name: where it begins, and the first name in it. */
struct nested {
	const char *first;
	size_t n;
};

/* What a symbol's name says, taken apart once for all entries of a list. */
struct parts {
	const char *symbol;
	struct nested nested[NESTED_MAX];
	size_t n;
};

static void add_nested(struct parts *parts, const char *at)
{
	struct nested nested = {};
	nested.n = source_name(at, &nested.first);
	if (nested.n && parts->n < NESTED_MAX)
		parts->nested[parts->n++] = nested;
}

/*
 * Templates of the standard library and of Boost are whose types they are made
 * for: the first argument tells, and its own first argument.
 */
static void add_arguments(struct parts *parts, const char *at)
{
	bool arguments = false;
	if (!str_starts(at, "St") && !str_starts(at, "9__gnu_cxx") &&
	    !str_starts(at, "5boost"))
		return;
	for (int i = 0; i < NAMES_MAX; i++) {
		const char *name = NULL;
		size_t n = source_name(at, &name);
		if (n) {
			at = name + n;
		} else if (*at == 'N') {
			at = skip_qualifiers(at + 1);
			if (arguments)
				add_nested(parts, at);
		} else if (str_starts(at, "St")) {
			at += 2;
		} else if (*at == 'S') {
			at += strcspn(at, "_");
			at += *at == '_';
		} else if (*at == 'I') {
			arguments = true;
			at++;
		} else if (arguments && *at && strchr("PRKOV", *at)) {
			at++;
		} else {
			return;
		}
	}
}

/*
 * Where the name of the function that this is, or is a part of, begins: after
 * what says that it is local to one, or only adjusts "this" for it.
 */
static const char *callers_function_name(const char *symbol)
{
	const char *at = symbol + 2;
	if (at[0] == 'T' && at[1] && strchr("hvc", at[1])) {
		/* Th n8 _, Tv 0 _ n24 _: offsets, each ends with '_'. */
		int offsets = at[1] == 'h' ? 1 : 2;
		for (at += 2; offsets && *at; offsets--) {
			at += strcspn(at, "_");
			at += *at == '_';
		}
	}
	while (*at == 'Z')
		at++;
	return at;
}

static void take_apart(const char *symbol, struct parts *ret)
{
	ret->symbol = symbol;
	ret->n = 0;
	if (!str_starts(symbol, "_Z"))
		return;
	const char *at = callers_function_name(symbol);
	if (*at == 'N') {
		at = skip_qualifiers(at + 1);
		add_nested(ret, at);
	}
	add_arguments(ret, at);
}

static bool in_scope(const struct nested *nested, const char *scope)
{
	const char *name = nested->first;
	size_t n = nested->n;
	while (n && !strncmp(name, scope, n) && scope[n] == ':') {
		const char *rest = name + n;
		scope += n + strspn(scope + n, ":");
		if (!*scope)
			return !is_test(rest);
		n = source_name(rest, &name);
	}
	return false;
}

/* An entry's kind need not be known: no symbol has a ':' or ends with '$'. */
static bool callers_entry_matches(const char *entry, const struct parts *parts)
{
	size_t i = 0;
	while (entry[i] && entry[i] == parts->symbol[i])
		i++;
	if (i && (!entry[i] || (!strcmp(entry + i, "$") && !parts->symbol[i])))
		return true;
	for (i = 0; i < parts->n; i++) {
		if (*parts->nested[i].first == *entry &&
		    in_scope(&parts->nested[i], entry))
			return true;
	}
	return false;
}

static bool callers_list_has(const char *const *entries,
			     const struct parts *parts)
{
	for (size_t i = 0; entries && entries[i]; i++) {
		if (callers_entry_matches(entries[i], parts))
			return true;
	}
	return false;
}

bool callers_is_framework(const struct framework_own *own, const char *symbol)
{
	struct parts parts;
	take_apart(symbol, &parts);
	return callers_list_has(own->functions, &parts);
}

/* ---- ranges ---- */

enum whose { PROGRAM, FRAMEWORK, EVERYWHERE };

struct code {
	uint64_t low, high;
	enum whose whose;
	bool c;	    /* not mangled */
	bool local; /* to a source file */
};

struct callers_search {
	const struct framework_own *own;
	VEC(struct code) code;
	struct err *err;
};

static bool callers_visit_symbol(void *data, const struct object_symbol *symbol)
{
	struct callers_search *search = data;
	if (!symbol->function && symbol->data)
		return true;
	struct parts parts;
	take_apart(symbol->name, &parts);
	bool common = callers_list_has(everywhere, &parts);
	if (!symbol->function && !common)
		return true;
	uint64_t size = MIN(symbol->size, SIZE_MAX_);
	struct code code = {
		.low = symbol->value,
		.c = !str_starts(symbol->name, "_Z"),
		.local = symbol->local,
	};
	if (__builtin_add_overflow(code.low, size ? size : UNSIZED, &code.high))
		return true;
	if (callers_list_has(search->own->functions, &parts))
		code.whose = FRAMEWORK;
	else if (common)
		code.whose = EVERYWHERE;
	search->err = vec_push(&search->code, code);
	return !search->err;
}

/* One entry an address, which is the program's where one of its names is. */
static void join_names(struct callers_search *search)
{
	struct code *code = search->code.data;
	size_t n = 0;
	for (size_t i = 0; i < search->code.n; i++) {
		if (!n || code[n - 1].low != code[i].low) {
			if (n)
				code[n - 1].high =
					MIN(code[n - 1].high, code[i].low);
			code[n++] = code[i];
			continue;
		}
		struct code *last = &code[n - 1];
		last->high = MAX(last->high, code[i].high);
		last->local &= code[i].local;
		if (code[i].whose == PROGRAM)
			last->whose = PROGRAM;
	}
	search->code.n = n;
}

/*
 * A framework in C has local functions of any name. A source file's code lies
 * together, so those between two of the framework's functions are its own.
 */
static void join_locals(struct callers_search *search)
{
	struct code *code = search->code.data;
	size_t last = SIZE_MAX;
	for (size_t i = 0; i < search->code.n; i++) {
		if (code[i].whose == FRAMEWORK && code[i].c) {
			for (size_t j = last; j < i && i - last <= BETWEEN_MAX;
			     j++)
				code[j].whose = FRAMEWORK;
			last = i;
		} else if (!code[i].c || !code[i].local ||
			   code[i].whose != PROGRAM) {
			last = SIZE_MAX;
		}
	}
}

struct err *callers_find(const struct program *program,
			 const struct framework_own *own,
			 struct wire_callers *ret, size_t max, size_t *ret_n)
{
	struct callers_search search = { .own = own };
	size_t n = 0;
	if (program->modules.n && program->modules.data[0].object)
		object_each_symbol(program->modules.data[0].object,
				   callers_visit_symbol, &search);
	if (search.err) {
		vec_free(&search.code);
		return search.err;
	}
	if (search.code.n)
		qsort(search.code.data, search.code.n,
		      sizeof(search.code.data[0]), compare_as_u64);
	join_names(&search);
	join_locals(&search);
	bool together = false; /* with the one before */
	for (size_t i = 0; i < search.code.n; i++) {
		const struct code *code = &search.code.data[i];
		if (code->whose != PROGRAM && together) {
			ret[n - 1].high = code->high;
		} else if (code->whose != PROGRAM && code->low < code->high) {
			if (n == max) {
				log_debug(LOG_PROGRAM,
					  "more than %zu ranges of code that "
					  "are not the program's",
					  max);
				break;
			}
			ret[n++] =
				(struct wire_callers){ code->low, code->high };
		}
		together = code->whose != PROGRAM && n;
	}
	vec_free(&search.code);
	*ret_n = n;
	return NULL;
}
