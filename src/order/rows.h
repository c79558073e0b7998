/*
 * Orders in which every ordered pair is adjacent: a row-complete Latin square.
 * For an even number n of things n rows are enough, with each pair once; for an
 * odd number n + 1 rows, and a pair may occur twice.
 *
 * Row-complete squares of even order are Williams' (1949): the zigzag 0, 1,
 * n-1, 2, n-2, … , whose differences are all distinct, shifted by the row's
 * number. Odd ones are made from the next even one by leaving out its last
 * thing.
 */
#pragma once

#include <stddef.h>

size_t rows_count(size_t n);
/* Row @row (below rows_count(n)) into @ret, which has room for @n numbers. */
void rows_fill(size_t n, size_t row, size_t *ret);
