/* Symbols out of files of objects. See image.h. */
#include "agent/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define IMAGE_SIZE ((size_t)1 << 31)

bool image_map(const char *path, struct file_image *ret)
{
	struct stat status;
	long fd = sys_call(SYS_openat, AT_FDCWD, (long)path,
			   O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return false;
	long at = -1;
	if (!sys_call(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) &&
	    status.st_size > (off_t)sizeof(Elf64_Ehdr) &&
	    (size_t)status.st_size < IMAGE_SIZE)
		at = sys_call(SYS_mmap, 0, status.st_size, PROT_READ,
			      MAP_PRIVATE, fd, 0);
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (at < 0 && at > -4096)
		return false;
	*ret = (struct file_image){
		.bytes = (const unsigned char *)at,
		.size = (size_t)status.st_size,
	};
	return true;
}

void image_unmap(const struct file_image *image)
{
	sys_call(SYS_munmap, (long)image->bytes, (long)image->size, 0, 0, 0, 0);
}

/* A part of the file; NULL: it is not inside it. */
static const void *image_file_part(const struct file_image *image, uint64_t at,
				   uint64_t size)
{
	return at <= image->size && size <= image->size - at ? image->bytes + at
							     : NULL;
}

const Elf64_Sym *image_symbols(struct file_image *image, size_t *ret_n)
{
	const Elf64_Ehdr *head = image_file_part(image, 0, sizeof(*head));
	if (!head || *(const uint32_t *)head->e_ident != 0x464c457fU ||
	    head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8)
		return NULL;
	const Elf64_Shdr *sections =
		image_file_part(image, head->e_shoff,
				(uint64_t)head->e_shnum * sizeof(Elf64_Shdr));
	for (unsigned i = 0; sections && i < head->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		if (section->sh_type != SHT_SYMTAB ||
		    section->sh_entsize != sizeof(Elf64_Sym) ||
		    section->sh_offset % 8 || section->sh_link >= head->e_shnum)
			continue;
		const Elf64_Shdr *strings = &sections[section->sh_link];
		image->strings = image_file_part(image, strings->sh_offset,
						 strings->sh_size);
		image->strings_n = image->strings ? strings->sh_size : 0;
		*ret_n = section->sh_size / sizeof(Elf64_Sym);
		return image_file_part(image, section->sh_offset,
				       section->sh_size);
	}
	return NULL;
}

const char *image_name(const struct file_image *image, uint64_t at)
{
	/* The last one ends where all do, or none is. */
	return at < image->strings_n && !image->strings[image->strings_n - 1]
		       ? image->strings + at
		       : NULL;
}

bool image_begins(const struct file_image *image, uint64_t at,
		  const char *start)
{
	const char *name = image_name(image, at);
	return name && text_after((char *)name, start);
}
