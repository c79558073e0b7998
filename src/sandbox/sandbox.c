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
static bool gained_rights; /* in a user namespace of our own */

bool sandbox_is_entered(void)
{
	return entered;
}

static void site_freep(struct sandbox_site *site)
{
	sandbox_mounts_free(&site->mounts);
	for (size_t i = 0; i < site->through.n; i++)
		closep(&site->through.data[i]);
	for (size_t i = 0; i < site->socket_fds.n; i++)
		closep(&site->socket_fds.data[i]);
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

static struct err *sandbox_build(const struct sandbox_options *options,
				 bool whole)
{
	_cleanup_(site_freep) struct sandbox_site site = {
		.options = options,
		.is_whole = whole,
		.layers = -1,
	};
	site.cwd = getcwd(NULL, 0);
	if (!site.cwd)
		return err_errno(errno, "the working directory has no name");
	TRY(whole ? sandbox_build_whole(&site) : sandbox_build_places(&site));
	/* The same folder as before is outside. */
	if (chdir(site.cwd) < 0)
		return err_errno(errno, "cannot enter '%s'", site.cwd);
	return NULL;
}

/* ---- try first ---- */

static void _noreturn_ try_in_child(const struct sandbox_options *options,
				    bool whole, int out)
{
	struct err *err = sandbox_build(options, whole);
	const char *message = err ? err_message(err) : "";
	if (write(out, message, strlen(message)) < 0)
		_exit(2);
	_exit(!!err);
}

/* Whether it would work; there is no way back once it was begun. */
static struct err *sandbox_try(const struct sandbox_options *options,
			       bool whole)
{
	int ends[2], status = 0;
	char message[512];
	size_t n = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	pid_t pid = fork();
	if (pid == 0)
		try_in_child(options, whole, ends[1]);
	close(ends[1]);
	while (pid > 0 && n < sizeof(message) - 1) {
		ssize_t got =
			read(ends[0], message + n, sizeof(message) - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	message[n] = '\0';
	close(ends[0]);
	if (pid < 0)
		return err_errno(errno, "cannot fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return NULL;
	return err_create(ERR_SUITE, "%s",
			  n ? message : "the attempt was ended by a signal");
}

struct err *sandbox_enter(const struct sandbox_options *options)
{
	BUG_ON(entered);
	bool whole = has_right_to_mount();
	struct err *err = sandbox_try(options, whole);
	/* In a container, being root may not be enough to mount. */
	if (err && whole) {
		log_debug(LOG_SANDBOX, "no new root: %s", err_message(err));
		err_destroy(err);
		whole = false;
		err = sandbox_try(options, whole);
	}
	if (err)
		return err;
	TRY(sandbox_build(options, whole));
	entered = true;
	gained_rights = !whole;
	log_debug(LOG_SANDBOX, "entered: %s",
		  whole ? "all file systems are covered"
			: "places of the user are covered");
	return NULL;
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
