#include "table.h"

#include <stdlib.h>

static int *rows;
static int n_rows;
static int ticket;

void table_create(int n)
{
	rows = realloc(rows, (size_t)n * sizeof(*rows));
	n_rows = rows ? n : 0;
}

void table_destroy(void)
{
	free(rows);
	rows = NULL;
	n_rows = 0;
}

int table_rows(void)
{
	return n_rows;
}

int ticket_draw(void)
{
	return ++ticket;
}

void ticket_restart(void)
{
	ticket = 0;
}

// Nothing puts this back.
int secret_bump(void)
{
	static int secret;
	return ++secret;
}

// Something does, but nobody else can call it.
static int hidden;

static void hidden_reset(void)
{
	hidden = 0;
}

int hidden_bump(void)
{
	if (hidden > 1000)
		hidden_reset();
	return ++hidden;
}
