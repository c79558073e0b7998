// The user's locale has a decimal comma, an i without dot and another order of letters: one of ours, so that none has
// to be installed. Each beside a test that asks for the plain one, or asks the locale.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --api "LC_ALL" --level one --runs 12

#include "../runner.h"

#include <clocale>
#include <cstdio>
#include <cstring>
#include <cwctype>
#include <langinfo.h>
#include <locale>
#include <sstream>
#include <string>

namespace
{
std::string print_half()
{
	char text[16];
	snprintf(text, sizeof(text), "%.1f", 0.5);
	return text;
}
} // namespace

TEST(test_prints_half) //@ assumption test_prints_half api=LC_ALL line=any before=yes did="it was xx_XX.UTF-8: decimal comma, i without dot, another order of letters"
{
	setlocale(LC_ALL, "");
	std::string text = print_half();
	setlocale(LC_ALL, "C");
	assert(text == "0.5");
}

TEST(test_prints_half_in_the_plain_locale)
{
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	std::string text = print_half();
	setlocale(LC_ALL, "C");
	assert(text == "0.5");
}

TEST(test_prints_half_as_the_user_likes)
{
	setlocale(LC_ALL, "");
	std::string text = print_half(), expected = std::string("0") + nl_langinfo(RADIXCHAR) + "5";
	setlocale(LC_ALL, "C");
	assert(text == expected);
}

TEST(test_stream_prints_half) //@ assumption test_stream_prints_half api=LC_ALL line=any before=yes
{
	std::ostringstream stream;
	stream.imbue(std::locale(""));
	stream << 0.5;
	assert(stream.str() == "0.5");
}

TEST(test_stream_of_the_plain_locale)
{
	std::ostringstream stream;
	stream.imbue(std::locale::classic());
	stream << 0.5;
	assert(stream.str() == "0.5");
}

TEST(test_capital_of_i) //@ assumption test_capital_of_i api=LC_ALL line=any before=yes
{
	setlocale(LC_ALL, "");
	wint_t capital = towupper(L'i');
	setlocale(LC_ALL, "C");
	assert(capital == L'I');
}

TEST(test_capital_of_a)
{
	setlocale(LC_ALL, "");
	wint_t capital = towupper(L'a');
	setlocale(LC_ALL, "C");
	assert(capital == L'A');
}

TEST(test_capitals_come_first) //@ assumption test_capitals_come_first api=LC_ALL line=any before=yes
{
	setlocale(LC_ALL, "");
	int order = strcoll("Zebra", "apple");
	setlocale(LC_ALL, "C");
	assert(order < 0);
}

TEST(test_small_letters_in_order)
{
	setlocale(LC_ALL, "");
	int order = strcoll("apple", "zebra");
	setlocale(LC_ALL, "C");
	assert(order < 0 && strcmp("Zebra", "apple") < 0);
}

// What is asked for by name is found as ever.
TEST(test_other_locales)
{
	assert(setlocale(LC_ALL, ""));
	assert(setlocale(LC_ALL, "C.UTF-8") && !setlocale(LC_ALL, "no_SUCH.UTF-8"));
	assert(std::string(nl_langinfo(CODESET)) == "UTF-8");
	assert(setlocale(LC_ALL, "C"));
}

RUNNER_MAIN()
