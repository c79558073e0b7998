// Variables and types of C++: where they live, what they inherit, what a pointer to a base really points to.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2 quick=clang-O2
//@ variant dwarf4 cflags="-gdwarf-4" builds=gcc-O2,clang-O0
//@ variant split cflags="-gsplit-dwarf" builds=gcc-O0
//@ variant lto cflags="-flto" libs="-flto -O2" builds=gcc-O2
//@ variant static libs="-static" builds=gcc-O0 quick=gcc-O0
//@ variant types-section cflags="-fdebug-types-section" builds=gcc-O2,clang-O0

#include "shared.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>

int Shared::plain_static = 10;

// Where variables live.

TEST(test_inline_variable) //@ pollutes test_inline_variable inline_count inline_count before=0 after=1
{
	inline_count++;
}

TEST(test_class_static) //@ pollutes test_class_static Shared::plain_static Shared::plain_static before=10 after=11
{
	Shared::plain_static++;
}

TEST(test_class_static_inline) //@ pollutes test_class_static_inline Shared::inline_static Shared::inline_static before=0 after=3
{
	Shared::inline_static = 3;
}

TEST(test_template_static) //@ pollutes test_template_static Box<int>::made ... before=0 after=1
{
	Box<int>::made++;
}

TEST(test_template_static_other) //@ pollutes test_template_static_other Box<char>::made ... before=0 after=1
{
	Box<char>::made++;
}

TEST(test_static_of_inline_function) //@ pollutes test_static_of_inline_function counted_inline::calls ... effect=accumulates
{
	counted_inline();
}

// One variable, whatever unit changes it.
TEST(test_from_another_unit) //@ pollutes test_from_another_unit inline_count inline_count before=1 after=2
//@ pollutes test_from_another_unit Shared::inline_static ... before=3 after=4
//@ pollutes test_from_another_unit Box<int>::made ... before=1 after=2
//@ pollutes test_from_another_unit counted_inline::calls ...
{
	other_counts();
}

namespace app::detail
{
int depth;
enum class State : unsigned char { Idle, Busy, Done };
State state;
}

TEST(test_namespace) //@ pollutes test_namespace app::detail::depth ... before=0 after=4
{
	app::detail::depth = 4;
	TOUCH(&app::detail::depth);
}

TEST(test_enum_class) //@ pollutes test_enum_class app::detail::state ... before=...Idle after=...Busy
{
	app::detail::state = app::detail::State::Busy;
	TOUCH(&app::detail::state);
}

namespace
{
int anonymous;
NOINLINE int read_anonymous()
{
	return anonymous;
}
}

TEST(test_anonymous_namespace) //@ pollutes test_anonymous_namespace "anonymous|(anonymous namespace)::anonymous" ... before=0 after=1
{
	anonymous++;
	TOUCH(&anonymous);
}

TEST(test_anonymous_namespace_elsewhere) //@ pollutes test_anonymous_namespace_elsewhere "anonymous|(anonymous namespace)::anonymous" ... before=0 after=2
{
	other_anonymous(2);
}

TEST(test_anonymous_namespace_restored) //@ clean test_anonymous_namespace_restored
{
	other_anonymous(2);
	other_anonymous(-2);
	read_anonymous();
}

struct Counter {
	NOINLINE int next()
	{
		static int last = 100;
		TOUCH(&last);
		return ++last;
	}
};

TEST(test_static_of_member_function) //@ pollutes test_static_of_member_function Counter::next::last ... effect=accumulates
{
	Counter().next();
}

NOINLINE int lambda_static()
{
	auto step = [] {
		static int steps;
		TOUCH(&steps);
		return ++steps;
	};
	return step();
}

TEST(test_static_of_lambda) //@ pollutes test_static_of_lambda ...steps ... effect=accumulates
{
	lambda_static();
}

thread_local int per_thread = 2;

TEST(test_thread_local) //@ pollutes test_thread_local per_thread per_thread before=2 after=3
{
	per_thread++;
}

// Initialised when they are first needed.

struct Registry {
	int entries = 0;
	std::string name;
	Registry() : name("the registry, with a name that is not short at all")
	{
	}
};

NOINLINE Registry &the_registry()
{
	static Registry instance;
	return instance;
}

TEST(test_first_use) //@ clean test_first_use //@ first test_first_use the_registry::instance
{
	TOUCH(&the_registry());
}

TEST(test_second_use) //@ clean test_second_use
{
	TOUCH(&the_registry());
}

