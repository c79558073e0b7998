/*
 * Programs built at run time, their variables and types looked at. Compilers:
 * those of gcc and clang that are there; what is missing is said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/str.h"
#include "dwarf/index.h"
#include "unit.h"

static char folder[] = "/tmp/polygraph-index-XXXXXX";
static const char *compilers[2][2];
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

/* A program opened with everything in it. */
struct loaded {
	struct object *object;
	struct type_pool *pool;
	struct index_variables *index;
};

static void unload(struct loaded *loaded)
{
	index_destroy(loaded->index);
	type_pool_destroy(loaded->pool);
	object_close(loaded->object);
}

static void check_pool(const struct loaded *loaded);

static struct loaded load_cached(const char *name, const char *cache)
{
	char path[256], cache_path[256];
	struct loaded loaded = {};
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (cache)
		snprintf(cache_path, sizeof(cache_path), "%s/%s", folder,
			 cache);
	assert_ok(object_open(path, &loaded.object));
	assert_ok(type_pool_create(&loaded.pool));
	assert_ok(index_load(loaded.object, cache ? cache_path : NULL,
			     loaded.pool, &loaded.index));
	check_pool(&loaded);
	return loaded;
}

static struct loaded load(const char *name)
{
	return load_cached(name, NULL);
}

/* ---- asking ---- */

static const struct variable *find(const struct loaded *loaded,
				   const char *name)
{
	const struct variable *found = NULL;
	for (size_t i = 0; i < loaded->index->variables.n; i++) {
		const struct variable *variable =
			&loaded->index->variables.data[i];
		if (strcmp(variable->name, name))
			continue;
		if (found)
			fail_msg("%s is there twice", name);
		found = variable;
	}
	return found;
}

static const struct variable *get(const struct loaded *loaded, const char *name)
{
	const struct variable *variable = find(loaded, name);
	if (variable)
		return variable;
	for (size_t i = 0; i < loaded->index->variables.n; i++)
		print_message("there is %s\n",
			      loaded->index->variables.data[i].name);
	fail_msg("no variable %s", name);
	return NULL;
}

static const struct type *type_of(const struct loaded *loaded, const char *name)
{
	return type_get(loaded->pool, get(loaded, name)->type);
}

static const struct type *named(const struct loaded *loaded, const char *name)
{
	type_id id = type_by_name(loaded->pool, name);
	if (!id)
		fail_msg("no type %s", name);
	const struct type *type = type_get(loaded->pool, id);
	assert_string_equal(type->name, name);
	return type;
}

static const struct type_member *member(const struct type *type,
					const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		if (!strcmp(type->members[i].name, name))
			return &type->members[i];
	}
	fail_msg("no member %s in %s", name, type->name);
	return NULL;
}

static void assert_member(const struct loaded *loaded, const struct type *type,
			  const char *name, uint64_t offset, const char *what)
{
	const struct type_member *found = member(type, name);
	char text[256];
	type_describe(loaded->pool, found->type, text, sizeof(text));
	assert_int_equal(found->offset, offset);
	assert_string_equal(text, what);
	assert_int_equal(found->bit_size, 0);
}

static void assert_bits(const struct type *type, const char *name,
			unsigned first, unsigned size)
{
	const struct type_member *found = member(type, name);
	assert_int_equal(found->offset * 8 + found->bit_offset, first);
	assert_in_range(found->bit_offset, 0, 7);
	assert_int_equal(found->bit_size, size);
}

static void assert_type(const struct loaded *loaded, const char *name,
			const char *what, uint64_t size)
{
	const struct variable *variable = get(loaded, name);
	char text[256];
	type_describe(loaded->pool, variable->type, text, sizeof(text));
	if (strcmp(text, what))
		fail_msg("%s is '%s', not '%s'", name, text, what);
	assert_int_equal(variable->size, size);
}

static void assert_declared(const struct loaded *loaded, const char *name,
			    const char *file, unsigned line)
{
	const struct variable *variable = get(loaded, name);
	assert_non_null(variable->file);
	assert_int_equal(variable->file[0], '/');
	if (!str_ends(variable->file, file))
		fail_msg("%s is in %s, not %s", name, variable->file, file);
	assert_int_equal(variable->line, line);
}

/* The rules of type.h, for everything in the pool. */
static void check_pool(const struct loaded *loaded)
{
	size_t n = type_count(loaded->pool);
	for (size_t i = 0; i < n; i++) {
		const struct type *type = type_get(loaded->pool, (type_id)i);
		assert_true(type->name && type->align && type->target < n);
		assert_int_equal(type->align & (type->align - 1), 0);
		uint64_t last = 0;
		for (uint32_t j = 0; j < type->n_members; j++) {
			const struct type_member *part = &type->members[j];
			assert_true(part->name && part->type < n);
			assert_true(part->offset >= last);
			last = part->offset;
			const struct type *what =
				type_get(loaded->pool, part->type);
			uint64_t size = part->bit_size
						? (part->bit_size + 7u) / 8
						: what->size;
			if (!part->virtual_base)
				assert_true(part->offset + size <= type->size);
		}
		for (uint32_t j = 0; j < type->n_arguments; j++)
			assert_true(type->arguments[j].type < n);
		if (type->kind == TYPE_ARRAY && type->count != TYPE_NO_COUNT)
			assert_int_equal(type->size,
					 type->count * type_get(loaded->pool,
								type->target)
							       ->size);
	}
	const struct variable *before = NULL;
	for (size_t i = 0; i < loaded->index->variables.n; i++) {
		const struct variable *variable =
			&loaded->index->variables.data[i];
		assert_true(variable->name && *variable->name);
		assert_true(variable->type < n);
		assert_true(variable->unit < loaded->index->units.n);
		if (before &&
		    !((before->flags ^ variable->flags) & VARIABLE_TLS))
			assert_true(before->address < variable->address);
		before = variable;
	}
}

/* ---- C ---- */

