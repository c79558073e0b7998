/*
 * What tests leave behind, in many shapes: in each suite the test "pollute"
 * changes a variable that "victim" relies on, and another one, "innocent", that
 * it does not. A comment in front says which variables make the outcome:
 *
 *	alone: NAME …	putting back any of them alone turns it
 *	any: NAME …	the same, and not all of them are told
 *	both: NAME NAME	only together
 *	none: WHY	the process cannot be copied: nobody is asked
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <unistd.h>

#ifdef WITH_GLIB
#include <glib.h>
#endif

static int innocent;

/* Blocks of all small sizes, some of them left: freed ones are used again. */
static std::vector<void *> leftovers;
static void churn()
{
	for (size_t size = 8; size <= 512; size += 8) {
		for (int i = 0; i < 4; i++) {
			void *block = malloc(size);
			memset(block, 0xa5, size);
			if (i % 2)
				leftovers.push_back(block);
			else
				free(block);
		}
	}
}

/* alone: counter */
static int counter = 3;
TEST(Integer, pollute) { innocent++; counter++; }
TEST(Integer, victim) { EXPECT_EQ(counter++, 3); }

/* alone: settings */
static struct { char name[16]; double scale; bool on; } settings = { "plain", 1.5, false };
TEST(Struct, pollute) { innocent++; strcpy(settings.name, "fancy"); settings.on = true; }
TEST(Struct, victim) { EXPECT_STREQ(settings.name, "plain"); EXPECT_FALSE(settings.on); }

/* alone: chain */
struct link { struct link *next; int value; };
static struct link *chain;
static void chain_add(int value)
{
	struct link *node = (struct link *)malloc(sizeof(*node));
	node->next = chain;
	node->value = value;
	chain = node;
}
static void chain_clear()
{
	while (chain) {
		struct link *next = chain->next;
		free(chain);
		chain = next;
	}
}
TEST(List, pollute)
{
	innocent++;
	chain_clear();
	churn();
	chain_add(7);
}
TEST(List, victim)
{
	int sum = 0;
	for (struct link *node = chain; node; node = node->next)
		sum += node->value;
	EXPECT_EQ(sum, 10 + 20 + 30);
	chain_clear();
	chain_add(1);
	EXPECT_EQ(chain->next, nullptr);
}

/* alone: numbers */
static std::vector<int> numbers = { 1, 2, 3 };
TEST(Vector, pollute)
{
	innocent++;
	for (int i = 0; i < 100; i++)
		numbers.push_back(i);
	churn();
}
TEST(Vector, victim)
{
	EXPECT_EQ(numbers, (std::vector<int>{ 1, 2, 3 }));
	numbers.push_back(4);
	numbers.clear();
	numbers.shrink_to_fit();
}

/* alone: words */
static std::map<std::string, std::vector<std::string>> words = {
	{ "a name that is not short at all", { "one value that is long, too", "x" } },
	{ "b", {} },
};
TEST(Map, pollute)
{
	innocent++;
	words.clear();
	churn();
	words["c"].push_back("yet another value, again a long one");
}
TEST(Map, victim)
{
	ASSERT_EQ(words.size(), 2u);
	EXPECT_EQ(words["a name that is not short at all"].at(0), "one value that is long, too");
	words.erase("b");
	words["d"] = { "e" };
	words.clear();
}

/* alone: title */
static std::string title = "a title that does not fit into the object itself";
TEST(String, pollute) { innocent++; title += " and now is longer still"; churn(); }
TEST(String, victim)
{
	EXPECT_EQ(title, "a title that does not fit into the object itself");
	title += "!";
}

/* alone: table */
static std::unordered_map<std::string, int> table = { { "one", 1 }, { "two", 2 } };
TEST(Unordered, pollute)
{
	innocent++;
	for (int i = 0; i < 200; i++)
		table[std::to_string(i)] = i;
	table.erase("one");
	churn();
}
TEST(Unordered, victim)
{
	EXPECT_EQ(table.size(), 2u);
	ASSERT_EQ(table.count("one"), 1u);
	for (int i = 0; i < 50; i++)
		table["more" + std::to_string(i)] = i;
	table.clear();
}

/* alone: Registry::get()::registry */
class Registry {
public:
	static Registry &get()
	{
		static Registry registry;
		return registry;
	}
	std::map<int, std::string> known;
};
TEST(Singleton, pollute) { innocent++; Registry::get().known[1] = "leftover"; churn(); }
TEST(Singleton, victim)
{
	EXPECT_TRUE(Registry::get().known.empty());
	Registry::get().known[2] = "own";
	EXPECT_EQ(Registry::get().known.size(), 1u);
}

/* alone: lazy()::first */
static int seed = 1;
struct Lazy {
	Lazy() : value(seed), text(std::to_string(seed) + " made of a seed, and long") {}
	~Lazy() { value = -1; }
	int value;
	std::string text;
};
static Lazy &lazy()
{
	static Lazy first;
	return first;
}
TEST(LocalStatic, pollute) { innocent++; seed = 2; lazy(); seed = 1; churn(); }
TEST(LocalStatic, victim) { EXPECT_EQ(lazy().value, 1); EXPECT_EQ(lazy().text[0], '1'); }

