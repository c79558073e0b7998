/*
 * Containers as compilers and libraries really lay them out. Argument: a library
 * built of test_containers_subject.cc or test_containers_glib.cc. It is loaded
 * here, its types are read from its own debug information, and this process's
 * memory is the view.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/uio.h>

#include "base/map.h"
#include "base/str.h"
#include "dwarf/index.h"
#include "state/containers.h"
#include "unit.h"

#define MAX_ELEMENTS 100000
#define DEPTH_MAX 16

struct subject {
	const char *path;
	uint64_t bias;
	struct object *object;
	struct type_pool *pool;
	struct index_variables *index;
	struct containers *containers;
	bool (*expected)(size_t i, const char **ret_name,
			 const char **ret_content);
};

/* Copies of pages, until the moment passes. */
static struct map_u64 pages;

static void forget_pages(void)
{
	for (size_t i = 0; i < pages.map.cap; i++) {
		if (pages.map.slots[i].hash)
			free((void *)(uintptr_t)pages.map.slots[i].value);
	}
	map_u64_free(&pages);
	pages = (struct map_u64)MAP_INIT;
}

static const uint8_t *own_page(void *data, uint64_t address)
{
	(void)data;
	uint64_t known;
	if (map_u64_get(&pages, address, &known))
		return (const uint8_t *)(uintptr_t)known;
	uint8_t *copy = malloc(VIEW_PAGE);
	struct iovec to = { copy, VIEW_PAGE },
		     from = { (void *)(uintptr_t)address, VIEW_PAGE };
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != VIEW_PAGE) {
		free(copy);
		return NULL;
	}
	assert_ok(map_u64_put(&pages, address, (uint64_t)(uintptr_t)copy));
	return copy;
}

static bool no_block(void *data, uint64_t address, struct view_block *ret)
{
	(void)data;
	(void)address;
	(void)ret;
	return false;
}

static const struct view view = { .page = own_page, .block = no_block };

static void add(struct str *out, const char *fmt, ...) _printf_(2, 3);
static void add(struct str *out, const char *fmt, ...)
{
	char text[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	assert_ok(str_append(out, text));
}

static void render(struct subject *subject, type_id id, uint64_t address,
		   unsigned depth, struct str *out);

static void render_text(uint64_t address, uint64_t n, uint64_t size,
			struct str *out)
{
	add(out, "\"");
	for (uint64_t i = 0; i < n; i++) {
		uint32_t c = 0;
		assert_true(view_read(&view, address + i * size, &c, size));
		add(out, "%c", c < 0x7f ? (int)c : '?');
	}
	add(out, "\"");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const struct type_member *member(const struct type *type,
					const char *name)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		if (!strcmp(type->members[i].name, name))
			return &type->members[i];
	}
	fail_msg("'%s' has no member '%s'", type->name, name);
	return NULL;
}

/* "key => mapped", or the element; what is a key is one in both ways. */
static void render_element(struct subject *subject,
			   const struct container_element *element,
			   unsigned depth, struct str *out)
{
	const struct type *type = type_get(subject->pool, element->type);
	if (!element->key) {
		render(subject, element->type, element->address, depth, out);
		return;
	}
	_cleanup_(str_freep) struct str key = STR_INIT, self = STR_INIT;
	render(subject, element->key_type, element->key, depth, &key);
	assert_ok(str_append(out, key.s));
	if (element->key == element->address &&
	    element->key_type == element->type)
		return;
	if (type->kind != TYPE_STRUCT) {
		add(out, " => ");
		render(subject, element->type, element->address, depth, out);
		return;
	}
	const struct type_member *first = member(type, "first");
	const struct type_member *second = member(type, "second");
	render(subject, first->type, element->address + first->offset, depth,
	       &self);
	assert_string_equal(key.s, self.s);
	add(out, " => ");
	render(subject, second->type, element->address + second->offset, depth,
	       out);
}

