/* What a held-back call means: its row, its arguments, its names. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/macro.h"
#include "base/str.h"
#include "follow/follow_internal.h"
#include "tracee/tracee.h"

/* Since Linux 2.6.39 / 5.8; as the kernel numbers them. */
#define TEMPORARY (O_TMPFILE & ~O_DIRECTORY)

struct caller {
	struct follow *follow;
	pid_t tid;
	const struct call *call;
	const uint64_t *args;
	struct follow_event event;
	bool nameless;
};

static uint64_t caller_argument(const struct caller *caller, enum arg which)
{
	return which ? caller->args[which - 1] : 0;
}

static bool follows_last(const struct caller *caller)
{
	uint64_t at = caller_argument(caller, caller->call->at);
	uint64_t flags = caller->event.flags;
	switch (caller->call->last) {
	case LAST_NO:
		return false;
	case LAST_YES:
		return true;
	case LAST_OPEN:
		return !(flags & O_NOFOLLOW) &&
		       (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	case LAST_AT_NOFOLLOW:
		return !(at & AT_SYMLINK_NOFOLLOW);
	case LAST_AT_FOLLOW:
		return at & AT_SYMLINK_FOLLOW;
	}
	BUG("last %d", caller->call->last);
}

static const char *caller_settle_name(struct caller *caller, enum found found,
				      const char *path)
{
	if (found == NAMELESS)
		caller->nameless = true;
	return found == FOUND ? path : NULL;
}

static const char *by_descriptor(struct caller *caller, int fd, char *out)
{
	struct caller_names *names = &caller->follow->names;
	return caller_settle_name(
		caller, names_descriptor(names, caller->tid, fd, out), out);
}

/* The name that lies in names->text. Of the follower's two it is the one @out. */
static const char *by_name(struct caller *caller, int dir, bool follow,
			   char *out)
{
	struct caller_names *names = &caller->follow->names;
	bool first = out == caller->follow->path;
	char *given = first ? caller->follow->given : caller->follow->given2;
	if (dir == AT_FDCWD && names->text[0] != '/')
		caller->event.relative = true;
	if (names_given(names, caller->tid, dir, given) == FOUND)
		*(first ? &caller->event.given : &caller->event.given2) = given;
	return caller_settle_name(
		caller, names_resolve(names, caller->tid, dir, follow, out),
		out);
}

static const char *caller_name_of(struct caller *caller, enum arg dir_arg,
				  enum arg path_arg, bool follow, char *out)
{
	struct caller_names *names = &caller->follow->names;
	int dir = dir_arg ? (int)caller_argument(caller, dir_arg) : AT_FDCWD;
	if (!path_arg)
		return dir_arg ? by_descriptor(caller, dir, out) : NULL;
	uint64_t path = caller_argument(caller, path_arg);
	/* utimensat(2), futimesat(2): no path, the descriptor itself. */
	bool itself = !path && dir_arg;
	if (!itself && !names_text(names, caller->tid, path))
		return NULL;
	/* "" means the same with AT_EMPTY_PATH, and for readlinkat(2). */
	if (!itself && !names->text[0]) {
		if (!dir_arg)
			return NULL;
		itself = caller_argument(caller, caller->call->at) &
				 AT_EMPTY_PATH ||
			 caller->call->number == SYS_readlinkat;
		if (!itself)
			return NULL;
		if (dir == AT_FDCWD)
			memcpy(names->text, ".", 2);
	}
	if (itself && dir != AT_FDCWD)
		return by_descriptor(caller, dir, out);
	if (itself && !path)
		return NULL;
	return by_name(caller, dir, follow, out);
}

static bool read_how(struct caller *caller)
{
	struct open_how how = {};
	if (names_read(caller->tid, caller->args[2], &how, sizeof(how)) !=
	    sizeof(how))
		return false;
	caller->event.flags = how.flags;
	caller->event.mode = (unsigned)how.mode;
	return true;
}

/* A socket's address: the name of a file goes to names->text. */
static bool read_address(struct caller *caller)
{
	struct caller_names *names = &caller->follow->names;
	struct sockaddr_un address = {};
	size_t n = MIN((size_t)(uint32_t)caller->args[2], sizeof(address));
	if (names_read(caller->tid, caller->args[1], &address, n) != n ||
	    n <= offsetof(struct sockaddr_un, sun_path) ||
	    address.sun_family != AF_UNIX || !address.sun_path[0])
		return false;
	memcpy(names->text, address.sun_path, sizeof(address.sun_path));
	names->text[sizeof(address.sun_path)] = '\0';
	return true;
}

static void caller_report_call(struct caller *caller, enum follow_kind kind)
{
	const struct follow_options *options = &caller->follow->options;
	caller->event.kind = kind;
	options->sink(options->data, &caller->event);
}

static bool open_flags_write(uint64_t flags)
{
	return !(flags & O_PATH) && flags & (O_ACCMODE | O_CREAT | O_TRUNC);
}

static void tell_file(struct caller *caller, bool changes, bool reads)
{
	struct follow *follow = caller->follow;
	const struct call *call = caller->call;
	struct follow_event *event = &caller->event;
	BUG_ON(!follow);
	event->flags = caller_argument(caller, call->flags);
	event->mode = (unsigned)caller_argument(caller, call->mode);
	if (call->shape == SHAPE_CREAT)
		event->flags = O_CREAT | O_WRONLY | O_TRUNC;
	bool known = call->shape != SHAPE_OPENAT2 || read_how(caller);
	if (call->kind == FOLLOW_OPEN && changes && known) {
		if ((event->flags & TEMPORARY) && !(event->flags & O_PATH))
			return;
		changes = open_flags_write(event->flags);
		if (!changes && !reads)
			return;
	}
	bool follows = follows_last(caller);
	if (call->shape == SHAPE_ADDRESS)
		event->path = by_name(caller, AT_FDCWD, follows, follow->path);
	else
		event->path = caller_name_of(caller, call->dir, call->path,
					     follows, follow->path);
	if (call->path2)
		event->path2 = caller_name_of(caller, call->dir2, call->path2,
					      false, follow->path2);
	/* A file without a name may get one: O_TMPFILE, then linkat(2). */
	if (caller->nameless && !event->path && !event->path2)
		return;
	if (follow->options.flags & FOLLOW_STATES && event->path &&
	    str_starts(event->path, "/dev/shm/"))
		event->states = STATE_IPC;
	caller_report_call(caller, changes ? call->kind : call->read_kind);
}

/* What the call may do to what we know of names. */
static void look_ahead(struct caller *caller)
{
	struct caller_names *names = &caller->follow->names;
	const struct call *call = caller->call;
	folders_moved(&names->folders, caller->tid);
	if (call->moves)
		folders_move(&names->folders, caller->tid);
	if (call->roots ||
	    (call->number == SYS_clone && caller->args[0] & CLONE_NEWNS))
		names->careful = true;
}

static bool follow_is_folder(const char *path)
{
	struct stat found;
	return !path || (lstat(path, &found) == 0 && S_ISDIR(found.st_mode));
}

static void note_moves(struct caller *caller)
{
	const struct follow_event *event = &caller->event;
	bool moves = false;
	if (event->kind == FOLLOW_RENAME)
		moves = follow_is_folder(event->path) ||
			(event->flags && follow_is_folder(event->path2));
	else if (event->kind == FOLLOW_REMOVE)
		moves = event->number == SYS_rmdir ||
			event->flags & AT_REMOVEDIR;
	if (moves)
		folders_move(&caller->follow->names.folders, caller->tid);
}

void follow_tell(struct follow *follow, const struct seccomp_notif *notif)
{
	unsigned number = (unsigned)notif->data.nr;
	if (filter_notes_unseen(follow, &notif->data))
		return;
	const struct call *call = number < ARRAY_SIZE(follow->calls)
					  ? follow->calls[number]
					  : NULL;
	if (!call)
		return;
	uint64_t args[6];
	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = notif->data.args[i];
	struct caller caller = {
		.follow = follow,
		.tid = (pid_t)notif->pid,
		.call = call,
		.args = args,
		.event = { .number = number, .tid = (pid_t)notif->pid },
	};
	const unsigned flags = follow->options.flags;
	const bool files = flags & FOLLOW_FILES, states = flags & FOLLOW_STATES;
	const bool asked = flags & FOLLOW_READS;
	bool changes = files && when_holds(&call->changes, args);
	bool reads = files && asked && when_holds(&call->reads, args);
	bool sets = states && when_holds(&call->sets, args);
	bool asks = states && asked && when_holds(&call->asks, args);
	look_ahead(&caller);

	if (call->shape == SHAPE_ADDRESS) {
		if (read_address(&caller))
			sets = asks = false;
		else
			changes = reads = false;
	}
	if (changes || reads)
		tell_file(&caller, changes, reads);
	note_moves(&caller);
	if (!sets && !asks)
		return;
	caller.event = (struct follow_event){ .number = number,
					      .tid = caller.tid,
					      .args = { args[0], args[1] } };
	caller.event.states = call->states;
	if (sets)
		caller_report_call(&caller, FOLLOW_STATE);
	caller.event.states = call->looks;
	if (asks)
		caller_report_call(&caller, FOLLOW_LOOKED);
}

/* Does opening it wait for somebody? Then its caller has to expect EINTR. */
static bool open_waits(struct caller_names *names, const struct thread *thread,
		       const struct call *call)
{
	const struct regs *regs = &thread->regs;
	char path[PATH_MAX];
	struct stat found;
	if (!call->path)
		return true;
	int dir = call->dir ? (int)regs_syscall_arg(regs, call->dir - A0)
			    : AT_FDCWD;
	if (!names_text(names, thread->tid,
			regs_syscall_arg(regs, call->path - A0)))
		return false;
	if (names_resolve(names, thread->tid, dir, true, path) != FOUND)
		return true;
	return stat(path, &found) == 0 && !S_ISREG(found.st_mode) &&
	       !S_ISDIR(found.st_mode);
}

bool follow_again(const struct thread *thread)
{
	const struct call *call = NULL;
	for (size_t i = 0; i < follow_calls_n; i++) {
		if (follow_calls[i].number == regs_syscall(&thread->regs))
			call = &follow_calls[i];
	}
	if (!call || !call->waits)
		return call;
	if (call->kind != FOLLOW_OPEN || !call->changes.op)
		return false;
	_cleanup_(freep) struct caller_names *names = calloc(1, sizeof(*names));
	if (!names)
		return false;
	struct err *err = names_open(names);
	names->careful = true;
	bool again = !err && !open_waits(names, thread, call);
	names_close(names);
	err_ignore(err);
	return again;
}
