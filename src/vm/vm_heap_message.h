/* Messages (wire/vm.h) of the part that compares heaps, and those to it. */
#pragma once

#include "vm/vm_heap_internal.h"

struct heap_message {
	struct heap_string bytes;
};

static inline void heap_message_u32(struct heap_message *message,
				    uint32_t value)
{
	heap_append(&message->bytes, (const char *)&value, sizeof(value));
}
static inline void heap_message_u64(struct heap_message *message,
				    uint64_t value)
{
	heap_append(&message->bytes, (const char *)&value, sizeof(value));
}
void heap_message_text(struct heap_message *message, const char *text);
/* And is empty again. */
void heap_message_send(struct heap_message *message, uint16_t kind);
/* A line under "limits". */
void heap_says(const char *text);

/* One that came: what is missing in it is 0 or "". */
struct heap_reader {
	const uint8_t *at, *end;
};
uint32_t heap_reader_u32(struct heap_reader *reader);
char *heap_reader_text(struct heap_reader *reader); /* the caller's */