static void render_elements(struct subject *subject,
			    const struct container_contents *contents,
			    unsigned depth, struct str *out)
{
	VEC(char *) texts = VEC_INIT;
	size_t n = contents->run ? contents->run : contents->n;
	for (size_t i = 0; i < n; i++) {
		_cleanup_(str_freep) struct str text = STR_INIT;
		struct container_element element =
			contents->data[contents->run ? 0 : i];
		if (contents->run)
			element.address += i * contents->stride;
		render_element(subject, &element, depth, &text);
		assert_ok(vec_push(&texts, str_take(&text)));
	}
	if (contents->unordered && n)
		qsort(texts.data, n, sizeof(*texts.data), by_text);
	add(out, contents->unordered ? "{" : "[");
	for (size_t i = 0; i < n; i++) {
		add(out, "%s", i ? ", " : "");
		assert_ok(str_append(out, texts.data[i]));
		free(texts.data[i]);
	}
	add(out, contents->unordered ? "}" : "]");
	vec_free(&texts);
}

static void render_bits(const struct container_contents *contents,
			struct str *out)
{
	add(out, "bits %" PRIu64 ": ", contents->words[0]);
	for (uint64_t i = 0; i < contents->words[0]; i++) {
		uint8_t byte = (uint8_t)contents->words[1];
		if (i / 8 < contents->run)
			assert_true(view_read(&view,
					      contents->data[0].address + i / 8,
					      &byte, 1));
		add(out, "%d", byte >> i % 8 & 1);
	}
}

/* Is it the type of a target, and not bytes or libc++'s base class? */
static bool is_told(const struct subject *subject, type_id id)
{
	const struct type *type = type_get(subject->pool, id);
	return type->kind != TYPE_OPAQUE && type->kind != TYPE_POINTER &&
	       !strstr(type->name, "__function::");
}

static void render_container(struct subject *subject, type_id id,
			     enum container_shape shape, uint64_t address,
			     unsigned depth, struct str *out)
{
	struct container_contents contents = {};
	bool sound;
	assert_ok(container_expand(subject->containers, id, &view, address,
				   MAX_ELEMENTS, &contents, &sound));
	if (!sound) {
		add(out, "unsound");
	} else if (shape == CONTAINER_SKIP) {
		add(out, "skip");
	} else if (shape == CONTAINER_TEXT) {
		render_text(contents.n ? contents.data[0].address : 0,
			    contents.run, contents.stride, out);
	} else if (shape == CONTAINER_BITS) {
		render_bits(&contents, out);
	} else if (shape == CONTAINER_FUNCTION) {
		assert_int_equal(contents.n, contents.words[0] ? 1 : 0);
		if (contents.n && is_told(subject, contents.data[0].type)) {
			add(out, "function: ");
			render_element(subject, &contents.data[0], depth, out);
		} else {
			add(out, "function: %s",
			    contents.n ? "stored" : "empty");
		}
	} else if (shape == CONTAINER_POINTER) {
		add(out, contents.n ? "->" : "null");
		if (contents.n)
			render_element(subject, &contents.data[0], depth, out);
	} else {
		if (contents.n_words)
			add(out, "words %" PRIu64 "%s", contents.words[0],
			    contents.n ? " " : "");
		if (contents.n || !contents.n_words)
			render_elements(subject, &contents, depth, out);
	}
	container_contents_free(&contents);
}

static void render_scalar(struct subject *subject, const struct type *type,
			  uint64_t address, unsigned depth, struct str *out)
{
	union {
		int64_t number;
		uint64_t word;
		double real;
		long double extended;
		char c;
	} value = {};
	assert_true(type->size <= sizeof(value));
	assert_true(view_read(&view, address, &value, type->size));
	int shift = 64 - 8 * (int)MIN(type->size, (uint64_t)8);
	switch (type->kind) {
	case TYPE_CHAR:
		add(out, "'%c'", value.c);
		break;
	case TYPE_SIGNED:
		add(out, "%" PRId64, (int64_t)(value.word << shift) >> shift);
		break;
	case TYPE_FLOAT:
		add(out, "%g",
		    type->size == 16 ? (double)value.extended : value.real);
		break;
	case TYPE_POINTER:
		/* Small ones are numbers in disguise, void ones C strings. */
		if (value.word < VIEW_PAGE) {
			add(out, "%" PRIu64, value.word);
		} else if (type_get(subject->pool, type->target)->kind ==
			   TYPE_VOID) {
			add(out, "\"%s\"", (const char *)(uintptr_t)value.word);
		} else {
			add(out, "&");
			render(subject, type->target, value.word, depth, out);
		}
		break;
	default:
		add(out, "%" PRIu64, value.word);
		break;
	}
}

