#include "dwarf/frames.h"

#include <elfutils/libdwfl.h>

#include "base/log.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

struct frames_walk {
	Dwfl *dwfl;
	bool (*visit)(void *data, const struct frame *frame);
	void *data;
	unsigned count;
};

static void dwfl_endp(Dwfl **dwfl)
{
	if (*dwfl)
		dwfl_end(*dwfl);
}

static int frames_add_frame(Dwfl_Frame *state, void *data)
{
	struct frames_walk *walk = data;
	Dwarf_Addr pc;
	bool activation;
	if (!dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;

	/* A return address may be past its function's last instruction. */
	struct frame frame = { .pc = pc, .code = pc - (activation ? 0 : 1) };
	Dwfl_Module *module = dwfl_addrmodule(walk->dwfl, frame.code);
	if (module) {
		dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL,
				 &frame.module, NULL);
		frame.function = dwfl_module_addrname(module, frame.code);
	}
	if (!walk->visit(walk->data, &frame) || ++walk->count >= FRAMES_MAX)
		return DWARF_CB_ABORT;
	return DWARF_CB_OK;
}

struct err *frames_walk(pid_t pid, pid_t tid,
			bool (*visit)(void *data, const struct frame *frame),
			void *data)
{
	_cleanup_(dwfl_endp) Dwfl *dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return err_nomem();
	dwfl_report_begin(dwfl);
	if (dwfl_linux_proc_report(dwfl, pid) != 0 ||
	    dwfl_report_end(dwfl, NULL, NULL) != 0 ||
	    dwfl_linux_proc_attach(dwfl, pid, true) != 0)
		return err_create(ERR_INTERNAL,
				  "cannot read the stack of process %d: %s",
				  pid, dwfl_errmsg(-1));
	struct frames_walk walk = { .dwfl = dwfl,
				    .visit = visit,
				    .data = data };
	int result = dwfl_getthread_frames(dwfl, tid, frames_add_frame, &walk);
	if (result < 0 && !walk.count)
		return err_create(ERR_INTERNAL,
				  "cannot unwind the stack of thread %d: %s",
				  tid, dwfl_errmsg(-1));
	return NULL;
}
