// The standard library's types: content counts; capacity, buckets, shape of the tree and addresses do not.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2
//@ variant libcxx cflags="-stdlib=libc++" libs="-stdlib=libc++" needs=vector builds=clang-O0,clang-O2 quick=clang-O0
//@ variant dwarf4 cflags="-gdwarf-4" builds=gcc-O2,clang-O0
//@ variant standalone cflags="-fstandalone-debug" builds=clang-O2
//@ variant oldabi cflags="-D_GLIBCXX_USE_CXX11_ABI=0" builds=gcc-O0
//@ variant static libs="-static" builds=gcc-O2

#include "../runner.h"

#include <any>
#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

using namespace std::string_literals;

struct Item {
	int id = 0;
	std::string name;
	bool operator<(const Item &other) const
	{
		return id < other.id;
	}
};

static std::string long_text(char last)
{
	return std::string(60, 'l') + last;
}

// vector

std::vector<int> numbers = { 1, 2, 3 };
std::vector<std::string> names = { "one", "two", "three" };
std::vector<Item> items(3);
std::vector<std::vector<int>> rows = { { 1, 2 }, { 3 } };
std::vector<int> never_used;
std::vector<Item *> pointers = { new Item, new Item };

TEST(test_vector_element) //@ pollutes test_vector_element numbers numbers[1] before=2 after=20
{
	numbers[1] = 20;
}

TEST(test_vector_grows) //@ pollutes test_vector_grows numbers ... effect=accumulates
{
	numbers.push_back(4);
}

TEST(test_vector_shrinks) //@ pollutes test_vector_shrinks numbers ...
{
	numbers.pop_back();
}

TEST(test_vector_reserve) //@ clean test_vector_reserve
{
	numbers.reserve(1000);
}

TEST(test_vector_pushed_and_popped) //@ clean test_vector_pushed_and_popped
{
	for (int i = 0; i < 2000; i++)
		numbers.push_back(i);
	TOUCH(numbers.data());
	numbers.resize(3);
}

TEST(test_vector_shrink_to_fit) //@ clean test_vector_shrink_to_fit
{
	numbers.shrink_to_fit();
}

TEST(test_vector_rebuilt) //@ clean test_vector_rebuilt
{
	std::vector<int> fresh(numbers.begin(), numbers.end());
	numbers.swap(fresh);
}

TEST(test_vector_of_strings) //@ pollutes test_vector_of_strings names names[2] before="\"three\"" after="\"drei\""
{
	names[2] = "drei";
}

TEST(test_vector_of_strings_rebuilt) //@ clean test_vector_of_strings_rebuilt
{
	names = std::vector<std::string>(names);
}

TEST(test_vector_cleared) //@ pollutes test_vector_cleared names ...
{
	names.clear();
}

TEST(test_vector_of_structs) //@ pollutes test_vector_of_structs items items[1].id before=0 after=5
{
	items[1].id = 5;
}

TEST(test_vector_of_vectors) //@ pollutes test_vector_of_vectors rows rows[0][1] before=2 after=22
{
	rows[0][1] = 22;
}

TEST(test_vector_filled_and_emptied) //@ clean test_vector_filled_and_emptied
{
	never_used.assign(50, 7);
	TOUCH(never_used.data());
	never_used.clear();
}

TEST(test_vector_of_pointers) //@ pollutes test_vector_of_pointers pointers pointers[1]->id before=0 after=3
{
	pointers[1]->id = 3;
}

TEST(test_vector_of_pointers_rebuilt) //@ clean test_vector_of_pointers_rebuilt
{
	for (auto &pointer : pointers) {
		auto *fresh = new Item(*pointer);
		delete pointer;
		pointer = fresh;
	}
}

std::vector<bool> bits(70);

TEST(test_vector_bool) //@ pollutes test_vector_bool bits bits[65] before=false after=true
{
	bits[65] = true;
}

TEST(test_vector_bool_reserve) //@ clean test_vector_bool_reserve
{
	bits.reserve(5000);
}

