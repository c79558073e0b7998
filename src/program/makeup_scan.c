/*
 * What pieces refer to, and their own content: first all addresses in code and
 * data, which say where constants without a name begin; then, as each address
 * is known to be of some piece, the hashes and the edges between pieces.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "base/str.h"
#include "program/makeup_internal.h"
#include "tracee/arch.h"

#define JUMP_LEAST 2
#define TABLE_ENTRY 64 /* bytes of an entry in a table of jumps, at most */

struct piece_scan {
	struct makeup *pieces;
	struct piece_file *file;
	struct made_piece *piece;
	uint8_t *copy; /* of its bytes: what is no content is zero */
	size_t room;
	struct err *err;
};

static uint64_t mix_content(uint64_t hash, const void *data, size_t n)
{
	return XXH3_64bits_withSeed(data, n, hash);
}

static uint64_t mix_value(uint64_t hash, uint64_t number)
{
	return mix_content(hash, &number, sizeof(number));
}

/* Compilers number what they make: "table.3", "f.part.0". */
static uint64_t hash_piece_name(const char *name)
{
	uint64_t hash = 1;
	for (const char *at = name; *at;) {
		size_t n = 1 + strcspn(at + 1, ".");
		bool number = *at == '.' && n > 1 &&
			      strspn(at + 1, "0123456789") == n - 1;
		if (!number)
			hash = mix_content(hash, at, n);
		at += n;
	}
	return hash;
}

/* ---- first pass: addresses ---- */

static void add_ref(struct piece_scan *scan, uint64_t to, const char *symbol)
{
	if (!scan->err)
		scan->err = vec_push(&scan->file->refs,
				     (struct piece_ref){ to, symbol, 0 });
}

/* Made by compilers, of all that sets variables of a unit before main(). */
static bool sets_variables(const struct made_piece *piece)
{
	return piece->name &&
	       (str_starts(piece->name, "_GLOBAL__sub_I_") ||
		strstr(piece->name, "static_initialization_and_destruction") ||
		str_starts(piece->name, "__cxx_global_var_init"));
}

/*
 * The line that its own instruction was made from? Code that makes tests known
 * passes lines on to what is inlined there.
 */
static bool is_own_line(const struct piece_scan *scan,
			const struct arch_number *number)
{
	struct object *object = scan->file->object;
	const char *file;
	unsigned line;
	if (!object || number->size != 4 || number->value <= 1 ||
	    number->value >= (1U << 24))
		return false;
	return (object_line(object, number->pc, &file, &line) &&
		line == number->value) ||
	       (sets_variables(scan->piece) &&
		object_line_of_call(object, number->pc,
				    (unsigned)number->value));
}

static void clear_number(const struct piece_scan *scan,
			 const struct arch_number *number)
{
	if (number->at < scan->piece->size &&
	    number->size <= scan->piece->size - number->at)
		memset(scan->copy + number->at, 0, number->size);
}

/* The block as a whole: its variables are found by numbers that tell nothing. */
static void add_thread_locals(struct piece_scan *scan)
{
	const struct makeup *pieces = scan->pieces;
	const struct piece_file *file = scan->file;
	for (size_t i = file->first + file->n; i-- > file->first;) {
		uint64_t start = pieces->all.data[i].start;
		if (!(start & PIECE_TLS))
			break; /* these come last */
		add_ref(scan, start, NULL);
	}
}

static void take_code_number(void *data, const struct arch_number *number)
{
	struct piece_scan *scan = data;
	const struct made_piece *piece = scan->piece;
	uint64_t to = number->value;
	if (number->kind == ARCH_NUMBER_PLAIN) {
		if (is_own_line(scan, number)) {
			clear_number(scan, number);
			return;
		}
		if (!scan->file->fixed || number->size < 4 ||
		    !makeup_section(scan->file, to))
			return;
	} else if (number->kind == ARCH_NUMBER_THREAD && !to) {
		add_thread_locals(scan);
		return;
	} else if (number->kind == ARCH_NUMBER_THREAD) {
		if (!scan->file->tls_size ||
		    -to > scan->file->tls_size) /* not a variable's */
			return;
		to += scan->file->tls_size + PIECE_TLS;
	} else if (to - piece->start < piece->size) {
		return; /* a jump within it is the same wherever it lies */
	}
	clear_number(scan, number);
	size_t n = scan->file->refs.n;
	add_ref(scan, to, NULL);
	if (scan->file->refs.n > n)
		scan->file->refs.data[n].extent = number->extent;
}

