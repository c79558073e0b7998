#include "suite/change.h"
#include "base/macro.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static void path_free(struct change_path *path)
{
	free(path->path);
	free(path->before);
	free(path->after);
	free(path->type);
	for (size_t i = 0; i < path->n_stack; i++) {
		free(path->stack[i].function);
		free(path->stack[i].file);
	}
	free(path->stack);
}

bool change_is_removal(const struct change *change)
{
	return change->n && !strcmp(change->paths[0].after, "absent");
}

bool change_is_nothing(const char *value)
{
	static const char *const nothing[] = {
		"NULL", "null", "0", "(absent)", "0 elements", "\"\"", "false",
	};
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		if (!strcmp(value, nothing[i]))
			return true;
	}
	return false;
}

void change_forget_paths(struct change *change)
{
	for (size_t i = 0; i < change->n; i++)
		path_free(&change->paths[i]);
	free(take_ptr(change->paths));
	change->n = change->more = 0;
}

void change_free(struct change *change)
{
	free(change->root);
	free(change->file);
	change_forget_paths(change);
	free(change->detail);
	*change = (struct change){};
}

void changes_clear(struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		change_free(&changes->data[i]);
	changes->n = 0;
}

void changes_freep_deep(struct changes *changes)
{
	changes_clear(changes);
	changes_freep(changes);
}

static struct err *path_copy(const struct change_path *path,
			     struct change_path *ret)
{
	*ret = *path;
	ret->path = ret->before = ret->after = ret->type = NULL;
	ret->stack = NULL;
	ret->n_stack = 0;
	TRY(str_copy(path->path, &ret->path));
	TRY(str_copy(path->before, &ret->before));
	TRY(str_copy(path->after, &ret->after));
	TRY(str_copy(path->type, &ret->type));
	if (!path->n_stack)
		return NULL;
	ret->stack = calloc(path->n_stack, sizeof(*ret->stack));
	if (!ret->stack)
		return err_nomem();
	for (; ret->n_stack < path->n_stack; ret->n_stack++) {
		const struct call_frame *from = &path->stack[ret->n_stack];
		struct call_frame *to = &ret->stack[ret->n_stack];
		to->line = from->line;
		struct err *err = str_copy(from->function, &to->function);
		if (!err)
			err = str_copy(from->file, &to->file);
		if (err) {
			free(to->function);
			return err;
		}
	}
	return NULL;
}

static struct err *copy_parts(const struct change *change, struct change *ret)
{
	TRY(str_copy(change->root, &ret->root));
	TRY(str_copy(change->file, &ret->file));
	TRY(str_copy(change->detail, &ret->detail));
	if (!change->n)
		return NULL;
	ret->paths = calloc(change->n, sizeof(*ret->paths));
	if (!ret->paths)
		return err_nomem();
	for (; ret->n < change->n; ret->n++) {
		struct err *err =
			path_copy(&change->paths[ret->n], &ret->paths[ret->n]);
		if (err) {
			path_free(&ret->paths[ret->n]);
			return err;
		}
	}
	return NULL;
}

struct err *change_copy(const struct change *change, struct change *ret)
{
	struct change copy = *change;
	copy.root = copy.file = copy.detail = NULL;
	copy.paths = NULL;
	copy.n = 0;
	struct err *err = copy_parts(change, &copy);
	if (err) {
		change_free(&copy);
		return err;
	}
	*ret = copy;
	return NULL;
}
