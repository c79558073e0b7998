/*
 * Files are written as seen from where a suite ran; here as seen from where we
 * are. In the sentences of findings, too: they name files that some finding has
 * as a member.
 */
#include "whole/document_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "base/strv.h"

#define NESTING_MAX 200

struct document_places {
	const char *folder;
	struct map_text files; /* as seen from here */
	struct strv names;     /* owns them */
};

static const char *const sentences[] = { "message", "headline", "reason",
					 "hint" };

static void document_places_free(struct document_places *places)
{
	map_text_free(&places->files);
	strv_free(&places->names);
}

static struct err *note_file(struct document_places *places, const char *name)
{
	uint64_t known;
	if (map_text_get(&places->files, name, &known))
		return NULL;
	TRY(strv_add(&places->names, name));
	return map_text_put(&places->files,
			    places->names.data[places->names.n - 1], 1);
}

/* Foreign JSON may be nested as deeply as jansson reads it. */
static struct err *move_files(struct document_places *places, json_t *value,
			      int depth)
{
	const char *key;
	json_t *member;
	size_t i;
	if (depth > NESTING_MAX)
		return NULL;
	json_array_foreach(value, i, member)
		TRY(move_files(places, member, depth + 1));
	json_object_foreach(value, key, member)
	{
		if (strcmp(key, "file") || !json_is_string(member)) {
			TRY(move_files(places, member, depth + 1));
			continue;
		}
		_cleanup_(freep) char *shown = NULL;
		TRY(path_display(places->folder, json_string_value(member),
				 &shown));
		_cleanup_(freep) char *text = str_utf8(shown, strlen(shown));
		if (!text)
			return err_nomem();
		TRY(note_file(places, text));
		if (json_string_set(member, text))
			return err_nomem();
	}
	return NULL;
}

static bool is_of_path(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-+/~", c)) ||
	       (unsigned char)c >= 0x80;
}

/* Appends @word, which a line's number follows, as it is called here. */
static struct err *places_append_word(const struct document_places *places,
				      const char *word, struct str *text)
{
	_cleanup_(freep) char *file = NULL, *shown = NULL;
	uint64_t known;
	TRY(path_display(places->folder, word, &file));
	if (!map_text_get(&places->files, file, &known))
		return str_append(text, word);
	TRY(path_display_short(file, &shown));
	return str_append(text, shown);
}

/* Words that are a file and a line are moved, "../src/tide.c:6". */
static struct err *move_sentence(const struct document_places *places,
				 json_t *sentence)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	const char *at = json_string_value(sentence);
	while (*at) {
		size_t n = 0;
		while (is_of_path(at[n]))
			n++;
		_cleanup_(freep) char *word = strndup(at, n);
		if (!word)
			return err_nomem();
		if (n && at[n] == ':' && isdigit((unsigned char)at[n + 1]))
			TRY(places_append_word(places, word, &text));
		else
			TRY(str_append(&text, word));
		at += n;
		if (*at)
			TRY(str_append_n(&text, at++, 1));
	}
	return json_string_set(sentence, text.s ?: "") ? err_nomem() : NULL;
}

struct err *document_move_places(json_t *list, const char *folder)
{
	_cleanup_(document_places_free) struct document_places places = {
		.folder = folder,
		.files = MAP_INIT,
	};
	size_t i;
	json_t *finding;
	TRY(move_files(&places, list, 0));
	json_array_foreach(list, i, finding)
	{
		for (size_t k = 0; k < ARRAY_SIZE(sentences); k++) {
			json_t *sentence =
				json_object_get(finding, sentences[k]);
			if (json_is_string(sentence))
				TRY(move_sentence(&places, sentence));
		}
	}
	return NULL;
}
