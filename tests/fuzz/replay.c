/*
 * Runs a fuzz target over files, or over the files of folders, without a
 * fuzzer: how the seeds are tested by every build, and how an input that a
 * fuzzer found is looked at in a debugger.
 *
 *	fuzz_NAME FILE-OR-FOLDER…
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replayed;

static void fail(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(1);
}

static void replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rbe");
	/* Exactly the size, so that a sanitizer sees one byte too far. */
	uint8_t *data = malloc(size ? size : 1);
	if (!file || !data || fread(data, 1, size, file) != size)
		fail(path);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	replayed++;
}

static void replay(const char *path)
{
	struct stat st;
	if (stat(path, &st))
		fail(path);
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path, (size_t)st.st_size);
		return;
	}
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		fail(path);
	for (int i = 0; i < n; i++) {
		char *child = NULL;
		if (entries[i]->d_name[0] != '.') {
			if (asprintf(&child, "%s/%s", path,
				     entries[i]->d_name) < 0)
				fail(path);
			replay(child);
		}
		free(child);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%d inputs\n", replayed);
	if (!replayed) {
		fputs("no inputs: give files, or folders with files\n", stderr);
		return 1;
	}
	return 0;
}
