/*
 * Random operations, and what is told of them against a plain comparison of the
 * whole tree: everything that differs is told, and nothing else.
 */
#include "files_unit.h"

#include <dirent.h>

/* What was done since the last point, shown where it fails. */
static char done[4096];
static void note(const char *what, const char *a, const char *b)
{
	size_t n = strlen(done);
	snprintf(done + n, sizeof(done) - n, "%s %s %s: %s\n", what, a, b,
		 strerror(errno));
}
#define complain(...)                                                          \
	do {                                                                   \
		print_error("%s--\n%s", done, shown(told));                    \
		fail_msg(__VA_ARGS__);                                         \
	} while (0)
#define expect(cond, path)                                                     \
	do {                                                                   \
		if (!(cond))                                                   \
			complain("%s: not %s", (path), #cond);                 \
	} while (0)
static struct box *told;

enum { NAMES = 1024, ROUNDS = 1000, OPERATIONS = 12 };

struct item {
	char path[512]; /* below the box */
	mode_t mode;
	ino_t ino;
	char content[64]; /* or target */
};

struct tree {
	struct item items[NAMES];
	size_t n;
};

static void read_tree(const struct box *box, const char *folder,
		      struct tree *ret)
{
	DIR *dir = opendir(*folder ? at(box, folder) : box->dir);
	assert_non_null(dir);
	const struct dirent *entry;
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		assert_true(ret->n < NAMES);
		struct item *item = &ret->items[ret->n++];
		struct stat st;
		memset(item, 0, sizeof(*item));
		snprintf(item->path, sizeof(item->path), "%.440s%s%.60s",
			 folder, *folder ? "/" : "", entry->d_name);
		assert_int_equal(lstat(at(box, item->path), &st), 0);
		item->mode = st.st_mode;
		item->ino = st.st_ino;
		if (S_ISREG(st.st_mode)) {
			int fd = open(at(box, item->path), O_RDONLY);
			assert_true(fd >= 0);
			assert_true(read(fd, item->content, 63) >= 0);
			close(fd);
		} else if (S_ISLNK(st.st_mode)) {
			assert_true(readlink(at(box, item->path), item->content,
					     63) > 0);
		} else {
			char path[512];
			snprintf(path, sizeof(path), "%s", item->path);
			read_tree(box, path, ret);
		}
	}
	closedir(dir);
}

static const struct item *item_of(const struct tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->n; i++) {
		if (!strcmp(tree->items[i].path, path))
			return &tree->items[i];
	}
	return NULL;
}

static bool below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return !strncmp(path, folder, n) && path[n] == '/';
}

static bool same(const struct item *a, const struct item *b)
{
	if (!a || !b)
		return !a && !b;
	return a->mode == b->mode && !strcmp(a->content, b->content);
}

/* Where what was at @path is now, by the renamings told. */
static const char *moved(const struct changes *changes, const char *path,
			 bool back)
{
	static char text[1024];
	size_t best = 0;
	snprintf(text, sizeof(text), "%s", path);
	for (size_t i = 0; i < changes->n; i++) {
		for (size_t j = 0; j < changes->data[i].n; j++) {
			const struct change_path *p =
				&changes->data[i].paths[j];
			const char *from = back ? p->after : p->before;
			const char *to = back ? p->before : p->after;
			size_t n = strlen(from);
			if (!strstr(p->path, ": name") || n < best ||
			    (strcmp(path, from) && !below(path, from)))
				continue;
			best = n;
			snprintf(text, sizeof(text), "%s%s", to, path + n);
		}
	}
	return text;
}

static const struct change *change_of(const struct changes *changes,
				      const char *root)
{
	for (size_t i = 0; i < changes->n; i++) {
		if (!strcmp(changes->data[i].root, root))
			return &changes->data[i];
	}
	return NULL;
}

/* Is a folder above told to have come or gone? */
static bool told_above(const struct changes *changes, const char *path)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct change_path *p = &changes->data[i].paths[0];
		if (below(path, changes->data[i].root) &&
		    (!strcmp(p->before, "absent") ||
		     !strcmp(p->after, "absent") || strstr(p->path, ": type")))
			return true;
	}
	return false;
}

/* Is the file told of under another of its names? */
static bool told_by_twin(const struct changes *changes,
			 const struct tree *after, const struct item *item)
{
	for (size_t i = 0; i < after->n; i++) {
		if (after->items[i].ino == item->ino &&
		    (change_of(changes, after->items[i].path) ||
		     change_of(changes,
			       moved(changes, after->items[i].path, true))))
			return true;
	}
	return false;
}

