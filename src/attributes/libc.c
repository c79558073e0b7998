/*
 * The C library's own: locale, time zone, random numbers, functions to be called
 * at the end, the standard streams. With the agent where it noted them; else by
 * the library's variables, where their names are known (static programs have
 * them).
 */
#include <stdio.h>
#include <time.h>

#include "attributes/attributes_internal.h"

#define GROUP_STDIO (18 - MEMORY_SHIFT)
#define GROUP_ZONE (19 - MEMORY_SHIFT)
#define GROUP_RANDOM (21 - MEMORY_SHIFT)
#define GROUP_DRAND48 (22 - MEMORY_SHIFT)
#define GROUP_LOCALE (23 - MEMORY_SHIFT)
#define GROUP_EXITS (24 - MEMORY_SHIFT)

/* ---- locale ---- */

static const char *const categories[WIRE_LOCALES] = {
	"LC_CTYPE",	     "LC_NUMERIC",  "LC_TIME",	    "LC_COLLATE",
	"LC_MONETARY",	     "LC_MESSAGES", NULL,	    "LC_PAPER",
	"LC_NAME",	     "LC_ADDRESS",  "LC_TELEPHONE", "LC_MEASUREMENT",
	"LC_IDENTIFICATION",
};

/* struct __locale_struct: 13 categories, 3 tables, 13 names. */
#define LOCALE_NAMES_AT ((size_t)16 * 8)

static bool locale_names(struct attributes *a, char names[][WIRE_LOCALE_NAME])
{
	if (a->has_agent) {
		memcpy(names, a->wire->locale, sizeof(a->wire->locale));
		return true;
	}
	uint64_t global = attributes_symbol(a, "_nl_global_locale");
	uint64_t pointers[WIRE_LOCALES];
	if (!global || !read_bytes(a, global + LOCALE_NAMES_AT, pointers,
				   sizeof(pointers)))
		return false;
	for (size_t i = 0; i < WIRE_LOCALES; i++) {
		if (!attributes_read_text(a, pointers[i], names[i],
					  WIRE_LOCALE_NAME))
			names[i][0] = '\0';
	}
	return true;
}

struct err *read_locale(struct attributes *a, struct items *items)
{
	char names[WIRE_LOCALES][WIRE_LOCALE_NAME];
	ranges_forget(&a->spans, GROUP_LOCALE);
	if (!locale_names(a, names)) {
		items->unknown = true;
		return NULL;
	}
	if (!a->has_agent)
		TRY(ranges_add(&a->spans, GROUP_LOCALE,
			       attributes_symbol(a, "_nl_global_locale") +
				       LOCALE_NAMES_AT,
			       (size_t)WIRE_LOCALES * 8));
	for (size_t i = 0; i < WIRE_LOCALES; i++) {
		if (!categories[i])
			continue;
		struct item *item;
		TRY(items_add(items, categories[i], &item));
		/* "POSIX" is another word for "C". */
		const char *name = !names[i][0] || !strcmp(names[i], "POSIX")
					   ? "C"
					   : names[i];
		TRY(item_text(item, NULL, name));
	}
	return NULL;
}

/* ---- time zone ---- */

#define ZONE_NAME 32
#define ZONE_VALUE 128

static void zone_text(const char *standard, const char *summer, long west,
		      char *out, size_t n)
{
	long east = -west, minutes = labs(east) / 60 % 100000;
	snprintf(out, n, "%s%s%s, %c%02ld:%02ld", standard,
		 strcmp(standard, summer) ? "/" : "",
		 strcmp(standard, summer) ? summer : "", east < 0 ? '-' : '+',
		 minutes / 60, minutes % 60);
}

uint64_t zone_variable(const struct attributes *a)
{
	const struct item *item = attributes_item(a, read_environment, "TZ");
	return item ? item->digest : 0;
}

/*
 * The zone comes with the first use of any function that needs it: it is the one
 * that TZ said then, which may have been set long before, or later in the same
 * test. Where it is the zone of this machine, that is ours; another one was
 * chosen, and TZ put back since.
 */
static bool zone_is_chosen(const struct attributes *a, const char *text)
{
	uint64_t variable = zone_variable(a), ours = 0;
	const char *value = getenv("TZ");
	_cleanup_(freep) char *whole = NULL;
	char own[128];
	if (value && asprintf(&whole, "TZ=%s", value) < 0)
		whole = NULL;
	if (whole)
		ours = digest_of(whole, strlen(whole), 0);
	if (a->zone_variable == ours) {
		tzset();
		zone_text(tzname[0], tzname[1], timezone, own, sizeof(own));
		return strcmp(text, own) != 0;
	}
	return variable != a->zone_variable;
}

