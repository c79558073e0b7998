/* Cases of the models of hash tables and search trees. */
#include "cases.h"

#include <algorithm>
#include <forward_list>
#include <search.h>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

/* ---- search trees ---- */

static int by_address(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

static int letters[3];

static bool tdelete_fragile(void)
{
	void *tree = NULL;
	tsearch(&letters[0], &tree, by_address);
	void *root = tree;
	return tdelete(&letters[0], &tree, by_address) == root;
}

/* No parent to look at where it was the root; others have one. */
static bool tdelete_correct(void)
{
	void *tree = NULL;
	for (int &letter : letters)
		tsearch(&letter, &tree, by_address);
	int *root = *(int **)tree;
	int *leaf = root == &letters[0] ? &letters[2] : &letters[0];
	int **parent = (int **)tdelete(leaf, &tree, by_address);
	bool right = parent && *parent >= letters && *parent < letters + 3;
	for (int &letter : letters) {
		if (&letter != leaf)
			right &= tdelete(&letter, &tree, by_address) != NULL;
	}
	return right && !tree && !tdelete(leaf, &tree, by_address);
}

/* ---- C++ ---- */

static std::vector<int> in_order(const std::unordered_set<int> &set)
{
	return std::vector<int>(set.begin(), set.end());
}

/* A writer of JSON that writes members as they come … */
static std::string write(const std::unordered_map<int, int> &members)
{
	std::string text = "{";
	for (const auto &member : members) {
		text += text == "{" ? "\"" : ",\"";
		text += std::to_string(member.first) +
			"\":" + std::to_string(member.second);
	}
	return text + "}";
}

static bool unordered_insert_fragile(void)
{
	std::unordered_map<int, int> members;
	members[1] = 10;
	members[2] = 20;
	return write(members) == "{\"2\":20,\"1\":10}";
}

/* What buckets, lookups and iterators say of a set agrees. */
template <typename Set> static bool consistent(const Set &set, size_t n)
{
	size_t in_buckets = 0, walked = 0;
	for (size_t i = 0; i < set.bucket_count(); i++) {
		for (auto it = set.begin(i); it != set.end(i); ++it) {
			if (set.bucket(*it) != i)
				return false;
			in_buckets++;
		}
	}
	for (auto it = set.begin(); it != set.end(); ++it) {
		if (!set.count(*it))
			return false;
		walked++;
	}
	return in_buckets == n && walked == n && set.size() == n &&
	       set.load_factor() <= set.max_load_factor();
}

template <typename Set> static bool fills_and_empties(int step)
{
	Set set;
	size_t n = 0;
	for (int i = 0; i < 40; i++) {
		auto old = std::vector<typename Set::value_type>(set.begin(),
								 set.end());
		size_t buckets = set.bucket_count();
		set.insert(i * step);
		/* Without a rehash those that were there stay in order. */
		auto now = old;
		now.clear();
		for (const auto &value : set) {
			if (value != i * step)
				now.push_back(value);
		}
		if ((set.bucket_count() == buckets && now != old) ||
		    !consistent(set, ++n))
			return false;
		if (i % 5 == 4) {
			set.erase((i - 2) * step);
			if (!consistent(set, --n))
				return false;
		}
	}
	Set copy = set, moved = std::move(copy);
	for (int i = 0; i < 40; i++)
		n -= moved.erase(i * step);
	return n == 0 && moved.empty() && set.size() && moved.insert(7) != moved.end();
}

struct unique_set : std::unordered_set<int> {
	iterator insert(int value)
	{
		return std::unordered_set<int>::insert(value).first;
	}
};

/* Nodes that come from elsewhere, while one that looks alike is new. */
static bool nodes_move(void)
{
	for (int n = 1; n < 20; n++) {
		std::unordered_set<int> from, to;
		for (int i = 0; i < n; i++) {
			from.insert(i);
			to.insert(100 + i);
		}
		std::unordered_set<int> copy = from;
		std::forward_list<long> list;
		list.push_front(200);
		auto node = from.extract(0);
		to.insert(std::move(node));
		list.push_front(201);
		to.merge(from);
		if (!consistent(to, 2 * (size_t)n) || !from.empty() ||
		    !consistent(copy, (size_t)n) || list.front() != 201)
			return false;
	}
	return true;
}

/* Takes single blocks, and keeps what is given back until the end, or for others. */
template <typename T, bool Reuse> struct keeper {
	using value_type = T;
	template <typename U> struct rebind {
		using other = keeper<U, Reuse>;
	};
	static std::vector<std::pair<size_t, void *>> &kept()
	{
		static std::vector<std::pair<size_t, void *>> blocks;
		return blocks;
	}
	keeper() = default;
	template <typename U> keeper(const keeper<U, Reuse> &)
	{
	}
	T *allocate(size_t n)
	{
		for (auto &block : kept()) {
			if (Reuse && block.first == n) {
				void *found = block.second;
				block = kept().back();
				kept().pop_back();
				return (T *)found;
			}
		}
		return (T *)operator new(n * sizeof(T));
	}
	void deallocate(T *block, size_t n)
	{
		kept().push_back({ n, block });
	}
	bool operator==(const keeper &) const
	{
		return true;
	}
	bool operator!=(const keeper &) const
	{
		return false;
	}
};

template <bool Reuse>
struct kept_set : std::unordered_set<int, std::hash<int>, std::equal_to<int>, keeper<int, Reuse>> {
	using base = std::unordered_set<int, std::hash<int>, std::equal_to<int>, keeper<int, Reuse>>;
	typename base::iterator insert(int value)
	{
		return base::insert(value).first;
	}
};

/* In one function, so that there is no other code of that kind. */
static bool keeps_alone(void)
{
	std::unordered_set<long, std::hash<long>, std::equal_to<long>, keeper<long, false>> set;
	for (long i = 0; i < 13; i++) {
		set.insert(i * 3);
		if (!consistent(set, (size_t)i + 1))
			return false;
	}
	return true;
}

/* … and one that sorts them. */
static bool unordered_insert_correct(void)
{
	std::unordered_map<int, int> members;
	members[1] = 10;
	members[2] = 20;
	std::vector<std::pair<int, int>> sorted(members.begin(), members.end());
	std::sort(sorted.begin(), sorted.end());
	std::unordered_multiset<long> many;
	for (int i = 0; i < 30; i++) {
		many.insert(i % 10);
		if (many.count(i % 10) != (size_t)i / 10 + 1)
			return false;
	}
	return sorted[0].second == 10 && nodes_move() && fills_and_empties<unique_set>(1) &&
	       fills_and_empties<unique_set>(13) &&
	       fills_and_empties<kept_set<false>>(1) &&
	       fills_and_empties<kept_set<true>>(3) && keeps_alone() &&
	       fills_and_empties<std::unordered_multiset<long>>(3) &&
	       consistent(many, 30);
}

static bool unordered_rehash_fragile(void)
{
	std::unordered_set<int> set;
	set.insert(1);
	return set.bucket_count() == 13;
}

/* Iterators stay valid as long as the load allows it. */
static bool unordered_rehash_correct(void)
{
	std::unordered_set<std::string> set;
	for (int i = 0; i < 50; i++) {
		size_t buckets = set.bucket_count(), n = set.size();
		set.insert(std::to_string(i));
		if (n && n + 1 <= buckets && set.bucket_count() != buckets)
			return false;
		if (set.load_factor() > set.max_load_factor())
			return false;
	}
	return consistent(set, 50);
}

static bool unordered_reserve_fragile(void)
{
	std::unordered_set<int> set;
	set.reserve(10);
	return set.bucket_count() == 11;
}

static bool unordered_reserve_correct(void)
{
	std::unordered_set<int> set;
	set.reserve(10);
	size_t buckets = set.bucket_count();
	for (int i = 0; i < 10; i++)
		set.insert(i);
	return buckets >= 10 && set.bucket_count() == buckets &&
	       in_order(set).size() == 10;
}

static bool hash_bytes_fragile(void)
{
	return std::hash<std::string>()("polygraph") % 1000 == 708;
}

static bool hash_bytes_correct(void)
{
	std::unordered_map<std::string, int> map;
	for (int i = 0; i < 100; i++)
		map["key" + std::to_string(i)] = i;
	return map.at("key7") == 7 && !map.count("key100") &&
	       std::hash<std::string>()("a") == std::hash<std::string>()("a");
}

/* ---- GLib ---- */

#ifdef HAVE_GLIB
#include <glib.h>

#define GLIB_CASE(name) CASE(name)

static GHashTable *numbers(int n)
{
	GHashTable *table = g_hash_table_new(NULL, NULL);
	for (int i = 1; i <= n; i++)
		g_hash_table_insert(table, GINT_TO_POINTER(i),
				    GINT_TO_POINTER(10 * i));
	return table;
}

/* A pair for each number, each once, whatever their order. */
static bool complete(std::vector<int> found, int n)
{
	std::sort(found.begin(), found.end());
	for (int i = 1; i <= n; i++) {
		if ((int)found.size() != n || found[i - 1] != i)
			return false;
	}
	return true;
}

static bool g_hash_table_iter_next_fragile(void)
{
	GHashTable *table = numbers(2);
	GHashTableIter iter;
	gpointer key;
	std::vector<int> found;
	g_hash_table_iter_init(&iter, table);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		found.push_back(GPOINTER_TO_INT(key));
	g_hash_table_destroy(table);
	return found == std::vector<int>{ 1, 2 };
}

static bool walk_and_remove(int n)
{
	GHashTable *table = numbers(n);
	GHashTableIter iter;
	gpointer key, value;
	std::vector<int> found;
	bool right = true;
	g_hash_table_iter_init(&iter, table);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		int number = GPOINTER_TO_INT(key);
		found.push_back(number);
		right &= GPOINTER_TO_INT(value) == 10 * number;
		if (number % 3 == 0)
			g_hash_table_iter_remove(&iter);
		else if (number % 3 == 1)
			g_hash_table_iter_replace(&iter,
						  GINT_TO_POINTER(number));
	}
	right &= complete(found, n);
	for (int i = 1; i <= n; i++) {
		int left = GPOINTER_TO_INT(
			g_hash_table_lookup(table, GINT_TO_POINTER(i)));
		right &= left == (i % 3 == 0 ? 0 : i % 3 == 1 ? i : 10 * i);
	}
	/* Left early, and again while another is under way. */
	g_hash_table_iter_init(&iter, table);
	g_hash_table_iter_next(&iter, NULL, NULL);
	GHashTableIter outer;
	unsigned outers = 0, inners = 0;
	g_hash_table_iter_init(&outer, table);
	while (g_hash_table_iter_next(&outer, NULL, NULL)) {
		outers++;
		g_hash_table_iter_init(&iter, table);
		while (g_hash_table_iter_next(&iter, NULL, NULL))
			inners++;
	}
	unsigned size = g_hash_table_size(table);
	right &= outers == size && inners == size * size;
	g_hash_table_destroy(table);
	return right;
}

