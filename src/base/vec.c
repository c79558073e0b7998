#include "base/vec.h"

struct err *vec_grow_(void **data, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return NULL;
	size_t want = *cap < 8 ? 8 : *cap + *cap / 2;
	if (want < need)
		want = need;
	void *grown = reallocarray(*data, want, size);
	if (!grown)
		return err_nomem();
	*data = grown;
	*cap = want;
	return NULL;
}
