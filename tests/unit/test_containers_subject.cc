/*
 * Containers of the standard library with what is in them, for
 * test_containers_std.c: built as a library by each compiler, with each C++
 * library there is. The text of a content is written as that file's render()
 * does it. Unordered ones are sorted by text.
 */
#include <any>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>
#if __cplusplus > 201703L && __has_include(<span>)
#include <span>
#endif
#if defined(__GLIBCXX__) && _GLIBCXX_USE_CXX11_ABI
#include <memory_resource>
#define WITH_PMR 1
#endif

namespace subject
{
struct point {
	int x, y;
	bool operator<(const point &other) const { return x < other.x; }
};
struct alignas(32) wide {
	long value;
	bool operator<(const wide &other) const { return value < other.value; }
};
struct big {
	int first;
	char rest[596];
};
static int released;
static void release(int *p)
{
	released++;
	delete p;
}
struct counting_deleter {
	long count = 7;
	void operator()(int *p) const { delete p; }
};

std::string text_empty, text_short, text_long;
std::wstring text_wide, text_wide_long;
std::u16string text_16;
std::string_view view_text;
std::filesystem::path path_text;

std::vector<int> vector_empty, vector_int;
std::vector<point> vector_point;
std::vector<std::string> vector_text;
std::vector<std::vector<int>> vector_vector;
std::vector<bool> bits_empty, bits_three, bits_eight, bits_many;
std::valarray<double> valarray_double;
std::deque<int> deque_empty, deque_int, deque_long;
std::deque<big> deque_big;
std::list<int> list_empty, list_int;
std::list<wide> list_wide;
std::forward_list<std::string> forward_text;
std::stack<int> stack_int;
std::queue<int, std::list<int>> queue_int;
std::priority_queue<int> priority_int;

std::set<int> set_empty, set_int, set_long;
std::set<char> set_char;
std::set<wide> set_wide;
std::multiset<int> multiset_int;
std::map<std::string, int> map_text;
std::map<char, long double> map_char;
std::map<int, std::vector<std::string>> map_vector;
std::multimap<int, int> multimap_int;
std::unordered_set<int> hash_empty, hash_int, hash_long;
std::unordered_set<std::string> hash_text;
std::unordered_multiset<int> hash_multi;
std::unordered_map<std::string, int> hash_map;
std::unordered_map<char, wide *> hash_pointers;
std::unordered_multimap<int, short> hash_multimap;

std::shared_ptr<int> shared_null, shared_int, shared_made;
std::weak_ptr<int> weak_null, weak_alive, weak_expired;
std::unique_ptr<int> unique_null, unique_int;
std::unique_ptr<int[]> unique_array;
std::unique_ptr<int, void (*)(int *)> unique_released(nullptr, release);
std::unique_ptr<int, counting_deleter> unique_counted;

std::optional<int> optional_none, optional_int;
std::optional<std::string> optional_text;
std::variant<int, std::string, double> variant_int, variant_text,
	variant_double;
struct adder {
	int by;
	int operator()(int i) const { return by + i; }
};
struct table {
	long entries[4];
	int operator()(int i) const { return int(entries[i]); }
};
std::function<int(int)> function_empty, function_local, function_heap,
	function_small, function_large;
std::any any_empty, any_int, any_text;
std::exception_ptr exception_none, exception_some;
std::thread thread_none;
std::mutex mutex;
std::condition_variable condition;
std::ostringstream unwritten, written;
std::stringstream both;
std::istringstream being_read("ten eleven");
#ifdef __cpp_lib_span
std::span<int> span_dynamic;
std::span<int, 3> span_fixed(vector_int.data(), 0);
#endif
#ifdef WITH_PMR
std::pmr::monotonic_buffer_resource resource;
std::pmr::vector<int> pmr_vector(&resource);
std::pmr::map<int, int> pmr_map(&resource);
std::pmr::string pmr_text(&resource);
#endif
}

struct expected {
	std::string name, content;
};
static std::vector<expected> all;

template <typename Range> static std::string joined(const Range &range)
{
	std::string text = "[";
	for (const auto &item : range)
		text += (text.size() > 1 ? ", " : "") + std::to_string(item);
	return text + "]";
}

static void expect(const char *name, const std::string &content)
{
	all.push_back({ name, content });
}

