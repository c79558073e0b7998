// A library of the project, with variables that the program sees and some that it does not.
#include "library.h"

#include <stdlib.h>
#include <string.h>

int library_public = 1;
struct settings *library_settings;
static int hidden;
__attribute__((visibility("hidden"))) int hidden_global;
static _Thread_local int thread_value;

__attribute__((constructor)) static void start(void)
{
	library_settings = calloc(1, sizeof(*library_settings));
	library_settings->name = strdup("base");
}

int library_next(void)
{
	static int last;
	return ++last;
}

int library_hidden(void)
{
	return hidden + hidden_global;
}

void library_set_hidden(int value)
{
	hidden = value;
	hidden_global = value;
}

void library_rebuild(void)
{
	struct settings *copy = calloc(1, sizeof(*copy));
	*copy = *library_settings;
	copy->name = strdup(library_settings->name);
	free(library_settings->name);
	free(library_settings);
	library_settings = copy;
}

int *library_thread_value(void)
{
	return &thread_value;
}
