/*
 * Files built at run time, asked everything. Compilers: $CC where it is set,
 * and those of gcc and clang that are there; what is missing is said.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/str.h"
#include "base/vec.h"
#include "dwarf/object.h"

static char folder[] = "/tmp/polygraph-object-XXXXXX";
static struct {
	const char *c, *cxx;
} compilers[3];
static size_t compilers_n;

static int run(const char *fmt, ...) _printf_(1, 2);
static int run(const char *fmt, ...)
{
	char command[4096];
	va_list args;
	va_start(args, fmt);
	int n = snprintf(command, sizeof(command), "cd %s && ", folder);
	vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, args);
	va_end(args);
	return system(command);
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const char *in_folder(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct object *open_object(const char *name)
{
	struct object *object = NULL;
	struct err *err = object_open(in_folder(name), &object);
	if (err)
		fail_msg("%s: %s", name, err_message(err));
	return object;
}

static void assert_refused(const char *path, const char *text)
{
	struct object *object = NULL;
	_cleanup_(err_destroyp) struct err *err = object_open(path, &object);
	assert_non_null(err);
	assert_null(object);
	if (!strstr(err_message(err), text))
		fail_msg("'%s' does not say '%s'", err_message(err), text);
}

static struct object_symbol symbol_of(struct object *object, const char *name)
{
	struct object_symbol symbol = {};
	if (!object_symbol(object, name, &symbol))
		fail_msg("no symbol %s in %s", name, object_path(object));
	assert_string_equal(symbol.name, name);
	return symbol;
}

static void assert_place(struct object *object, const char *function,
			 const char *file, unsigned line)
{
	const char *found = NULL;
	unsigned found_line = 0;
	struct object_symbol symbol = symbol_of(object, function);
	if (!object_function_place(object, symbol.value, &found, &found_line))
		fail_msg("no place of %s in %s", function, object_path(object));
	assert_int_equal(found[0], '/');
	if (!str_ends(found, file))
		fail_msg("%s: %s is not in %s", function, found, file);
	assert_int_equal(found_line, line);
}

static struct object_signature signature_of(struct object *object,
					    const char *function)
{
	struct object_signature signature = {};
	struct object_symbol symbol = symbol_of(object, function);
	if (!object_function_signature(object, symbol.value, &signature))
		fail_msg("no signature of %s", function);
	return signature;
}

static uint64_t offset_of(struct object *object, const char *type,
			  const char *member)
{
	uint64_t offset = 0;
	if (!object_member_offset(object, type, member, &offset))
		fail_msg("no %s in %s of %s", member, type,
			 object_path(object));
	return offset;
}

/* ---- C ---- */

static const char c_header[] =
	"struct widget { int id; struct { short lo, "
	"hi; } range; char name[8]; };\n"
	"static inline int twice(int a) { return 2*a; }\n";
static const char c_source[] =
	"#include \"widget.h\"\n"			  /* 1 */
	"typedef struct { long a; double b; } plain_t;\n" /* 2 */
	"plain_t plain; struct widget widget = { 1 };\n"  /* 3 */
	"static int hidden(int a) { return a + 1; } "
	"__attribute__((visibility(\"hidden\"))) int dropped(void) "
	"{ return 0; }\n"					  /* 4 */
	"void test_one() { hidden(1); }\n"			  /* 5 */
	"int test_two(const char *a, ...) { return *a; }\n"	  /* 6 */
	"char *test_three(void) { return widget.name; }\n"	  /* 7 */
	"typedef _Bool truth; truth test_four(long a)\n"	  /* 8 */
	"{ return a; }\n"					  /* 9 */
	"static inline __attribute__((always_inline))\n"	  /* 10 */
	"int test_inlined(int a) { return a * 3; }\n"		  /* 11 */
	"__attribute__((noinline)) static int kept(int a)\n"	  /* 12 */
	"{ __asm__(\"\" : \"+r\"(a)); return a; }\n"		  /* 13 */
	"int main(int argc, char **argv)\n"			  /* 14 */
	"{\n"							  /* 15 */
	"	(void)argv; test_one();\n"			  /* 16 */
	"	return kept(test_inlined(argc)) + twice(argc);\n" /* 17 */
	"}\n";

