#include "cli/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "finding/words.h"
#include "report/name.h"

#define FILE_LIMIT ((size_t)64 << 20)
#define ID_DIGITS 12
/* Entries of tests that are not there any more, each named. */
#define WARNED_MAX 10

static void baseline_entry_free(struct baseline_entry *entry)
{
	free(entry->id);
	free(entry->test);
	free(entry->rest);
	*entry = (struct baseline_entry){};
}

void baseline_free(struct baseline *baseline)
{
	for (size_t i = 0; i < baseline->entries.n; i++)
		baseline_entry_free(&baseline->entries.data[i]);
	vec_free(&baseline->entries);
	map_text_free(&baseline->ids);
	free(baseline->path);
	if (baseline->updates)
		outfile_place_close(&baseline->place);
	*baseline = (struct baseline){};
}

/* ---- reading ---- */

/* "order-0123456789ab" */
static bool is_id(const char *text, size_t n)
{
	size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	return word && n == word + 1 + ID_DIGITS && text[word] == '-' &&
	       strspn(text + word + 1, "0123456789abcdef") >= ID_DIGITS;
}

static struct err *put_entry(struct baseline *baseline,
			     struct baseline_entry *entry)
{
	uint64_t at;
	if (map_text_get(&baseline->ids, entry->id, &at))
		return NULL; /* twice, after a merge */
	TRY(map_text_put(&baseline->ids, entry->id, baseline->entries.n));
	TRY(vec_push(&baseline->entries, *entry));
	*entry = (struct baseline_entry){};
	return NULL;
}

/* @line has no newline, and is cut up. */
static struct err *parse_line(struct baseline *baseline, char *line,
			      unsigned number)
{
	_cleanup_(baseline_entry_free) struct baseline_entry entry = {
		.line = number
	};
	line += strspn(line, " \t\r");
	line[strcspn(line, "\r")] = '\0';
	size_t n = strcspn(line, " \t");
	if (!*line || *line == '#')
		return NULL;
	if (!is_id(line, n)) {
		line[n] = '\0';
		return err_hint(
			err_create(ERR_USAGE,
				   "%s:%u: '%.40s' is not the id of a finding",
				   baseline->path, number, line),
			"a line begins with an id, such as "
			"order-1052f0457994; comments begin with '#'");
	}
	char *rest = line + n;
	bool has_test = *rest == '\t';
	if (*rest)
		*rest++ = '\0';
	char *test = has_test ? strsep(&rest, "\t") : NULL;
	TRY(str_copy(line, &entry.id));
	TRY(str_copy(test && *test ? test : NULL, &entry.test));
	TRY(str_copy(rest ? rest : "", &entry.rest));
	return put_entry(baseline, &entry);
}

struct err *baseline_parse(struct baseline *baseline, const char *text)
{
	_cleanup_(freep) char *copy = strdup(text);
	char *rest = copy;
	unsigned number = 0;
	if (!copy)
		return err_nomem();
	for (char *line; (line = strsep(&rest, "\n"));)
		TRY(parse_line(baseline, line, ++number));
	return NULL;
}

struct err *baseline_read(struct baseline *baseline, const char *path,
			  bool updates)
{
	_cleanup_(freep) char *text = NULL;
	*baseline = (struct baseline){};
	if (!path && updates)
		return err_hint(err_create(ERR_USAGE,
					   "--update-baseline does not say "
					   "which file"),
				"give --baseline FILE, or baseline = \"FILE\" "
				"in polygraph.toml");
	if (!path)
		return NULL;
	TRY(str_copy(path, &baseline->path));
	size_t n = 0;
	struct err *err = file_read(path, FILE_LIMIT, &text, &n);
	if (err && updates && err_number(err) == ENOENT) {
		err_destroy(err);
	} else if (err) {
		return err_with_kind(err_prefix(err, "--baseline"), ERR_USAGE);
	} else if (strlen(text) != n) {
		return err_create(ERR_USAGE, "--baseline: '%s' is not a text",
				  path);
	} else {
		TRY(baseline_parse(baseline, text));
	}
	if (!updates)
		return NULL;
	err = outfile_place_open(path, &baseline->place);
	if (err)
		return err_with_kind(err_prefix(err, "--baseline"), ERR_USAGE);
	baseline->updates = true;
	return NULL;
}

struct err *baseline_name(struct map_text *names, const char *test)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	TRY(name_append(&name, test));
	return map_text_put(names, name.s ? name.s : "", 1);
}

