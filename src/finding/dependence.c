#include "finding/dependence.h"

#include <stdlib.h>

#include "finding/words.h"

void order_lists_free(struct order_lists *lists)
{
	for (size_t i = 0; i < lists->n; i++)
		vec_free(&lists->data[i]);
	vec_free(lists);
}

void dependence_free(struct dependence *dependence)
{
	order_lists_free(&dependence->polluters);
	order_lists_free(&dependence->setters);
	order_lists_free(&dependence->cleaners);
	for (size_t i = 0; i < dependence->cleaned.n; i++)
		order_lists_free(&dependence->cleaned.data[i]);
	vec_free(&dependence->cleaned);
	vec_free(&dependence->passing);
	vec_free(&dependence->failing);
	finding_failure_free(&dependence->failure);
	strv_free(&dependence->polluted);
	strv_free(&dependence->because);
	change_free(&dependence->left.change);
	free(dependence->left.path);
	free(dependence->left.before);
	free(dependence->left.after);
	free(dependence->left.call);
}

static void dependence_destroy(void *evidence)
{
	dependence_free(evidence);
	free(evidence);
}

const struct finding_kind dependence_kind = {
	.name = "order-dependent",
	.prefix = "order",
	.command = "order",
	.free = dependence_destroy,
};

const char *order_class_name(enum order_class class)
{
	static const char *const names[] = { "victim", "brittle",
					     "non-idempotent", "unexplained" };
	return names[class];
}

const struct order_lists *
dependence_culprits(const struct dependence *dependence)
{
	return dependence->class == ORDER_VICTIM    ? &dependence->polluters
	       : dependence->class == ORDER_BRITTLE ? &dependence->setters
						    : NULL;
}

struct err *dependence_append_order(struct str *line,
				    const struct roster *roster,
				    const struct order_tests *order)
{
	size_t before = order->n ? order->n - 1 : 0;
	if (!before)
		return str_append(line, "alone");
	if (before == 1 && order->data[0] == order->data[1])
		return str_append(line, "when run a second time");
	TRY(str_append(line, "after "));
	return words_append_tests(line, roster, order->data, before,
				  DEPENDENCE_NAMES_MAX);
}

struct err *dependence_append_way(struct str *line, const struct roster *roster,
				  const struct dependence *dependence,
				  bool passing)
{
	if (passing ? dependence->passing_own : dependence->failing_own)
		return str_append(line, "in the suite's own order");
	return dependence_append_order(line, roster,
				       passing ? &dependence->passing
					       : &dependence->failing);
}

struct err *dependence_append_polluted(struct str *line,
				       const struct dependence *dependence,
				       size_t max)
{
	const struct strv *roots = &dependence->polluted;
	bool together = dependence->polluted_together && roots->n > 1;
	bool brittle = dependence->class == ORDER_BRITTLE;
	TRY(str_append(line, brittle ? "relies on: " : "polluted: "));
	TRY(str_append(line, together ? "[" : ""));
	TRY(words_append_texts(line, (const char *const *)roots->data, roots->n,
			       max));
	return str_append(line, together ? "] together" : "");
}
