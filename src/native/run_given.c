/* What tests get from their framework (program/held.h). */
#include <string.h>

#include "native/run.h"
#include "native/session.h"

struct err *run_hold(struct run *run, const struct held *held)
{
	run->given.version++;
	return vec_push(&run->given.all, *held);
}

void run_hold_at(struct run *run, size_t index, uint64_t object)
{
	if (!object || run->given.all.data[index].object == object)
		return;
	run->given.all.data[index].object = object;
	run->given.version++;
	for (size_t i = 0; i < run->given.all.n; i++) {
		if (!run->given.all.data[i].object)
			run->given.all.data[i].object = object;
	}
}

void run_hold_none(struct run *run)
{
	run->given.version += run->given.all.n > 0;
	run->given.all.n = 0;
}

bool run_is_watched(const struct run *run)
{
	return run->session->watch || run->session->tries;
}

struct err *run_copy_given(struct run *copy, const struct run *run)
{
	copy->given.version = run->given.version;
	return vec_append(&copy->given.all, run->given.all.data,
			  run->given.all.n);
}
