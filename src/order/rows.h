/*
 * Orders in which every ordered pair stands next to each other: a row-complete
 * Latin square. Of an even number n of things n rows suffice, each pair stands
 * once; of an odd number n + 1 rows, a pair may stand twice.
 *
 * Row-complete squares of even order are Williams' (1949): the zigzag
 * 0, 1, n-1, 2, n-2, … , whose differences are all distinct, shifted by the row's
 * number. Odd ones are made from the next even one by leaving out its last thing.
 */
#pragma once

#include <stddef.h>

size_t rows_count(size_t n);
/* Row @row (below rows_count(n)) into @ret, which has room for @n numbers. */
void rows_fill(size_t n, size_t row, size_t *ret);
