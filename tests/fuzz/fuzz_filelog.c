/*
 * Any bytes as the ring in which the agent logs file operations: this process
 * plays the tested one. With an even first byte the records, as far as their
 * lengths lead, get the positions that make them count.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"
#include "files/log.h"
#include "wire/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define INPUT_MAX 65536
#define CAPTURES 3

static struct wire_ring ring;
static struct wire_files description;

static void check(struct err *err)
{
	if (err)
		abort();
}

/* As the agent would have written them one after the other. */
static void complete(size_t n)
{
	for (uint64_t at = 0; at + sizeof(struct wire_file) <= n;) {
		struct wire_file record;
		memcpy(&record, &ring.data[at], sizeof(record));
		record.position = at + 1;
		memcpy(&ring.data[at], &record, sizeof(record));
		uint64_t bytes = (record.bytes + WIRE_FILE_ALIGN - 1) /
				 WIRE_FILE_ALIGN * WIRE_FILE_ALIGN;
		at += bytes ? bytes : WIRE_FILE_ALIGN;
	}
}

static void capture(struct files *files)
{
	struct changes changes = {};
	check(files_capture(files, getpid(), NULL, 0, &changes));
	for (size_t i = 0; i < changes.n; i++) {
		if (!changes.data[i].root || !changes.data[i].n)
			abort();
		files_undone(files, &changes.data[i]);
	}
	changes_freep_deep(&changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n < 2 || n > INPUT_MAX)
		return 0;
	const struct files_options options = { .directory = "/", .paths = 3 };
	struct files *files = NULL;
	struct files_log *log = NULL;
	memset(&ring, 0, sizeof(ring));
	description = (struct wire_files){
		.magic = WIRE_FILES_MAGIC,
		.version = WIRE_FILES_VERSION,
		.ring = (uint64_t)(uintptr_t)&ring,
		.size = WIRE_FILES_SIZE,
		.call_end = 0x1234,
	};
	check(files_create(&options, &files));
	check(files_log_create(getpid(), 0, (uint64_t)(uintptr_t)&description,
			       &log));
	check(files_log_begin(log, files));
	capture(files);
	memcpy(ring.data, data + 2, n - 2);
	if (data[0] % 2 == 0)
		complete(n - 2);
	ring.head = data[1] % 2 ? n - 2 : (n - 2) / 8 * 8;
	for (int i = 0; i < CAPTURES; i++) {
		files_log_read(log);
		capture(files);
	}
	files_log_destroy(log);
	files_destroy(files);
	return 0;
}
