/* Process state in a C++ program; see same.h. */
#include "same.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <locale>
#include <new>
#include <string>

#define STATE polygraph_agent_state

namespace {

struct noisy {
	const char *name;
	~noisy()
	{
		std::printf("%s ends\n", name);
		std::fflush(stdout);
	}
};

noisy global = { "global" };
noisy globals[2] = { { "one" }, { "two" } };
std::string text(100, 'x');

void on_terminate()
{
	std::puts("terminate");
	std::fflush(stdout);
	std::_Exit(6);
}
void on_new() {}
void on_exit_cxx() { std::puts("exit"); std::fflush(stdout); }

/* Before main(), and before what is global in this file is made. */
struct early {
	early()
	{
		std::set_terminate(on_terminate);
		NOTED(STATE.active);
		NOTED(STATE.terminate ==
		      reinterpret_cast<std::uintptr_t>(on_terminate));
		NOTED(STATE.terminate_calls == 1);
		std::set_new_handler(on_new);
		NOTED(STATE.new_handler_calls == 1);
	}
};
early early_one;

noisy &local()
{
	static noisy one = { "local" };
	return one;
}
noisy *locals()
{
	static noisy many[2] = { { "first of array" }, { "second of array" } };
	return many;
}

/* Destructors of statics are no exits, whether arrays or not. */
void statics()
{
	std::uint64_t before = AGENT ? STATE.exits_n : 0;
	NOTED(before == 0);
	MUST(local().name && locals()[1].name);
	NOTED(STATE.exits_n == before);
	MUST(!std::atexit(on_exit_cxx));
	NOTED(STATE.exits_n == before + 1);
	NOTED(STATE.exits[0].function ==
	      reinterpret_cast<std::uintptr_t>(on_exit_cxx));
	MUST(!std::at_quick_exit(on_exit_cxx));
	NOTED(STATE.exits_n == before + 2 && STATE.exits[1].kind == 2);
}

void hooks()
{
	MUST(std::get_terminate() == on_terminate);
	MUST(std::set_terminate(nullptr) == on_terminate);
	NOTED(STATE.terminate == 0 && STATE.terminate_calls == 2);
	std::set_terminate(on_terminate);
	MUST(std::get_new_handler() == on_new);
	MUST(std::set_new_handler(nullptr) == on_new);
	NOTED(STATE.new_handler == 0 && STATE.new_handler_calls == 2);
	NOTED(STATE.changes >= 5);
}

void terminates()
{
	throw 1;
}

void locales()
{
	std::uint64_t calls = AGENT ? STATE.locale_calls : 0;
	std::locale old = std::locale::global(std::locale("C.UTF-8"));
	MUST(old == std::locale::classic());
	NOTED(STATE.cxx_locale_calls == 1);
	std::locale now;
	std::uint64_t implementation;
	std::memcpy(&implementation, static_cast<void *>(&now),
		    sizeof(implementation));
	NOTED(STATE.cxx_locale == implementation);
	NOTED(STATE.locale_calls == calls + 1);
	NOTED(!std::strcmp(STATE.locale[0], "C.UTF-8"));
	std::puts(now.name().c_str());
	std::locale::global(old);
	NOTED(STATE.cxx_locale_calls == 2);
	NOTED(!std::strcmp(STATE.locale[0], "C"));
	bool thrown = false;
	try {
		std::locale::global(std::locale("xx_NOT_THERE"));
	} catch (const std::runtime_error &) {
		thrown = true;
	}
	MUST(thrown);
	NOTED(STATE.cxx_locale_calls == 2);
}

} /* namespace */

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*function)();
	} words[] = {
		{ "statics", statics },
		{ "hooks", hooks },
		{ "terminates", terminates },
		{ "locales", locales },
	};
	for (const auto &word : words) {
		if (argc < 2)
			std::puts(word.word);
		else if (!std::strcmp(word.word, argv[1]))
			word.function();
	}
	return text.size() == 100 ? 0 : 1;
}
