/*
 * std::sort, std::nth_element and std::partial_sort: their code is the
 * program's own. The controller stops where it begins (native/sort_models.c) and
 * calls this, in the thread that is about to sort. The elements come in another
 * order before they are sorted, so that what follows from comparing them is the
 * same, and only what the standard leaves open differs.
 */
#include "models/order_internal.h"

/* The controller asks for no more. */
#define SORT_BYTES ((uint64_t)1 << 20)

/*
 * libstdc++'s short texts are in the string itself, this far behind the pointer to
 * them. The pointer is replaced by a mark, no address, while elements are moved.
 */
#define TEXT_ROOM 16
#define TEXT_MARK UINT64_C(0xb4e15eb0d1f5c3a7)

static bool sort_mark_texts(unsigned char *base, size_t bytes)
{
	uint64_t *words = (uint64_t *)base;
	size_t n = bytes / sizeof(*words);
	if ((uintptr_t)base % sizeof(*words) || bytes % sizeof(*words))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (words[i] == TEXT_MARK)
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (words[i] == (uint64_t)(uintptr_t)&words[i] + TEXT_ROOM)
			words[i] = TEXT_MARK;
	}
	return true;
}

static void sort_unmark_texts(unsigned char *base, size_t bytes)
{
	uint64_t *words = (uint64_t *)base;
	for (size_t i = 0; i < bytes / sizeof(*words); i++) {
		if (words[i] == TEXT_MARK)
			words[i] = (uint64_t)(uintptr_t)&words[i] + TEXT_ROOM;
	}
}

static bool sort_all_same(const unsigned char *base, size_t n, size_t size)
{
	size_t i = 1;
	while (i < n && order_same(base, base + i * size, size))
		i++;
	return i == n;
}

/* Addresses differ from run to run: then it is the number of elements. */
static struct choose_keys sort_keys(const void *base, size_t n, size_t size,
				    uint64_t flags)
{
	if (!(flags & WIRE_SORT_ADDRESSES))
		return order_array_keys(base, n * size);
	uint64_t equal = choose_mix(n, size);
	return (struct choose_keys){
		.equal = equal,
		.object = choose_mix(equal, choose_object(base)),
	};
}

static void sort_permute(enum wire_model model, unsigned char *base, size_t n,
			 size_t size, uint64_t flags)
{
	uint64_t pick = choose_pick(model, choose_permutations(n),
				    sort_keys(base, n, size, flags));
	choose_argument("%zu elements of %zu bytes", n, size);
	choose_did(model == WIRE_MODEL_std_sort
			   ? "elements that compare as equal came out in "
			     "another order"
			   : "elements whose order is left open came out in "
			     "another one");
	if (!pick ||
	    (flags & WIRE_SORT_INSIDE && !sort_mark_texts(base, n * size)))
		return;
	choose_permute(pick, base, n, size);
	if (flags & WIRE_SORT_INSIDE)
		sort_unmark_texts(base, n * size);
}

static void sort_choose(uint64_t model, uint64_t base, uint64_t n,
			uint64_t size, uint64_t flags, uint64_t caller)
	__attribute__((used));

static void sort_choose(uint64_t model, uint64_t base, uint64_t n,
			uint64_t size, uint64_t flags, uint64_t caller)
{
	int saved = errno;
	bool known = model == WIRE_MODEL_std_sort ||
		     model == WIRE_MODEL_std_nth_element ||
		     model == WIRE_MODEL_std_partial_sort;
	if (known && n > 1 && size && size <= SORT_BYTES / n &&
	    choose_wanted((enum wire_model)model, caller) &&
	    !sort_all_same((const unsigned char *)base, n, size))
		sort_permute((enum wire_model)model, (unsigned char *)base, n,
			     size, flags);
	errno = saved;
}

/*
 * The function that is about to run may have arguments in vector registers: a
 * comparison that holds a number.
 */
__attribute__((naked)) void
choose_by_sort(__attribute__((unused)) uint64_t model,
	       __attribute__((unused)) uint64_t base,
	       __attribute__((unused)) uint64_t n,
	       __attribute__((unused)) uint64_t size,
	       __attribute__((unused)) uint64_t flags,
	       __attribute__((unused)) uint64_t caller)
{
	__asm__("subq $136, %rsp\n\t"
		".cfi_adjust_cfa_offset 136\n\t"
		"movups %xmm0, 0(%rsp)\n\t"
		"movups %xmm1, 16(%rsp)\n\t"
		"movups %xmm2, 32(%rsp)\n\t"
		"movups %xmm3, 48(%rsp)\n\t"
		"movups %xmm4, 64(%rsp)\n\t"
		"movups %xmm5, 80(%rsp)\n\t"
		"movups %xmm6, 96(%rsp)\n\t"
		"movups %xmm7, 112(%rsp)\n\t"
		"call sort_choose\n\t"
		"movups 0(%rsp), %xmm0\n\t"
		"movups 16(%rsp), %xmm1\n\t"
		"movups 32(%rsp), %xmm2\n\t"
		"movups 48(%rsp), %xmm3\n\t"
		"movups 64(%rsp), %xmm4\n\t"
		"movups 80(%rsp), %xmm5\n\t"
		"movups 96(%rsp), %xmm6\n\t"
		"movups 112(%rsp), %xmm7\n\t"
		"addq $136, %rsp\n\t"
		".cfi_adjust_cfa_offset -136\n\t"
		"ret");
}