TEST(test_vector_bool_slack) //@ clean test_vector_bool_slack
{
	bits.push_back(true);
	bits.push_back(true);
	bits.resize(70);
}

// Less than a byte of them, whole words, none, and those inside of others.
std::vector<bool> few_bits(3), word_bits(64), no_bits, bit_grid[2] = { std::vector<bool>(9), std::vector<bool>(9) };

TEST(test_vector_bool_few) //@ pollutes test_vector_bool_few few_bits few_bits[1] before=false after=true effect=settles
{
	few_bits[1] = true;
}

TEST(test_vector_bool_few_back) //@ clean test_vector_bool_few_back
{
	few_bits[2] = true;
	few_bits.push_back(true);
	few_bits.resize(3);
	few_bits[2] = false;
}

TEST(test_vector_bool_few_made_again) //@ clean test_vector_bool_few_made_again
{
	std::vector<bool> other;
	for (bool bit : few_bits)
		other.push_back(bit);
	other.push_back(true);
	other.pop_back();
	few_bits.swap(other);
}

TEST(test_vector_bool_word) //@ pollutes test_vector_bool_word word_bits word_bits[63] before=false after=true
{
	word_bits[63] = true;
}

TEST(test_vector_bool_word_back) //@ clean test_vector_bool_word_back
{
	word_bits.push_back(true);
	word_bits.pop_back();
	word_bits.flip();
	word_bits.flip();
}

TEST(test_vector_bool_first) //@ pollutes test_vector_bool_first no_bits no_bits before="0 elements" after="1 element" effect=accumulates
{
	no_bits.push_back(true);
}

TEST(test_vector_bool_first_back) //@ clean test_vector_bool_first_back
{
	no_bits.push_back(true);
	no_bits.pop_back();
}

TEST(test_vector_bool_grid) //@ pollutes test_vector_bool_grid bit_grid bit_grid[1][8] before=false after=true
{
	bit_grid[1][8] = true;
}

// string

std::string text = "short";
std::string story = long_text('a');
std::wstring wide = L"wide";

TEST(test_string) //@ pollutes test_string text text before="\"short\"" after="\"brief\""
{
	text = "brief";
}

TEST(test_string_long) //@ pollutes test_string_long story story
{
	story.back() = 'b';
}

TEST(test_string_reserve) //@ clean test_string_reserve
{
	text.reserve(200);
}

TEST(test_string_moved_to_heap_and_back) //@ clean test_string_moved_to_heap_and_back
{
	text.append(500, 'x');
	TOUCH(text.data());
	text.resize(5);
	text.shrink_to_fit();
}

TEST(test_string_stale_bytes) //@ clean test_string_stale_bytes
{
	story.append("more");
	story.resize(61);
}

TEST(test_string_rebuilt) //@ clean test_string_rebuilt
{
	std::string fresh(story.c_str());
	story.swap(fresh);
}

TEST(test_wstring) //@ pollutes test_wstring wide ...
{
	wide[0] = L'W';
}

TEST(test_wstring_rebuilt) //@ clean test_wstring_rebuilt
{
	wide = std::wstring(wide.c_str());
}

std::string_view view = "a view of something";

TEST(test_string_view) //@ pollutes test_string_view view ...
{
	view = view.substr(2, 4);
}

// deque, list, forward_list

std::deque<int> line = { 1, 2, 3 };
std::list<int> chain = { 1, 2, 3 };
std::forward_list<int> forward = { 1, 2, 3 };
std::queue<int> waiting;
std::stack<std::string> stacked;
std::priority_queue<int> urgent;

TEST(test_deque_element) //@ pollutes test_deque_element line line[1] before=2 after=5
{
	line[1] = 5;
}

TEST(test_deque_grows) //@ pollutes test_deque_grows line ... effect=accumulates
{
	line.push_front(0);
}

TEST(test_deque_rolls) //@ clean test_deque_rolls
{
	for (int i = 0; i < 3000; i++) {
		line.push_back(line.front());
		line.pop_front();
	}
	// 3000 is a multiple of the four elements.
}

