// GLib: tests under paths; those of one path stay together. Fixtures, and state in GLib's own types.
//
//@ subject framework=glib lang=c header=glib.h
//@ variant plain pkg=glib-2.0 quick=gcc-O0
//@ run any-order --any-order quick=no

#include <glib.h>

static GHashTable *cache;
static GSList *list;
static int mounted;

struct fixture {
	int value;
};

static void set_up(struct fixture *fixture, gconstpointer data)
{
	(void)data;
	fixture->value = 7;
}

static void tear_down(struct fixture *fixture, gconstpointer data)
{
	(void)data;
	fixture->value = 0;
}

static void innocent(void)
{
	g_assert_cmpint(1, ==, 1);
}

static void is_empty(void) //@ victim /cache/is-empty polluters=/cache/stores
//@ cleaned /cache/is-empty after=/cache/stores by=/cache/drops
{
	g_assert_cmpuint(cache ? g_hash_table_size(cache) : 0, ==, 0);
}

static void stores(void)
{
	if (!cache)
		cache = g_hash_table_new(g_str_hash, g_str_equal);
	g_hash_table_insert(cache, "key", "value");
}

static void finds(void) //@ brittle /cache/finds setters=/cache/stores
{
	g_assert_nonnull(cache);
	g_assert_cmpstr(g_hash_table_lookup(cache, "key"), ==, "value");
}

static void drops(void)
{
	if (cache)
		g_hash_table_remove_all(cache);
}

static void fixture_one(struct fixture *fixture, gconstpointer data)
{
	(void)data;
	g_assert_cmpint(fixture->value, ==, 7);
	fixture->value = 8;
}

static void fixture_two(struct fixture *fixture, gconstpointer data)
{
	(void)data;
	g_assert_cmpint(fixture->value, ==, 7);
}

static void no_list(void) //@ victim /list/none polluters=/list/deep/adds polluted=list
{
	g_assert_null(list);
}

static void adds(void)
{
	list = g_slist_prepend(list, "x");
}

static void is_mounted(void) //@ brittle /mount/used setters=/mount/mounts polluted=mounted
{
	g_assert_cmpint(mounted, ==, 1);
}

static void mounts(void)
{
	mounted = 1;
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/innocent", innocent);
	g_test_add_func("/cache/stores", stores);
	g_test_add_func("/cache/finds", finds);
	g_test_add_func("/cache/drops", drops);
	g_test_add_func("/cache/is-empty", is_empty);
	g_test_add("/fixture/one", struct fixture, NULL, set_up, fixture_one, tear_down);
	g_test_add("/fixture/two", struct fixture, NULL, set_up, fixture_two, tear_down);
	g_test_add_func("/list/none", no_list);
	g_test_add_func("/list/deep/adds", adds);
	g_test_add_func("/mount/mounts", mounts);
	g_test_add_func("/mount/used", is_mounted);
	return g_test_run();
}
