#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "sandbox/sandbox_internal.h"

static bool entered;
static bool weak_overlays;
static bool gained_rights;		   /* in a user namespace of our own */
static struct sandbox_disks entered_disks; /* none: layers are in memory */

bool sandbox_is_entered(void)
{
	return entered;
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

static bool has_right_to_mount(void)
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

static struct err *sandbox_build(const struct sandbox_way *way)
{
	_cleanup_(site_freep) struct sandbox_site site = {
		.options = way->options,
		.is_whole = way->whole,
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
	struct err *err = sandbox_build(way);
	const char *message = err ? err_message(err) : "";
	if (write(out, message, strlen(message)) < 0)
		_exit(1);
	_exit(err ? MAX(err_number(err), 1) : 0);
}

static size_t read_message(int fd, char *out, size_t size)
{
	size_t n = 0;
	while (n < size - 1) {
		ssize_t got = read(fd, out + n, size - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	out[n] = '\0';
	return n;
}

/*
 * Whether it would work; there is no way back once it was begun. *@ret_number:
 * errno of what forbids it.
 */
static struct err *sandbox_try(const struct sandbox_way *way, int *ret_number)
{
	int ends[2], status = 0;
	char message[512];
	*ret_number = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	pid_t pid = fork();
	if (pid == 0)
		sandbox_try_in_child(way, ends[1]);
	close(ends[1]);
	size_t n =
		pid < 0 ? 0 : read_message(ends[0], message, sizeof(message));
	close(ends[0]);
	if (pid < 0)
		return err_errno(errno, "cannot fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return NULL;
	*ret_number = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	return err_create(ERR_SUITE, "%s",
			  n ? message : "the attempt was ended by a signal");
}

#define LAYERS_OF_TRY 1000 /* so that those of the try are others */

/* Tries all ways; *@way is then the first that works. */
static struct err *sandbox_choose_way(struct sandbox_way *way)
{
	int number;
	struct err *err = sandbox_try(way, &number);
	/* In a container, being root may not be enough to mount. */
	if (err && way->whole) {
		log_debug(LOG_SANDBOX, "no new root: %s", err_message(err));
		err_destroy(err);
		way->whole = false;
		err = sandbox_try(way, &number);
	}
	if (err && number == ENOTSUP) {
		log_debug(LOG_SANDBOX, "%s", err_message(err));
		err_destroy(err);
		TRY(sandbox_disks_create(&entered_disks));
		way->disks = &entered_disks;
		way->first_layer = LAYERS_OF_TRY;
		err = sandbox_try(way, &number);
		way->first_layer = 0;
	}
	return err;
}

struct err *sandbox_enter(const struct sandbox_options *options)
{
	BUG_ON(entered);
	struct sandbox_way way = {
		.options = options,
		.whole = has_right_to_mount(),
	};
	struct err *err = sandbox_choose_way(&way);
	if (!err)
		err = sandbox_build(&way);
	if (err) {
		sandbox_disks_remove(&entered_disks);
		return err;
	}
	entered = true;
	gained_rights = !way.whole;
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
