/* Tests of a program that keeps notes in files, and a suite of them. The files are under version control. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline long size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static inline void write_text(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

/* Each says whether it passed. */

/* Victim of removes_keep. */
static inline int needs_keep(void)
{
	return size_of("data/keep.txt") == 10;
}

/* Fails the second time: the log is longer then. */
static inline int log_is_short(void)
{
	int good = size_of("data/log.txt") < 40;
	write_text("data/log.txt", "one more line of the log\n", O_APPEND);
	return good;
}

static inline int removes_keep(void)
{
	unlink("data/keep.txt");
	return 1;
}

static inline int grows_log(void)
{
	for (int i = 0; i < 100; i++)
		write_text("data/log.txt", "a line of the log\n", O_APPEND);
	return 1;
}

static inline int renames_over(void)
{
	write_text("data/new.txt", "new\n", O_TRUNC);
	return rename("data/new.txt", "data/settings.txt") == 0;
}

/* Victim of renames_over. */
static inline int reads_settings(void)
{
	return size_of("data/settings.txt") == 12;
}

static inline int makes_folder(void)
{
	mkdir("data/folder", 0755);
	write_text("data/folder/file", "x", O_TRUNC);
	return 1;
}

static inline int cleans_up(void)
{
	write_text("data/scratch", "x", O_TRUNC);
	return unlink("data/scratch") == 0;
}

#define NOTES(X)                                                                                                       \
	X(needs_keep)                                                                                                  \
	X(reads_settings)                                                                                              \
	X(log_is_short)                                                                                                \
	X(cleans_up)                                                                                                   \
	X(removes_keep)                                                                                                \
	X(grows_log)                                                                                                   \
	X(renames_over)                                                                                                \
	X(makes_folder)
