// Containers in containers that are moved, rebuilt and changed, one after the other and at once.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ variant libcxx cflags="-stdlib=libc++" libs="-stdlib=libc++" needs=vector builds=clang-O0,clang-O2 quick=clang-O0

#include "../runner.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

static std::string text(int i)
{
	return "too long to lie in its object " + std::to_string(i);
}

struct Item {
	std::string name;
	std::vector<int> numbers;
	std::map<int, std::string> notes;
};

std::vector<Item> items;
std::map<std::string, std::vector<std::string>> lists;

struct Base {
	virtual ~Base() = default;
	int number = 1;
};
struct Named : Base {
	std::string name = "short";
};
struct Listed : Base {
	std::vector<int> list{ 1, 2, 3 };
};
std::vector<std::unique_ptr<Base>> objects;
std::unordered_map<std::string, std::vector<int>> table;

static NOINLINE void fill()
{
	items.clear();
	for (int i = 0; i < 5; i++)
		items.push_back({ text(i), { i }, { { i, "note" } } });
	lists = { { "one", { "a", text(1) } }, { "two", { text(2), text(3) } } };
	objects.clear();
	objects.push_back(std::make_unique<Named>());
	objects.push_back(std::make_unique<Listed>());
	table.clear();
	for (int i = 0; i < 20; i++)
		table[text(i)] = { i, i + 1 };
}

TEST(test_rebuilt) //@ clean test_rebuilt
{
	fill();
}

TEST(test_grown) //@ clean test_grown
{
	items.reserve(items.capacity() + 10);
	objects.reserve(objects.capacity() + 10);
	table.rehash(1000);
}

TEST(test_element_after_growth) //@ pollutes test_element_after_growth objects objects[1]->list[2] before=3 after=4
{
	static_cast<Listed &>(*objects[1]).list[2] = 4;
}

TEST(test_grown_and_changed) //@ pollutes test_grown_and_changed items items[4].numbers[0] before=4 after=100
{
	items.reserve(items.capacity() + 10);
	items[4].numbers[0] = 100;
}

TEST(test_changed_after_that) //@ pollutes test_changed_after_that items items[3].notes[3] before=...note... after=...other...
{
	items[3].notes[3] = "other";
}

TEST(test_lists_copied) //@ clean test_lists_copied
{
	auto copy = lists;
	lists.clear();
	lists = copy;
}

TEST(test_lists_copied_and_changed) //@ pollutes test_lists_copied_and_changed lists lists[...one...][1] before=...too... after=...Qoo...
{
	auto copy = lists;
	copy["one"][1][0] = 'Q';
	lists.clear();
	lists = copy;
}

TEST(test_lists_changed_after_that) //@ pollutes test_lists_changed_after_that lists lists[...one...][1] before=...Qoo... after=...Roo...
{
	lists["one"][1][0] = 'R';
}

TEST(test_table_copied) //@ clean test_table_copied
{
	std::vector<std::pair<std::string, std::vector<int>>> all(table.begin(), table.end());
	table.clear();
	for (auto i = all.rbegin(); i != all.rend(); ++i)
		table.insert(*i);
}

TEST(test_table_changed_after_that) //@ pollutes test_table_changed_after_that table table[...7...][1] before=8 after=80
{
	table[text(7)][1] = 80;
}

int main()
{
	fill();
	return runner_main();
}
