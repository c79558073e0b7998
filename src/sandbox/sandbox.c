#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "sandbox/sandbox_internal.h"

static bool entered;
static bool weak_overlays;
static struct strv let_through;		   /* folders, absolute */
static bool gained_rights;		   /* in a user namespace of our own */
static struct sandbox_disks entered_disks; /* none: layers are in memory */

bool sandbox_is_entered(void)
{
	return entered;
}

struct err *sandbox_let_through(const char *folder)
{
	return strv_add(&let_through, folder);
}

bool sandbox_goes_through(const char *path)
{
	for (size_t i = 0; i < let_through.n; i++) {
		if (path_is_below(path, let_through.data[i]))
			return true;
	}
	return false;
}

bool sandbox_has_weak_overlays(void)
{
	return weak_overlays;
}

static void site_freep(struct sandbox_site *site)
{
	sandbox_mounts_free(&site->mounts);
	for (size_t i = 0; i < site->through.n; i++)
		closep(&site->through.data[i]);
	for (size_t i = 0; i < site->socket_fds.n; i++)
		closep(&site->socket_fds.data[i]);
	for (size_t i = 0; i < site->disk_fds.n; i++)
		closep(&site->disk_fds.data[i]);
	vec_free(&site->disk_fds);
	vec_free(&site->through);
	vec_free(&site->socket_fds);
	strv_free(&site->sockets);
	closep(&site->layers);
	free(site->cwd);
}

bool sandbox_may_mount(void)
{
	_cleanup_(str_freep) struct str status = STR_INIT;
	uint64_t capabilities = 0;
	struct err *err = proc_read(getpid(), 0, "status", &status);
	if (err) {
		err_ignore(err);
		return false;
	}
	return proc_status_number(status.s, "CapEff", 16, &capabilities) &&
	       capabilities >> CAP_SYS_ADMIN & 1;
}

/* How it is built. */
struct sandbox_way {
	const struct sandbox_options *options;
	bool whole;
	size_t first_layer;
	const struct sandbox_disks *disks; /* NULL: layers are in memory */
};

static struct err *sandbox_build(const struct sandbox_way *way, bool is_tried)
{
	_cleanup_(site_freep) struct sandbox_site site = {
		.options = way->options,
		.is_whole = way->whole,
		.is_tried = is_tried,
		.layers = -1,
		.n_layers = way->first_layer,
		.disks = way->disks,
	};
	site.cwd = getcwd(NULL, 0);
	if (!site.cwd)
		return err_errno(errno, "the working directory has no name");
	TRY(way->whole ? sandbox_build_whole(&site)
		       : sandbox_build_places(&site));
	/* The same folder as before is outside. */
	if (chdir(site.cwd) < 0)
		return err_errno(errno, "cannot enter '%s'", site.cwd);
	weak_overlays = site.is_weak;
	return NULL;
}

/* ---- try first ---- */

static void _noreturn_ sandbox_try_in_child(const struct sandbox_way *way,
					    int out)
{
	struct err *err = sandbox_build(way, true);
	const char *message = err ? err_message(err) : "";
	uint8_t number = err ? (uint8_t)MAX(err_number(err), 1) : 0;
	if (write(out, &number, sizeof(number)) != sizeof(number) ||
	    write(out, message, strlen(message)) < 0)
		_exit(1);
	_exit(0);
}

static size_t read_message(int fd, uint8_t *out, size_t size)
{
	size_t n = 0;
	while (n < size) {
		ssize_t got = read(fd, out + n, size - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
		if (!out[0])
			break; /* it worked: nothing follows */
	}
	return n;
}

/*
 * Whether it would work. There is no safe way back: a process cannot leave a
 * user namespace, and returning to the mounts of before may be forbidden and
 * makes the root folder that of all mounts, whatever it was. *@ret_number: errno
 * of what forbids it. Ending a namespace takes the kernel some time, so nobody
 * waits for the child, which is given to our parent, the guard.
 */
static struct err *sandbox_try(const struct sandbox_way *way, int *ret_number)
{
	int ends[2];
	uint8_t message[512];
	*ret_number = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		sandbox_try_in_child(way, ends[1]);
	int number = errno;
	close(ends[1]);
	size_t n =
		pid < 0 ? 0 : read_message(ends[0], message, sizeof(message));
	close(ends[0]);
	if (pid < 0)
		return err_errno(number, "cannot fork");
	if (n && !message[0])
		return NULL;
	if (!n)
		return err_create(ERR_SUITE, "the attempt was killed");
	*ret_number = message[0];
	return err_create(ERR_SUITE, "%.*s", (int)(n - 1),
			  (const char *)message + 1);
}

#define LAYERS_OF_TRY 1000 /* so that those of the try are others */

/* In a user namespace. Returns what forbids it. */
static struct err *sandbox_try_places(struct sandbox_way *way)
{
	int number;
	struct err *err = sandbox_try(way, &number);
	if (!err || number != ENOTSUP)
		return err;
	log_debug(LOG_SANDBOX, "%s", err_message(err));
	err_destroy(err);
	TRY(sandbox_disks_create(&entered_disks));
	way->disks = &entered_disks;
	way->first_layer = LAYERS_OF_TRY;
	err = sandbox_try(way, &number);
	way->first_layer = 0;
	return err;
}

static struct err *sandbox_choose_way(struct sandbox_way *way)
{
	int number;
	way->whole = sandbox_may_mount();
	if (way->whole) {
		struct err *err = sandbox_try(way, &number);
		if (!err)
			return NULL;
		/* In a container, being root may not be enough to mount. */
		log_debug(LOG_SANDBOX, "no new root: %s", err_message(err));
		err_destroy(err);
		way->whole = false;
	}
	return sandbox_try_places(way);
}

struct err *sandbox_enter(const struct sandbox_options *options,
			  struct err **ret_forbidden)
{
	struct sandbox_way way = { .options = options };
	BUG_ON(entered);
	/* While it can be asked for. */
	proc_own_folder();
	struct err *err = sandbox_choose_way(&way);
	if (err) {
		sandbox_disks_remove(&entered_disks);
		*ret_forbidden = err;
		return NULL;
	}
	err = sandbox_build(&way, false);
	if (err) {
		sandbox_disks_remove(&entered_disks);
		return err_prefix(err, "the sandbox");
	}
	*ret_forbidden = NULL;
	entered = true;
	gained_rights = !way.whole;
	weak_overlays |= !way.whole;
	log_debug(LOG_SANDBOX, "entered: %s%s",
		  way.whole ? "all file systems are covered"
			    : "places of the user are covered",
		  way.disks ? ", with layers on a disk" : "");
	return NULL;
}

void sandbox_leave(void)
{
	sandbox_disks_remove(&entered_disks);
}

void sandbox_give_up_rights(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = {};
	if (!gained_rights)
		return;
	if (syscall(SYS_capset, &header, none) < 0)
		log_debug(LOG_SANDBOX, "capabilities are not given up: %s",
			  strerror(errno));
	/* The kernel closes our /proc files to others whenever they change. */
	prctl(PR_SET_DUMPABLE, 1);
	gained_rights = false;
}