static void check_complete(const struct changes *changes,
			   const struct tree *before, const struct tree *after)
{
	for (size_t i = 0; i < before->n; i++) {
		const struct item *item = &before->items[i];
		const struct item *now = item_of(after, item->path);
		if (same(item, now) || change_of(changes, item->path) ||
		    told_above(changes, item->path))
			continue;
		const struct item *there =
			item_of(after, moved(changes, item->path, false));
		if (same(item, there) ||
		    (now && told_by_twin(changes, after, now)) ||
		    (there && told_by_twin(changes, after, there)))
			continue;
		/* Written by a name that is gone: it cannot know this one. */
		if (!told->walk && told_by_twin(changes, before, item))
			continue;
		complain("%s is changed or gone, and not told", item->path);
	}
	for (size_t i = 0; i < after->n; i++) {
		const struct item *item = &after->items[i];
		if (item_of(before, item->path) ||
		    change_of(changes, item->path) ||
		    told_above(changes, item->path))
			continue;
		const char *was = moved(changes, item->path, true);
		if (strcmp(was, item->path) && item_of(before, was))
			continue;
		complain("%s is new, and not told", item->path);
	}
}

static void check_sound(const struct changes *changes,
			const struct tree *before, const struct tree *after)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->data[i];
		for (size_t j = 0; j < change->n; j++) {
			const struct change_path *p = &change->paths[j];
			const struct item *a = item_of(before, change->root);
			const struct item *b = item_of(after, change->root);
			if (!strcmp(p->before, "absent")) {
				expect(!a, p->path);
				expect(b, p->path);
			} else if (!strcmp(p->after, "absent")) {
				expect(a, p->path);
				/* By way of a renamed folder, perhaps. */
				const char *now =
					moved(changes, change->root, false);
				if (!strcmp(now, change->root))
					expect(!b, p->path);
				else
					expect(!item_of(after, now), p->path);
			} else if (strstr(p->path, ": name")) {
				expect(a, p->path);
				b = item_of(after, p->after);
				expect(b, p->path);
				expect(a->ino == b->ino, p->path);
			} else {
				if (same(a, b) || !b)
					b = item_of(after,
						    moved(changes, change->root,
							  false));
				expect(a, p->path);
				expect(b, p->path);
				if (same(a, b) && !strstr(p->path, ": links"))
					complain("%s did not change: %s, %s",
						 p->path, p->before, p->after);
			}
		}
	}
}

static const char *some_name(unsigned *seed)
{
	static char names[4][64];
	static unsigned turn;
	static const char *const folders[] = { "",	 "",	  "d0/",
					       "d1/",	 "d2/",	  "d0/d1/",
					       "d1/d0/", "d2/d2/" };
	char *name = names[turn++ % 4];
	snprintf(name, 64, "%s%c%d", folders[rand_r(seed) % 8],
		 rand_r(seed) % 3 ? 'f' : 'd', rand_r(seed) % 3);
	return name;
}

static void some_operation(struct box *box, unsigned *seed)
{
	static const char *const names[] = { "write",  "write",	 "write",
					     "rename", "rename", "unlink",
					     "link",   "chmod",	 "symlink",
					     "mkdir",  "mkdir",	 "rmdir" };
	const char *a = some_name(seed), *b = some_name(seed);
	int which = rand_r(seed) % 12;
	char text[32];
	int fd;
	errno = 0;
	switch (which) {
	case 0:
	case 1:
	case 2:
		/* Few contents, so that some are the same again. */
		snprintf(text, sizeof(text), "text %d\n", rand_r(seed) % 3);
		fd = op_open(box, a, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
			     0644);
		if (fd >= 0)
			assert_int_equal(write(fd, text, strlen(text)),
					 strlen(text));
		if (fd >= 0)
			close(fd);
		break;
	case 3:
	case 4:
		op_rename(box, a, b);
		break;
	case 5:
		op_unlink(box, a);
		break;
	case 6:
		op_link(box, a, b);
		break;
	case 7:
		/* Not through links: the name of the file would be told. */
		if (readlink(at(box, a), text, sizeof(text)) < 0)
			op_chmod(box, a, rand_r(seed) % 2 ? 0700 : 0755);
		break;
	case 8:
		op_symlink(box, rand_r(seed) % 2 ? "one" : "two", a);
		break;
	case 9:
	case 10:
		op_mkdir(box, a, 0755);
		break;
	default:
		op_rmdir(box, a);
	}
	note(names[which], a, which >= 3 && which <= 6 ? b : "");
}

static void rounds(bool walk, int n, unsigned seed)
{
	static struct tree before, after;
	struct box box;
	told = &box;
	box_open(&box, walk);
	box_files(&box);
	after.n = 0;
	for (int i = 0; i < n; i++) {
		before = after;
		done[0] = '\0';
		int operations = rand_r(&seed) % OPERATIONS;
		for (int j = 0; j < operations; j++)
			some_operation(&box, &seed);
		capture(&box);
		after.n = 0;
		read_tree(&box, "", &after);
		check_complete(&box.changes, &before, &after);
		check_sound(&box.changes, &before, &after);
	}
	box_close(&box);
}

static void test_following(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 2; seed++)
		rounds(false, ROUNDS, seed);
}

static void test_walking(void **state)
{
	(void)state;
	rounds(true, ROUNDS, 11);
}

static void test_walking_without_inotify(void **state)
{
	(void)state;
	setenv("POLYGRAPH_FAULT_INOTIFY", "1", 1);
	rounds(true, ROUNDS, 12);
	unsetenv("POLYGRAPH_FAULT_INOTIFY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_following),
		cmocka_unit_test(test_walking),
		cmocka_unit_test(test_walking_without_inotify),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