static void fill_sequences()
{
	using namespace subject;
	text_short = "short";
	text_long = std::string(100, 'x') + "yz";
	text_long.reserve(1000);
	text_wide = L"ab";
	text_wide_long = std::wstring(40, L'w');
	text_16 = u"sixteen";
	view_text = std::string_view(text_long).substr(98);
	path_text = "/some/where/far";
	vector_int = { 1, 2, 3 };
	vector_int.reserve(100);
	vector_point = { { 1, 2 }, { 3, 4 } };
	vector_text = { "one", std::string(30, '2') };
	vector_vector = { { 1 }, {}, { 2, 3 } };
	bits_three.assign(3, true);
	bits_eight.assign(8, true);
	for (int i = 0; i < 77; i++)
		bits_many.push_back(i % 3 == 0);
	valarray_double = { 0.5, 1.5 };
	deque_int = { 1, 2, 3 };
	for (int i = 0; i < 3000; i++) {
		deque_long.push_back(i);
		if (i % 3 == 0)
			deque_long.push_front(-i);
		if (i % 10 == 0)
			deque_long.pop_front();
	}
	for (int i = 0; i < 3; i++)
		deque_big.push_back({ i, {} });
	list_int = { 4, 5, 6 };
	list_wide = { { 7 }, { 8 } };
	forward_text = { "head", "tail" };
	for (int i = 0; i < 3; i++) {
		stack_int.push(i);
		queue_int.push(i);
		priority_int.push(i);
	}

	expect("text_empty", "\"\"");
	expect("text_short", "\"short\"");
	expect("text_long", '"' + text_long + '"');
	expect("text_wide", "\"ab\"");
	expect("text_wide_long", '"' + std::string(40, 'w') + '"');
	expect("text_16", "\"sixteen\"");
	expect("view_text", "\"xxyz\"");
	expect("path_text", "\"/some/where/far\"");
	expect("vector_empty", "[]");
	expect("vector_int", "[1, 2, 3]");
	expect("vector_point", "[{x: 1, y: 2}, {x: 3, y: 4}]");
	expect("vector_text", "[\"one\", \"" + std::string(30, '2') + "\"]");
	expect("vector_vector", "[[1], [], [2, 3]]");
	expect("bits_empty", "bits 0: ");
	expect("bits_three", "bits 3: 111");
	expect("bits_eight", "bits 8: 11111111");
	std::string bits;
	for (bool bit : bits_many)
		bits += bit ? '1' : '0';
	expect("bits_many", "bits 77: " + bits);
	expect("valarray_double", "[0.5, 1.5]");
	expect("deque_empty", "[]");
	expect("deque_int", "[1, 2, 3]");
	expect("deque_long", joined(deque_long));
	std::string rest = ", rest: \"\"}";
	expect("deque_big", "[{first: 0" + rest + ", {first: 1" + rest +
				    ", {first: 2" + rest + "]");
	expect("list_empty", "[]");
	expect("list_int", "[4, 5, 6]");
	expect("list_wide", "[{value: 7}, {value: 8}]");
	expect("forward_text", "[\"head\", \"tail\"]");
	expect("stack_int", "[0, 1, 2]");
	expect("queue_int", "[0, 1, 2]");
	expect("priority_int", "[2, 0, 1]");
}

static void fill_maps()
{
	using namespace subject;
	static wide target = { 9 };
	set_int = { 3, 1, 2 };
	for (int i = 0; i < 1000; i++) {
		set_long.insert(i * 7919 % 10007);
		hash_long.insert(i);
	}
	set_char = { 'b', 'a' };
	set_wide = { { 2 }, { 1 } };
	multiset_int = { 1, 2, 1 };
	map_text = { { "one", 1 }, { "two", 2 } };
	map_char = { { 'k', 2.5L } };
	map_vector = { { 1, { "a" } }, { 2, {} } };
	multimap_int = { { 1, 10 }, { 1, 11 } };
	hash_int = { 30, 10, 20 };
	hash_text = { "b", "a" };
	hash_multi = { 1, 1, 2 };
	hash_map = { { "one", 1 }, { "two", 2 }, { "six", 6 } };
	hash_pointers = { { 'w', &target } };
	hash_multimap = { { 1, 10 }, { 1, 11 } };

	expect("set_empty", "[]");
	expect("set_int", "[1, 2, 3]");
	expect("set_long", joined(set_long));
	expect("set_char", "['a', 'b']");
	expect("set_wide", "[{value: 1}, {value: 2}]");
	expect("multiset_int", "[1, 1, 2]");
	expect("map_text", "[\"one\" => 1, \"two\" => 2]");
	expect("map_char", "['k' => 2.5]");
	expect("map_vector", "[1 => [\"a\"], 2 => []]");
	expect("multimap_int", "[1 => 10, 1 => 11]");
	expect("hash_empty", "{}");
	expect("hash_int", "{10, 20, 30}");
	std::set<std::string> sorted;
	for (int i : hash_long)
		sorted.insert(std::to_string(i));
	std::string text;
	for (const std::string &item : sorted)
		text += (text.empty() ? "" : ", ") + item;
	expect("hash_long", '{' + text + '}');
	expect("hash_text", "{\"a\", \"b\"}");
	expect("hash_multi", "{1, 1, 2}");
	expect("hash_map", "{\"one\" => 1, \"six\" => 6, \"two\" => 2}");
	expect("hash_pointers", "{'w' => &{value: 9}}");
	expect("hash_multimap", "{1 => 10, 1 => 11}");
}

