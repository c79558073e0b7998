/*
 * What the C library keeps between calls where no variable shows it: where
 * strtok() is in a string and getopt() in an argument, the table of hsearch(),
 * and the memory that functions return again and again.
 */
#include "recorder/state_internal.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Some are deprecated, but programs still call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* ---- the position in a string ---- */

static void note_rest(const char *rest)
{
	char *to = agent_state.strtok_rest;
	bool same = true;
	size_t n = 0;
	for (; rest && rest[n] && n + 1 < WIRE_REST; n++) {
		same &= to[n] == rest[n];
		to[n] = rest[n];
	}
	same &= !to[n];
	to[n] = '\0';
	if (!same)
		state_changed();
}

/* As the C library has it, but for where the position is kept. */
_export_ char *strtok(char *text, const char *separators)
{
	NEXT(strtok_r, NULL)
	if (text)
		state_write(WIRE_STRTOK, NULL);
	else
		state_ask(WIRE_STRTOK, NULL);
	char *at = (char *)(uintptr_t)agent_state.strtok_at;
	char *token = next(text, separators, &at);
	agent_state.strtok_at = (uint64_t)(uintptr_t)at;
	note_rest(at);
	return token;
}

/* ---- the position in the arguments ---- */

/* With a position as at the start nothing of earlier calls is used. */
static int options_begin(void)
{
	if (optind <= 1 && !agent_state.getopt_inside)
		state_write(WIRE_GETOPT, NULL);
	else
		state_ask(WIRE_GETOPT, NULL);
	return optind ? optind : 1;
}

/* Where the position stays, the argument has more letters. */
static void options_end(int before, int result)
{
	agent_state.getopt_inside = result != -1 && optind == before;
	agent_state.getopt_calls++;
	state_changed();
}

_export_ int getopt(int argc, char *const *argv, const char *letters)
{
	NEXT(getopt, -1)
	int before = options_begin(), result = next(argc, argv, letters);
	options_end(before, result);
	return result;
}

#define LONG_OPTIONS(name)                                                     \
	_export_ int name(int argc, char *const *argv, const char *letters,    \
			  const struct option *words, int *index)              \
	{                                                                      \
		NEXT(name, -1)                                                 \
		int before = options_begin();                                  \
		int result = next(argc, argv, letters, words, index);          \
		options_end(before, result);                                   \
		return result;                                                 \
	}

LONG_OPTIONS(getopt_long)
LONG_OPTIONS(getopt_long_only)

/* ---- the table ---- */

_export_ int hcreate(size_t n)
{
	NEXT(hcreate, 0)
	state_ask(WIRE_HSEARCH, NULL);
	int result = next(n);
	if (result) {
		agent_state.hsearch = 1;
		state_changed();
	}
	return result;
}

_export_ void hdestroy(void)
{
	__typeof__(&hdestroy) next = next_find(NEXT_hdestroy);
	state_write(WIRE_HSEARCH, NULL);
	if (unlikely(!next))
		return;
	next();
	agent_state.hsearch = 0;
	state_changed();
}

_export_ ENTRY *hsearch(ENTRY item, ACTION action)
{
	NEXT(hsearch, NULL)
	state_ask(WIRE_HSEARCH, NULL);
	return next(item, action);
}

/* ---- what is returned each time ---- */

void statics_note(const void *address, size_t n)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	uint64_t known =
		__atomic_load_n(&agent_state.results_n, __ATOMIC_ACQUIRE);
	if (!address || known >= WIRE_RESULTS)
		return;
	for (uint64_t i = 0; i < known; i++) {
		if (agent_state.results[i].address == at)
			return;
	}
	/* Of two threads at once one may be lost: it comes again. */
	agent_state.results[known] = (struct wire_result){ at, n };
	__atomic_store_n(&agent_state.results_n, known + 1, __ATOMIC_RELEASE);
}

#define RETURNS(type, name, parameters, arguments, size)                       \
	_export_ type *name parameters                                         \
	{                                                                      \
		NEXT(name, NULL)                                               \
		type *result = next arguments;                                 \
		statics_note(result, size);                                    \
		return result;                                                 \
	}

RETURNS(struct tm, gmtime, (const time_t *time), (time), sizeof(*result))
RETURNS(char, asctime, (const struct tm *time), (time), STATICS_TEXT)
RETURNS(struct passwd, getpwnam, (const char *name), (name), sizeof(*result))
RETURNS(struct passwd, getpwuid, (uid_t id), (id), sizeof(*result))
RETURNS(struct group, getgrnam, (const char *name), (name), sizeof(*result))
RETURNS(struct group, getgrgid, (gid_t id), (id), sizeof(*result))
RETURNS(struct hostent, gethostbyname, (const char *name), (name),
	sizeof(*result))
RETURNS(char, inet_ntoa, (struct in_addr address), (address), STATICS_TEXT)
RETURNS(char, l64a, (long number), (number), STATICS_TEXT)
RETURNS(char, ecvt, (double number, int digits, int *point, int *sign),
	(number, digits, point, sign), STATICS_TEXT)
RETURNS(char, fcvt, (double number, int digits, int *point, int *sign),
	(number, digits, point, sign), STATICS_TEXT)
