/*
 * PostgreSQL through libpq, which is loaded when it is needed. Only what is used
 * of it is declared (PostgreSQL's manual, "libpq - C Library"): these functions
 * have been the same since version 7.4.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "history/database.h"

#define LIBRARY "libpq.so.5"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

enum { PG_CONNECTION_OK = 0, PG_COMMAND_OK = 1, PG_TUPLES_OK = 2 };

struct postgres {
	void *library;
	PGconn *connection;
	PGconn *(*connect)(const char *url);
	int (*status)(const PGconn *connection);
	char *(*message)(const PGconn *connection);
	void (*finish)(PGconn *connection);
	PGresult *(*execute)(PGconn *connection, const char *sql, int n,
			     const unsigned *types, const char *const *values,
			     const int *lengths, const int *formats,
			     int format);
	int (*result_status)(const PGresult *result);
	int (*rows)(const PGresult *result);
	int (*columns)(const PGresult *result);
	char *(*name)(const PGresult *result, int column);
	char *(*value)(const PGresult *result, int row, int column);
	void (*clear)(PGresult *result);
};

static struct err *postgres_error(const struct postgres *postgres,
				  const char *what)
{
	const char *text = postgres->message(postgres->connection);
	size_t n = strcspn(text, "\n");
	return err_create(ERR_SUITE, "%s: %.*s", what, (int)n, text);
}

static struct err *postgres_read(const struct postgres *postgres,
				 const PGresult *result,
				 struct strv *ret_columns,
				 struct strv *ret_cells)
{
	int columns = postgres->columns(result);
	for (int i = 0; ret_columns && i < columns; i++)
		TRY(strv_add(ret_columns, postgres->name(result, i)));
	for (int i = 0; ret_cells && i < postgres->rows(result); i++) {
		for (int j = 0; j < columns; j++)
			TRY(strv_add(ret_cells, postgres->value(result, i, j)));
	}
	return NULL;
}

static struct err *postgres_run(void *handle, const char *sql,
				const char *const *parameters, size_t n,
				struct strv *ret_columns,
				struct strv *ret_cells)
{
	const struct postgres *postgres = handle;
	PGresult *result = postgres->execute(postgres->connection, sql, (int)n,
					     NULL, parameters, NULL, NULL, 0);
	int status = postgres->result_status(result);
	struct err *err = NULL;
	if (status != PG_COMMAND_OK && status != PG_TUPLES_OK)
		err = postgres_error(postgres, "PostgreSQL");
	else
		err = postgres_read(postgres, result, ret_columns, ret_cells);
	postgres->clear(result);
	return err;
}

static void postgres_close(void *handle)
{
	struct postgres *postgres = handle;
	if (postgres->connection)
		postgres->finish(postgres->connection);
	if (postgres->library)
		dlclose(postgres->library);
	free(postgres);
}

static const struct database_ops postgres_ops = { postgres_run,
						  postgres_close };

static struct err *load_library(struct postgres *postgres)
{
	const struct {
		const char *name;
		void *place;
	} functions[] = {
		{ "PQconnectdb", &postgres->connect },
		{ "PQstatus", &postgres->status },
		{ "PQerrorMessage", &postgres->message },
		{ "PQfinish", &postgres->finish },
		{ "PQexecParams", &postgres->execute },
		{ "PQresultStatus", &postgres->result_status },
		{ "PQntuples", &postgres->rows },
		{ "PQnfields", &postgres->columns },
		{ "PQfname", &postgres->name },
		{ "PQgetvalue", &postgres->value },
		{ "PQclear", &postgres->clear },
	};
	postgres->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!postgres->library)
		return err_hint(err_create(ERR_SUITE,
					   "PostgreSQL needs " LIBRARY
					   ", which cannot be loaded"),
				"on Debian and Ubuntu: apt install libpq5");
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(postgres->library, functions[i].name);
		if (!function)
			return err_create(ERR_SUITE, LIBRARY " has no %s",
					  functions[i].name);
		memcpy(functions[i].place, &function, sizeof(function));
	}
	return NULL;
}

struct err *database_open_postgres(const char *url,
				   struct history_database *ret)
{
	struct postgres *postgres = calloc(1, sizeof(*postgres));
	if (!postgres)
		return err_nomem();
	struct err *err = load_library(postgres);
	if (!err) {
		postgres->connection = postgres->connect(url);
		if (!postgres->connection ||
		    postgres->status(postgres->connection) != PG_CONNECTION_OK)
			err = postgres->connection
				      ? postgres_error(postgres,
						       "no connection")
				      : err_nomem();
	}
	if (err) {
		postgres_close(postgres);
		return err;
	}
	*ret = (struct history_database){ &postgres_ops, postgres };
	return NULL;
}