static const char c_source[] =
	"#include <wchar.h>\n"						 /* 1 */
	"#include <uchar.h>\n"						 /* 2 */
	"struct later; struct hidden;\n"				 /* 3 */
	"struct node { struct node *next, **all; struct later *later;\n" /* 4 */
	"  struct hidden *hidden; union { int i; char *s; } u;\n"	 /* 5 */
	"  unsigned a : 3, b : 5, c : 12; signed long d : 40; };\n"	 /* 6 */
	"typedef struct { int x, y; double z; } point;\n"		 /* 7 */
	"enum color { RED = 1, GREEN = -2, BLUE = 200 };\n"		 /* 8 */
	"struct node head;\n"						 /* 9 */
	"static point points[3][4];\n"			   /* 10 */
	"enum color color = BLUE;\n"			   /* 11 */
	"struct flexible { int n; char data[]; };\n"	   /* 12 */
	"struct flexible flexible = { 3, \"abcdefg\" };\n" /* 13 */
	"_Thread_local int tls = 3; static _Thread_local point tls_point;\n"
	"_Atomic int atomic; const int constant = 3;\n" /* 15 */
	"int (*function)(int); void *nothing; const char *text = \"x\";\n"
	"char buffer[10]; long double ld; _Complex double complex_;\n" /* 17 */
	"unsigned __int128 big; unsigned char uc; signed char sc;\n"   /* 18 */
	"wchar_t wide; char16_t sixteen; _Bool truth; float single;\n" /* 19 */
	"struct { int outer; struct { int in; }; char last; } nameless;\n"
	"struct { int n; int rest[0]; } zero;\n"		       /* 21 */
	"struct __attribute__((packed)) { char c; long l; } packed;\n" /* 22 */
	"volatile const int *volatile pointer;\n"		       /* 23 */
	"const char *const names[2] = { \"a\", \"b\" };\n"	       /* 24 */
	"int count(int i) {\n"					       /* 25 */
	"  static int last; static point where;\n"		       /* 26 */
	"  where.x += i; last += where.x + where.y++ + (int)where.z++;\n" /* 27 */
	"  { static long deep; deep += last; }\n"		/* 27 */
	"  return last; }\n"					/* 28 */
	"static inline int inlined(void) { static int calls;\n" /* 29 */
	"  return ++calls; }\n"					/* 30 */
	"int other(void);\n"					/* 31 */
	"int main(int argc, char **argv) {\n"			/* 32 */
	"  (void)argv; points[argc][1].x = argc; tls_point.x = argc;\n"
	"  function = count;\n" /* 34 */
	"  return inlined() + points[1][argc].y + head.a + tls_point.x\n"
	"         + other() + names[argc][0] + constant; }\n";
static const char c_other[] =
	"struct later { long one; struct later *more; };\n"
	"struct local { int a; char b[4]; };\n" /* the same name, not the same */
	"static struct local mine = { 1, \"abc\" }; struct later later;\n"
	"int other(void) { static int last = 5; return last++ + mine.a++; }\n";