TEST(test_use_that_changes) //@ pollutes test_use_that_changes the_registry::instance ...entries before=0 after=1
{
	the_registry().entries++;
}

NOINLINE Registry &another_registry()
{
	static Registry instance;
	return instance;
}

// Made and changed by one test: only the change counts.
TEST(test_first_use_that_changes) //@ pollutes test_first_use_that_changes another_registry::instance ...entries before=0 after=5
{
	another_registry().entries += 5;
}

// By hand, the way it was done before: a change like any other, that settles.
struct Single {
	int uses = 0;
	static Single *instance;
	static NOINLINE Single *get()
	{
		if (!instance)
			instance = new Single;
		return instance;
	}
};

Single *Single::instance;

TEST(test_lazy_pointer) //@ pollutes test_lazy_pointer Single::instance ... effect=settles allocated=Single::get...
{
	TOUCH(Single::get());
}

TEST(test_lazy_pointer_target) //@ pollutes test_lazy_pointer_target Single::instance Single::instance->uses before=0 after=1
{
	Single::get()->uses++;
}

// Inheritance.

struct Shape {
	int id = 1;
	virtual ~Shape() = default;
	virtual double area() const
	{
		return 0;
	}
};

struct Circle : Shape {
	double radius = 1;
	double area() const override
	{
		return 3 * radius * radius;
	}
};

struct Square : Shape {
	double side = 1;
	double area() const override
	{
		return side * side;
	}
};

Shape *shape = new Circle;
std::unique_ptr<Shape> owned = std::make_unique<Square>();

TEST(test_field_of_derived) //@ pollutes test_field_of_derived shape ...radius before=1 after=2
{
	dynamic_cast<Circle *>(shape)->radius = 2;
}

TEST(test_field_of_base) //@ pollutes test_field_of_base shape ...id before=1 after=7
{
	shape->id = 7;
}

TEST(test_polymorphic_replaced_by_equal_one) //@ clean test_polymorphic_replaced_by_equal_one
{
	Circle *fresh = new Circle(*static_cast<Circle *>(shape));
	delete shape;
	shape = fresh;
}

TEST(test_polymorphic_other_class) //@ pollutes test_polymorphic_other_class shape ...
{
	Square *fresh = new Square;
	fresh->id = shape->id;
	fresh->side = static_cast<Circle *>(shape)->radius;
	delete shape;
	shape = fresh;
}

TEST(test_owned_derived) //@ pollutes test_owned_derived owned ...side before=1 after=5
{
	static_cast<Square &>(*owned).side = 5;
}

struct Named {
	const char *name = "name";
	virtual ~Named() = default;
};

struct Both : Shape, Named {
	int extra = 0;
};

Both both;
Named *second_base = new Both;

TEST(test_multiple_inheritance) //@ pollutes test_multiple_inheritance both ...name before="\"name\"" after="\"other\""
{
	both.name = "other";
}

// The pointer is into the middle of the object.
TEST(test_second_base) //@ pollutes test_second_base second_base ...extra before=0 after=9
{
	static_cast<Both *>(second_base)->extra = 9;
}

TEST(test_second_base_rebuilt) //@ clean test_second_base_rebuilt
{
	Both *fresh = new Both(*static_cast<Both *>(second_base));
	delete static_cast<Both *>(second_base);
	second_base = fresh;
}

struct Top {
	int top = 1;
	virtual ~Top() = default;
};

struct Left : virtual Top {
	int left = 2;
};

struct Right : virtual Top {
	int right = 3;
};

struct Bottom : Left, Right {
	int bottom = 4;
};

Bottom diamond;
Right *part_of_diamond = new Bottom;

TEST(test_virtual_base) //@ pollutes test_virtual_base diamond ...top before=1 after=11
{
	diamond.top = 11;
}

TEST(test_virtual_base_through_pointer) //@ pollutes test_virtual_base_through_pointer part_of_diamond ...top before=1 after=12
{
	part_of_diamond->top = 12;
}

TEST(test_diamond_restored) //@ clean test_diamond_restored
{
	diamond.left = 5;
	TOUCH(&diamond);
	diamond.left = 2;
}

TEST(test_diamond_rebuilt) //@ clean test_diamond_rebuilt
{
	auto *fresh = new Bottom(static_cast<Bottom &>(*part_of_diamond));
	delete static_cast<Bottom *>(part_of_diamond);
	part_of_diamond = fresh;
}

// References and pointers to members.

int referred = 1;
int &reference = referred;
struct Holder {
	int &in;
	long own;
} holder = { *new int(6), 1 };

