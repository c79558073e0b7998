#include "subject_unwind.h"

#include <functional>
#include <vector>

namespace app {

template <typename T> class registry {
public:
	NOINLINE void sort(const std::function<void(T *, size_t)> &how)
	{
		AT(2), how(entries.data(), entries.size());
		kept = kept + 1;
	}
	std::vector<T> entries;
};

namespace {

struct sorter {
	NOINLINE void operator()(item *data, size_t n) const
	{
		AT(0), qsort(data, n, sizeof(*data), compare_items);
		kept = kept + 1;
	}
};

} // namespace

} // namespace app

int main()
{
	app::registry<item> registry;
	registry.entries.assign(items, items + 8);
	AT(3), registry.sort(app::sorter());
	kept = kept + 1;
	const char *functions[] = {
		"app::(anonymous namespace)::sorter::operator()",
		"", // std::function's own, any number
		"app::registry<item>::sort",
		"main",
	};
	expect(functions, 4);

	pthread_t thread;
	pthread_create(
		&thread, nullptr,
		[](void *) -> void * {
			AT(0), qsort(items, 8, sizeof(items[0]), compare_items);
			kept = kept + 1;
			return nullptr;
		},
		nullptr);
	pthread_join(thread, nullptr);
	const char *lambda[] = { "*operator()" };
	expect(lambda, 1);
	return 0;
}
