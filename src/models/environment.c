/*
 * Models of environment variables. Decided once, in the first process of a test:
 * what it starts inherits them, or was given others on purpose. A variable that
 * the suite sets for a test (wire_choices.pinned) stays as it is, and so do those
 * by which users say what they want (TZ, LC_ALL, TMPDIR, COLUMNS) where they are
 * set.
 *
 * It happens when the C library is ready and before the program's own
 * initialisers: the list gets longer, and libc's constructor would take back
 * the kernel's.
 */
#include "models/locale_internal.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VARIABLES 8192
#define MORE 32
#define ARENA ((size_t)16 << 10)

/* A list of our own, as long as @n; the texts that we add are in @arena. */
static char **list;
static size_t list_n;
static char arena[ARENA];
static size_t arena_n;

static char *environment_find(const char *name)
{
	for (size_t i = 0; i < list_n; i++) {
		char *value = text_after(list[i], name);
		if (value && *value == '=')
			return value + 1;
	}
	return NULL;
}

static void environment_drop(const char *name)
{
	size_t to = 0;
	for (size_t i = 0; i < list_n; i++) {
		const char *rest = text_after(list[i], name);
		if (!rest || *rest != '=')
			list[to++] = list[i];
	}
	list_n = to;
	list[to] = NULL;
}

static void environment_append(const char *text)
{
	for (; *text && arena_n + 1 < ARENA; text++)
		arena[arena_n++] = *text;
}

/* In its place where there is one. */
static void environment_set(const char *name, const char *value)
{
	char *text = arena + arena_n;
	environment_append(name);
	environment_append("=");
	environment_append(value);
	arena[arena_n < ARENA ? arena_n : ARENA - 1] = '\0';
	arena_n++;
	if (arena_n >= ARENA)
		return;
	for (size_t i = 0; i < list_n; i++) {
		const char *rest = text_after(list[i], name);
		if (rest && *rest == '=') {
			list[i] = text;
			return;
		}
	}
	list[list_n++] = text;
	list[list_n] = NULL;
}

/* Did the suite itself set it? */
static bool is_pinned(const char *name)
{
	const char *at = choose_block->pinned;
	const char *end = at + WIRE_CHOICE_PINNED;
	while (at < end && *at) {
		const char *own = name;
		while (at < end && *at && *at == *own) {
			at++;
			own++;
		}
		if (at < end && !*at && !*own)
			return true;
		while (at < end && *at)
			at++;
		at++;
	}
	return false;
}

static uint64_t environment_pick_of(enum wire_model model,
				    uint64_t alternatives)
{
	struct choose_keys keys = {};
	return choose_pick(model, alternatives, keys);
}

/*
 * One of several values for a variable; NULL among them: it is not set. Is it
 * another now?
 */
static bool choose_value(enum wire_model model, const char *name,
			 const char *const *values, size_t n)
{
	const char *now = environment_find(name);
	const char *others[32];
	size_t others_n = 0;
	if (is_pinned(name))
		return false;
	for (size_t i = 0; i < n && others_n < 32; i++) {
		bool same = values[i] ? now && text_is(values[i], now) : !now;
		if (!same)
			others[others_n++] = values[i];
	}
	if (!others_n)
		return false;
	uint64_t pick = environment_pick_of(model, others_n + 1);
	if (!pick)
		return false;
	const char *value = others[pick - 1];
	choose_argument("%s, which was %s", name, now ? now : "not set");
	choose_did("it was %s", value ? value : "not set");
	if (value)
		environment_set(name, value);
	else
		environment_drop(name);
	return true;
}

/* ---- the variables ---- */

/* POSIX's own form: no files are needed. */
static const char *const zones[] = {
	"IST-5:30",
	"EST5EDT,M3.2.0,M11.1.0",
	"CET-1CEST,M3.5.0,M10.5.0/3",
	"NST3:30NDT,M3.2.0,M11.1.0",
	"<+14>-14",
	"HST10",
	"<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
};

static void choose_zone(void)
{
	if (choose_startup(WIRE_MODEL_time_zone) && !environment_find("TZ"))
		choose_value(WIRE_MODEL_time_zone, "TZ", zones,
			     sizeof(zones) / sizeof(zones[0]));
}

#define LOCALES 16
#define LOCALE_NAME 32
#define LOCALE_TEXT ((size_t)32 << 10)

/* As glibc/locale/locarchive.h has it. */
struct archive_head {
	uint32_t magic, serial;
	uint32_t names_at, names_used, names_size;
	uint32_t strings_at, strings_used, strings_size;
};
#define ARCHIVE_MAGIC 0xde020109U

