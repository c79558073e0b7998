#include "dwarf/object.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "dwarf/object_internal.h"

/* More than any real file has; what comes after is not read. */
#define PROBE_HEADERS 256
#define PROBE_DYNAMIC 4096
#define SECTIONS_MAX 1000000

static const char *machine_name(unsigned machine, unsigned class)
{
	static const struct {
		unsigned machine;
		const char *name;
	} machines[] = {
		{ EM_386, "x86 (32-bit)" }, { EM_AARCH64, "AArch64" },
		{ EM_ARM, "ARM (32-bit)" }, { EM_RISCV, "RISC-V" },
		{ EM_PPC64, "PowerPC64" },  { EM_PPC, "PowerPC (32-bit)" },
		{ EM_S390, "s390" },	    { EM_MIPS, "MIPS" },
		{ EM_SPARCV9, "SPARC V9" }, { EM_SPARC, "SPARC" },
		{ EM_IA_64, "Itanium" },    { EM_ALPHA, "Alpha" },
		{ EM_PARISC, "PA-RISC" },   { EM_68K, "m68k" },
		{ EM_SH, "SuperH" },	    { EM_BPF, "BPF" },
		{ 258, "LoongArch" },
	};
	if (machine == EM_X86_64)
		return class == ELFCLASS64 ? "x86-64" : "x86-64 (x32)";
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (machines[i].machine == machine)
			return machines[i].name;
	}
	return "an unknown machine";
}