static void check_base_types(const struct loaded *loaded)
{
	static const struct {
		const char *name;
		enum type_kind kind;
		uint64_t size;
	} expected[] = {
		{ "atomic", TYPE_SIGNED, 4 },
		{ "ld", TYPE_FLOAT, 16 },
		{ "complex_", TYPE_COMPLEX, 16 },
		{ "big", TYPE_UNSIGNED, 16 },
		{ "uc", TYPE_UNSIGNED, 1 },
		{ "sc", TYPE_SIGNED, 1 },
		{ "wide", TYPE_CHAR, 4 },
		{ "sixteen", TYPE_CHAR, 2 },
		{ "truth", TYPE_BOOL, 1 },
		{ "single", TYPE_FLOAT, 4 },
		{ "nothing", TYPE_POINTER, 8 },
		{ "function", TYPE_POINTER, 8 },
		{ "color", TYPE_ENUM, 4 },
		{ "packed", TYPE_STRUCT, 9 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct type *type = type_of(loaded, expected[i].name);
		if (type->kind != expected[i].kind)
			fail_msg("%s is of kind %d", expected[i].name,
				 type->kind);
		assert_int_equal(type->size, expected[i].size);
		assert_int_equal(get(loaded, expected[i].name)->size,
				 expected[i].size);
	}
	const struct type *target =
		type_get(loaded->pool, type_of(loaded, "function")->target);
	assert_int_equal(target->kind, TYPE_CODE);
	target = type_get(loaded->pool, type_of(loaded, "nothing")->target);
	assert_int_equal(target->kind, TYPE_VOID);
	assert_int_equal(type_of(loaded, "packed")->align, 1);
	assert_int_equal(named(loaded, "char")->kind, TYPE_CHAR);

	const struct type *color = type_of(loaded, "color");
	assert_string_equal(color->name, "color");
	assert_int_equal(color->n_enumerators, 3);
	assert_string_equal(color->enumerators[1].name, "GREEN");
	assert_int_equal(color->enumerators[1].value, -2);
	assert_int_equal(color->enumerators[2].value, 200);
}

static void check_c_structs(const struct loaded *loaded)
{
	const struct type *node = named(loaded, "node");
	assert_int_equal(node->size, 48);
	assert_int_equal(node->align, 8);
	assert_member(loaded, node, "next", 0, "node *");
	assert_member(loaded, node, "all", 8, "node **");
	assert_member(loaded, node, "later", 16, "later *");
	assert_member(loaded, node, "u", 32, "union {…}");
	assert_bits(node, "a", 320, 3);
	assert_bits(node, "b", 323, 5);
	assert_bits(node, "c", 328, 12);
	assert_bits(node, "d", 340, 40);
	/* Declared here, defined in the other unit; and nowhere. */
	assert_member(loaded, named(loaded, "later"), "more", 8, "later *");
	const struct type *hidden = type_get(
		loaded->pool,
		type_get(loaded->pool, member(node, "hidden")->type)->target);
	assert_int_equal(hidden->kind, TYPE_OPAQUE);
	assert_string_equal(hidden->name, "hidden");

	/* A name by its typedef, an array of arrays. */
	assert_member(loaded, named(loaded, "point"), "z", 8, "double");
	assert_type(loaded, "points", "point[3][4]", 192);
	const struct type *row =
		type_get(loaded->pool, type_of(loaded, "points")->target);
	assert_int_equal(row->count, 4);
	assert_int_equal(row->size, 64);

	/* Flexible and empty arrays; what is initialised is really there. */
	const struct type *flexible = named(loaded, "flexible");
	assert_int_equal(flexible->size, 4);
	const struct type *data =
		type_get(loaded->pool, member(flexible, "data")->type);
	assert_int_equal(data->kind, TYPE_ARRAY);
	assert_int_equal(data->count, TYPE_NO_COUNT);
	assert_int_equal(get(loaded, "flexible")->size, 12);
	data = type_get(loaded->pool,
			member(type_of(loaded, "zero"), "rest")->type);
	assert_int_equal(data->count, TYPE_NO_COUNT);

	const struct type *nameless = type_of(loaded, "nameless");
	assert_string_equal(nameless->name, "");
	assert_member(loaded, nameless, "", 4, "struct {…}");
	assert_member(loaded, nameless, "last", 8, "char");
	assert_type(loaded, "text", "char *", 8);
	assert_type(loaded, "pointer", "int *", 8);
	assert_type(loaded, "buffer", "char[10]", 10);
}

/* @atomic: DWARF 4 has no way to say so. */
static void check_c(const struct loaded *loaded, bool optimised, bool atomic)
{
	assert_true(loaded->index->debug);
	check_base_types(loaded);
	check_c_structs(loaded);
	assert_declared(loaded, "head", "/sub/c.c", 9);
	assert_declared(loaded, "points", "/sub/c.c", 10);
	assert_declared(loaded, "inlined::calls", "/sub/c.c", 30);
	assert_declared(loaded, "count::deep", "/sub/c.c", 28);
	assert_type(loaded, "count::last", "int", 4);
	const struct variable *rest = find(loaded, "count::where.z");
	if (!rest)
		assert_type(loaded, "count::where", "point", 16);
	else /* clang -O2 */
		assert_type(loaded, "count::where.z", "double", 8);
	assert_type(loaded, "other::last", "int", 4);
	assert_int_equal(get(loaded, "head")->flags, 0);
	assert_int_equal(get(loaded, "points")->flags, VARIABLE_LOCAL);
	assert_int_equal(get(loaded, "count::last")->flags, VARIABLE_LOCAL);
	assert_int_equal(get(loaded, "tls")->flags, VARIABLE_TLS);
	assert_true(!strcmp(get(loaded, "head")->symbol, "head"));
	if (!optimised) {
		assert_int_equal(get(loaded, "tls_point")->flags,
				 VARIABLE_TLS | VARIABLE_LOCAL);
		assert_int_equal(get(loaded, "tls_point")->size, 16);
	}
	if (atomic)
		assert_true(type_of(loaded, "atomic")->flags & TYPE_ATOMIC);
	/* Each from its own source file. */
	const char *unit = loaded->index->units.data[get(loaded, "head")->unit];
	assert_true(str_ends(unit, "/sub/c.c"));
	unit = loaded->index->units.data[get(loaded, "later")->unit];
	assert_true(str_ends(unit, "/sub/other.c"));
	/* Never written, or not there: no roots. */
	assert_null(find(loaded, "constant"));
	assert_null(find(loaded, "names"));
	assert_null(find(loaded, "argc"));
	/* Nothing of compiler and linker. */
	for (size_t i = 0; i < loaded->index->variables.n; i++) {
		const struct variable *variable =
			&loaded->index->variables.data[i];
		if (variable->flags & VARIABLE_UNTYPED)
			fail_msg("%s has no type", variable->name);
	}
	/* The places are those of the symbols. */
	struct object_symbol symbol;
	assert_true(object_symbol(loaded->object, "head", &symbol));
	assert_int_equal(get(loaded, "head")->address, symbol.value);
}

static void test_c(void **state _unused_)
{
	static const char *const flags[] = {
		"-g -O0",
		"-g -O2",
		"-g -gdwarf-4 -O2",
		"-g -gdwarf-5 -O1 -no-pie",
		"-g -gz",
		"-g -gsplit-dwarf -gdwarf-5",
		"-g -gsplit-dwarf -gdwarf-4",
	};
	for (size_t c = 0; c < compilers_n; c++) {
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
			if (run("%s %s -w sub/c.c sub/other.c -o c.out",
				compilers[c][0], flags[i]) != 0) {
				print_message("SKIPPED %s %s: cannot build\n",
					      compilers[c][0], flags[i]);
				continue;
			}
			print_message("%s %s\n", compilers[c][0], flags[i]);
			_cleanup_(unload) struct loaded loaded = load("c.out");
			check_c(&loaded, !strstr(flags[i], "-O0"),
				!strstr(flags[i], "dwarf-4"));
		}
	}
}

/* What the linker dropped is not taken for what lies at its place now. */
static void test_dropped(void **state _unused_)
{
	for (size_t c = 0; c < compilers_n; c++) {
		assert_int_equal(run("%s -g -w -fdata-sections "
				     "-ffunction-sections -Wl,--gc-sections "
				     "sub/c.c sub/other.c -o dropped.out",
				     compilers[c][0]),
				 0);
		_cleanup_(unload) struct loaded loaded = load("dropped.out");
		assert_null(find(&loaded, "tls"));
		assert_null(find(&loaded, "zero"));
		assert_null(find(&loaded, "later"));
		assert_type(&loaded, "tls_point", "point", 16);
		assert_type(&loaded, "head", "node", 48);
		assert_type(&loaded, "count::last", "int", 4);
	}
}

static void test_lto(void **state _unused_)
{
	for (size_t c = 0; c < compilers_n; c++) {
		if (run("%s -g -w -O2 -flto sub/c.c sub/other.c -o lto.out",
			compilers[c][0]) != 0) {
			print_message("SKIPPED %s -flto: cannot build\n",
				      compilers[c][0]);
			continue;
		}
		_cleanup_(unload) struct loaded loaded = load("lto.out");
		assert_type(&loaded, "points", "point[3][4]", 192);
		assert_declared(&loaded, "points", "/sub/c.c", 10);
		const struct variable *points = get(&loaded, "points");
		const char *unit = loaded.index->units.data[points->unit];
		assert_true(str_ends(unit, "/sub/c.c"));
	}
}

/* ---- C++ ---- */