struct collected {
	unsigned n;
	char name[64];
	char file[256];
	unsigned line;
};

static bool collect_inlined(void *data, const char *name, const char *file,
			    unsigned line)
{
	struct collected *collected = data;
	collected->n++;
	snprintf(collected->name, sizeof(collected->name), "%s", name);
	snprintf(collected->file, sizeof(collected->file), "%s",
		 file ? file : "");
	collected->line = line;
	return true;
}

static void check_c(struct object *object)
{
	const struct object_facts *facts = object_facts(object);
	assert_true(facts->elf && facts->native && facts->executable);
	assert_true(facts->debug);
	assert_false(facts->asan || facts->tsan);

	assert_place(object, "test_one", "/sub/c.c", 5);
	assert_place(object, "test_two", "/sub/c.c", 6);
	assert_place(object, "test_four", "/sub/c.c", 8);
	assert_place(object, "main", "/sub/c.c", 14);

	struct object_signature one = signature_of(object, "test_one");
	assert_true(one.returns_void && !one.variadic && !one.parameters);
	struct object_signature two = signature_of(object, "test_two");
	assert_true(two.returns_integer && two.variadic);
	assert_int_equal(two.parameters, 1);
	struct object_signature three = signature_of(object, "test_three");
	assert_true(three.returns_pointer && !three.parameters);
	struct object_signature four = signature_of(object, "test_four");
	assert_true(four.returns_integer && !four.returns_void);
	assert_int_equal(four.parameters, 1);

	assert_int_equal(offset_of(object, "widget", "name"), 8);
	assert_int_equal(offset_of(object, "widget", "range.hi"), 6);
	assert_int_equal(offset_of(object, "plain_t", "b"), 8);
	uint64_t size = 0;
	assert_true(object_type_size(object, "widget", &size));
	assert_int_equal(size, 16);
	assert_true(object_type_size(object, "plain_t", &size));
	assert_int_equal(size, 16);
	assert_false(object_type_size(object, "gadget", &size));
	assert_false(object_member_offset(object, "widget", "none", &size));
	assert_false(object_member_offset(object, "widget", "id.x", &size));
	assert_false(object_member_offset(object, "widget", "", &size));
	assert_false(object_member_offset(object, "widget", ".", &size));

	struct collected collected = {};
	object_each_inlined(object, (const char *const[]){ "test_*", NULL },
			    collect_inlined, &collected);
	assert_int_equal(collected.n, 1);
	assert_string_equal(collected.name, "test_inlined");
	assert_true(str_ends(collected.file, "/sub/c.c"));
	/* The compilers differ on which line of the two it is. */
	assert_in_range(collected.line, 10, 11);
	for (int i = 0; i < 2; i++) {
		const char *place_file;
		unsigned place_line;
		assert_true(object_inlined_place(object, "test_inlined",
						 &place_file, &place_line));
		assert_string_equal(place_file, collected.file);
		assert_int_equal(place_line, collected.line);
		assert_false(object_inlined_place(object, "main", &place_file,
						  &place_line));
	}

	/* Every code address of main has a line in it. */
	struct object_symbol main_symbol = symbol_of(object, "main");
	assert_true(main_symbol.function && !main_symbol.local);
	for (uint64_t i = 0; i < main_symbol.size; i++) {
		const char *file;
		unsigned line;
		struct object_symbol covering;
		assert_true(object_line(object, main_symbol.value + i, &file,
					&line));
		assert_in_range(line, 2, 18);
		assert_true(object_symbol_at(object, main_symbol.value + i,
					     &covering));
		assert_string_equal(covering.name, "main");
	}
	struct object_symbol data = symbol_of(object, "widget");
	assert_true(data.data && !data.function);
	assert_int_equal(data.size, 16);
	struct object_symbol at;
	assert_true(object_symbol_at(object, data.value + 15, &at));
	assert_string_equal(at.name, "widget");

	struct object_symbol none;
	assert_false(object_symbol(object, "test_", &none));
	assert_false(object_symbol(object, "", &none));
	assert_false(object_symbol_at(object, UINT64_MAX, &none));
	const char *file;
	unsigned line;
	assert_false(object_line(object, 0, &file, &line));
	assert_false(object_line(object, UINT64_MAX, &file, &line));
	assert_false(object_function_place(object, data.value, &file, &line));
}

