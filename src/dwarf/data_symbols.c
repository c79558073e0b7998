/* Data symbols: which are the program's own, where they are, their names. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "dwarf/index_internal.h"

#define SECTIONS_MAX 1000000
#define SYMBOLS_MAX ((size_t)1 << 24)
#define MANGLED_MAX 4096

/* Of the C++ runtime, which this program has anyway (toml.cc). */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *n,
			    int *status);

char *demangle_name(const char *name)
{
	int status;
	if (!str_starts(name, "_Z") ||
	    strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	return __cxa_demangle(name, NULL, NULL, &status);
}

/* ---- which are ours ---- */

/* clang-format off */
/* Of compilers, linkers, coverage and sanitizers, and of the C++ library. */
static const char *const foreign_prefixes[] = {
	"_ZGV", "_ZTV", "_ZTI", "_ZTS", "_ZTT", "_ZTC", "_ZTH", "_ZTW",
	"_ZSt", "_ZNSt", "_ZNKSt", "_ZNSs", "_ZGVNSt", "_ZN9__gnu_cxx",
	"_ZN10__cxxabiv", "_ZZNSt", "_ZZNKSt", "_ZZSt", "_ZNSbI",
	"__gcov", "__llvm_", "llvm_gc", "__profc_", "__profd_", "__profn_",
	"__profvp_", "__covrec_", "__asan", "__odr_asan", "___asan", "__hwasan",
	"__ubsan", "__tsan", "__msan", "__lsan", "__sancov", "__sanitizer",
	"__start_", "__stop_", "DW.ref.", ".L", "completed.",
};
static const char *const foreign_names[] = {
	"__dso_handle", "__TMC_END__", "__tls_guard", "__bss_start", "_edata",
	"_end", "__data_start", "data_start", "__JCR_LIST__", "__JCR_END__",
	"__frame_dummy_init_array_entry", "__EH_FRAME_BEGIN__", "_DYNAMIC",
	"__do_global_dtors_aux_fini_array_entry", "_GLOBAL_OFFSET_TABLE_",
	"__FRAME_END__", "__CTOR_LIST__", "__DTOR_LIST__", "__DTOR_END__",
	/* What programs take over from the C library by copy relocation. */
	"stdin", "stdout", "stderr", "environ", "__environ", "_environ",
	"optarg", "optind", "opterr", "optopt", "program_invocation_name",
	"program_invocation_short_name", "__progname", "__progname_full",
	"signgam", "timezone", "__timezone", "tzname", "__tzname", "daylight",
	"__daylight", "obstack_alloc_failed_handler", "obstack_exit_failure",
	"sys_errlist", "sys_nerr", "_sys_errlist", "_sys_nerr", "h_errlist",
	"error_message_count", "error_one_per_line", "error_print_progname",
	"argp_program_version", "argp_program_bug_address", "getdate_err",
	"loc1", "loc2", "locs", "rpc_createerr", "svc_fdset", "__stack_chk_guard",
	"__libc_single_threaded", "_res", "__check_rhosts_file", "_IO_2_1_stdin_",
	"_IO_2_1_stdout_", "_IO_2_1_stderr_", "_dl_argv", "__libc_stack_end",
	/* clang's coverage. */
	"CurrentVNode", "EndVNode", "lprofDirMode", "VPMaxNumValsPerSite",
	"VPMergeHook", "FreeHook", "DynamicBufferIOBuffer", "VPBufferSize",
	"_rtld_global", "__libc_enable_secure", "mallwatch", "re_syntax_options",
};
/* Sources of start-up code and of coverage: how their names begin. */
static const char *const foreign_files[] = {
	"crtstuff.c", "_gcov", "libgcov", "InstrProfiling", "GCDAProfiling",
};
/* No variables of the program in these, though they are written. */
static const char *const foreign_sections[] = {
	".got", ".got.plt", ".plt", ".dynamic", ".init_array", ".fini_array",
	".preinit_array", ".ctors", ".dtors", ".jcr", ".tm_clone_table",
	".eh_frame", ".data.rel.ro", ".bss.rel.ro", "__llvm_prf_cnts",
	"__llvm_prf_data", "__llvm_prf_vnds", "__llvm_prf_bits", "__sancov_cntrs",
	"__sancov_bools", "__sancov_guards", "__sancov_pcs", "asan_globals",
	".data.rel.ro.local",
};
/* clang-format on */

static bool is_foreign_symbol(const char *name, const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_files); i++) {
		if (str_starts(file, foreign_files[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreign_prefixes); i++) {
		if (str_starts(name, foreign_prefixes[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(foreign_names); i++) {
		if (!strcmp(name, foreign_names[i]))
			return true;
	}
	return false;
}

/* ---- where variables may lie ---- */

DEFINE_VEC(segments, Elf64_Phdr);

static bool in_relro(const struct segments *segments, uint64_t address)
{
	for (size_t i = 0; i < segments->n; i++) {
		const Elf64_Phdr *segment = &segments->data[i];
		if (segment->p_type == PT_GNU_RELRO &&
		    address - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static bool is_data_section(Elf *elf, size_t names, const Elf64_Shdr *section)
{
	if (!(section->sh_flags & SHF_WRITE) ||
	    !(section->sh_flags & SHF_ALLOC) || (section->sh_flags & SHF_TLS) ||
	    !section->sh_addr || !section->sh_size)
		return false;
	const char *name = elf_strptr(elf, names, section->sh_name);
	for (size_t i = 0; name && i < ARRAY_SIZE(foreign_sections); i++) {
		if (!strcmp(name, foreign_sections[i]))
			return false;
	}
	return true;
}

static struct err *data_symbols_read_segments(struct data_symbols *symbols,
					      Elf *elf,
					      struct segments *segments)
{
	size_t n;
	if (elf_getphdrnum(elf, &n) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr segment;
		if (!segment_header(elf, i, &segment))
			break;
		TRY(vec_push(segments, segment));
		if (segment.p_type != PT_TLS)
			continue;
		symbols->tls_start = segment.p_vaddr;
		symbols->tls_size = MIN(segment.p_memsz, TYPE_SIZE_MAX);
	}
	return NULL;
}

/* Without a section table: what is loaded to be written. */
static struct err *data_symbols_add_segments(struct data_symbols *symbols,
					     const struct segments *segments)
{
	for (size_t i = 0; i < segments->n; i++) {
		const Elf64_Phdr *segment = &segments->data[i];
		uint64_t lo = segment->p_vaddr, size = segment->p_memsz;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W) ||
		    size > TYPE_SIZE_MAX)
			continue;
		/* What is read-only later comes first in it. */
		for (size_t j = 0; j < segments->n; j++) {
			const Elf64_Phdr *relro = &segments->data[j];
			if (relro->p_type != PT_GNU_RELRO ||
			    relro->p_vaddr != lo)
				continue;
			lo += MIN(relro->p_memsz, size);
			size -= MIN(relro->p_memsz, size);
		}
		if (size)
			TRY(spans_add(&symbols->writable, lo, size, 0,
				      (uint32_t)i));
	}
	return NULL;
}

static struct err *read_writable(struct data_symbols *symbols, Elf *elf)
{
	size_t names;
	_cleanup_(segments_freep) struct segments segments = {};
	TRY(data_symbols_read_segments(symbols, elf, &segments));
	Elf_Scn *section = elf_getshdrstrndx(elf, &names) == 0
				   ? elf_nextscn(elf, NULL)
				   : NULL;
	if (!section)
		TRY(data_symbols_add_segments(symbols, &segments));
	for (size_t i = 0; section && i < SECTIONS_MAX; i++) {
		Elf64_Shdr header;
		if (section_header(section, &header) &&
		    is_data_section(elf, names, &header) &&
		    !in_relro(&segments, header.sh_addr))
			TRY(spans_add(&symbols->writable, header.sh_addr,
				      header.sh_size, 0, (uint32_t)i));
		section = elf_nextscn(elf, section);
	}
	spans_seal(&symbols->writable);
	return NULL;
}

/* ---- symbols ---- */

/* "x@@V2" of a shared library is x. */
static struct err *data_symbols_cut_version(struct data_symbols *symbols,
					    const char **name)
{
	const char *at = strchr(*name, '@');
	if (!at || at == *name)
		return NULL;
	_cleanup_(freep) char *copy = strndup(*name, (size_t)(at - *name));
	if (!copy)
		return err_nomem();
	TRY(vec_push(&symbols->names, copy));
	*name = take_ptr(copy);
	return NULL;
}

static struct err *add_symbol(struct data_symbols *symbols,
			      const Elf64_Sym *sym, const char *name,
			      const char *file)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);
	bool tls = type == STT_TLS;
	uint32_t id;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
	    sym->st_shndx == SHN_COMMON || !*name ||
	    (type != STT_OBJECT && type != STT_COMMON && !tls) ||
	    symbols->data.n >= SYMBOLS_MAX)
		return NULL;
	bool vtable = str_starts(name, "_ZTV");
	bool writable =
		tls ? sym->st_value < symbols->tls_size
		    : spans_find(&symbols->writable, sym->st_value, &id);
	if (str_starts(name, "_ZGV") && writable)
		TRY(map_text_put(&symbols->guards, name, sym->st_value));
	if (tls && writable && !strcmp(name, "__tls_guard")) {
		uint64_t known, value = sym->st_value + 1;
		if (map_text_get(&symbols->tls_guards, file, &known) &&
		    known != value)
			value = 0;
		TRY(map_text_put(&symbols->tls_guards, file, value));
	}
	if (!vtable && !writable)
		return NULL;
	struct data_symbol symbol = {
		.name = name,
		.value = sym->st_value,
		.size = sym->st_size,
		.tls = tls,
		.local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL,
		.vtable = vtable,
		.ours = writable && sym->st_size,
	};
	TRY(data_symbols_cut_version(symbols, &symbol.name));
	if (!strcmp(symbol.name, "main_arena"))
		symbols->has_libc = true;
	if (symbol.ours &&
	    is_foreign_symbol(symbol.name, symbol.local ? file : "")) {
		log_debug(LOG_DWARF,
			  "symbol '%s' is left out: it belongs to the compiler "
			  "or its runtime",
			  symbol.name);
		symbol.ours = false;
	}
	return vec_push(&symbols->data, symbol);
}

/* The bytes of a string table up to its last NUL. */
static const char *data_symbols_string_table(Elf *elf, size_t index,
					     size_t *ret_n)
{
	*ret_n = 0;
	Elf_Scn *section = elf_getscn(elf, index);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	const char *text = data->d_buf;
	const char *end = memrchr(text, '\0', data->d_size);
	*ret_n = end ? (size_t)(end - text) + 1 : 0;
	return text;
}

static struct err *data_symbols_read_table(struct data_symbols *symbols,
					   Elf *elf, Elf_Scn *section)
{
	Elf64_Shdr header;
	Elf_Data *data = section_header(section, &header)
				 ? elf_getdata(section, NULL)
				 : NULL;
	if (!data || !data->d_buf || data->d_type != ELF_T_SYM)
		return NULL;
	size_t names_n, n = data->d_size / sizeof(Elf64_Sym);
	const char *names =
		data_symbols_string_table(elf, header.sh_link, &names_n);
	const char *file = "";
	for (size_t i = 1; i < n; i++) {
		Elf64_Sym sym;
		memcpy(&sym, (const char *)data->d_buf + i * sizeof(sym),
		       sizeof(sym));
		if (sym.st_name >= names_n)
			continue;
		if (ELF64_ST_TYPE(sym.st_info) == STT_FILE)
			file = names + sym.st_name;
		else
			TRY(add_symbol(symbols, &sym, names + sym.st_name,
				       file));
	}
	return NULL;
}

static struct err *read_tables(struct data_symbols *symbols, Elf *elf)
{
	Elf_Scn *section = NULL;
	for (size_t i = 0; i < SECTIONS_MAX; i++) {
		section = elf_nextscn(elf, section);
		Elf64_Shdr header;
		if (!section_header(section, &header))
			break;
		if (header.sh_type == SHT_SYMTAB ||
		    header.sh_type == SHT_DYNSYM)
			TRY(data_symbols_read_table(symbols, elf, section));
	}
	return NULL;
}

static int symbol_order(const void *left, const void *right)
{
	const struct data_symbol *a = left, *b = right;
	if (a->tls != b->tls)
		return a->tls - b->tls;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->ours != b->ours)
		return b->ours - a->ours;
	if (a->local != b->local)
		return a->local - b->local;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct err *data_symbols_read(struct data_symbols *symbols,
			      struct object *object)
{
	TRY(read_writable(symbols, object->elf));
	TRY(read_tables(symbols, object->elf));
	if (object->symbols->elsewhere)
		TRY(read_tables(symbols, object->symbols->elsewhere));
	if (symbols->data.n)
		qsort(symbols->data.data, symbols->data.n,
		      sizeof(*symbols->data.data), symbol_order);
	return NULL;
}

void data_symbols_free(struct data_symbols *symbols)
{
	for (size_t i = 0; i < symbols->names.n; i++)
		free(symbols->names.data[i]);
	vec_free(&symbols->names);
	vec_free(&symbols->data);
	map_text_free(&symbols->guards);
	map_text_free(&symbols->tls_guards);
	spans_free(&symbols->writable);
}

const struct data_symbol *data_symbol_at(const struct data_symbols *symbols,
					 bool tls, uint64_t value)
{
	size_t low = 0, high = symbols->data.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct data_symbol *symbol = &symbols->data.data[middle];
		if (symbol->tls < tls ||
		    (symbol->tls == tls && symbol->value < value))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == symbols->data.n || symbols->data.data[low].tls != tls ||
	    symbols->data.data[low].value != value)
		return NULL;
	return &symbols->data.data[low];
}

/* ---- those without debug information ---- */

/*
 * "int f<int>(char)::n[abi:cxx11]" → "f<int>::n", as statics of functions are
 * named where debug information describes them.
 */
static void cut_parameters(char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *to = name;
	int angle = 0;
	for (const char *from = name; *from;) {
		if (str_starts(from, anonymous)) {
			memmove(to, from, strlen(anonymous));
			to += strlen(anonymous);
			from += strlen(anonymous);
			continue;
		}
		/* "operator()" is a name; its parameters come after it. */
		if (*from == '(' && to - name >= 8 &&
		    !strncmp(to - 8, "operator", 8) && from[1] == ')') {
			memmove(to, from, 2);
			to += 2;
			from += 2;
			continue;
		}
		if ((*from == '(' && angle <= 0) || str_starts(from, "[abi:")) {
			char open = *from, close = open == '(' ? ')' : ']';
			int depth = 0;
			do {
				depth += *from == open;
				depth -= *from == close;
				from++;
			} while (*from && depth);
			if (str_starts(from, " const"))
				from += strlen(" const");
			continue;
		}
		angle += *from == '<';
		angle -= *from == '>';
		/* What comes before a blank at the top was its type. */
		if (*from == ' ' && angle <= 0)
			to = name;
		else
			*to++ = *from;
		from++;
	}
	*to = '\0';
}

char *demangle_variable(const char *name)
{
	char *plain = demangle_name(name);
	if (plain && str_starts(name, "_ZZ"))
		cut_parameters(plain);
	return plain;
}

static struct err *untyped_name(struct type_pool *pool, const char *symbol,
				const char **ret)
{
	_cleanup_(freep) char *plain = demangle_variable(symbol);
	*ret = type_text(pool, plain && *plain ? plain : symbol);
	return *ret ? NULL : err_nomem();
}

static int variable_order(const void *left, const void *right)
{
	const struct variable *a = left, *b = right;
	bool a_tls = a->flags & VARIABLE_TLS, b_tls = b->flags & VARIABLE_TLS;
	if (a_tls != b_tls)
		return a_tls - b_tls;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void sort_variables(struct index_variables *index)
{
	if (index->variables.n)
		qsort(index->variables.data, index->variables.n,
		      sizeof(*index->variables.data), variable_order);
}

static struct err *add_untyped(const struct data_symbol *symbol,
			       struct type_pool *pool, uint32_t unit,
			       struct index_variables *index)
{
	struct variable variable = {
		.flags = VARIABLE_UNTYPED |
			 (symbol->local ? VARIABLE_LOCAL : 0) |
			 (symbol->tls ? VARIABLE_TLS : 0),
		.address = symbol->value,
		.size = MIN(symbol->size, TYPE_SIZE_MAX),
		.unit = unit,
	};
	TRY(untyped_name(pool, symbol->name, &variable.name));
	variable.symbol = type_text(pool, symbol->name);
	if (!variable.symbol)
		return err_nomem();
	return vec_push(&index->variables, variable);
}

struct err *data_symbols_add(const struct data_symbols *symbols,
			     struct type_pool *pool,
			     struct index_variables *index)
{
	sort_variables(index);
	/*
	 * In a program with the C library linked in, what has no debug
	 * information is the library's, hundreds of them.
	 */
	if (symbols->has_libc && index->debug)
		return NULL;
	size_t known = index->variables.n, at = 0;
	uint64_t end = 0; /* up to where variables and symbols cover */
	uint32_t unit = UINT32_MAX;
	bool tls = false;
	for (size_t i = 0; i < symbols->data.n; i++) {
		const struct data_symbol *symbol = &symbols->data.data[i];
		if (symbol->tls != tls) {
			tls = symbol->tls;
			end = 0;
		}
		for (; at < known; at++) {
			const struct variable *variable =
				&index->variables.data[at];
			bool other = variable->flags & VARIABLE_TLS;
			if (other > tls ||
			    (other == tls && variable->address > symbol->value))
				break;
			if (other == tls)
				end = MAX(end, variable->address +
						       MAX(variable->size,
							   (uint64_t)1));
		}
		if (!symbol->ours || symbol->value < end)
			continue;
		/* They are of no unit we know: one without a name. */
		if (unit == UINT32_MAX) {
			const char *none = type_text(pool, "");
			if (!none)
				return err_nomem();
			unit = (uint32_t)index->units.n;
			TRY(vec_push(&index->units, none));
		}
		TRY(add_untyped(symbol, pool, unit, index));
		end = symbol->value + MAX(symbol->size, (uint64_t)1);
	}
	sort_variables(index);
	return NULL;
}
