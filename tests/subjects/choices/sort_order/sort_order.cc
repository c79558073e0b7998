// What the sorting functions of the C++ library leave open: the order of equal elements, and that of those that are not
// asked for. Each beside a test that does not mind. Elements are of many kinds; some must not be moved by anybody but
// their own class.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,gcc-O2
//@ variant libcxx cflags="-stdlib=libc++" libs="-stdlib=libc++" needs=vector builds=clang-O0,clang-O2 quick=clang-O0
//@ run default --api "std::sort" --api "std::nth_element" --api "std::partial_sort"
//@ says "1 of them left alone"

#include "../runner.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace
{
struct Person {
	int age;
	int id;
};

bool by_age(const Person &a, const Person &b)
{
	return a.age < b.age;
}

std::vector<Person> some_people()
{
	return { { 30, 1 }, { 20, 2 }, { 30, 3 }, { 20, 4 }, { 30, 5 }, { 20, 6 } };
}

std::string ids(const std::vector<Person> &people)
{
	std::string text;
	for (const Person &person : people)
		text += std::to_string(person.id);
	return text;
}

// Today's order, which the libraries do not share.
const char *const nth_today =
#ifdef _LIBCPP_VERSION
	"01234567891011";
#else
	"10234567891011";
#endif

struct Named {
	std::string name;
	int age;
};

// Knows where it is: nobody else may move it.
class Placed {
    public:
	Placed(int key, int id)
	    : key(key)
	    , id(id)
	    , self(this)
	{
	}
	Placed(const Placed &other)
	    : key(other.key)
	    , id(other.id)
	    , self(this)
	{
	}
	Placed &operator=(const Placed &other)
	{
		key = other.key;
		id = other.id;
		return *this;
	}
	bool right() const
	{
		return self == this;
	}
	int key, id;

    private:
	const Placed *self;
};
} // namespace

TEST(test_sort_keeps_order)
{
	auto people = some_people();
	std::sort(people.begin(), people.end(), by_age); //@ assumption test_sort_keeps_order api=std::sort
	assert(ids(people) == "246135");
}

TEST(test_sort_ages)
{
	auto people = some_people();
	std::sort(people.begin(), people.end(), by_age);
	for (size_t i = 0; i < people.size(); i++)
		assert(people[i].age == (i < 3 ? 20 : 30));
}

TEST(test_stable_sort_keeps_order)
{
	auto people = some_people();
	std::stable_sort(people.begin(), people.end(), by_age);
	assert(ids(people) == "246135");
}

TEST(test_sort_by_all)
{
	auto people = some_people();
	std::sort(people.begin(), people.end(),
		  [](const Person &a, const Person &b) { return a.age != b.age ? a.age < b.age : a.id < b.id; });
	assert(ids(people) == "246135");
}

TEST(test_array_keeps_order)
{
	Person people[] = { { 2, 1 }, { 1, 2 }, { 2, 3 }, { 2, 4 }, { 2, 5 }, { 2, 6 }, { 2, 7 } };
	std::sort(std::begin(people), std::end(people), by_age); //@ assumption test_array_keeps_order api=std::sort on=!plain-clang-O2
	assert(people[0].id == 2);
	assert(people[1].id == 1 && people[2].id == 3 && people[4].id == 5);
}

TEST(test_array_of_one_of_each)
{
	Person people[] = { { 3, 1 }, { 1, 2 }, { 2, 3 } };
	std::sort(std::begin(people), std::end(people), by_age);
	assert(people[0].id == 2 && people[1].id == 3 && people[2].id == 1);
}

// Short texts are within the object itself, long ones are not.
TEST(test_names_keep_order)
{
	std::vector<Named> people = { { "ann", 2 }, { "a name that does not fit into the object", 1 }, { "bob", 2 },
				      { "eve", 2 }, { "another that does not fit into it", 2 },        { "sue", 2 } };
	std::sort(people.begin(), people.end(), //@ assumption test_names_keep_order api=std::sort
		  [](const Named &a, const Named &b) { return a.age < b.age; });
	assert(people[0].age == 1 && people[1].name == "ann");
	assert(people[2].name == "bob" && people[3].name == "eve" && people[5].name == "sue");
}