static bool g_hash_table_iter_next_correct(void)
{
	return walk_and_remove(5) && walk_and_remove(64) &&
	       walk_and_remove(150);
}

static void collect(gpointer key, gpointer, gpointer data)
{
	((std::vector<int> *)data)->push_back(GPOINTER_TO_INT(key));
}

static std::vector<int> each(GHashTable *table)
{
	std::vector<int> found;
	g_hash_table_foreach(table, collect, &found);
	return found;
}

/* A writer of JSON that writes pairs as they come … */
static void write_pair(gpointer key, gpointer value, gpointer data)
{
	std::string *text = (std::string *)data;
	*text += *text == "{" ? "" : ",";
	*text += "\"" + std::string((const char *)key) +
		 "\":" + std::to_string(GPOINTER_TO_INT(value));
}

static GHashTable *document(void)
{
	GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);
	g_hash_table_insert(table, (gpointer) "name", GINT_TO_POINTER(1));
	g_hash_table_insert(table, (gpointer) "size", GINT_TO_POINTER(2));
	return table;
}

static bool g_hash_table_foreach_fragile(void)
{
	GHashTable *table = document();
	std::string text = "{";
	g_hash_table_foreach(table, write_pair, &text);
	text += "}";
	g_hash_table_destroy(table);
	return text == "{\"size\":2,\"name\":1}";
}

