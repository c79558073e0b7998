#pragma once

struct settings {
	int level;
	char *name;
	struct settings *parent;
};

extern int library_public;
extern struct settings *library_settings;
int library_next(void);
int library_hidden(void);
void library_set_hidden(int value);
void library_rebuild(void);
int *library_thread_value(void);
