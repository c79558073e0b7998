#include "suite/explore.h"

#include "suite/kind.h"

void suite_graph_free(struct suite_graph *graph)
{
	vec_free(&graph->nodes);
	vec_free(&graph->edges);
	*graph = (struct suite_graph){};
}

struct err *suite_explore(struct suite *suite, size_t test,
			  const struct suite_choices *choices,
			  const struct suite_explore_options *options,
			  struct suite_graph *ret)
{
	*ret = (struct suite_graph){
		.obstacle = "tests of this suite are processes",
	};
	if (!suite->ops->explore)
		return NULL;
	return suite->ops->explore(suite, test, choices, options, ret);
}
