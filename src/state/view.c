#include "state/view.h"

#include <string.h>

#include "base/macro.h"

bool view_read(const struct view *view, uint64_t address, void *out, size_t n)
{
	uint8_t *to = out;
	while (n) {
		uint64_t in = address % VIEW_PAGE;
		size_t part = MIN(n, (size_t)(VIEW_PAGE - in));
		const uint8_t *page = view->page(view->data, address - in);
		if (!page)
			return false;
		memcpy(to, page + in, part);
		to += part;
		address += part;
		n -= part;
	}
	return true;
}
