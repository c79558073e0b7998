#include "suite/agent_library.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/trust.h"

/* From the program's own folder. */
static const char *const places[] = {
	"",
	"/../lib/polygraph",
	"/../lib/" POLYGRAPH_MULTIARCH "/polygraph",
	"/../lib64/polygraph",
};

/* ---- a path that can be preloaded ---- */

/*
 * ld.so(8): the words of LD_PRELOAD end at blanks and colons, and $ORIGIN and
 * the like are replaced in them; there is no way to write one. So a link in a
 * folder of our own stands for such a path.
 */
static struct {
	char *folder; /* NULL: none is needed so far */
	pid_t maker;
} link_place;

static bool can_be_preloaded(const char *path)
{
	return !strpbrk(path, " :$");
}

static void remove_links(void)
{
	static const char *const names[] = {
		AGENT_LIBRARY_STATE, AGENT_LIBRARY_CHOICES, AGENT_LIBRARY_JVM,
		AGENT_LIBRARY_JAR,   AGENT_LIBRARY_BOOT,    AGENT_LIBRARY_LOCALE
	};
	if (!link_place.folder || link_place.maker != getpid())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *path = NULL;
		err_ignore(path_join(link_place.folder, names[i], &path));
		if (path)
			unlink(path);
	}
	rmdir(link_place.folder);
}

/* Nobody but us can replace what we make there. */
static bool keeps_entries(const char *folder)
{
	struct stat status;
	return !stat(folder, &status) && trust_owner(status.st_uid) &&
	       (!(status.st_mode & (S_IWGRP | S_IWOTH)) ||
		(status.st_mode & S_ISVTX));
}

static struct err *make_link_folder(void)
{
	const char *const folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp",
					"/dev/shm" };
	if (link_place.folder)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		_cleanup_(freep) char *path = NULL;
		if (!folders[i] || *folders[i] != '/' ||
		    !can_be_preloaded(folders[i]) || !keeps_entries(folders[i]))
			continue;
		TRY(path_join(folders[i], "polygraph-agent-XXXXXX", &path));
		/* Tested programs may become another user. */
		if (!mkdtemp(path) || chmod(path, 0755) < 0)
			continue;
		link_place.folder = take_ptr(path);
		link_place.maker = getpid();
		atexit(remove_links);
		return NULL;
	}
	return err_create(ERR_SUITE,
			  "no temporary folder for a link can be made");
}

static struct err *agent_library_link(const char *path, const char *name,
				      char **ret)
{
	_cleanup_(freep) char *made = NULL;
	TRY(make_link_folder());
	TRY(path_join(link_place.folder, name, &made));
	if (symlink(path, made) < 0 && errno != EEXIST)
		return err_errno(errno, "cannot create '%s'", made);
	*ret = take_ptr(made);
	return NULL;
}

struct err *agent_library_find(const char *name, char **ret)
{
	const char *self = proc_own_folder();
	for (size_t i = 0; *self && i < ARRAY_SIZE(places); i++) {
		_cleanup_(freep) char *path = NULL;
		if (asprintf(&path, "%s%s/%s", self, places[i], name) < 0) {
			path = NULL;
			return err_nomem();
		}
		if (access(path, R_OK))
			continue;
		if (!can_be_preloaded(path))
			return err_prefix(
				agent_library_link(path, name, ret),
				"'%s' cannot be preloaded: its path "
				"has a blank, a colon or a dollar sign",
				path);
		*ret = take_ptr(path);
		return NULL;
	}
	return err_create(ERR_SUITE, "%s is missing", name);
}

/* ---- programs that load nothing ---- */

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff + i * sizeof(segment));
		if (pread(fd, &segment, sizeof(segment), at) !=
			    sizeof(segment) ||
		    segment.p_type == PT_INTERP)
			return true; /* or it is no matter of ours */
	}
	return false;
}

bool agent_library_fits(const char *program)
{
	struct stat status;
	Elf64_Ehdr header;
	if (stat(program, &status) || !S_ISREG(status.st_mode))
		return true;
	_cleanup_(closep) int fd = open(program, O_RDONLY | O_CLOEXEC);
	if (fd < 0 ||
	    pread(fd, &header, sizeof(header), 0) < (ssize_t)EI_NIDENT ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return true;
	return header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_phentsize == sizeof(Elf64_Phdr) &&
	       has_interpreter(fd, &header);
}
