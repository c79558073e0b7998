#include "names.h"

#include <cstdlib>
#include <cstring>

namespace
{

struct Person {
	char name[8];
	int age;
};

int compare(const void *a, const void *b)
{
	return static_cast<const Person *>(a)->age - static_cast<const Person *>(b)->age;
}

template <class Show> __attribute__((noinline)) std::string by_age(Show show)
{
	Person people[] = { { "ann", 30 }, { "bob", 25 }, { "cid", 30 }, { "dan", 25 } };
	qsort(people, 4, sizeof(*people), compare); //@ assumption "names in order" api=qsort
	std::string text;
	for (const Person &person : people)
		text += show(person) + ",";
	return text;
}

} // namespace

std::string sorted_names()
{
	return by_age([](const Person &person) { return std::string(person.name); });
}

std::string sorted_ages()
{
	return by_age([](const Person &person) { return std::to_string(person.age); });
}