static void test_c(void **state _unused_)
{
	static const char *const flags[] = {
		"-g -O0",
		"-g -O2",
		"-g -gdwarf-4 -O1",
		"-g -gdwarf-5 -O1 -no-pie",
		"-g -gz",
		"-g -gsplit-dwarf -gdwarf-5",
		"-g -gsplit-dwarf -gdwarf-4",
		("-g -ffunction-sections -rdynamic -Wl,--gc-sections"
		 " -Wl,--gc-keep-exported"),
		"-g -static",
	};
	for (size_t c = 0; c < compilers_n; c++) {
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
			if (run("%s %s -Wno-implicit -Iinc sub/c.c -o c.out",
				compilers[c].c, flags[i]) != 0) {
				print_message("SKIPPED %s %s: cannot build\n",
					      compilers[c].c, flags[i]);
				continue;
			}
			print_message("%s %s\n", compilers[c].c, flags[i]);
			_cleanup_(object_closep) struct object *object =
				open_object("c.out");
			check_c(object);
			assert_true(object_facts(object)->symtab);
			assert_int_equal(object_facts(object)->pie,
					 !strstr(flags[i], "-no-pie") &&
						 !strstr(flags[i], "-static"));
			assert_int_equal(object_facts(object)->dynamic,
					 !strstr(flags[i], "-static"));
		}
	}
}

static void test_c_lto(void **state _unused_)
{
	assert_int_equal(run("gcc -g -O2 -flto -Iinc sub/c.c -o lto.out"), 0);
	_cleanup_(object_closep) struct object *object = open_object("lto.out");
	assert_place(object, "main", "/sub/c.c", 14);
	assert_int_equal(offset_of(object, "widget", "range.hi"), 6);
	struct collected collected = {};
	object_each_inlined(object, (const char *const[]){ "test_inl*", NULL },
			    collect_inlined, &collected);
	assert_int_equal(collected.n, 1);
	assert_string_equal(collected.name, "test_inlined");
}

/* The same answers with the debug information in a file of its own. */
static void test_separate(void **state _unused_)
{
	static const char *const ids[] = { "-Wl,--build-id",
					   "-Wl,--build-id=none" };
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		assert_int_equal(
			run("rm -rf .debug; mkdir .debug; "
			    "gcc -g -O1 %s -Iinc sub/c.c -o sep.out && "
			    "objcopy --only-keep-debug sep.out "
			    ".debug/sep.debug && strip sep.out && objcopy "
			    "--add-gnu-debuglink=.debug/sep.debug sep.out",
			    ids[i]),
			0);
		{
			_cleanup_(object_closep) struct object *object =
				open_object("sep.out");
			assert_true(object_facts(object)->symtab);
			check_c(object);
		}
		/* One of another build is not taken. */
		assert_int_equal(run("gcc -g -O2 %s -Iinc sub/c.c -o "
				     ".debug/sep.debug",
				     ids[i]),
				 0);
		_cleanup_(object_closep) struct object *object =
			open_object("sep.out");
		assert_false(object_facts(object)->debug);
	}
}

static void test_stripped(void **state _unused_)
{
	assert_int_equal(run("gcc -g -Iinc sub/c.c -rdynamic -o strip.out && "
			     "strip strip.out"),
			 0);
	_cleanup_(object_closep) struct object *object =
		open_object("strip.out");
	const struct object_facts *facts = object_facts(object);
	assert_true(facts->executable && !facts->symtab && !facts->debug);
	symbol_of(object, "test_one");
	struct object_symbol symbol;
	assert_false(object_symbol(object, "hidden", &symbol));
	const char *file;
	unsigned line;
	struct object_signature signature;
	uint64_t value = symbol_of(object, "main").value;
	assert_false(object_function_place(object, value, &file, &line));
	assert_false(object_function_signature(object, value, &signature));
	struct collected collected = {};
	object_each_inlined(object, (const char *const[]){ "*", NULL },
			    collect_inlined, &collected);
	assert_int_equal(collected.n, 0);
}

