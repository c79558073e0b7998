/* The index on disk, and programs that are damaged. */
#include <stdlib.h>

#include "index_unit.h"

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
			load_cached(programs[i], "cache/a");
		_cleanup_(unload) struct loaded second =
			load_cached(programs[i], "cache/a");
		assert_false(first.index->from_cache);
		assert_true(second.index->from_cache);
		assert_same_index(&plain, &first);
		assert_same_index(&plain, &second);
		/* Nobody else's business, and nothing else left there. */
		assert_int_equal(run("test $(stat -c %%a cache/a) = 700 && "
				     "test $(stat -c %%a cache/a/*.idx) = 600 "
				     "&& test $(ls -A cache/a | wc -l) = 1"),
				 0);
	}
	/* Other code, other entry. */
	assert_int_equal(run("g++ -std=c++20 -g -O1 sub/x.cc sub/y.cc -o "
			     "ca.out"),
			 0);
	_cleanup_(unload) struct loaded other =
		load_cached("ca.out", "cache/a");
	assert_false(other.index->from_cache);
}

/* The same build id set by hand, but another program. */
static void test_cache_build_id(void **state _unused_)
{
	/* Of the same size and layout: only the name of a variable differs. */
	static const char *const names[] = { "alpha", "gamma", "alpha" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[64];
		snprintf(text, sizeof(text), "long %s = 1;\n", names[i]);
		write_file("more.c", text);
		assert_int_equal(run("gcc -g -w sub/c.c sub/other.c more.c "
				     "-Wl,--build-id=0x1234abcd -o id.out"),
				 0);
		_cleanup_(unload) struct loaded loaded =
			load_cached("id.out", "ids");
		assert_non_null(find(&loaded, names[i]));
		assert_int_equal(loaded.index->from_cache, i == 2);
	}
}

/* What is not ours stays, however old it is and whatever its name is. */
static void test_cache_foreign(void **state _unused_)
{
	assert_int_equal(
		run("gcc -g -w sub/c.c sub/other.c -o for.out && mkdir -p for "
		    "&& "
		    "chmod 700 for && cd for && touch notes.idx .new-abcdef "
		    "cafe-v1.txt && mkdir dead-v1.idx && ln -s notes.idx "
		    "beef-v1.idx && touch 0123-v1.idx .polygraph-new-abcdef "
		    "4567-v2.idx && chmod 600 0123-v1.idx "
		    ".polygraph-new-abcdef "
		    "4567-v2.idx && touch -h -d '100 days ago' * .new-abcdef "
		    ".polygraph-new-abcdef"),
		0);
	bool root = !geteuid();
	if (root)
		assert_int_equal(
			run("cd for && touch 89ab-v2.idx && chown 65534 "
			    "89ab-v2.idx && touch -d '100 days ago' "
			    "89ab-v2.idx"),
			0);
	{
		_cleanup_(unload) struct loaded loaded =
			load_cached("for.out", "for");
		assert_false(loaded.index->from_cache);
	}
	assert_int_equal(
		run("cd for && test -f notes.idx -a -f .new-abcdef -a -f "
		    "cafe-v1.txt -a -d dead-v1.idx -a -L beef-v1.idx"),
		0);
	assert_true(!root || !run("test -f for/89ab-v2.idx"));
	/* And what is ours and old goes. */
	assert_int_equal(run("cd for && test ! -e 0123-v1.idx -a ! -e "
			     ".polygraph-new-abcdef -a ! -e 4567-v2.idx"),
			 0);
	/* One that others may write to, or that is a link, is no entry. */
	static const char *const spoil[] = {
		"chmod 622 $(cat name)",
		"mv $(cat name) else && "
		"ln -s else $(cat name)",
	};
	for (size_t i = 0; i < ARRAY_SIZE(spoil); i++) {
		assert_int_equal(run("cd for && ls | grep -E "
				     "'^.{32}-v2.idx$' > name && %s",
				     spoil[i]),
				 0);
		_cleanup_(unload) struct loaded loaded =
			load_cached("for.out", "for");
		assert_false(loaded.index->from_cache);
		assert_int_equal(run("cd for && test -L $(cat name) -o $(stat "
				     "-c %%a $(cat name)) = 622 && rm -f $(cat "
				     "name)"),
				 0);
		_cleanup_(unload) struct loaded anew _unused_ =
			load_cached("for.out", "for");
	}
}

/* A folder of another user, or that all may write to, is left alone. */
static void test_cache_distrust(void **state _unused_)
{
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c -o dis.out && "
			     "rm -rf dis && mkdir dis && chmod 777 dis"),
			 0);
	for (int round = 0; round < 2; round++) {
		_cleanup_(unload) struct loaded loaded =
			load_cached("dis.out", "dis");
		assert_false(loaded.index->from_cache);
		assert_int_equal(run("test -z \"$(ls -A dis)\""), 0);
		if (geteuid() || round)
			break;
		/* Nor is one made in the folder of another user. */
		assert_int_equal(run("rm -rf dis && mkdir home && "
				     "chown 65534 home"),
				 0);
		_cleanup_(unload) struct loaded other =
			load_cached("dis.out", "home/.cache/polygraph");
		assert_false(other.index->from_cache);
		assert_int_equal(run("test -z \"$(ls -A home)\" && "
				     "mkdir dis && chmod 700 dis && "
				     "chown 65534 dis"),
				 0);
	}
}

/* A home folder that is missing is not made. */
static void test_cache_missing_home(void **state _unused_)
{
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c -o mis.out && "
			     "rm -rf missing"),
			 0);
	_cleanup_(unload) struct loaded loaded =
		load_cached("mis.out", "missing/.cache/polygraph");
	assert_non_null(find(&loaded, "head"));
	assert_int_equal(run("test ! -e missing && mkdir missing"), 0);
	_cleanup_(unload) struct loaded there _unused_ =
		load_cached("mis.out", "missing/.cache/polygraph");
	assert_int_equal(run("test -d missing/.cache/polygraph"), 0);
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
	assert_int_equal(run("gcc -g -w sub/c.c sub/other.c -o dam.out"), 0);
	{
		_cleanup_(unload) struct loaded loaded _unused_ =
			load_cached("dam.out", "dam");
	}
	char path[256];
	snprintf(path, sizeof(path), "%s/dam/entry", folder);
	assert_int_equal(run("cd dam && ln -s *-v2.idx entry"), 0);
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
	setenv("HOME", "/nowhere", 1);
	assert_ok(index_cache_folder(&home));
	assert_string_equal(home, "/nowhere/.cache/polygraph");
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
	if (make_programs() != 0)
		return -1;
	write_file("small.cc", small_source);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_build_id),
		cmocka_unit_test(test_cache_foreign),
		cmocka_unit_test(test_cache_distrust),
		cmocka_unit_test(test_cache_missing_home),
		cmocka_unit_test(test_cache_unwritable),
		cmocka_unit_test(test_cache_debug_later),
		cmocka_unit_test(test_cache_damaged),
		cmocka_unit_test(test_cache_folder),
		cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, setup, remove_programs);
}