/* … and one that sorts them. */
static bool g_hash_table_foreach_correct(void)
{
	GHashTable *table = document();
	std::string text = "{";
	GList *keys = g_list_sort(g_hash_table_get_keys(table),
				  (GCompareFunc)strcmp);
	for (GList *key = keys; key; key = key->next)
		write_pair(key->data, g_hash_table_lookup(table, key->data),
			   &text);
	text += "}";
	g_list_free(keys);
	g_hash_table_destroy(table);
	GHashTable *many = numbers(100);
	bool right = complete(each(many), 100);
	g_hash_table_destroy(many);
	return right && text == "{\"name\":1,\"size\":2}";
}

static gboolean is_small(gpointer key, gpointer, gpointer limit)
{
	return GPOINTER_TO_INT(key) <= *(int *)limit;
}

static bool g_hash_table_find_fragile(void)
{
	GHashTable *table = numbers(2);
	int limit = 2;
	bool first = GPOINTER_TO_INT(g_hash_table_find(table, is_small,
							&limit)) == 10;
	g_hash_table_destroy(table);
	return first;
}

static bool g_hash_table_find_correct(void)
{
	GHashTable *table = numbers(80);
	int any = 3, only = 1, none = 0;
	int found = GPOINTER_TO_INT(g_hash_table_find(table, is_small, &any));
	bool right = found == 10 || found == 20 || found == 30;
	right &= g_hash_table_find(table, is_small, &only) ==
		 GINT_TO_POINTER(10);
	right &= !g_hash_table_find(table, is_small, &none);
	g_hash_table_destroy(table);
	return right;
}