/* alone: per_thread */
static thread_local int per_thread;
TEST(ThreadLocal, pollute) { innocent++; per_thread = 5; }
TEST(ThreadLocal, victim) { EXPECT_EQ(per_thread, 0); }

/* alone: local_per_thread()::text */
static std::string &local_per_thread()
{
	static thread_local std::string text = std::to_string(seed) + " for each thread, and long";
	return text;
}
TEST(ThreadLocalStatic, pollute) { innocent++; seed = 2; local_per_thread(); seed = 1; churn(); }
TEST(ThreadLocalStatic, victim) { EXPECT_EQ(local_per_thread()[0], '1'); }

/* alone: dynamic_per_thread */
static thread_local std::string dynamic_per_thread = std::to_string(seed) + " for each thread, long enough";
TEST(ThreadLocalObject, pollute)
{
	innocent++;
	dynamic_per_thread = "what the other test left in it, and long";
	churn();
}
TEST(ThreadLocalObject, victim) { EXPECT_EQ(dynamic_per_thread[0], '1'); }

/* alone: Account::total */
class Account {
public:
	static long total;
};
long Account::total = 100;
TEST(ClassStatic, pollute) { innocent++; Account::total -= 30; }
TEST(ClassStatic, victim) { EXPECT_EQ(Account::total, 100); }

/* alone: operation */
static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int (*operation)(int, int) = add;
TEST(FunctionPointer, pollute) { innocent++; operation = subtract; }
TEST(FunctionPointer, victim) { EXPECT_EQ(operation(5, 3), 8); }

/* alone: handler */
static std::string prefix = "prefix that is captured, and long";
static std::function<std::string(int)> handler = [p = prefix](int i) { return p + std::to_string(i); };
TEST(Function, pollute) { innocent++; handler = nullptr; churn(); }
TEST(Function, victim) { EXPECT_EQ(handler(1), "prefix that is captured, and long1"); handler = nullptr; }

/* alone: slots */
struct slot { int used; char *name; } slots[8]; /* not static: clang would take it apart */
TEST(Array, pollute)
{
	innocent++;
	for (int i = 2; i < 5; i++) {
		free(slots[i].name);
		slots[i] = { 1, strdup("taken by the first") };
	}
	churn();
}
TEST(Array, victim)
{
	int used = 0;
	for (const struct slot &slot : slots)
		used += slot.used;
	EXPECT_EQ(used, 1);
	EXPECT_STREQ(slots[2].name, "initial");
	free(slots[2].name);
	slots[2].name = nullptr;
}

/* both: left right */
static int left, right;
TEST(Together, pollute) { innocent++; left = right = 1; }
TEST(Together, victim) { EXPECT_EQ(left + right, 0); }

/* What both lead to is told of one of them. */
/* any: owner observer */
struct shared { int value; std::string text; };
static struct shared *owner = new shared{ 1, "what both of them see, and long" };
static struct shared *observer = owner;
TEST(Shared, pollute) { innocent++; owner->value = 2; observer->text = "?"; churn(); }
TEST(Shared, victim)
{
	EXPECT_EQ(owner->value, 1);
	EXPECT_EQ(observer, owner);
	EXPECT_EQ(observer->text, "what both of them see, and long");
}

/* alone: cached */
static char *cached;
static const char *cache(const char *text)
{
	if (!cached)
		cached = strdup(text);
	return cached;
}
TEST(LazyPointer, pollute) { innocent++; cache("the first who came"); }
TEST(LazyPointer, victim) { EXPECT_STREQ(cache("me"), "me"); }

/* alone: buffer */
static struct { char *data; size_t n; } buffer;
TEST(Reallocated, pollute)
{
	innocent++;
	buffer.data = (char *)realloc(buffer.data, 100000);
	memset(buffer.data, 'x', 99999);
	buffer.n = 99999;
	churn();
}
TEST(Reallocated, victim)
{
	EXPECT_EQ(buffer.n, 5u);
	EXPECT_EQ(std::string(buffer.data, buffer.n), "hello");
	buffer.data = (char *)realloc(buffer.data, 64);
	EXPECT_EQ(buffer.data[0], 'h');
	free(buffer.data);
	buffer.data = nullptr;
}

/* alone: shape */
struct Shape {
	virtual ~Shape() = default;
	virtual int corners() const = 0;
};
struct Square : Shape {
	int corners() const override { return (int)all.size(); }
	std::vector<int> all = { 1, 2, 3, 4 };
};
struct Triangle : Shape {
	int corners() const override { return 3; }
};
static std::unique_ptr<Shape> shape(new Square);
TEST(Polymorphic, pollute) { innocent++; shape.reset(new Triangle); churn(); }
TEST(Polymorphic, victim) { EXPECT_EQ(shape->corners(), 4); shape.reset(); }

