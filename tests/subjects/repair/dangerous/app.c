#define _GNU_SOURCE
#include "app.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int level = 1;

int app_level(void)
{
	return level;
}

void app_raise(void)
{
	level += 5;
}

void app_level_back(void)
{
	level = 1;
}

// The following are likelier by their names, and harm others.
void app_reset_all_files(void)
{
	remove("input.txt");
	FILE *file = fopen("app.c", "w");
	if (file)
		fclose(file);
	level = 1;
}

void app_reset_others(void)
{
	level = 2;
	kill(getppid(), SIGKILL);
	if (killpg(getpgid(getppid()), SIGKILL))
		level = 3;
}

void app_clear_by_program(void)
{
	level = 2;
	if (system("rm -f input.txt; echo x > made.txt"))
		level = 3;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *level)
{
	(void)status, (void)kind, (void)level;
	return remove(path) * 0;
}

// Everything here, and what the folder above has.
void app_reset_tree(void)
{
	nftw(".", remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	nftw("..", remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	level = 1;
}

void app_reset_names(void)
{
	rename("app.c", "app.old");
	rename("input.txt", "test_app.c");
	if (symlink("/etc/passwd", "input.txt"))
		level = 3;
	level = 1;
}

void app_reset_modes(void)
{
	chmod("input.txt", 0);
	chmod(".", 0500);
	if (truncate("app.h", 0) || truncate("build.sh", 3))
		level = 2;
	level = 1;
}

// Without the C library's function for it.
void app_reset_by_number(void)
{
	level = 2;
	syscall(SYS_kill, getppid(), SIGKILL);
	syscall(SYS_unlinkat, AT_FDCWD, "input.txt", 0);
}

void app_clear_group(void)
{
	level = 2;
	kill(0, SIGKILL);
}

void app_clear_by_child(void)
{
	level = 1;
	if (!fork()) {
		remove("input.txt");
		for (;;)
			pause();
	}
}

void app_clear_and_leave(void)
{
	level = 1;
	_exit(0);
}

void app_clear_and_wait(void)
{
	level = 1;
	for (;;)
		pause();
}