void baseline_warn(const struct baseline *baseline,
		   const struct map_text *names)
{
	size_t n = 0;
	for (size_t i = 0; i < baseline->entries.n && !baseline->updates; i++) {
		const struct baseline_entry *entry = &baseline->entries.data[i];
		uint64_t there;
		if (!entry->test || map_text_get(names, entry->test, &there))
			continue;
		if (n++ < WARNED_MAX)
			log_warn("%s:%u: there is no test '%s' any more; "
				 "--update-baseline removes what is out of "
				 "date",
				 baseline->path, entry->line, entry->test);
	}
	if (n > WARNED_MAX)
		log_warn("%s: %zu more entries are of tests that are not there "
			 "any more",
			 baseline->path, n - WARNED_MAX);
}

void baseline_drop(struct baseline *baseline, const struct map_text *names)
{
	for (size_t i = 0; i < baseline->entries.n; i++) {
		struct baseline_entry *entry = &baseline->entries.data[i];
		uint64_t there;
		entry->gone |= entry->test &&
			       !map_text_get(names, entry->test, &there);
	}
}

bool baseline_lists(const struct baseline *baseline, const char *id)
{
	uint64_t at;
	return map_text_get(&baseline->ids, id, &at);
}

void baseline_mark(struct baseline *baseline, struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		uint64_t at;
		if (!map_text_get(&baseline->ids, findings->data[i].id, &at))
			continue;
		findings->data[i].known = true;
		baseline->entries.data[at].seen = true;
	}
}

/* ---- writing ---- */

struct err *baseline_add(struct baseline *baseline, const char *id,
			 const char *test, const char *message)
{
	_cleanup_(baseline_entry_free) struct baseline_entry entry = {};
	_cleanup_(str_freep) struct str name = STR_INIT;
	_cleanup_(str_freep) struct str rest = STR_INIT;
	uint64_t at;
	TRY(name_append(&name, test));
	TRY(words_append(&rest, message));
	TRY(str_copy(id, &entry.id));
	entry.test = str_take(&name);
	entry.rest = str_take(&rest);
	if (!entry.test || !entry.rest)
		return err_nomem();
	if (!map_text_get(&baseline->ids, id, &at)) {
		baseline->added++;
		return put_entry(baseline, &entry);
	}
	entry.line = baseline->entries.data[at].line;
	baseline_entry_free(&baseline->entries.data[at]);
	baseline->entries.data[at] = entry;
	entry = (struct baseline_entry){};
	return NULL;
}

/* What a merge of two branches leaves alone. */
static int entry_by_test(const void *a, const void *b)
{
	const struct baseline_entry *one = *(struct baseline_entry *const *)a;
	const struct baseline_entry *other = *(struct baseline_entry *const *)b;
	int differs = strcmp(one->test ? one->test : "",
			     other->test ? other->test : "");
	return differs ? differs : strcmp(one->id, other->id);
}

struct err *baseline_write(const struct baseline *baseline)
{
	_cleanup_(outfile_discard) struct outfile outfile = {};
	VEC(const struct baseline_entry *) entries = VEC_INIT;
	struct err *err = NULL;
	BUG_ON(!baseline->updates);
	for (size_t i = 0; !err && i < baseline->entries.n; i++) {
		if (!baseline->entries.data[i].gone)
			err = vec_push(&entries, &baseline->entries.data[i]);
	}
	if (!err)
		err = outfile_open(&baseline->place, &outfile);
	if (err) {
		vec_free(&entries);
		return err;
	}
	if (entries.n)
		qsort(entries.data, entries.n, sizeof(*entries.data),
		      entry_by_test);
	fputs("# Findings that are known to polygraph; written by "
	      "--update-baseline.\n",
	      outfile.file);
	for (size_t i = 0; i < entries.n; i++) {
		const struct baseline_entry *entry = entries.data[i];
		fprintf(outfile.file, "%s%s%s%s%s\n", entry->id,
			entry->test    ? "\t"
			: *entry->rest ? " "
				       : "",
			entry->test ? entry->test : "",
			entry->test && *entry->rest ? "\t" : "", entry->rest);
	}
	vec_free(&entries);
	return outfile_commit(&outfile);
}

void baseline_tell(const struct baseline *baseline, FILE *out)
{
	_cleanup_(freep) char *path = str_escape(baseline->path);
	size_t gone = 0;
	for (size_t i = 0; i < baseline->entries.n; i++)
		gone += baseline->entries.data[i].gone;
	size_t n = baseline->entries.n - gone;
	fprintf(out, "%s: %zu known finding%s written, %zu of them new",
		path ? path : "?", n, n == 1 ? "" : "s", baseline->added);
	if (gone)
		fprintf(out, "; %zu that are gone removed", gone);
	fputc('\n', out);
}
