/*
 * Cases of the models of order. Long because a family has one program, and this one
 * thirty models with two cases each.
 */
#include "cases.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <fts.h>
#include <glob.h>
#include <grp.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

/* What the machine at hand does not have cannot be had in another order. */
static bool not_here(void)
{
	_exit(CASE_NOT_HERE);
}

/* ---- sorting ---- */

struct pair {
	int key, value;
};

static int by_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

static int by_both(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int first = by_key(a, b);
	return first ? first : (x->value > y->value) - (x->value < y->value);
}

static bool is_sorted(const struct pair *pairs)
{
	return pairs[0].value == 1 && pairs[1].value == 2 &&
	       pairs[2].value == 1 && pairs[3].value == 2 && pairs[1].key == 1;
}

static bool sorts(int (*compare)(const void *, const void *))
{
	struct pair pairs[] = { { 2, 1 }, { 1, 1 }, { 2, 2 }, { 1, 2 } };
	qsort(pairs, 4, sizeof(pairs[0]), compare);
	return is_sorted(pairs);
}

static bool qsort_fragile(void)
{
	return sorts(by_key);
}

/* Also: by the key only, every element is there and keys are in order. */
static bool qsort_correct(void)
{
	struct pair pairs[100];
	int sum = 0;
	for (int i = 0; i < 100; i++)
		pairs[i] = (struct pair){ i * 7 % 10, i };
	qsort(pairs, 100, sizeof(pairs[0]), by_key);
	for (int i = 0; i < 100; i++) {
		sum += pairs[i].value;
		if (pairs[i].key != i / 10 ||
		    pairs[i].key != pairs[i].value * 7 % 10)
			return false;
	}
	int same[] = { 3, 1, 3, 1, 2 };
	qsort(same, 5, sizeof(int), by_key);
	return sum == 4950 && sorts(by_both) && same[0] == 1 && same[4] == 3;
}

static int with_argument(const void *a, const void *b, void *argument)
{
	++*(int *)argument;
	return by_key(a, b);
}

static int both_with_argument(const void *a, const void *b, void *argument)
{
	++*(int *)argument;
	return by_both(a, b);
}

static bool sorts_r(int (*compare)(const void *, const void *, void *))
{
	struct pair pairs[] = { { 2, 1 }, { 1, 1 }, { 2, 2 }, { 1, 2 } };
	int calls = 0;
	qsort_r(pairs, 4, sizeof(pairs[0]), compare, &calls);
	return is_sorted(pairs) && calls;
}

static bool qsort_r_fragile(void)
{
	return sorts_r(with_argument);
}

static bool qsort_r_correct(void)
{
	return sorts_r(both_with_argument);
}

static const struct pair found_in[] = {
	{ 1, 1 }, { 2, 1 }, { 2, 2 }, { 2, 3 }, { 3, 1 },
};

static bool bsearch_fragile(void)
{
	const struct pair key = { 2, 0 };
	const struct pair *found = bsearch(&key, found_in, 5, sizeof(key),
					   by_key);
	return found && found->value == 2;
}

static bool bsearch_correct(void)
{
	const struct pair key = { 2, 0 }, single = { 3, 0 }, none = { 4, 0 };
	const struct pair *found = bsearch(&key, found_in, 5, sizeof(key),
					   by_key);
	return found && found->key == 2 &&
	       bsearch(&single, found_in, 5, sizeof(key), by_key) ==
		       &found_in[4] &&
	       !bsearch(&none, found_in, 5, sizeof(key), by_key);
}

/* ---- directories ---- */

#define FILES 5

static char folder[64];

static void path_in(char *path, const char *name)
{
	snprintf(path, 256, "%s/%.100s", folder, name);
}

static void write_file(const char *name)
{
	char path[256];
	path_in(path, name);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd < 0)
		abort();
	close(fd);
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* a … e, and with @deep directories x and y with the same. */
static void make_folder(bool deep)
{
	char path[256];
	strcpy(folder, "/tmp/order-cases.XXXXXX");
	if (!mkdtemp(folder))
		abort();
	for (char c = 'a'; c < 'a' + FILES; c++)
		write_file((char[]){ c, '\0' });
	for (char c = 'x'; deep && c <= 'y'; c++) {
		path_in(path, (char[]){ c, '\0' });
		if (mkdir(path, 0700))
			abort();
		for (char d = 'a'; d < 'a' + FILES; d++)
			write_file((char[]){ c, '/', d, '\0' });
	}
}

