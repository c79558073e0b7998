/* Any bytes as an order file; names that come out of it survive a round. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/order_file.h"
#include "report/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_round(const char *name)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(order_file_freep) struct order_file order = {};
	struct err *err = name_append(&line, name);
	if (!err)
		err = order_file_parse(line.s, line.n, &order);
	if (err)
		BUG("%s", err_message(err));
	BUG_ON(order.n != 1 || !order.data[0].name ||
	       strcmp(order.data[0].name, name) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_(order_file_freep) struct order_file order = {};
	err_destroy(order_file_parse((const char *)data, n, &order));
	for (size_t i = 0; i < order.n; i++) {
		if (order.data[i].name)
			check_round(order.data[i].name);
	}
	return 0;
}
