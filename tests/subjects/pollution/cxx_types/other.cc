// A second unit with the same inline and template variables: each is one variable.
#include "shared.h"

NOINLINE void other_counts()
{
	inline_count++;
	Shared::inline_static++;
	Box<int>::made++;
	counted_inline();
}

namespace
{
int anonymous;
}

NOINLINE int other_anonymous(int step)
{
	anonymous += step;
	TOUCH(&anonymous);
	return anonymous;
}
