/* A program whose malloc() is not the C library's: all of it goes there. */
#include "program.h"

#include <cstring>
#include <new>
#include <string>
#include <vector>

extern "C" size_t allocator_calls(void);

#define CALLS(expression)                                                      \
	do {                                                                   \
		size_t before = allocator_calls();                             \
		void *block = (expression);                                    \
		MUST(block && allocator_calls() > before);                     \
		free(block);                                                   \
	} while (0)

int main()
{
	CALLS(malloc(10));
	CALLS(calloc(10, 10));
	CALLS(realloc(malloc(10), 20));
	CALLS(aligned_alloc(64, 64));
	CALLS(strdup("text"));
	CALLS(strndup("text", 2));
	CALLS(::operator new(10));
	CALLS(::operator new[](10));
	CALLS(::operator new(10, std::nothrow));
	CALLS(::operator new(64, std::align_val_t(64)));
	delete new int;
	delete[] new std::string[10];
	std::vector<std::string> texts(100, std::string(100, 'x'));
	texts.clear();
	show();
	return 0;
}
