#include "program/makeup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/str.h"
#include "dwarf/libraries.h"
#include "program/callers.h"
#include "program/makeup_internal.h"
#include "program/own.h"

#define PIECES_MAX ((size_t)8 << 20)
/* Code between symbols: below that it is padding. */
#define GAP_LEAST 16

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

/* ---- looking up ---- */

const struct piece_section *makeup_section(const struct piece_file *file,
					   uint64_t at)
{
	for (size_t i = 0; i < file->sections.n; i++) {
		const struct piece_section *section = &file->sections.data[i];
		if (at - section->start < section->size)
			return section;
	}
	return NULL;
}

static uint32_t find_in_range(const struct makeup *pieces, size_t first,
			      size_t n, uint64_t at)
{
	const struct made_piece *all = pieces->all.data;
	size_t low = first, high = first + n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (all[middle].start + all[middle].size <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < first + n && at >= all[low].start ? (uint32_t)low
						       : PIECE_NONE;
}

uint32_t makeup_at(const struct makeup *pieces, const struct piece_file *file,
		   uint64_t at)
{
	uint32_t found = find_in_range(pieces, file->first, file->n, at);
	return found != PIECE_NONE ? found
				   : find_in_range(pieces, file->first_loose,
						   file->n_loose, at);
}

const struct piece_relocation *makeup_relocation(const struct piece_file *file,
						 uint64_t place)
{
	size_t low = 0, high = file->relocations.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (file->relocations.data[middle].place < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->relocations.n ? &file->relocations.data[low] : NULL;
}

/* ---- sections and relocations ---- */

static struct err *add_section(struct piece_file *file, Elf_Scn *section,
			       const GElf_Shdr *header, const char *name)
{
	Elf_Data *data = header->sh_type == SHT_NOBITS
				 ? NULL
				 : elf_getdata(section, NULL);
	bool tls = header->sh_flags & SHF_TLS;
	if (tls && header->sh_type == SHT_NOBITS)
		return NULL; /* its addresses are those of what follows */
	if (data && data->d_size < header->sh_size)
		return NULL;
	return vec_push(&file->sections,
			(struct piece_section){
				.start = header->sh_addr,
				.size = header->sh_size,
				.bytes = data ? data->d_buf : NULL,
				.name = name,
				.code = header->sh_flags & SHF_EXECINSTR,
				.writable = (header->sh_flags & SHF_WRITE) &&
					    !str_starts(name, ".data.rel.ro"),
				.table = str_starts(name, ".plt"),
			});
}

static const char *symbol_of_index(Elf *elf, uint64_t link, uint64_t index,
				   GElf_Sym *ret)
{
	Elf_Scn *section = elf_getscn(elf, link);
	GElf_Shdr header;
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	if (!data || !gelf_getshdr(section, &header) || index > INT32_MAX ||
	    !gelf_getsym(data, (int)index, ret))
		return NULL;
	return elf_strptr(elf, header.sh_link, ret->st_name);
}

static struct err *add_relocation(struct piece_file *file, uint64_t link,
				  const GElf_Rela *rela)
{
	struct piece_relocation found = { .place = rela->r_offset };
	uint64_t type = GELF_R_TYPE(rela->r_info);
	uint64_t index = GELF_R_SYM(rela->r_info);
	GElf_Sym symbol;
	const char *name =
		index ? symbol_of_index(file->elf, link, index, &symbol) : NULL;
	bool tls = type == R_X86_64_DTPOFF64 || type == R_X86_64_TPOFF64;
	if (name && symbol.st_shndx != SHN_UNDEF &&
	    GELF_ST_BIND(symbol.st_info) == STB_LOCAL) {
		found.target = symbol.st_value + (uint64_t)rela->r_addend;
		found.target += tls ? PIECE_TLS : 0;
	} else if (name && *name) {
		found.symbol = name;
	} else {
		found.target = (uint64_t)rela->r_addend;
		found.target += tls ? PIECE_TLS : 0;
	}
	return vec_push(&file->relocations, found);
}

static struct err *add_relocations(struct piece_file *file, Elf_Scn *section,
				   const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize
			   ? data->d_size / header->sh_entsize
			   : 0;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Rela rela;
		if (gelf_getrela(data, (int)i, &rela))
			TRY(add_relocation(file, header->sh_link, &rela));
	}
	return NULL;
}

static struct err *add_relative(struct piece_file *file, uint64_t place)
{
	const struct piece_section *section = makeup_section(file, place);
	uint64_t target;
	if (!section || !section->bytes ||
	    place - section->start > section->size - sizeof(target) ||
	    section->size < sizeof(target))
		return NULL;
	memcpy(&target, section->bytes + (place - section->start),
	       sizeof(target));
	return vec_push(&file->relocations,
			(struct piece_relocation){ place, target, NULL });
}

/* Relative ones in short: an address, then bits for the words after it. */
static struct err *add_short_relocations(struct piece_file *file,
					 Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t place = 0, entry;
	for (size_t at = 0; data && at + sizeof(entry) <= data->d_size;
	     at += sizeof(entry)) {
		memcpy(&entry, (const char *)data->d_buf + at, sizeof(entry));
		if (!(entry & 1)) {
			TRY(add_relative(file, entry));
			place = entry + sizeof(entry);
			continue;
		}
		for (unsigned bit = 1; bit < 64; bit++) {
			if (entry >> bit & 1)
				TRY(add_relative(file, place + (bit - 1) * 8));
		}
		place += 63 * sizeof(entry);
	}
	return NULL;
}

static int compare_relocations(const void *a, const void *b)
{
	const struct piece_relocation *x = a, *y = b;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int compare_sections(const void *a, const void *b)
{
	const struct piece_section *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static struct err *read_sections(struct piece_file *file)
{
	size_t names;
	GElf_Shdr header;
	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	for (Elf_Scn *section = NULL;
	     (section = elf_nextscn(file->elf, section));) {
		if (!gelf_getshdr(section, &header) ||
		    !(header.sh_flags & SHF_ALLOC) || !header.sh_size)
			continue;
		const char *name = elf_strptr(file->elf, names, header.sh_name);
		TRY(add_section(file, section, &header, name ? name : ""));
	}
	if (file->sections.n)
		qsort(file->sections.data, file->sections.n,
		      sizeof(*file->sections.data), compare_sections);
	for (Elf_Scn *section = NULL;
	     (section = elf_nextscn(file->elf, section));) {
		if (!gelf_getshdr(section, &header) ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		if (header.sh_type == SHT_RELA)
			TRY(add_relocations(file, section, &header));
		else if (header.sh_type == SHT_RELR)
			TRY(add_short_relocations(file, section));
	}
	if (file->relocations.n)
		qsort(file->relocations.data, file->relocations.n,
		      sizeof(*file->relocations.data), compare_relocations);
	return NULL;
}

static void read_tls(struct piece_file *file)
{
	size_t n;
	if (elf_getphdrnum(file->elf, &n))
		return;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(file->elf, (int)i, &header) ||
		    header.p_type != PT_TLS)
			continue;
		uint64_t align = header.p_align ? header.p_align : 1;
		file->tls_start = header.p_vaddr;
		file->tls_filled = header.p_filesz;
		file->tls_size = (header.p_memsz + align - 1) / align * align;
	}
}

/* ---- symbols ---- */

static void set_bytes(const struct piece_file *file, struct made_piece *piece)
{
	uint64_t at = piece->start;
	if (at & PIECE_TLS) {
		uint64_t offset = at - PIECE_TLS;
		if (offset >= file->tls_filled ||
		    piece->size > file->tls_filled - offset)
			return;
		at = file->tls_start + offset;
	}
	const struct piece_section *section = makeup_section(file, at);
	if (!section)
		return;
	if (!(piece->start & PIECE_TLS))
		piece->size =
			MIN(piece->size, section->start + section->size - at);
	else if (piece->size > section->start + section->size - at)
		return;
	piece->writable = section->writable;
	piece->code = section->code;
	if (section->bytes)
		piece->bytes = section->bytes + (at - section->start);
}

static bool is_piece_symbol(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF &&
	       (symbol->st_shndx < SHN_LORESERVE ||
		symbol->st_shndx == SHN_XINDEX) &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_TLS ||
		type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && symbol->st_size));
}