static bool finish(bool held)
{
	remove_folder();
	return held;
}

/* Names in the order in which they come, "abc". */
static void add_name(char *names, const char *name)
{
	size_t n = strlen(names);
	if (name[0] != '.' && n < 60) {
		names[n] = name[0];
		names[n + 1] = '\0';
	}
}

static int compare_characters(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

static bool has_all(const char *names)
{
	char sorted[64];
	snprintf(sorted, sizeof(sorted), "%s", names);
	qsort(sorted, strlen(sorted), 1, compare_characters);
	return !strcmp(sorted, "abcde");
}

/*
 * The order that this file system has is taken from raw system calls: what a
 * test's author wrote down once.
 */
static void raw_names(const char *path, char *names)
{
	char buffer[8192] __attribute__((aligned(8)));
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	long got;
	names[0] = '\0';
	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < got;) {
			struct dirent64 *entry =
				(struct dirent64 *)(buffer + at);
			add_name(names, entry->d_name);
			at += entry->d_reclen;
		}
	}
	close(fd);
}

static bool readdir_fragile(void)
{
	char names[64] = "", raw[64];
	make_folder(false);
	raw_names(folder, raw);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	while ((entry = readdir(dir)))
		add_name(names, entry->d_name);
	closedir(dir);
	return finish(!strcmp(names, raw));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* All of them once, again after rewinddir(), and from each position. */
static bool reads_all(DIR *dir)
{
	char names[64] = "", again[64] = "", rest[64] = "";
	long positions[16];
	int n = 0;
	struct dirent *entry;
	struct dirent64 *entry64, space, *result;
	positions[0] = telldir(dir);
	errno = 77;
	while (n < 15 && (entry = readdir(dir))) {
		add_name(names, entry->d_name);
		positions[++n] = telldir(dir);
		if (entry->d_off != positions[n])
			return false;
	}
	if (errno != 77 || readdir(dir) || !has_all(names) || n != FILES + 2)
		return false;
	for (int i = 0; i <= n; i++) {
		char first = 0;
		seekdir(dir, positions[i]);
		int left = 0;
		while ((entry = readdir(dir))) {
			first = first ? first : entry->d_name[0];
			left++;
		}
		if (left != n - i)
			return false;
	}
	seekdir(dir, positions[3]);
	while ((entry = readdir(dir)))
		add_name(rest, entry->d_name);
	if (strcmp(rest, names + strlen(names) - strlen(rest)) != 0)
		return false;
	rewinddir(dir);
	entry64 = readdir64(dir);
	add_name(again, entry64->d_name);
	while (!readdir64_r(dir, &space, &result) && result)
		add_name(again, space.d_name);
	return has_all(again);
}

static bool readdir_correct(void)
{
	make_folder(false);
	DIR *dir = opendir(folder);
	bool held = reads_all(dir);
	held = !closedir(dir) && held;
	/* A new file shows in the next reading; many files all do. */
	dir = opendir(folder);
	readdir(dir);
	for (int i = 0; i < 40; i++)
		write_file((char[]){ 'f', (char)('0' + i), '\0' });
	rewinddir(dir);
	int n = 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	dir = fdopendir(open(folder, O_RDONLY | O_DIRECTORY));
	int other = 0;
	while (readdir(dir))
		other++;
	held = held && !fchdir(dirfd(dir)) && !access("a", F_OK);
	closedir(dir);
	return finish(held && n == FILES + 42 && other == n && !chdir("/"));
}

static bool types_are(bool look)
{
	make_folder(true);
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int directories = 0;
	while ((entry = readdir(dir))) {
		char path[512];
		struct stat st;
		bool is = entry->d_type == DT_DIR;
		path_in(path, entry->d_name);
		if (look && entry->d_type == DT_UNKNOWN)
			is = !lstat(path, &st) && S_ISDIR(st.st_mode);
		directories += is;
	}
	closedir(dir);
	return finish(directories == 4);
}

static bool readdir_type_fragile(void)
{
	return types_are(false);
}

static bool readdir_type_correct(void)
{
	return types_are(true);
}

static bool readdir_entry_fragile(void)
{
	make_folder(false);
	DIR *dir = opendir(folder);
	struct dirent *first = readdir(dir);
	char name[256];
	strcpy(name, first->d_name);
	bool held = readdir(dir) && !strcmp(first->d_name, name);
	closedir(dir);
	return finish(held);
}

static bool readdir_entry_correct(void)
{
	make_folder(false);
	DIR *dir = opendir(folder), *other = opendir(folder);
	struct dirent *entry = readdir(dir);
	char name[256];
	strcpy(name, entry->d_name);
	while (readdir(other))
		;
	closedir(other);
	bool held = !strcmp(entry->d_name, name);
	closedir(dir);
	return finish(held);
}

static void names_by_getdents(char *names)
{
	char buffer[8192] __attribute__((aligned(8)));
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	ssize_t got;
	names[0] = '\0';
	while ((got = getdents64(fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t at = 0; at < got;) {
			struct dirent64 *entry =
				(struct dirent64 *)(buffer + at);
			add_name(names, entry->d_name);
			at += entry->d_reclen;
		}
	}
	close(fd);
}

static bool getdents64_fragile(void)
{
	char names[64], raw[64];
	make_folder(false);
	raw_names(folder, raw);
	names_by_getdents(names);
	return finish(!strcmp(names, raw));
}

static bool getdents64_correct(void)
{
	char names[64];
	make_folder(false);
	names_by_getdents(names);
	return finish(has_all(names));
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int all_equal(const struct dirent **a, const struct dirent **b)
{
	(void)a;
	(void)b;
	return 0;
}

static void names_by_scan(bool at, char *names,
			  int (*compare)(const struct dirent **,
					 const struct dirent **))
{
	struct dirent **list = NULL;
	int n = at ? scandirat(AT_FDCWD, folder, &list, visible, compare) :
		     scandir(folder, &list, visible, compare);
	names[0] = '\0';
	for (int i = 0; i < n; i++) {
		add_name(names, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

static bool scan_fragile(bool at)
{
	char names[64], equal[64], raw[64];
	make_folder(false);
	raw_names(folder, raw);
	names_by_scan(at, names, NULL);
	names_by_scan(at, equal, all_equal);
	return finish(!strcmp(names, raw) && !strcmp(equal, raw));
}

static bool scan_correct(bool at)
{
	char names[64], equal[64], sorted[64];
	make_folder(false);
	names_by_scan(at, names, NULL);
	names_by_scan(at, equal, all_equal);
	names_by_scan(at, sorted, alphasort);
	return finish(has_all(names) && has_all(equal) &&
		      !strcmp(sorted, "abcde"));
}

static bool scandir_fragile(void)
{
	return scan_fragile(false);
}

static bool scandir_correct(void)
{
	return scan_correct(false);
}

static bool scandirat_fragile(void)
{
	return scan_fragile(true);
}

static bool scandirat_correct(void)
{
	return scan_correct(true);
}

static void names_by_glob(int flags, char *names)
{
	char pattern[256];
	glob_t found = { .gl_offs = 2 };
	path_in(pattern, "[abc]");
	names[0] = '\0';
	if (glob(pattern, flags | GLOB_DOOFFS, NULL, &found))
		return;
	path_in(pattern, "[de]");
	glob(pattern, flags | GLOB_DOOFFS | GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_name(names, strrchr(found.gl_pathv[i + 2], '/') + 1);
	globfree(&found);
}

static bool glob_fragile(void)
{
	char names[64], raw[64], two[64] = "";
	make_folder(false);
	raw_names(folder, raw);
	for (const char *c = raw; *c; c++)
		add_name(two, *c <= 'c' ? (char[]){ *c, '\0' } : ".");
	for (const char *c = raw; *c; c++)
		add_name(two, *c > 'c' ? (char[]){ *c, '\0' } : ".");
	names_by_glob(GLOB_NOSORT, names);
	return finish(!strcmp(names, two));
}

static bool glob_correct(void)
{
	char names[64], sorted[64];
	make_folder(false);
	names_by_glob(GLOB_NOSORT, names);
	names_by_glob(0, sorted);
	return finish(has_all(names) && !strcmp(sorted, "abcde") &&
		      strcspn(names, "de") == 3);
}

/* ---- walks ---- */

static char walked[256];
static unsigned walk_files, walk_folders, walk_wrong;
static int walk_skip; /* what to say to directory x */

static void note_file(const char *path, bool is_folder)
{
	walk_files += !is_folder;
	walk_folders += is_folder;
	if (strlen(walked) < 200)
		strcat(walked, path + strlen(path) - 1);
}

static int walk_plain(const char *path, const struct stat *st, int flag)
{
	(void)st;
	note_file(path, flag == FTW_D);
	return 0;
}

static bool depth_first, change;

static int walk_new(const char *path, const struct stat *st, int flag,
		    struct FTW *ftw)
{
	const char *name = path + ftw->base;
	struct stat here;
	note_file(path, flag == FTW_D || flag == FTW_DP);
	if (strchr(name, '/') || !S_ISREG(st->st_mode) != (flag != FTW_F))
		walk_wrong++;
	/* Inside of a directory: level, and which comes first. */
	if (ftw->level == 2 && path[strlen(folder) + 1] != 'x' &&
	    path[strlen(folder) + 1] != 'y')
		walk_wrong++;
	if (change && flag == FTW_F && stat(name, &here))
		walk_wrong++;
	if (flag == FTW_DP && !depth_first)
		walk_wrong++;
	return name[0] == 'x' ? walk_skip : 0;
}

static void forget_walk(void)
{
	walked[0] = '\0';
	walk_files = walk_folders = walk_wrong = 0;
}

static void raw_walk(const char *path, char *names)
{
	char here[64];
	raw_names(path, here);
	for (const char *c = here; *c; c++) {
		char deeper[256];
		add_name(names, (char[]){ *c, '\0' });
		snprintf(deeper, sizeof(deeper), "%s/%c", path, *c);
		if (*c >= 'x')
			raw_walk(deeper, names);
	}
}

/* Behind the first, the folder itself. */
static bool walked_as_listed(void)
{
	char names[64] = "";
	raw_walk(folder, names);
	return !strcmp(walked + 1, names);
}

static bool ftw_fragile(void)
{
	make_folder(true);
	ftw(folder, walk_plain, 4);
	return finish(walked_as_listed());
}

static bool ftw_correct(void)
{
	make_folder(true);
	bool held = !ftw(folder, walk_plain, 1) && walk_files == 3 * FILES &&
		    walk_folders == 3;
	return finish(held && ftw("/tmp/order-no-such-file", walk_plain, 1) ==
				      -1);
}

static bool nftw_fragile(void)
{
	make_folder(true);
	nftw(folder, walk_new, 4, FTW_PHYS);
	return finish(walked_as_listed());
}

static bool walks(int flags, unsigned files)
{
	forget_walk();
	depth_first = flags & FTW_DEPTH;
	change = flags & FTW_CHDIR;
	return !nftw(folder, walk_new, 4, flags) && walk_files == files &&
	       walk_folders == 3 && !walk_wrong;
}

static bool nftw_correct(void)
{
	char path[256], before[256], after[256];
	make_folder(true);
	bool held = getcwd(before, sizeof(before));
	for (int flags = 0; flags < 16 && held; flags++)
		held = walks(flags, 3 * FILES);
	walk_skip = FTW_SKIP_SUBTREE;
	held = held && walks(FTW_ACTIONRETVAL, 2 * FILES);
	held = held && walks(FTW_ACTIONRETVAL | FTW_CHDIR, 2 * FILES);
	walk_skip = FTW_STOP;
	forget_walk();
	held = held && nftw(folder, walk_new, 4, FTW_ACTIONRETVAL) == FTW_STOP;
	walk_skip = 0;
	/* A link to where one came from, and one to nowhere. */
	path_in(path, "x/l");
	held = held && !symlink("..", path) && walks(0, 3 * FILES) &&
	       walks(FTW_CHDIR | FTW_DEPTH, 3 * FILES);
	held = held && getcwd(after, sizeof(after)) && !strcmp(before, after);
	return finish(held);
}

static void names_by_fts(char *names, bool *ret_sound)
{
	char null[] = "/dev/null";
	char *paths[] = { folder, null, folder, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *file;
	int roots = 0, level = 0;
	bool sound = true;
	names[0] = '\0';
	while ((file = fts_read(fts))) {
		if (file->fts_info == FTS_DP)
			continue;
		if (!file->fts_level) {
			sound = sound &&
				!strcmp(file->fts_path, paths[roots]);
			roots++;
		} else if (roots == 1) {
			add_name(names, file->fts_name);
		}
		sound = sound && file->fts_level <= level + 1;
		level = file->fts_level;
	}
	fts_close(fts);
	*ret_sound = sound && roots == 3;
}

static bool fts_read_fragile(void)
{
	char names[64], raw[64] = "";
	bool sound;
	make_folder(true);
	raw_walk(folder, raw);
	names_by_fts(names, &sound);
	return finish(!strcmp(names, raw));
}

static bool fts_read_correct(void)
{
	char names[64];
	bool sound;
	make_folder(false);
	names_by_fts(names, &sound);
	return finish(sound && has_all(names));
}

/* ---- names ---- */

/* The lines of a file, up to the first colon or blank, as written down. */
static bool first_in_file(const char *path, const char *name)
{
	char line[1024];
	FILE *file = fopen(path, "r");
	if (!file)
		return not_here();
	do {
		if (!fgets(line, sizeof(line), file))
			not_here();
		line[strcspn(line, ": \t\n")] = '\0';
	} while (!line[0] || line[0] == '#');
	fclose(file);
	return name && !strcmp(line, name);
}

static bool getpwent_fragile(void)
{
	setpwent();
	const struct passwd *first = getpwent();
	return first && first_in_file("/etc/passwd", first->pw_name);
}

/* As many each time, none twice, and root among them. */
static bool getpwent_correct(void)
{
	unsigned n[3] = {}, root[3] = {};
	for (unsigned i = 0; i < 3; i++) {
		const struct passwd *entry;
		struct passwd space, *result;
		char text[4096];
		setpwent();
		while (i < 2 ? (entry = getpwent()) != NULL :
			       (entry = !getpwent_r(&space, text, sizeof(text),
						    &result) ?
						result :
						NULL) != NULL) {
			n[i]++;
			root[i] += !strcmp(entry->pw_name, "root") &&
				   entry->pw_uid == 0 && entry->pw_dir[0] &&
				   entry->pw_shell[0];
		}
		endpwent();
	}
	return n[0] && n[0] == n[1] && n[0] == n[2] && root[0] == 1 &&
	       root[1] == 1 && root[2] == 1;
}

static bool getgrent_fragile(void)
{
	setgrent();
	const struct group *first = getgrent();
	return first && first_in_file("/etc/group", first->gr_name);
}

static bool getgrent_correct(void)
{
	unsigned n[2] = {}, root[2] = {};
	size_t members[2] = {};
	char text[4096];
	struct group space, *entry;
	setgrent();
	while ((entry = getgrent())) {
		for (char **member = entry->gr_mem; *member; member++)
			members[0] += strlen(*member);
		root[0] += !strcmp(entry->gr_name, "root") && !entry->gr_gid;
		n[0]++;
	}
	setgrent();
	/* A buffer that is too small loses nothing. */
	if (getgrent_r(&space, text, 2, &entry) != ERANGE)
		return false;
	while (!getgrent_r(&space, text, sizeof(text), &entry) && entry) {
		for (char **member = entry->gr_mem; *member; member++)
			members[1] += strlen(*member);
		root[1] += !strcmp(entry->gr_name, "root") && !entry->gr_gid;
		n[1]++;
	}
	endgrent();
	return n[0] && n[0] == n[1] && members[0] == members[1] &&
	       root[0] == 1 && root[1] == 1;
}

static bool getservent_fragile(void)
{
	setservent(0);
	const struct servent *first = getservent();
	return first && first_in_file("/etc/services", first->s_name);
}

static bool getservent_correct(void)
{
	unsigned n[2] = {}, found[2] = {};
	for (unsigned i = 0; i < 2; i++) {
		const struct servent *entry;
		setservent(0);
		while ((entry = getservent())) {
			n[i]++;
			found[i] += !strcmp(entry->s_name, "https") &&
				    !strcmp(entry->s_proto, "tcp") &&
				    ntohs((uint16_t)entry->s_port) == 443;
		}
		endservent();
	}
	return n[0] == n[1] && (!n[0] || (found[0] == 1 && found[1] == 1));
}

static bool getprotoent_fragile(void)
{
	setprotoent(0);
	const struct protoent *first = getprotoent();
	return first && first_in_file("/etc/protocols", first->p_name);
}

static bool getprotoent_correct(void)
{
	unsigned n[2] = {}, found[2] = {};
	for (unsigned i = 0; i < 2; i++) {
		const struct protoent *entry;
		setprotoent(0);
		while ((entry = getprotoent())) {
			n[i]++;
			found[i] += !strcmp(entry->p_name, "tcp") &&
				    entry->p_proto == 6;
		}
		endprotoent();
	}
	return n[0] == n[1] && (!n[0] || (found[0] == 1 && found[1] == 1));
}

static int compare_groups(const void *a, const void *b)
{
	gid_t x = *(const gid_t *)a, y = *(const gid_t *)b;
	return (x > y) - (x < y);
}

static bool getgroups_fragile(void)
{
	const gid_t some[] = { 11, 12, 13, 14 };
	gid_t groups[64];
	if (setgroups(4, some))
		return not_here();
	return getgroups(64, groups) == 4 &&
	       !memcmp(groups, some, sizeof(some));
}

static bool getgroups_correct(void)
{
	const gid_t some[] = { 11, 12, 13, 14 };
	gid_t groups[64];
	if (setgroups(4, some))
		return true;
	if (getgroups(0, NULL) != 4 || getgroups(64, groups) != 4)
		return false;
	qsort(groups, 4, sizeof(groups[0]), compare_groups);
	return !memcmp(groups, some, sizeof(some));
}

/* Somebody who is in a group besides his own. */
static const char *a_member(void)
{
	static char name[64];
	const struct group *group;
	setgrent();
	while (!name[0] && (group = getgrent())) {
		if (group->gr_mem[0])
			snprintf(name, sizeof(name), "%s", group->gr_mem[0]);
	}
	endgrent();
	return name[0] ? name : NULL;
}

static bool getgrouplist_fragile(void)
{
	gid_t groups[64];
	int n = 64;
	const char *name = a_member();
	if (!name)
		return not_here();
	return getgrouplist(name, 54321, groups, &n) > 1 && groups[0] == 54321;
}

static bool getgrouplist_correct(void)
{
	gid_t groups[64];
	int n = 64, none = 0, found = 0;
	const char *name = a_member();
	if (!name)
		return true;
	if (getgrouplist(name, 54321, groups, &none) != -1 ||
	    getgrouplist(name, 54321, groups, &n) != n || n != none)
		return false;
	for (int i = 0; i < n; i++)
		found += groups[i] == 54321;
	return found == 1;
}

static bool getaddrinfo_fragile(void)
{
	struct addrinfo *list = NULL;
	if (getaddrinfo("127.0.0.1", NULL, NULL, &list))
		return not_here();
	bool held = list->ai_socktype == SOCK_STREAM && list->ai_next &&
		    list->ai_next->ai_socktype == SOCK_DGRAM;
	freeaddrinfo(list);
	return held;
}

static bool getaddrinfo_correct(void)
{
	struct addrinfo *list = NULL;
	struct addrinfo hints = { .ai_flags = AI_CANONNAME };
	unsigned n = 0, streams = 0;
	if (getaddrinfo("127.0.0.1", NULL, &hints, &list))
		return true;
	bool held = list->ai_canonname != NULL;
	for (const struct addrinfo *node = list; node; node = node->ai_next) {
		held = held && (node == list || !node->ai_canonname);
		streams += node->ai_socktype == SOCK_STREAM;
		n++;
	}
	freeaddrinfo(list);
	return held && n == 3 && streams == 1;
}

static unsigned count_addresses(unsigned *ret_other)
{
	struct ifaddrs *list = NULL;
	unsigned n = 0;
	*ret_other = 0;
	if (getifaddrs(&list))
		return 0;
	for (const struct ifaddrs *node = list; node; node = node->ifa_next) {
		*ret_other += node->ifa_addr &&
			      node->ifa_addr->sa_family != AF_PACKET;
		n++;
	}
	freeifaddrs(list);
	return n;
}

static bool getifaddrs_fragile(void)
{
	struct ifaddrs *list = NULL;
	unsigned other;
	if (count_addresses(&other) < 2 || !other || getifaddrs(&list))
		return not_here();
	/* Links come first, then addresses. */
	bool held = true, behind = false;
	for (const struct ifaddrs *node = list; node; node = node->ifa_next) {
		bool link = node->ifa_addr &&
			    node->ifa_addr->sa_family == AF_PACKET;
		held = held && !(link && behind);
		behind = behind || !link;
	}
	freeifaddrs(list);
	return held;
}

static bool getifaddrs_correct(void)
{
	unsigned other[2];
	unsigned n = count_addresses(&other[0]);
	return n == count_addresses(&other[1]) && other[0] == other[1];
}

static bool if_nameindex_fragile(void)
{
	struct if_nameindex *list = if_nameindex();
	if (!list || !list[0].if_name || !list[1].if_name)
		return not_here();
	bool held = true;
	for (size_t i = 0; list[i + 1].if_name; i++)
		held = held && list[i].if_index < list[i + 1].if_index;
	if_freenameindex(list);
	return held;
}

static bool if_nameindex_correct(void)
{
	struct if_nameindex *list = if_nameindex();
	bool held = list;
	for (size_t i = 0; list && list[i].if_name; i++)
		held = held && if_nametoindex(list[i].if_name) ==
				       list[i].if_index;
	if (list)
		if_freenameindex(list);
	return held;
}

/* In the order in which they came at first, past the models. */
static bool attributes(char *names, bool raw)
{
	char path[256];
	make_folder(false);
	path_in(path, "a");
	ssize_t n = -1;
	for (char c = '1'; c <= '3'; c++) {
		char name[] = { 'u', 's', 'e', 'r', '.', c, '\0' };
		if (setxattr(path, name, "v", 1, 0))
			return finish(false);
	}
	n = raw ? syscall(SYS_listxattr, path, names, 64) :
		  listxattr(path, names, 64);
	bool same = n == listxattr(path, NULL, 0);
	return finish(same && n >= 21);
}

static bool listxattr_fragile(void)
{
	char names[64] = "", raw[64] = "";
	if (!attributes(raw, true))
		return not_here();
	return attributes(names, false) && !memcmp(names, raw, 21);
}

static bool listxattr_correct(void)
{
	char names[64] = "", raw[64] = "";
	if (!attributes(raw, true))
		return true;
	if (!attributes(names, false))
		return false;
	for (char c = '1'; c <= '3'; c++) {
		char name[] = { 'u', 's', 'e', 'r', '.', c, '\0' };
		if (!memmem(names, sizeof(names), name, sizeof(name)))
			return false;
	}
	return true;
}

/* ---- readiness ---- */

#define CHILDREN 3

/* They have all ended, and nobody has waited for them yet. */
static void start_children(pid_t *pids)
{
	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(i + 1);
		siginfo_t info;
		while (waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOWAIT))
			;
	}
}

static pid_t wait_with_waitid(int *status)
{
	siginfo_t info = {};
	if (waitid(P_ALL, 0, &info, WEXITED))
		return -1;
	*status = info.si_status << 8;
	return info.si_pid;
}

static pid_t wait_with_waitpid(int *status)
{
	return waitpid(-1, status, 0);
}

static pid_t wait_with_wait4(int *status)
{
	struct rusage usage;
	return wait4(-1, status, WNOHANG, &usage);
}

static bool waits_in_order(pid_t (*function)(int *))
{
	pid_t pids[CHILDREN];
	int status = 0;
	bool held = true;
	start_children(pids);
	for (int i = 0; i < CHILDREN; i++)
		held = function(&status) == pids[i] && held;
	return held;
}

static bool waits_for_all(pid_t (*function)(int *))
{
	pid_t pids[CHILDREN];
	int status = 0;
	start_children(pids);
	/* One that is asked for is that one. */
	if (waitpid(pids[1], &status, 0) != pids[1] ||
	    WEXITSTATUS(status) != 2)
		return false;
	for (int i = 0; i < CHILDREN - 1; i++) {
		pid_t pid = function(&status);
		int which = 0;
		while (which < CHILDREN && pids[which] != pid)
			which++;
		if (which == CHILDREN || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != which + 1)
			return false;
		pids[which] = -2;
	}
	errno = 0;
	return function(&status) == -1 && errno == ECHILD;
}

#define WAIT_CASES(name, function)                                             \
	static bool name##_fragile(void)                                       \
	{                                                                      \
		return waits_in_order(function);                               \
	}                                                                      \
	static bool name##_correct(void)                                       \
	{                                                                      \
		return waits_for_all(function);                                \
	}

static pid_t wait_with_wait(int *status)
{
	return wait(status);
}

WAIT_CASES(wait, wait_with_wait)
WAIT_CASES(waitpid, wait_with_waitpid)
WAIT_CASES(wait4, wait_with_wait4)
WAIT_CASES(waitid, wait_with_waitid)

/* Pipes that are ready, in the order in which they became so. */
static bool events_come(bool with_mask, bool in_order)
{
	int epoll = epoll_create1(0), ends[4][2];
	struct epoll_event events[8];
	unsigned seen = 0;
	bool held = true;
	for (int i = 0; i < 4; i++) {
		struct epoll_event event = { .events = EPOLLIN,
					     .data.u32 = (uint32_t)i };
		if (pipe(ends[i]) ||
		    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[i][0], &event) ||
		    write(ends[i][1], "x", 1) != 1)
			return false;
	}
	int n;
	do
		n = with_mask ? epoll_pwait(epoll, events, 8, 1000, NULL) :
				epoll_wait(epoll, events, 8, 1000);
	while (n < 0 && errno == EINTR);
	for (int i = 0; i < n; i++) {
		held = held && events[i].data.u32 == (uint32_t)i;
		seen |= 1U << events[i].data.u32;
	}
	return n == 4 && seen == 15 && (held || !in_order);
}

static bool epoll_wait_fragile(void)
{
	return events_come(false, true);
}

static bool epoll_wait_correct(void)
{
	return events_come(false, false);
}

static bool epoll_pwait_fragile(void)
{
	return events_come(true, true);
}

static bool epoll_pwait_correct(void)
{
	return events_come(true, false);
}

/* As Linux does it: what is left of the time. */
static bool select_fragile(void)
{
	struct timeval left = { .tv_usec = 1000 };
	select(0, NULL, NULL, NULL, &left);
	return !left.tv_sec && !left.tv_usec;
}

static bool select_correct(void)
{
	int ends[2];
	if (pipe(ends) || write(ends[1], "x", 1) != 1)
		return false;
	for (int i = 0; i < 2; i++) {
		struct timeval left = { .tv_sec = 5 };
		fd_set set;
		FD_ZERO(&set);
		FD_SET(ends[0], &set);
		if (select(ends[0] + 1, &set, NULL, NULL, &left) != 1 ||
		    !FD_ISSET(ends[0], &set))
			return false;
	}
	return true;
}

CASES(CASE(qsort), CASE(qsort_r), CASE_INLINED(bsearch),
      CASE_SUBJECT(std_sort), CASE_SUBJECT(std_nth_element),
      CASE_SUBJECT(std_partial_sort), CASE(readdir),
      CASE(readdir_type), CASE(readdir_entry), CASE(getdents64), CASE(scandir),
      CASE(scandirat), CASE(glob), CASE(ftw), CASE(nftw), CASE(fts_read),
      CASE(getpwent), CASE(getgrent), CASE(getservent), CASE(getprotoent),
      CASE(getgroups), CASE(getgrouplist), CASE(getaddrinfo), CASE(getifaddrs),
      CASE(if_nameindex), CASE(listxattr), CASE(wait), CASE(waitpid),
      CASE(wait4), CASE(waitid), CASE(epoll_wait), CASE(epoll_pwait),
      CASE(select))
