// Containers that are none: memory that was never constructed, was destroyed, or was overwritten. Nothing here may crash
// the tool, keep it busy for ever, or make it report a test that changes nothing.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0
//@ variant libcxx cflags="-stdlib=libc++" libs="-stdlib=libc++" needs=vector builds=clang-O0

#include "../runner.h"

#include <any>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct Everything {
	std::vector<int> vector;
	std::vector<bool> bits;
	std::vector<std::string> strings;
	std::string string;
	std::deque<int> deque;
	std::list<int> list;
	std::map<int, std::string> map;
	std::set<long> set;
	std::unordered_map<int, int> table;
	std::shared_ptr<int> shared;
	std::unique_ptr<std::string> unique;
	std::weak_ptr<int> weak;
	std::function<void()> function;
	std::any any;
	std::variant<int, std::string> variant;
	std::optional<std::string> optional;
	int number;
};

// Filled with one byte, with addresses of nothing, of freed memory, of themselves, of code.
Everything *zeros, *ones, *letters, *addresses, *freed, *themselves, *code, *destroyed;
int unrelated;

static void fill(Everything *where, uint64_t word)
{
	for (size_t i = 0; i + sizeof(word) <= sizeof(*where); i += sizeof(word))
		memcpy((char *)where + i, &word, sizeof(word));
}

static Everything *make(uint64_t word)
{
	void *memory = malloc(sizeof(Everything));
	if (!memory)
		abort();
	fill(static_cast<Everything *>(memory), word);
	return static_cast<Everything *>(memory);
}

static NOINLINE void churn()
{
	void *blocks[60];
	for (size_t i = 0; i < 60; i++) {
		blocks[i] = malloc(16 + i % 20 * 8);
		memset(blocks[i], (int)i, 16 + i % 20 * 8);
	}
	TOUCH(blocks);
	for (auto *block : blocks)
		free(block);
}

TEST(test_nothing) //@ clean test_nothing
{
}

TEST(test_churn) //@ clean test_churn
{
	churn();
}

TEST(test_unrelated) //@ pollutes test_unrelated unrelated unrelated before=0 after=1
{
	churn();
	unrelated++;
}

TEST(test_rewritten_with_the_same) //@ clean test_rewritten_with_the_same
{
	int number = letters->number;
	fill(letters, 0x4141414141414141);
	letters->number = number;
	TOUCH(letters);
}

TEST(test_number_beside_garbage) //@ pollutes test_number_beside_garbage letters ...number after=5
{
	letters->number = 5;
	TOUCH(letters);
}

TEST(test_number_beside_addresses) //@ pollutes test_number_beside_addresses addresses ...number after=6
{
	addresses->number = 6;
	TOUCH(addresses);
}

// Words that point to the object itself: which of them is believed decides how it is shown.
//@ pollutes test_number_beside_loops themselves ... on=libcxx-clang-O0
TEST(test_number_beside_loops) //@ pollutes test_number_beside_loops themselves ...number after=7 on=!libcxx-clang-O0
{
	themselves->number = 7;
	TOUCH(themselves);
}

// Lengths out of all reason, in containers that are otherwise sound.
std::vector<int> too_long = { 1, 2, 3 };
std::string too_long_text = "a text that is too long for the inside of a string";
std::map<int, int> too_many = { { 1, 1 }, { 2, 2 } };
std::vector<long> backwards = { 1, 2, 3 };

template <typename T> static void overwrite(T &object, size_t index, uint64_t word)
{
	memcpy((char *)&object + index * 8, &word, sizeof(word));
	TOUCH(&object);
}

TEST(test_sizes_of_no_reason) //@ clean test_sizes_of_no_reason
{
	churn();
}

TEST(test_vector_becomes_senseless) //@ pollutes test_vector_becomes_senseless too_long ...
{
	overwrite(too_long, 1, UINT64_MAX - 7);
}

TEST(test_vector_stays_senseless) //@ clean test_vector_stays_senseless
{
	churn();
}

TEST(test_destroyed_memory_is_reused) //@ clean test_destroyed_memory_is_reused
{
	churn();
}

int main()
{
	zeros = make(0);
	ones = make(UINT64_MAX);
	letters = make(0x4141414141414141);
	addresses = make(0x7f0012345678);
	void *gone = malloc(64);
	uintptr_t where = (uintptr_t)gone;
	freed = make((uint64_t)(uintptr_t)zeros);
	themselves = make(0);
	fill(themselves, (uint64_t)(uintptr_t)themselves);
	code = make((uint64_t)(uintptr_t)churn);
	destroyed = new Everything{};
	destroyed->vector = { 1, 2, 3 };
	destroyed->strings = { "one", "two with a text that goes to the heap" };
	destroyed->map = { { 1, "one" }, { 2, "two" } };
	destroyed->table = { { 1, 1 }, { 2, 2 } };
	destroyed->list = { 1, 2 };
	destroyed->~Everything();
	overwrite(too_long_text, 1, UINT64_C(1) << 60);
	overwrite(backwards, 0, UINT64_C(0x7ffffffff000));
	free(gone);
	fill(freed, where);
	TOUCH(freed);
	runner_main();
	// The garbage is not to be destroyed.
	_Exit(0);
}
