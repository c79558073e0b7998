#include "framework/qtest_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "framework/adapter.h"
#include "tracee/memory.h"

#define ROWS_MAX 10000000
/* In a QTestTablePrivate, after a vector. */
#define ROWS_AT 24

struct rows_search {
	struct run *run;
	bool global;	  /* in the table of all functions */
	char *wanted;	  /* the tags of the test */
	char *global_tag; /* of the row of that table; "": there is none */
	uint64_t hint;
	uint64_t at; /* the vector */
	uint64_t bounds[2];
};

static void rows_search_free(struct rows_search *search)
{
	free(search->wanted);
	free(search->global_tag);
}

struct err *qtest_rows_show(struct run *run, struct qtest_rows *rows)
{
	uint64_t at = rows->at;
	rows->at = 0;
	return at ? memory_write(run->tracee, RADDR(at), rows->bounds,
				 sizeof(rows->bounds))
		  : NULL;
}

struct err *qtest_rows_join_tags(const char *global, const char *local,
				 char **ret)
{
	TRY(str_format(ret, "%s%s%s", global, *global && *local ? ":" : "",
		       local));
	return NULL;
}

/* A row is a QTestData, whose private part begins with its tag. */
static struct err *rows_read_tag(struct run *run, uint64_t row_at, char **ret)
{
	uint64_t row, data, tag;
	TRY(run_u64(run, RADDR(row_at), &row));
	TRY(run_u64(run, RADDR(row), &data));
	TRY(run_u64(run, RADDR(data), &tag));
	return run_text(run, RADDR(tag), ret);
}

static struct err *rows_is_wanted(const struct rows_search *search,
				  uint64_t row_at, bool *ret)
{
	_cleanup_(freep) char *tag = NULL, *both = NULL;
	TRY(rows_read_tag(search->run, row_at, &tag));
	if (search->global) {
		const char *rest = search->wanted + strlen(tag);
		*ret = str_starts(search->wanted, tag) &&
		       (!*tag || !*rest || *rest == ':');
		return NULL;
	}
	TRY(qtest_rows_join_tags(search->global_tag, tag, &both));
	*ret = !strcmp(both, search->wanted);
	return NULL;
}

/* *@ret == @n: there is no such row. */
static struct err *rows_find(const struct rows_search *search, uint64_t n,
			     uint64_t *ret)
{
	bool found = false;
	for (uint64_t i = 0; i <= n && !found; i++) {
		*ret = i ? i - 1 : search->hint;
		if (*ret < n)
			TRY(rows_is_wanted(search, search->bounds[0] + *ret * 8,
					   &found));
	}
	if (!found)
		*ret = n;
	return NULL;
}

static struct err *rows_search_begin(struct run *run, size_t test,
				     uint64_t table, uint64_t hint,
				     struct rows_search *search)
{
	const char *name = run_name(run, test);
	const char *from = strchr(name, '('), *to = strrchr(name, ')');
	uint64_t data;
	search->run = run;
	search->hint = hint;
	TRY(run_u64(run, RADDR(table), &data));
	search->at = data + ROWS_AT;
	TRY(memory_read(run->tracee, RADDR(search->at), search->bounds,
			sizeof(search->bounds)));
	if (search->bounds[1] < search->bounds[0] ||
	    (search->bounds[1] - search->bounds[0]) / 8 > ROWS_MAX)
		return adapter_unknown_version(run, "a table makes no sense");
	search->wanted = from && to && to > from
				 ? strndup(from + 1, (size_t)(to - from - 1))
				 : strdup("");
	return search->wanted ? NULL : err_nomem();
}

static struct err *rows_search_end(const struct rows_search *search,
				   struct qtest_rows *rows, bool *ret_found)
{
	uint64_t n = (search->bounds[1] - search->bounds[0]) / 8, row;
	TRY(rows_find(search, n, &row));
	*ret_found = row < n;
	if (!*ret_found)
		return NULL;
	const uint64_t one[2] = { search->bounds[0] + row * 8,
				  search->bounds[0] + row * 8 + 8 };
	rows->at = search->at;
	memcpy(rows->bounds, search->bounds, sizeof(rows->bounds));
	return memory_write(search->run->tracee, RADDR(rows->at), one,
			    sizeof(one));
}

struct err *qtest_rows_narrow_global(struct run *run, size_t test,
				     uint64_t table, uint64_t hint,
				     struct qtest_rows *rows, bool *ret_found)
{
	_cleanup_(rows_search_free) struct rows_search search = {
		.global = true,
	};
	TRY(rows_search_begin(run, test, table, hint, &search));
	*ret_found = true;
	return search.bounds[0] == search.bounds[1]
		       ? NULL
		       : rows_search_end(&search, rows, ret_found);
}

struct err *qtest_rows_narrow(struct run *run, size_t test, uint64_t table,
			      uint64_t hint, const struct qtest_rows *global,
			      struct qtest_rows *rows, bool *ret_found)
{
	_cleanup_(rows_search_free) struct rows_search search = {};
	uint64_t row = 0;
	TRY(rows_search_begin(run, test, table, hint, &search));
	if (global->at)
		TRY(run_u64(run, RADDR(global->at), &row));
	if (row)
		TRY(rows_read_tag(run, row, &search.global_tag));
	else
		search.global_tag = strdup("");
	if (!search.global_tag)
		return err_nomem();
	/* A function may have no rows of its own. */
	*ret_found = !strcmp(search.wanted, search.global_tag);
	return search.bounds[0] == search.bounds[1]
		       ? NULL
		       : rows_search_end(&search, rows, ret_found);
}