/* What this value of TZ means: our own library knows. */
static void zone_of(const char *value, char *out, size_t n)
{
	const char *own = getenv("TZ");
	_cleanup_(freep) char *kept = own ? strdup(own) : NULL;
	if (setenv("TZ", value, 1) < 0 || (own && !kept)) {
		*out = '\0';
		return;
	}
	tzset();
	zone_text(tzname[0], tzname[1], timezone, out, n);
	if (kept)
		setenv("TZ", kept, 1);
	else
		unsetenv("TZ");
	tzset();
}

/*
 * TZ was set before this test, and reported then, but is applied only now, by
 * whatever needed the zone.
 */
static bool zone_is_late(const struct attributes *a, const char *text)
{
	const struct item *item = attributes_item(a, read_environment, "TZ");
	char value[ZONE_VALUE], says[128];
	if (!item || item->digest != a->zone_variable)
		return false;
	/* In quotes; a text with anything to be escaped is not a zone. */
	const char *quoted = item->fields[0].text;
	size_t n = quoted ? strlen(quoted) : 0;
	if (n < 3 || n >= sizeof(value) || quoted[0] != '"' ||
	    quoted[n - 1] != '"' || strchr(quoted, '\\'))
		return false;
	memcpy(value, quoted + 1, n - 2);
	value[n - 2] = '\0';
	zone_of(value, says, sizeof(says));
	return !strcmp(text, says);
}

struct err *read_zone(struct attributes *a, struct items *items)
{
	uint64_t names = attributes_symbol(a, "tzname");
	uint64_t offset = attributes_symbol(a, "timezone");
	uint64_t daylight = attributes_symbol(a, "daylight");
	uint64_t pointers[2], west = 0;
	char standard[ZONE_NAME], summer[ZONE_NAME];
	if (!names)
		names = attributes_symbol(a, "__tzname");
	if (!offset)
		offset = attributes_symbol(a, "__timezone");
	if (!daylight)
		daylight = attributes_symbol(a, "__daylight");
	ranges_forget(&a->spans, GROUP_ZONE);
	if (!read_bytes(a, names, pointers, sizeof(pointers)) ||
	    !attributes_read_text(a, pointers[0], standard, sizeof(standard)) ||
	    !attributes_read_text(a, pointers[1], summer, sizeof(summer))) {
		items->unknown = true;
		return NULL;
	}
	TRY(ranges_add(&a->spans, GROUP_ZONE, names, sizeof(pointers)));
	if (read_u64(a, offset, &west))
		TRY(ranges_add(&a->spans, GROUP_ZONE, offset, 8));
	struct item *item;
	TRY(items_add(items, NULL, &item));
	/* As the library's variables begin. */
	if (pointers[0] == pointers[1] && !strcmp(standard, "GMT") && !west) {
		item->pristine = true;
		return item_text(item, NULL, "not set");
	}
	char text[128];
	zone_text(standard, summer, (long)west, text, sizeof(text));
	if (zone_is_late(a, text))
		attributes_set_first(a, read_zone, NULL, true);
	else if (zone_is_chosen(a, text))
		attributes_set_first(a, read_zone, NULL, false);
	return item_text(item, NULL, text);
}

/* ---- random numbers ---- */

#define RANDOM_MAX 4096

static struct err *add_digest(const void *state, size_t n, struct items *items)
{
	struct item *item;
	TRY(items_add(items, NULL, &item));
	item->digest = digest_of(state, n, 0);
	return item_textf(item, NULL, "state %08x", (unsigned)item->digest);
}

static struct err *add_state(struct attributes *a, unsigned group,
			     uint64_t address, uint64_t n, struct items *items)
{
	char state[RANDOM_MAX];
	ranges_forget(&a->spans, group);
	n = MIN(n, (uint64_t)sizeof(state));
	if (!n || !read_bytes(a, address, state, n)) {
		items->unknown = true;
		return NULL;
	}
	TRY(ranges_add(&a->spans, group, address, n));
	return add_digest(state, n, items);
}

/* struct random_data of the C library. */
struct random_state {
	uint64_t front, rear, state;
	int32_t type, degree, separation;
	uint32_t zero;
	uint64_t end;
};

