/* Any bytes as what is kept of a finding: read whole, or refused. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_(freep) char *text = strndup((const char *)data, n);
	_cleanup_(results_order_freep) struct results_order order = {};
	_cleanup_(results_again_freep) struct results_again again = {};
	_cleanup_(results_choice_freep) struct results_choice choice = {};
	if (!text)
		return 0;
	struct err *err = results_order_parse(text, &order);
	BUG_ON(!err && (!order.failing.n || !order.passing.n ||
			!order.suite.n || order.suite.data[order.suite.n] ||
			strcmp(order.failing.data[order.failing.n - 1],
			       order.test) != 0));
	err_destroy(err);
	err = results_again_parse(text, &again);
	BUG_ON(!err && (!again.alone.n || !again.whole.n ||
			again.whole.data[again.whole.n]));
	err_destroy(err);
	err = results_choice_parse(text, &choice);
	BUG_ON(!err && (!choice.test || !choice.suite.n || !choice.on.n ||
			choice.suite.data[choice.suite.n] ||
			choice.level >= WIRE_LEVELS ||
			choice.ranges.n > WIRE_CHOICE_RANGES));
	err_destroy(err);
	return 0;
}
