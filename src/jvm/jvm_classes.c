#include "jvm/jvm_classes.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/path.h"
#include "base/str.h"

#define DEPTH_MAX 64
#define CLASSES_MAX ((size_t)1 << 20)

static void close_folder(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* "a/b/C$D.class" below a folder is a.b.C$D. */
static struct err *jvm_classes_add(const char *package, const char *file,
				   struct strv *ret)
{
	static const char end[] = ".class";
	size_t n = strlen(file), m = strlen(end);
	if (n <= m || strcmp(file + n - m, end) != 0 || strchr(file, '-'))
		return NULL; /* package-info and module-info are none */
	return strv_addf(ret, "%s%.*s", package, (int)(n - m), file);
}

static struct err *jvm_classes_walk(const char *folder, const char *package,
				    unsigned depth, struct strv *ret)
{
	_cleanup_(close_folder) DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && depth < DEPTH_MAX && (entry = readdir(dir)) &&
	       ret->n < CLASSES_MAX) {
		if (entry->d_name[0] == '.')
			continue;
		if (entry->d_type != DT_DIR) {
			TRY(jvm_classes_add(package, entry->d_name, ret));
			continue;
		}
		_cleanup_(freep) char *below = NULL;
		_cleanup_(str_freep) struct str name = STR_INIT;
		TRY(path_join(folder, entry->d_name, &below));
		TRY(str_appendf(&name, "%s%s.", package, entry->d_name));
		TRY(jvm_classes_walk(below, name.s, depth + 1, ret));
	}
	return NULL;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct err *jvm_classes_find(const char *class_path, struct strv *ret)
{
	_cleanup_(freep) char *copy = strdup(class_path);
	if (!copy)
		return err_nomem();
	char *rest = copy;
	for (char *part; (part = strsep(&rest, ":"));) {
		if (*part)
			TRY(jvm_classes_walk(part, "", 0, ret));
	}
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), compare_names);
	return NULL;
}
