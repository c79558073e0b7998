#include "dwarf/unwind.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/log.h"
#include "dwarf/object_internal.h"

/* Frames that are walked; UNWIND_FRAMES of them are returned. */
#define WALK_MAX 128
/* Functions inlined into one another at one place. */
#define INLINED_MAX 32
#define FUNCTION_MAX 4096

/* Numbers of registers in DWARF (System V ABI for x86-64, figure 3.36). */
enum dwarf_register {
	DWARF_RBX = 3,
	DWARF_RBP = 6,
	DWARF_RSP = 7,
	DWARF_R12 = 12,
	DWARF_RIP = 16,
};

/* A file that frames lay in; kept whatever is loaded where. */
struct unwind_file {
	char *path;
	struct object *object; /* NULL: not to be read */
	bool tried;
};

struct mapped {
	size_t file; /* of unwinder.files */
	uint64_t bias;
};

struct unwinder {
	VEC(struct unwind_file) files;
	struct map_text by_path;   /* file */
	VEC(struct mapped) mapped; /* as passed in, which @dwfl is for */
	Dwfl *dwfl;		   /* NULL: none yet */
	bool attached;
	const struct unwind_thread *thread; /* that is being walked */
	VEC(uint64_t) addresses;
	/* For unwinder_outside(). */
	const char *inside;
	uint64_t *outside;
	bool found;
};

/* ---- files ---- */

struct err *unwinder_create(struct unwinder **ret)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	if (!unwinder)
		return err_nomem();
	*ret = unwinder;
	return NULL;
}

static void forget_mapped(struct unwinder *unwinder)
{
	if (unwinder->dwfl)
		dwfl_end(unwinder->dwfl);
	unwinder->dwfl = NULL;
	unwinder->attached = false;
	unwinder->mapped.n = 0;
}

void unwinder_destroy(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	forget_mapped(unwinder);
	vec_free(&unwinder->mapped);
	for (size_t i = 0; i < unwinder->files.n; i++) {
		object_close(unwinder->files.data[i].object);
		free(unwinder->files.data[i].path);
	}
	vec_free(&unwinder->files);
	map_text_free(&unwinder->by_path);
	vec_free(&unwinder->addresses);
	free(unwinder);
}

static struct err *find_file(struct unwinder *unwinder, const char *path,
			     size_t *ret)
{
	uint64_t found;
	if (map_text_get(&unwinder->by_path, path, &found)) {
		*ret = found;
		return NULL;
	}
	_cleanup_(freep) char *copy = strdup(path);
	if (!copy)
		return err_nomem();
	TRY(vec_push(&unwinder->files, (struct unwind_file){ .path = copy }));
	take_ptr(copy);
	*ret = unwinder->files.n - 1;
	return map_text_put(&unwinder->by_path, path, *ret);
}

static struct object *file_object(struct unwind_file *file)
{
	if (!file->tried) {
		file->tried = true;
		struct err *err = object_open(file->path, &file->object);
		if (err)
			err_ignore(err);
	}
	return file->object;
}

/* ---- what unwinding asks for ---- */

static pid_t next_thread(Dwfl *dwfl _unused_, void *data, void **thread)
{
	pid_t next = *thread ? 0 : 1;
	*thread = data;
	return next;
}

static bool get_thread(Dwfl *dwfl _unused_, pid_t tid _unused_, void *data,
		       void **thread)
{
	*thread = data;
	return true;
}

static bool read_memory(Dwfl *dwfl _unused_, Dwarf_Addr address,
			Dwarf_Word *ret, void *data)
{
	const struct unwinder *unwinder = data;
	const struct unwind_thread *thread = unwinder->thread;
	uint64_t offset = address - thread->stack_address;
	if (thread->stack_n < sizeof(*ret) ||
	    offset > thread->stack_n - sizeof(*ret))
		return false;
	memcpy(ret, thread->stack + offset, sizeof(*ret));
	return true;
}