/* Reads what is there, at most @n bytes; 0 on errors. */
static size_t object_read_at(int fd, void *buffer, size_t n, uint64_t offset)
{
	if (offset > INT64_MAX - n)
		return 0;
	size_t done = 0;
	while (done < n) {
		ssize_t got = pread(fd, (char *)buffer + done, n - done,
				    (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static bool dynamic_says_pie(int fd, const Elf64_Phdr *dynamic)
{
	size_t n = MIN(dynamic->p_filesz / sizeof(Elf64_Dyn),
		       (uint64_t)PROBE_DYNAMIC);
	_cleanup_(freep) Elf64_Dyn *entries = calloc(n + 1, sizeof(*entries));
	if (!entries)
		return false;
	n = object_read_at(fd, entries, n * sizeof(*entries),
			   dynamic->p_offset) /
	    sizeof(*entries);
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag == DT_FLAGS_1)
			return entries[i].d_un.d_val & DF_1_PIE;
	}
	return false;
}

static void probe_fd(int fd, struct object_facts *facts)
{
	Elf64_Ehdr header = {};
	size_t n = object_read_at(fd, &header, sizeof(header), 0);
	if (n >= 2 && !memcmp(header.e_ident, "#!", 2))
		facts->script = true;
	/*
	 * Class, order, type and machine are at the same offsets in both
	 * classes.
	 */
	if (n < 20 || memcmp(header.e_ident, ELFMAG, SELFMAG))
		return;
	facts->elf = true;
	unsigned class = header.e_ident[EI_CLASS];
	if (header.e_ident[EI_DATA] != ELFDATA2LSB) {
		facts->machine = machine_name(
			__builtin_bswap16(header.e_machine), class);
		return;
	}
	facts->machine = machine_name(header.e_machine, class);
	if (n < sizeof(header) || class != ELFCLASS64 ||
	    header.e_machine != EM_X86_64)
		return;
	facts->native = true;
	facts->entry = header.e_entry;

	Elf64_Phdr segments[PROBE_HEADERS];
	size_t count = MIN((size_t)header.e_phnum, ARRAY_SIZE(segments));
	if (header.e_phentsize != sizeof(segments[0]))
		count = 0;
	count = object_read_at(fd, segments, count * sizeof(segments[0]),
			       header.e_phoff) /
		sizeof(segments[0]);
	bool pie = false;
	for (size_t i = 0; i < count; i++) {
		if (segments[i].p_type == PT_INTERP)
			facts->dynamic = true;
		else if (segments[i].p_type == PT_DYNAMIC && !pie)
			pie = dynamic_says_pie(fd, &segments[i]);
	}
	facts->pie = header.e_type == ET_DYN && (facts->dynamic || pie);
	facts->executable = header.e_type == ET_EXEC || facts->pie;
}

/* O_NONBLOCK: a pipe without a writer must not block us. */
static struct err *open_regular(const char *path, int *ret)
{
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_with_kind(err_errno(errno, "cannot read '%s'", path),
				     ERR_SUITE);
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_errno(errno, "cannot examine '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_create(ERR_SUITE, "'%s' is %s, not a program", path,
				  S_ISDIR(st.st_mode) ? "a folder"
						      : "a special file");
	*ret = take_fd(fd);
	return NULL;
}

struct err *object_probe(const char *path, struct object_facts *ret)
{
	_cleanup_(closep) int fd = -1;
	TRY(open_regular(path, &fd));
	struct object_facts facts = {};
	probe_fd(fd, &facts);
	*ret = facts;
	return NULL;
}

/* CRC-32 as .gnu_debuglink has it (IEEE, reflected). */
static bool file_crc(int fd, uint32_t *ret)
{
	uint32_t table[256];
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = (c & 1 ? 0xedb88320u : 0) ^ (c >> 1);
		table[i] = c;
	}
	size_t n = 1 << 16;
	_cleanup_(freep) unsigned char *buffer = malloc(n);
	if (!buffer)
		return false;
	uint32_t crc = ~0u;
	for (uint64_t at = 0;; at += n) {
		size_t got = object_read_at(fd, buffer, n, at);
		for (size_t i = 0; i < got; i++)
			crc = table[(crc ^ buffer[i]) & 0xff] ^ (crc >> 8);
		if (got < n)
			break;
	}
	*ret = ~crc;
	return true;
}

static void object_elf_endp(Elf **elf)
{
	if (*elf)
		elf_end(*elf);
}

/* By build id where the program has one, else by the link's checksum. */
static bool debug_file_fits(Dwfl_Module *module, int fd, GElf_Word crc)
{
	const unsigned char *id = NULL;
	GElf_Addr address;
	int n = dwfl_module_build_id(module, &id, &address);
	if (n <= 0) {
		uint32_t found = 0;
		return file_crc(fd, &found) && found == crc;
	}
	_cleanup_(object_elf_endp) Elf *elf =
		elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return false;
	const void *other = NULL;
	return dwelf_elf_gnu_build_id(elf, &other) == n &&
	       !memcmp(id, other, (size_t)n);
}

/* dir/link, dir/.debug/link, /usr/lib/debug/dir/link: as gdb looks. */
static int find_by_link(Dwfl_Module *module, const char *program,
			const char *link, GElf_Word crc, char **ret_name)
{
	_cleanup_(freep) char *full = realpath(program, NULL);
	if (!full || strchr(link, '/'))
		return -1;
	char *slash = strrchr(full, '/');
	if (!slash)
		return -1;
	*slash = '\0';
	static const char *const patterns[] = {
		"%s/%s",
		"%s/.debug/%s",
		"/usr/lib/debug%s/%s",
	};
	struct stat own, st;
	if (stat(program, &own) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		_cleanup_(freep) char *path = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		if (asprintf(&path, patterns[i], full, link) < 0) {
			path = NULL;
			return -1;
		}
#pragma GCC diagnostic pop
		_cleanup_(closep) int fd = -1;
		struct err *err = open_regular(path, &fd);
		if (err) {
			err_destroy(err);
			continue;
		}
		if (fstat(fd, &st) < 0 ||
		    (st.st_dev == own.st_dev && st.st_ino == own.st_ino))
			continue;
		if (!debug_file_fits(module, fd, crc)) {
			log_debug(LOG_DWARF,
				  "%s is not used: it is from another build",
				  path);
			continue;
		}
		*ret_name = take_ptr(path);
		return take_fd(fd);
	}
	return -1;
}

/*
 * Like dwfl_standard_find_debuginfo(), without its last resort: that asks
 * debuginfod servers over the network (where DEBUGINFOD_URLS is set), which is
 * not expected of running tests.
 */
static int object_find_debuginfo(Dwfl_Module *module, void **data,
				 const char *name, Dwarf_Addr base,
				 const char *file, const char *link,
				 GElf_Word crc, char **ret_name)
{
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file,
					      link, crc, ret_name);
	if (fd < 0 && file && link)
		fd = find_by_link(module, file, link, crc, ret_name);
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (fd >= 0)
		log_debug(LOG_DWARF, "%s: its debug information is in %s", name,
			  *ret_name ? *ret_name : "a file without a name");
	else
		log_debug(LOG_DWARF, "%s: no separate debug file found%s%s",
			  name, link ? ", its link names " : "",
			  link ? link : "");
	return fd;
}

static int object_find_elf(Dwfl_Module *module _unused_, void **data _unused_,
			   const char *name _unused_, Dwarf_Addr base _unused_,
			   char **ret_name _unused_, Elf **ret _unused_)
{
	return -1; /* we always report the file itself */
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = object_find_elf,
	.find_debuginfo = object_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static struct err *object_report_damage(const char *path, const char *why)
{
	return err_hint(err_create(ERR_SUITE,
				   "'%s' is not a readable ELF file: %s", path,
				   why ? why : "damaged"),
			"build it again");
}

static bool has_debug_section(Elf *elf)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	Elf_Scn *section = NULL;
	for (size_t i = 0; i < SECTIONS_MAX; i++) {
		section = elf_nextscn(elf, section);
		Elf64_Shdr header;
		if (!section_header(section, &header))
			return false;
		if (header.sh_type == SHT_NOBITS || !header.sh_size)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (name && (!strcmp(name, ".debug_info") ||
			     !strcmp(name, ".zdebug_info")))
			return true;
	}
	return false;
}

