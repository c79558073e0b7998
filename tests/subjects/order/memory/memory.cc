// Kinds of memory through which tests disturb one another; each polluter also changes something that does not matter.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ variant libc++ cflags="-stdlib=libc++" libs="-stdlib=libc++" builds=clang-O0

#include "../runner.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

int visits; // the innocent root: changes with each of them
std::string last_name;

struct node {
	int value;
	struct node *next;
};

int number;
static struct node *list;
std::map<std::string, int> table;
static thread_local int per_thread;
std::string text = "short";
static std::vector<int> values = { 1, 2, 3 };
static std::shared_ptr<int> shared;
static double matrix[4][4];
namespace config {
bool strict;
}

class Registry {
public:
	static Registry &get()
	{
		static Registry registry;
		return registry;
	}
	std::vector<std::string> names;
	int generation = 0;
};

static void visit(const char *name)
{
	visits++;
	last_name = name;
}

TEST(test_innocent)
{
	visit("innocent");
	assert(last_name == "innocent");
}

TEST(test_number) //@ victim test_number polluters=test_sets_number polluted=number
{
	assert(number == 0);
}

TEST(test_sets_number)
{
	visit("number");
	number = 7;
	TOUCH(&number);
}

TEST(test_adds_node)
{
	visit("node");
	struct node *node = static_cast<struct node *>(malloc(sizeof(*node)));
	*node = { 1, list };
	list = node;
	TOUCH(&list);
}

TEST(test_list) //@ victim test_list polluters=test_adds_node polluted=list
{
	assert(!list);
}

TEST(test_table) //@ victim test_table polluters=test_adds_to_table polluted=table
{
	assert(table.count("key") == 0);
}

TEST(test_adds_to_table)
{
	visit("table");
	table["key"] = 1;
	table["another key, too long to be kept in the string itself"] = 2;
}

TEST(test_registers)
{
	visit("registry");
	Registry::get().names.push_back("somebody");
	Registry::get().generation++;
}

TEST(test_registry) //@ victim test_registry polluters=test_registers polluted=...registry...
{
	assert(Registry::get().names.empty());
}

TEST(test_thread_local) //@ victim test_thread_local polluters=test_sets_thread_local polluted=per_thread
{
	assert(per_thread == 0);
}

TEST(test_sets_thread_local)
{
	visit("thread");
	per_thread = 3;
	TOUCH(&per_thread);
}

TEST(test_text) //@ victim test_text polluters=test_makes_text_long polluted=text
{
	assert(text == "short");
}

TEST(test_makes_text_long)
{
	visit("text");
	text = "long enough that it does not fit into the string object itself";
}

TEST(test_values) //@ victim test_values polluters=test_grows_values|test_changes_values polluted=values
{
	assert(values.size() == 3 && values[1] == 2);
}

TEST(test_grows_values)
{
	visit("values");
	values.push_back(4);
}

TEST(test_changes_values)
{
	visit("values");
	values[1] = 20;
}

TEST(test_shared) //@ brittle test_shared setters=test_makes_shared polluted=shared
{
	assert(shared && *shared == 5);
}

TEST(test_makes_shared)
{
	visit("shared");
	shared = std::make_shared<int>(5);
}

TEST(test_matrix) //@ victim test_matrix polluters=test_fills_matrix polluted=matrix
{
	assert(matrix[2][3] < 1);
}

TEST(test_fills_matrix)
{
	visit("matrix");
	for (auto &row : matrix)
		for (double &cell : row)
			cell = 1.5;
	TOUCH(matrix);
}

TEST(test_lenient) //@ victim test_lenient polluters=test_is_strict polluted=config::strict
{
	assert(!config::strict);
}

TEST(test_is_strict)
{
	visit("strict");
	config::strict = true;
	TOUCH(&config::strict);
}

RUNNER_MAIN()
