// A suite whose tests write files in a tree. The environment says which and how many, besides what suite.h asks for:
//
//   BENCH_TREE   the folder; each test has a folder of its own in it, named by its number
//   BENCH_FILES  files that a test writes, of 1 KiB each
//   BENCH_FIRST  the number of the first test's folder
//   BENCH_MODE   rewrite: files that are there get the same content; remove: new files that the test removes itself;
//                leave: new files that stay
#include "suite.h"

#include <unistd.h>

static const char *tree;
static int files;
static int first;
static const char *mode;

static void write_file(const char *path)
{
	char content[1024];
	memset(content, 'x', sizeof(content));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, content, sizeof(content)) != sizeof(content)) {
		perror(path);
		exit(2);
	}
	close(fd);
}

static void run_test(int test)
{
	char path[4096];
	for (int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "%s/%d/%s%d", tree, first + test, strcmp(mode, "rewrite") ? "new" : "", i);
		write_file(path);
	}
	spin();
	for (int i = 0; i < files && !strcmp(mode, "remove"); i++) {
		snprintf(path, sizeof(path), "%s/%d/new%d", tree, first + test, i);
		unlink(path);
	}
}

static void prepare(void)
{
	tree = getenv("BENCH_TREE");
	mode = getenv("BENCH_MODE");
	files = (int)number("BENCH_FILES", 10);
	first = (int)number("BENCH_FIRST", 0);
	if (!tree || !mode) {
		fputs("BENCH_TREE and BENCH_MODE are not set\n", stderr);
		exit(2);
	}
}
