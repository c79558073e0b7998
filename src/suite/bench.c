#include "suite/bench.h"

#include <stdlib.h>

#include "suite/kind.h"

void suite_symbols_free(struct suite_symbols *symbols)
{
	for (size_t i = 0; i < symbols->n; i++)
		free(symbols->data[i].name);
	vec_free(symbols);
}

void suite_code_free(struct suite_code *code)
{
	routines_free(&code->routines);
	free(code->folder);
	free(code->producer);
	strv_free(&code->folders);
	*code = (struct suite_code){};
}

struct err *suite_work_bench(struct suite *suite,
			     const struct suite_bench_options *options,
			     suite_bench_work *work, void *data,
			     const struct suite_observer *observer,
			     const char **ret_why_not)
{
	const char *why_not = NULL;
	if (suite->ops->work_bench)
		TRY(suite->ops->work_bench(suite, options, work, data, observer,
					   &why_not));
	else
		why_not = "its tests are processes of their own";
	if (ret_why_not)
		*ret_why_not = why_not;
	return NULL;
}

struct err *suite_describe_code(struct suite *suite, const char *file,
				struct suite_code *ret)
{
	return suite->ops->read_code ? suite->ops->read_code(suite, file, ret)
				     : NULL;
}