static bool set_registers(Dwfl_Thread *state, void *data)
{
	const struct unwinder *unwinder = data;
	const uint64_t *from = unwinder->thread->registers;
	const Dwarf_Word stack[] = { from[UNWIND_RBP], from[UNWIND_RSP] };
	const Dwarf_Word high[] = { from[UNWIND_R12], from[UNWIND_R13],
				    from[UNWIND_R14], from[UNWIND_R15] };
	const Dwarf_Word rbx = from[UNWIND_RBX], rip = from[UNWIND_RIP];
	return dwfl_thread_state_registers(state, DWARF_RBX, 1, &rbx) &&
	       dwfl_thread_state_registers(state, DWARF_RBP, 2, stack) &&
	       dwfl_thread_state_registers(state, DWARF_R12, 4, high) &&
	       dwfl_thread_state_registers(state, DWARF_RIP, 1, &rip);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/*
 * Rules for unwinding are in the loaded files themselves: no debug files are
 * searched for here. Names and lines come from struct object.
 */
static int unwind_find_elf(Dwfl_Module *module _unused_, void **data _unused_,
			   const char *name _unused_, Dwarf_Addr base _unused_,
			   char **ret_name _unused_, Elf **ret _unused_)
{
	return -1;
}

static int
unwind_find_debuginfo(Dwfl_Module *module _unused_, void **data _unused_,
		      const char *name _unused_, Dwarf_Addr base _unused_,
		      const char *file _unused_, const char *link _unused_,
		      GElf_Word crc _unused_, char **ret _unused_)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = unwind_find_elf,
	.find_debuginfo = unwind_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* ---- what is loaded where ---- */

/* An elfutils module is named by the number of its file. */
static void report_module(Dwfl *dwfl, const char *path, size_t file,
			  uint64_t bias)
{
	char name[24];
	struct stat st;
	snprintf(name, sizeof(name), "%zu", file);
	_cleanup_(closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (dwfl_report_elf(dwfl, name, path, fd, bias, true))
		take_fd(fd);
	else
		log_debug(LOG_DWARF, "%s at 0x%llx: %s", path,
			  (unsigned long long)bias, dwfl_errmsg(-1));
}

static struct err *read_mapped(struct unwinder *unwinder,
			       const struct unwind_thread *thread,
			       bool *ret_same)
{
	size_t n = 0;
	bool same = unwinder->dwfl;
	for (size_t i = 0; i < thread->n_modules && i < UNWIND_MODULES; i++) {
		const struct unwind_module *module = &thread->modules[i];
		struct mapped mapped = { .bias = module->bias };
		if (!module->path || module->path[0] != '/')
			continue;
		TRY(find_file(unwinder, module->path, &mapped.file));
		if (n < unwinder->mapped.n &&
		    unwinder->mapped.data[n].file == mapped.file &&
		    unwinder->mapped.data[n].bias == mapped.bias) {
			n++;
			continue;
		}
		same = false;
		unwinder->mapped.n = n++;
		TRY(vec_push(&unwinder->mapped, mapped));
	}
	*ret_same = same && n == unwinder->mapped.n;
	unwinder->mapped.n = n;
	return NULL;
}

static struct err *unwinder_load_modules(struct unwinder *unwinder,
					 const struct unwind_thread *thread)
{
	bool same;
	struct err *err = read_mapped(unwinder, thread, &same);
	if (err)
		forget_mapped(unwinder);
	if (err || same)
		return err;
	size_t n = unwinder->mapped.n;
	forget_mapped(unwinder);
	unwinder->dwfl = dwfl_begin(&callbacks);
	if (!unwinder->dwfl)
		return err_nomem();
	unwinder->mapped.n = n;
	elf_version(EV_CURRENT);
	dwfl_report_begin(unwinder->dwfl);
	for (size_t i = 0; i < n; i++) {
		const struct mapped *mapped = &unwinder->mapped.data[i];
		report_module(unwinder->dwfl,
			      unwinder->files.data[mapped->file].path,
			      mapped->file, mapped->bias);
	}
	dwfl_report_end(unwinder->dwfl, NULL, NULL);
	unwinder->attached = dwfl_attach_state(unwinder->dwfl, NULL, 1,
					       &thread_callbacks, unwinder);
	if (!unwinder->attached)
		log_debug(LOG_DWARF, "cannot unwind: %s", dwfl_errmsg(-1));
	return NULL;
}

static struct unwind_file *file_at(struct unwinder *unwinder, uint64_t address,
				   uint64_t *ret_bias)
{
	Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, address);
	uint64_t number;
	const char *name = module ? dwfl_module_info(module, NULL, NULL, NULL,
						     NULL, NULL, NULL, NULL)
				  : NULL;
	if (!name || !str_to_u64(name, 10, &number))
		return NULL;
	for (size_t i = 0; i < unwinder->mapped.n; i++) {
		const struct mapped *mapped = &unwinder->mapped.data[i];
		if (mapped->file != number)
			continue;
		/* Programs that are not position-independent stay in place. */
		*ret_bias = mapped->bias;
		return &unwinder->files.data[number];
	}
	return NULL;
}

/* ---- names and lines ---- */

static struct err *add_frame(struct unwind_frames *frames, char *function,
			     const char *file, unsigned line,
			     const char *module)
{
	_cleanup_(freep) char *name = function;
	if (frames->n >= WALK_MAX)
		return NULL;
	_cleanup_(freep) char *place = file ? strdup(file) : NULL;
	if (file && !place)
		return err_nomem();
	struct unwind_frame frame = { name, place, file ? line : 0, module };
	TRY(vec_push(frames, frame));
	take_ptr(name);
	take_ptr(place);
	return NULL;
}

/* Parts that the compiler made of a function ("f.cold", "f.part.0") are it. */
static char *symbol_name(const char *symbol)
{
	const char *part = strchr(symbol, '.');
	if (!part || part == symbol || str_starts(symbol, "_Z"))
		return object_function_name(symbol);
	return strndup(symbol, (size_t)(part - symbol));
}

static char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *linkage = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		linkage = dwarf_formstring(&attr);
	if (linkage)
		return object_function_name(linkage);
	const char *name = dwarf_attr_integrate(die, DW_AT_name, &attr)
				   ? dwarf_formstring(&attr)
				   : NULL;
	return name ? strdup(name) : NULL;
}