static struct err *add_piece_symbol(struct makeup *pieces,
				    struct piece_file *file,
				    const GElf_Sym *symbol, const char *name)
{
	bool tls = GELF_ST_TYPE(symbol->st_info) == STT_TLS;
	unsigned bind = GELF_ST_BIND(symbol->st_info);
	struct made_piece piece = {
		.start = symbol->st_value + (tls ? PIECE_TLS : 0),
		.size = symbol->st_size,
		.name = name,
		.next_same = PIECE_NONE,
		.weak = bind != STB_GLOBAL && bind != STB_LOCAL,
		.local = bind == STB_LOCAL,
	};
	if (pieces->all.n >= PIECES_MAX)
		return err_create(ERR_SUITE, "'%s' has too many symbols",
				  file->path);
	set_bytes(file, &piece);
	return vec_push(&pieces->all, piece);
}

static struct err *read_symbols(struct makeup *pieces, struct piece_file *file)
{
	for (Elf_Scn *section = NULL;
	     (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		GElf_Sym symbol;
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_SYMTAB)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t n = data && header.sh_entsize
				   ? data->d_size / header.sh_entsize
				   : 0;
		file->symtab |= n > 1;
		for (size_t i = 0; i < n && i < INT32_MAX; i++) {
			if (!gelf_getsym(data, (int)i, &symbol))
				continue;
			const char *name = elf_strptr(file->elf, header.sh_link,
						      symbol.st_name);
			if (!name || !*name)
				continue;
			if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
				TRY(vec_push(&file->units, name));
			else if (is_piece_symbol(&symbol))
				TRY(add_piece_symbol(pieces, file, &symbol,
						     name));
		}
	}
	return NULL;
}

