/* The C++ operators, all of them, and what they do when memory is out. */
#include "program.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace {

struct alignas(64) wide {
	char bytes[192];
};

struct plain {
	char bytes[72];
};

int handled;
void handler()
{
	handled++;
	std::set_new_handler(nullptr);
}

/* So that nothing is known of the sizes when the program is compiled. */
volatile std::size_t huge = std::size_t(1) << 62;
void *volatile sink;

template <typename Allocate> bool throws(Allocate allocate)
{
	try {
		allocate();
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

void out_of_memory()
{
	std::set_new_handler(handler);
	MUST(throws([] { sink = ::operator new(huge); }));
	MUST(handled == 1);
	MUST(throws([] { sink = ::operator new[](huge); }));
	MUST(throws([] { sink = ::operator new(huge, std::align_val_t(64)); }));
	MUST(throws([] { sink = ::operator new[](huge, std::align_val_t(64)); }));
	MUST(!::operator new(huge, std::nothrow));
	MUST(!::operator new[](huge, std::nothrow));
	MUST(!::operator new(huge, std::align_val_t(64), std::nothrow));
	MUST(!::operator new[](huge, std::align_val_t(64), std::nothrow));
}

void every()
{
	live(new plain, sizeof(plain));
	live(new plain[3], 3 * sizeof(plain));
	live(new (std::nothrow) plain, sizeof(plain));
	live(new (std::nothrow) plain[4], 4 * sizeof(plain));
	live(new wide, sizeof(wide));
	live(new wide[5], 5 * sizeof(wide));
	live(new (std::nothrow) wide, sizeof(wide));
	live(new (std::nothrow) wide[6], 6 * sizeof(wide));
	live(::operator new(0), 0);
	static std::string text(1000, 'x');
	live(text.data(), 1001);
	static std::vector<int> numbers(777);
	live(numbers.data(), 777 * sizeof(int));
	MUST(reinterpret_cast<std::uintptr_t>(new wide) % 64 == 0);
	out_of_memory();

	const auto alignment = std::align_val_t(64);
	void *gone[] = {
		::operator new(100),
		::operator new[](100),
		::operator new(100),
		::operator new[](100),
		::operator new(100, std::nothrow),
		::operator new[](100, std::nothrow),
		::operator new(100, alignment),
		::operator new[](100, alignment),
		::operator new(100, alignment),
		::operator new[](100, alignment),
		::operator new(100, alignment),
		::operator new[](100, alignment),
	};
	::operator delete(gone[0]);
	::operator delete[](gone[1]);
	::operator delete(gone[2], 100);
	::operator delete[](gone[3], 100);
	::operator delete(gone[4], std::nothrow);
	::operator delete[](gone[5], std::nothrow);
	::operator delete(gone[6], alignment);
	::operator delete[](gone[7], alignment);
	::operator delete(gone[8], 100, alignment);
	::operator delete[](gone[9], 100, alignment);
	::operator delete(gone[10], alignment, std::nothrow);
	::operator delete[](gone[11], alignment, std::nothrow);
	::operator delete(nullptr);
	for (void *block : gone)
		freed(block);
	show();
}

AS_WRITTEN void *inner(std::size_t size)
{
	void *block = ::operator new(size);
	__asm__ volatile("" ::: "memory");
	return block;
}

AS_WRITTEN void *outer(std::size_t size)
{
	void *block = inner(size);
	__asm__ volatile("" ::: "memory");
	return block;
}

void stacks()
{
	tell(RECORD_CODE, reinterpret_cast<void *>(inner), 64);
	tell(RECORD_CODE, reinterpret_cast<void *>(outer), 64);
	live(outer(10), 10);
	live(outer(20), 20);
	show();
}

} /* namespace */

int main(int, char **argv)
{
	if (!std::strcmp(argv[1], "every"))
		every();
	else
		stacks();
	return 0;
}
