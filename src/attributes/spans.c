/*
 * Places in memory that are read together: one system call a point as long as
 * nothing in them changes.
 */
#include "attributes/attributes_internal.h"
#include "base/compare.h"
#include "tracee/memory.h"

/* Nearer than that, what lies between two places is read with them. */
#define GAP 256
/* A group with more than that is not watched, but read each time. */
#define GROUP_SPANS 512
#define SPAN_MAX (1 << 20)

void ranges_free(struct attribute_spans *spans)
{
	vec_free(&spans->list);
	vec_free(&spans->last);
	vec_free(&spans->now);
	vec_free(&spans->plan);
	*spans = (struct attribute_spans){};
}

void ranges_forget(struct attribute_spans *spans, unsigned group)
{
	size_t kept = 0;
	spans->always &= ~(1U << (MEMORY_SHIFT + group));
	spans->counts[group] = 0;
	for (size_t i = 0; i < spans->list.n; i++) {
		if (spans->list.data[i].group != group)
			spans->list.data[kept++] = spans->list.data[i];
	}
	spans->planned &= kept == spans->list.n;
	spans->list.n = kept;
}

struct err *ranges_add(struct attribute_spans *spans, unsigned group,
		       uint64_t address, size_t n)
{
	if (!n || n > SPAN_MAX)
		return NULL;
	unsigned bit = 1U << (MEMORY_SHIFT + group);
	if (spans->always & bit)
		return NULL;
	if (spans->counts[group]++ == GROUP_SPANS) {
		ranges_forget(spans, group);
		spans->always |= bit;
		return NULL;
	}
	spans->planned = false;
	struct attribute_span span = { .address = address,
				       .n = (uint32_t)n,
				       .group = group };
	return vec_push(&spans->list, span);
}

static void point_plan(struct attribute_spans *spans, uint8_t *bytes)
{
	size_t at = 0;
	for (size_t i = 0; i < spans->plan.n; i++) {
		spans->plan.data[i].data = bytes + at;
		at += spans->plan.data[i].n;
	}
}

static struct err *make_plan(struct attribute_spans *spans)
{
	qsort(spans->list.data, spans->list.n, sizeof(struct attribute_span),
	      compare_as_u64);
	spans->plan.n = 0;
	size_t at = 0;
	uint64_t end = 0;
	for (size_t i = 0; i < spans->list.n; i++) {
		struct attribute_span *span = &spans->list.data[i];
		uint64_t stop = span->address + span->n;
		if (spans->plan.n && span->address <= end + GAP) {
			struct memory_span *last =
				&spans->plan.data[spans->plan.n - 1];
			span->at = (uint32_t)(at - (end - span->address));
			if (stop > end) {
				last->n += stop - end;
				at += stop - end;
				end = stop;
			}
			continue;
		}
		span->at = (uint32_t)at;
		TRY(vec_push(
			&spans->plan,
			(struct memory_span){ .address = RADDR(span->address),
					      .n = span->n }));
		at += span->n;
		end = stop;
	}
	spans->need = at;
	TRY(vec_reserve(&spans->last, at + 1));
	TRY(vec_reserve(&spans->now, at + 1));
	return NULL;
}

static bool read_plan(struct attributes *a, uint8_t *bytes)
{
	struct attribute_spans *spans = &a->spans;
	point_plan(spans, bytes);
	struct err *err =
		memory_read_spans(a->tracee, spans->plan.data, spans->plan.n);
	if (!err)
		return true;
	err_ignore(err);
	return false;
}

/* What lies in the gaps may be gone while the places are still there. */
static struct err *drop_unreadable(struct attributes *a)
{
	struct attribute_spans *spans = &a->spans;
	size_t kept = 0;
	for (size_t i = 0; i < spans->list.n; i++) {
		struct attribute_span *span = &spans->list.data[i];
		if (memory_read_some(a->tracee, RADDR(span->address),
				     spans->now.data, span->n) == span->n)
			spans->list.data[kept++] = *span;
	}
	spans->list.n = kept;
	return make_plan(spans);
}

struct err *ranges_settle(struct attributes *a)
{
	struct attribute_spans *spans = &a->spans;
	if (spans->planned)
		return NULL;
	TRY(make_plan(spans));
	if (!read_plan(a, spans->last.data)) {
		TRY(drop_unreadable(a));
		if (!read_plan(a, spans->last.data))
			return NULL;
	}
	spans->planned = true;
	return NULL;
}

struct err *ranges_probe(struct attributes *a, unsigned *ret)
{
	struct attribute_spans *spans = &a->spans;
	*ret |= spans->always;
	if (!spans->planned || !read_plan(a, spans->now.data)) {
		*ret |= SOURCE_MEMORY;
		spans->planned = false;
		return NULL;
	}
	if (!memcmp(spans->now.data, spans->last.data, spans->need))
		return NULL;
	for (size_t i = 0; i < spans->list.n; i++) {
		const struct attribute_span *span = &spans->list.data[i];
		if (memcmp(spans->now.data + span->at,
			   spans->last.data + span->at, span->n) != 0)
			*ret |= 1U << (MEMORY_SHIFT + span->group);
	}
	uint8_t *now = spans->now.data;
	spans->now.data = spans->last.data;
	spans->last.data = now;
	size_t cap = spans->now.cap;
	spans->now.cap = spans->last.cap;
	spans->last.cap = cap;
	return NULL;
}

bool read_bytes(struct attributes *a, uint64_t address, void *out, size_t n)
{
	return address &&
	       memory_read_some(a->tracee, RADDR(address), out, n) == n;
}

bool read_u64(struct attributes *a, uint64_t address, uint64_t *ret)
{
	return read_bytes(a, address, ret, sizeof(*ret));
}

bool attributes_read_text(struct attributes *a, uint64_t address, char *out,
			  size_t max)
{
	size_t got = 0;
	while (address && got < max - 1) {
		/* Not across a page: the next one may not be there. */
		size_t want = MIN(max - 1 - got,
				  (size_t)(4096 - ((address + got) & 4095)));
		size_t n = memory_read_some(a->tracee, RADDR(address + got),
					    out + got, want);
		size_t length = strnlen(out + got, n);
		got += length;
		if (length < n) {
			out[got] = '\0';
			return true;
		}
		if (n < want)
			break;
	}
	out[got] = '\0';
	return got == max - 1;
}