static struct err *copy_piece(struct piece_scan *scan)
{
	const struct made_piece *piece = scan->piece;
	if (piece->size > scan->room) {
		free(scan->copy);
		scan->copy = malloc(piece->size);
		scan->room = scan->copy ? piece->size : 0;
		if (!scan->copy)
			return err_nomem();
	}
	memcpy(scan->copy, piece->bytes, piece->size);
	return NULL;
}

/* Words that are addresses, by relocations or, at a fixed place, by value. */
static void scan_piece_words(struct piece_scan *scan)
{
	struct made_piece *piece = scan->piece;
	const struct piece_file *file = scan->file;
	const struct piece_relocation *end =
		file->relocations.data + file->relocations.n;
	uint64_t word;
	if (piece->start & PIECE_TLS)
		return;
	for (const struct piece_relocation *at =
		     makeup_relocation(file, piece->start);
	     at && at < end && at->place - piece->start < piece->size; at++) {
		uint64_t offset = at->place - piece->start;
		if (piece->bytes)
			memset(scan->copy + offset, 0,
			       MIN((uint64_t)8, piece->size - offset));
		piece->hash = mix_value(piece->hash, offset);
		add_ref(scan, at->target, at->symbol);
	}
	for (uint64_t at = -piece->start % 8;
	     file->fixed && piece->bytes && at + 8 <= piece->size; at += 8) {
		memcpy(&word, scan->copy + at, sizeof(word));
		if (!word || !makeup_section(file, word))
			continue;
		memset(scan->copy + at, 0, sizeof(word));
		piece->hash = mix_value(piece->hash, at);
		add_ref(scan, word, NULL);
	}
}

/*
 * Distances from the table to places in the function that jumps through it, as
 * position-independent code has them.
 */
static uint64_t scan_jump_table(struct piece_scan *scan, uint32_t owner)
{
	const struct made_piece *all = scan->pieces->all.data;
	const struct made_piece *piece = scan->piece, *function = &all[owner];
	size_t n = strcspn(function->name, ".");
	uint64_t at = 0;
	for (; at + 4 <= piece->size; at += 4) {
		int32_t distance;
		memcpy(&distance, scan->copy + at, sizeof(distance));
		uint64_t to = piece->start + (uint64_t)(int64_t)distance;
		uint32_t in = makeup_at(scan->pieces, scan->file, to);
		if (in == PIECE_NONE || !all[in].code || !distance ||
		    (in != owner && strncmp(all[in].name, function->name, n)))
			break;
	}
	if (at < JUMP_LEAST * 4)
		return 0;
	for (uint64_t i = 0; i < at; i += 4) {
		int32_t distance;
		memcpy(&distance, scan->copy + i, sizeof(distance));
		add_ref(scan, piece->start + (uint64_t)(int64_t)distance, NULL);
	}
	memset(scan->copy, 0, at);
	return at;
}

static struct err *take_caught_type(void *data, uint64_t to)
{
	struct piece_scan *scan = data;
	if (to)
		add_ref(scan, to, NULL);
	else
		scan->piece->hash = mix_value(scan->piece->hash, 3);
	return NULL;
}

/* What the function catches, and where it cleans up. */
static struct err *scan_catches(struct piece_scan *scan)
{
	struct made_piece *piece = scan->piece;
	const struct piece_file *file = scan->file;
	size_t low = 0, high = file->catches.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (file->catches.data[middle].code < piece->start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < file->catches.n &&
	       file->catches.data[low].code - piece->start < piece->size;
	     low++) {
		const uint8_t *bytes;
		size_t n;
		TRY(makeup_each_catch(file, file->catches.data[low].table,
				      take_caught_type, scan, &bytes, &n));
		if (n)
			piece->hash = mix_content(piece->hash, bytes, n);
	}
	return NULL;
}