static const char cxx_header[] =
	"#include <cstddef>\n"					      /* 1 */
	"#include <string>\n"					      /* 2 */
	"#include <vector>\n"					      /* 3 */
	"namespace app {\n"					      /* 4 */
	"inline namespace v1 { inline int everywhere = 3; }\n"	      /* 5 */
	"template <class T> struct Box { T value; static T shared;\n" /* 6 */
	"  static inline int count; };\n"			      /* 7 */
	"template <class T> T Box<T>::shared;\n"		      /* 8 */
	"inline int next() { static int last = 7;\n"		      /* 9 */
	"  static std::string text(\"a\"); return ++last + (int)text.size(); "
	"}\n"
	"struct A { virtual ~A(); long a; };\n"		       /* 11 */
	"struct B : virtual A { int b; virtual void f(); };\n" /* 12 */
	"struct C : virtual A { int c; };\n"		       /* 13 */
	"struct Plain { short p; };\n"			       /* 14 */
	"struct D : B, C, Plain { int d; std::nullptr_t null; int A::*data;\n"
	"  void (B::*code)(); D(); };\n"			     /* 16 */
	"template <int N, class... T> struct Pack { int items[N];\n" /* 17 */
	"  virtual ~Pack() {} };\n"				     /* 18 */
	"class Cache { public: static Cache *instance_;\n"	     /* 19 */
	"  static thread_local int depth; struct Entry; Entry *first;\n" /* 20 */
	"  enum class Mode : unsigned char { on = 1, off = 255 } mode;\n"
	"  int &reference; int &&moved; Cache(int &r);\n" /* 22 */
	"  union { int number; float real; }; };\n"	  /* 23 */
	"}\n";
static const char cxx_source[] =
	"#include \"app.h\"\n"						/* 1 */
	"#include <atomic>\n"						/* 2 */
	"#include <new>\n"						/* 3 */
	"app::A::~A() {} void app::B::f() {} app::D::D() {}\n"		/* 4 */
	"struct app::Cache::Entry { int key; std::string value; };\n"	/* 5 */
	"app::Cache::Cache(int &r) : first(new Entry), reference(r),\n" /* 6 */
	"  moved((int &&)r) {}\n"					/* 7 */
	"app::Cache *app::Cache::instance_;\n"				/* 8 */
	"thread_local int app::Cache::depth;\n"				/* 9 */
	"namespace { struct Hidden { int h; } hidden; \n"		/* 10 */
	"const std::string constant = \"dynamic\"; }\n"			/* 11 */
	"std::vector<std::string> table;\n"				/* 12 */
	"app::D d; app::Pack<3, int, char> pack;\n"			/* 13 */
	"std::atomic<int> atomic; static bool *flag; char8_t *eight;\n" /* 14 */
	"typedef struct { int t; } Named; Named by_typedef;\n"		/* 15 */
	"extern int other();\n"						/* 16 */
	"struct Meter { int read() { static int reads; return ++reads; } };\n"
	"template <class T> T twice(T t) { static T kept; return kept += t; }\n"
	"int main(int argc, char **argv) {\n" /* 19 */
	"  struct Local { virtual int f() { static int in; return ++in; } };\n"
	"  Local local, *volatile l = &local; hidden.h = argc; Meter meter;\n"
	"  app::Box<int>::shared++; app::Box<long>::count += argc;\n" /* 22 */
	"  app::Cache::instance_ = new app::Cache(argc);\n"	      /* 23 */
	"  app::Cache::depth++; table.push_back(argv[++by_typedef.t]);\n" /* 24 */
	"  flag = new bool; eight = 0; atomic++;\n"			/* 25 */
	"  return app::next() + app::everywhere + l->f() + other() +\n" /* 26 */
	"         (int)constant.size() + meter.read() + twice(argc) +\n" /* 27 */
	"         app::Cache::instance_->first->key + by_typedef.t; }\n";
static const char cxx_other[] =
	"#include \"app.h\"\n"
	"namespace { struct Hidden { long other, one; } hidden; }\n"
	"int other() { hidden.one++; return app::next() + ++app::everywhere\n"
	"  + app::Box<int>::shared++ + ++app::Box<int>::count; }\n";

static void check_cxx_types(const struct loaded *loaded)
{
	const struct type *b = named(loaded, "app::B");
	assert_true(b->flags & TYPE_POLYMORPHIC);
	const struct type_member *base = member(b, "");
	assert_true(base->base && base->virtual_base);
	assert_ptr_equal(type_get(loaded->pool, base->type),
			 named(loaded, "app::A"));
	/* The offsets of virtual bases begin before that to the top. */
	assert_int_equal(base->vtable_offset, -24);
	assert_member(loaded, b, "b", 8, "int");

	const struct type *d = named(loaded, "app::D");
	assert_true(d->flags & TYPE_POLYMORPHIC);
	static const struct {
		const char *name;
		uint64_t offset;
	} bases[] = { { "app::B", 0 }, { "app::C", 16 }, { "app::Plain", 28 } };
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		assert_true(d->members[i].base);
		assert_false(d->members[i].virtual_base);
		assert_int_equal(d->members[i].offset, bases[i].offset);
		assert_string_equal(
			type_get(loaded->pool, d->members[i].type)->name,
			bases[i].name);
	}
	assert_int_equal(type_get(loaded->pool, member(d, "data")->type)->kind,
			 TYPE_DATA_MEMBER);
	assert_int_equal(type_get(loaded->pool, member(d, "code")->type)->kind,
			 TYPE_CODE_MEMBER);
	assert_int_equal(type_get(loaded->pool, member(d, "code")->type)->size,
			 16);
	assert_int_equal(type_get(loaded->pool, member(d, "null")->type)->size,
			 8);
	assert_int_equal(d->align, 8);
	assert_false(named(loaded, "app::Plain")->flags & TYPE_POLYMORPHIC);

	/* The vptr is the compiler's. */
	const struct type *a = named(loaded, "app::A");
	assert_true(a->members[0].artificial);
	assert_true(str_starts(a->members[0].name, "_vptr"));
	assert_false(member(a, "a")->artificial);

	const struct type *pack = type_of(loaded, "pack");
	assert_string_equal(pack->name, "app::Pack<3, int, char>");
	assert_int_equal(pack->n_arguments, 3);
	assert_true(pack->arguments[0].is_value);
	assert_int_equal(pack->arguments[0].value, 3);
	assert_false(pack->arguments[2].is_value);
	assert_int_equal(pack->arguments[2].type,
			 type_by_name(loaded->pool, "char"));

	const struct type *cache = named(loaded, "app::Cache");
	const struct type *mode =
		type_get(loaded->pool, member(cache, "mode")->type);
	assert_string_equal(mode->name, "app::Cache::Mode");
	assert_int_equal(mode->size, 1);
	assert_int_equal(mode->enumerators[1].value, 255);
	assert_member(loaded, cache, "reference", 16, "int &");
	assert_member(loaded, cache, "first", 0, "app::Cache::Entry *");
	assert_int_equal(type_get(loaded->pool, member(cache, "")->type)->kind,
			 TYPE_UNION);
	/* Declared in the class, defined outside of it. */
	const struct type *entry = named(loaded, "app::Cache::Entry");
	assert_int_equal(entry->kind, TYPE_STRUCT);
	assert_int_equal(member(entry, "key")->offset, 0);
	assert_int_equal(member(entry, "value")->offset, 8);
	assert_string_equal(
		type_get(loaded->pool, member(entry, "value")->type)->name,
		"std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> >");
	assert_int_equal(type_of(loaded, "table")->size, 24);
	assert_int_equal(type_of(loaded, "table")->n_arguments, 2);
	assert_ptr_equal(type_get(loaded->pool,
				  type_of(loaded, "table")->arguments[0].type),
			 type_get(loaded->pool, member(entry, "value")->type));
}