static void test_minidebuginfo(void **state _unused_)
{
	if (run("command -v xz >/dev/null") != 0) {
		print_message("xz is not installed\n");
		skip();
	}
	assert_int_equal(
		run("gcc -g -Iinc sub/c.c -o mini.out && objcopy "
		    "--only-keep-debug mini.out mini.debug && objcopy -S "
		    "--remove-section .comment mini.debug mini.none "
		    "2>/dev/null;"
		    " strip --strip-debug mini.debug && rm -f mini.debug.xz && "
		    "xz mini.debug && strip mini.out && objcopy --add-section "
		    ".gnu_debugdata=mini.debug.xz mini.out"),
		0);
	_cleanup_(object_closep) struct object *object =
		open_object("mini.out");
	assert_true(symbol_of(object, "hidden").local);
	assert_true(symbol_of(object, "main").function);
	assert_true(object_facts(object)->symtab);
}

/* ---- C++ ---- */

static const char cxx_header[] =
	"namespace app {\n"
	"struct Base { int base; };\n"
	"template <class T> struct Box { T value; int extra; };\n"
	"class Info : public Base {\n"
	"public:\n"
	"	struct In { int x; union { int u; struct { int p, q; }; }; };\n"
	"	static int shared;\n"
	"	int method(int a) const;\n"
	"	struct Later;\n"
	"	Later *later;\n"
	"	In in_;\n"
	"	const Box<long> box_;\n"
	"	unsigned low : 3, high : 29;\n"
	"	Info();\n"
	"};\n"
	"inline int everywhere(int a) { return a + 1; }\n" /* 16 */
	"}\n";
static const char cxx_source[] =
	"#include \"info.h\"\n"					      /* 1 */
	"int app::Info::shared = 3;\n"				      /* 2 */
	"app::Info::Info() : box_() {}\n"			      /* 3 */
	"int app::Info::method(int a) const { return a + in_.x; }\n"  /* 4 */
	"struct app::Info::Later { long one, two; };\n"		      /* 5 */
	"namespace { struct Hidden { int a, b; }; Hidden hidden; }\n" /* 6 */
	"int call(int (*f)(int), int a) { return f(a); }\n"	      /* 7 */
	"extern \"C\" int main(int argc, char **)\n"		      /* 8 */
	"{\n"							      /* 9 */
	"	app::Info info; app::Info::Later l = { 1, 2 };\n"     /* 10 */
	"	info.later = &l; hidden.b = argc;\n"		      /* 11 */
	"	struct Local { int\n"				      /* 12 */
	"		f(int a) { return a * 5; } } local;\n"	      /* 13 */
	"	return info.method(argc) + local.f(argc) + hidden.b +\n" /* 14 */
	"	       call(app::everywhere, (int)l.two);\n" /* 15 */
	"}\n";

