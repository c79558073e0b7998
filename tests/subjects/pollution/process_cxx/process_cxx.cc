// Process state of the C++ library: streams, hooks, the global locale; and libraries that stay loaded.
//
//@ subject framework=functions lang=c++ where=process
//@ variant plain libs=-ldl quick=gcc-O0,clang-O2
//@ variant libcxx cflags="-stdlib=libc++" libs="-stdlib=libc++ -ldl" builds=clang-O0 needs=__config

#include "../runner.h"

#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <iomanip>
#include <iostream>
#include <locale>
#include <new>
#include <sstream>

// The standard library makes its streams ready when they are used for the first time.
TEST(test_first_use) //@ clean test_first_use
{
	std::cout << "text " << 1 << ' ' << 1.5 << std::endl;
	std::cerr << "text " << 1 << ' ' << 1.5 << std::endl;
	std::clog << "text" << std::endl;
}

TEST(test_hex) //@ pollutes test_hex stream[std::cout] stream[std::cout].flags effect=settles
{
	std::cout << std::hex << 255 << '\n';
}

TEST(test_hex_and_back) //@ clean test_hex_and_back
{
	auto old = std::cerr.flags();
	std::cerr << std::hex << std::showbase << 255 << '\n';
	std::cerr.flags(old);
}

TEST(test_precision) //@ pollutes test_precision stream[std::cout] stream[std::cout].precision before=6 after=12
{
	std::cout << std::setprecision(12) << 1.5 << '\n';
}

TEST(test_precision_and_back) //@ clean test_precision_and_back
{
	auto old = std::cout.precision(3);
	std::cout.precision(old);
}

TEST(test_width) //@ pollutes test_width stream[std::cerr] stream[std::cerr].width before=0 after=7
{
	std::cerr.width(7);
}

TEST(test_fill) //@ pollutes test_fill stream[std::cerr] stream[std::cerr].fill
{
	std::cerr.fill('*');
}

TEST(test_width_used) //@ clean test_width_used
{
	std::cout << std::setw(9) << 1 << '\n';
}

TEST(test_state) //@ pollutes test_state stream[std::clog] stream[std::clog].state
{
	std::clog.setstate(std::ios::failbit);
}

TEST(test_state_and_back) //@ clean test_state_and_back
{
	std::cout.setstate(std::ios::failbit);
	std::cout.clear();
}

TEST(test_exceptions) //@ pollutes test_exceptions stream[std::cin] stream[std::cin].exceptions
{
	std::cin.exceptions(std::ios::badbit);
}

TEST(test_exceptions_and_back) //@ clean test_exceptions_and_back
{
	auto old = std::cout.exceptions();
	std::cout.exceptions(std::ios::badbit);
	std::cout.exceptions(old);
}

static std::stringbuf other_buffer;

TEST(test_buffer) //@ pollutes test_buffer stream[std::cerr] stream[std::cerr].buffer
{
	std::cerr.rdbuf(&other_buffer);
}

TEST(test_buffer_and_back) //@ clean test_buffer_and_back
{
	std::ostringstream own;
	auto *old = std::cout.rdbuf(own.rdbuf());
	std::cout << "captured";
	std::cout.rdbuf(old);
}

TEST(test_tie) //@ pollutes test_tie stream[std::cin] stream[std::cin].tie
{
	std::cin.tie(nullptr);
}

static void on_terminate()
{
	abort();
}

TEST(test_terminate) //@ pollutes test_terminate terminate-handler ... after=...on_terminate... effect=settles
{
	std::set_terminate(on_terminate);
}

TEST(test_terminate_and_back) //@ clean test_terminate_and_back
{
	auto old = std::set_terminate(abort);
	std::set_terminate(old);
}

static void on_no_memory()
{
	abort();
}

TEST(test_new_handler) //@ pollutes test_new_handler new-handler ... after=...on_no_memory...
{
	std::set_new_handler(on_no_memory);
}

TEST(test_new_handler_and_back) //@ clean test_new_handler_and_back
{
	auto old = std::set_new_handler(nullptr);
	std::set_new_handler(old);
}

struct comma : std::numpunct<char> {
	char do_decimal_point() const override
	{
		return ',';
	}
};

TEST(test_locale) //@ pollutes test_locale cxx-locale ... severity=high
{
	std::locale::global(std::locale(std::locale::classic(), new comma));
}

TEST(test_locale_and_back) //@ clean test_locale_and_back
{
	std::locale old = std::locale::global(std::locale::classic());
	std::locale::global(old);
}

// Loading does not harm by itself; that it happened is said.
TEST(test_loads) //@ first test_loads library[libanl.so.1] //@ clean test_loads
{
	(void)!dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL);
}

TEST(test_loads_and_unloads) //@ clean test_loads_and_unloads
{
	if (void *library = dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL))
		dlclose(library);
}

TEST(test_uses_streams) //@ clean test_uses_streams
{
	std::ostringstream own;
	own << std::hex << 255 << std::setprecision(3) << 1.23456;
	std::cout << own.str() << '\n';
}

RUNNER_MAIN()