static struct err *scan_piece(struct piece_scan *scan, struct made_piece *piece,
			      uint32_t owner)
{
	scan->piece = piece;
	piece->first_ref = scan->file->refs.n;
	piece->hash = mix_value(piece->writable * 2 + piece->code,
				piece->name ? piece->size : 0);
	if (piece->bytes) {
		TRY(copy_piece(scan));
		if (piece->code)
			arch_each_number(piece->bytes, piece->size,
					 piece->start, take_code_number, scan);
		if (piece->code)
			TRY(scan_catches(scan));
		else if (owner == PIECE_NONE || !scan_jump_table(scan, owner))
			scan_piece_words(scan);
		piece->hash = mix_content(piece->hash, scan->copy, piece->size);
	} else if (!piece->code) {
		scan_piece_words(scan); /* copies of variables of libraries */
	}
	piece->n_refs = scan->file->refs.n - piece->first_ref;
	return take_ptr(scan->err);
}

/* ---- constants without a name ---- */

struct loose_target {
	uint64_t to;
	uint32_t from;
	unsigned extent; /* 0: unknown */
};
DEFINE_VEC(loose_targets, struct loose_target)

static int compare_targets(const void *a, const void *b)
{
	const struct loose_target *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* @from PIECE_NONE: it stands in data. */
static struct err *add_loose(const struct piece_scan *scan, uint64_t to,
			     uint32_t from, unsigned extent,
			     struct loose_targets *ret)
{
	const struct piece_section *section = makeup_section(scan->file, to);
	if (!section || section->code ||
	    makeup_at(scan->pieces, scan->file, to) != PIECE_NONE)
		return NULL;
	return vec_push(ret, (struct loose_target){ to, from, extent });
}

static struct err *find_loose_in_data(const struct piece_scan *scan,
				      struct loose_targets *ret)
{
	const struct piece_file *file = scan->file;
	for (size_t i = 0; i < file->relocations.n; i++) {
		const struct piece_relocation *word =
			&file->relocations.data[i];
		if (!word->symbol)
			TRY(add_loose(scan, word->target, PIECE_NONE, 0, ret));
	}
	for (size_t i = 0; file->fixed && i < file->sections.n; i++) {
		const struct piece_section *section = &file->sections.data[i];
		uint64_t word;
		if (!section->bytes || !(str_starts(section->name, ".rodata") ||
					 str_starts(section->name, ".data")))
			continue;
		for (uint64_t at = -section->start % 8;
		     at + sizeof(word) <= section->size; at += sizeof(word)) {
			memcpy(&word, section->bytes + at, sizeof(word));
			TRY(add_loose(scan, word, PIECE_NONE, 0, ret));
		}
	}
	return NULL;
}

static struct err *find_loose(const struct piece_scan *scan,
			      struct loose_targets *ret)
{
	const struct makeup *pieces = scan->pieces;
	const struct piece_file *file = scan->file;
	for (size_t i = file->first; i < file->first + file->n; i++) {
		const struct made_piece *piece = &pieces->all.data[i];
		for (size_t j = 0; j < piece->n_refs; j++) {
			const struct piece_ref *ref =
				&file->refs.data[piece->first_ref + j];
			if (!ref->symbol)
				TRY(add_loose(scan, ref->to, (uint32_t)i,
					      ref->extent, ret));
		}
	}
	TRY(find_loose_in_data(scan, ret));
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), compare_targets);
	return NULL;
}