static void render(struct subject *subject, type_id id, uint64_t address,
		   unsigned depth, struct str *out)
{
	assert_true(depth < DEPTH_MAX);
	depth++;
	const struct container_recipe *recipe =
		container_recipe(subject->containers, id);
	const struct type *type = type_get(subject->pool, id);
	if (recipe) {
		render_container(subject, id, container_recipe_shape(recipe),
				 address, depth, out);
	} else if (type->kind == TYPE_STRUCT) {
		add(out, "{");
		for (uint32_t i = 0; i < type->n_members; i++) {
			add(out, "%s%s: ", i ? ", " : "",
			    type->members[i].name);
			render(subject, type->members[i].type,
			       address + type->members[i].offset, depth, out);
		}
		add(out, "}");
	} else if (type->kind == TYPE_ARRAY &&
		   type_get(subject->pool, type->target)->kind != TYPE_CHAR) {
		struct container_element element = { .address = address,
						     .type = type->target };
		struct container_contents all = {
			.data = &element,
			.n = 1,
			.run = type->count,
			.stride = type->size / type->count,
		};
		render_elements(subject, &all, depth, out);
	} else if (type->kind == TYPE_ARRAY) {
		render_text(address, 0, 1, out);
	} else if (type->kind == TYPE_OPAQUE) {
		add(out, "<");
		for (uint64_t i = 0; i < type->size; i++)
			add(out, "%02x", ((uint8_t *)(uintptr_t)address)[i]);
		add(out, ">");
	} else {
		render_scalar(subject, type, address, depth, out);
	}
}

extern char *__cxa_demangle(const char *name, char *buffer, size_t *n,
			    int *status);

static bool symbol_of(void *data, uint64_t address, char *out, size_t n)
{
	struct subject *subject = data;
	struct object_symbol symbol;
	if (!object_symbol_at(subject->object, address - subject->bias,
			      &symbol))
		return false;
	int status;
	_cleanup_(freep) char *plain =
		__cxa_demangle(symbol.name, NULL, NULL, &status);
	snprintf(out, n, "&%s", plain ? plain : symbol.name);
	return true;
}

static void subject_open(struct subject *subject, const char *path)
{
	*subject = (struct subject){ .path = path };
	void *library = dlopen(path, RTLD_NOW);
	if (!library)
		fail_msg("%s", dlerror());
	subject->expected =
		(bool (*)(size_t, const char **, const char **))dlsym(
			library, "subject_expected");
	assert_non_null(subject->expected);
	Dl_info info;
	assert_true(dladdr((void *)subject->expected, &info));
	subject->bias = (uint64_t)(uintptr_t)info.dli_fbase;
	assert_ok(object_open(path, &subject->object));
	assert_ok(type_pool_create(&subject->pool));
	assert_ok(index_load(subject->object, NULL, subject->pool,
			     &subject->index));
	assert_ok(containers_create(subject->pool, NULL, 0,
				    &subject->containers));
	containers_set_symbols(subject->containers, symbol_of, subject);
}

/* The library stays loaded: its destructors are its own business. */
static void subject_close(struct subject *subject)
{
	containers_destroy(subject->containers);
	index_destroy(subject->index);
	type_pool_destroy(subject->pool);
	object_close(subject->object);
	forget_pages();
}

struct thing {
	type_id type;
	uint64_t address;
	uint64_t size;
};

/* The variable, or what it points to. */
static struct thing find(const struct subject *subject, const char *name)
{
	_cleanup_(str_freep) struct str whole = STR_INIT;
	add(&whole, "subject::%s", name);
	for (size_t i = 0; i < subject->index->variables.n; i++) {
		const struct variable *v = &subject->index->variables.data[i];
		if (strcmp(v->name, whole.s))
			continue;
		struct thing thing = { v->type, subject->bias + v->address,
				       v->size };
		const struct type *type = type_get(subject->pool, v->type);
		if (type->kind == TYPE_POINTER) {
			thing.type = type->target;
			thing.size =
				type_get(subject->pool, type->target)->size;
			thing.address = *(uint64_t *)(uintptr_t)thing.address;
		}
		return thing;
	}
	return (struct thing){};
}

/* Is it one of "this|that"? Texts may contain anything but the bar. */
static bool is_one_of(const char *text, const char *all)
{
	size_t n = strlen(text);
	for (;; all++) {
		const char *end = strchrnul(all, '|');
		if ((size_t)(end - all) == n && !memcmp(all, text, n))
			return true;
		if (!*end)
			return false;
		all = end;
	}
}