/* Takes as many as it may, whichever they are … */
static gboolean take_some(gpointer, gpointer, gpointer left)
{
	return (*(int *)left)-- > 0;
}

static bool takes(guint (*function)(GHashTable *, GHRFunc, gpointer))
{
	GHashTable *table = numbers(2);
	int left = 1;
	function(table, take_some, &left);
	bool first = each(table) == std::vector<int>{ 2 };
	g_hash_table_destroy(table);
	return first;
}

static gboolean take_even(gpointer key, gpointer, gpointer)
{
	return GPOINTER_TO_INT(key) % 2 == 0;
}

/* … and those that are meant. */
static bool takes_even(guint (*function)(GHashTable *, GHRFunc, gpointer))
{
	GHashTable *table = numbers(150);
	bool right = function(table, take_even, NULL) == 75 &&
		     g_hash_table_size(table) == 75;
	for (int number : each(table))
		right &= number % 2 == 1;
	g_hash_table_destroy(table);
	return right;
}

static bool g_hash_table_foreach_remove_fragile(void)
{
	return takes(g_hash_table_foreach_remove);
}

static bool g_hash_table_foreach_remove_correct(void)
{
	return takes_even(g_hash_table_foreach_remove);
}

static bool g_hash_table_foreach_steal_fragile(void)
{
	return takes(g_hash_table_foreach_steal);
}

static bool g_hash_table_foreach_steal_correct(void)
{
	return takes_even(g_hash_table_foreach_steal);
}

static std::vector<int> listed(GList *list)
{
	std::vector<int> found;
	for (GList *node = list; node; node = node->next)
		found.push_back(GPOINTER_TO_INT(node->data));
	g_list_free(list);
	return found;
}

static bool g_hash_table_get_keys_fragile(void)
{
	GHashTable *table = numbers(2);
	bool same = listed(g_hash_table_get_keys(table)) ==
		    std::vector<int>{ 2, 1 };
	g_hash_table_destroy(table);
	return same;
}

static bool g_hash_table_get_keys_correct(void)
{
	GHashTable *table = numbers(70);
	bool right = complete(listed(g_hash_table_get_keys(table)), 70);
	g_hash_table_destroy(table);
	return right;
}

static bool g_hash_table_get_values_fragile(void)
{
	GHashTable *table = numbers(2);
	bool same = listed(g_hash_table_get_values(table)) ==
		    std::vector<int>{ 20, 10 };
	g_hash_table_destroy(table);
	return same;
}

static bool g_hash_table_get_values_correct(void)
{
	GHashTable *table = numbers(70);
	std::vector<int> found = listed(g_hash_table_get_values(table));
	for (int &value : found)
		value /= 10;
	g_hash_table_destroy(table);
	return complete(found, 70);
}

static bool g_hash_table_get_keys_as_array_fragile(void)
{
	GHashTable *table = numbers(2);
	gpointer *keys = g_hash_table_get_keys_as_array(table, NULL);
	bool same = keys[0] == GINT_TO_POINTER(1) && !keys[2];
	g_free(keys);
	g_hash_table_destroy(table);
	return same;
}

static bool g_hash_table_get_keys_as_array_correct(void)
{
	GHashTable *table = numbers(70);
	guint n = 0;
	gpointer *keys = g_hash_table_get_keys_as_array(table, &n);
	std::vector<int> found;
	for (guint i = 0; i < n; i++)
		found.push_back(GPOINTER_TO_INT(keys[i]));
	bool right = complete(found, 70) && !keys[n];
	g_free(keys);
	g_hash_table_destroy(table);
	return right;
}
#else
/* Built without GLib: its cases are said to be out of reach. */
static bool holds(void)
{
	return true;
}

#define GLIB_CASE(name)                                                        \
	{                                                                      \
		#name, holds, holds, true                                      \
	}
#endif

CASES(CASE(unordered_insert), CASE(unordered_rehash), CASE(unordered_reserve),
      CASE(hash_bytes), CASE(tdelete), GLIB_CASE(g_hash_table_iter_next),
      GLIB_CASE(g_hash_table_foreach), GLIB_CASE(g_hash_table_find),
      GLIB_CASE(g_hash_table_foreach_remove),
      GLIB_CASE(g_hash_table_foreach_steal), GLIB_CASE(g_hash_table_get_keys),
      GLIB_CASE(g_hash_table_get_values),
      GLIB_CASE(g_hash_table_get_keys_as_array))