/* Larger ones first; of equals the first by name, to be the same next time. */
static int compare_pieces(const void *a, const void *b)
{
	const struct made_piece *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->local != y->local)
		return x->local ? 1 : -1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* Functions without a size, as assemblers write them, end where others begin. */
static void size_unsized(struct made_piece *pieces, size_t n,
			 const struct piece_file *file)
{
	for (size_t i = 0; i < n; i++) {
		struct made_piece *piece = &pieces[i];
		const struct piece_section *section =
			piece->size ? NULL : makeup_section(file, piece->start);
		if (!section || !section->code)
			continue;
		uint64_t end = section->start + section->size;
		for (size_t j = i + 1; j < n; j++) {
			if (pieces[j].start > piece->start) {
				end = MIN(end, pieces[j].start);
				break;
			}
		}
		piece->size = end - piece->start;
		set_bytes(file, piece);
	}
}

/* Each byte is in one piece; other names of the same place are dropped. */
static size_t drop_aliases(struct made_piece *pieces, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct made_piece *last = kept ? &pieces[kept - 1] : NULL;
		uint64_t end = last ? last->start + last->size : 0;
		if (last && pieces[i].start < end) {
			/* All names of a place must be weak, or local. */
			last->weak &= pieces[i].weak;
			if (pieces[i].start + pieces[i].size <= end)
				continue;
			last->size = pieces[i].start - last->start;
		}
		if (pieces[i].size)
			pieces[kept++] = pieces[i];
	}
	return kept;
}

static struct err *add_gap(struct makeup *pieces, const struct piece_file *file,
			   uint64_t start, uint64_t end)
{
	struct made_piece piece = {
		.start = start,
		.size = end - start,
		.name = "(code)",
		.next_same = PIECE_NONE,
		.local = true,
	};
	set_bytes(file, &piece);
	return vec_push(&pieces->all, piece);
}

/* Code that has no symbol, such as that of hand-written assembly. */
static struct err *add_gaps(struct makeup *pieces,
			    const struct piece_file *file)
{
	size_t n = pieces->all.n;
	for (size_t i = 0; i < file->sections.n; i++) {
		const struct piece_section *section = &file->sections.data[i];
		uint64_t at = section->start,
			 end = section->start + section->size;
		if (!section->code || section->table)
			continue;
		for (size_t j = file->first; j < n; j++) {
			struct made_piece piece = pieces->all.data[j];
			if (piece.start < at || piece.start >= end)
				continue;
			if (piece.start - at >= GAP_LEAST)
				TRY(add_gap(pieces, file, at, piece.start));
			at = piece.start + piece.size;
		}
		if (end > at && end - at >= GAP_LEAST)
			TRY(add_gap(pieces, file, at, end));
	}
	return NULL;
}

/* Those whose functions are defined in one of the files. */
static struct err *find_frameworks(struct makeup *pieces,
				   const struct framework_own *(*own)(size_t i))
{
	for (size_t i = 0; own(i); i++) {
		const char *const *symbols = own(i)->symbols;
		bool there = false;
		uint64_t piece;
		for (; symbols && *symbols && !there; symbols++)
			there = map_text_get(&pieces->globals, *symbols,
					     &piece);
		if (there)
			TRY(vec_push(&pieces->owns, own(i)));
	}
	return NULL;
}

static bool is_frameworks(const struct makeup *pieces, const char *name)
{
	for (size_t i = 0; i < pieces->owns.n; i++) {
		if (callers_is_framework(pieces->owns.data[i], name))
			return true;
	}
	return false;
}

/* Templates of a framework that are made for a test's types are the test's. */
static struct err *name_pieces(struct makeup *pieces,
			       const struct piece_file *file)
{
	_cleanup_(map_text_freep) struct map_text names = MAP_INIT;
	for (size_t i = file->first; i < file->first + file->n; i++) {
		struct made_piece *piece = &pieces->all.data[i];
		uint64_t known = PIECE_NONE;
		if (!piece->name)
			continue;
		map_text_get(&names, piece->name, &known);
		piece->next_same = (uint32_t)known;
		TRY(map_text_put(&names, piece->name, i));
		piece->framework = !piece->weak &&
				   strcmp(piece->name, "main") &&
				   is_frameworks(pieces, piece->name);
	}
	return NULL;
}