static void test_cxx(void **state _unused_)
{
	static const char *const flags[] = {
		"-g -O0",
		"-g -gdwarf-4 -O0",
		"-g -fdebug-types-section",
		"-g -gsplit-dwarf",
		"-g -gz",
	};
	for (size_t c = 0; c < compilers_n; c++) {
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
			if (run("%s %s -Iinc sub/x.cc -o x.out",
				compilers[c].cxx, flags[i]) != 0) {
				print_message("SKIPPED %s %s: cannot build\n",
					      compilers[c].cxx, flags[i]);
				continue;
			}
			print_message("%s %s\n", compilers[c].cxx, flags[i]);
			_cleanup_(object_closep) struct object *object =
				open_object("x.out");
			assert_place(object, "_ZNK3app4Info6methodEi",
				     "/sub/x.cc", 4);
			assert_place(object, "_ZN3app10everywhereEi",
				     "/inc/info.h", 16);
			assert_place(object, "_ZZ4mainEN5Local1fEi",
				     "/sub/x.cc", 13);
			assert_true(symbol_of(object, "_ZZ4mainEN5Local1fEi")
					    .function);
			struct object_signature method =
				signature_of(object, "_ZNK3app4Info6methodEi");
			assert_int_equal(method.parameters, 2);
			assert_int_equal(method.parameters_size, 16);
			assert_int_equal(method.registers, 2);
			assert_true(method.pointees[0] > 8 && /* this */
				    method.pointees[0] < 4096);
			assert_int_equal(method.pointees[1], 0);
			assert_true(method.returns_integer);

			assert_int_equal(offset_of(object, "app::Info", "base"),
					 0);
			assert_int_equal(
				offset_of(object, "app::Info", "in_.q"), 24);
			assert_int_equal(
				offset_of(object, "app::Info", "box_.extra"),
				40);
			assert_int_equal(offset_of(object, "app::Info", "high"),
					 48);
			assert_int_equal(
				offset_of(object, "app::Info::In", "u"), 4);
			assert_int_equal(
				offset_of(object, "app::Info::Later", "two"),
				8);
			assert_int_equal(
				offset_of(object,
					  "(anonymous namespace)::Hidden", "b"),
				4);
			uint64_t size = 0;
			assert_true(object_type_size(object, "app::Box<long>",
						     &size) ||
				    object_type_size(object,
						     "app::Box<long int>",
						     &size));
			assert_int_equal(size, 16);
			/* A static member has no place in the object. */
			assert_false(object_member_offset(object, "app::Info",
							  "shared", &size));
			assert_false(object_type_size(object, "Info", &size));
		}
	}
}

/* ---- symbols ---- */

struct counted {
	const char *name;
	unsigned n;
	uint64_t value;
};

static bool count_symbol(void *data, const struct object_symbol *symbol)
{
	struct counted *counted = data;
	if (!strcmp(symbol->name, counted->name)) {
		counted->n++;
		counted->value = symbol->value;
	}
	return true;
}

static bool stop_at_once(void *data,
			 const struct object_symbol *symbol _unused_)
{
	++*(unsigned *)data;
	return false;
}

static void test_symbols(void **state _unused_)
{
	write_file("one.c", "static int f(void) { return 1; }\n"
			    "int one(void) { return f(); }\n");
	write_file("two.c", "int f(void) { return 2; }\n"
			    "__thread int per_thread; int used;\n"
			    "int main(void) { return f(); }\n");
	write_file("three.c", "static int f(void) { return 3; }\n"
			      "int three(void) { return f(); }\n");
	assert_int_equal(run("gcc -O0 -fno-builtin -rdynamic one.c two.c "
			     "three.c -o symbols.out"),
			 0);
	_cleanup_(object_closep) struct object *object =
		open_object("symbols.out");
	/* One global in both tables, two local ones. */
	struct counted counted = { .name = "f" };
	object_each_symbol(object, count_symbol, &counted);
	assert_int_equal(counted.n, 3);
	assert_false(symbol_of(object, "f").local);
	counted = (struct counted){ .name = "main" };
	object_each_symbol(object, count_symbol, &counted);
	assert_int_equal(counted.n, 1);
	assert_int_equal(symbol_of(object, "main").value, counted.value);
	struct object_symbol symbol;
	assert_false(object_symbol(object, "per_thread", &symbol));
	assert_false(object_symbol(object, "__libc_start_main", &symbol));
	assert_false(object_symbol(object, "two.c", &symbol));
	unsigned seen = 0;
	object_each_symbol(object, stop_at_once, &seen);
	assert_int_equal(seen, 1);
}

