/*
 * A program that replaces two of the C++ operators by a pool of its own: the
 * runtime's others end in these two, and so they must with the agent.
 */
#include "program.h"

#include <cstddef>
#include <new>
#include <string>
#include <vector>

static char pool[1 << 16];
static std::size_t used;
static int freed_into_pool;

/* Not to be seen through. */
static void *volatile sink;
template <typename T> T *hide(T *block)
{
	sink = block;
	return static_cast<T *>(sink);
}

void *operator new(std::size_t size)
{
	void *block = pool + used;
	used += (size + 15) & ~std::size_t(15);
	MUST(used <= sizeof(pool));
	return hide(block);
}

void operator delete(void *block) noexcept
{
	if (!block)
		return;
	MUST(block >= pool && block < pool + sizeof(pool));
	freed_into_pool++;
}

int main()
{
	MUST(hide(new int) < static_cast<void *>(pool + sizeof(pool)));
	delete hide(new int);
	delete[] hide(new int[40]);
	::operator delete(hide(new (std::nothrow) char), std::size_t(1));
	::operator delete[](hide(new char[50]), std::size_t(50));
	::operator delete(hide(new char), std::nothrow);
	MUST(freed_into_pool == 5);
	{
		std::vector<std::string> texts;
		for (int i = 0; i < 20; i++)
			texts.emplace_back(100, 'x');
	}
	MUST(freed_into_pool > 25);
	live(malloc(30), 30);
	show();
	return 0;
}
