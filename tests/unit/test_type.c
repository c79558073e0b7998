#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "type/type.h"
#include "unit.h"

static type_id add(struct type_pool *pool, const struct type *type)
{
	type_id id;
	assert_ok(type_declare(pool, &id));
	assert_ok(type_set(pool, id, type));
	return id;
}

static type_id add_int(struct type_pool *pool)
{
	struct type type = { .kind = TYPE_SIGNED, .name = "int", .size = 4 };
	return add(pool, &type);
}

static type_id add_pointer(struct type_pool *pool, type_id target)
{
	struct type type = {
		.kind = TYPE_POINTER,
		.size = 8,
		.target = target,
	};
	return add(pool, &type);
}

static void test_pool(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	assert_int_equal(type_count(pool), 1);
	const struct type *unknown = type_get(pool, TYPE_UNKNOWN);
	assert_int_equal(unknown->kind, TYPE_OPAQUE);
	assert_int_equal(unknown->align, 1);
	/* An id from nowhere is not known, not a crash. */
	assert_ptr_equal(type_get(pool, 12345), unknown);
	assert_int_equal(type_by_name(pool, "int"), TYPE_UNKNOWN);

	type_id id = add_int(pool);
	const struct type *type = type_get(pool, id);
	assert_int_equal(type_by_name(pool, "int"), id);
	assert_int_equal(type_by_name(pool, "in"), TYPE_UNKNOWN);
	assert_int_equal(type_by_name(pool, "int "), TYPE_UNKNOWN);

	/* Names are copied, equal ones once. */
	char name[] = "some name";
	const char *text = type_text(pool, name);
	assert_ptr_not_equal(text, name);
	name[0] = 'S';
	assert_string_equal(text, "some name");
	assert_ptr_equal(type_text(pool, "some name"), text);

	/* Pointers to types stay good when more come. */
	for (int i = 0; i < 5000; i++)
		add_pointer(pool, id);
	assert_ptr_equal(type_get(pool, id), type);
	assert_string_equal(type->name, "int");
}

static void test_long_names(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	_cleanup_(freep) char *name = malloc(100001);
	memset(name, 'x', 100000);
	name[100000] = '\0';
	assert_in_range(strlen(type_text(pool, name)), 1000, 4096);
	/* Not cut inside of a character. */
	for (size_t i = 0; i + 2 < 100000; i += 3)
		memcpy(name + i, "€", 3);
	assert_int_equal(strlen(type_text(pool, name)) % 3, 0);
	struct type type = { .kind = TYPE_STRUCT, .name = name, .size = 1 };
	type_id id = add(pool, &type);
	assert_int_equal(type_by_name(pool, name), id);
}

static void test_arrays(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	type_id number = add_int(pool), one, two, three;
	assert_ok(type_array_of(pool, number, 4, &one));
	assert_ok(type_array_of(pool, number, 4, &two));
	assert_ok(type_array_of(pool, number, 5, &three));
	assert_int_equal(one, two);
	assert_int_not_equal(one, three);
	assert_int_equal(type_get(pool, one)->size, 16);
	assert_int_equal(type_get(pool, one)->target, number);
	assert_ok(type_array_of(pool, number, TYPE_NO_COUNT, &two));
	assert_int_equal(type_get(pool, two)->size, 0);
	assert_ok(type_array_of(pool, number, UINT64_MAX / 2, &two));
	assert_int_equal(two, TYPE_UNKNOWN);
	assert_ok(type_array_of(pool, number, TYPE_SIZE_MAX, &two));
	assert_int_equal(two, TYPE_UNKNOWN);
}

