// GLib's containers, in GLib's own test framework.
//
//@ subject framework=glib lang=c header=glib.h
//@ variant plain pkg=glib-2.0 quick=gcc-O0,clang-O2

#include <glib.h>
#include <string.h>

GHashTable *table;
GHashTable *names;
GHashTable *set;
GList *list;
GSList *slist;
GString *string;
GPtrArray *pointers;
GArray *numbers;
GQueue *queue;
GByteArray *bytes;
GList *strings;

static void table_value(void) //@ pollutes /table/value table ...table[2]...
{
	int *value = g_hash_table_lookup(table, GINT_TO_POINTER(2));
	(*value)++;
}

static int *boxed(int value)
{
	int *box = g_new(int, 1);
	*box = value;
	return box;
}

static void table_grows(void) //@ pollutes /table/grows table ... effect=settles
{
	g_hash_table_insert(table, GINT_TO_POINTER(99), boxed(5));
}

static void table_rehashed(void) //@ clean /table/rehashed
{
	for (int i = 1000; i < 2000; i++)
		g_hash_table_insert(table, GINT_TO_POINTER(i), boxed(i));
	for (int i = 1000; i < 2000; i++)
		g_hash_table_remove(table, GINT_TO_POINTER(i));
}

static GHashTable *make_names(gboolean backwards)
{
	static const char *const all[] = { "ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida" };
	GHashTable *made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
		const char *name = all[backwards ? G_N_ELEMENTS(all) - 1 - i : i];
		g_hash_table_insert(made, g_strdup(name), g_strconcat(name, "'s value", NULL));
	}
	return made;
}

static void names_rebuilt(void) //@ clean /names/rebuilt
{
	GHashTable *fresh = make_names(TRUE);
	g_hash_table_destroy(names);
	names = fresh;
}

static void names_value(void) //@ pollutes /names/value names "names[\"bob\"]" before="\"bob's value\"" after="\"another value\""
{
	g_hash_table_insert(names, g_strdup("bob"), g_strdup("another value"));
}

static void names_same_value(void) //@ clean /names/same-value
{
	g_hash_table_insert(names, g_strdup("bob"), g_strdup("another value"));
}

static void names_removed(void) //@ pollutes /names/removed names ... effect=settles
{
	g_hash_table_remove(names, "cat");
}

static void names_borrowed(void) //@ clean /names/borrowed
{
	g_hash_table_ref(names);
	g_assert_nonnull(g_hash_table_lookup(names, "ann"));
	g_hash_table_unref(names);
}

static void set_grows(void) //@ pollutes /set/grows set ...
{
	g_hash_table_add(set, g_strdup("new"));
}

static void set_rebuilt(void) //@ clean /set/rebuilt
{
	GHashTable *fresh = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_hash_table_add(fresh, g_strdup("new"));
	g_hash_table_add(fresh, g_strdup("old"));
	g_hash_table_destroy(set);
	set = fresh;
}

static void list_appended(void) //@ pollutes /list/appended list ... effect=accumulates
{
	list = g_list_append(list, boxed(4));
}

static void list_payload(void) //@ pollutes /list/payload list ...next->data...|...list[1]...
{
	*(int *)g_list_nth_data(list, 1) = 22;
}

static void list_rebuilt(void) //@ clean /list/rebuilt
{
	GList *fresh = NULL;
	for (GList *link = list; link; link = link->next)
		fresh = g_list_append(fresh, boxed(*(int *)link->data));
	g_list_free_full(list, g_free);
	list = fresh;
}

static void list_reversed_twice(void) //@ clean /list/reversed-twice
{
	list = g_list_reverse(g_list_reverse(list));
}

static void slist_prepended(void) //@ pollutes /slist/prepended slist ... effect=accumulates
{
	slist = g_slist_prepend(slist, g_strdup("first"));
}

static void strings_changed(void) //@ pollutes /strings/changed strings ...
{
	((char *)strings->next->data)[0] = 'T';
}

static void string_appended(void) //@ pollutes /string/appended string ... before="\"text\"..." after="\"text and more\"..." effect=accumulates
{
	g_string_append(string, " and more");
}

static void string_grown_and_cut(void) //@ clean /string/grown-and-cut
{
	gsize length = string->len;
	for (int i = 0; i < 500; i++)
		g_string_append_c(string, 'x');
	g_string_truncate(string, length);
}

static void pointers_added(void) //@ pollutes /pointers/added pointers ... effect=accumulates
{
	g_ptr_array_add(pointers, boxed(9));
}

static void pointers_payload(void) //@ pollutes /pointers/payload pointers ...
{
	*(int *)g_ptr_array_index(pointers, 1) = 11;
}

static void pointers_grown_and_cut(void) //@ clean /pointers/grown-and-cut
{
	guint length = pointers->len;
	for (int i = 0; i < 300; i++)
		g_ptr_array_add(pointers, boxed(i));
	g_ptr_array_set_size(pointers, (gint)length);
}

