#include "report/excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "report/value.h"

/* Lines before and after the one that is meant. */
#define AROUND 3
#define LINE_BYTES_MAX ((size_t)240)
#define FILE_BYTES_MAX ((size_t)4 << 20)
/* Places that are shown: the first are those of the worst findings. */
#define EXCERPTS_MAX 2000
#define DEPTH_MAX 8

struct excerpt {
	char *key; /* "file:line" */
	char *file;
	unsigned line;
};

struct excerpts {
	char *roots[2]; /* without links; NULL: not known */
	VEC(struct excerpt) all;
	struct map_text known;
};

struct err *excerpts_create(const struct report *report, struct excerpts **ret)
{
	const struct report_run *run = report->run;
	struct excerpts *excerpts = calloc(1, sizeof(*excerpts));
	if (!excerpts)
		return err_nomem();
	if (run && run->sources)
		excerpts->roots[0] = realpath(run->sources, NULL);
	if (run && run->folder)
		excerpts->roots[1] = realpath(run->folder, NULL);
	*ret = excerpts;
	return NULL;
}

void excerpts_destroy(struct excerpts *excerpts)
{
	if (!excerpts)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(excerpts->roots); i++)
		free(excerpts->roots[i]);
	for (size_t i = 0; i < excerpts->all.n; i++) {
		free(excerpts->all.data[i].key);
		free(excerpts->all.data[i].file);
	}
	vec_free(&excerpts->all);
	map_text_free(&excerpts->known);
	free(excerpts);
}

static struct err *excerpts_add_place(struct excerpts *excerpts,
				      const char *file, json_int_t line)
{
	_cleanup_(str_freep) struct str key = STR_INIT;
	uint64_t known;
	if (!file || line <= 0 || line > INT32_MAX ||
	    excerpts->all.n >= EXCERPTS_MAX)
		return NULL;
	TRY(str_appendf(&key, "%s:%lld", file, (long long)line));
	if (map_text_get(&excerpts->known, key.s, &known))
		return NULL;
	TRY(map_text_put(&excerpts->known, key.s, 1));
	struct excerpt excerpt = { .key = str_take(&key),
				   .file = strdup(file),
				   .line = (unsigned)line };
	struct err *err = excerpt.key && excerpt.file
				  ? vec_push(&excerpts->all, excerpt)
				  : err_nomem();
	if (err) {
		free(excerpt.key);
		free(excerpt.file);
	}
	return err;
}

static struct err *excerpts_add_places(struct excerpts *excerpts,
				       const json_t *value, unsigned depth)
{
	const char *key;
	json_t *member;
	if (depth > DEPTH_MAX)
		return NULL;
	for (size_t i = 0; i < json_array_size(value); i++)
		TRY(excerpts_add_places(excerpts, json_array_get(value, i),
					depth + 1));
	if (!json_is_object(value))
		return NULL;
	TRY(excerpts_add_place(
		excerpts, json_string_value(json_object_get(value, "file")),
		json_integer_value(json_object_get(value, "line"))));
	json_object_foreach((json_t *)value, key, member)
		TRY(excerpts_add_places(excerpts, member, depth + 1));
	return NULL;
}

struct err *excerpts_add(struct excerpts *excerpts, const json_t *finding)
{
	return excerpts_add_places(excerpts, finding, 0);
}

/* ---- reading ---- */

static bool is_allowed(const struct excerpts *excerpts, const char *full)
{
	for (size_t i = 0; i < ARRAY_SIZE(excerpts->roots); i++) {
		const char *root = excerpts->roots[i];
		if (root && strcmp(root, "/") != 0 && path_is_below(full, root))
			return true;
	}
	return false;
}

/* *@ret stays NULL where it cannot be shown. */
static struct err *read_source(const struct excerpts *excerpts,
			       const char *file, char **ret)
{
	_cleanup_(freep) char *full = realpath(file, NULL);
	struct stat status;
	if (!full || !is_allowed(excerpts, full))
		return NULL;
	_cleanup_(closep) int fd =
		open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (size_t)status.st_size > FILE_BYTES_MAX)
		return NULL;
	err_ignore(file_read_fd(fd, full, FILE_BYTES_MAX, ret, NULL));
	return NULL;
}

static json_t *make_excerpt(const char *text, unsigned line)
{
	unsigned first = line > AROUND ? line - AROUND : 1, at = 1;
	json_t *lines = json_array();
	for (const char *p = text; *p && at <= line + AROUND; at++) {
		size_t n = strcspn(p, "\n");
		if (at >= first)
			value_append(&lines,
				     value_text_n(p, MIN(n, LINE_BYTES_MAX)));
		p += n + (p[n] == '\n');
	}
	return json_pack("{s:I, s:o}", "first", (json_int_t)first, "lines",
			 lines);
}

static int compare_places(const void *a, const void *b)
{
	const struct excerpt *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* By file, so that each is read once. */
struct err *excerpts_write(struct excerpts *excerpts, FILE *out)
{
	_cleanup_(freep) char *text = NULL;
	const char *file = NULL;
	bool any = false;
	if (excerpts->all.n)
		qsort(excerpts->all.data, excerpts->all.n,
		      sizeof(*excerpts->all.data), compare_places);
	fputs("{", out);
	for (size_t i = 0; i < excerpts->all.n; i++) {
		const struct excerpt *one = &excerpts->all.data[i];
		if (!file || strcmp(file, one->file) != 0) {
			free(take_ptr(text));
			file = one->file;
			TRY(read_source(excerpts, file, &text));
		}
		if (!text)
			continue;
		_cleanup_(json_freep) json_t *key = value_text(one->key);
		_cleanup_(json_freep) json_t *value = NULL;
		TRY(value_made(make_excerpt(text, one->line), &value));
		fputs(any ? ",\n" : "\n", out);
		TRY(json_write_to(key, JSON_ENCODE_ANY, out));
		fputs(": ", out);
		TRY(json_write_to(value, 0, out));
		any = true;
	}
	fputs("}", out);
	return NULL;
}
