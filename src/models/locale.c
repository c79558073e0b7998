/*
 * The locale of our own: see models/locale_internal.h.
 *
 * With LOCPATH the C library looks into folders only, not into the archive
 * (locale(7)). A program that asks for another locale by its name gets it as
 * without us: it is asked for once more, without the variable.
 */
#include "models/locale_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *own_variable;

static size_t locale_append(char *path, size_t n, const char *text)
{
	for (; *text && n + 1 < LOCALE_PATH; text++)
		path[n++] = *text;
	path[n] = '\0';
	return n;
}

bool locale_find_own(char folder[LOCALE_PATH])
{
	struct dl_find_object found;
	if (_dl_find_object((void *)&own_variable, &found))
		return false;
	const char *path = found.dlfo_link_map->l_name;
	size_t n = locale_append(folder, 0, path);
	while (n && folder[n] != '/')
		n--;
	/* A list, which colons divide. */
	for (size_t i = 0; i < n; i++) {
		if (folder[i] == ':')
			return false;
	}
	size_t end = locale_append(folder, n, "/" LOCALE_OWN "/LC_CTYPE");
	bool there =
		n && end + 1 < LOCALE_PATH &&
		!sys_call(SYS_faccessat, AT_FDCWD, (long)folder, R_OK, 0, 0, 0);
	folder[n] = '\0';
	return there;
}

void locale_use_own(char *variable)
{
	own_variable = variable;
}

/* Was it not found, and may it be elsewhere? Then the variable is hidden. */
static bool look_elsewhere(const void *result, const char *name)
{
	if (likely(result || !own_variable) || !name || !*name)
		return false;
	*own_variable = '_';
	return true;
}

static void look_here_again(void)
{
	*own_variable = 'L';
}

char *locale_set(int category, const char *name,
		 char *(*next)(int, const char *))
{
	char *result = next(category, name);
	if (look_elsewhere(result, name)) {
		result = next(category, name);
		look_here_again();
	}
	return result;
}

/* clang-format off */
#define NEWLOCALE(function)                                                    \
	locale_t function(int mask, const char *name, locale_t base);          \
	_export_ locale_t function(int mask, const char *name, locale_t base)  \
	{                                                                      \
		CHOOSE_NEXT(function, NULL)                                    \
		if (name && !*name)                                            \
			choose_used(WIRE_MODEL_locale, CHOOSE_CALLER());       \
		locale_t result = next(mask, name, base);                      \
		if (look_elsewhere(result, name)) {                            \
			result = next(mask, name, base);                       \
			look_here_again();                                     \
		}                                                              \
		return result;                                                 \
	}

NEWLOCALE(newlocale)
NEWLOCALE(__newlocale)
/* clang-format on */