/* Where the next piece with a name begins. */
static uint64_t next_named(const struct makeup *pieces,
			   const struct piece_file *file, uint64_t at)
{
	size_t low = file->first, high = file->first + file->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (pieces->all.data[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->first + file->n ? pieces->all.data[low].start
					   : UINT64_MAX;
}

/*
 * What comes before the next constant may be there for its alignment: zeroes at
 * the end are no content, but for one that ends a text.
 */
static uint64_t skip_padding(const struct piece_file *file,
			     const struct made_piece *piece)
{
	const struct piece_relocation *word =
		makeup_relocation(file, piece->start);
	uint64_t size = piece->size;
	if (!piece->bytes || (word && word->place - piece->start < piece->size))
		return size;
	while (size > 1 && !piece->bytes[size - 1] && !piece->bytes[size - 2])
		size--;
	return size;
}

/*
 * From an address that something refers to until the next such address. A text
 * whose end others share goes on there.
 */
static struct err *make_loose(struct piece_scan *scan,
			      const struct loose_targets *targets)
{
	struct makeup *pieces = scan->pieces;
	struct piece_file *file = scan->file;
	file->first_loose = pieces->all.n;
	for (size_t i = 0; i < targets->n; i++) {
		uint64_t start = targets->data[i].to;
		if (i && targets->data[i - 1].to == start)
			continue;
		size_t j = i;
		unsigned extent = 0;
		bool bounded = true;
		for (; j < targets->n && targets->data[j].to == start; j++) {
			extent = MAX(extent, targets->data[j].extent);
			bounded &= targets->data[j].extent > 0;
		}
		const struct piece_section *section =
			makeup_section(file, start);
		uint64_t end = MIN(section->start + section->size,
				   next_named(pieces, file, start));
		bool more = j < targets->n && targets->data[j].to < end;
		end = more ? targets->data[j].to : end;
		/* All who refer to it read no more than that. */
		if (bounded && extent < end - start)
			end = start + extent;
		more &= !bounded;
		struct made_piece piece = {
			.start = start,
			.size = end - start,
			.next_same = PIECE_NONE,
			.writable = section->writable,
			.local = true,
		};
		if (section->bytes)
			piece.bytes = section->bytes + (start - section->start);
		piece.merged =
			more && piece.bytes && piece.bytes[piece.size - 1];
		piece.size = skip_padding(file, &piece);
		TRY(vec_push(&pieces->all, piece));
	}
	file->n_loose = pieces->all.n - file->first_loose;
	/* Who refers to them says whether it is a table of jumps. */
	size_t at = 0;
	for (size_t i = 0; i < file->n_loose; i++) {
		struct made_piece *piece =
			&pieces->all.data[file->first_loose + i];
		while (targets->data[at].to < piece->start)
			at++;
		uint32_t owner = targets->data[at].from;
		bool jumps = owner != PIECE_NONE &&
			     pieces->all.data[owner].code && !piece->writable;
		TRY(scan_piece(scan, piece, jumps ? owner : PIECE_NONE));
	}
	return NULL;
}

static struct err *scan_file(struct piece_scan *scan)
{
	struct makeup *pieces = scan->pieces;
	const struct piece_file *file = scan->file;
	_cleanup_(loose_targets_freep) struct loose_targets targets = {};
	for (size_t i = file->first; i < file->first + file->n; i++)
		TRY(scan_piece(scan, &pieces->all.data[i], PIECE_NONE));
	TRY(find_loose(scan, &targets));
	return make_loose(scan, &targets);
}

/* ---- second pass: who is meant ---- */

struct piece_target {
	uint32_t piece; /* PIECE_NONE: of the system */
	const char *name;
	uint64_t offset;
};

struct table_entry {
	uint64_t slot;
};

static void take_table_slot(void *data, const struct arch_number *number)
{
	struct table_entry *entry = data;
	if (number->kind == ARCH_NUMBER_ADDRESS && !entry->slot)
		entry->slot = number->value;
}

static void resolve_symbol(const struct makeup *pieces, const char *symbol,
			   struct piece_target *ret)
{
	uint64_t piece;
	ret->name = symbol;
	if (map_text_get(&pieces->globals, symbol, &piece))
		ret->piece = (uint32_t)piece;
}

/* Through the tables by which files find each other. */
static void resolve_address(const struct makeup *pieces,
			    const struct piece_file *file, uint64_t to,
			    unsigned depth, struct piece_target *ret)
{
	const struct piece_section *section =
		to & PIECE_TLS ? NULL : makeup_section(file, to);
	const struct piece_relocation *word;
	if (section && section->table && section->bytes) {
		struct table_entry entry = {};
		uint64_t offset = to - section->start;
		arch_each_number(
			section->bytes + offset,
			MIN(section->size - offset, (uint64_t)TABLE_ENTRY), to,
			take_table_slot, &entry);
		if (entry.slot && depth)
			resolve_address(pieces, file, entry.slot, depth - 1,
					ret);
		return;
	}
	uint32_t piece = makeup_at(pieces, file, to);
	bool named = piece != PIECE_NONE && pieces->all.data[piece].name;
	bool table = section && str_starts(section->name, ".got");
	word = named || !table ? NULL : makeup_relocation(file, to);
	if (word && word->place == to && depth) {
		if (word->symbol)
			resolve_symbol(pieces, word->symbol, ret);
		else
			resolve_address(pieces, file, word->target, depth - 1,
					ret);
		return;
	}
	ret->piece = piece;
	if (piece != PIECE_NONE) {
		ret->name = pieces->all.data[piece].name;
		ret->offset = to - pieces->all.data[piece].start;
	}
}

/* What code that registers tests calls of the system: it makes objects. */
static bool is_making_call(const char *name)
{
	static const char *const beginnings[] = {
		"_Zn",	  "_Zd",     "__cxa_",	"_ZNS", "_ZNKS",
		"_ZS",	  "_Unwind", "mem",	"str",	"__gxx",
		"__gmon", "__libc",  "__stack", "_ITM",
	};
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++) {
		if (str_starts(name, beginnings[i]))
			return true;
	}
	return false;
}

static struct err *link_piece(struct makeup *pieces, struct piece_file *file,
			      uint32_t at)
{
	size_t n = pieces->all.data[at].n_refs;
	pieces->all.data[at].first_edge = pieces->edges.n;
	for (size_t i = 0; i < n; i++) {
		struct made_piece *piece = &pieces->all.data[at];
		const struct piece_ref *ref =
			&file->refs.data[piece->first_ref + i];
		struct piece_target target = { .piece = PIECE_NONE };
		if (ref->symbol)
			resolve_symbol(pieces, ref->symbol, &target);
		else
			resolve_address(pieces, file, ref->to, 2, &target);
		piece->hash = mix_value(
			piece->hash,
			(target.name ? hash_piece_name(target.name) : 7) +
				target.offset);
		if (target.piece == PIECE_NONE && target.name &&
		    !is_making_call(target.name))
			piece->impure = true;
		if (target.piece != PIECE_NONE && target.piece != at)
			TRY(vec_push(&pieces->edges, target.piece));
	}
	/* What continues in the next constant; what continues elsewhere. */
	if (pieces->all.data[at].merged)
		TRY(vec_push(&pieces->edges, at + 1));
	return NULL;
}

/* "f.cold" is left and entered by exceptions, too: it belongs to f. */
static struct err *link_cold(struct makeup *pieces,
			     const struct piece_file *file, uint32_t at,
			     const struct map_text *cold)
{
	const struct made_piece *piece = &pieces->all.data[at];
	uint64_t part;
	if (!piece->code || !piece->name ||
	    !map_text_get(cold, piece->name, &part))
		return NULL;
	for (uint32_t i = (uint32_t)part;
	     i != PIECE_NONE && i >= file->first && i < file->first + file->n;
	     i = pieces->all.data[i].next_same)
		TRY(vec_push(&pieces->edges, i));
	return NULL;
}

static struct err *find_cold(const struct makeup *pieces,
			     const struct piece_file *file,
			     struct map_text *ret)
{
	for (size_t i = file->first; i < file->first + file->n; i++) {
		const char *name = pieces->all.data[i].name;
		const char *end = name ? strstr(name, ".cold") : NULL;
		if (!end)
			continue;
		_cleanup_(freep) char *whole =
			strndup(name, (size_t)(end - name));
		if (!whole)
			return err_nomem();
		TRY(map_text_put(ret, whole, i));
	}
	return NULL;
}

static struct err *link_file(struct makeup *pieces, struct piece_file *file)
{
	_cleanup_(map_text_freep) struct map_text cold = MAP_INIT;
	TRY(find_cold(pieces, file, &cold));
	for (int loose = 0; loose < 2; loose++) {
		size_t first = loose ? file->first_loose : file->first;
		size_t n = loose ? file->n_loose : file->n;
		for (size_t i = first; i < first + n; i++) {
			TRY(link_piece(pieces, file, (uint32_t)i));
			TRY(link_cold(pieces, file, (uint32_t)i, &cold));
			struct made_piece *piece = &pieces->all.data[i];
			piece->n_edges = pieces->edges.n - piece->first_edge;
		}
	}
	return NULL;
}

struct err *makeup_scan(struct makeup *pieces)
{
	struct piece_scan scan = { .pieces = pieces };
	struct err *err = NULL;
	for (size_t i = 0; !err && i < pieces->files.n; i++) {
		scan.file = &pieces->files.data[i];
		err = makeup_find_catches(scan.file);
		if (!err)
			err = scan_file(&scan);
	}
	free(scan.copy);
	for (size_t i = 0; !err && i < pieces->files.n; i++)
		err = link_file(pieces, &pieces->files.data[i]);
	return err;
}