struct err *read_random(struct attributes *a, struct items *items)
{
	if (a->has_agent)
		return add_state(a, GROUP_RANDOM, a->wire->random,
				 a->wire->random_size, items);
	struct random_state state;
	uint64_t address = attributes_symbol(a, "unsafe_state");
	if (read_bytes(a, address, &state, sizeof(state)) &&
	    state.degree >= 0 && state.degree < 64) {
		/* With another type of generator it is one number only. */
		TRY(add_state(a, GROUP_RANDOM, state.state,
			      (uint64_t)MAX(state.degree, 1) * 4, items));
		return ranges_add(&a->spans, GROUP_RANDOM, address,
				  sizeof(state));
	}
	return add_state(a, GROUP_RANDOM, attributes_symbol(a, "randtbl"), 128,
			 items);
}

/* struct drand48_data of the C library. */
struct drand48_state {
	uint16_t x[3], old_x[3], c, init;
	uint64_t a;
};

/*
 * What it was before the last seed48() does not count, nor whether the factors,
 * which are always these at first, are written down already.
 */
static void plain_drand48(struct drand48_state *state)
{
	memset(state->old_x, 0, sizeof(state->old_x));
	if (state->init)
		return;
	state->a = 0x5deece66dULL;
	state->c = 0xb;
	state->init = 1;
}

struct err *read_drand48(struct attributes *a, struct items *items)
{
	struct drand48_state state;
	uint64_t address =
		a->has_agent ? a->wire->drand48
			     : attributes_symbol(a, "__libc_drand48_data");
	ranges_forget(&a->spans, GROUP_DRAND48);
	if (!address || !read_bytes(a, address, &state, sizeof(state))) {
		items->unknown = true;
		return NULL;
	}
	TRY(ranges_add(&a->spans, GROUP_DRAND48, address, sizeof(state)));
	plain_drand48(&state);
	return add_digest(&state, sizeof(state), items);
}

/* ---- functions to be called at the end ---- */

#define EXIT_LISTS 64
#define EXITS_IN_LIST 32

struct exit_function {
	uint64_t flavour;  /* 0 free, 1 in use, 2 on_exit, 3 atexit, 4 C++ */
	uint64_t function; /* hidden: rotated and xored */
	uint64_t argument;
	uint64_t object;
};

struct exit_list {
	uint64_t next;
	uint64_t n;
	struct exit_function functions[EXITS_IN_LIST];
};

static struct err *add_exit(struct attributes *a, uint64_t function,
			    unsigned kind, struct items *items)
{
	static const char *const kinds[] = { "registered",
					     "registered by on_exit",
					     "registered by at_quick_exit" };
	char name[256];
	attributes_function(a, function, name, sizeof(name));
	struct item *item;
	TRY(items_add(items, name, &item));
	return item_text(item, NULL, kinds[MIN(kind, 2U)]);
}

/* As the C library keeps them, with functions hidden by a secret of its own. */
static struct err *walk_exits(struct attributes *a, uint64_t head,
			      struct items *items)
{
	uint64_t at, guard;
	uint64_t pointer = regs_thread_pointer(&a->thread->regs).v;
	ranges_forget(&a->spans, GROUP_EXITS);
	if (!read_u64(a, head, &at) || !read_u64(a, pointer + 0x30, &guard)) {
		items->unknown = true;
		return NULL;
	}
	TRY(ranges_add(&a->spans, GROUP_EXITS, head, 8));
	for (int i = 0; at && i < EXIT_LISTS; i++) {
		struct exit_list list;
		if (!read_bytes(a, at, &list, sizeof(list)))
			break;
		TRY(ranges_add(&a->spans, GROUP_EXITS, at, sizeof(list)));
		for (uint64_t f = 0; f < MIN(list.n, (uint64_t)EXITS_IN_LIST);
		     f++) {
			const struct exit_function *fn = &list.functions[f];
			/* Destructors of statics have an object. */
			if (fn->flavour < 2 || fn->flavour > 4 ||
			    (fn->flavour == 4 && fn->argument))
				continue;
			uint64_t hidden = fn->function;
			TRY(add_exit(a, (hidden >> 17 | hidden << 47) ^ guard,
				     fn->flavour == 2, items));
		}
		at = list.next;
	}
	return NULL;
}

struct err *read_exits(struct attributes *a, struct items *items)
{
	if (!a->has_agent) {
		uint64_t head = attributes_symbol(a, "__exit_funcs");
		if (head)
			return walk_exits(a, head, items);
		items->unknown = true;
		return NULL;
	}
	uint64_t n = a->wire->exits_n;
	if (n > WIRE_EXITS) {
		items->left_out = n - WIRE_EXITS;
		n = WIRE_EXITS;
	}
	for (uint64_t i = 0; i < n; i++) {
		const struct wire_exit *own = &a->wire->exits[i];
		TRY(add_exit(a, own->function, own->kind, items));
	}
	return NULL;
}

