/*
 * What functions catch and clean up: the tables beside the code, which its frame
 * entries (.eh_frame) point to. They are content of the function, and types in
 * them are what it refers to. Formats: Linux Standard Base, "Exception Frames";
 * Itanium C++ ABI, "Exception Handling Tables".
 */
#include <dwarf.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "program/makeup_internal.h"

/* No function has more alternatives in one place. */
#define ACTIONS_MAX 1000

/* ---- reading ---- */

/* Bytes of one section; what goes beyond them is bad. */
struct catch_bytes {
	const struct piece_section *section;
	uint64_t at; /* offset */
	uint64_t end;
	bool bad;
};

static uint64_t catch_take(struct catch_bytes *bytes, unsigned size)
{
	uint64_t value = 0;
	if (bytes->bad || size > bytes->end - bytes->at) {
		bytes->bad = true;
		return 0;
	}
	memcpy(&value, bytes->section->bytes + bytes->at, size);
	bytes->at += size;
	return value;
}

static uint64_t catch_take_uleb(struct catch_bytes *bytes)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = catch_take(bytes, 1);
		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	bytes->bad = true;
	return 0;
}

static int64_t catch_take_sleb(struct catch_bytes *bytes)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = catch_take(bytes, 1);
		value |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift + 7 < 64)
			value |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)value;
	}
	bytes->bad = true;
	return 0;
}

