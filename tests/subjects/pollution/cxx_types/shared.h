#pragma once
#include "../runner.h"

inline int inline_count = 0;

struct Shared {
	static inline int inline_static = 0;
	static int plain_static;
};

template <typename T> struct Box {
	T value;
	static int made;
};

template <typename T> int Box<T>::made = 0;

inline int counted_inline()
{
	static int calls;
	TOUCH(&calls);
	return ++calls;
}

void other_counts();
int other_anonymous(int step);
