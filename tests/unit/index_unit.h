/*
 * What the tests of the index share: programs built at run time in a folder of
 * their own, opened, and questions about their variables and types.
 */
#pragma once

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

static inline int run(const char *fmt, ...) _printf_(1, 2);
static inline int run(const char *fmt, ...)
{
	char command[4096];
	va_list args;
	va_start(args, fmt);
	int n = snprintf(command, sizeof(command), "cd %s && ", folder);
	vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, args);
	va_end(args);
	return system(command);
}

static inline void write_file(const char *name, const char *text)
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

static inline void unload(struct loaded *loaded)
{
	index_destroy(loaded->index);
	type_pool_destroy(loaded->pool);
	object_close(loaded->object);
}

static inline void check_pool(const struct loaded *loaded);

static inline struct loaded load_cached(const char *name, const char *cache)
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

static inline struct loaded load(const char *name)
{
	return load_cached(name, NULL);
}

/* ---- asking ---- */

static inline const struct variable *find(const struct loaded *loaded,
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

static inline const struct variable *get(const struct loaded *loaded,
					 const char *name)
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

static inline const struct type *type_of(const struct loaded *loaded,
					 const char *name)
{
	return type_get(loaded->pool, get(loaded, name)->type);
}

static inline const struct type *named(const struct loaded *loaded,
				       const char *name)
{
	type_id id = type_by_name(loaded->pool, name);
	if (!id)
		fail_msg("no type %s", name);
	const struct type *type = type_get(loaded->pool, id);
	assert_string_equal(type->name, name);
	return type;
}

static inline const struct type_member *member(const struct type *type,
					       const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		if (!strcmp(type->members[i].name, name))
			return &type->members[i];
	}
	fail_msg("no member %s in %s", name, type->name);
	return NULL;
}

static inline void assert_member(const struct loaded *loaded,
				 const struct type *type, const char *name,
				 uint64_t offset, const char *what)
{
	const struct type_member *found = member(type, name);
	char text[256];
	type_describe(loaded->pool, found->type, text, sizeof(text));
	assert_int_equal(found->offset, offset);
	assert_string_equal(text, what);
	assert_int_equal(found->bit_size, 0);
}

static inline void assert_bits(const struct type *type, const char *name,
			       unsigned first, unsigned size)
{
	const struct type_member *found = member(type, name);
	assert_int_equal(found->offset * 8 + found->bit_offset, first);
	assert_in_range(found->bit_offset, 0, 7);
	assert_int_equal(found->bit_size, size);
}

static inline void assert_type(const struct loaded *loaded, const char *name,
			       const char *what, uint64_t size)
{
	const struct variable *variable = get(loaded, name);
	char text[256];
	type_describe(loaded->pool, variable->type, text, sizeof(text));
	if (strcmp(text, what))
		fail_msg("%s is '%s', not '%s'", name, text, what);
	assert_int_equal(variable->size, size);
}

static inline void assert_declared(const struct loaded *loaded,
				   const char *name, const char *file,
				   unsigned line)
{
	const struct variable *variable = get(loaded, name);
	assert_non_null(variable->file);
	assert_int_equal(variable->file[0], '/');
	if (!str_ends(variable->file, file))
		fail_msg("%s is in %s, not %s", name, variable->file, file);
	assert_int_equal(variable->line, line);
}

/* The rules of type.h, for everything in the pool. */
static inline void check_pool(const struct loaded *loaded)
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

/* ---- the programs ---- */

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
	"const std::string constant(40, (char)99); }\n"			/* 11 */
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

static inline int make_programs(void)
{
	if (!mkdtemp(folder) || run("mkdir sub") != 0)
		return -1;
	write_file("sub/c.c", c_source);
	write_file("sub/other.c", c_other);
	write_file("sub/app.h", cxx_header);
	write_file("sub/x.cc", cxx_source);
	write_file("sub/y.cc", cxx_other);
	return 0;
}

static inline int remove_programs(void **state _unused_)
{
	if (getenv("POLYGRAPH_KEEP")) {
		print_message("kept: %s\n", folder);
		return 0;
	}
	return run("rm -rf %s", folder);
}