static void check_contents(struct subject *subject)
{
	const char *name, *content;
	size_t n = 0, wrong = 0;
	for (; subject->expected(n, &name, &content); n++) {
		const struct thing v = find(subject, name);
		_cleanup_(str_freep) struct str got = STR_INIT;
		if (!v.address)
			fail_msg("%s: no variable '%s'", subject->path, name);
		forget_pages();
		render(subject, v.type, v.address, 0, &got);
		if (!is_one_of(got.s, content)) {
			wrong++;
			print_error("%s: %s (%s): %.300s, expected %.300s\n",
				    subject->path, name,
				    type_get(subject->pool, v.type)->name,
				    got.s, content);
		}
	}
	assert_int_equal(wrong, 0);
	assert_true(n > 15);
}

/* Memory of our own that stands for a container's. */
static union {
	uint8_t bytes[4096];
	uint64_t words[512];
} scratch;

static bool expand_at(struct subject *subject, type_id type, uint64_t address,
		      size_t max, struct container_contents *contents)
{
	bool sound;
	forget_pages();
	assert_ok(container_expand(subject->containers, type, &view, address,
				   max, contents, &sound));
	assert_true(contents->n <= max);
	if (!sound)
		assert_int_equal(
			contents->n + contents->run + contents->n_words, 0);
	return sound;
}

static bool expand_scratch(struct subject *subject, type_id type, size_t max)
{
	struct container_contents contents = {};
	bool sound =
		expand_at(subject, type, (uint64_t)(uintptr_t)scratch.bytes,
			  max, &contents);
	container_contents_free(&contents);
	return sound;
}

