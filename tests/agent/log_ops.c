/*
 * A program that does what it is told, a line each, and answers each with a
 * line: its result. At first it tells where the agent's description is.
 */
#include "same.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int write_file(const char *path, const char *mode, const char *text)
{
	FILE *stream = fopen(path, mode);
	if (!stream)
		return -1;
	return fputs(text, stream) < 0 || fclose(stream) ? -1 : 0;
}

static int run(char **words)
{
	const char *what = words[0], *a = words[1], *b = words[2];
	if (!strcmp(what, "write"))
		return write_file(a, "w", b);
	if (!strcmp(what, "append"))
		return write_file(a, "a", b);
	if (!strcmp(what, "fresh"))
		return close(open(a, O_RDWR | O_CREAT | O_EXCL, 0600));
	if (!strcmp(what, "remove"))
		return remove(a);
	if (!strcmp(what, "mkdir"))
		return mkdir(a, 0755);
	if (!strcmp(what, "rename"))
		return rename(a, b);
	if (!strcmp(what, "truncate"))
		return truncate(a, atoi(b));
	if (!strcmp(what, "chdir"))
		return chdir(a);
	if (!strcmp(what, "again")) {
		/* Not cut off each time: file systems write such to disk. */
		for (int i = atoi(b); i > 0; i--) {
			if (write_file(a, "r+", "again") &&
			    write_file(a, "w", "again"))
				return -1;
		}
		return 0;
	}
	if (!strcmp(what, "fork")) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			/* Goes on in our place. */
			printf("0\n%d\n", getpid());
			fflush(stdout);
			return -4;
		}
		waitpid(child, &status, 0);
		return WTERMSIG(status);
	}
	if (!strcmp(what, "child")) {
		int status;
		pid_t child = fork();
		if (child == 0)
			_exit(run(words + 1) ? 1 : 0);
		return waitpid(child, &status, 0) == child ? status : -1;
	}
	return -2;
}

int main(void)
{
	static char line[8192];
	umask(022);
	printf("%lu\n", (unsigned long)(uintptr_t)&polygraph_agent_files);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		char *words[8] = { strtok(line, " \n") };
		for (int i = 1; i < 7 && words[i - 1]; i++)
			words[i] = strtok(NULL, " \n");
		int result = words[0] ? run(words) : -3;
		if (result != -4)
			printf("%d\n", result);
		fflush(stdout);
	}
	return 0;
}
