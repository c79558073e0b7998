#include "order/rows.h"

size_t rows_count(size_t n)
{
	return n < 2 ? n : n + n % 2;
}

/* 0, 1, n-1, 2, n-2, …: the differences of neighbours are all distinct. */
static size_t row_zigzag_place(size_t n, size_t place)
{
	return place % 2 ? place / 2 + 1 : (n - place / 2) % n;
}

void rows_fill(size_t n, size_t row, size_t *ret)
{
	size_t even = rows_count(n), at = 0;
	for (size_t place = 0; place < even; place++) {
		size_t thing = (row_zigzag_place(even, place) + row) % even;
		if (thing < n)
			ret[at++] = thing;
	}
}
