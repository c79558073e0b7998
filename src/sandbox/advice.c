/* What would allow a sandbox where there is none. */
#include <string.h>

#include "base/in_container.h"
#include "base/path.h"
#include "sandbox/sandbox_internal.h"

/* Settings of the system that forbid namespaces to ordinary users. */
static const struct {
	const char *path;
	char forbids;
	const char *advice;
} settings[] = {
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
	  "AppArmor restricts user namespaces here: install polygraph's "
	  "profile (docs/sandbox.md), or sudo sysctl "
	  "kernel.apparmor_restrict_unprivileged_userns=0" },
	{ "/proc/sys/kernel/unprivileged_userns_clone", '0',
	  "to allow one: sudo sysctl kernel.unprivileged_userns_clone=1" },
	{ "/proc/sys/user/max_user_namespaces", '0',
	  "to allow one: sudo sysctl user.max_user_namespaces=10000" },
};

static bool setting_is(const char *path, char value)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	struct err *err = file_read(path, 4096, &text, &n);
	if (err) {
		err_ignore(err); /* not every kernel has it */
		return false;
	}
	return text[0] == value && (!text[1] || text[1] == '\n');
}

/* Of a chroot that is a mount itself, nothing tells ordinary users. */
static bool root_is_mounted(void)
{
	struct sandbox_mounts mounts = {};
	struct err *err = sandbox_mounts_list(&mounts);
	bool found = err || sandbox_mounts_has(&mounts, "/");
	if (err)
		err_ignore(err);
	sandbox_mounts_free(&mounts);
	return found;
}

const char *sandbox_advice(void)
{
	if (in_container())
		return "start the container with " CONTAINER_FLAGS_SANDBOX;
	if (!root_is_mounted())
		return "in a chroot only root can have one";
	for (size_t i = 0; !sandbox_may_mount() && i < ARRAY_SIZE(settings);
	     i++) {
		if (setting_is(settings[i].path, settings[i].forbids))
			return settings[i].advice;
	}
	return "docs/sandbox.md says how to allow one";
}