static struct err *take_globals(struct makeup *pieces, struct piece_file *file)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	for (Elf_Scn *section = NULL;
	     (section = elf_nextscn(file->elf, section));) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB &&
		     header.sh_type != SHT_DYNSYM))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t n = data && header.sh_entsize
				   ? data->d_size / header.sh_entsize
				   : 0;
		for (size_t i = 0; i < n && i < INT32_MAX; i++) {
			uint64_t known;
			if (!gelf_getsym(data, (int)i, &symbol) ||
			    !is_piece_symbol(&symbol) ||
			    GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
				continue;
			const char *name = elf_strptr(file->elf, header.sh_link,
						      symbol.st_name);
			bool tls = GELF_ST_TYPE(symbol.st_info) == STT_TLS;
			uint32_t at = makeup_at(pieces, file,
						symbol.st_value +
							(tls ? PIECE_TLS : 0));
			if (name && at != PIECE_NONE &&
			    !map_text_get(&pieces->globals, name, &known))
				TRY(map_text_put(&pieces->globals, name, at));
		}
	}
	return NULL;
}

static struct err *read_file(struct makeup *pieces, struct piece_file *file)
{
	GElf_Ehdr header;
	file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (file->fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || !gelf_getehdr(file->elf, &header) ||
	    header.e_machine != EM_X86_64)
		return NULL;
	file->fixed = header.e_type == ET_EXEC;
	err_ignore(object_open(file->path, &file->object));
	TRY(read_sections(file));
	read_tls(file);
	file->first = pieces->all.n;
	TRY(read_symbols(pieces, file));
	struct made_piece *first = pieces->all.data + file->first;
	size_t n = pieces->all.n - file->first;
	for (unsigned pass = 0; pass < 2 && n; pass++) {
		qsort(first, n, sizeof(*first), compare_pieces);
		size_unsized(first, n, file);
	}
	pieces->all.n = file->first + (n ? drop_aliases(first, n) : 0);
	TRY(add_gaps(pieces, file));
	first = pieces->all.data + file->first;
	file->n = pieces->all.n - file->first;
	if (file->n)
		qsort(first, file->n, sizeof(*first), compare_pieces);
	return take_globals(pieces, file);
}

struct err *makeup_read(const char *program,
			const struct framework_own *(*own)(size_t i),
			const struct makeup_test *tests, size_t n_tests,
			struct makeup **ret)
{
	_cleanup_(makeup_destroyp) struct makeup *pieces =
		calloc(1, sizeof(*pieces));
	_cleanup_(strv_freep) struct strv paths = {};
	if (!pieces)
		return err_nomem();
	TRY(libraries_find(program, &paths));
	for (size_t i = 0; i < paths.n; i++) {
		struct piece_file file = { .fd = -1 };
		TRY(str_copy(paths.data[i], &file.path));
		struct err *err = vec_push(&pieces->files, file);
		if (err) {
			free(file.path);
			return err;
		}
		TRY(read_file(pieces, &pieces->files.data[i]));
	}
	TRY(find_frameworks(pieces, own));
	for (size_t i = 0; i < pieces->files.n; i++)
		TRY(name_pieces(pieces, &pieces->files.data[i]));
	for (size_t i = 0; i < n_tests; i++)
		TRY(vec_push(&pieces->tests,
			     (struct test_pieces){ .place = tests[i] }));
	TRY(makeup_scan(pieces));
	TRY(makeup_find_tests(pieces, tests));
	TRY(makeup_digest_all(pieces));
	log_debug(LOG_PROGRAM, "'%s': %zu pieces in %zu files, %zu references",
		  program, pieces->all.n, pieces->files.n, pieces->edges.n);
	*ret = take_ptr(pieces);
	return NULL;
}

void makeup_destroy(struct makeup *pieces)
{
	if (!pieces)
		return;
	for (size_t i = 0; i < pieces->files.n; i++) {
		struct piece_file *file = &pieces->files.data[i];
		object_close(file->object);
		elf_end(file->elf);
		if (file->fd >= 0)
			close(file->fd);
		free(file->path);
		vec_free(&file->sections);
		vec_free(&file->relocations);
		vec_free(&file->refs);
		vec_free(&file->catches);
		vec_free(&file->units);
	}
	for (size_t i = 0; i < pieces->tests.n; i++)
		vec_free(&pieces->tests.data[i].all);
	vec_free(&pieces->files);
	vec_free(&pieces->all);
	vec_free(&pieces->edges);
	vec_free(&pieces->inits);
	vec_free(&pieces->order);
	vec_free(&pieces->owns);
	vec_free(&pieces->tests);
	map_text_free(&pieces->globals);
	free(pieces);
}
