/* GLib's containers with what is in them: see test_containers_subject.cc. */
#include <glib.h>

#include <string>
#include <vector>

namespace subject
{
struct triple {
	gint32 a, b, c;
};

GHashTable *table_empty, *table_text, *table_small, *table_mixed, *table_set,
	*table_removed, *table_long;
GString *text_empty, *text;
GPtrArray *pointers_empty, *pointers;
GArray *array_empty, *array_int, *array_triple;
GByteArray *bytes;
GQueue *queue_empty, *queue;
GQueue queue_static = G_QUEUE_INIT;
GMutex mutex;
GRecMutex recursive;
}

struct expected {
	std::string name, content;
};
static std::vector<expected> all;

static void expect(const char *name, const std::string &content)
{
	all.push_back({ name, content });
}

static gpointer txt(const char *text)
{
	return const_cast<char *>(text);
}

static void fill_tables()
{
	using namespace subject;
	table_empty = g_hash_table_new(g_str_hash, g_str_equal);
	table_text = g_hash_table_new(g_str_hash, g_str_equal);
	g_hash_table_insert(table_text, txt("one"), txt("eins"));
	g_hash_table_insert(table_text, txt("two"), txt("zwei"));
	table_small = g_hash_table_new(g_direct_hash, g_direct_equal);
	table_mixed = g_hash_table_new(g_direct_hash, g_direct_equal);
	table_removed = g_hash_table_new(g_direct_hash, g_direct_equal);
	for (int i = 1; i < 4; i++) {
		g_hash_table_insert(table_small, GINT_TO_POINTER(i),
				    GINT_TO_POINTER(10 * i));
		g_hash_table_insert(table_mixed, GINT_TO_POINTER(i), txt("x"));
	}
	table_set = g_hash_table_new(g_str_hash, g_str_equal);
	g_hash_table_add(table_set, txt("b"));
	g_hash_table_add(table_set, txt("a"));
	for (int i = 0; i < 100; i++)
		g_hash_table_insert(table_removed, GINT_TO_POINTER(i),
				    GINT_TO_POINTER(1));
	for (int i = 2; i < 100; i++)
		g_hash_table_remove(table_removed, GINT_TO_POINTER(i));
	table_long = g_hash_table_new(g_str_hash, g_str_equal);
	for (int i = 0; i < 1000; i++)
		g_hash_table_insert(table_long, g_strdup_printf("%03d", i),
				    GINT_TO_POINTER(i));
	std::string text;
	for (int i = 0; i < 1000; i++) {
		char item[32];
		g_snprintf(item, sizeof(item), "%s\"%03d\" => %d",
			   i ? ", " : "", i, i);
		text += item;
	}
	expect("table_empty", "{}");
	expect("table_text", "{\"one\" => \"eins\", \"two\" => \"zwei\"}");
	expect("table_small", "{1 => 10, 2 => 20, 3 => 30}");
	expect("table_mixed", "{1 => \"x\", 2 => \"x\", 3 => \"x\"}");
	expect("table_set", "{\"a\", \"b\"}");
	expect("table_removed", "{0 => 1, 1 => 1}");
	expect("table_long", '{' + text + '}');
}

static void fill_rest()
{
	using namespace subject;
	text_empty = g_string_new(nullptr);
	text = g_string_new("some text");
	g_string_truncate(text, 4);
	pointers_empty = g_ptr_array_new();
	pointers = g_ptr_array_new();
	g_ptr_array_add(pointers, txt("p"));
	g_ptr_array_add(pointers, nullptr);
	array_empty = g_array_new(FALSE, FALSE, sizeof(gint));
	array_int = g_array_new(FALSE, FALSE, sizeof(guint));
	guint numbers[] = { 7, 8, 9 };
	g_array_append_vals(array_int, numbers, 3);
	array_triple = g_array_new(TRUE, FALSE, sizeof(triple));
	triple items[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	g_array_append_vals(array_triple, items, 2);
	bytes = g_byte_array_new();
	const guint8 some[] = { 1, 255 };
	g_byte_array_append(bytes, some, 2);
	queue_empty = g_queue_new();
	queue = g_queue_new();
	g_queue_push_tail(queue, GINT_TO_POINTER(2));
	g_queue_push_head(queue, GINT_TO_POINTER(1));
	g_queue_push_tail(&queue_static, txt("static"));
	expect("text_empty", "\"\"");
	expect("text", "\"some\"");
	expect("pointers_empty", "[]");
	expect("pointers", "[\"p\", 0]");
	expect("array_empty", "[]");
	expect("array_int", "[7, 8, 9]");
	expect("array_triple", "[<010000000200000003000000>, "
			       "<040000000500000006000000>]");
	expect("bytes", "[1, 255]");
	expect("queue_empty", "[]");
	expect("queue", "[1, 2]");
	expect("queue_static", "[\"static\"]");
	expect("mutex", "skip");
	expect("recursive", "skip");
}

extern "C" bool subject_expected(size_t i, const char **ret_name,
				 const char **ret_content)
{
	if (all.empty()) {
		fill_tables();
		fill_rest();
	}
	if (i >= all.size())
		return false;
	*ret_name = all[i].name.c_str();
	*ret_content = all[i].content.c_str();
	return true;
}
