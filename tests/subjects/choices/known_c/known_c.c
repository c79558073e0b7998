// What C and POSIX leave open, and the errors that are known for it, in cmocka; beside each a test that is written
// correctly. -fno-builtin: short comparisons would be inlined.
//
//@ subject framework=cmocka lang=c header=cmocka.h prefix=tests/
//@ variant plain cflags="-fno-builtin" libs="-lcmocka -pthread" quick=gcc-O0,clang-O2
//@ variant nodebug cflags="-fno-builtin" libs="-lcmocka -pthread" debug=none builds=gcc-O2
//@ run check command=check on=plain-gcc-O0
//@ run sorting --api qsort --api strcmp --level one --runs 3 partial=yes quick=no
//@ unmet readdir read memcmp pthread_cond_wait in=sorting
//@ met qsort strcmp in=sorting

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// Lists of names from a folder.

static int make_folder(void **state)
{
	static char path[64];
	snprintf(path, sizeof(path), "listing-XXXXXX");
	if (!mkdtemp(path))
		return -1;
	for (int i = 0; i < 4; i++) {
		char name[128];
		snprintf(name, sizeof(name), "%s/%c", path, "dacb"[i]);
		FILE *file = fopen(name, "w");
		if (!file)
			return -1;
		fclose(file);
	}
	*state = path;
	return 0;
}

static int drop_folder(void **state)
{
	for (int i = 0; i < 4; i++) {
		char name[128];
		snprintf(name, sizeof(name), "%s/%c", (char *)*state, "abcd"[i]);
		unlink(name);
	}
	return rmdir(*state);
}

static void list_folder(const char *path, char *list)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t n = 0;
	assert_non_null(dir);
	while ((entry = readdir(dir))) { //@ assumption lists_in_order api=readdir argument="...entries of..." function=list_folder
		if (entry->d_name[0] != '.')
			list[n++] = entry->d_name[0];
	}
	list[n] = '\0';
	closedir(dir);
}

// What today's file system says, whatever that is.
static const char *listing(const char *path)
{
	static char list[16];
	char command[128], line[16];
	size_t n = 0;
	snprintf(command, sizeof(command), "ls -U %s", path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		list[n++] = line[0];
	list[n] = '\0';
	pclose(pipe);
	return list;
}

static void lists_in_order(void **state)
{
	char list[16];
	list_folder(*state, list);
	assert_string_equal(list, listing(*state));
}

static int compare_chars(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

static void lists_sorted(void **state)
{
	char list[16];
	list_folder(*state, list);
	qsort(list, strlen(list), 1, compare_chars);
	assert_string_equal(list, "abcd");
}

// Sorting by one of two fields.

struct person {
	const char *name;
	int age;
};

static int compare_age(const void *a, const void *b)
{
	return ((const struct person *)a)->age - ((const struct person *)b)->age;
}

static int compare_both(const void *a, const void *b)
{
	int order = compare_age(a, b);
	return order ? order : strcmp(((const struct person *)a)->name, ((const struct person *)b)->name);
}

static void sort_is_stable(void **state)
{
	struct person people[] = { { "ann", 30 }, { "bob", 25 }, { "cid", 30 }, { "dan", 25 } };
	(void)state;
	qsort(people, 4, sizeof(*people), compare_age); //@ assumption sort_is_stable api=qsort argument="4 elements..."
	assert_string_equal(people[0].name, "bob");
	assert_string_equal(people[2].name, "ann");
}

static void sort_by_all(void **state)
{
	struct person people[] = { { "cid", 30 }, { "bob", 25 }, { "ann", 30 }, { "dan", 25 } };
	(void)state;
	qsort(people, 4, sizeof(*people), compare_both);
	assert_string_equal(people[0].name, "bob");
	assert_string_equal(people[1].name, "dan");
	assert_string_equal(people[2].name, "ann");
}

// Comparisons.

static void compares_with_one(void **state)
{
	const char *volatile a = "abd", *volatile b = "abc";
	(void)state;
	assert_int_equal(strcmp(a, b), 1); //@ assumption compares_with_one api=strcmp
}

static void compares_sign(void **state)
{
	const char *volatile a = "abd", *volatile b = "abc";
	(void)state;
	assert_true(strcmp(a, b) > 0);
	assert_true(strcmp(b, a) < 0);
	assert_int_equal(strcmp(a, a), 0);
}

// A structure with padding behind its first member.

struct padded {
	char kind;
	long value;
	char more[3000]; // of a size that no other test frees
};

static struct padded *make_padded(char kind, long value)
{
	struct padded *one = malloc(sizeof(*one)); //@ assumption compares_padding api=malloc-contents function=make_padded
	assert_non_null(one);
	memset(one->more, 0, sizeof(one->more));
	one->kind = kind;
	one->value = value;
	return one;
}

static void compares_padding(void **state)
{
	struct padded model, *one = make_padded('x', 7);
	(void)state;
	memset(&model, 0, sizeof(model));
	model.kind = 'x';
	model.value = 7;
	assert_true(memcmp(one, &model, sizeof(model)) == 0);
	free(one);
}

static void compares_members(void **state)
{
	struct padded *one = make_padded('x', 7), *other = make_padded('x', 7);
	(void)state;
	assert_true(one->kind == other->kind && one->value == other->value);
	free(one);
	free(other);
}

// A stream gives what it has.

static void send_text(int fd[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	const char *text = "a line of some length";
	size_t done = 0, n = strlen(text);
	while (done < n) {
		ssize_t some = write(fd[1], text + done, n - done);
		assert_true(some > 0);
		done += some;
	}
	close(fd[1]);
}

static void reads_once(void **state)
{
	char text[64] = "";
	int fd[2];
	(void)state;
	send_text(fd);
	assert_true(read(fd[0], text, sizeof(text) - 1) > 0); //@ assumption reads_once api=read level=id
	close(fd[0]);
	assert_string_equal(text, "a line of some length");
}

static void reads_all(void **state)
{
	char text[64] = "";
	size_t n = 0;
	ssize_t some;
	int fd[2];
	(void)state;
	send_text(fd);
	while ((some = read(fd[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += some;
	close(fd[0]);
	assert_string_equal(text, "a line of some length");
}

// A condition is waited for.

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *make_ready(void *unused)
{
	usleep(20000);
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return unused;
}

static int wait_for(int loop)
{
	pthread_t thread;
	ready = 0;
	pthread_mutex_lock(&lock);
	assert_int_equal(pthread_create(&thread, NULL, make_ready, NULL), 0);
	if (!loop)
		pthread_cond_wait(&changed, &lock); //@ assumption waits_once api=pthread_cond_wait level=id
	while (loop && !ready)
		pthread_cond_wait(&changed, &lock);
	int seen = ready;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return seen;
}

static void waits_once(void **state)
{
	(void)state;
	assert_true(wait_for(0));
}

static void waits_in_a_loop(void **state)
{
	(void)state;
	assert_true(wait_for(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists_in_order, make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(lists_sorted, make_folder, drop_folder),
		cmocka_unit_test(sort_is_stable),
		cmocka_unit_test(sort_by_all),
		cmocka_unit_test(compares_with_one),
		cmocka_unit_test(compares_sign),
		cmocka_unit_test(compares_padding),
		cmocka_unit_test(compares_members),
		cmocka_unit_test(reads_once),
		cmocka_unit_test(reads_all),
		cmocka_unit_test(waits_once),
		cmocka_unit_test(waits_in_a_loop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