TEST(test_names_sorted)
{
	std::vector<Named> people = { { "eve", 2 }, { "a name that does not fit into the object", 1 }, { "bob", 3 } };
	std::sort(people.begin(), people.end(), [](const Named &a, const Named &b) { return a.name < b.name; });
	people[1].name += " and some more that does not fit into the object";
	assert(people[0].age == 1 && people[1].age == 3 && people[2].name == "eve");
	std::vector<std::string> texts = { "sue", "a name that does not fit into the object", "bob", "", "eve" };
	std::sort(texts.begin(), texts.end());
	texts[3] += "n";
	assert(texts[0].empty() && texts[2] == "bob" && texts[3] == "even" && texts[4] == "sue");
}

TEST(test_owners_keep_order)
{
	std::vector<std::pair<int, std::unique_ptr<int>>> owners;
	for (int i = 0; i < 4; i++)
		owners.emplace_back(1, std::make_unique<int>(i));
	std::sort(owners.begin(), owners.end(), //@ assumption test_owners_keep_order api=std::sort
		  [](const auto &a, const auto &b) { return a.first < b.first; });
	for (int i = 0; i < 4; i++)
		assert(*owners[i].second == i);
}

TEST(test_owners_own)
{
	std::vector<std::shared_ptr<int>> owners;
	for (int i = 0; i < 4; i++)
		owners.push_back(std::make_shared<int>(3 - i));
	std::sort(owners.begin(), owners.end(), [](const auto &a, const auto &b) { return *a < *b; });
	for (int i = 0; i < 4; i++)
		assert(*owners[i] == i && owners[i].use_count() == 1);
}

TEST(test_placed_stay)
{
	std::vector<Placed> placed;
	for (int i = 0; i < 5; i++)
		placed.emplace_back(1, i);
	std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) { return a.key < b.key; });
	for (int i = 0; i < 5; i++)
		assert(placed[i].right() && placed[i].id == i);
}

// The comparison is passed in a vector register.
TEST(test_factor)
{
	volatile double factor = -1.5;
	double by = factor;
	std::vector<std::pair<double, int>> numbers = { { 1, 1 }, { 3, 3 }, { 2, 2 } };
	std::sort(numbers.begin(), numbers.end(), [by](const auto &a, const auto &b) { return a.first * by < b.first * by; });
	assert(numbers[0].second == 3 && numbers[1].second == 2 && numbers[2].second == 1);
}

TEST(test_many)
{
	std::vector<Person> people;
	for (int i = 0; i < 2000; i++)
		people.push_back({ i * 7919 % 2000, i });
	std::sort(people.begin(), people.end(), by_age);
	for (int i = 0; i < 2000; i++)
		assert(people[i].age == i && people[i].id * 7919 % 2000 == i);
}

TEST(test_nth_element_others)
{
	std::vector<Person> people;
	for (int i = 0; i < 12; i++)
		people.push_back({ i, i });
	std::nth_element(people.begin(), people.begin() + 3, people.end(), by_age); //@ assumption test_nth_element_others api=std::nth_element on=!*-clang-O2
	assert(people[3].id == 3);
	assert(ids(people) == nth_today);
}

TEST(test_nth_element)
{
	auto people = some_people();
	std::nth_element(people.begin(), people.begin() + 3, people.end(), by_age);
	assert(people[3].age == 30);
	for (int i = 0; i < 3; i++)
		assert(people[i].age == 20);
}

TEST(test_partial_sort_rest)
{
	std::vector<Person> people;
	for (int i = 0; i < 12; i++)
		people.push_back({ i, i });
	std::partial_sort(people.begin(), people.begin() + 3, people.end(), by_age); //@ assumption test_partial_sort_rest api=std::partial_sort on=!*-clang-O2
	assert(people[0].id == 0 && people[1].id == 1 && people[2].id == 2);
	assert(std::is_sorted(people.begin(), people.end(), by_age));
}

TEST(test_partial_sort)
{
	std::vector<Person> people = { { 5, 1 }, { 1, 2 }, { 4, 3 }, { 2, 4 }, { 3, 5 } };
	std::partial_sort(people.begin(), people.begin() + 2, people.end(), by_age);
	assert(people[0].id == 2 && people[1].id == 4);
}

RUNNER_MAIN()