static struct err *object_read_segments(struct object *object)
{
	size_t n;
	if (elf_getphdrnum(object->elf, &n) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr segment;
		if (!segment_header(object->elf, i, &segment))
			break;
		if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) &&
		    segment.p_memsz)
			TRY(spans_add(&object->text, segment.p_vaddr,
				      segment.p_memsz, 0, (uint32_t)i));
	}
	spans_seal(&object->text);
	return NULL;
}

static struct err *open_object(const char *path, bool exported,
			       struct object **ret)
{
	_cleanup_(closep) int fd = -1;
	TRY(open_regular(path, &fd));

	_cleanup_(object_closep) struct object *object =
		calloc(1, sizeof(*object));
	if (!object)
		return err_nomem();
	object->path = strdup(path);
	object->symbols = calloc(1, sizeof(*object->symbols));
	if (!object->path || !object->symbols)
		return err_nomem();

	probe_fd(fd, &object->facts);
	if (!object->facts.elf)
		return err_create(
			ERR_SUITE, "'%s' is %s, not an ELF file", path,
			object->facts.script ? "a script" : "something else");
	if (!object->facts.native)
		return err_create(ERR_SUITE,
				  "'%s' is for %s; only x86-64 can be read",
				  path, object->facts.machine);
	uint16_t type = 0;
	object_read_at(fd, &type, sizeof(type), offsetof(Elf64_Ehdr, e_type));
	if (type != ET_EXEC && type != ET_DYN)
		return err_create(
			ERR_SUITE,
			"'%s' is neither a program nor a shared library", path);

	elf_version(EV_CURRENT);
	object->dwfl = dwfl_begin(&callbacks);
	if (!object->dwfl)
		return err_nomem();
	dwfl_report_begin(object->dwfl);
	/* Base 0: addresses stay those of the file. */
	object->module = dwfl_report_elf(object->dwfl, path, path, fd, 0, true);
	if (!object->module)
		return object_report_damage(path, dwfl_errmsg(-1));
	take_fd(fd);
	dwfl_report_end(object->dwfl, NULL, NULL);
	GElf_Addr bias;
	object->elf = dwfl_module_getelf(object->module, &bias);
	if (!object->elf || bias)
		return object_report_damage(
			path, object->elf ? NULL : dwfl_errmsg(-1));

	TRY(object_read_segments(object));
	struct err *err = symbols_read(object->symbols, object->elf,
				       object->module, exported);
	if (err)
		return err_prefix(err, "symbols of '%s'", path);
	object->facts.symtab = object->symbols->full;
	object->facts.asan = object->symbols->asan;
	object->facts.tsan = object->symbols->tsan;
	/*
	 * The last is slow for a large debug file; the others usually suffice.
	 */
	object->facts.debug = has_debug_section(object->elf) ||
			      (object->symbols->elsewhere &&
			       has_debug_section(object->symbols->elsewhere)) ||
			      (!exported && object_dwarf(object));
	*ret = take_ptr(object);
	return NULL;
}

struct err *object_open(const char *path, struct object **ret)
{
	return open_object(path, false, ret);
}

struct err *object_open_exported(const char *path, struct object **ret)
{
	return open_object(path, true, ret);
}

void object_close(struct object *object)
{
	if (!object)
		return;
	inlined_functions_free(&object->inlined);
	types_free(&object->types);
	units_free(&object->units);
	if (object->symbols)
		symbols_free(object->symbols);
	free(object->symbols);
	spans_free(&object->text);
	for (size_t i = 0; i < object->texts.map.cap; i++) {
		if (object->texts.map.slots[i].hash)
			free((char *)(uintptr_t)object->texts.map.slots[i]
				     .value);
	}
	map_text_free(&object->texts);
	if (object->dwfl)
		dwfl_end(object->dwfl);
	free(object->path);
	free(object);
}

const struct object_facts *object_facts(const struct object *object)
{
	return &object->facts;
}

const char *object_path(const struct object *object)
{
	return object->path;
}

Dwarf *object_dwarf(struct object *object)
{
	if (!object->dwarf_tried) {
		object->dwarf_tried = true;
		object->dwarf = dwfl_module_getdwarf(object->module,
						     &object->dwarf_bias);
		if (!object->dwarf)
			log_debug(LOG_DWARF, "%s: no debug information: %s",
				  object->path, dwfl_errmsg(-1));
	}
	return object->dwarf;
}

const char *object_intern(struct object *object, const char *text)
{
	uint64_t known;
	if (map_text_get(&object->texts, text, &known))
		return (const char *)(uintptr_t)known;
	_cleanup_(freep) char *copy = strdup(text);
	if (!copy)
		return NULL;
	struct err *err =
		map_text_put(&object->texts, text, (uint64_t)(uintptr_t)copy);
	if (err) {
		err_ignore(err);
		return NULL;
	}
	return take_ptr(copy);
}
