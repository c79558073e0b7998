#include "tracee/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/str.h"
#include "tracee/tracee_internal.h"

#define SPANS_AT_ONCE 64

/*
 * The mem file was opened once, so that our rights are not checked at each
 * read; it also reads what is mapped without read permission and writes where
 * the program may not (code). It goes page by page, which process_vm_readv()
 * does faster where there are many.
 */
#define SMALL 4096

static size_t memory_read_file(struct tracee *tracee, struct raddr address,
			       char *out, size_t n)
{
	size_t got = 0;
	while (got < n) {
		ssize_t more = pread(tracee->mem_fd, out + got, n - got,
				     (off_t)(address.v + got));
		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	return got;
}

size_t memory_read_some(struct tracee *tracee, struct raddr address, void *out,
			size_t n)
{
	size_t got = 0;
	if (n > SMALL) {
		struct iovec local = { .iov_base = out, .iov_len = n };
		struct iovec remote = { .iov_base =
						(void *)(uintptr_t)address.v,
					.iov_len = n };
		ssize_t done =
			process_vm_readv(tracee->pid, &local, 1, &remote, 1, 0);
		got = done > 0 ? (size_t)done : 0;
	}
	return got + memory_read_file(tracee, raddr_add(address, (int64_t)got),
				      (char *)out + got, n - got);
}

struct err *memory_read(struct tracee *tracee, struct raddr address, void *out,
			size_t n)
{
	size_t got = memory_read_some(tracee, address, out, n);
	if (got < n)
		return err_create(
			ERR_SUITE, "cannot read memory at 0x%llx of process %d",
			(unsigned long long)(address.v + got), tracee->pid);
	return NULL;
}

#define PAGE 4096

static void note_poke(struct poked *poked, uint64_t address, size_t n)
{
	uint64_t last = n ? (address + n - 1) & ~(PAGE - 1ULL) : 0;
	for (uint64_t page = address & ~(PAGE - 1ULL); n && page <= last;
	     page += PAGE) {
		if (poked->n && poked->pages[poked->n - 1] == page)
			continue;
		if (poked->n == POKED_MAX) {
			poked->lost = true;
			return;
		}
		poked->pages[poked->n++] = page;
	}
}

bool memory_poked(struct tracee *tracee, uint64_t *out, size_t max,
		  size_t *ret_n)
{
	struct poked *poked = &tracee->poked;
	bool known = !poked->lost && poked->n <= max;
	*ret_n = known ? poked->n : 0;
	if (known && poked->n)
		memcpy(out, poked->pages, poked->n * sizeof(*out));
	*poked = (struct poked){};
	const struct tracer *tracer = tracee->tracer;
	for (size_t i = 0; i < tracer->tracees.n && known; i++)
		known = tracer->tracees.data[i]->owner != tracee;
	return known;
}

struct err *memory_write(struct tracee *tracee, struct raddr address,
			 const void *data, size_t n)
{
	size_t put = 0;
	note_poke(&tracee_image(tracee)->poked, address.v, n);
	errno = 0;
	while (put < n) {
		ssize_t more = pwrite(tracee->mem_fd, (const char *)data + put,
				      n - put, (off_t)(address.v + put));
		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return err_create(
				ERR_SUITE,
				"cannot write memory at 0x%llx of process %d",
				(unsigned long long)(address.v + put),
				tracee->pid);
		put += (size_t)more;
	}
	return NULL;
}

struct err *memory_read_spans(struct tracee *tracee,
			      const struct memory_span *spans, size_t count)
{
	struct iovec local[SPANS_AT_ONCE], remote[SPANS_AT_ONCE];
	for (size_t at = 0; at < count; at += SPANS_AT_ONCE) {
		size_t n = MIN(count - at, (size_t)SPANS_AT_ONCE);
		size_t want = 0;
		for (size_t i = 0; i < n; i++) {
			local[i] = (struct iovec){ spans[at + i].data,
						   spans[at + i].n };
			remote[i] = (struct iovec){
				(void *)(uintptr_t)spans[at + i].address.v,
				spans[at + i].n
			};
			want += spans[at + i].n;
		}
		ssize_t done =
			process_vm_readv(tracee->pid, local, n, remote, n, 0);
		if (done >= 0 && (size_t)done == want)
			continue;
		for (size_t i = 0; i < n; i++)
			TRY(memory_read(tracee, spans[at + i].address,
					spans[at + i].data, spans[at + i].n));
	}
	return NULL;
}

struct err *memory_read_u64(struct tracee *tracee, struct raddr address,
			    uint64_t *ret)
{
	return memory_read(tracee, address, ret, sizeof(*ret));
}

struct err *memory_read_u32(struct tracee *tracee, struct raddr address,
			    uint32_t *ret)
{
	return memory_read(tracee, address, ret, sizeof(*ret));
}

struct err *memory_write_u64(struct tracee *tracee, struct raddr address,
			     uint64_t value)
{
	return memory_write(tracee, address, &value, sizeof(value));
}

struct err *memory_read_text(struct tracee *tracee, struct raddr address,
			     size_t limit, char **ret)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	char chunk[256];

	if (!address.v)
		return err_create(ERR_SUITE, "a string is missing");
	while (str.n < limit) {
		size_t want = MIN(sizeof(chunk), limit - str.n);
		/* Not across a page: the next one may not be there. */
		size_t in_page = 4096 - (address.v & 4095);
		want = MIN(want, in_page);
		size_t got = memory_read_some(tracee, address, chunk, want);
		if (!got)
			return err_create(ERR_SUITE,
					  "cannot read a string at 0x%llx",
					  (unsigned long long)address.v);
		size_t n = strnlen(chunk, got);
		TRY(str_append_n(&str, chunk, n));
		if (n < got)
			break;
		address = raddr_add(address, (int64_t)got);
	}
	char *text = str_take(&str);
	if (!text)
		return err_nomem();
	*ret = text;
	return NULL;
}