/* alone: queue */
static std::deque<std::string> queue = { "first in the queue, a long text", "second" };
TEST(Deque, pollute)
{
	innocent++;
	for (int i = 0; i < 300; i++)
		queue.push_front("pushed by the other test, and long");
	queue.pop_back();
	churn();
}
TEST(Deque, victim)
{
	ASSERT_EQ(queue.size(), 2u);
	EXPECT_EQ(queue.back(), "second");
	for (int i = 0; i < 100; i++)
		queue.push_back("x");
	queue.clear();
}

/* alone: pool */
static std::shared_ptr<std::set<int>> pool = std::make_shared<std::set<int>>(std::set<int>{ 4, 5, 6 });
TEST(SharedPointer, pollute) { innocent++; pool = std::make_shared<std::set<int>>(); churn(); }
TEST(SharedPointer, victim) { EXPECT_EQ(pool->count(5), 1u); EXPECT_EQ(pool.use_count(), 1); pool.reset(); }

/* alone: chosen */
static std::optional<std::string> chosen;
TEST(Optional, pollute) { innocent++; chosen = "a choice that was never taken back"; }
TEST(Optional, victim) { EXPECT_FALSE(chosen.has_value()); chosen = "me"; }

/* alone: inner */
static std::list<std::map<int, std::vector<std::string>>> inner = { { { 1, { "deep inside of containers, long" } } }, {} };
TEST(Nested, pollute) { innocent++; inner.front()[1][0] = "changed deep inside of containers"; inner.pop_back(); churn(); }
TEST(Nested, victim)
{
	ASSERT_EQ(inner.size(), 2u);
	EXPECT_EQ(inner.front()[1][0], "deep inside of containers, long");
	inner.clear();
}

#ifdef WITH_GLIB
/* alone: users */
static GHashTable *users;
TEST(Glib, pollute)
{
	innocent++;
	for (int i = 0; i < 100; i++)
		g_hash_table_insert(users, g_strdup_printf("user %d", i), g_strdup("left"));
	g_hash_table_remove(users, "root");
	churn();
}
TEST(Glib, victim)
{
	EXPECT_EQ(g_hash_table_size(users), 1u);
	EXPECT_STREQ((const char *)g_hash_table_lookup(users, "root"), "the first of them");
	for (int i = 0; i < 50; i++)
		g_hash_table_insert(users, g_strdup_printf("mine %d", i), g_strdup("own"));
	g_hash_table_remove_all(users);
}
#endif

/* alone: level */
/* Set-up of the victim's group is not undone. */
static int level = 1;
TEST(Group, pollute)
{
	innocent++;
	level = 2;
	churn();
}
class GroupLater : public testing::Test {
    public:
	static void SetUpTestSuite()
	{
		resource = new std::vector<int>{ 1, 2 };
	}
	static void TearDownTestSuite()
	{
		delete resource;
	}
	static std::vector<int> *resource;
};
std::vector<int> *GroupLater::resource;
TEST_F(GroupLater, victim)
{
	EXPECT_EQ(resource->size(), 2u);
	EXPECT_EQ(level, 1);
}

/* alone: stuck */
static volatile int stuck;
TEST(Hang, pollute) { innocent++; stuck = 1; }
TEST(Hang, victim)
{
	while (stuck)
		;
}

/* alone: place */
static int fine = 1;
static int *place = &fine;
TEST(Crash, pollute) { innocent++; place = nullptr; }
TEST(Crash, victim) { EXPECT_EQ(*place, 1); }

/* alone: joined */
static int joined;
TEST(Joined, pollute)
{
	innocent++;
	for (int i = 0; i < 20; i++)
		std::thread([] { joined++; }).join();
}
TEST(Joined, victim) { EXPECT_EQ(joined, 0); }

/* none: threads */
TEST(Threads, pollute)
{
	innocent++;
	std::thread([] { pause(); }).detach();
}
TEST(Threads, victim) { EXPECT_EQ(innocent, 0); }

/* none: timer */
TEST(Timer, pollute) { innocent++; alarm(1000); }
TEST(Timer, victim) { EXPECT_EQ(innocent, 0); }

/* none: left */
TEST(Leaves, pollute) { innocent++; _exit(3); }
TEST(Leaves, victim) { EXPECT_EQ(innocent, 0); }

/* none: crash */
TEST(Crashes, pollute) { innocent++; abort(); }
TEST(Crashes, victim) { EXPECT_EQ(innocent, 0); }

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	chain_add(10);
	chain_add(20);
	chain_add(30);
	slots[2] = { 1, strdup("initial") };
	buffer.data = strdup("hello");
	buffer.n = 5;
	Registry::get();
#ifdef WITH_GLIB
	users = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_hash_table_insert(users, g_strdup("root"), g_strdup("the first of them"));
#endif
	return RUN_ALL_TESTS();
}
