/* How states of files are shown: short, on one line, escaped. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files/files_internal.h"

#define SHOWN 60	/* bytes of a text */
#define SHOWN_BEFORE 16 /* of it in front of the first difference */

static struct err *text_of(struct str *str, char **ret)
{
	char *text = str_take(str);
	if (!text)
		return err_nomem();
	*ret = text;
	return NULL;
}

static struct err *append_target(struct str *str, const struct snap *snap)
{
	if (!snap->extra || !snap->extra->has_text)
		return str_append(str, "?");
	return str_append_escaped(str, snap->extra->text, snap->extra->n_text);
}

static struct err *append_file(struct str *str, const struct snap *snap)
{
	if (!snap->stat.size)
		return str_append(str, "empty file");
	return str_appendf(str, "file of %" PRIu64 " byte%s", snap->stat.size,
			   snap->stat.size == 1 ? "" : "s");
}

struct err *text_state(const struct snap *snap, size_t entries, char **ret)
{
	static const char *const names[] = {
		[SNAP_ABSENT] = "absent", [SNAP_FOLDER] = "folder",
		[SNAP_SOCKET] = "socket", [SNAP_FIFO] = "FIFO",
		[SNAP_DEVICE] = "device", [SNAP_UNKNOWN] = "not accessible",
	};
	_cleanup_(str_freep) struct str str = STR_INIT;
	if (snap->type == SNAP_FILE) {
		TRY(append_file(&str, snap));
	} else if (snap->type == SNAP_LINK) {
		TRY(str_append(&str, "symbolic link to "));
		TRY(append_target(&str, snap));
	} else {
		TRY(str_append(&str, names[snap->type]));
	}
	if (snap->type == SNAP_FOLDER && entries)
		TRY(str_appendf(&str, " with %zu entr%s", entries,
				entries == 1 ? "y" : "ies"));
	return text_of(&str, ret);
}

struct err *text_target(const struct snap *snap, char **ret)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	TRY(append_target(&str, snap));
	return text_of(&str, ret);
}

/* Text that a reader can make something of. */
static bool is_text(const struct snap *snap)
{
	if (!snap->stat.size)
		return true;
	if (!snap->extra || !snap->extra->has_text)
		return false;
	const char *text = snap->extra->text;
	for (size_t i = 0; i < snap->extra->n_text;) {
		unsigned char c = (unsigned char)text[i];
		if (c < ' ' && c != '\n' && c != '\t' && c != '\r')
			return false;
		size_t n = str_utf8_length(text + i, snap->extra->n_text - i);
		if (!n)
			return false;
		i += n;
	}
	return true;
}

/* Not in the midst of a character. */
static size_t texts_cut_length(const char *text, size_t n, size_t at)
{
	if (at >= n)
		return n;
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static struct err *append_content(struct str *str, const struct snap *snap,
				  bool as_text, size_t from)
{
	if (!snap->stat.size)
		return str_append(str, "empty file");
	if (as_text) {
		const char *text = snap->extra->text;
		size_t n = snap->extra->n_text;
		from = texts_cut_length(text, n, from);
		size_t to = texts_cut_length(text, n, from + SHOWN);
		TRY(str_append(str, from ? "\"…" : "\""));
		TRY(str_append_escaped(str, text + from, to - from));
		return str_append(str, to < n ? "…\"" : "\"");
	}
	TRY(str_appendf(str, "%" PRIu64 " byte%s", snap->stat.size,
			snap->stat.size == 1 ? "" : "s"));
	if (snap->flags & SNAP_CHANGING)
		return str_append(str, ", changing");
	if (snap->flags & SNAP_HASHED)
		return str_appendf(str, ", hash %08" PRIx32,
				   (uint32_t)snap->hash);
	_cleanup_(freep) char *time = NULL;
	TRY(text_time(snap->stat.mtime, &time));
	return str_appendf(str, ", written %s", time);
}

struct err *text_contents(const struct snap *before, const struct snap *after,
			  char **ret_before, char **ret_after)
{
	_cleanup_(str_freep) struct str a = STR_INIT;
	_cleanup_(str_freep) struct str b = STR_INIT;
	bool text_a = is_text(before), text_b = is_text(after);
	size_t same = 0;
	if (text_a && text_b && before->stat.size && after->stat.size) {
		size_t n = MIN(before->extra->n_text, after->extra->n_text);
		while (same < n &&
		       before->extra->text[same] == after->extra->text[same])
			same++;
	}
	/* Long texts are shown from shortly before where they differ. */
	size_t from = same > SHOWN - SHOWN_BEFORE ? same - SHOWN_BEFORE : 0;
	TRY(append_content(&a, before, text_a, from));
	TRY(append_content(&b, after, text_b, from));
	char *text = NULL;
	TRY(text_of(&a, &text));
	struct err *err = text_of(&b, ret_after);
	if (err) {
		free(text);
		return err;
	}
	*ret_before = text;
	return NULL;
}

struct err *text_time(struct timespec time, char **ret)
{
	struct tm tm;
	char text[64] = "";
	if (gmtime_r(&time.tv_sec, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	if (asprintf(ret, "%s.%06d", text, (int)(time.tv_nsec / 1000)) < 0)
		return err_nomem();
	return NULL;
}