/* Sizes of which recipes.c takes that the members lie as it says. */
#ifdef _LIBCPP_VERSION
static_assert(sizeof(std::ostringstream) == 264, "");
static_assert(sizeof(std::istringstream) == 272, "");
static_assert(sizeof(std::stringstream) == 280, "");
#elif _GLIBCXX_USE_CXX11_ABI
static_assert(sizeof(std::ostringstream) == 376, "");
static_assert(sizeof(std::istringstream) == 384, "");
static_assert(sizeof(std::stringstream) == 392, "");
#endif

static void fill_rest()
{
	using namespace subject;
	shared_int.reset(new int(5));
	shared_made = std::make_shared<int>(6);
	weak_alive = shared_made;
	{
		auto gone = std::make_shared<int>(1);
		weak_expired = gone;
	}
	unique_int.reset(new int(7));
	unique_array.reset(new int[3]{ 8, 9, 10 });
	unique_released.reset(new int(11));
	unique_counted.reset(new int(12));
	optional_int = 3;
	optional_text = "there";
	variant_int = 1;
	variant_text = "alternative";
	variant_double = 2.5;
	long captured = 42;
	function_local = [captured](int i) { return int(captured) + i; };
	std::string more(50, 'm');
	function_heap = [captured, more](int i) {
		return int(captured) + i + int(more.size());
	};
	function_small = adder{ 3 };
	function_large = table{ { 1, 2, 3, 4 } };
	any_int = std::string("not in place");
	any_int = 5;
	any_text = std::string(50, 'a');
	exception_some = std::make_exception_ptr(std::runtime_error("no"));
	written << "one " << 2;
	both << "three";
	std::string word;
	being_read >> word;

	expect("shared_null", "null");
	expect("shared_int", "->5");
	expect("shared_made", "->6");
	expect("weak_null", "null");
	expect("weak_alive", "->6");
	expect("weak_expired", "null");
	expect("unique_null", "null");
	expect("unique_int", "->7");
	expect("unique_array", "->8");
	expect("unique_released", "->11");
	expect("unique_counted", "->12");
	expect("optional_none", "words 0");
	expect("optional_int", "words 1 [3]");
	expect("optional_text", "words 1 [\"there\"]");
	expect("variant_int", "words 0 [1]");
	expect("variant_text", "words 1 [\"alternative\"]");
	expect("variant_double", "words 2 [2.5]");
	expect("function_empty", "function: empty");
	expect("function_local", "function: stored");
	expect("function_heap", "function: stored");
	expect("any_empty", "function: empty");
	/* libc++: its dynamic type is the walk's to find. */
	expect("function_small", "function: {by: 3}|function: stored");
	expect("function_large",
	       "function: {entries: [1, 2, 3, 4]}|function: stored");
	expect("any_int", "function: 5");
	expect("any_text", "function: \"" + std::string(50, 'a') + '"');
	expect("exception_none", "words 0");
	expect("exception_some", "words 1");
	expect("thread_none", "words 0");
	expect("mutex", "skip");
	expect("condition", "skip");
	expect("unwritten", "\"\"");
	expect("written", "\"one 2\"");
	expect("both", "\"three\"");
	expect("being_read", "\" eleven\"");
#ifdef __cpp_lib_span
	span_dynamic = vector_int;
	new (&span_fixed) std::span<int, 3>(vector_int);
	expect("span_dynamic", "[1, 2, 3]");
	expect("span_fixed", "[1, 2, 3]");
#endif
#ifdef WITH_PMR
	pmr_vector = { 1, 2 };
	pmr_map = { { 1, 2 } };
	pmr_text = "polymorphic allocator, long text";
	expect("pmr_vector", "[1, 2]");
	expect("pmr_map", "[1 => 2]");
	expect("pmr_text", "\"polymorphic allocator, long text\"");
	expect("resource", "skip");
#endif
}

/* Name and content of the @i-th variable; false: no more. */
extern "C" bool subject_expected(size_t i, const char **ret_name,
				 const char **ret_content)
{
	if (all.empty()) {
		fill_sequences();
		fill_maps();
		fill_rest();
	}
	if (i >= all.size())
		return false;
	*ret_name = all[i].name.c_str();
	*ret_content = all[i].content.c_str();
	return true;
}