static void check_cxx_variables(const struct loaded *loaded, bool optimised)
{
	assert_declared(loaded, "app::v1::everywhere", "app.h", 5);
	assert_declared(loaded, "app::next::last", "app.h", 9);
	assert_type(loaded, "app::Box<int>::shared", "int", 4);
	assert_type(loaded, "app::Box<int>::count", "int", 4);
	assert_type(loaded, "app::Cache::instance_", "app::Cache *", 8);
	assert_string_equal(get(loaded, "app::Cache::instance_")->symbol,
			    "_ZN3app5Cache9instance_E");
	assert_int_equal(get(loaded, "app::Cache::depth")->flags, VARIABLE_TLS);
	assert_type(loaded, "Meter::read::reads", "int", 4);
	assert_type(loaded, "twice<int>::kept", "int", 4);
	assert_type(loaded, "main::Local::f::in", "int", 4);
	assert_type(loaded, "by_typedef", "Named", 4);
	assert_int_equal(get(loaded, "app::next::last")->flags, VARIABLE_LOCAL);
	assert_int_equal(get(loaded, "(anonymous namespace)::constant")->flags,
			 VARIABLE_LOCAL | VARIABLE_CONSTANT);

	/* A guard for what is initialised when first needed, else none. */
	struct object_symbol guard;
	assert_true(object_symbol(loaded->object,
				  "_ZGVZN3app4nextEvE4textB5cxx11", &guard));
	assert_int_equal(get(loaded, "app::next::text")->guard, guard.value);
	assert_int_equal(get(loaded, "app::next::last")->guard, 0);

	/* Two files may have each a struct of the same name. */
	unsigned hidden = 0;
	for (size_t i = 0; i < loaded->index->variables.n; i++) {
		const struct variable *variable =
			&loaded->index->variables.data[i];
		if (strcmp(variable->name, "(anonymous namespace)::hidden"))
			continue;
		const struct type *type =
			type_get(loaded->pool, variable->type);
		const char *unit = loaded->index->units.data[variable->unit];
		bool first = str_ends(unit, "/x.cc");
		assert_int_equal(type->n_members, first ? 1 : 2);
		hidden++;
	}
	if (!optimised)
		assert_int_equal(hidden, 2);
}

static void check_vtables(const struct loaded *loaded)
{
	static const struct {
		const char *symbol, *class;
	} expected[] = {
		{ "_ZTVN3app1AE", "app::A" },
		{ "_ZTVN3app1BE", "app::B" },
		{ "_ZTVN3app1DE", "app::D" },
		{ "_ZTVN3app4PackILi3EJicEEE", "app::Pack<3, int, char>" },
		{ "_ZTVZ4mainE5Local", "main::Local" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct object_symbol symbol;
		if (!object_symbol(loaded->object, expected[i].symbol, &symbol))
			continue; /* optimised away */
		bool found = false;
		for (size_t j = 0; j < loaded->index->vtables.n; j++) {
			const struct vtable *vtable =
				&loaded->index->vtables.data[j];
			if (vtable->address != symbol.value)
				continue;
			found = true;
			assert_int_equal(vtable->size, symbol.size);
			const struct type *type =
				type_get(loaded->pool, vtable->type);
			assert_string_equal(type->name, expected[i].class);
			assert_true(type->flags & TYPE_POLYMORPHIC);
		}
		if (!found)
			fail_msg("no class of %s", expected[i].symbol);
	}
}

static void test_cxx(void **state _unused_)
{
	static const char *const flags[] = {
		"-g -O0",
		"-g -O2",
		"-g -gz -no-pie -fdebug-types-section",
		"-g -gdwarf-4 -fdebug-types-section",
		"-g -gsplit-dwarf",
		"-g -O2 -flto",
	};
	for (size_t c = 0; c < compilers_n; c++) {
		for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
			if (run("%s -std=c++20 %s sub/x.cc sub/y.cc -o x.out",
				compilers[c][1], flags[i]) != 0) {
				print_message("SKIPPED %s %s: cannot build\n",
					      compilers[c][1], flags[i]);
				continue;
			}
			/* It drops what is asked for. */
			if (strstr(flags[i], "-flto") && c)
				continue;
			print_message("%s %s\n", compilers[c][1], flags[i]);
			_cleanup_(unload) struct loaded loaded = load("x.out");
			check_cxx_variables(&loaded, strstr(flags[i], "-O2"));
			check_cxx_types(&loaded);
			check_vtables(&loaded);
		}
	}
}

/* ---- several ---- */

/* One pool holds the types of several files, each with its own numbers. */
static void test_two_files(void **state _unused_)
{
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c -o two.out"), 0);
	_cleanup_(unload) struct loaded loaded = load_cached("two.out", "two");
	size_t n = type_count(loaded.pool);
	for (int round = 0; round < 2; round++) {
		char path[256], cache[256];
		snprintf(path, sizeof(path), "%s/two.out", folder);
		snprintf(cache, sizeof(cache), "%s/two", folder);
		struct loaded again = { .pool = loaded.pool };
		assert_ok(object_open(path, &again.object));
		assert_ok(index_load(again.object, round ? cache : NULL,
				     again.pool, &again.index));
		assert_int_equal(again.index->from_cache, round);
		check_pool(&again);
		type_id id = get(&again, "head")->type;
		assert_true(id >= n);
		const struct type *type = type_get(again.pool, id);
		assert_string_equal(type->name, "node");
		assert_true(type->members[0].type >= n);
		n = type_count(loaded.pool);
		index_destroy(again.index);
		object_close(again.object);
	}
}

