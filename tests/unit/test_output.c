/* Captured output: pieces, what is still in the program's memory, floods. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracee/output.h"

static struct output *make(int *out, int *err)
{
	struct output *output;
	assert_null(output_create(false, &output));
	output_ends(output, out, err);
	return output;
}

static void print(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void expect(struct output *output, const char *pending, const char *text)
{
	struct output_piece piece;
	assert_null(output_cut(output, pending, strlen(pending), &piece));
	assert_string_equal(piece.text, text);
	assert_int_equal(piece.n, strlen(text));
	free(piece.text);
}

static void test_pieces(void **state)
{
	(void)state;
	int out, err;
	struct output *output = make(&out, &err);
	print(out, "one ");
	print(err, "error");
	expect(output, "", "one error");
	expect(output, "", "");
	print(out, "two");
	expect(output, "", "two");
	output_destroy(output);
}

static void test_pending_bytes_belong_to_the_piece(void **state)
{
	(void)state;
	int out, err;
	struct output *output = make(&out, &err);
	/* Printed, not written: still in the program's buffer. */
	expect(output, "first\n", "first\n");
	/* More of the second, nothing of the first. */
	expect(output, "first\nsecond\n", "second\n");
	/* Then it is flushed, with a third part. */
	print(out, "first\nsecond\nthird\n");
	expect(output, "fourth\n", "third\nfourth\n");
	print(out, "fourth\n");
	expect(output, "", "");
	output_destroy(output);
}

static void test_unwanted_pieces_count(void **state)
{
	(void)state;
	int out, err;
	struct output *output = make(&out, &err);
	print(out, "dropped");
	assert_null(output_cut(output, NULL, 5, NULL));
	print(out, "12345next");
	expect(output, "", "next");
	output_destroy(output);
}

static void test_last_words(void **state)
{
	(void)state;
	int out, err;
	struct output *output = make(&out, &err);
	print(out, "written, ");
	output_take_over(output, "unwritten", 9);
	expect(output, "", "written, unwritten");
	output_restart(output);
	print(out, "another process");
	expect(output, "", "another process");
	output_destroy(output);
}

static void test_flood(void **state)
{
	(void)state;
	int out, err;
	struct output *output = make(&out, &err);
	char block[4096];
	uint64_t total = 0;
	print(out, "BEGIN");
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(write(out, block, sizeof(block)),
				 sizeof(block));
		total += sizeof(block);
		output_drain(output);
	}
	print(out, "END");
	struct output_piece piece;
	assert_null(output_cut(output, NULL, 0, &piece));
	assert_in_range(piece.n, OUTPUT_KEEP, 2 * OUTPUT_KEEP + 100);
	assert_int_equal(piece.dropped, total + 8 - 2 * OUTPUT_KEEP);
	assert_memory_equal(piece.text, "BEGIN", 5);
	assert_memory_equal(piece.text + piece.n - 3, "END", 3);
	assert_non_null(strstr(piece.text, "bytes omitted"));
	free(piece.text);
	expect(output, "", "");
	output_destroy(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_pending_bytes_belong_to_the_piece),
		cmocka_unit_test(test_unwanted_pieces_count),
		cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_flood),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