TEST(test_list_element) //@ pollutes test_list_element chain chain[2] before=3 after=33
{
	chain.back() = 33;
}

TEST(test_list_grows) //@ pollutes test_list_grows chain ... effect=accumulates
{
	chain.push_back(4);
}

TEST(test_list_rebuilt) //@ clean test_list_rebuilt
{
	std::list<int> fresh(chain);
	chain.swap(fresh);
}

TEST(test_list_spliced) //@ clean test_list_spliced
{
	// Round and round, until it is as before, in other nodes.
	for (size_t i = 0; i < 4; i++) {
		chain.push_back(chain.front());
		chain.pop_front();
	}
}

TEST(test_forward_list) //@ pollutes test_forward_list forward forward[0] before=1 after=11
{
	forward.front() = 11;
}

TEST(test_forward_list_rebuilt) //@ clean test_forward_list_rebuilt
{
	forward = std::forward_list<int>(forward);
}

TEST(test_queue) //@ pollutes test_queue waiting ... effect=accumulates
{
	waiting.push(3);
}

TEST(test_stack_pushed_and_popped) //@ clean test_stack_pushed_and_popped
{
	stacked.push(long_text('s'));
	stacked.pop();
}

TEST(test_priority_queue) //@ pollutes test_priority_queue urgent ...
{
	urgent.push(9);
}

// map, set

std::map<std::string, int> limits = { { "max", 10 }, { "min", 1 } };
std::set<int> seen = { 1, 5, 9 };
std::multimap<int, std::string> many = { { 1, "a" }, { 1, "b" }, { 2, "c" } };
std::map<int, Item> by_id = { { 7, {} } };

TEST(test_map_value) //@ pollutes test_map_value limits "limits[\"max\"]" before=10 after=20
{
	limits["max"] = 20;
}

TEST(test_map_grows) //@ pollutes test_map_grows limits "limits[\"middle\"]" effect=settles after=5
{
	limits["middle"] = 5;
}

TEST(test_map_rebuilt) //@ clean test_map_rebuilt
{
	std::map<std::string, int> fresh;
	for (auto it = limits.rbegin(); it != limits.rend(); ++it)
		fresh[it->first] = it->second;
	limits.swap(fresh);
}

TEST(test_map_erased_again) //@ clean test_map_erased_again
{
	limits.erase("middle");
}

TEST(test_map_erased) //@ pollutes test_map_erased limits "limits[\"min\"]" before=1
{
	limits.erase("min");
}

TEST(test_map_rebalanced) //@ clean test_map_rebalanced
{
	for (int i = 0; i < 100; i++)
		limits["n" + std::to_string(i)] = i;
	for (int i = 99; i >= 0; i--)
		limits.erase("n" + std::to_string(i));
}

TEST(test_map_of_structs) //@ pollutes test_map_of_structs by_id by_id[7].name before="\"\"" after="\"seven\""
{
	by_id[7].name = "seven";
}

TEST(test_set_grows) //@ pollutes test_set_grows seen ... effect=settles
{
	seen.insert(7);
}

TEST(test_set_rebuilt) //@ clean test_set_rebuilt
{
	seen = { 9, 7, 5, 1 };
}

TEST(test_multimap) //@ pollutes test_multimap many ...
{
	many.begin()->second = "aa";
}

TEST(test_multimap_rebuilt) //@ clean test_multimap_rebuilt
{
	std::multimap<int, std::string> fresh(many.begin(), many.end());
	many.swap(fresh);
}

// unordered

std::unordered_map<std::string, int> scores = { { "ann", 1 }, { "bob", 2 }, { "cat", 3 } };
std::unordered_set<int> ids = { 10, 20, 30 };
std::unordered_map<int, std::vector<int>> groups = { { 1, { 1 } } };

TEST(test_unordered_map_value) //@ pollutes test_unordered_map_value scores "scores[\"bob\"]" before=2 after=22
{
	scores["bob"] = 22;
}

TEST(test_unordered_map_rehashed) //@ clean test_unordered_map_rehashed
{
	scores.rehash(1000);
}

