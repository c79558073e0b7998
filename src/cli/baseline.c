#include "cli/baseline.h"

#include <string.h>

#include "base/path.h"

#define FILE_LIMIT ((size_t)64 << 20)

struct err *baseline_read(struct baseline *baseline, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	*baseline = (struct baseline){};
	if (!path)
		return NULL;
	struct err *err = file_read(path, FILE_LIMIT, &text, NULL);
	if (err)
		return err_with_kind(err_prefix(err, "--baseline"), ERR_USAGE);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		line += strspn(line, " \t\r");
		line[strcspn(line, " \t\r")] = '\0';
		if (*line && *line != '#')
			TRY(map_text_put(&baseline->ids, line, 1));
	}
	return NULL;
}

void baseline_free(struct baseline *baseline)
{
	map_text_free(&baseline->ids);
}

void baseline_mark(const struct baseline *baseline, struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		uint64_t known;
		findings->data[i].known = map_text_get(
			&baseline->ids, findings->data[i].id, &known);
	}
}