TEST(test_through_reference) //@ pollutes test_through_reference referred|reference ... before=1 after=2
{
	reference++;
}

TEST(test_reference_member) //@ pollutes test_reference_member holder ... before=6 after=8
{
	holder.in = 8;
}

struct Point {
	int x = 1, y = 2;
	int sum() const
	{
		return x + y;
	}
	int product() const
	{
		return x * y;
	}
};

int Point::*axis = &Point::x;
int (Point::*method)() const = &Point::sum;

TEST(test_pointer_to_data_member) //@ pollutes test_pointer_to_data_member axis ...
{
	axis = &Point::y;
}

TEST(test_pointer_to_member_function) //@ pollutes test_pointer_to_member_function method ...
{
	method = &Point::product;
}

TEST(test_pointers_to_members_restored) //@ clean test_pointers_to_members_restored
{
	auto saved = method;
	method = &Point::sum;
	TOUCH(&method);
	method = saved;
	Point point;
	volatile int value = (point.*method)() + point.*axis;
	(void)value;
}

// Others.

std::atomic<int> atomic_count{ 0 };
std::atomic<Point *> atomic_pointer{ new Point };
std::nullptr_t nothing = nullptr;
struct Empty {
} empty;
struct Packed {
	Empty e [[no_unique_address]];
	unsigned a : 3, b : 5;
	bool c = false;
} packed;

TEST(test_std_atomic) //@ pollutes test_std_atomic atomic_count atomic_count before=0 after=1
{
	atomic_count++;
}

TEST(test_std_atomic_restored) //@ clean test_std_atomic_restored
{
	atomic_count++;
	atomic_count--;
}

TEST(test_atomic_pointer_target) //@ pollutes test_atomic_pointer_target atomic_pointer atomic_pointer->y before=2 after=3
{
	atomic_pointer.load()->y = 3;
}

TEST(test_atomic_pointer_rebuilt) //@ clean test_atomic_pointer_rebuilt
{
	delete atomic_pointer.exchange(new Point(*atomic_pointer.load()));
}

TEST(test_bit_fields) //@ pollutes test_bit_fields packed packed.b before=0 after=17
{
	packed.b = 17;
	TOUCH(&nothing);
	TOUCH(&empty);
	TOUCH(&packed);
}

TEST(test_new_array) //@ clean test_new_array
{
	auto *objects = new Registry[5];
	TOUCH(objects);
	delete[] objects;
}

Point *points = new Point[6];

TEST(test_array_by_new) //@ pollutes test_array_by_new points points[4].x before=1 after=40
{
	points[4].x = 40;
}

// An array of objects with destructors has its length in front of it.
Registry *registries = new Registry[3];

TEST(test_array_with_length) //@ pollutes test_array_with_length registries registries[2].entries before=0 after=1
{
	registries[2].entries++;
}

TEST(test_array_with_length_rebuilt) //@ clean test_array_with_length_rebuilt
{
	auto *fresh = new Registry[3];
	for (int i = 0; i < 3; i++)
		fresh[i] = registries[i];
	delete[] registries;
	registries = fresh;
}

// An object that was made in raw bytes is that object: its vtable tells.
struct Worker {
	virtual ~Worker() = default;
	std::mutex lock;
	std::condition_variable wake;
	std::string job = "none";
	int done = 0;
};

struct Storage {
	std::aligned_storage<sizeof(Worker), alignof(Worker)>::type bytes;
	Storage()
	{
		new (&bytes) Worker;
	}
	Worker *get()
	{
		return reinterpret_cast<Worker *>(&bytes);
	}
};

static Storage storage;

TEST(test_storage_locks) //@ clean test_storage_locks
{
	storage.get()->lock.lock();
	storage.get()->wake.notify_all();
	std::unique_lock<std::mutex> held(storage.get()->lock, std::adopt_lock);
	storage.get()->wake.wait_for(held, std::chrono::milliseconds(1));
}

TEST(test_storage_text_kept) //@ clean test_storage_text_kept
{
	storage.get()->job = "something that does not fit into the string itself";
	storage.get()->job = "none";
	TOUCH(&storage);
}

TEST(test_storage_member) //@ pollutes test_storage_member storage storage.bytes.done before=0 after=1
{
	storage.get()->done = 1;
	TOUCH(&storage);
}

TEST(test_exception) //@ clean test_exception
{
	try {
		throw std::string("thrown and caught");
	} catch (const std::string &text) {
		assert(!text.empty());
	}
}

RUNNER_MAIN()
