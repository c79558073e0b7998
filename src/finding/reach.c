#include "finding/reach.h"

void order_reach_free(struct order_reach *reach)
{
	for (size_t i = 0; i < reach->executed.n; i++) {
		vec_free(&reach->executed.data[i].order);
		vec_free(&reach->executed.data[i].differing);
	}
	vec_free(&reach->executed);
	vec_free(&reach->examined);
	free(reach->matrix);
	*reach = (struct order_reach){};
}

void choices_reach_free(struct choices_reach *reach)
{
	for (size_t i = 0; i < reach->outcomes.n; i++)
		vec_free(&reach->outcomes.data[i].failed);
	vec_free(&reach->outcomes);
	strv_free(&reach->met);
	vec_free(&reach->spaces);
	*reach = (struct choices_reach){};
}