/* ---- the standard streams ---- */

#define FILE_FLAGS 0
#define FILE_BUFFER 56
#define FILE_NUMBER 112
#define FILE_MODE 192
#define FILE_SIZE 196
#define FLAG_USER_BUFFER 1U
#define FLAG_UNBUFFERED 2U
#define FLAG_LINE 0x200U

struct stream_facts {
	uint64_t file;	       /* 0: the standard one */
	uint64_t buffer, size; /* of the program */
	uint64_t target;
	int32_t number;
	uint32_t flags;
	int32_t wide;
	uint32_t zero;
};

static struct err *stream_text(struct attributes *a, int standard,
			       const struct stream_facts *facts,
			       struct str *out)
{
	if (facts->file)
		TRY(str_append(out, "another FILE"));
	if (facts->number < 0)
		return text_comma(out, "closed");
	TRY(text_comma(out, facts->flags & FLAG_UNBUFFERED ? "unbuffered"
			    : facts->flags & FLAG_LINE	   ? "line buffered"
							   : "fully buffered"));
	if (facts->size)
		TRY(str_appendf(out, ", buffer of the program, %llu bytes",
				(unsigned long long)facts->size));
	if (facts->wide)
		TRY(str_append(out, ", wide"));
	if (facts->number != standard)
		TRY(str_appendf(out, ", descriptor %d", facts->number));
	TRY(str_append(out, standard ? ", to " : ", from "));
	return descriptor_text(a, facts->number, out);
}

static struct err *libc_add_stream(struct attributes *a, int standard,
				   const char *name, const char *object,
				   struct items *items)
{
	uint64_t variable = attributes_symbol(a, name), file;
	uint8_t bytes[FILE_SIZE];
	a->stdio_covers[standard] = false;
	if (!read_u64(a, variable, &file) ||
	    !read_bytes(a, file, bytes, sizeof(bytes)))
		return NULL;
	TRY(ranges_add(&a->spans, GROUP_STDIO, variable, 8));
	TRY(ranges_add(&a->spans, GROUP_STDIO, file + FILE_FLAGS, 4));
	TRY(ranges_add(&a->spans, GROUP_STDIO, file + FILE_BUFFER, 16));
	TRY(ranges_add(&a->spans, GROUP_STDIO, file + FILE_NUMBER, 4));
	TRY(ranges_add(&a->spans, GROUP_STDIO, file + FILE_MODE, 4));
	struct stream_facts facts = {};
	uint64_t buffer[2], own = attributes_symbol(a, object);
	memcpy(&facts.flags, bytes + FILE_FLAGS, 4);
	memcpy(buffer, bytes + FILE_BUFFER, 16);
	memcpy(&facts.number, bytes + FILE_NUMBER, 4);
	memcpy(&facts.wide, bytes + FILE_MODE, 4);
	facts.wide = facts.wide > 0;
	facts.file = own && file != own ? file : 0;
	facts.flags &= FLAG_USER_BUFFER | FLAG_UNBUFFERED | FLAG_LINE;
	if (facts.flags & FLAG_USER_BUFFER &&
	    !(facts.flags & FLAG_UNBUFFERED)) {
		facts.buffer = buffer[0];
		facts.size = buffer[1] - buffer[0];
	}
	facts.flags &= ~FLAG_USER_BUFFER;
	const char *path;
	facts.target = descriptor_identity(a, standard, &path);
	a->stdio_covers[standard] = true;
	struct item *item;
	TRY(items_add(items, name, &item));
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(stream_text(a, standard, &facts, &text));
	item->digest = digest_of(&facts, sizeof(facts), 0);
	/* That lines are written at once is found out at the first use. */
	item->pristine = !buffer[0] && !facts.file;
	if (facts.flags != FLAG_LINE || facts.size || facts.file)
		attributes_set_first(a, read_stdio, name, false);
	return item_text(item, NULL, text.s);
}

struct err *read_stdio(struct attributes *a, struct items *items)
{
	ranges_forget(&a->spans, GROUP_STDIO);
	TRY(libc_add_stream(a, 0, "stdin", "_IO_2_1_stdin_", items));
	TRY(libc_add_stream(a, 1, "stdout", "_IO_2_1_stdout_", items));
	return libc_add_stream(a, 2, "stderr", "_IO_2_1_stderr_", items);
}
