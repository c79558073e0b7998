// The order of C++'s unordered containers: keys and values of many sizes, each beside a test that does not mind it. Both
// C++ libraries; hashes are left alone, so that it is the order and nothing else.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ variant libcxx cflags="-stdlib=libc++" libs="-stdlib=libc++" needs=vector builds=clang-O0,clang-O2 quick=clang-O0
//@ run default --api "std::unordered*"

#include "../runner.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace
{
struct Point {
	long x, y;
	bool operator==(const Point &other) const
	{
		return x == other.x && y == other.y;
	}
};

struct HashPoint {
	size_t operator()(const Point &point) const
	{
		return static_cast<size_t>(point.x * 31 + point.y);
	}
};

// What it was when the test was written: today's order, which the libraries do not share.
template <class Container> bool as_today(const Container &container, const std::vector<std::string> &known)
{
	std::vector<std::string> found;
	for (const auto &element : container)
		found.push_back(element);
	return found == known;
}

std::unordered_set<std::string> some_names()
{
	return { "ann", "a name that does not fit into the object", "bob", "eve" };
}

const std::vector<std::string> names_today = {
#ifdef _LIBCPP_VERSION
	"eve", "a name that does not fit into the object", "bob", "ann"
#else
	"bob", "eve", "a name that does not fit into the object", "ann"
#endif
};
} // namespace

TEST(test_names_in_order)
{
	assert(as_today(some_names(), names_today)); //@ assumption test_names_in_order api="std::unordered_map/set (order)" line=any more=yes
}

TEST(test_names_sorted)
{
	auto names = some_names();
	std::set<std::string> sorted(names.begin(), names.end());
	assert(sorted.size() == 4 && *sorted.rbegin() == "eve");
	assert(names.count("bob") && !names.count("sue"));
}

TEST(test_map_in_order)
{
	std::unordered_map<std::string, std::string> map;
	map["one"] = "1";
	map["two"] = "2";
	map["three"] = "3";
	std::string text;
	for (const auto &pair : map)
		text += pair.first + "=" + pair.second + ";";
	assert(text == "three=3;two=2;one=1;"); //@ assumption test_map_in_order api="std::unordered_map/set (order)" line=any more=yes
}

TEST(test_map_by_key)
{
	std::unordered_map<std::string, std::string> map;
	map["one"] = "1";
	map["two"] = "2";
	map["three"] = "3";
	assert(map.at("one") == "1" && map.at("three") == "3" && map.size() == 3);
	assert(map.erase("two") == 1 && !map.count("two"));
}

TEST(test_points_in_order)
{
	std::unordered_map<Point, int, HashPoint> points;
	for (int i = 1; i <= 5; i++)
		points.emplace(Point{ i, i }, i);
	std::vector<int> found;
	for (const auto &pair : points)
		found.push_back(pair.second);
	std::vector<int> today = { 5, 4, 3, 2, 1 };
	assert(found == today); //@ assumption test_points_in_order api="std::unordered_map/set (order)" line=any more=yes
}

TEST(test_points_all)
{
	std::unordered_map<Point, int, HashPoint> points;
	for (int i = 1; i <= 5; i++)
		points.emplace(Point{ i, i }, i);
	int sum = 0;
	for (const auto &pair : points)
		sum += pair.second;
	assert(sum == 15 && points.find(Point{ 3, 3 })->second == 3);
}

TEST(test_equal_keys_in_order)
{
	std::unordered_multimap<std::string, int> many;
	for (int i = 0; i < 6; i++)
		many.emplace(std::to_string(i % 3), i / 3);
	std::string keys;
	for (const auto &pair : many)
		keys += pair.first;
	assert(keys == "221100"); //@ assumption test_equal_keys_in_order api="std::unordered_map/set (order)" line=any more=yes
}

// Equal keys stand together, whatever the order of the others.
TEST(test_equal_keys_together)
{
	std::unordered_multimap<std::string, int> many;
	for (int i = 0; i < 20; i++)
		many.emplace(std::to_string(i % 5), i);
	std::set<std::string> seen;
	std::string last;
	for (const auto &pair : many) {
		assert(pair.first == last || seen.insert(pair.first).second);
		last = pair.first;
	}
	assert(many.count("3") == 4);
}

// Iterators are valid as long as the load allows it, and go over what was there.
TEST(test_iterates_and_inserts)
{
	std::unordered_set<std::string> names = some_names();
	names.reserve(20);
	std::vector<std::string> before(names.begin(), names.end()), after;
	for (auto it = names.begin(); it != names.end(); ++it) {
		if (it->size() == 3)
			names.insert(*it + "!");
		if (it->back() != '!')
			after.push_back(*it);
	}
	assert(before == after);
}

RUNNER_MAIN()