static void assert_described(const struct type_pool *pool, type_id id,
			     const char *expected)
{
	char text[64];
	type_describe(pool, id, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_describe(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	type_id number = add_int(pool), array, matrix, pointers;
	type_id pointer = add_pointer(pool, add_pointer(pool, number));
	assert_ok(type_array_of(pool, number, 4, &array));
	assert_ok(type_array_of(pool, array, 3, &matrix));
	assert_ok(type_array_of(pool, pointer, TYPE_NO_COUNT, &pointers));
	struct type union_ = { .kind = TYPE_UNION, .size = 8 };
	assert_described(pool, number, "int");
	assert_described(pool, pointer, "int **");
	assert_described(pool, matrix, "int[3][4]");
	assert_described(pool, pointers, "int **[]");
	assert_described(pool, add(pool, &union_), "union {…}");
	assert_described(pool, TYPE_UNKNOWN, "?");
	char small[4];
	type_describe(pool, pointer, small, sizeof(small));
	assert_string_equal(small, "int");
	/* A pointer to itself has an end. */
	type_id self;
	assert_ok(type_declare(pool, &self));
	struct type loop = { .kind = TYPE_POINTER, .size = 8, .target = self };
	assert_ok(type_set(pool, self, &loop));
	char text[64];
	type_describe(pool, self, text, sizeof(text));
	assert_true(strlen(text) < sizeof(text));
}

static void test_settle_layout(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	type_id number = add_int(pool), flexible;
	type_id pointer = add_pointer(pool, number);
	assert_ok(type_array_of(pool, number, TYPE_NO_COUNT, &flexible));
	const struct type_member members[] = {
		{ .name = "a", .type = number },
		{ .name = "outside", .type = pointer, .offset = 12 },
		{ .name = "far", .type = number, .offset = UINT64_MAX - 1 },
		{ .name = "bits",
		  .type = number,
		  .offset = 4,
		  .bit_offset = 3,
		  .bit_size = 29 },
		{ .name = "too many bits",
		  .type = number,
		  .offset = 15,
		  .bit_offset = 1,
		  .bit_size = 8 },
		{ .name = "p", .type = pointer, .offset = 8 },
		{ .name = "no such type", .type = 4711, .offset = 8 },
		{ .name = "rest", .type = flexible, .offset = 16 },
	};
	struct type type = {
		.kind = TYPE_STRUCT,
		.name = "s",
		.size = 16,
		.members = members,
		.n_members = ARRAY_SIZE(members),
	};
	type_id id = add(pool, &type);
	struct type packed = {
		.kind = TYPE_STRUCT,
		.size = 5,
		.members =
			(const struct type_member[]){
				{ .name = "b", .type = number, .offset = 1 } },
		.n_members = 1,
	};
	type_id packed_id = add(pool, &packed);
	struct type wide = packed;
	wide.align = 32;
	wide.size = 32;
	type_id wide_id = add(pool, &wide);
	struct type odd = { .kind = TYPE_SIGNED,
			    .name = "_BitInt",
			    .size = 24 };
	type_id odd_id = add(pool, &odd);

	struct type part = { .kind = TYPE_SIGNED,
			     .size = 4,
			     .n_members = 1,
			     .members = members };
	type_id part_id = add(pool, &part);

	assert_ok(type_settle(pool, number));
	const struct type *settled = type_get(pool, id);
	static const char *const kept[] = { "a", "bits", "p", "no such type",
					    "rest" };
	assert_int_equal(settled->n_members, ARRAY_SIZE(kept));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		assert_string_equal(settled->members[i].name, kept[i]);
		assert_true(settled->members[i].type < type_count(pool));
	}
	assert_int_equal(settled->align, 8);
	assert_int_equal(type_get(pool, packed_id)->align, 1);
	assert_int_equal(type_get(pool, wide_id)->align, 32);
	assert_int_equal(type_get(pool, number)->align, 4);
	/* Only structs have members. */
	assert_int_equal(type_get(pool, part_id)->n_members, 0);
	/* A number of that many bytes is none we could print. */
	assert_int_equal(type_get(pool, odd_id)->kind, TYPE_OPAQUE);
	assert_int_equal(type_get(pool, odd_id)->size, 24);
}

static void test_settle_polymorphic(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	type_id number = add_int(pool);
	type_id pointer = add_pointer(pool, number);
	/* The derived class comes first: order does not matter. */
	type_id derived, base;
	assert_ok(type_declare(pool, &derived));
	struct type_member vptr = {
		.name = "_vptr.Base",
		.type = pointer,
		.artificial = true,
	};
	struct type type = {
		.kind = TYPE_STRUCT,
		.name = "Base",
		.size = 8,
		.members = &vptr,
		.n_members = 1,
	};
	base = add(pool, &type);
	struct type_member inherited = { .name = "",
					 .type = base,
					 .base = true };
	type.name = "Derived";
	type.members = &inherited;
	assert_ok(type_set(pool, derived, &type));
	struct type_member inside = { .name = "member", .type = base };
	type.name = "Holder";
	type.members = &inside;
	type_id holder = add(pool, &type);
	assert_ok(type_settle(pool, 1));
	assert_true(type_get(pool, base)->flags & TYPE_POLYMORPHIC);
	assert_true(type_get(pool, derived)->flags & TYPE_POLYMORPHIC);
	assert_false(type_get(pool, holder)->flags & TYPE_POLYMORPHIC);
}

/* How deep containment goes; fails where it does not end. */
static unsigned depth_of(const struct type_pool *pool, type_id id,
			 unsigned above)
{
	const struct type *type = type_get(pool, id);
	unsigned deepest = 0;
	assert_true(above <= TYPE_DEPTH_MAX);
	if (type->kind == TYPE_ARRAY)
		return 1 + depth_of(pool, type->target, above + 1);
	if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION)
		return 0;
	for (uint32_t i = 0; i < type->n_members; i++) {
		unsigned depth =
			depth_of(pool, type->members[i].type, above + 1);
		deepest = MAX(deepest, depth);
	}
	return deepest + 1;
}

