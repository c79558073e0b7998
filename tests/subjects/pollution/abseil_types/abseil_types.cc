// Abseil's containers: what they hold counts, not capacity, order, the seed of hash tables or the shape of a tree.
//
//@ subject framework=functions lang=c++ header=absl/container/btree_map.h packages="libabsl-dev"
//@ variant plain pkg=absl_flat_hash_map quick=gcc-O0,clang-O2

#include "../runner.h"

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/container/node_hash_map.h>
#include <absl/container/node_hash_set.h>

#include <string>

struct Wide {
	char tag;
	long a, b;
};

static absl::flat_hash_map<std::string, int> make_ages(bool backwards)
{
	absl::flat_hash_map<std::string, int> made;
	for (int i = 0; i < 20; i++) {
		int age = backwards ? 19 - i : i;
		made["name" + std::to_string(age)] = age;
	}
	return made;
}

static absl::btree_map<int, std::string> make_tree(bool backwards)
{
	absl::btree_map<int, std::string> made;
	for (int i = 0; i < 300; i++) {
		int key = backwards ? 299 - i : i;
		made[key] = std::to_string(key);
	}
	return made;
}

absl::flat_hash_map<std::string, int> ages = make_ages(false);
absl::flat_hash_map<char, Wide> odd = { { 'a', { 'x', 1, 2 } }, { 'b', { 'y', 3, 4 } } };
absl::flat_hash_set<int> set = { 1, 2, 3, 4, 5 };
absl::node_hash_map<int, std::string> nodes = { { 1, "one" }, { 2, "two" }, { 3, "three" } };
absl::node_hash_set<int> node_set = { 1, 2, 3 };
absl::btree_map<int, std::string> tree = make_tree(false);
absl::btree_set<int> tree_set = { 1, 5, 9 };
absl::InlinedVector<int, 4> inlined = { 1, 2, 3 };
absl::InlinedVector<std::string, 2> texts = { "a", "b", "c" };

TEST(test_flat_map_value) //@ pollutes test_flat_map_value ages "ages[\"name7\"]" before=7 after=70
{
	ages["name7"] = 70;
}

TEST(test_flat_map_rebuilt) //@ clean test_flat_map_rebuilt
{
	int kept = ages["name7"];
	auto again = make_ages(true);
	again["name7"] = kept;
	again.reserve(1000);
	ages = std::move(again);
}

TEST(test_flat_map_hole) //@ clean test_flat_map_hole
{
	ages["temporary"] = 1;
	ages.erase("temporary");
	int five = ages["name5"];
	ages.erase("name5");
	ages["name5"] = five;
}

TEST(test_flat_map_key) //@ pollutes test_flat_map_key ages ...ages["new"]...
{
	ages["new"] = 1;
}

TEST(test_odd_value) //@ pollutes test_odd_value odd "odd['b'].b" before=4 after=44
{
	odd['b'].b = 44;
}

TEST(test_flat_set_grows) //@ pollutes test_flat_set_grows set ...
{
	set.insert(100);
}

TEST(test_flat_set_rehashed) //@ clean test_flat_set_rehashed
{
	set.rehash(500);
}

TEST(test_node_map_value) //@ pollutes test_node_map_value nodes "nodes[2]" before="\"two\"" after="\"zwei\""
{
	nodes[2] = "zwei";
}

TEST(test_node_map_rebuilt) //@ clean test_node_map_rebuilt
{
	absl::node_hash_map<int, std::string> again;
	again.reserve(100);
	for (const auto &pair : nodes)
		again.insert(pair);
	nodes = std::move(again);
}

TEST(test_node_set_grows) //@ pollutes test_node_set_grows node_set ...
{
	node_set.insert(4);
}

TEST(test_tree_value) //@ pollutes test_tree_value tree "tree[150]" before="\"150\"" after="\"changed\""
{
	tree[150] = "changed";
}

TEST(test_tree_key) //@ pollutes test_tree_key tree ...tree[1000]...
{
	tree[1000] = "new";
}

TEST(test_tree_rebuilt) //@ clean test_tree_rebuilt
{
	auto again = make_tree(true);
	again[150] = tree[150];
	again[1000] = tree[1000];
	tree = std::move(again);
}

TEST(test_tree_moved_about) //@ clean test_tree_moved_about
{
	for (int i = -100; i < 0; i++)
		tree[i] = "temporary";
	for (int i = -100; i < 0; i++)
		tree.erase(i);
}

TEST(test_tree_set_grows) //@ pollutes test_tree_set_grows tree_set ...
{
	tree_set.insert(3);
}

TEST(test_inlined_value) //@ pollutes test_inlined_value inlined "inlined[1]" before=2 after=20
{
	inlined[1] = 20;
}

TEST(test_inlined_moved) //@ clean test_inlined_moved
{
	inlined.reserve(100);
}

TEST(test_inlined_text) //@ pollutes test_inlined_text texts "texts[2]" before="\"c\"" after="\"see\""
{
	texts[2] = "see";
}

RUNNER_MAIN()
