/*
 * NonDex's example (Gyori et al., FSE 2016): assertions on the order in which a
 * set of 1 and 2 is iterated, for a C++ unordered set and a GLib hash table. Run
 * by test_nondex.c, which says what each level may break.
 *
 *	nondex	prints a line a set: its name, and of each assertion whether it holds
 */
#include <algorithm>
#include <cstdio>
#include <unordered_set>
#include <utility>
#include <vector>

#ifdef HAVE_GLIB
#include <glib.h>
#endif

using order = std::vector<int>;

struct cpp_set {
	std::unordered_set<int> set;
	void add(int value)
	{
		set.insert(value);
	}
	void remove(int value)
	{
		set.erase(value);
	}
	bool has(int value) const
	{
		return set.count(value) != 0;
	}
	order walk() const
	{
		return order(set.begin(), set.end());
	}
};

#ifdef HAVE_GLIB
struct glib_set {
	GHashTable *table = g_hash_table_new(g_direct_hash, g_direct_equal);
	glib_set() = default;
	glib_set(const glib_set &) = delete;
	~glib_set()
	{
		g_hash_table_destroy(table);
	}
	void add(int value)
	{
		g_hash_table_add(table, GINT_TO_POINTER(value));
	}
	void remove(int value)
	{
		g_hash_table_remove(table, GINT_TO_POINTER(value));
	}
	bool has(int value) const
	{
		return g_hash_table_contains(table, GINT_TO_POINTER(value));
	}
	order walk() const
	{
		order found;
		GHashTableIter iter;
		gpointer key;
		g_hash_table_iter_init(&iter, table);
		while (g_hash_table_iter_next(&iter, &key, NULL))
			found.push_back(GPOINTER_TO_INT(key));
		return found;
	}
};
#endif

/* The literal is today's order. A set for each, so that none sees the others. */
template <typename Set>
static void check(const char *name, const order &literal)
{
	/* Code that was inlined is known after its first set: hash_site.c. */
	Set known, a, b, c, d, e, e2, f, f2;
	for (Set *set : { &known, &a, &b, &c, &d, &e, &e2, &f }) {
		set->add(1);
		set->add(2);
	}
	f2.add(7); /* in the order of 1 and 2 without choices, too */
	f2.add(8);

	bool holds[6] = {};
	holds[0] = a.walk() == literal;
	order first = b.walk();
	holds[1] = b.walk() == first;
	first = c.walk();
	bool found = c.has(1) && !c.has(5);
	holds[2] = found && c.walk() == first;
	first = d.walk();
	d.add(3);
	d.remove(3);
	holds[3] = d.walk() == first;
	first = e.walk();
	holds[4] = e2.walk() == first;
	order others = f2.walk();
	for (int &value : others)
		value -= 6;
	first = f.walk();
	holds[5] = others == first;

	printf("%s", name);
	for (bool one : holds)
		printf(" %d", one);
	printf("\n");
}

int main()
{
	check<cpp_set>("std::unordered_set", { 2, 1 });
#ifdef HAVE_GLIB
	check<glib_set>("GHashTable", { 1, 2 });
#endif
	return 0;
}