static void test_settle_containment(void **state _unused_)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	assert_ok(type_pool_create(&pool));
	enum { CHAIN = 1000 };
	type_id ids[CHAIN], loop[3], array;
	for (size_t i = 0; i < CHAIN; i++)
		assert_ok(type_declare(pool, &ids[i]));
	for (size_t i = 0; i < ARRAY_SIZE(loop); i++)
		assert_ok(type_declare(pool, &loop[i]));
	type_id number = add_int(pool);
	for (size_t i = 0; i < CHAIN; i++) {
		struct type_member member = {
			.name = "in",
			.type = i + 1 < CHAIN ? ids[i + 1] : number,
		};
		struct type type = {
			.kind = TYPE_STRUCT,
			.size = 4,
			.members = &member,
			.n_members = 1,
		};
		assert_ok(type_set(pool, ids[i], &type));
	}
	/* a contains b contains an array of c, which contains a. */
	assert_ok(type_array_of(pool, loop[2], 1, &array));
	for (size_t i = 0; i < ARRAY_SIZE(loop); i++) {
		struct type_member member = {
			.name = "in",
			.type = i == 0	 ? loop[1]
				: i == 1 ? array
					 : loop[0],
		};
		struct type type = {
			.kind = TYPE_STRUCT,
			.name = "loop",
			.size = 8,
			.members = &member,
			.n_members = 1,
		};
		assert_ok(type_set(pool, loop[i], &type));
	}
	assert_ok(type_settle(pool, 1));
	for (size_t i = 0; i < CHAIN; i++)
		depth_of(pool, ids[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(loop); i++)
		depth_of(pool, loop[i], 0);
	/* What is not too deep stays as it was. */
	assert_int_equal(depth_of(pool, ids[CHAIN - 10], 0), 10);

	/* On top of earlier ones, in a second call. */
	type_id top = (type_id)type_count(pool);
	for (size_t i = 0; i < CHAIN; i++) {
		struct type_member member = {
			.name = "in",
			.type = i ? top + (type_id)i - 1 : ids[CHAIN - 10],
		};
		struct type type = {
			.kind = TYPE_STRUCT,
			.size = 4,
			.members = &member,
			.n_members = 1,
		};
		add(pool, &type);
	}
	assert_ok(type_settle(pool, top));
	for (size_t i = 0; i < CHAIN; i++)
		depth_of(pool, top + (type_id)i, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_settle_layout),
		cmocka_unit_test(test_settle_polymorphic),
		cmocka_unit_test(test_settle_containment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
