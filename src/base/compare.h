/* Comparisons for qsort(3) and bsearch(3) that several rooms need. */
#pragma once

/* Elements that are a uint64_t (or size_t), or begin with one. */
int compare_as_u64(const void *a, const void *b);
/* Elements that are a char *, byte by byte. */
int compare_as_text(const void *a, const void *b);