/* A thousand units have the same header's types: one of each is kept. */
static void test_merged(void **state _unused_)
{
	assert_int_equal(
		run("for i in 1 2 3 4 5 6 7 8; do echo \"#include "
		    "\\\"app.h\\\"\n"
		    "std::vector<std::string> v$i; struct same { int a; } "
		    "s$i;\" > sub/m$i.cc; g++ -g -c sub/m$i.cc -o m$i.o || "
		    "exit "
		    "1; done; echo 'int main() {}' > m.cc; g++ -g m.cc m?.o -o "
		    "merged.out"),
		0);
	_cleanup_(unload) struct loaded loaded = load("merged.out");
	for (char digit = '2'; digit <= '8'; digit++) {
		char name[3] = { 'v', digit };
		assert_int_equal(get(&loaded, name)->type,
				 get(&loaded, "v1")->type);
		name[0] = 's';
		assert_int_equal(get(&loaded, name)->type,
				 get(&loaded, "s1")->type);
	}
}

static void test_separate(void **state _unused_)
{
	assert_int_equal(
		run("rm -rf .debug && mkdir .debug && gcc -g -w sub/c.c "
		    "sub/other.c -o sep.out && objcopy --only-keep-debug "
		    "sep.out .debug/sep.debug && strip sep.out && objcopy "
		    "--add-gnu-debuglink=.debug/sep.debug sep.out"),
		0);
	_cleanup_(unload) struct loaded loaded = load("sep.out");
	check_c(&loaded, false, true);
}

static void test_dwz(void **state _unused_)
{
	if (run("command -v dwz >/dev/null") != 0) {
		print_message("dwz is not installed\n");
		skip();
	}
	assert_int_equal(run("g++ -std=c++20 -g -gdwarf-4 sub/x.cc sub/y.cc -o "
			     "dwz.out && cp dwz.out dwz2.out && dwz -m "
			     "common.debug dwz.out dwz2.out"),
			 0);
	_cleanup_(unload) struct loaded loaded = load("dwz.out");
	check_cxx_variables(&loaded, false);
	check_cxx_types(&loaded);
	check_vtables(&loaded);
}

/* ---- without debug information ---- */

static void test_symbols(void **state _unused_)
{
	assert_int_equal(run("g++ -std=c++20 -O0 sub/x.cc sub/y.cc -o "
			     "symbols.out"),
			 0);
	_cleanup_(unload) struct loaded loaded = load("symbols.out");
	assert_false(loaded.index->debug);
	static const struct {
		const char *name;
		uint64_t size;
		unsigned flags;
	} expected[] = {
		{ "d", 88, 0 },
		{ "app::Cache::instance_", 8, 0 },
		{ "app::Cache::depth", 4, VARIABLE_TLS },
		{ "app::next::text", 32, 0 },
		{ "twice<int>::kept", 4, 0 },
		{ "flag", 8, VARIABLE_LOCAL },
		{ "main::Local::f::in", 4, VARIABLE_LOCAL },
	};
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct variable *variable =
			get(&loaded, expected[i].name);
		assert_int_equal(variable->size, expected[i].size);
		assert_int_equal(variable->flags & ~VARIABLE_UNTYPED,
				 expected[i].flags);
		assert_int_equal(variable->type, TYPE_UNKNOWN);
		assert_true(variable->flags & VARIABLE_UNTYPED);
		assert_non_null(variable->symbol);
	}
	for (size_t i = 0; i < loaded.index->variables.n; i++) {
		const char *symbol = loaded.index->variables.data[i].symbol;
		assert_false(str_starts(symbol, "_ZGV"));
		assert_false(str_starts(symbol, "_ZTV"));
		assert_false(str_starts(symbol, "completed"));
		assert_string_not_equal(symbol, "__dso_handle");
		assert_string_not_equal(symbol, "__TMC_END__");
	}
}

/* What the program took over from the C library is not the program's. */
static void test_copied(void **state _unused_)
{
	write_file("copied.c", "#include <stdio.h>\n#include <getopt.h>\n"
			       "extern int shared; int own;\n"
			       "int main(void) { own = optind; shared++; "
			       "return fputs(\"\", stderr) + own; }\n");
	write_file("shared.c", "int shared = 3; long inside[4];\n");
	assert_int_equal(run("gcc -g -shared -fPIC shared.c -o libshared.so && "
			     "gcc -g -no-pie -fno-pic copied.c ./libshared.so "
			     "-o copied.out"),
			 0);
	_cleanup_(unload) struct loaded loaded = load("copied.out");
	get(&loaded, "own");
	const struct variable *shared = get(&loaded, "shared");
	assert_int_equal(shared->flags, VARIABLE_UNTYPED);
	assert_int_equal(shared->size, 4);
	assert_null(find(&loaded, "stderr"));
	assert_null(find(&loaded, "optind"));
	_cleanup_(unload) struct loaded library = load("libshared.so");
	assert_type(&library, "shared", "int", 4);
	assert_type(&library, "inside", "long int[4]", 32);
}

/* Only what debug information does not know is taken from symbols. */
static void test_mixed(void **state _unused_)
{
	assert_int_equal(run("gcc -g -w -c sub/c.c -o mixed1.o && gcc -w -c "
			     "sub/other.c -o mixed2.o && gcc mixed1.o mixed2.o "
			     "-o mixed.out"),
			 0);
	_cleanup_(unload) struct loaded loaded = load("mixed.out");
	assert_int_equal(get(&loaded, "head")->flags, 0);
	assert_int_equal(get(&loaded, "later")->flags, VARIABLE_UNTYPED);
	assert_int_equal(get(&loaded, "later")->size, 16);
	assert_int_equal(get(&loaded, "mine")->flags,
			 VARIABLE_UNTYPED | VARIABLE_LOCAL);
	assert_null(find(&loaded, "completed.0"));
}

