#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "sandbox/sandbox_internal.h"

#define MOUNTS_MAX 4096

void sandbox_mounts_free(struct sandbox_mounts *mounts)
{
	for (size_t i = 0; i < mounts->n; i++) {
		free(mounts->data[i].path);
		closep(&mounts->data[i].fd);
	}
	vec_free(mounts);
}

/* File systems that show what the kernel has, or devices: no files of users. */
static bool mount_has_files(const char *type)
{
	static const char *const others[] = {
		"autofs",    "binder",	 "binfmt_misc", "bpf",
		"cgroup",    "cgroup2",	 "configfs",	"debugfs",
		"devpts",    "devtmpfs", "efivarfs",	"fusectl",
		"hugetlbfs", "mqueue",	 "nfsd",	"nsfs",
		"proc",	     "pstore",	 "rpc_pipefs",	"securityfs",
		"selinuxfs", "smackfs",	 "sysfs",	"tracefs",
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(others[i], type))
			return false;
	}
	return true;
}

/* The kernel writes blanks, tabs, newlines and backslashes as \ooo. */
static void mount_unescape(char *text)
{
	char *to = text;
	for (const char *from = text; *from;) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
		    from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
		    from[3] <= '7') {
			*to++ = (char)((from[1] - '0') * 64 +
				       (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static bool mount_has_option(char *options, const char *wanted)
{
	char *next;
	for (char *word = strtok_r(options, ",", &next); word;
	     word = strtok_r(NULL, ",", &next)) {
		if (!strcmp(word, wanted))
			return true;
	}
	return false;
}

/* "36 35 98:0 /root /path rw,noatime master:1 - ext3 /dev/root rw" */
static bool mount_parse_line(char *line, struct sandbox_mount *ret)
{
	char *fields[6], *next;
	char *rest = strstr(line, " - ");
	if (!rest)
		return false;
	*rest = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &next);
		if (!fields[i])
			return false;
	}
	const char *type = strtok_r(rest + 3, " ", &next);
	if (!type)
		return false;
	mount_unescape(fields[4]);
	*ret = (struct sandbox_mount){
		.path = fields[4],
		.fd = -1,
		.has_files = mount_has_files(type),
		.read_only = mount_has_option(fields[5], "ro"),
	};
	return *ret->path == '/';
}

struct err *sandbox_mounts_parse(char *text, struct sandbox_mounts *ret)
{
	char *next;
	for (char *line = strtok_r(text, "\n", &next);
	     line && ret->n < MOUNTS_MAX; line = strtok_r(NULL, "\n", &next)) {
		struct sandbox_mount mount;
		if (!mount_parse_line(line, &mount))
			continue;
		/* What is mounted on the same place later hides it. */
		for (size_t i = ret->n; i-- > 0;) {
			if (strcmp(ret->data[i].path, mount.path) != 0)
				continue;
			free(ret->data[i].path);
			memmove(&ret->data[i], &ret->data[i + 1],
				(ret->n - i - 1) * sizeof(*ret->data));
			ret->n--;
		}
		mount.path = strdup(mount.path);
		if (!mount.path)
			return err_nomem();
		struct err *err = vec_push(ret, mount);
		if (err) {
			free(mount.path);
			return err;
		}
	}
	return NULL;
}

/* The others are hidden below something, or closed to us. */
static bool mount_open(struct sandbox_mount *mount)
{
	struct stat st;
	closep(&mount->fd);
	mount->fd = open(mount->path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (mount->fd < 0 || fstat(mount->fd, &st) < 0) {
		log_debug(LOG_SANDBOX, "mount '%s' is left out: %s",
			  mount->path, strerror(errno));
		return false;
	}
	mount->is_folder = S_ISDIR(st.st_mode);
	return true;
}

void sandbox_mounts_open(struct sandbox_mounts *mounts)
{
	size_t kept = 0;
	for (size_t i = 0; i < mounts->n; i++) {
		struct sandbox_mount *mount = &mounts->data[i];
		if (mount_open(mount)) {
			mounts->data[kept++] = *mount;
			continue;
		}
		free(mount->path);
		closep(&mount->fd);
	}
	mounts->n = kept;
}

/* ---- questions ---- */

const struct sandbox_mount *
sandbox_mounts_find(const struct sandbox_mounts *mounts, const char *path)
{
	const struct sandbox_mount *best = NULL;
	for (size_t i = 0; i < mounts->n; i++) {
		const struct sandbox_mount *mount = &mounts->data[i];
		if ((!strcmp(mount->path, path) ||
		     path_is_below(path, mount->path)) &&
		    (!best || strlen(mount->path) >= strlen(best->path)))
			best = mount;
	}
	return best;
}

bool sandbox_mounts_has(const struct sandbox_mounts *mounts, const char *path)
{
	const struct sandbox_mount *mount = sandbox_mounts_find(mounts, path);
	return mount && !strcmp(mount->path, path);
}

bool sandbox_mounts_below(const struct sandbox_mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->n; i++) {
		const char *mount = mounts->data[i].path;
		if (strcmp(mount, path) != 0 && path_is_below(mount, path))
			return true;
	}
	return false;
}

/* ---- reading ---- */

/* In a chroot it may be no mount, or none that is listed. */
static struct err *mounts_add_root(struct sandbox_mounts *mounts)
{
	struct statvfs st;
	for (size_t i = 0; i < mounts->n; i++) {
		if (!strcmp(mounts->data[i].path, "/"))
			return NULL;
	}
	if (statvfs("/", &st) < 0)
		return err_errno(errno, "cannot examine the root folder");
	struct sandbox_mount root = {
		.path = strdup("/"),
		.fd = -1,
		.has_files = true,
		.read_only = st.f_flag & ST_RDONLY,
	};
	if (!root.path)
		return err_nomem();
	struct err *err = vec_push(mounts, root);
	if (err)
		free(root.path);
	return err;
}

static int mount_compare(const void *a, const void *b)
{
	const struct sandbox_mount *one = a, *other = b;
	return path_compare(one->path, other->path);
}

struct err *sandbox_mounts_list(struct sandbox_mounts *ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(proc_read(getpid(), 0, "mountinfo", &text));
	return sandbox_mounts_parse(text.s, ret);
}

struct err *sandbox_mounts_read(struct sandbox_mounts *ret)
{
	TRY(sandbox_mounts_list(ret));
	TRY(mounts_add_root(ret));
	qsort(ret->data, ret->n, sizeof(*ret->data), mount_compare);
	return NULL;
}