/* Never constructed, still zero: like an empty one. All ones: no sense. */
static void check_unconstructed(struct subject *subject)
{
	const char *name, *content;
	for (size_t i = 0; subject->expected(i, &name, &content); i++) {
		const struct thing v = find(subject, name);
		memset(&scratch, 0, sizeof(scratch));
		if (!expand_scratch(subject, v.type, MAX_ELEMENTS))
			fail_msg("%s: %s: zeros", subject->path, name);
		memset(&scratch, 0xff, sizeof(scratch));
		enum container_shape shape = container_recipe_shape(
			container_recipe(subject->containers, v.type));
		bool sound = expand_scratch(subject, v.type, MAX_ELEMENTS);
		switch (shape) {
		case CONTAINER_SKIP:
		case CONTAINER_VARIANT:
		case CONTAINER_FUNCTION: /* whatever the manager is */
		case CONTAINER_OPTIONAL: /* presence: any word will do */
			break;
		default:
			/* First and last alike: nothing in between. */
			if (sound && shape != CONTAINER_SEQUENCE &&
			    shape != CONTAINER_TEXT &&
			    shape != CONTAINER_BLOCKS)
				fail_msg("%s: %s: ones", subject->path, name);
		}
		/* And where there is no memory at all. */
		struct container_contents contents = {};
		if (shape != CONTAINER_SKIP)
			assert_false(expand_at(subject, v.type, 64,
					       MAX_ELEMENTS, &contents));
		container_contents_free(&contents);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Copies with words that point elsewhere or are numbers: nothing breaks. */
static void check_mutations(struct subject *subject)
{
	const char *name, *content;
	uint64_t random = 88172645463325252ULL;
	for (size_t i = 0; subject->expected(i, &name, &content); i++) {
		const struct thing v = find(subject, name);
		size_t size = MIN(v.size, sizeof(scratch));
		const void *real = (const void *)(uintptr_t)(v.address);
		for (int round = 0; round < 50; round++) {
			memcpy(&scratch, real, size);
			size_t words = MAX(size / 8, (size_t)1);
			for (uint64_t k = next_random(&random) % 3 + 1; k;
			     k--) {
				uint64_t with[] = {
					0,
					1,
					UINT64_MAX,
					1ULL << 40,
					next_random(&random),
					scratch.words[next_random(&random) %
						      words],
					scratch.words[next_random(&random) %
						      words] +
						8,
					(uint64_t)(uintptr_t)&scratch,
					(uint64_t)(uintptr_t)&scratch + 16,
					(uint64_t)(uintptr_t)real,
				};
				scratch.words[next_random(&random) % words] =
					with[next_random(&random) %
					     ARRAY_SIZE(with)];
			}
			expand_scratch(subject, v.type, 5000);
		}
	}
}

/* Nodes of @name hold their value behind a header: word @at of that is set. */
static void check_node(struct subject *subject, const char *name, int back,
		       unsigned from, unsigned to, bool target)
{
	const struct thing v = find(subject, name);
	struct container_contents contents = {}, again = {};
	uint64_t address = v.address;
	assert_true(
		expand_at(subject, v.type, address, MAX_ELEMENTS, &contents));
	assert_true(contents.n > MAX(from, to));
	uint64_t *link = (uint64_t *)(uintptr_t)(contents.data[from].address -
						 (unsigned)back);
	uint64_t node = contents.data[to].address - (unsigned)back;
	uint64_t old = *link;
	*link = target ? node : 1ULL << 45;
	assert_false(expand_at(subject, v.type, address, MAX_ELEMENTS, &again));
	*link = old;
	assert_true(expand_at(subject, v.type, address, MAX_ELEMENTS, &again));
	/* More than may be listed. */
	assert_false(
		expand_at(subject, v.type, address, contents.n - 1, &again));
	container_contents_free(&contents);
	container_contents_free(&again);
}

static void check_circles(struct subject *subject)
{
	/* The next node's address comes first in these, in both libraries. */
	check_node(subject, "forward_text", 8, 1, 0, true);
	check_node(subject, "forward_text", 8, 0, 0, true);
	check_node(subject, "forward_text", 8, 1, 0, false);
	const char *names[] = { "list_int", "set_int",	 "set_long", "map_text",
				"hash_int", "hash_long", "hash_map" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct thing v = find(subject, names[i]);
		struct container_contents contents = {}, again = {};
		uint64_t address = v.address;
		assert_true(expand_at(subject, v.type, address, MAX_ELEMENTS,
				      &contents));
		size_t n = contents.n;
		bool hash = names[i][0] == 'h', list = names[i][0] == 'l';
		bool libcxx = strstr(type_get(subject->pool, v.type)->name,
				     "std::__1::");
		/* Each word in front of a value leads back to its node. */
		uint64_t header = list	   ? 16
				  : libcxx ? (hash ? 16 : 25)
					   : (hash ? 8 : 32);
		uint64_t node = (contents.data[n / 2].address - header) & ~7ULL;
		unsigned found = 0;
		for (uint64_t at = 0; at + 8 <= header; at += 8) {
			uint64_t *word = (uint64_t *)(uintptr_t)(node + at);
			uint64_t old = *word;
			*word = node;
			found += !expand_at(subject, v.type, address,
					    MAX_ELEMENTS, &again);
			*word = old;
		}
		assert_true(found > 0);
		assert_true(expand_at(subject, v.type, address, n, &again));
		assert_false(
			expand_at(subject, v.type, address, n - 1, &again));
		container_contents_free(&contents);
		container_contents_free(&again);
	}
}

/* Rows for users apply to these types, too, and come first. */
static void check_users(struct subject *subject)
{
	const struct container_user users[] = {
		{ .type = "std::*set<*", .shape = "skip" },
		{ .type = "subject::point", .shape = "skip" },
	};
	struct containers *containers;
	assert_ok(containers_create(subject->pool, users, ARRAY_SIZE(users),
				    &containers));
	const struct container_recipe *recipe =
		container_recipe(containers, find(subject, "set_int").type);
	assert_int_equal(container_recipe_shape(recipe), CONTAINER_SKIP);
	recipe = container_recipe(containers, find(subject, "vector_int").type);
	assert_int_equal(container_recipe_shape(recipe), CONTAINER_SEQUENCE);
	containers_destroy(containers);
}

static const char *path;

static void test_subject(void **state)
{
	(void)state;
	struct subject subject;
	subject_open(&subject, path);
	check_contents(&subject);
	check_unconstructed(&subject);
	check_mutations(&subject);
	if (find(&subject, "forward_text").address) {
		check_circles(&subject);
		check_users(&subject);
	}
	check_contents(&subject);
	subject_close(&subject);
}

int main(int argc, char **argv)
{
	if (argc < 2 || access(argv[1], R_OK)) {
		fprintf(stderr, "skipped: %s\n",
			argc > 1 ? argv[1] : "no library of containers");
		return 77;
	}
	path = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subject),
	};
	return cmocka_run_group_tests_name(path, tests, NULL, NULL);
}