/* -O2 of clang keeps less of a variable than its type says. */
static void test_pieces(void **state _unused_)
{
	if (run("command -v clang >/dev/null") != 0) {
		print_message("clang is not installed\n");
		skip();
	}
	write_file(
		"pieces.c",
		"static struct { int used, unused; } half;\n"
		"static int two_values;\n"
		"static struct { int none; struct { int a; long b[2]; } in; }\n"
		"apart;\n"
		"int get(void) { return half.used++ + (two_values == 77); }\n"
		"void set(void) { two_values = 77; }\n"
		"long more(int i) { apart.in.a += i;\n"
		"  return apart.in.b[1] += apart.in.a; }\n"
		"int main(int argc, char **argv) { (void)argv;\n"
		"  if (argc > 5) set(); return get() + (int)more(argc); }\n");
	assert_int_equal(run("clang -g -O2 pieces.c -o pieces.out"), 0);
	_cleanup_(unload) struct loaded loaded = load("pieces.out");
	assert_int_equal(get(&loaded, "half")->size, 4);
	assert_int_equal(get(&loaded, "two_values")->size, 1);
	assert_type(&loaded, "apart.in.a", "int", 4);
	assert_type(&loaded, "apart.in.b[1]", "long", 8);
}

/* ---- the cache ---- */

static void assert_same_index(const struct loaded *a, const struct loaded *b)
{
	assert_int_equal(type_count(a->pool), type_count(b->pool));
	assert_int_equal(a->index->variables.n, b->index->variables.n);
	assert_int_equal(a->index->vtables.n, b->index->vtables.n);
	assert_int_equal(a->index->units.n, b->index->units.n);
	assert_int_equal(a->index->debug, b->index->debug);
	for (size_t i = 0; i < a->index->variables.n; i++) {
		const struct variable *left = &a->index->variables.data[i];
		const struct variable *right = &b->index->variables.data[i];
		assert_string_equal(left->name, right->name);
		assert_int_equal(!left->symbol, !right->symbol);
		assert_int_equal(!left->file, !right->file);
		if (left->symbol)
			assert_string_equal(left->symbol, right->symbol);
		if (left->file)
			assert_string_equal(left->file, right->file);
		assert_int_equal(left->line, right->line);
		assert_int_equal(left->flags, right->flags);
		assert_int_equal(left->address, right->address);
		assert_int_equal(left->size, right->size);
		assert_int_equal(left->type, right->type);
		assert_int_equal(left->guard, right->guard);
		assert_string_equal(a->index->units.data[left->unit],
				    b->index->units.data[right->unit]);
	}
	for (size_t i = 0; i < a->index->vtables.n; i++)
		assert_memory_equal(
			&a->index->vtables.data[i], &b->index->vtables.data[i],
			offsetof(struct vtable, type) + sizeof(type_id));
	for (size_t i = 0; i < type_count(a->pool); i++) {
		const struct type *left = type_get(a->pool, (type_id)i);
		const struct type *right = type_get(b->pool, (type_id)i);
		assert_int_equal(left->kind, right->kind);
		assert_int_equal(left->flags, right->flags);
		assert_string_equal(left->name, right->name);
		assert_int_equal(left->size, right->size);
		assert_int_equal(left->align, right->align);
		assert_int_equal(left->target, right->target);
		assert_int_equal(left->count, right->count);
		assert_int_equal(left->n_members, right->n_members);
		for (uint32_t j = 0; j < left->n_members; j++) {
			const struct type_member *one = &left->members[j];
			const struct type_member *other = &right->members[j];
			assert_string_equal(one->name, other->name);
			assert_int_equal(one->type, other->type);
			assert_int_equal(one->offset, other->offset);
			assert_int_equal(one->bit_offset, other->bit_offset);
			assert_int_equal(one->bit_size, other->bit_size);
			assert_int_equal(one->base, other->base);
			assert_int_equal(one->virtual_base,
					 other->virtual_base);
			assert_int_equal(one->artificial, other->artificial);
			assert_int_equal(one->vtable_offset,
					 other->vtable_offset);
		}
		assert_int_equal(left->n_enumerators, right->n_enumerators);
		for (uint32_t j = 0; j < left->n_enumerators; j++) {
			assert_string_equal(left->enumerators[j].name,
					    right->enumerators[j].name);
			assert_int_equal(left->enumerators[j].value,
					 right->enumerators[j].value);
		}
		assert_int_equal(left->n_arguments, right->n_arguments);
		for (uint32_t j = 0; j < left->n_arguments; j++) {
			assert_int_equal(left->arguments[j].type,
					 right->arguments[j].type);
			assert_int_equal(left->arguments[j].value,
					 right->arguments[j].value);
		}
	}
}

static void test_cache(void **state _unused_)
{
	assert_int_equal(run("g++ -std=c++20 -g sub/x.cc sub/y.cc -o ca.out && "
			     "g++ -std=c++20 -g sub/x.cc sub/y.cc "
			     "-Wl,--build-id=none -o ca2.out"),
			 0);
	static const char *const programs[] = { "ca.out", "ca2.out" };
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		run("rm -rf cache");
		_cleanup_(unload) struct loaded plain = load(programs[i]);
		_cleanup_(unload) struct loaded first =
			load_cached(programs[i], "cache/a/b");
		_cleanup_(unload) struct loaded second =
			load_cached(programs[i], "cache/a/b");
		assert_false(first.index->from_cache);
		assert_true(second.index->from_cache);
		assert_same_index(&plain, &first);
		assert_same_index(&plain, &second);
		/* Nobody else's business, and nothing else left there. */
		assert_int_equal(
			run("test $(stat -c %%a cache/a/b) = 700 && "
			    "test $(stat -c %%a cache/a/b/*.idx) = 600 "
			    "&& test $(ls -A cache/a/b | wc -l) = 1"),
			0);
	}
	/* Other code, other entry. */
	assert_int_equal(run("g++ -std=c++20 -g -O1 sub/x.cc sub/y.cc -o "
			     "ca.out"),
			 0);
	_cleanup_(unload) struct loaded other =
		load_cached("ca.out", "cache/a/b");
	assert_false(other.index->from_cache);
}

/* The same build id set by hand, but another program. */
static void test_cache_build_id(void **state _unused_)
{
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c "
			     "-Wl,--build-id=0x1234abcd -o id.out"),
			 0);
	{
		_cleanup_(unload) struct loaded loaded =
			load_cached("id.out", "ids");
		assert_non_null(find(&loaded, "head"));
	}
	write_file("more.c", "long more[9];\n");
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c more.c "
			     "-Wl,--build-id=0x1234abcd -o id.out"),
			 0);
	_cleanup_(unload) struct loaded loaded = load_cached("id.out", "ids");
	assert_non_null(find(&loaded, "more"));
	assert_int_equal(run("test -f ids/1234abcd-v1.idx"), 0);
}

