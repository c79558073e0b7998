#include "native/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "base/vec.h"
#include "native/chooser.h"
#include "native/framework.h"
#include "suite/agent_library.h"

/* An adapter's environment has no more variables than that. */
#define MORE_WORDS 16

void environment_free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Is one of these for the same variable as @word? */
static bool is_replaced(const char *word, const char *const *more)
{
	size_t n = strcspn(word, "=") + 1;
	for (size_t i = 0; more && more[i]; i++) {
		if (word[n - 1] && !strncmp(word, more[i], n))
			return true;
	}
	return false;
}

struct err *environment_copy_words(char *const *words, const char *const *more,
				   char ***ret)
{
	VEC(char *) copy = VEC_INIT;
	struct err *err = NULL;
	for (size_t i = 0; !err && words[i]; i++) {
		if (words == environ && is_replaced(words[i], more))
			continue;
		char *word = strdup(words[i]);
		err = word ? vec_push(&copy, word) : err_nomem();
	}
	for (size_t i = 0; !err && more && more[i]; i++) {
		char *word = strdup(more[i]);
		err = word ? vec_push(&copy, word) : err_nomem();
	}
	if (!err)
		err = vec_push(&copy, NULL);
	if (err) {
		if (copy.n && copy.data[copy.n - 1])
			err_ignore(vec_push(&copy, NULL));
		environment_free_words(copy.data);
		return err;
	}
	*ret = copy.data;
	return NULL;
}

bool environment_looks_for_leaks(const struct session *session)
{
	static const char *const sanitizers[] = { "__asan_init",
						  "__lsan_init" };
	return program_uses_any(session->program, sanitizers,
				ARRAY_SIZE(sanitizers));
}

/*
 * The agent goes in front of what the user preloads; it takes itself out of the
 * environment when it is loaded. Programs built with AddressSanitizer want
 * their own runtime first, static ones load nothing.
 */
static struct err *preload_word(const struct session *session, char **ret)
{
	_cleanup_(object_closep) struct object *object = NULL;
	_cleanup_(freep) char *path = NULL;
	*ret = NULL;
	if (!session->suite.options.agent)
		return NULL;
	TRY(object_open_exported(session->argv[0], &object));
	const struct object_facts *facts = object_facts(object);
	bool choices = session->suite.options.agent == SUITE_AGENT_CHOICES;
	if (!facts->dynamic || (!choices && (facts->asan || facts->tsan)))
		return NULL;
	_cleanup_(err_destroyp) struct err *missing = agent_library_find(
		choices ? AGENT_LIBRARY_CHOICES : AGENT_LIBRARY_STATE, &path);
	if (missing) {
		log_warn("%s: %s", err_message(missing),
			 choices ? "nothing can be chosen"
				 : "where heap blocks begin and end is only "
				   "guessed");
		return NULL;
	}
	/* If it was set, even to nothing, it has to be set again afterwards. */
	const char *own = getenv("LD_PRELOAD");
	if (asprintf(ret, "LD_PRELOAD=%s%s%s", path, own ? ":" : "",
		     own ? own : "") < 0) {
		*ret = NULL;
		return err_nomem();
	}
	return NULL;
}

struct err *environment_prepare(struct session *session)
{
	const char *words[MORE_WORDS + 6] = {};
	const char *const *more =
		session->framework ? session->framework->environment : NULL;
	size_t n = 0;
	for (; more && more[n]; n++) {
		BUG_ON(n == MORE_WORDS);
		words[n] = more[n];
	}
	_cleanup_(freep) char *leaks = NULL;
	if (session->framework && environment_looks_for_leaks(session)) {
		const char *own = getenv("LSAN_OPTIONS");
		if (asprintf(&leaks, "LSAN_OPTIONS=%s%sdetect_leaks=0",
			     own ? own : "", own && *own ? ":" : "") < 0) {
			leaks = NULL;
			return err_nomem();
		}
		log_info("leak checking is off: it does not work in a "
			 "traced program");
		words[n++] = leaks;
	}
	_cleanup_(freep) char *preload = NULL;
	TRY(preload_word(session, &preload));
	/* It wants to be loaded first; functions it has are passed on to it. */
	_cleanup_(freep) char *first = NULL;
	const char *asan = getenv("ASAN_OPTIONS");
	if (asprintf(&first, "ASAN_OPTIONS=%s%sverify_asan_link_order=0",
		     asan ? asan : "", asan && *asan ? ":" : "") < 0) {
		first = NULL;
		return err_nomem();
	}
	if (preload) {
		words[n++] = preload;
		/* GLib before 2.76: else its small blocks are not malloc's. */
		words[n++] = "G_SLICE=always-malloc";
		if (session->chooser)
			words[n++] = chooser_variable(session->chooser);
		if (session->chooser)
			words[n++] = first;
	}
	environment_free_words(session->env);
	session->env = NULL;
	return n ? environment_copy_words(environ, words, &session->env) : NULL;
}
