/* What is told of a run under a schedule, and how its parts are known again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_callers.h"
#include "vm/vm_schedules_internal.h"

#define MOMENTS_MAX 4096
/* Times that the same statement is told. */
#define AGAIN_MAX 3
#define KEYS 4096
#define MESSAGE_SIZE ((size_t)8 << 10)
#define FRAMES_TOLD 8

/* ---- stacks ---- */

void vm_schedule_frames(unsigned char *out, size_t size, uint64_t *ret_n)
{
	vm_callers_frames(out, size, ret_n);
	if (!*ret_n)
		vm_callers_library_frame(out, size, ret_n);
}

void vm_schedule_frame_key(const unsigned char *frames, uint64_t n, char *out,
			   size_t size)
{
	const char *function = (const char *)frames;
	size_t length = n ? strlen(function) + 1 : 0;
	if (!n || !function[length]) {
		snprintf(out, size, "%s", n ? function : "?");
		return;
	}
	const char *file = function + length;
	const char *slash = strrchr(file, '/');
	snprintf(out, size, "%s:%s", slash ? slash + 1 : file,
		 file + strlen(file) + 1);
}

/* ---- keys ---- */

static struct {
	char *key;
	unsigned n;
} counts[KEYS];

unsigned vm_schedule_count(const char *key)
{
	uint32_t hash = 5381;
	for (const char *c = key; *c; c++)
		hash = hash * 33 ^ (unsigned char)*c;
	for (size_t i = 0; i < KEYS; i++) {
		size_t at = (hash + i) % KEYS;
		if (!counts[at].key)
			counts[at].key = strdup(key);
		if (counts[at].key && !strcmp(counts[at].key, key))
			return ++counts[at].n;
	}
	return 1;
}

void vm_schedule_forget_counts(void)
{
	for (size_t i = 0; i < KEYS; i++) {
		free(counts[i].key);
		counts[i].key = NULL;
		counts[i].n = 0;
	}
}

/* ---- telling ---- */

struct moment_text {
	unsigned char bytes[MESSAGE_SIZE];
	size_t n;
};

static void tell_number(struct moment_text *told, uint32_t number)
{
	if (told->n + sizeof(number) > sizeof(told->bytes))
		return;
	memcpy(told->bytes + told->n, &number, sizeof(number));
	told->n += sizeof(number);
}

static void tell_text(struct moment_text *told, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	if (told->n + n + sizeof(uint32_t) > sizeof(told->bytes))
		n = 0;
	tell_number(told, (uint32_t)n);
	if (n)
		memcpy(told->bytes + told->n, text, n);
	told->n += n;
}

static void tell_frames(struct moment_text *told, const unsigned char *stack,
			uint64_t n)
{
	size_t at_n = told->n;
	uint32_t frames = 0;
	tell_number(told, 0);
	const char *at = (const char *)stack, *end = at + n;
	while (at < end && frames < FRAMES_TOLD) {
		const char *file = at + strlen(at) + 1;
		const char *line = file < end ? file + strlen(file) + 1 : end;
		if (line >= end)
			break;
		if (told->n + (size_t)(line - at) + 16 > sizeof(told->bytes))
			break;
		tell_text(told, at);
		tell_text(told, file);
		tell_number(told, (uint32_t)strtoul(line, NULL, 10));
		frames++;
		at = line + strlen(line) + 1;
	}
	memcpy(told->bytes + at_n, &frames, sizeof(frames));
}

void vm_schedule_tell(const struct vm_moment *moment)
{
	static struct moment_text told; /* under the lock */
	static unsigned n;
	const struct vm_schedule *schedule = &vm_schedule;
	uint64_t ns = vm_schedule_now() - schedule->test_began;
	if (moment->kind == WIRE_MOMENT_STATEMENT && moment->nth > AGAIN_MAX)
		return;
	if (n++ > MOMENTS_MAX && moment->kind < WIRE_MOMENT_HELD)
		return;
	told.n = 0;
	tell_number(&told, moment->kind);
	tell_number(&told, moment->thread);
	tell_number(&told, (uint32_t)ns);
	tell_number(&told, (uint32_t)(ns >> 32));
	tell_number(&told, moment->nth);
	tell_number(&told, moment->operation);
	tell_number(&told, moment->line);
	tell_number(&told, moment->inside);
	tell_text(&told, moment->key);
	tell_text(&told, moment->file);
	tell_frames(&told, moment->stack, moment->stack_n);
	vm_send(WIRE_SCHEDULE_MOMENT, told.bytes, told.n);
}

void vm_schedule_mark(uint32_t kind)
{
	const struct vm_moment moment = { .kind = kind };
	vm_schedule_tell(&moment);
}