TEST(test_unordered_map_reserved) //@ clean test_unordered_map_reserved
{
	ids.reserve(500);
}

TEST(test_unordered_map_other_order) //@ clean test_unordered_map_other_order
{
	std::unordered_map<std::string, int> fresh = { { "cat", 3 }, { "bob", 22 }, { "ann", 1 } };
	scores.swap(fresh);
}

TEST(test_unordered_map_grows) //@ pollutes test_unordered_map_grows scores "scores[\"dan\"]" effect=settles after=4
{
	scores["dan"] = 4;
}

TEST(test_unordered_map_key_exchanged) //@ pollutes test_unordered_map_key_exchanged scores ...
{
	scores.erase("ann");
	scores["eve"] = 1;
}

TEST(test_unordered_set_grows) //@ pollutes test_unordered_set_grows ids ...
{
	ids.insert(40);
}

TEST(test_unordered_set_churn) //@ clean test_unordered_set_churn
{
	for (int i = 100; i < 300; i++)
		ids.insert(i);
	for (int i = 100; i < 300; i++)
		ids.erase(i);
}

TEST(test_unordered_map_nested) //@ pollutes test_unordered_map_nested groups groups[1]... effect=accumulates
{
	groups[1].push_back(2);
}

TEST(test_unordered_map_filled_and_cleared) //@ clean test_unordered_map_filled_and_cleared
{
	for (int i = 2; i < 100; i++)
		groups[i] = { i };
	for (int i = 2; i < 100; i++)
		groups.erase(i);
}

// Smart pointers

std::unique_ptr<Item> unique = std::make_unique<Item>();
std::shared_ptr<Item> shared = std::make_shared<Item>();
std::shared_ptr<Item> also_shared = shared;
std::weak_ptr<Item> weak = shared;
std::unique_ptr<int[]> array(new int[5]());
struct Config {
	std::unique_ptr<int> level = std::make_unique<int>(1);
	std::shared_ptr<Config> parent;
} config;

TEST(test_unique_ptr_target) //@ pollutes test_unique_ptr_target unique unique->id|(*unique).id before=0 after=1
{
	unique->id = 1;
}

TEST(test_unique_ptr_rebuilt) //@ clean test_unique_ptr_rebuilt
{
	unique = std::make_unique<Item>(*unique);
}

// Without the agent a block is as large as the allocator made it: more than one may fit in.
TEST(test_unique_ptr_in_struct) //@ pollutes test_unique_ptr_in_struct config *config.level|config.level|config.level[0] before=1 after=2
{
	*config.level = 2;
}

TEST(test_unique_ptr_reset) //@ pollutes test_unique_ptr_reset unique ...
{
	unique.reset();
}

TEST(test_unique_ptr_to_array) //@ pollutes test_unique_ptr_to_array array array[3] before=0 after=1
{
	array[3] = 1;
}

TEST(test_shared_ptr_target) //@ pollutes test_shared_ptr_target shared|also_shared|weak ...id before=0 after=8
{
	shared->id = 8;
}

TEST(test_shared_ptr_borrowed) //@ clean test_shared_ptr_borrowed
{
	std::shared_ptr<Item> mine = shared;
	TOUCH(&mine);
}

TEST(test_shared_ptr_rebuilt) //@ clean test_shared_ptr_rebuilt
{
	auto fresh = std::make_shared<Item>(*shared);
	weak = also_shared = shared = fresh;
}

TEST(test_shared_ptr_no_longer_shared) //@ pollutes test_shared_ptr_no_longer_shared shared|also_shared ...
{
	also_shared = std::make_shared<Item>(*shared);
}

TEST(test_weak_ptr_reset) //@ pollutes test_weak_ptr_reset weak ...
{
	weak.reset();
}

// optional, variant, any, function

std::optional<int> maybe;
std::optional<std::string> maybe_text = "text";
std::variant<int, double, std::string> either = 1;
std::any anything = 1;
std::function<int(int)> callback = [](int value) { return value; };
std::pair<int, std::string> pair = { 1, "p" };
std::tuple<int, double, std::string> tuple = { 1, 2.0, "t" };
std::array<int, 4> fixed = { 1, 2, 3, 4 };
std::bitset<100> flags;
std::complex<double> point = { 1, 2 };
std::chrono::milliseconds delay{ 5 };