/* The function, or inlined one, whose code is at @address inside @die. */
static bool inner_die(Dwarf_Die *die, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die at = *die;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		Dwarf_Die child;
		if (!die_child(&at, &child))
			return false;
		bool found = false;
		do {
			int tag = dwarf_tag(&child);
			found = (tag == DW_TAG_inlined_subroutine ||
				 tag == DW_TAG_lexical_block) &&
				dwarf_haspc(&child, address) == 1;
			if (found && tag == DW_TAG_inlined_subroutine) {
				*ret = child;
				return true;
			}
		} while (!found && die_next(&child));
		if (!found)
			return false;
		at = child;
	}
	return false;
}

static bool call_place(struct object *object, Dwarf_Die *die,
		       const char **ret_file, unsigned *ret_line)
{
	Dwarf_Attribute file, line;
	Dwarf_Word index, number;
	if (!dwarf_attr(die, DW_AT_call_file, &file) ||
	    dwarf_formudata(&file, &index) != 0 ||
	    !dwarf_attr(die, DW_AT_call_line, &line) ||
	    dwarf_formudata(&line, &number) != 0 || number > UINT32_MAX)
		return false;
	*ret_file = object_file_name(object, file.cu, index);
	*ret_line = (unsigned)number;
	return *ret_file;
}

/* The function that has @symbol: also where it is only a part of it. */
static bool function_die(struct object *object,
			 const struct object_symbol *symbol, Dwarf_Die *ret)
{
	struct object_symbol whole;
	char name[FUNCTION_MAX];
	size_t n = strcspn(symbol->name, ".");
	if (!symbol->name[n] || n >= sizeof(name))
		return object_function_die(object, symbol->value, ret);
	memcpy(name, symbol->name, n);
	name[n] = '\0';
	return object_function_die(object, symbol->value, ret) ||
	       (object_symbol(object, name, &whole) &&
		object_function_die(object, whole.value, ret));
}

static struct err *add_frames_at(struct unwind_file *file, uint64_t address,
				 struct unwind_frames *frames)
{
	struct object *object = file_object(file);
	struct object_symbol symbol;
	if (!object)
		return add_frame(frames, NULL, NULL, 0, file->path);
	const char *source = NULL;
	unsigned line = 0;
	if (!object_line(object, address, &source, &line))
		source = NULL;
	bool named = object_symbol_at(object, address, &symbol);
	Dwarf_Die inlined[INLINED_MAX];
	size_t n = 0;
	if (source && named && function_die(object, &symbol, &inlined[0])) {
		while (n + 1 < INLINED_MAX &&
		       inner_die(&inlined[n], address - object->dwarf_bias,
				 &inlined[n + 1]))
			n++;
	}
	for (; n; n--) {
		TRY(add_frame(frames, die_name(&inlined[n]), source, line,
			      file->path));
		if (!call_place(object, &inlined[n], &source, &line))
			source = NULL;
	}
	return add_frame(frames, named ? symbol_name(symbol.name) : NULL,
			 source, line, file->path);
}

/* ---- the walk ---- */

static int unwinder_add_frame(Dwfl_Frame *state, void *data)
{
	struct unwinder *unwinder = data;
	Dwarf_Addr pc;
	bool activation;
	if (!dwfl_frame_pc(state, &pc, &activation) || !pc)
		return DWARF_CB_ABORT;
	/* A return address may be past its function's last instruction. */
	uint64_t code = pc - (activation ? 0 : 1);
	struct err *err = vec_push(&unwinder->addresses, code);
	if (err)
		err_ignore(err);
	return !err && unwinder->addresses.n < WALK_MAX ? DWARF_CB_OK
							: DWARF_CB_ABORT;
}

static void free_frames(const struct unwind_frames *frames, size_t from,
			size_t to)
{
	for (size_t i = from; i < to; i++) {
		free(frames->data[i].function);
		free(frames->data[i].file);
	}
}

static void cut_frames(struct unwind_frames *frames, size_t first)
{
	size_t last = MIN(frames->n, first + UNWIND_FRAMES);
	free_frames(frames, 0, first);
	free_frames(frames, last, frames->n);
	for (size_t i = first; i < last; i++)
		frames->data[i - first] = frames->data[i];
	frames->n = last - first;
}

