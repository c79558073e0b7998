#include "dwarf/index.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/macro.h"
#include "dwarf/index_internal.h"

void index_destroy(struct index_variables *index)
{
	if (!index)
		return;
	vec_free(&index->variables);
	vec_free(&index->vtables);
	vec_free(&index->units);
	free(index);
}

static struct err *read_debug(struct object *object,
			      const struct data_symbols *symbols,
			      struct type_pool *pool, struct map_u64 *pieces,
			      struct index_variables *index, bool *ret_whole)
{
	_cleanup_(scopes_freep) struct scopes scopes = {};
	_cleanup_(type_builder_freep) struct type_builder builder = {
		.object = object,
		.scopes = &scopes,
		.pool = pool,
		.pieces = pieces,
	};
	TRY(vtables_wanted(symbols, &scopes));
	TRY(scopes_read(&scopes, object));
	*ret_whole = !scopes.incomplete;
	if (scopes.incomplete)
		log_debug(LOG_DWARF,
			  "%s: split debug files (.dwo) are missing, so some "
			  "variables and types are not known",
			  object_path(object));
	/* Each DIE is needed once or twice; more is a file made to be slow. */
	builder.steps_max = scopes.dies * 4 + 10000;
	TRY(variables_add(&builder, symbols, index));
	TRY(vtables_add(&builder, symbols, index));
	return type_build_rest(&builder);
}

/* @ret_whole: it did not lack split files, which may yet come. */
static struct err *read_object(struct object *object, struct type_pool *pool,
			       struct index_variables *index, bool *ret_whole)
{
	_cleanup_(data_symbols_freep) struct data_symbols symbols = {};
	_cleanup_(map_u64_freep) struct map_u64 pieces = MAP_INIT;
	type_id first = (type_id)type_count(pool);
	TRY(data_symbols_read(&symbols, object));
	index->debug = object_dwarf(object);
	if (index->debug)
		TRY(read_debug(object, &symbols, pool, &pieces, index,
			       ret_whole));
	TRY(type_settle(pool, first));
	TRY(variables_finish(pool, &symbols, &pieces, index));
	TRY(data_symbols_add(&symbols, pool, index));
	log_debug(LOG_DWARF, "%s: %zu variables, %zu types, %zu vtables",
		  object_path(object), index->variables.n,
		  type_count(pool) - first, index->vtables.n);
	return NULL;
}

struct err *index_load(struct object *object, const char *cache,
		       struct type_pool *pool, struct index_variables **ret)
{
	_cleanup_(index_destroyp) struct index_variables *index = NULL;
	if (cache)
		TRY(index_cache_read(object, cache, pool, &index));
	log_debug(LOG_DWARF, "%s: variables and types are read from %s",
		  object_path(object), index ? "the cache" : "the file");
	if (!index) {
		index = calloc(1, sizeof(*index));
		if (!index)
			return err_nomem();
		type_id first = (type_id)type_count(pool);
		bool whole = true;
		TRY(read_object(object, pool, index, &whole));
		/* Without a cache it takes longer the next time: no error. */
		if (cache && whole)
			err_ignore(index_cache_write(object, cache, pool, first,
						     index));
	}
	*ret = take_ptr(index);
	return NULL;
}
