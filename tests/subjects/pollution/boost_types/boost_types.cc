// Boost's containers and smart pointers: what they hold counts, not how they hold it.
//
//@ subject framework=functions lang=c++ header=boost/container/small_vector.hpp packages="libboost-dev"
//@ variant plain quick=gcc-O0,clang-O2

#include "../runner.h"

#include <boost/circular_buffer.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/container/vector.hpp>
#include <boost/intrusive_ptr.hpp>
#include <boost/make_shared.hpp>
#include <boost/optional.hpp>
#include <boost/scoped_ptr.hpp>
#include <boost/shared_ptr.hpp>
#include <boost/unordered_map.hpp>
#include <boost/unordered_set.hpp>
#include <boost/variant.hpp>
#include <boost/weak_ptr.hpp>

#include <string>

struct Point {
	int x = 1, y = 2;
	int references = 0;
};

void intrusive_ptr_add_ref(Point *point)
{
	point->references++;
}

void intrusive_ptr_release(Point *point)
{
	if (!--point->references)
		delete point;
}

static boost::unordered_map<std::string, int> make_ages(bool backwards)
{
	boost::unordered_map<std::string, int> made;
	for (int i = 0; i < 20; i++) {
		int age = backwards ? 19 - i : i;
		made["name" + std::to_string(age)] = age;
	}
	return made;
}

boost::container::vector<int> numbers = { 1, 2, 3 };
boost::container::small_vector<int, 4> small = { 1, 2, 3 };
boost::container::flat_map<int, std::string> flat = { { 1, "one" }, { 2, "two" }, { 3, "three" } };
boost::container::flat_set<int> flat_set = { 1, 2, 3 };
boost::unordered_map<std::string, int> ages = make_ages(false);
boost::unordered_set<int> set = { 1, 2, 3 };
boost::circular_buffer<int> ring(4);
boost::optional<std::string> maybe = std::string("text");
boost::optional<int> number = 1;
boost::variant<int, std::string> either = 1;
boost::shared_ptr<Point> shared = boost::make_shared<Point>();
boost::weak_ptr<Point> weak = shared;
boost::scoped_ptr<Point> scoped(new Point);
boost::intrusive_ptr<Point> intrusive = new Point;

TEST(test_vector_value) //@ pollutes test_vector_value numbers "numbers[1]" before=2 after=20
{
	numbers[1] = 20;
}

TEST(test_vector_reserved) //@ clean test_vector_reserved
{
	numbers.reserve(1000);
}

TEST(test_small_value) //@ pollutes test_small_value small "small[2]" before=3 after=30
{
	small[2] = 30;
}

TEST(test_small_moved) //@ clean test_small_moved
{
	small.reserve(100);
}

TEST(test_flat_value) //@ pollutes test_flat_value flat "flat[2]" before="\"two\"" after="\"zwei\""
{
	flat[2] = "zwei";
}

TEST(test_flat_key) //@ pollutes test_flat_key flat ...flat[0]... at-most=1
{
	flat[0] = "zero";
}

TEST(test_flat_rebuilt) //@ clean test_flat_rebuilt
{
	flat[-1] = "temporary";
	flat.erase(-1);
	flat.reserve(50);
}

TEST(test_flat_set_grows) //@ pollutes test_flat_set_grows flat_set ...
{
	flat_set.insert(0);
}

TEST(test_ages_value) //@ pollutes test_ages_value ages "ages[\"name7\"]" before=7 after=70
{
	ages["name7"] = 70;
}

TEST(test_ages_rebuilt) //@ clean test_ages_rebuilt
{
	auto again = make_ages(true);
	again["name7"] = ages["name7"];
	again.rehash(500);
	ages = again;
}

TEST(test_set_grows) //@ pollutes test_set_grows set ...
{
	set.insert(4);
}

TEST(test_set_emptied) //@ clean test_set_emptied
{
	set.insert(100);
	set.erase(100);
}

TEST(test_ring_pushes) //@ pollutes test_ring_pushes ring ...
{
	ring.push_back(1);
}

TEST(test_ring_turns) //@ clean test_ring_turns
{
	boost::circular_buffer<int> again(ring.capacity() + 3);
	for (int number : ring)
		again.push_back(number);
	ring = again;
}

TEST(test_optional_text) //@ pollutes test_optional_text maybe ... before="\"text\"" after="\"word\""
{
	maybe = std::string("word");
}

TEST(test_optional_rebuilt) //@ clean test_optional_rebuilt
{
	std::string kept = *maybe;
	maybe = boost::none;
	maybe = kept;
}

TEST(test_optional_reset) //@ pollutes test_optional_reset number ...
{
	number = boost::none;
}

TEST(test_variant_value) //@ pollutes test_variant_value either ... before=1 after=2
{
	either = 2;
}

TEST(test_shared_value) //@ pollutes test_shared_value shared|weak shared->y|weak->y before=2 after=3
{
	shared->y = 3;
}

TEST(test_shared_copied) //@ clean test_shared_copied
{
	boost::shared_ptr<Point> copy = shared;
	shared = boost::make_shared<Point>(*copy);
	weak = shared;
}

TEST(test_weak_expires) //@ pollutes test_weak_expires weak ...
{
	weak = boost::make_shared<Point>();
}

TEST(test_scoped_value) //@ pollutes test_scoped_value scoped scoped->x before=1 after=10
{
	scoped->x = 10;
}

TEST(test_scoped_replaced) //@ clean test_scoped_replaced
{
	scoped.reset(new Point(*scoped));
}

TEST(test_intrusive_value) //@ pollutes test_intrusive_value intrusive intrusive->x before=1 after=11
{
	intrusive->x = 11;
}

RUNNER_MAIN()
