// CppUTest: groups with set-up, a singleton, a list on the heap.
//
//@ subject framework=cpputest lang=c++ header=CppUTest/TestHarness.h
//@ variant plain cflags="-DCPPUTEST_MEM_LEAK_DETECTION_DISABLED" libs="-lCppUTest -pthread" quick=gcc-O0
//@ run default

#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>

#include <cstdlib>

struct Settings {
	int volume = 5;
	bool loud = false;
	static Settings &get()
	{
		static Settings settings;
		return settings;
	}
};

struct Node {
	int value;
	Node *next;
};
static Node *head;
static int set_ups;

TEST_GROUP(Volume){};

TEST(Volume, IsFive) //@ victim Volume.IsFive polluters=Volume.GoesUp|Other.GoesDown
//@ cleaned Volume.IsFive after=Volume.GoesUp by=Other.Resets|Other.GoesDown
//@ cleaned Volume.IsFive after=Other.GoesDown by=Other.Resets|Volume.GoesUp
{
	LONGS_EQUAL(5, Settings::get().volume);
}

TEST(Volume, GoesUp)
{
	Settings::get().volume++;
}

TEST(Volume, IsNotLoud)
{
	CHECK(!Settings::get().loud);
}

TEST_GROUP(Other)
{
	void setup() override
	{
		set_ups++;
	}
	void teardown() override
	{
		set_ups--;
	}
};

TEST(Other, GoesDown)
{
	Settings::get().volume--;
	LONGS_EQUAL(1, set_ups);
}

TEST(Other, Resets)
{
	Settings::get().volume = 5;
}

TEST(Other, ListIsEmpty) //@ victim Other.ListIsEmpty polluters=List.Adds polluted=head
{
	POINTERS_EQUAL(nullptr, head);
}

TEST_GROUP(List){};

TEST(List, Adds)
{
	head = static_cast<Node *>(std::malloc(sizeof(Node)));
	head->value = 1;
	head->next = nullptr;
}

TEST(List, HasOne) //@ brittle List.HasOne setters=List.Adds polluted=head
{
	CHECK(head != nullptr);
	LONGS_EQUAL(1, head->value);
}

IGNORE_TEST(List, Ignored)
{
	FAIL("not run");
}

int main(int argc, char **argv)
{
	return CommandLineTestRunner::RunAllTests(argc, argv);
}