static void test_versions(void **state _unused_)
{
	write_file("v.c", "__asm__(\".symver old,f@V1\");\n"
			  "__asm__(\".symver new,f@@V2\");\n"
			  "int old(void) { return 1; }\n"
			  "int new(void) { return 2; }\n"
			  "static int chosen(void) { return 3; }\n"
			  "static void *pick(void) { return chosen; }\n"
			  "int g(void) __attribute__((ifunc(\"pick\")));\n");
	write_file("v.map", "V1 { global: f; g; local: *; }; V2 { f; } V1;\n");
	assert_int_equal(run("gcc -shared -fPIC v.c -Wl,--version-script=v.map "
			     "-o v.so"),
			 0);
	for (int i = 0; i < 2; i++) {
		_cleanup_(object_closep) struct object *object =
			open_object("v.so");
		assert_false(object_facts(object)->executable);
		struct object_symbol f = symbol_of(object, "f");
		struct object_symbol at;
		if (!i) {
			assert_int_equal(f.value,
					 symbol_of(object, "new").value);
			assert_true(object_symbol_at(object, f.value, &at));
		}
		struct counted counted = { .name = "f" };
		object_each_symbol(object, count_symbol, &counted);
		assert_int_equal(counted.n, 2);
		struct object_symbol g = symbol_of(object, "g");
		assert_true(g.ifunc && g.function);
		assert_int_equal(run("strip v.so"), 0);
	}
}

static void test_sanitizers(void **state _unused_)
{
	static const struct {
		const char *flag;
		bool asan, tsan;
	} cases[] = {
		{ "-fsanitize=address", true, false },
		{ "-fsanitize=address -static-libasan", true, false },
		{ "-fsanitize=thread", false, true },
	};
	write_file("s.c", "int main(void) { return 0; }\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (run("gcc %s s.c -o s.out 2>/dev/null", cases[i].flag)) {
			print_message("SKIPPED %s\n", cases[i].flag);
			continue;
		}
		_cleanup_(object_closep) struct object *object =
			open_object("s.out");
		assert_int_equal(object_facts(object)->asan, cases[i].asan);
		assert_int_equal(object_facts(object)->tsan, cases[i].tsan);
	}
}

/* ---- bad input ---- */

static void test_refused(void **state _unused_)
{
	assert_refused("/proc/nonexistent/file", "No such file");
	assert_refused("/tmp", "a folder");
	assert_refused("/dev/null", "a special file");
	write_file("script", "#!/bin/sh\n");
	assert_refused(in_folder("script"), "a script");
	write_file("empty", "");
	assert_refused(in_folder("empty"), "not an ELF file");
	write_file("magic", "\177ELF");
	assert_refused(in_folder("magic"), "not an ELF file");
	assert_int_equal(run("mkfifo pipe"), 0);
	assert_refused(in_folder("pipe"), "a special file");
	write_file("o.c", "int x;\n");
	assert_int_equal(run("gcc -c o.c -o o.o"), 0);
	assert_refused(in_folder("o.o"), "neither a program");
	assert_int_equal(run("cp o.o arm.o && printf '\\267' | dd of=arm.o "
			     "bs=1 seek=18 conv=notrunc 2>/dev/null"),
			 0);
	assert_refused(in_folder("arm.o"), "AArch64");
}

static void test_probe(void **state _unused_)
{
	struct object_facts facts;
	assert_int_equal(run("gcc sub/c.c -Iinc -o p.out && gcc -static-pie "
			     "sub/c.c -Iinc -o sp.out"),
			 0);
	assert_null(object_probe(in_folder("p.out"), &facts));
	assert_true(facts.elf && facts.native && facts.pie && facts.dynamic &&
		    facts.executable && facts.entry);
	assert_null(object_probe(in_folder("sp.out"), &facts));
	assert_true(facts.pie && !facts.dynamic && facts.executable);
	write_file("script", "#!/bin/sh\n");
	assert_null(object_probe(in_folder("script"), &facts));
	assert_true(facts.script && !facts.elf);
	write_file("short", "\177ELF\2\1");
	assert_null(object_probe(in_folder("short"), &facts));
	assert_false(facts.elf);
}

