/*
 * The text of files of /proc, in which a tested program chooses names: whatever
 * they are, the parsers end, stay inside, and keep what they promise. The first
 * byte says which file it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_maps(char *text, size_t n)
{
	struct proc_mapping mapping;
	const char *last = text;
	for (char *at = text; proc_next_mapping(&at, &mapping);) {
		BUG_ON(mapping.start >= mapping.end);
		BUG_ON(mapping.path < last || mapping.path > text + n);
		BUG_ON(at <= mapping.path && *mapping.path);
		last = mapping.path;
	}
}

static void parse_status(const char *text)
{
	struct proc_status status;
	char field[16];
	uint64_t number;
	if (proc_parse_status(text, &status))
		BUG_ON(!status.state || strlen(status.name) >= PROC_NAME_MAX);
	if (proc_status_field(text, "Groups", field, sizeof(field)))
		BUG_ON(strlen(field) >= sizeof(field) || strchr(field, '\n'));
	if (proc_status_number(text, "SigCgt", 16, &number))
		BUG_ON(!strstr(text, "SigCgt:"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	/* Of the exact size, so that a sanitizer sees a step outside. */
	char *text = malloc(size);
	struct proc_stat stat;
	_cleanup_(pids_freep) struct pids pids = {};
	BUG_ON(!text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0]) {
	case 'm':
		parse_maps(text, size - 1);
		break;
	case 't':
		if (proc_parse_stat(text, &stat))
			BUG_ON(!stat.state);
		break;
	case 's':
		parse_status(text);
		break;
	default:
		err_destroy(proc_parse_children(text, &pids));
		for (size_t i = 0; i < pids.n; i++)
			BUG_ON(pids.data[i] <= 0);
		break;
	}
	free(text);
	return 0;
}
