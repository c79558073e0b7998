/*
 * Unordered containers of every kind, with keys and values of many sizes, hashes
 * that nodes keep and hashes that they do not. Run by test_orders.c.
 *
 *	orders	prints a line a container: the first level (wire/models.h) at which
 *		its order may be another, its name, and its order. Status 1: lookups,
 *		buckets and iterators of one contradict one another.
 */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

static bool broken;

struct point {
	long x, y, z;
	bool operator==(const point &other) const
	{
		return x == other.x && y == other.y && z == other.z;
	}
};

/* May throw, as far as the library knows: nodes of libstdc++ keep its values. */
struct slow_hash {
	size_t operator()(const point &p) const
	{
		return (size_t)(p.x * 31 + p.y * 7 + p.z);
	}
};

struct fast_hash {
	size_t operator()(const point &p) const noexcept
	{
		return (size_t)(p.x * 31 + p.y * 7 + p.z);
	}
};

struct large {
	char text[100];
	int number;
};

static void set(int &key, int i)
{
	key = i;
}
static void set(std::string &key, int i)
{
	key = (i % 2 ? "k" : "a longer text, in a block of its own ") +
	      std::to_string(i);
}
static void set(point &key, int i)
{
	key = { i, 2L * i, 3L * i };
}
static void set(large &value, int i)
{
	value = {};
	value.number = 7 * i + 3;
}

static int number_of(int key)
{
	return key;
}
static int number_of(const std::string &key)
{
	return atoi(key.c_str() + (key[0] == 'k' ? 1 : 37));
}
static int number_of(const point &key)
{
	return (int)key.x;
}
template <typename K, typename V> static int number_of(const std::pair<const K, V> &pair)
{
	return number_of(pair.first);
}

template <typename Key> static const Key &key_of(const Key &value)
{
	return value;
}
template <typename K, typename V> static const K &key_of(const std::pair<const K, V> &pair)
{
	return pair.first;
}

template <typename T> struct maker {
	static T make(int i)
	{
		T value{};
		set(value, i);
		return value;
	}
};
template <typename K, typename V> struct maker<std::pair<const K, V>> {
	static std::pair<const K, V> make(int i)
	{
		return { maker<K>::make(i), maker<V>::make(i) };
	}
};

/* What buckets, lookups and iterators say of it agrees; equal keys are together. */
template <typename Container> static bool is_consistent(const Container &all, size_t n, size_t each)
{
	size_t in_buckets = 0, walked = 0, together = 0;
	int last = -1;
	for (size_t i = 0; i < all.bucket_count(); i++) {
		for (auto it = all.begin(i); it != all.end(i); ++it) {
			if (all.bucket(key_of(*it)) != i)
				return false;
			in_buckets++;
		}
	}
	for (const auto &value : all) {
		if (all.count(key_of(value)) != each || all.find(key_of(value)) == all.end())
			return false;
		together += number_of(value) != last;
		last = number_of(value);
		walked++;
	}
	return in_buckets == n && walked == n && all.size() == n && together * each == n &&
	       all.load_factor() <= all.max_load_factor();
}

/* @equal: elements of each key. */
template <typename Container> static void show(int level, const char *name, int n, size_t equal = 1)
{
	using value = typename Container::value_type;
	Container all;
	size_t size = 0;
	for (int i = 1; i <= n; i++) {
		for (size_t k = 0; k < equal; k++) {
			std::vector<const value *> old;
			for (const auto &one : all)
				old.push_back(&one);
			size_t buckets = all.bucket_count();
			all.insert(maker<value>::make(i));
			size++;
			/* Without a rehash those that were there stay in order. */
			size_t at = 0;
			for (const auto &one : all)
				at += at < old.size() && old[at] == &one;
			broken |= all.bucket_count() == buckets && at != old.size();
		}
		broken |= !is_consistent(all, size, equal);
	}
	printf("%d %s of %d:", level, name, n);
	for (const auto &one : all)
		printf(" %d", number_of(one));
	printf("\n");
	Container copy = all, moved = std::move(copy);
	broken |= !is_consistent(moved, size, equal);
	for (int i = 1; i <= n; i += 2)
		size -= moved.erase(key_of(maker<value>::make(i)));
	broken |= !is_consistent(moved, size, equal);
	if (broken)
		printf("%s of %d: broken\n", name, n);
}

template <typename Container> static void show_sizes(int small, const char *name, size_t equal = 1)
{
	show<Container>(small, name, 3, equal);
	show<Container>(0, name, 16, equal);
}

int main()
{
	show_sizes<std::unordered_set<int>>(0, "unordered_set<int>");
	show_sizes<std::unordered_set<std::string>>(0, "unordered_set<string>");
	show_sizes<std::unordered_set<point, fast_hash>>(0, "unordered_set<point>");
	show_sizes<std::unordered_set<point, slow_hash>>(0, "unordered_set<point> (keeps)");
	show_sizes<std::unordered_map<int, int>>(0, "unordered_map<int,int>");
	show_sizes<std::unordered_map<int, large>>(0, "unordered_map<int,large>");
	show_sizes<std::unordered_map<int, std::string>>(0, "unordered_map<int,string>");
	show_sizes<std::unordered_map<std::string, int>>(0, "unordered_map<string,int>");
	show_sizes<std::unordered_map<std::string, std::string>>(0, "unordered_map<string,string>");
	show_sizes<std::unordered_map<std::string, large>>(0, "unordered_map<string,large>");
	show_sizes<std::unordered_map<point, int, slow_hash>>(0, "unordered_map<point,int> (keeps)");
	show_sizes<std::unordered_multiset<int>>(0, "unordered_multiset<int>", 2);
	show_sizes<std::unordered_multiset<std::string>>(0, "unordered_multiset<string>", 2);
	show_sizes<std::unordered_multimap<int, large>>(0, "unordered_multimap<int,large>", 2);
	show_sizes<std::unordered_multimap<std::string, int>>(0, "unordered_multimap<string,int>", 2);
	return broken;
}
