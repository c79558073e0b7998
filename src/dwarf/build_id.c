/* The number that the linker gives a file. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>

#include "base/str.h"
#include "dwarf/object.h"

static void build_id_elf_endp(Elf **elf)
{
	elf_end(*elf);
}

struct err *object_build_id(const char *path, char **ret)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(str_freep) struct str text = STR_INIT;
	const void *id = NULL;
	if (fd < 0)
		return err_errno(errno, "cannot read '%s'", path);
	elf_version(EV_CURRENT);
	_cleanup_(build_id_elf_endp) Elf *elf =
		elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ssize_t n = elf && elf_kind(elf) == ELF_K_ELF
			    ? dwelf_elf_gnu_build_id(elf, &id)
			    : 0;
	for (ssize_t i = 0; i < n; i++)
		TRY(str_appendf(&text, "%02x", ((const uint8_t *)id)[i]));
	if (n <= 0)
		return NULL;
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}
