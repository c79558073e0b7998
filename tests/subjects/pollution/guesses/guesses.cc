// Words of unknown meaning that look like pointers: what is only guessed through them is no finding, what a test really
// wrote is one.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,gcc-O2
//@ variant asan cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2

#include "../runner.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

// What a test holds where nothing is compared: in the C library's memory of the thread.
static pthread_key_t holder, second_holder, third_holder;

// Memory that is given back, so that the next of that size is the same; the address stays in *word.
NOINLINE static void leave_behind(void **word, size_t size)
{
	void *block = calloc(1, size);
	*word = block;
	TOUCH(word);
	free(block);
}

NOINLINE static char *held(const char *text, size_t size)
{
	char *block = static_cast<char *>(malloc(size));
	strcpy(block, text);
	TOUCH(block);
	return block;
}

void *user_data;   // [3] is left behind by somebody else
void *chain;	   // [0] leads to a block of which [3] is
void *later;	   // [3] leads nowhere before the tests
void *record;	   // [0] is a text of its own

__attribute__((constructor)) static void before_tests()
{
	pthread_key_create(&holder, nullptr);
	pthread_key_create(&second_holder, nullptr);
	pthread_key_create(&third_holder, nullptr);
	void **words = static_cast<void **>(calloc(8, sizeof(void *)));
	leave_behind(&words[3], 40);
	user_data = words;
	pthread_setspecific(holder, held("pXuUUU", 40));
	void **outer = static_cast<void **>(calloc(2, sizeof(void *)));
	void **inner = static_cast<void **>(calloc(8, sizeof(void *)));
	outer[0] = inner;
	leave_behind(&inner[3], 104);
	chain = outer;
	pthread_setspecific(second_holder, held("somebody else's", 104));
	words = static_cast<void **>(calloc(8, sizeof(void *)));
	leave_behind(&words[3], 168);
	later = words;
	words = static_cast<void **>(calloc(2, sizeof(void *)));
	words[0] = held("the record's own text", 72);
	record = words;
}

// It was never the user data's.
TEST(test_frees_what_is_not_pointed_to) //@ clean test_frees_what_is_not_pointed_to
{
	free(pthread_getspecific(holder));
	pthread_setspecific(holder, nullptr);
}

TEST(test_writes_what_a_chain_leads_to) //@ clean test_writes_what_a_chain_leads_to
{
	strcpy(static_cast<char *>(pthread_getspecific(second_holder)), "and now another text");
}

// A block that comes after the word is not what the word is about, neither now nor in the next test.
TEST(test_gets_a_block_there) //@ clean test_gets_a_block_there
{
	pthread_setspecific(third_holder, held("new", 168));
}

TEST(test_writes_to_that_block) //@ clean test_writes_to_that_block
{
	strcpy(static_cast<char *>(pthread_getspecific(third_holder)), "written by the next test");
}

TEST(test_frees_that_block) //@ clean test_frees_that_block
{
	free(pthread_getspecific(third_holder));
	pthread_setspecific(third_holder, nullptr);
}

// The same, really changed.
TEST(test_writes_user_data) //@ pollutes test_writes_user_data user_data ... effect=accumulates
{
	++static_cast<long *>(user_data)[1];
}

TEST(test_replaces_user_data) //@ pollutes test_replaces_user_data later ...
{
	void **words = static_cast<void **>(calloc(8, sizeof(void *)));
	words[5] = words;
	later = words;
}

TEST(test_writes_text_of_record) //@ pollutes test_writes_text_of_record record ... effect=settles
{
	memcpy(*static_cast<char **>(record), "THE", 3);
}

// Expressions are full of both: a matcher is raw bytes, its tables have room that was never written.
namespace
{
const std::regex integers("(-)?(0x)?([0-9a-zA-Z]+)|((0x)?0)");
const std::regex options("--([[:alnum:]][-_[:alnum:]\\.]+)(=(.*))?|-([[:alnum:]].*)");
}

NOINLINE static const std::regex &names()
{
	static const std::regex expression("([[:alnum:]][-_[:alnum:]\\.]*)(,[ ]*[[:alnum:]][-_[:alnum:]]*)*");
	return expression;
}

NOINLINE static void use_heap(size_t n)
{
	std::vector<std::string> texts;
	for (size_t i = 0; i < n; i++)
		texts.push_back(std::string(i % 90, 'x') + std::to_string(i));
	TOUCH(texts.data());
}

NOINLINE static void match(const std::regex &expression, const char *text)
{
	std::smatch found;
	const std::string subject(text);
	if (!std::regex_match(subject, found, expression))
		abort();
	use_heap(found.size() * 40);
}

TEST(test_matches_option) //@ clean test_matches_option
{
	match(options, "--alpha=beta");
}

TEST(test_matches_number) //@ clean test_matches_number
{
	match(integers, "0x1f");
}

TEST(test_matches_name) //@ clean test_matches_name //@ first test_matches_name names::expression
{
	match(names(), "o,option");
}

TEST(test_makes_another) //@ clean test_makes_another
{
	const std::regex other("[a-f]+[[:space:]]*(x|y|z)");
	match(other, "abc x");
}

TEST(test_matches_again) //@ clean test_matches_again
{
	match(options, "-x");
	match(integers, "-12");
	match(names(), "long-name");
}

RUNNER_MAIN()