/* 0: of no fixed size, or unknown. */
static unsigned encoded_size(unsigned encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

/* A pointer; 0: none, or not to be known. */
static uint64_t catch_take_pointer(struct catch_bytes *bytes, unsigned encoding)
{
	uint64_t place = bytes->section->start + bytes->at;
	unsigned size = encoded_size(encoding);
	uint64_t value;
	if (encoding == DW_EH_PE_omit)
		return 0;
	if ((encoding & 0x0f) == DW_EH_PE_uleb128)
		value = catch_take_uleb(bytes);
	else if ((encoding & 0x0f) == DW_EH_PE_sleb128)
		value = (uint64_t)catch_take_sleb(bytes);
	else if (size)
		value = catch_take(bytes, size);
	else
		bytes->bad = true, value = 0;
	if (size && size < 8 && (encoding & DW_EH_PE_signed)) {
		uint64_t sign = UINT64_C(1) << (size * 8 - 1);
		value = (value ^ sign) - sign;
	}
	if (!value)
		return 0;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		return value + place;
	return (encoding & 0x70) == DW_EH_PE_absptr ? value : 0;
}

/* ---- frame entries ---- */

struct frame_format {
	unsigned code, table; /* encodings */
	bool augmented;
};

/* Of the common entry at @at, which says how others are written. */
static bool read_format(const struct piece_section *section, uint64_t at,
			struct frame_format *ret)
{
	struct catch_bytes bytes = { section, at, section->size, false };
	struct frame_format format = { .code = DW_EH_PE_absptr,
				       .table = DW_EH_PE_omit };
	uint64_t length = catch_take(&bytes, 4);
	if (bytes.bad || length > section->size - bytes.at)
		return false;
	bytes.end = bytes.at + length;
	bool common = !catch_take(&bytes, 4);
	uint64_t version = catch_take(&bytes, 1);
	const char *letters = (const char *)section->bytes + bytes.at;
	size_t n = bytes.bad ? 0 : strnlen(letters, bytes.end - bytes.at);
	if (bytes.bad || !common || bytes.at + n >= bytes.end)
		return false;
	bytes.at += n + 1;
	catch_take_uleb(&bytes);
	catch_take_sleb(&bytes);
	if (version == 1)
		catch_take(&bytes, 1);
	else
		catch_take_uleb(&bytes);
	format.augmented = *letters == 'z';
	if (format.augmented)
		catch_take_uleb(&bytes);
	for (size_t i = 1; format.augmented && i < n; i++) {
		if (letters[i] == 'P')
			catch_take_pointer(&bytes,
					   (unsigned)catch_take(&bytes, 1));
		else if (letters[i] == 'L')
			format.table = (unsigned)catch_take(&bytes, 1);
		else if (letters[i] == 'R')
			format.code = (unsigned)catch_take(&bytes, 1);
	}
	*ret = format;
	return !bytes.bad;
}

/* One after the other; false: no more. */
static bool read_frame(struct catch_bytes *frames, struct piece_catch *ret)
{
	const struct piece_section *section = frames->section;
	struct frame_format format;
	uint64_t length = catch_take(frames, 4);
	if (frames->bad || !length || length > section->size - frames->at)
		return false;
	struct catch_bytes bytes = { section, frames->at, frames->at + length,
				     false };
	frames->at += length;
	uint64_t here = bytes.at, back = catch_take(&bytes, 4);
	*ret = (struct piece_catch){};
	if (!back || back > here || !read_format(section, here - back, &format))
		return true;
	uint64_t code = catch_take_pointer(&bytes, format.code);
	catch_take_pointer(&bytes, format.code & 0x0f);
	if (!format.augmented)
		return true;
	catch_take_uleb(&bytes);
	uint64_t table = catch_take_pointer(&bytes, format.table);
	if (!bytes.bad && table)
		*ret = (struct piece_catch){ code, table };
	return true;
}

static int compare_catches(const void *a, const void *b)
{
	const struct piece_catch *x = a, *y = b;
	return x->code < y->code ? -1 : x->code > y->code;
}

struct err *makeup_find_catches(struct piece_file *file)
{
	for (size_t i = 0; i < file->sections.n; i++) {
		const struct piece_section *section = &file->sections.data[i];
		if (strcmp(section->name, ".eh_frame") || !section->bytes)
			continue;
		struct catch_bytes frames = { section, 0, section->size,
					      false };
		struct piece_catch found;
		while (read_frame(&frames, &found)) {
			if (found.table)
				TRY(vec_push(&file->catches, found));
		}
	}
	if (file->catches.n)
		qsort(file->catches.data, file->catches.n,
		      sizeof(*file->catches.data), compare_catches);
	return NULL;
}

/* ---- tables ---- */

struct catch_table {
	struct catch_bytes bytes; /* at the table of places */
	unsigned types;		  /* encoding */
	uint64_t types_end;	  /* offset: they stand before it */
	unsigned places;	  /* encoding */
	uint64_t actions;	  /* offset */
	uint64_t end;		  /* of actions that are used */
	uint64_t last_type;
};

static bool read_catch_head(const struct piece_section *section, uint64_t at,
			    struct catch_table *ret)
{
	struct catch_bytes bytes = { section, at, section->size, false };
	unsigned start = (unsigned)catch_take(&bytes, 1);
	if (start != DW_EH_PE_omit)
		catch_take_pointer(&bytes, start);
	unsigned types = (unsigned)catch_take(&bytes, 1);
	uint64_t distance =
		types == DW_EH_PE_omit ? 0 : catch_take_uleb(&bytes);
	uint64_t types_end = bytes.at + distance;
	unsigned places = (unsigned)catch_take(&bytes, 1);
	uint64_t length = catch_take_uleb(&bytes);
	if (bytes.bad || length > bytes.end - bytes.at ||
	    distance > section->size)
		return false;
	*ret = (struct catch_table){
		.bytes = bytes,
		.types = types,
		.types_end = types_end,
		.places = places,
		.actions = bytes.at + length,
		.end = bytes.at + length,
	};
	ret->bytes.end = bytes.at + length;
	return types_end <= section->size;
}

/* What is tried one after the other in one place. */
static void read_actions(struct catch_table *table, uint64_t first)
{
	struct catch_bytes bytes = table->bytes;
	bytes.end = bytes.section->size;
	bytes.at = table->actions + first;
	for (unsigned i = 0; i < ACTIONS_MAX; i++) {
		if (bytes.at < table->actions || bytes.at >= bytes.end)
			return;
		int64_t type = catch_take_sleb(&bytes);
		uint64_t from = bytes.at;
		int64_t next = catch_take_sleb(&bytes);
		if (bytes.bad)
			return;
		table->end = MAX(table->end, bytes.at);
		if (type > 0)
			table->last_type =
				MAX(table->last_type, (uint64_t)type);
		if (!next)
			return;
		bytes.at = from + (uint64_t)next;
	}
}

struct err *makeup_each_catch(const struct piece_file *file,
			      uint64_t table_start,
			      struct err *(*type)(void *data, uint64_t to),
			      void *data, const uint8_t **ret, size_t *ret_n)
{
	const struct piece_section *section = makeup_section(file, table_start);
	struct catch_table table;
	*ret_n = 0;
	if (!section || !section->bytes || section->code ||
	    !read_catch_head(section, table_start - section->start, &table))
		return NULL;
	uint64_t start = table.bytes.at;
	while (!table.bytes.bad && table.bytes.at < table.bytes.end) {
		unsigned size = encoded_size(table.places);
		for (int i = 0; i < 3; i++) {
			if (size)
				catch_take(&table.bytes, size);
			else
				catch_take_uleb(&table.bytes);
		}
		uint64_t action = catch_take_uleb(&table.bytes);
		if (!table.bytes.bad && action)
			read_actions(&table, action - 1);
	}
	*ret = section->bytes + start;
	*ret_n = table.end - start;
	unsigned size = encoded_size(table.types);
	for (uint64_t i = 1; size && i <= table.last_type; i++) {
		if (i * size > table.types_end)
			break;
		struct catch_bytes bytes = { section,
					     table.types_end - i * size,
					     section->size, false };
		TRY(type(data, catch_take_pointer(&bytes, table.types)));
	}
	return NULL;
}
