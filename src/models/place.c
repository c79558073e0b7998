/*
 * The working directory under another path. In a mount namespace of the
 * process's own the whole tree of files is there a second time, below an unused
 * empty folder; the process works in the same directory of that tree. So
 * relative paths mean what they did, parents included, and absolute ones, too.
 * Nothing is written anywhere, and all of it ends with the process and its
 * children.
 *
 * It takes the right to mount. Namespaces of users would give that, but other
 * owners of files with it: not done. Optional: programs may compare a path that
 * they were given with where they are.
 */
#include "models/choose_internal.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH ((size_t)4096)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* From sys/mount.h, which does not go with linux/mount.h. */
#define SLAVE (1L << 19)
#define RECURSIVE (1L << 14)

/* Names of folders of this length, and how many; 0: the name. */
static const struct {
	size_t length, n;
	const char *name;
} places[] = {
	{ 60, 4, NULL },
	{ 0, 1, "a folder, 'quoted' & \xc3\xbcml\xc3\xa4uts" },
	{ 250, 4, NULL },
	{ 0, 1, "x" },
};

static bool may_mount(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {};
	return !sys_call(SYS_capget, (long)&head, (long)data, 0, 0, 0, 0) &&
	       data[0].effective >> CAP_SYS_ADMIN & 1;
}

/* "." and ".." only. */
static bool is_empty(const char *path)
{
	char entries[256];
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)path,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0,
			   0, 0);
	if (fd < 0)
		return false;
	/* Two entries of 24 bytes each, and the end. */
	long got = sys_call(SYS_getdents64, fd, (long)entries, sizeof(entries),
			    0, 0, 0);
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return got > 0 && got <= 48;
}

/* A folder that is not needed; NULL: there is none. */
static const char *place_find_base(const char *now)
{
	static const char *const folders[] = { "/media", "/srv", "/mnt" };
	for (size_t i = 0; i < COUNT(folders); i++) {
		const char *rest = text_after((char *)now, folders[i]);
		if ((!rest || (*rest && *rest != '/')) && is_empty(folders[i]))
			return folders[i];
	}
	return NULL;
}

static bool place_append_text(char *path, const char *text)
{
	size_t n = text_length(path), more = text_length(text);
	if (n + more >= PATH)
		return false;
	for (size_t i = 0; i <= more; i++)
		path[n + i] = text[i];
	return true;
}

/* Folders of that name below @path, which becomes that of the last one. */
static bool make_folders(char *path, uint64_t place)
{
	char letters[256];
	for (size_t i = 0; i < places[place].n; i++) {
		const char *name = places[place].name;
		if (!name) {
			for (size_t k = 0; k < places[place].length; k++)
				letters[k] = (char)('a' + (i + k) % 26);
			letters[places[place].length] = '\0';
			name = letters;
		}
		if (!place_append_text(path, "/") ||
		    !place_append_text(path, name) ||
		    sys_call(SYS_mkdirat, AT_FDCWD, (long)path, 0755, 0, 0, 0))
			return false;
	}
	return true;
}

/* All of it, or what was done is of no consequence. */
static bool move_there(const char *base, const char *now, uint64_t place,
		       char *path)
{
	if (sys_call(SYS_unshare, CLONE_NEWNS, 0, 0, 0, 0, 0) ||
	    sys_call(SYS_mount, 0, (long)"/", 0, SLAVE | RECURSIVE, 0, 0))
		return false;
	long tree = sys_call(SYS_open_tree, AT_FDCWD, (long)"/",
			     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | 0x8000, 0, 0,
			     0); /* AT_RECURSIVE */
	if (tree < 0)
		return false;
	path[0] = '\0';
	bool there = !sys_call(SYS_mount, (long)"none", (long)base,
			       (long)"tmpfs", 0, (long)"mode=755", 0);
	bool moved = there && place_append_text(path, base) &&
		     make_folders(path, place) &&
		     !sys_call(SYS_move_mount, tree, (long)"", AT_FDCWD,
			       (long)path, MOVE_MOUNT_F_EMPTY_PATH, 0) &&
		     place_append_text(path, now) &&
		     !sys_call(SYS_chdir, (long)path, 0, 0, 0, 0, 0);
	sys_call(SYS_close, tree, 0, 0, 0, 0, 0);
	if (there && !moved)
		sys_call(SYS_umount2, (long)base, 2, 0, 0, 0, 0);
	return moved;
}

void place_choose(void)
{
	static char variable[PATH + 8] = "PWD=", now[PATH];
	char *path = variable + 4;
	if (!choose_startup(WIRE_MODEL_working_directory) || !may_mount() ||
	    sys_call(SYS_getcwd, (long)now, PATH, 0, 0, 0, 0) < 0 ||
	    now[0] != '/' || text_length(now) > PATH / 4)
		return;
	const char *base = place_find_base(now);
	if (!base)
		return;
	struct choose_keys keys = {};
	uint64_t pick = choose_pick(WIRE_MODEL_working_directory,
				    COUNT(places) + 1, keys);
	if (!pick || !move_there(base, now, pick - 1, path))
		return;
	choose_argument("%s", now);
	choose_did("its path had %zu characters", text_length(path));
	for (char **entry = environ; entry && *entry; entry++) {
		if (text_after(*entry, "PWD="))
			*entry = variable;
	}
}
