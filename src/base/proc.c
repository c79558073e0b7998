#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"

/* 65,530 mappings, which is what a process may have, with names of 1 KiB. */
#define TEXT_LIMIT ((size_t)64 << 20)

/* ---- files ---- */

static void format_path(pid_t pid, pid_t tid, const char *name, char out[96])
{
	if (tid)
		snprintf(out, 96, "/proc/%d/task/%d/%.48s", pid, tid, name);
	else
		snprintf(out, 96, "/proc/%d/%.48s", pid, name);
}

int proc_open(pid_t pid, pid_t tid, const char *name, int flags)
{
	char path[96];
	format_path(pid, tid, name, path);
	return open(path, flags | O_CLOEXEC);
}

static struct err *read_text(int fd, bool whole, struct str *ret)
{
	char chunk[16384];
	ret->n = 0;
	TRY(str_append(ret, ""));
	for (;;) {
		ssize_t got = pread(fd, chunk, sizeof(chunk), (off_t)ret->n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(errno, "cannot read a file of /proc");
		if (!got)
			return NULL;
		if (ret->n + (size_t)got > TEXT_LIMIT)
			return err_create(ERR_INTERNAL,
					  "a file of /proc is larger than %zu "
					  "bytes",
					  TEXT_LIMIT);
		TRY(str_append_n(ret, chunk, (size_t)got));
		if (whole && (size_t)got < sizeof(chunk))
			return NULL;
	}
}

struct err *proc_read_fd(int fd, struct str *ret)
{
	return read_text(fd, false, ret);
}

struct err *proc_read_whole_fd(int fd, struct str *ret)
{
	return read_text(fd, true, ret);
}

struct err *proc_read(pid_t pid, pid_t tid, const char *name, struct str *ret)
{
	char path[96];
	format_path(pid, tid, name, path);
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(errno, "cannot open '%s'", path);
	return err_prefix(proc_read_fd(fd, ret), "'%s'", path);
}

/* A file that is made by one read; "" where there is none. */
static bool read_small(int fd, char *out, size_t n)
{
	ssize_t got;
	do {
		got = fd < 0 ? 0 : pread(fd, out, n - 1, 0);
	} while (got < 0 && errno == EINTR);
	out[MAX(got, (ssize_t)0)] = '\0';
	return got > 0;
}

const char *proc_own_folder(void)
{
	static char folder[4096];
	static bool known;
	if (known)
		return folder;
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	folder[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(folder, '/');
	folder[slash == folder ? 1 : slash ? slash - folder : 0] = '\0';
	known = true;
	return folder;
}

/* ---- maps ---- */

/* A number and the character after it; sscanf() is far slower. */
static bool take_number(const char **at, unsigned base, char after,
			uint64_t *ret)
{
	const char *start = *at;
	uint64_t value = 0;
	for (;; (*at)++) {
		unsigned c = (unsigned char)**at, digit = 16;
		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		if (digit >= base)
			break;
		value = value * base + digit;
	}
	if (*at == start || **at != after)
		return false;
	(*at)++;
	*ret = value;
	return true;
}

/* The kernel's \012 is a newline (seq_file_path() of fs/proc/task_mmu.c). */
static void restore_newlines(char *path)
{
	char *to = strchr(path, '\\');
	for (const char *from = to; from && (*to = *from); to++, from++) {
		if (!strncmp(from, "\\012", 4)) {
			*to = '\n';
			from += 3;
		}
	}
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE    PATH" */
static bool parse_mapping(char *line, struct proc_mapping *ret)
{
	uint64_t start, end, offset, major_, minor_, inode;
	const char *at = line;
	if (!take_number(&at, 16, '-', &start) ||
	    !take_number(&at, 16, ' ', &end) || end <= start ||
	    strnlen(at, 5) < 5)
		return false;
	const char *rights = at;
	at += 5;
	if (!take_number(&at, 16, ' ', &offset) ||
	    !take_number(&at, 16, ':', &major_) ||
	    !take_number(&at, 16, ' ', &minor_) ||
	    !take_number(&at, 10, ' ', &inode))
		return false;
	char *path = line + (at - line);
	path += strspn(path, " ");
	restore_newlines(path);
	*ret = (struct proc_mapping){
		.start = start,
		.end = end,
		.offset = offset,
		.inode = inode,
		.device = makedev((unsigned)major_, (unsigned)minor_),
		.readable = rights[0] == 'r',
		.writable = rights[1] == 'w',
		.executable = rights[2] == 'x',
		.shared = rights[3] == 's',
		.path = path,
	};
	return true;
}

bool proc_next_mapping(char **at, struct proc_mapping *ret)
{
	while (*at && **at) {
		char *line = *at;
		char *end = line + strcspn(line, "\n");
		*at = *end ? end + 1 : end;
		*end = '\0';
		if (parse_mapping(line, ret))
			return true;
		log_debug(LOG_BASE, "not a mapping: '%s'", line);
	}
	return false;
}

/* ---- names of files on an overlay over an overlay ---- */

struct proc_folder {
	dev_t device;
	char *path;
};

/* For the whole life of the program: what is mounted stays. */
static VEC(struct proc_folder) proc_folders;

struct err *proc_add_folder(dev_t device, const char *folder)
{
	char *path = strdup(strcmp(folder, "/") != 0 ? folder : "");
	if (!path)
		return err_nomem();
	struct err *err =
		vec_push(&proc_folders, (struct proc_folder){ device, path });
	if (err)
		free(path);
	return err;
}

static bool is_path_of(const struct proc_mapping *mapping)
{
	struct stat st;
	return stat(mapping->path, &st) == 0 && st.st_dev == mapping->device &&
	       st.st_ino == mapping->inode;
}

/* The first folder in which there is such a file; else the first. */
static struct err *move_path(struct proc_mapping *mapping, struct strv *moved)
{
	_cleanup_(freep) char *chosen = NULL;
	if (mapping->path[0] != '/' || is_path_of(mapping))
		return NULL;
	for (size_t i = 0; i < proc_folders.n; i++) {
		const struct proc_folder *folder = &proc_folders.data[i];
		_cleanup_(freep) char *path = NULL;
		if (folder->device != mapping->device)
			continue;
		TRY(str_format(&path, "%s%s", folder->path, mapping->path));
		bool found = access(path, F_OK) == 0;
		if (!found && chosen)
			continue;
		free(chosen);
		chosen = take_ptr(path);
		if (found)
			break;
	}
	if (!chosen)
		return NULL;
	mapping->path = chosen;
	return strv_take(moved, take_ptr(chosen));
}

struct err *proc_read_maps(pid_t pid, struct proc_maps *ret)
{
	_cleanup_(proc_maps_freep) struct proc_maps maps = {};
	struct proc_mapping mapping;
	TRY(proc_read(pid, 0, "maps", &maps.text));
	for (char *at = maps.text.s; proc_next_mapping(&at, &mapping);) {
		if (proc_folders.n)
			TRY(move_path(&mapping, &maps.moved));
		TRY(vec_push(&maps, mapping));
	}
	*ret = maps;
	maps = (struct proc_maps){};
	return NULL;
}

void proc_maps_free(struct proc_maps *maps)
{
	str_free(&maps->text);
	strv_free(&maps->moved);
	vec_free(maps);
}

/* ---- stat ---- */

/* A decimal number after one blank; false where there is none. */
static bool take_field(const char **at, int64_t *ret)
{
	const char *text = *at;
	if (*text != ' ')
		return false;
	bool negative = *++text == '-';
	const char *start = text += negative;
	uint64_t value = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	*at = text;
	*ret = (int64_t)(negative ? -value : value);
	return text > start;
}

uint64_t proc_mappings_mark(const char *text)
{
	/* size resident shared text lib data dt: proc_pid_statm(5) */
	unsigned long long size = 0, data = 0;
	sscanf(text, "%llu %*u %*u %*u %*u %llu", &size, &data);
	return size ^ data << 32;
}

bool proc_parse_stat(const char *text, struct proc_stat *ret)
{
	/* By their number in the manual; the first two are the process's name. */
	enum { STATE = 3, PARENT, FLAGS = 9, MINOR, MAJOR = 12, START = 22 };
	int64_t fields[START + 1];
	/* "PID (NAME) STATE …": the name may contain anything, the rest no ')'. */
	const char *at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2])
		return false;
	char state = at[2];
	at += 3;
	for (int i = PARENT; i <= START; i++) {
		if (!take_field(&at, &fields[i]))
			return false;
	}
	*ret = (struct proc_stat){
		.state = state,
		.parent = (pid_t)fields[PARENT],
		.flags = (unsigned)fields[FLAGS],
		.minor_faults = (uint64_t)fields[MINOR],
		.major_faults = (uint64_t)fields[MAJOR],
		.start_ticks = (uint64_t)fields[START],
	};
	return true;
}

bool proc_read_stat_fd(int fd, struct proc_stat *ret)
{
	char text[2048]; /* 52 numbers and a name */
	return read_small(fd, text, sizeof(text)) && proc_parse_stat(text, ret);
}

bool proc_read_stat(pid_t pid, pid_t tid, struct proc_stat *ret)
{
	_cleanup_(closep) int fd = proc_open(pid, tid, "stat", O_RDONLY);
	return proc_read_stat_fd(fd, ret);
}

/* ---- status ---- */

/* Where the value begins; NULL: no such line. */
static const char *find_field(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = text; line && *line;) {
		if (!strncmp(line, name, n) && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

bool proc_status_field(const char *text, const char *name, char *out, size_t n)
{
	const char *value = find_field(text, name);
	if (value)
		snprintf(out, n, "%.*s", (int)strcspn(value, "\n"), value);
	return value;
}

bool proc_status_number(const char *text, const char *name, int base,
			uint64_t *ret)
{
	char digits[32];
	return proc_status_field(text, name, digits, sizeof(digits)) &&
	       str_to_u64(digits, base, ret);
}

/* The kernel escapes newlines and backslashes in the line "Name:". */
static void restore_name(char *name)
{
	char *to = name;
	for (const char *from = name; (*to = *from); to++, from++) {
		if (from[0] == '\\' && (from[1] == 'n' || from[1] == '\\'))
			*to = *++from == 'n' ? '\n' : '\\';
	}
}

bool proc_parse_status(const char *text, struct proc_status *ret)
{
	struct proc_status status;
	char escaped[2 * PROC_NAME_MAX];
	uint64_t parent, tracer;
	const char *state = find_field(text, "State");
	if (!state || !*state || *state == '\n' ||
	    !proc_status_field(text, "Name", escaped, sizeof(escaped)) ||
	    !proc_status_number(text, "PPid", 10, &parent) ||
	    !proc_status_number(text, "TracerPid", 10, &tracer))
		return false;
	restore_name(escaped);
	snprintf(status.name, sizeof(status.name), "%.*s", PROC_NAME_MAX - 1,
		 escaped);
	status.state = *state;
	status.parent = (pid_t)parent;
	status.tracer = (pid_t)tracer;
	*ret = status;
	return true;
}

bool proc_read_status(pid_t pid, struct proc_status *ret)
{
	/*
	 * What is asked for comes before the list of groups, which may be long.
	 */
	char text[4096];
	_cleanup_(closep) int fd = proc_open(pid, 0, "status", O_RDONLY);
	return read_small(fd, text, sizeof(text)) &&
	       proc_parse_status(text, ret);
}

bool proc_read_name(pid_t pid, pid_t tid, char out[PROC_NAME_MAX])
{
	_cleanup_(closep) int fd = proc_open(pid, tid, "comm", O_RDONLY);
	if (!read_small(fd, out, PROC_NAME_MAX))
		return false;
	size_t n = strlen(out);
	if (n && out[n - 1] == '\n')
		out[n - 1] = '\0';
	return true;
}

/* ---- children ---- */

bool pids_have(const struct pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->n; i++) {
		if (pids->data[i] == pid)
			return true;
	}
	return false;
}

struct err *proc_parse_children(const char *text, struct pids *ret)
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		long pid = strtol(text, &end, 10);
		if (pid > 0 && pid <= INT32_MAX)
			TRY(vec_push(ret, (pid_t)pid));
		text = end + strspn(end, " \n");
	}
	return NULL;
}

struct err *proc_read_children(pid_t pid, pid_t tid, struct pids *ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(err_destroyp) struct err *err =
		proc_read(pid, tid, "children", &text);
	if (err) {
		log_debug(LOG_BASE, "children of %d: %s", (int)pid,
			  err_message(err));
		return NULL;
	}
	return proc_parse_children(text.s ? text.s : "", ret);
}

struct err *proc_read_threads(pid_t pid, struct pids *ret)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	struct err *err = NULL;
	if (!folder)
		return NULL;
	for (const struct dirent *entry; !err && (entry = readdir(folder));) {
		uint64_t tid;
		if (str_to_u64(entry->d_name, 10, &tid))
			err = vec_push(ret, (pid_t)tid);
	}
	closedir(folder);
	return err;
}
