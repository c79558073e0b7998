#include "app.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

void app_clear_and_wait(void)
{
	level = 1;
	for (;;)
		pause();
}
