// GLib: a writer that prints a hash table, and one that sorts first; g_list_sort() is stable, and stays so.
//
//@ subject framework=glib lang=c header=glib.h
//@ variant plain pkg=glib-2.0 quick=gcc-O0
//@ run foreach --api g_hash_table_foreach --tests /json/foreach quick=no
//@ unmet g_hash_table_iter_next g_hash_table_get_keys in=foreach
//@ met g_hash_table_foreach in=foreach

#include <glib.h>
#include <string.h>

static GHashTable *make_table(void)
{
	GHashTable *table = g_hash_table_new(g_direct_hash, g_direct_equal);
	for (int i = 1; i <= 3; i++)
		g_hash_table_insert(table, GINT_TO_POINTER(i), GINT_TO_POINTER(10 * i));
	return table;
}

static void append(GString *text, gpointer key, gpointer value)
{
	g_string_append_printf(text, "%s%d:%d", text->len ? "," : "", GPOINTER_TO_INT(key), GPOINTER_TO_INT(value));
}

static void append_pair(gpointer key, gpointer value, gpointer text)
{
	append(text, key, value);
}

static void by_iterator(void)
{
	GHashTable *table = make_table();
	GString *text = g_string_new(NULL);
	GHashTableIter iter;
	gpointer key, value;
	g_hash_table_iter_init(&iter, table); //@ assumption /json/iterator api=g_hash_table_iter_next in=default
	while (g_hash_table_iter_next(&iter, &key, &value))
		append(text, key, value);
	g_assert_cmpstr(text->str, ==, "1:10,2:20,3:30");
	g_string_free(text, TRUE);
	g_hash_table_destroy(table);
}

static void by_foreach(void)
{
	GHashTable *table = make_table();
	GString *text = g_string_new(NULL);
	g_hash_table_foreach(table, append_pair, text); //@ assumption /json/foreach api=g_hash_table_foreach in=default,foreach
	g_assert_cmpstr(text->str, ==, "1:10,2:20,3:30");
	g_string_free(text, TRUE);
	g_hash_table_destroy(table);
}

static gint compare_keys(gconstpointer a, gconstpointer b)
{
	return GPOINTER_TO_INT(a) - GPOINTER_TO_INT(b);
}

static void sorted(void)
{
	GHashTable *table = make_table();
	GString *text = g_string_new(NULL);
	GList *keys = g_list_sort(g_hash_table_get_keys(table), compare_keys);
	for (const GList *key = keys; key; key = key->next)
		append(text, key->data, g_hash_table_lookup(table, key->data));
	g_assert_cmpstr(text->str, ==, "1:10,2:20,3:30");
	g_list_free(keys);
	g_string_free(text, TRUE);
	g_hash_table_destroy(table);
}

// A sum is the same in any order.
static void add(gpointer key, gpointer value, gpointer sum)
{
	*(int *)sum += GPOINTER_TO_INT(key) * GPOINTER_TO_INT(value);
}

static void summed(void)
{
	GHashTable *table = make_table();
	int sum = 0;
	g_hash_table_foreach(table, add, &sum);
	g_assert_cmpint(sum, ==, 140);
	g_hash_table_destroy(table);
}

static gint compare_tens(gconstpointer a, gconstpointer b)
{
	return GPOINTER_TO_INT(a) / 10 - GPOINTER_TO_INT(b) / 10;
}

static void stable(void)
{
	static const int numbers[] = { 25, 11, 23, 19, 21, 12 }, wanted[] = { 11, 19, 12, 25, 23, 21 };
	GList *list = NULL;
	for (int i = 5; i >= 0; i--)
		list = g_list_prepend(list, GINT_TO_POINTER(numbers[i]));
	list = g_list_sort(list, compare_tens);
	const GList *item = list;
	for (int i = 0; i < 6; i++, item = item->next)
		g_assert_cmpint(GPOINTER_TO_INT(item->data), ==, wanted[i]);
	g_list_free(list);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/json/iterator", by_iterator);
	g_test_add_func("/json/foreach", by_foreach);
	g_test_add_func("/json/sorted", sorted);
	g_test_add_func("/json/summed", summed);
	g_test_add_func("/list/stable", stable);
	return g_test_run();
}