static void add_locale(char names[][LOCALE_NAME], size_t *n, const char *name)
{
	size_t length = text_length(name);
	if (*n >= LOCALES || !length || length >= LOCALE_NAME)
		return;
	/* Those with a code set only, "de_DE.utf8"; others are links to them. */
	bool dotted = false;
	for (const char *c = name; *c; c++)
		dotted |= *c == '.' && c != name;
	if (!dotted || *name == '.' || text_after((char *)name, "C."))
		return;
	for (size_t i = 0; i <= length; i++)
		names[*n][i] = name[i];
	(*n)++;
}

/* What localedef(1) made: an archive, or a folder each. */
static void find_locales(char names[][LOCALE_NAME], size_t *n)
{
	static char text[LOCALE_TEXT];
	struct archive_head head;
	long fd = sys_call(SYS_openat, AT_FDCWD,
			   (long)"/usr/lib/locale/locale-archive",
			   O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd >= 0) {
		long got = sys_call(SYS_pread64, fd, (long)&head, sizeof(head),
				    0, 0, 0);
		if (got == (long)sizeof(head) && head.magic == ARCHIVE_MAGIC) {
			size_t want = head.strings_used < LOCALE_TEXT - 1
					      ? head.strings_used
					      : LOCALE_TEXT - 1;
			got = sys_call(SYS_pread64, fd, (long)text, (long)want,
				       head.strings_at, 0, 0);
			text[got > 0 ? got : 0] = '\0';
			for (long at = 0; at < got;
			     at += (long)text_length(text + at) + 1)
				add_locale(names, n, text + at);
		}
		sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	fd = sys_call(SYS_openat, AT_FDCWD, (long)"/usr/lib/locale",
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return;
	long got =
		sys_call(SYS_getdents64, fd, (long)text, LOCALE_TEXT, 0, 0, 0);
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
	/* linux_dirent64: inode, offset, 16 bits of length, a byte, the name. */
	for (long at = 0; at + 19 < got;) {
		uint16_t size;
		__builtin_memcpy(&size, text + at + 16, sizeof(size));
		if (size < 19 || at + size > got)
			return;
		add_locale(names, n, text + at + 19);
		at += size;
	}
}

static void choose_locale(void)
{
	static char names[LOCALES][LOCALE_NAME], folder[LOCALE_PATH];
	const char *values[LOCALES + 3];
	size_t found = 0, n = 0;
	const char *all = environment_find("LC_ALL"),
		   *lang = environment_find("LANG");
	if (!choose_startup(WIRE_MODEL_locale) || (all && *all) ||
	    is_pinned("LANG") || is_pinned("LC_CTYPE"))
		return;
	find_locales(names, &found);
	/* What it is by now is no other. */
	bool plain =
		!lang || !*lang || text_is(lang, "C") || text_is(lang, "POSIX");
	bool wide =
		lang && (text_is(lang, "C.UTF-8") || text_is(lang, "C.utf8"));
	if (!plain)
		values[n++] = "C";
	if (!wide)
		values[n++] = "C.UTF-8";
	for (size_t i = 0; i < found; i++)
		values[n++] = names[i];
	if (!environment_find("LOCPATH") && !is_pinned("LOCPATH") &&
	    locale_find_own(folder))
		values[n++] = LOCALE_OWN;
	if (!choose_value(WIRE_MODEL_locale, "LC_ALL", values, n) ||
	    !text_is(environment_find("LC_ALL"), LOCALE_OWN))
		return;
	choose_did("it was " LOCALE_OWN ": decimal comma, i without dot,"
		   " another order of letters");
	environment_set("LOCPATH", folder);
	locale_use_own(environment_find("LOCPATH") - sizeof("LOCPATH"));
}

static void choose_account(void)
{
	static const char *const names[] = { "somebody", NULL, "nobody",
					     "Some.One" };
	if (!choose_startup(WIRE_MODEL_user_name) || is_pinned("USER"))
		return;
	if (!choose_value(WIRE_MODEL_user_name, "LOGNAME", names,
			  sizeof(names) / sizeof(names[0])))
		return;
	/* Both are the same, as login(1) sets them. */
	const char *name = environment_find("LOGNAME");
	if (name)
		environment_set("USER", name);
	else
		environment_drop("USER");
}

static void choose_home(void)
{
	static const char *const homes[] = { NULL, "/nonexistent", "/" };
	if (choose_startup(WIRE_MODEL_home))
		choose_value(WIRE_MODEL_home, "HOME", homes,
			     sizeof(homes) / sizeof(homes[0]));
}

static void choose_temporary(void)
{
	static const char *const folders[] = { "/var/tmp", "/tmp/." };
	const char *values[2];
	size_t n = 0;
	if (!choose_startup(WIRE_MODEL_temporary_folder) ||
	    environment_find("TMPDIR"))
		return;
	for (size_t i = 0; i < 2; i++) {
		if (!sys_call(SYS_faccessat, AT_FDCWD, (long)folders[i],
			      R_OK | W_OK | X_OK, 0, 0, 0))
			values[n++] = folders[i];
	}
	choose_value(WIRE_MODEL_temporary_folder, "TMPDIR", values, n);
}

static void choose_others(void)
{
	static const char *const unset[] = { NULL };
	static const char *const types[] = { "dumb", "xterm-256color", NULL,
					     "vt100" };
	static const char *const columns[] = { "20", "80", "132", "211" };
	if (choose_startup(WIRE_MODEL_working_folder) &&
	    environment_find("PWD"))
		choose_value(WIRE_MODEL_working_folder, "PWD", unset, 1);
	if (choose_startup(WIRE_MODEL_terminal_type))
		choose_value(WIRE_MODEL_terminal_type, "TERM", types,
			     sizeof(types) / sizeof(types[0]));
	if (choose_startup(WIRE_MODEL_columns) &&
	    !environment_find("COLUMNS") && !environment_find("LINES") &&
	    !is_pinned("LINES")) {
		if (choose_value(WIRE_MODEL_columns, "COLUMNS", columns,
				 sizeof(columns) / sizeof(columns[0])))
			environment_set("LINES", "43");
	}
}

/* Nothing that any program looks for; with what values may hold. */
static void choose_extra(void)
{
	static const char *const names[] = {
		"UNRELATED",	"unrelated_lines", "UNRELATED_0",
		"_UNRELATED_1", "UNRELATED2",	   "UNRELATED_LONG",
	};
	static const char *const values[] = {
		"two\nlines", "a=b=c", "", " blank ", "'\"\\", "",
	};
	enum { N = sizeof(names) / sizeof(names[0]) };
	static char dots[1025];
	if (!choose_startup(WIRE_MODEL_environ_extra))
		return;
	uint64_t pick = environment_pick_of(WIRE_MODEL_environ_extra, N + 1);
	choose_argument("%zu variables", list_n);
	choose_did("there were %zu more", (size_t)pick);
	for (size_t i = 0; i + 1 < sizeof(dots); i++)
		dots[i] = '.';
	for (size_t i = 0; i < pick && i < N; i++) {
		if (!environment_find(names[i]))
			environment_set(names[i],
					i + 1 == N ? dots : values[i]);
	}
}

static bool has_doubles(void)
{
	for (size_t i = 0; i < list_n; i++) {
		size_t n = 0;
		while (list[i][n] && list[i][n] != '=')
			n++;
		for (size_t k = i + 1; k < list_n; k++) {
			size_t c = 0;
			while (c < n && list[k][c] == list[i][c])
				c++;
			if (c == n && (!list[k][n] || list[k][n] == '='))
				return true;
		}
	}
	return false;
}

static void environment_choose_order(void)
{
	if (list_n < 2 || !choose_startup(WIRE_MODEL_environ_order) ||
	    has_doubles())
		return;
	uint64_t pick = environment_pick_of(WIRE_MODEL_environ_order,
					    choose_permutations(list_n));
	choose_argument("%zu variables", list_n);
	choose_did("they came in another order");
	choose_permute(pick, list, list_n, sizeof(*list));
}

void environment_choose(void)
{
	size_t n = 0;
	static const enum wire_model models[] = {
		WIRE_MODEL_time_zone,	   WIRE_MODEL_locale,
		WIRE_MODEL_environ_order,  WIRE_MODEL_environ_extra,
		WIRE_MODEL_user_name,	   WIRE_MODEL_home,
		WIRE_MODEL_working_folder, WIRE_MODEL_temporary_folder,
		WIRE_MODEL_terminal_type,  WIRE_MODEL_columns,
	};
	bool any = false;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		any |= choose_startup(models[i]);
	while (any && environ && environ[n] && n < VARIABLES)
		n++;
	if (!any || !choose_first || n >= VARIABLES)
		return;
	list = sys_map((n + MORE) * sizeof(*list), "environment");
	if (!list)
		return;
	for (size_t i = 0; i < n; i++)
		list[i] = environ[i];
	list_n = n;
	choose_zone();
	choose_locale();
	choose_account();
	choose_home();
	choose_temporary();
	choose_others();
	choose_extra();
	environment_choose_order();
	environ = list;
}