static bool ask_about(void *data, const struct object_symbol *symbol)
{
	struct object *object = data;
	const char *file;
	unsigned line;
	struct object_signature signature;
	struct object_symbol at;
	object_symbol_at(object, symbol->value, &at);
	object_line(object, symbol->value, &file, &line);
	object_function_place(object, symbol->value, &file, &line);
	object_function_signature(object, symbol->value, &signature);
	return true;
}

/* Cut short and with bytes changed: any answer, but an answer. */
static void test_damaged(void **state _unused_)
{
	assert_int_equal(run("gcc -g -Iinc sub/c.c -o d.out"), 0);
	char path[256];
	snprintf(path, sizeof(path), "%s", in_folder("d.out"));
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	static unsigned char bytes[1 << 17], copy[1 << 17];
	size_t n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	unsigned seed = 1;
	for (int round = 0; round < 300; round++) {
		size_t length = round % 3 ? n : (size_t)rand_r(&seed) % n;
		memcpy(copy, bytes, n);
		for (int i = 0; i < round % 20; i++)
			copy[(size_t)rand_r(&seed) % n] =
				(unsigned char)rand_r(&seed);
		file = fopen(in_folder("d2.out"), "we");
		assert_non_null(file);
		fwrite(copy, 1, length, file);
		fclose(file);
		_cleanup_(object_closep) struct object *object = NULL;
		struct err *err = object_open(in_folder("d2.out"), &object);
		if (err) {
			err_destroy(err);
			continue;
		}
		object_each_symbol(object, ask_about, object);
		uint64_t value;
		object_member_offset(object, "widget", "range.hi", &value);
		struct collected collected = {};
		object_each_inlined(object, (const char *const[]){ "*", NULL },
				    collect_inlined, &collected);
	}
}

/* ---- size ---- */

static void test_large(void **state _unused_)
{
	FILE *file = fopen(in_folder("large.s"), "we");
	assert_non_null(file);
	for (int i = 0; i < 100000; i++)
		fprintf(file,
			".globl test_%d\n.type test_%d,@function\n"
			"test_%d: ret\n.size test_%d,1\n",
			i, i, i, i);
	fputs(".globl main\nmain: ret\n"
	      ".section .note.GNU-stack,\"\",@progbits\n",
	      file);
	fclose(file);
	assert_int_equal(run("gcc -x assembler large.s -o large.out"), 0);
	_cleanup_(object_closep) struct object *object =
		open_object("large.out");
	for (int i = 0; i < 100000; i += 7) {
		char name[32];
		struct object_symbol at;
		snprintf(name, sizeof(name), "test_%d", i);
		struct object_symbol symbol = symbol_of(object, name);
		assert_true(object_symbol_at(object, symbol.value, &at));
		assert_string_equal(at.name, name);
	}
}

/* ---- */

static int setup(void **state _unused_)
{
	if (!mkdtemp(folder))
		return -1;
	const char *own = getenv("CC");
	const char *own_cxx = getenv("CXX");
	if (own && *own && own_cxx && *own_cxx && strcmp(own, "gcc") &&
	    strcmp(own, "clang")) {
		compilers[compilers_n].c = own;
		compilers[compilers_n++].cxx = own_cxx;
	}
	static const char *const known[][2] = { { "gcc", "g++" },
						{ "clang", "clang++" } };
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (run("command -v %s %s >/dev/null", known[i][0],
			known[i][1]) != 0) {
			print_message("SKIPPED: no %s\n", known[i][0]);
			continue;
		}
		compilers[compilers_n].c = known[i][0];
		compilers[compilers_n++].cxx = known[i][1];
	}
	if (run("mkdir inc sub") != 0)
		return -1;
	write_file("inc/widget.h", c_header);
	write_file("inc/info.h", cxx_header);
	write_file("sub/c.c", c_source);
	write_file("sub/x.cc", cxx_source);
	return 0;
}

static int teardown(void **state _unused_)
{
	if (getenv("POLYGRAPH_KEEP")) {
		print_message("kept: %s\n", folder);
		return 0;
	}
	return run("rm -rf %s", folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_c_lto),
		cmocka_unit_test(test_separate),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_minidebuginfo),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_sanitizers),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_large),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