static struct err *unwinder_walk_stack(struct unwinder *unwinder,
				       const struct unwind_thread *thread,
				       struct unwind_frames *ret)
{
	TRY(unwinder_load_modules(unwinder, thread));
	_cleanup_(unwind_frames_freep) struct unwind_frames frames = {};
	unwinder->addresses.n = 0;
	unwinder->thread = thread;
	if (unwinder->attached)
		dwfl_getthread_frames(unwinder->dwfl, 1, unwinder_add_frame,
				      unwinder);
	unwinder->thread = NULL;
	for (size_t i = 0; i < unwinder->addresses.n; i++) {
		uint64_t address = unwinder->addresses.data[i], bias;
		struct unwind_file *file = file_at(unwinder, address, &bias);
		if (file)
			TRY(add_frames_at(file, address - bias, &frames));
		else
			TRY(add_frame(&frames, NULL, NULL, 0, NULL));
	}
	*ret = frames;
	frames = (struct unwind_frames){};
	return NULL;
}

/* ---- registers ---- */

static int on_frame_outside(Dwfl_Frame *state, void *data)
{
	static const unsigned numbers[UNWIND_REGISTERS] = {
		[UNWIND_RIP] = DWARF_RIP,     [UNWIND_RSP] = DWARF_RSP,
		[UNWIND_RBP] = DWARF_RBP,     [UNWIND_RBX] = DWARF_RBX,
		[UNWIND_R12] = DWARF_R12,     [UNWIND_R13] = DWARF_R12 + 1,
		[UNWIND_R14] = DWARF_R12 + 2, [UNWIND_R15] = DWARF_R12 + 3,
	};
	struct unwinder *unwinder = data;
	Dwarf_Addr pc;
	bool activation;
	uint64_t bias;
	if (!dwfl_frame_pc(state, &pc, &activation) || !pc)
		return DWARF_CB_ABORT;
	const struct unwind_file *file =
		file_at(unwinder, pc - (activation ? 0 : 1), &bias);
	if (file && !strcmp(file->path, unwinder->inside))
		return DWARF_CB_OK;
	unwinder->found = true;
	for (size_t i = 0; i < UNWIND_REGISTERS; i++) {
		Dwarf_Word value = 0;
		unwinder->found &= !dwfl_frame_reg(state, numbers[i], &value);
		unwinder->outside[i] = value;
	}
	return DWARF_CB_ABORT;
}

bool unwinder_outside(struct unwinder *unwinder,
		      const struct unwind_thread *thread, const char *module,
		      uint64_t registers[UNWIND_REGISTERS])
{
	struct err *err = unwinder_load_modules(unwinder, thread);
	unwinder->found = false;
	unwinder->inside = module;
	unwinder->outside = registers;
	unwinder->thread = thread;
	if (!err && unwinder->attached)
		dwfl_getthread_frames(unwinder->dwfl, 1, on_frame_outside,
				      unwinder);
	unwinder->thread = NULL;
	err_ignore(err);
	return unwinder->found;
}

/* ---- the caller ---- */

static bool begins_with_one_of(const char *text, const char *const *starts,
			       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_starts(text, starts[i]))
			return true;
	}
	return false;
}

/* Between the program and what was chosen for it. */
static bool is_below(const struct unwind_thread *thread,
		     const struct unwind_frame *frame)
{
	static const char *const folders[] = {
		"/lib/",     "/lib64/",	    "/lib32/",
		"/usr/lib/", "/usr/lib64/", "/usr/libexec/",
	};
	static const char *const headers[] = { "/usr/include/c++/",
					       "/usr/lib/" };
	if (!frame->module)
		return true;
	const char *name = strrchr(frame->module, '/');
	if (name && str_starts(name, "/libpolygraph-"))
		return true;
	if (frame->file &&
	    begins_with_one_of(frame->file, headers, ARRAY_SIZE(headers)))
		return true;
	const char *program = thread->modules[0].path;
	return !(program && !strcmp(frame->module, program)) &&
	       begins_with_one_of(frame->module, folders, ARRAY_SIZE(folders));
}

struct err *unwinder_callers(struct unwinder *unwinder,
			     const struct unwind_thread *thread,
			     struct unwind_frames *ret)
{
	struct unwind_frames frames = {};
	TRY(unwinder_walk_stack(unwinder, thread, &frames));
	size_t first = 0;
	while (first < frames.n && is_below(thread, &frames.data[first]))
		first++;
	cut_frames(&frames, first);
	*ret = frames;
	return NULL;
}

void unwind_frames_free(struct unwind_frames *frames)
{
	free_frames(frames, 0, frames->n);
	vec_free(frames);
}
