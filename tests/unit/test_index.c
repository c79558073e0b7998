/*
 * Programs built at run time, their variables and types looked at. Compilers:
 * those of gcc and clang that are there; what is missing is said.
 */
#include "index_unit.h"

static const char *compilers[2][2];
static size_t compilers_n;

/* ---- C ---- */

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

/* What others link into a program is not the program's. */
static void test_linked_in(void **state _unused_)
{
	static const char *const flags[] = { "-g -static", "-g --coverage" };
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (run("gcc -w %s sub/c.c sub/other.c -o in.out", flags[i])) {
			print_message("SKIPPED %s: cannot build\n", flags[i]);
			continue;
		}
		_cleanup_(unload) struct loaded loaded = load("in.out");
		check_c(&loaded, false, true);
	}
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

/* ---- */

static int setup(void **state _unused_)
{
	if (make_programs() != 0)
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
	return 0;
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
		cmocka_unit_test(test_linked_in),
		cmocka_unit_test(test_pieces),
	};
	return cmocka_run_group_tests(tests, setup, remove_programs);
}