TEST(test_optional_set) //@ pollutes test_optional_set maybe ... effect=settles
{
	maybe = 4;
}

TEST(test_optional_value) //@ pollutes test_optional_value maybe ... before=4 after=5
{
	maybe = 5;
}

TEST(test_optional_text_rebuilt) //@ clean test_optional_text_rebuilt
{
	maybe_text.reset();
	maybe_text.emplace("text");
}

// What it holds begins where it begins, and is a container, too. Strings of the old ABI are compared letter by letter there.
//@ pollutes test_optional_text_value maybe_text ... before="'t'" after="'w'" on=oldabi-*
TEST(test_optional_text_value) //@ pollutes test_optional_text_value maybe_text ... before="\"text\"" after="\"word\"" on=!oldabi-*
{
	maybe_text = "word";
}

TEST(test_optional_reset) //@ pollutes test_optional_reset maybe_text ...
{
	maybe_text.reset();
}

// What an empty one has in its storage is stale.
TEST(test_optional_stale_bytes) //@ clean test_optional_stale_bytes
{
	maybe_text = "something else";
	maybe_text.reset();
}

TEST(test_variant_value) //@ pollutes test_variant_value either ... before=1 after=2
{
	either = 2;
}

TEST(test_variant_other) //@ pollutes test_variant_other either ...
{
	either = long_text('v');
}

TEST(test_variant_rebuilt) //@ clean test_variant_rebuilt
{
	either = 3.5;
	TOUCH(&either);
	either = long_text('v');
}

TEST(test_variant_text_value) //@ pollutes test_variant_text_value either ...
{
	either = long_text('w');
}

TEST(test_any_value) //@ pollutes test_any_value anything ...
{
	anything = 2;
}

TEST(test_any_other) //@ pollutes test_any_other anything ...
{
	anything = 2.0;
}

TEST(test_any_restored) //@ clean test_any_restored
{
	anything = 'x';
	TOUCH(&anything);
	anything = 2.0;
}

TEST(test_function_changed) //@ pollutes test_function_changed callback ...
{
	callback = [](int value) { return value + 1; };
}

TEST(test_function_restored) //@ clean test_function_restored
{
	auto saved = callback;
	callback = nullptr;
	TOUCH(&callback);
	callback = saved;
}

TEST(test_function_with_state) //@ pollutes test_function_with_state callback ...
{
	std::array<long, 8> large = { 1, 2, 3 };
	callback = [large](int value) { return value + (int)large[1]; };
}

TEST(test_function_copied) //@ clean test_function_copied
{
	auto copy = callback;
	callback = copy;
}

TEST(test_pair) //@ pollutes test_pair pair pair.second|pair.second... before="\"p\"" after="\"q\""
{
	pair.second = "q";
}

TEST(test_tuple) //@ pollutes test_tuple tuple ... before=2 after=2.5
{
	std::get<1>(tuple) = 2.5;
}

TEST(test_array) //@ pollutes test_array fixed fixed[2]|fixed... before=3 after=30
{
	fixed[2] = 30;
}

TEST(test_bitset) //@ pollutes test_bitset flags ...
{
	flags.set(77);
}

TEST(test_complex) //@ pollutes test_complex point ...
{
	point *= 2;
}

TEST(test_duration) //@ pollutes test_duration delay ... before=5 after=6
{
	delay += std::chrono::milliseconds(1);
}

TEST(test_everything_rebuilt) //@ clean test_everything_rebuilt
{
	items = std::vector<Item>(items);
	rows = std::vector<std::vector<int>>(rows);
	groups = std::unordered_map<int, std::vector<int>>(groups);
	by_id = std::map<int, Item>(by_id);
	line = std::deque<int>(line);
	tuple = std::tuple<int, double, std::string>(tuple);
	flags.flip().flip();
}

RUNNER_MAIN()