static void pointers_rebuilt(void) //@ clean /pointers/rebuilt
{
	GPtrArray *fresh = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < pointers->len; i++)
		g_ptr_array_add(fresh, boxed(*(int *)g_ptr_array_index(pointers, i)));
	g_ptr_array_unref(pointers);
	pointers = fresh;
}

static void array_changed(void) //@ pollutes /array/changed numbers ...
{
	g_array_index(numbers, int, 2) = 33;
}

static void array_grown_and_cut(void) //@ clean /array/grown-and-cut
{
	guint length = numbers->len;
	for (int i = 0; i < 300; i++)
		g_array_append_val(numbers, i);
	g_array_set_size(numbers, length);
}

static void queue_pushed(void) //@ pollutes /queue/pushed queue ... effect=accumulates
{
	g_queue_push_tail(queue, boxed(1));
}

static void queue_pushed_and_popped(void) //@ clean /queue/pushed-and-popped
{
	g_queue_push_tail(queue, boxed(2));
	g_free(g_queue_pop_tail(queue));
}

static void bytes_appended(void) //@ pollutes /bytes/appended bytes ...
{
	g_byte_array_append(bytes, (const guint8 *)"abc", 3);
}

static void framework_assertions(void) //@ clean /framework/assertions
{
	for (int i = 0; i < 50; i++)
		g_assert_cmpint(i, <, 50);
	g_test_message("a message");
	char *text = g_strdup_printf("%d", 5);
	g_assert_cmpstr(text, ==, "5");
	g_free(text);
}

static void quarks(void) //@ clean /framework/quarks
{
	g_assert_cmpuint(g_quark_from_string("a quark of the pollution subject"), >, 0);
}

// What a thread keeps there is not in it.
static GPrivate per_thread = G_PRIVATE_INIT(g_free);

static void private_value(void) //@ clean /private/value
{
	g_private_set(&per_thread, g_strdup("kept by this thread"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	table = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
	for (int i = 1; i < 4; i++)
		g_hash_table_insert(table, GINT_TO_POINTER(i), boxed(i * 10));
	names = make_names(FALSE);
	set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_hash_table_add(set, g_strdup("old"));
	for (int i = 1; i < 4; i++)
		list = g_list_append(list, boxed(i));
	slist = g_slist_prepend(slist, g_strdup("last"));
	strings = g_list_append(g_list_append(NULL, g_strdup("one")), g_strdup("two"));
	string = g_string_new("text");
	pointers = g_ptr_array_new_with_free_func(g_free);
	numbers = g_array_new(FALSE, FALSE, sizeof(int));
	for (int i = 0; i < 3; i++) {
		g_ptr_array_add(pointers, boxed(i));
		g_array_append_val(numbers, i);
	}
	queue = g_queue_new();
	bytes = g_byte_array_new();

	g_test_add_func("/table/value", table_value);
	g_test_add_func("/table/grows", table_grows);
	g_test_add_func("/table/rehashed", table_rehashed);
	g_test_add_func("/names/rebuilt", names_rebuilt);
	g_test_add_func("/names/value", names_value);
	g_test_add_func("/names/same-value", names_same_value);
	g_test_add_func("/names/removed", names_removed);
	g_test_add_func("/names/borrowed", names_borrowed);
	g_test_add_func("/set/grows", set_grows);
	g_test_add_func("/set/rebuilt", set_rebuilt);
	g_test_add_func("/list/appended", list_appended);
	g_test_add_func("/list/payload", list_payload);
	g_test_add_func("/list/rebuilt", list_rebuilt);
	g_test_add_func("/list/reversed-twice", list_reversed_twice);
	g_test_add_func("/slist/prepended", slist_prepended);
	g_test_add_func("/strings/changed", strings_changed);
	g_test_add_func("/string/appended", string_appended);
	g_test_add_func("/string/grown-and-cut", string_grown_and_cut);
	g_test_add_func("/pointers/added", pointers_added);
	g_test_add_func("/pointers/payload", pointers_payload);
	g_test_add_func("/pointers/grown-and-cut", pointers_grown_and_cut);
	g_test_add_func("/pointers/rebuilt", pointers_rebuilt);
	g_test_add_func("/array/changed", array_changed);
	g_test_add_func("/array/grown-and-cut", array_grown_and_cut);
	g_test_add_func("/queue/pushed", queue_pushed);
	g_test_add_func("/queue/pushed-and-popped", queue_pushed_and_popped);
	g_test_add_func("/bytes/appended", bytes_appended);
	g_test_add_func("/private/value", private_value);
	g_test_add_func("/framework/assertions", framework_assertions);
	g_test_add_func("/framework/quarks", quarks);
	return g_test_run();
}