/* No cache folder to be had is no error. */
static void test_cache_unwritable(void **state _unused_)
{
	assert_int_equal(run("touch file && gcc -g -w sub/c.c sub/other.c -o "
			     "un.out"),
			 0);
	_cleanup_(unload) struct loaded loaded =
		load_cached("un.out", "file/below");
	assert_non_null(find(&loaded, "head"));
	assert_false(loaded.index->from_cache);
}

/* Debug information that comes later is not missed. */
static void test_cache_debug_later(void **state _unused_)
{
	assert_int_equal(
		run("rm -rf .debug && mkdir .debug && gcc -g -w sub/c.c "
		    "sub/other.c -o late.out && objcopy --only-keep-debug "
		    "late.out late.debug && strip -g late.out && objcopy "
		    "--add-gnu-debuglink=late.debug late.out && mv late.debug "
		    "hidden.debug"),
		0);
	{
		_cleanup_(unload) struct loaded loaded =
			load_cached("late.out", "late");
		assert_false(loaded.index->debug);
	}
	assert_int_equal(run("mv hidden.debug .debug/late.debug"), 0);
	_cleanup_(unload) struct loaded loaded =
		load_cached("late.out", "late");
	assert_true(loaded.index->debug);
	assert_type(&loaded, "head", "node", 48);
}

static size_t read_bytes(const char *path, unsigned char *bytes, size_t max)
{
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	size_t n = fread(bytes, 1, max, file);
	fclose(file);
	return n;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
}

/* Any change is noticed, and the entry is made anew. */
static void test_cache_damaged(void **state _unused_)
{
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c "
			     "-Wl,--build-id=0x77777777 -o dam.out"),
			 0);
	char path[256];
	snprintf(path, sizeof(path), "%s/dam/77777777-v1.idx", folder);
	{
		_cleanup_(unload) struct loaded loaded =
			load_cached("dam.out", "dam");
	}
	static unsigned char bytes[1 << 18], copy[1 << 18];
	size_t n = read_bytes(path, bytes, sizeof(bytes));
	assert_in_range(n, 1000, sizeof(bytes) - 1);
	unsigned seed = 1;
	for (int round = 0; round < 60; round++) {
		memcpy(copy, bytes, n);
		size_t length = n;
		if (round % 3 == 0)
			length = (size_t)rand_r(&seed) % n;
		else
			copy[(size_t)rand_r(&seed) % n] ^=
				(unsigned char)(1 + rand_r(&seed) % 255);
		write_bytes(path, copy, length);
		_cleanup_(unload) struct loaded loaded =
			load_cached("dam.out", "dam");
		assert_false(loaded.index->from_cache);
		assert_non_null(find(&loaded, "head"));
	}
	_cleanup_(unload) struct loaded loaded = load_cached("dam.out", "dam");
	assert_true(loaded.index->from_cache);
}

static void test_cache_folder(void **state _unused_)
{
	_cleanup_(freep) char *xdg = NULL, *home = NULL, *none = NULL;
	setenv("XDG_CACHE_HOME", "/somewhere", 1);
	assert_ok(index_cache_folder(&xdg));
	assert_string_equal(xdg, "/somewhere/polygraph");
	setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
	setenv("HOME", "/home/me", 1);
	assert_ok(index_cache_folder(&home));
	assert_string_equal(home, "/home/me/.cache/polygraph");
	unsetenv("HOME");
	assert_ok(index_cache_folder(&none));
	assert_null(none);
}

/* ---- damage ---- */

static void test_damaged(void **state _unused_)
{
	assert_int_equal(run("g++ -g -nostdlib -ffreestanding -fno-exceptions "
			     "-static -no-pie small.cc -o small.out"),
			 0);
	char path[256], broken[256];
	snprintf(path, sizeof(path), "%s/small.out", folder);
	snprintf(broken, sizeof(broken), "%s/broken.out", folder);
	static unsigned char bytes[1 << 17], copy[1 << 17];
	size_t n = read_bytes(path, bytes, sizeof(bytes));
	unsigned seed = 7;
	for (int round = 0; round < 400; round++) {
		memcpy(copy, bytes, n);
		for (int i = 0; i <= round % 20; i++)
			copy[(size_t)rand_r(&seed) % n] =
				(unsigned char)rand_r(&seed);
		write_bytes(broken, copy, n);
		struct loaded loaded = {};
		struct err *err = object_open(broken, &loaded.object);
		if (err) {
			err_destroy(err);
			continue;
		}
		assert_ok(type_pool_create(&loaded.pool));
		assert_ok(index_load(loaded.object, NULL, loaded.pool,
				     &loaded.index));
		check_pool(&loaded);
		unload(&loaded);
	}
}

static const char small_source[] =
	"struct list { list *next; union { int number; char *text; } value;\n"
	"  unsigned flag : 3; int matrix[2][3]; };\n"
	"namespace app { struct A { int a; };\n"
	"struct B : virtual A { enum E { one, two } e; };\n"
	"template <class T, int N> struct Box { T items[N]; static T shared; "
	"};\n"
	"template <class T, int N> T Box<T, N>::shared; Box<B *, 3> box; }\n"
	"static list head; __thread long tls; int (*function)(list &);\n"
	"extern \"C\" int count() { static int last; return ++last; }\n"
	"extern \"C\" void _start() { app::Box<int, 2>::shared++; "
	"head.flag++;\n"
	"  count(); for (;;) tls++; }\n";

/* ---- */

static int setup(void **state _unused_)
{
	if (!mkdtemp(folder))
		return -1;
	static const char *const known[][2] = { { "gcc", "g++" },
						{ "clang", "clang++" } };
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (run("command -v %s %s >/dev/null", known[i][0],
			known[i][1]) != 0) {
			print_message("SKIPPED: no %s\n", known[i][0]);
			continue;
		}
		memcpy(compilers[compilers_n++], known[i], sizeof(known[i]));
	}
	if (run("mkdir sub") != 0)
		return -1;
	write_file("sub/c.c", c_source);
	write_file("sub/other.c", c_other);
	write_file("sub/app.h", cxx_header);
	write_file("sub/x.cc", cxx_source);
	write_file("sub/y.cc", cxx_other);
	write_file("small.cc", small_source);
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
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_lto),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_separate),
		cmocka_unit_test(test_dwz),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_build_id),
		cmocka_unit_test(test_cache_unwritable),
		cmocka_unit_test(test_cache_debug_later),
		cmocka_unit_test(test_cache_damaged),
		cmocka_unit_test(test_cache_folder),
		cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
